/*
 * Limits that the program sets itself.
 *
 * Addresses that are reserved count against the limits of address space and of locked memory, so
 * they go when the program lowers one: what is in use stays, with a small share of the new limit
 * beside it: before the limit holds, as other threads may map something at any time. From then on
 * the agent does with that, and what has no room is counted. Memory in use counts against the limit
 * of data; it may grow by such a share. Limits: those that are set by others, or by system-call
 * instructions of the program's own, are not seen.
 */
#include "agent/core/limits.h"

#include "agent/core/agent-internal.h"
#include "agent/core/arena.h"
#include "agent/core/memory.h"
#include "agent/core/region-internal.h"
#include "agent/core/syscall-x86-64.h"

#include <sys/mman.h>
#include <sys/uio.h>

#define DWELL_SHOWN __attribute__((visibility("default")))

enum { SHARE = 64 };

/* Under one name for what libraries of both sizes of numbers call; the registers are the same. */
extern int dw_own_setrlimit(int what, const void *to) __asm__("setrlimit");
extern int dw_own_prlimit(int pid, int what, const void *to, void *old) __asm__("prlimit");
extern int dw_own_mlockall(int flags) __asm__("mlockall");

typedef int setrlimit_function(int, const void *);
typedef int prlimit_function(int, int, const void *, void *);
typedef int mlockall_function(int);

static uint64_t limit_of(int what)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	dw_syscall(SYS_prlimit64, 0, what, 0, &limit);
	return limit.rlim_cur;
}

/* Whether this task may give back: no child on another's memory. */
static bool has_own_memory(void)
{
	return dw_agent_may_call() && (!dw_agent.wiped || !dw_agent.wiped->is_same_process ||
				       dw_sys_getpid() == dw_agent.pid);
}

/* Keep the addresses in use, and @keep bytes more of each kind, @lines of the arena's. */
static void give_back(uint64_t keep, uint64_t lines)
{
	if (!dw_agent_enter())
		return;
	dw_region_window_close();
	dw_arena_give_back(lines);
	if (dw_agent_part.give_back)
		dw_agent_part.give_back(keep);
	dw_agent_leave();
}

/* The soft limit that the program gives at @to, which may lead nowhere: read by a system call.
 * RLIM_INFINITY without one. */
static uint64_t given(const void *to)
{
	uint64_t soft = RLIM_INFINITY;
	const struct iovec here = {&soft, sizeof(soft)}, there = {(void *)to, sizeof(soft)};

	dw_syscall(SYS_process_vm_readv, dw_sys_getpid(), &here, 1, &there, 1, 0);
	return soft;
}

void dw_limits_change(int pid, int what, const void *to)
{
	bool is_ours = (what == RLIMIT_AS || what == RLIMIT_DATA) && to && has_own_memory() &&
		       (!pid || pid == (int)dw_sys_getpid());
	uint64_t limit = is_ours ? given(to) : RLIM_INFINITY;

	if (limit == RLIM_INFINITY)
		return;
	if (what == RLIMIT_AS) {
		dw_memory_give_back(limit / SHARE);
		give_back(limit / SHARE, limit / SHARE);
	} else { /* lines are shared memory, which is no data, but their links are */
		dw_memory_limit(limit / SHARE);
		give_back(limit / SHARE, limit / SHARE * DWELL_LINES_A_LINK);
	}
}

bool dw_limits_unlock(int flags)
{
	uint64_t limit = limit_of(RLIMIT_MEMLOCK);

	if (!flags || !limit || limit == RLIM_INFINITY || !has_own_memory())
		return false;
	dw_memory_give_back(0);
	give_back(0, 0);
	return true;
}

DWELL_SHOWN int dw_own_setrlimit(int what, const void *to)
{
	setrlimit_function *real =
		(setrlimit_function *)dw_real_once(&dw_agent.real_setrlimit, "setrlimit");

	dw_limits_change(0, what, to);
	return real(what, to);
}

DWELL_SHOWN int dw_own_prlimit(int pid, int what, const void *to, void *old)
{
	prlimit_function *real =
		(prlimit_function *)dw_real_once(&dw_agent.real_prlimit, "prlimit");

	dw_limits_change(pid, what, to);
	return real(pid, what, to, old);
}

/* All that is mapped counts when it is locked, so the call is made once more without what need not
 * be there. */
DWELL_SHOWN int dw_own_mlockall(int flags)
{
	mlockall_function *real =
		(mlockall_function *)dw_real_once(&dw_agent.real_mlockall, "mlockall");
	int result = real(flags);

	return result && dw_limits_unlock(flags) ? real(flags) : result;
}

extern __typeof__(dw_own_setrlimit) dw_own_setrlimit64 __asm__("setrlimit64") DWELL_SHOWN
	__attribute__((alias("setrlimit")));
extern __typeof__(dw_own_prlimit) dw_own_prlimit64 __asm__("prlimit64") DWELL_SHOWN
	__attribute__((alias("prlimit")));
