/*
 * System calls that the program makes by their number, and prctl().
 *
 * Three things are looked for. Programs that install a system-call filter: from before that on the
 * agent makes no call that the filter could kill for, in no thread, as the way back from the kernel
 * may lead through probes, and the filter may be for all threads. Programs that execute others by
 * syscall(): their children get the agent too. And those that set limits so. A program that has
 * system-call instructions of its own is not seen.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/exec.h"
#include "agent/core/limits.h"
#include "agent/core/threads.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define DWELL_SHOWN __attribute__((visibility("default")))

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
		dw_threads_settle();
}

/* It has, or it was refused. */
static void end_confining(bool is_done)
{
	if (is_done)
		return;
	__atomic_fetch_sub(&dw_agent.filters, 1, __ATOMIC_SEQ_CST);
	tell(false);
}

DWELL_SHOWN int dw_own_prctl(int option, long a, long b, long c, long d)
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

DWELL_SHOWN long dw_own_syscall(long number, long a, long b, long c, long d, long e, long f)
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
		dw_limits_change(0, (int)a, (const void *)b);
	else if (number == SYS_prlimit64)
		dw_limits_change((int)a, (int)b, (const void *)c);
	if (!is_confining(number, a)) {
		result = real(number, a, b, c, d, e, f);
		return number == SYS_mlockall && result && dw_limits_unlock((int)a)
			       ? real(number, a, b, c, d, e, f)
			       : result;
	}
	begin_confining();
	result = real(number, a, b, c, d, e, f);
	end_confining(result >= 0);
	return result;
}
