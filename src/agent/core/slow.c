/*
 * Slow paths: the signals that are put off meanwhile, and the stacks that they run on; see slow.h.
 *
 * A signal is put off by queueing it again for this very thread with all that it carries, blocked:
 * once in our own mask (the handler may be one that does not block it) and in the context's,
 * which the kernel takes over when the wrapper returns. The kernel lets a task queue anything for
 * itself. Source: rt_tgsigqueueinfo(2).
 *
 * Whoever uses a thread's own stack has taken its address away from the thread's word, so that
 * nobody else does. A handler that runs on it and leaves by longjmp() never gives it back: the
 * thread goes on without.
 */
#include "agent/core/slow.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <signal.h>

/* As the kernel has it. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

__thread struct dw_slow dw_slow;

/* Whether @sp lies below a slow path that goes on. */
static bool is_below(uint64_t sp)
{
	return dw_slow.sp && (sp <= dw_slow.sp || dw_own_stack_holds(sp));
}

bool dw_slow_begin(uint64_t sp)
{
	if (is_below(sp)) {
		if (!dw_slow.is_own)
			dw_agent_drop(DWELL_DROP_EVENTS);
		return false;
	}
	dw_slow.is_own = false;
	dw_slow.sp = sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

bool dw_slow_begin_own(uint64_t frame)
{
	if (is_below(frame))
		return false;
	dw_slow.is_own = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	dw_slow.sp = frame;
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
	return dw_slow.sp;
}

bool dw_slow_goes_on(void)
{
	return dw_slow.sp && !dw_slow.is_own;
}

uint64_t dw_slow_leave(void)
{
	uint64_t off;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	dw_slow.sp = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	off = dw_slow.off;
	dw_slow.off = 0;
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
	dw_slow.off |= bit;
	*(uint64_t *)&context->uc_sigmask |= bit;
	return true;
}

bool dw_slow_defer(int number, const siginfo_t *info, ucontext_t *context)
{
	return dw_slow.sp && dw_agent_may_call() && put_off(number, info, context);
}

enum { STACK_BYTES = 64 << 10, GUARD_BYTES = 4096 };

#define ALL_BUT_TRAP (~(1ULL << (SIGTRAP - 1))) /* as guard.c has it */

struct own {
	uint64_t stack;
	uint64_t free; /* = stack while nobody uses it, else 0; atomic */
	uint64_t alternate, alternate_bytes;
	bool is_looked_at; /* the alternate stack is known */
};

/* Call @work(@arg) on the stack below @top (own-stack-x86-64.S). */
void dw_own_stack_switch(uint64_t top, void (*work)(void *arg), void *arg)
	__attribute__((visibility("hidden")));

static __thread struct own own __attribute__((tls_model("initial-exec")));

uint64_t dw_own_stack_make(void)
{
	uint8_t *stack = dw_agent_memory(STACK_BYTES);

	if (stack)
		dw_sys_mprotect(stack, GUARD_BYTES, PROT_NONE);
	return (uint64_t)stack;
}

void dw_own_stack_set(uint64_t stack)
{
	if (stack == own.stack) /* the caller may stand on it */
		return;
	own.stack = stack;
	__atomic_store_n(&own.free, stack, __ATOMIC_RELEASE);
}

bool dw_own_stack_holds(uint64_t sp)
{
	return own.stack && sp - own.stack < STACK_BYTES;
}

void dw_own_stack_look_again(void)
{
	own.is_looked_at = false;
}

/* Apart, as the next, for the little room that there may be. */
static __attribute__((noinline)) void look(void)
{
	stack_t s = {.ss_flags = SS_DISABLE};

	dw_syscall(SYS_sigaltstack, NULL, &s);
	own.alternate = (uint64_t)s.ss_sp;
	own.alternate_bytes = s.ss_flags & SS_DISABLE ? 0 : s.ss_size;
	own.is_looked_at = true;
}

static bool is_on_alternate(void)
{
	if (!own.is_looked_at)
		look();
	return (uint64_t)__builtin_frame_address(0) - own.alternate < own.alternate_bytes;
}

static __attribute__((noinline)) void call_blocked(uint64_t top, void (*work)(void *arg), void *arg)
{
	uint64_t mask = ALL_BUT_TRAP, old = 0;

	dw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof(mask));
	dw_own_stack_switch(top, work, arg);
	dw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
}

void dw_own_stack_call(void (*work)(void *arg), void *arg)
{
	uint64_t stack =
		dw_agent_may_call() ? __atomic_exchange_n(&own.free, 0, __ATOMIC_ACQUIRE) : 0;

	if (!stack) {
		work(arg);
		return;
	}
	if (is_on_alternate())
		call_blocked(stack + STACK_BYTES, work, arg);
	else
		dw_own_stack_switch(stack + STACK_BYTES, work, arg);
	if (own.stack == stack) /* it has no other now */
		__atomic_store_n(&own.free, stack, __ATOMIC_RELEASE);
}
