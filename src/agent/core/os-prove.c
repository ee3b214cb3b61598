/*
 * The proof of a source: block, be told by the kernel's own count that there was a switch, and look
 * whether the word says so too.
 *
 * Only a switch without a change of the processor proves anything: some kernels miss just these. A
 * sleep that finds its time over does not block, and the scheduler may move us, so there are some
 * tries.
 */
#include "agent/core/os-sources.h"
#include "agent/core/syscall-x86-64.h"

enum {
	TRIES = 10,
	/* What a sleep after the first takes, which real-time tasks, whose timers have no slack,
	 * find over before they block. */
	SLEEP_NS = 10000,
};

/* What a blocking call changes. */
struct moment {
	long switches;
	unsigned int processor;
};

static struct moment look(void)
{
	struct moment m = {0, 0};
	struct rusage usage = {0};

	dw_syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	dw_syscall(SYS_getcpu, &m.processor, 0, 0);
	m.switches = usage.ru_nvcsw;
	return m;
}

bool dw_os_prove(const uint32_t *word, uint64_t *rseq)
{
	struct moment before, after;
	uint32_t seen;

	for (int i = 0; i < TRIES; i++) {
		before = look();
		seen = rseq ? dw_os_rseq_arm(rseq) : __atomic_load_n(word, __ATOMIC_RELAXED);
		dw_sys_sleep_ns(i ? SLEEP_NS * i : 1);
		after = look();
		if (after.switches > before.switches && after.processor == before.processor)
			return __atomic_load_n(word, __ATOMIC_RELAXED) != seen;
	}
	return false;
}
