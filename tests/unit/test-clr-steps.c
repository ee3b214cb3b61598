/* What walks of .NET's stacks keep, and what they read without a system call. */
#include "agent/clr/loader.h"
#include "agent/clr/memo-x86-64.h"
#include "agent/clr/natives.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"

#include "check.h"

#include <dlfcn.h>
#include <link.h>

enum { RUNTIME = 1000, HOST = 2000, MANAGED = 3000, WORDS = 64 };

struct dw_frame_rules dw_frame_rules;

static struct dw_memo memo;
static struct dw_clr_self self = {.memo = &memo};
static uint64_t stack[WORDS];

/* Here no system calls may be made. */
bool dw_agent_may_call(void)
{
	return false;
}

void *dw_agent_memory(size_t bytes)
{
	(void)bytes;
	return NULL;
}

void *dw_loader_first(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static struct dw_regs at(uint64_t ip, int word)
{
	stack[word - 1] = ip;
	return (struct dw_regs){ip, (uint64_t)&stack[word], 7};
}

/* A walk over frames at @ips, innermost first, up to 0. What the memo keeps. */
static uint32_t walk(const uint64_t *ips)
{
	uint32_t n = 0;

	dw_frame_rules.runtime_start = RUNTIME;
	dw_frame_rules.runtime_end = HOST;
	dw_memo_begin(&self);
	for (int i = 0; ips[i]; i++) {
		struct dw_regs s = at(ips[i], 2 + 2 * i);

		dw_memo_step(&memo, &s, 0, ips[i] >= MANAGED ? n++ : UINT32_MAX,
			     ips[i] >= HOST && ips[i] < MANAGED);
	}
	dw_memo_end(&memo, NULL, n);
	return memo.n;
}

TEST(of_what_has_called_the_runtime_one_frame_is_kept)
{
	const uint64_t ips[] = {MANAGED, MANAGED + 1, RUNTIME,	RUNTIME + 1,
				HOST,	 HOST + 1,    HOST + 2, 0};
	struct dw_regs s;

	CHECK_INT(walk(ips), 5);
	CHECK_INT(memo.kept[0].regs.ip, HOST);
	CHECK(dw_memo_begin(&self) == &memo);
	s = at(MANAGED, 2);
	CHECK(dw_memo_find(&memo, &s, 0) == &memo.kept[4]);
	CHECK_INT(memo.kept[4].frames, 2);
	CHECK(dw_memo_begin(&self) == &memo);
	at(HOST + 3, 10); /* the host calls the runtime from elsewhere */
	CHECK(!dw_memo_find(&memo, &s, 0));
}

TEST(what_native_code_calls_without_the_runtime_is_kept_with_all_frames)
{
	const uint64_t outermost[] = {MANAGED, HOST, HOST + 1, 0};
	const uint64_t between[] = {MANAGED, RUNTIME, HOST, HOST + 1, MANAGED, RUNTIME, 0};

	CHECK_INT(walk(outermost), 3);
	CHECK_INT(walk(between), 6);
}

/* A return address in this program. */
static __attribute__((noinline)) uint64_t here(void)
{
	return (uint64_t)__builtin_return_address(0);
}

TEST(the_runtimes_unwind_tables_are_read_without_a_system_call)
{
	struct dw_loader_module m;
	struct dl_find_object found;
	uint64_t ip = here();
	struct dw_cfi_range range;
	uint32_t kind;

	CHECK(dw_loader_module_at((void *)ip, &m));
	CHECK(!_dl_find_object((void *)ip, &found));
	range = (struct dw_cfi_range){m.start, m.end, (uint64_t)found.dlfo_eh_frame};
	CHECK(m.unwind_start <= range.index && range.index < m.unwind_end);
	CHECK(!dw_cfi_frame_rule(&range, ip, &kind));
	dw_frame_rules.unwind_start = m.unwind_start;
	dw_frame_rules.unwind_end = m.unwind_end;
	CHECK(dw_cfi_frame_rule(&range, ip, &kind));
	CHECK(dw_frame_rule_leads(kind));
}

TEST_MAIN()
