/* Frame rules by unwind tables lead through this program's and the C library's functions as the
 * compiler's own unwinder does. */
#include "agent/clr/frame-rules-x86-64.h"
#include "agent/clr/natives.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"

#include "check.h"

#include <execinfo.h>
#include <unistd.h>

const struct dw_agent_part dw_agent_part;

enum { FRAMES = 64, LEAST = 6 };

struct walk {
	void *wanted[FRAMES];
	uint64_t got[FRAMES];
	int wanted_n, got_n;
};

static struct walk last;

/* Walk the calling function's stack both ways. */
static __attribute__((noinline)) void walk(struct walk *w)
{
	struct dw_regs s;
	uint32_t kind;

	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
			 : "=&r"(s.ip), "=&r"(s.rsp), "=&r"(s.rbp));
	w->wanted_n = backtrace(w->wanted, FRAMES);
	for (w->got_n = 1; w->got_n < FRAMES; w->got_n++) {
		if (!dw_natives_frame_rule(s.ip, &kind) ||
		    !dw_frame_rule_step(&s, kind, UINT64_MAX / 2))
			break;
		w->got[w->got_n] = s.ip;
	}
}

static int compare(const void *a, const void *b)
{
	walk(&last);
	return *(const int *)a - *(const int *)b;
}

TEST(walks_are_the_unwinders)
{
	int numbers[] = {3, 1, 2}, same = 1, more = 0;

	CHECK(dw_natives_start());
	qsort(numbers, 3, sizeof *numbers, compare);
	/* Sanitizers stand in for backtrace(), with a frame of their own. */
	while (more < 2 && last.got[1] != (uint64_t)last.wanted[1 + more])
		more++;
	while (same < last.got_n && same + more < last.wanted_n &&
	       last.got[same] == (uint64_t)last.wanted[same + more])
		same++;
	/* The outermost frames are the start of the program, which has no caller to be found. */
	CHECK(last.got_n >= LEAST);
	CHECK_INT(same, last.got_n);
}

TEST(what_is_no_code_has_no_frame_rule)
{
	uint32_t kind;

	CHECK(dw_natives_start());
	CHECK(!dw_natives_frame_rule((uint64_t)&kind, &kind));
	CHECK(!dw_natives_has(4096));
	CHECK(dw_natives_has((uint64_t)(uintptr_t)compare));
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
