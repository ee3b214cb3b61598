/*
 * Interrupted probes of statements; see line-half-way.h, and for their code
 * src/clone/plan/inner-probes-x86-64.c. The gate itself has been left before (dw_gate_leave()); a
 * probe is known by its bytes and runs again. Where a program steps through its instructions that
 * would have no end: there the probe is left out.
 */
#include "agent/probe/line-half-way.h"

#include "agent/core/bytes.h"
#include "agent/probe/context-x86-64.h"
#include "agent/probe/half-way.h"
#include "agent/probe/mute.h"

enum {
	LOAD_AT = 5,			  /* of the index, in a probe */
	CALL_AT = DWELL_PROBE_LOAD_BYTES, /* of the gate */
	CALL = 0xe8,
	CALL_BYTES = 5,
	RED_ZONE_BYTES = 128,
	SAVED_WORDS = 2, /* of rax, below the stack pointer */
};

static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
static const uint8_t save[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};

static bool is_equal(uint64_t at, const uint8_t *bytes, uint32_t n)
{
	const uint8_t *code = (const uint8_t *)at;

	for (uint32_t i = 0; i < n; i++)
		if (code[i] != bytes[i])
			return false;
	return true;
}

/* Whether a probe, which may be switched off, begins at @at, apart from what moves the stack
 * pointer. */
static bool is_probe(const struct dw_area *area, uint64_t at)
{
	int32_t distance;

	if (is_equal(at, dw_no_probe, sizeof(dw_no_probe)))
		return true;
	if (!is_equal(at, save, sizeof(save)) || *(const uint8_t *)(at + CALL_AT) != CALL)
		return false;
	memcpy(&distance, (const void *)(at + CALL_AT + 1), sizeof(distance));
	return at + CALL_AT + CALL_BYTES + (uint64_t)(int64_t)distance ==
	       area->area + area->header->gate_at[DWELL_GATE_LINE];
}

static bool is_moved(uint64_t probe)
{
	return is_equal(probe - sizeof(down), down, sizeof(down)) &&
	       is_equal(probe + DWELL_PROBE_BYTES, up, sizeof(up));
}

static void go_on(ucontext_t *context, uint64_t pc, uint64_t pop)
{
	context->uc_mcontext.gregs[REG_RSP] += (greg_t)pop;
	dw_context_set_pc(context, pc);
}

/* Out of the probe at @probe, before its call: in front of it, or behind it. */
static void leave_probe(uint64_t probe, ucontext_t *context)
{
	uint64_t end = probe + DWELL_PROBE_BYTES;

	if (dw_context_pc(context) == probe + CALL_AT)
		context->uc_mcontext.gregs[REG_RAX] =
			(greg_t)dw_context_stack(context)[-SAVED_WORDS];
	if (is_moved(probe))
		go_on(context, dw_is_stepped(context) ? end + sizeof(up) : probe - sizeof(down),
		      RED_ZONE_BYTES);
	else
		go_on(context, dw_is_stepped(context) ? end : probe, 0);
}

void dw_line_settle(const struct dw_area *area, ucontext_t *context)
{
	uint64_t pc = dw_context_pc(context), probe;

	if (!area->header->statements.n)
		return;
	for (uint32_t in = 0; in <= CALL_AT; in += LOAD_AT) {
		if (!is_probe(area, pc - in))
			continue;
		leave_probe(pc - in, context);
		return;
	}
	probe = pc + sizeof(down);
	if (is_probe(area, pc - DWELL_PROBE_BYTES) && is_moved(pc - DWELL_PROBE_BYTES))
		go_on(context, pc + sizeof(up), RED_ZONE_BYTES);
	else if (dw_is_stepped(context) && is_probe(area, probe) && is_moved(probe))
		go_on(context, probe + DWELL_PROBE_BYTES + sizeof(up), 0);
}
