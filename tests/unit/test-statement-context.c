/* Probes of statements that a signal has interrupted (src/agent/clones/signal-context-x86-64.c). */
#include "agent/clones/signal-context.h"

#include "agent/clones/disable.h"
#include "check.h"

#include <string.h>

enum {
	TRAMPOLINE_AT = 64,
	DOWN_AT = 128, /* of rsp, in front of the probe */
	PROBE_AT = DOWN_AT + 5,
	CALL_AT = PROBE_AT + 10,
	UP_AT = PROBE_AT + DWELL_PROBE_BYTES,
	END_AT = UP_AT + 8,
	RED_ZONE_BYTES = 128,
	SAVED = 4711, /* the program's rax, where the probe puts it */
	OTHER = 7,    /* rax at the interruption */
};

static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
static const uint8_t load[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8, 3, 0, 0, 0, 0xe8};

static uint8_t code[4096];
static uint64_t stack[64];
static struct dw_clone_header header;
static struct dw_area area;

/* A clone with one probe, which is switched off or not, behind what moves rsp or not. */
static void make(bool is_disabled, bool is_moved)
{
	int32_t distance = TRAMPOLINE_AT - UP_AT;

	memset(code, 0x90, sizeof(code));
	memcpy(code + PROBE_AT, load, sizeof(load));
	memcpy(code + PROBE_AT + sizeof(load), &distance, sizeof(distance));
	if (is_disabled)
		memcpy(code + PROBE_AT, dw_no_probe, sizeof(dw_no_probe));
	if (is_moved) {
		memcpy(code + DOWN_AT, down, sizeof(down));
		memcpy(code + UP_AT, up, sizeof(up));
	}
	header.statements.n = 1;
	header.trampoline_at[DWELL_TRAMPOLINE_LINE] = TRAMPOLINE_AT;
	area = (struct dw_area){.area = (uint64_t)code, .bytes = sizeof(code), .header = &header};
}

/* Whether a task at @at is shown at @want, with as many bytes of stack less as @pop and with @rax.
 */
static bool settles(uint32_t at, uint32_t want, uint64_t pop, greg_t rax)
{
	ucontext_t context = {0};
	greg_t *registers = context.uc_mcontext.gregs;
	uint64_t sp = (uint64_t)(stack + 32);

	stack[30] = SAVED;
	registers[REG_RAX] = OTHER;
	registers[REG_RSP] = (greg_t)sp;
	registers[REG_RIP] = (greg_t)(area.area + at);
	dw_context_leave_statement(&area, &context);
	return (uint64_t)registers[REG_RIP] == area.area + want &&
	       (uint64_t)registers[REG_RSP] == sp + pop && registers[REG_RAX] == rax;
}

static void check_plain(bool *check_failed)
{
	CHECK(settles(PROBE_AT, PROBE_AT, 0, OTHER));
	CHECK(settles(PROBE_AT + 5, PROBE_AT, 0, OTHER));
	CHECK(settles(CALL_AT, PROBE_AT, 0, SAVED));
	CHECK(settles(UP_AT, UP_AT, 0, OTHER));
	CHECK(settles(DOWN_AT, DOWN_AT, 0, OTHER));
}

static void check_moved(bool *check_failed)
{
	CHECK(settles(PROBE_AT, DOWN_AT, RED_ZONE_BYTES, OTHER));
	CHECK(settles(PROBE_AT + 5, DOWN_AT, RED_ZONE_BYTES, OTHER));
	CHECK(settles(CALL_AT, DOWN_AT, RED_ZONE_BYTES, SAVED));
	CHECK(settles(UP_AT, END_AT, RED_ZONE_BYTES, OTHER));
	CHECK(settles(END_AT, END_AT, 0, OTHER));
	CHECK(settles(DOWN_AT, DOWN_AT, 0, OTHER));
}

TEST(probes_are_left)
{
	make(false, false);
	check_plain(check_failed);
	make(false, true);
	check_moved(check_failed);
}

/* Tasks may have been anywhere in the probe when it was switched off. */
TEST(probes_that_are_switched_off_are_left_too)
{
	make(true, false);
	check_plain(check_failed);
	make(true, true);
	check_moved(check_failed);
}

/* Other calls are none of ours. */
TEST(other_code_stays)
{
	make(false, true);
	header.trampoline_at[DWELL_TRAMPOLINE_LINE] = TRAMPOLINE_AT + 1;
	for (uint32_t at = DOWN_AT; at <= END_AT; at++)
		CHECK(settles(at, at, 0, OTHER));
}

TEST_MAIN()
