/*
 * Limits that the program sets itself, of resources and of system calls, and system calls that it
 * makes by their number.
 *
 * Addresses that are reserved count against the limits of address space and of locked memory, so
 * they go when the program lowers one: what is in use stays, with a small share of the new limit
 * beside it: before the limit holds, as other threads may map something at any time. From then on
 * the agent does with that, and what has no room is counted. Memory in use counts against the limit
 * of data; it may grow by such a share.
 *
 * From before the program installs a system-call filter on the agent makes no call that the filter
 * could kill for, in no thread, as the way back from the kernel may lead through probes, and the
 * filter may be for all threads. Programs that execute others by syscall() have children with the
 * agent, too. Limits: those that are set by others, or by system-call instructions of the program's
 * own, are not seen.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/exec.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { SHARE = 64 };

/* What shmdt() unmaps at most, as far as anybody here cares. */
#define SHM_BYTES ((uint64_t)1 << 31)

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

/* Keep the addresses in use, and @keep bytes more of each kind. */
static void give_back(uint64_t keep, bool is_private)
{
	if (!dw_agent_enter())
		return;
	dw_region_window_close();
	if (dw_agent_part.give_back)
		dw_agent_part.give_back(keep, is_private);
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

/* The program is about to set limit @what (RLIMIT_*) of process @pid, 0 = itself, to what is at
 * @to. */
static void change(int pid, int what, const void *to)
{
	bool is_ours = (what == RLIMIT_AS || what == RLIMIT_DATA) && to && has_own_memory() &&
		       (!pid || pid == (int)dw_sys_getpid());
	uint64_t limit = is_ours ? given(to) : RLIM_INFINITY;

	if (limit == RLIM_INFINITY)
		return;
	if (what == RLIMIT_AS) {
		dw_memory_give_back(limit / SHARE);
		give_back(limit / SHARE, false);
	} else {
		dw_memory_limit(limit / SHARE);
		give_back(limit / SHARE, true);
	}
}

/* mlockall(@flags) has failed: whether more has been given back by now, so that it may succeed. */
static bool unlock(int flags)
{
	uint64_t limit = limit_of(RLIMIT_MEMLOCK);

	if (!flags || !limit || limit == RLIM_INFINITY || !has_own_memory())
		return false;
	dw_memory_give_back(0);
	give_back(0, false);
	return true;
}

DWELL_STAND_IN int dw_own_setrlimit(int what, const void *to)
{
	setrlimit_function *real =
		(setrlimit_function *)dw_real_once(&dw_agent.real_setrlimit, "setrlimit");

	change(0, what, to);
	return real(what, to);
}

DWELL_STAND_IN int dw_own_prlimit(int pid, int what, const void *to, void *old)
{
	prlimit_function *real =
		(prlimit_function *)dw_real_once(&dw_agent.real_prlimit, "prlimit");

	change(pid, what, to);
	return real(pid, what, to, old);
}

/* All that is mapped counts when it is locked, so the call is made once more without what need not
 * be there. */
DWELL_STAND_IN int dw_own_mlockall(int flags)
{
	mlockall_function *real =
		(mlockall_function *)dw_real_once(&dw_agent.real_mlockall, "mlockall");
	int result = real(flags);

	return result && unlock(flags) ? real(flags) : result;
}

extern __typeof__(dw_own_setrlimit) dw_own_setrlimit64 __asm__("setrlimit64") DWELL_STAND_IN
	__attribute__((alias("setrlimit")));
extern __typeof__(dw_own_prlimit) dw_own_prlimit64 __asm__("prlimit64") DWELL_STAND_IN
	__attribute__((alias("prlimit")));

/* Without the ellipses of their headers: the registers are the same. */
extern int dw_own_prctl(int option, long a, long b, long c, long d) __asm__("prctl");
extern long dw_own_syscall(long number, long a, long b, long c, long d, long e,
			   long f) __asm__("syscall");

typedef int prctl_function(int, long, long, long, long);
typedef long syscall_function(long, long, long, long, long, long, long);

static void tell(bool is_so)
{
	if (dw_agent.is_on && dw_agent_part.confined && dw_agent_may_call())
		dw_agent_part.confined(is_so);
}

/* The program is about to install a filter. Filters that are installed, or are about to be, are
 * counted: several threads may do so. */
static void begin_confining(void)
{
	tell(true);
	if (!__atomic_fetch_add(&dw_agent.filters, 1, __ATOMIC_SEQ_CST))
		dw_agent_settle();
}

/* It has, or it was refused. */
static void end_confining(bool is_done)
{
	if (is_done)
		return;
	__atomic_fetch_sub(&dw_agent.filters, 1, __ATOMIC_SEQ_CST);
	tell(false);
}

DWELL_STAND_IN int dw_own_prctl(int option, long a, long b, long c, long d)
{
	prctl_function *real = (prctl_function *)dw_real_once(&dw_agent.real_prctl, "prctl");
	int result;

	if (option != PR_SET_SECCOMP)
		return real(option, a, b, c, d);
	begin_confining();
	result = real(option, a, b, c, d);
	end_confining(!result);
	return result;
}

static bool is_confining(long number, long a)
{
	return (number == SYS_seccomp && a <= SECCOMP_SET_MODE_FILTER) ||
	       (number == SYS_prctl && a == PR_SET_SECCOMP);
}

static bool is_unmapping(long number)
{
	return number == SYS_munmap || number == SYS_mremap || number == SYS_shmdt;
}

DWELL_STAND_IN long dw_own_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	syscall_function *real;
	long result;

	if (number == SYS_execve)
		return dw_execve((const char *)a, (char *const *)b, (char *const *)c);
	if (number == SYS_execveat)
		return dw_execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d,
				   (int)e);
	real = (syscall_function *)dw_real_once(&dw_agent.real_syscall, "syscall");
	if (number == SYS_setrlimit)
		change(0, (int)a, (const void *)b);
	else if (number == SYS_prlimit64)
		change((int)a, (int)b, (const void *)c);
	else if (is_unmapping(number) && dw_agent_part.unmaps)
		dw_agent_part.unmaps((uint64_t)a, number == SYS_shmdt ? SHM_BYTES : (uint64_t)b);
	if (!is_confining(number, a)) {
		result = real(number, a, b, c, d, e, f);
		return number == SYS_mlockall && result && unlock((int)a)
			       ? real(number, a, b, c, d, e, f)
			       : result;
	}
	begin_confining();
	result = real(number, a, b, c, d, e, f);
	end_confining(result >= 0);
	return result;
}
