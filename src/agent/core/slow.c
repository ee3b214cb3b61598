/*
 * Putting signals off while a slow path runs; see slow.h.
 *
 * A signal is put off by queueing it again for this very thread with all that it carries, blocked:
 * once in our own mask (the handler may be one that does not block it) and in the context's,
 * which the kernel takes over when the wrapper returns. The kernel lets a task queue anything for
 * itself. Source: rt_tgsigqueueinfo(2).
 */
#include "agent/core/slow.h"

#include "agent/core/agent.h"
#include "agent/core/own-stack.h"
#include "agent/core/syscall-x86-64.h"

/* A slow path of this thread. */
struct slow {
	uint64_t sp;  /* 0 = none runs */
	uint64_t off; /* signals that were put off, by bits */
	bool is_own;  /* the agent runs code of other modules: its probes are nobody's events */
};

/* As the kernel has it. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

static __thread struct slow slow __attribute__((tls_model("initial-exec")));

/* Whether @sp lies below a slow path that goes on. */
static bool is_below(uint64_t sp)
{
	return slow.sp && (sp <= slow.sp || dw_own_stack_holds(sp));
}

bool dw_slow_begin(uint64_t sp)
{
	if (is_below(sp)) {
		if (!slow.is_own)
			dw_agent_drop(DWELL_DROP_EVENTS);
		return false;
	}
	slow.is_own = false;
	slow.sp = sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

bool dw_slow_begin_own(uint64_t frame)
{
	if (is_below(frame))
		return false;
	slow.is_own = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slow.sp = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

void dw_slow_end_own(bool has_begun)
{
	if (has_begun)
		dw_slow_end();
}

uint64_t dw_slow_sp(void)
{
	return slow.sp;
}

bool dw_slow_goes_on(void)
{
	return slow.sp && !slow.is_own;
}

uint64_t dw_slow_leave(void)
{
	uint64_t off;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slow.sp = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	off = slow.off;
	slow.off = 0;
	return off;
}

void dw_slow_end(void)
{
	uint64_t off = dw_slow_leave();

	if (off)
		dw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &off, NULL, sizeof(off));
}

/* Whether the failing instruction raised @number: it would do so again. Without @info perhaps. */
static bool is_fault(int number, const siginfo_t *info)
{
	return (!info || info->si_code > 0) &&
	       (number == SIGILL || number == SIGFPE || number == SIGTRAP || number == SIGSEGV ||
		number == SIGBUS || number == SIGSYS);
}

/* Apart: handlers' stacks may be nearly full. */
static __attribute__((noinline)) bool put_off(int number, const siginfo_t *info,
					      ucontext_t *context)
{
	const siginfo_t nothing = {.si_signo = number};
	uint64_t bit = 1ULL << (number - 1);
	struct action action = {0};
	long tid;

	/* SA_RESETHAND has taken the handler away: the signal would be deadly now. */
	if (dw_syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(action.mask)) ||
	    action.handler <= (uint64_t)SIG_IGN)
		return false;
	/* The kernel fills it in for those only who ask for it. */
	if (!(action.flags & SA_SIGINFO))
		info = NULL;
	if (is_fault(number, info))
		return false;
	dw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bit, NULL, sizeof(bit));
	tid = dw_syscall(SYS_gettid);
	if (dw_syscall(SYS_rt_tgsigqueueinfo, dw_sys_getpid(), tid, number, info ? info : &nothing))
		return false;
	slow.off |= bit;
	*(uint64_t *)&context->uc_sigmask |= bit;
	return true;
}

bool dw_slow_defer(int number, const siginfo_t *info, ucontext_t *context)
{
	return slow.sp && dw_agent_may_call() && put_off(number, info, context);
}
