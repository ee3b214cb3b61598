/*
 * Threads' own stacks; see own-stack.h.
 *
 * Whoever uses the stack has taken its address away from the thread's word, so that nobody else
 * does. A handler that runs on it and leaves by longjmp() never gives it back: the thread goes on
 * without.
 */
#include "agent/core/own-stack.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

#include <signal.h>

enum { STACK_BYTES = 64 << 10, GUARD_BYTES = 4096 };

#define ALL_BUT_TRAP (~(1ULL << (SIGTRAP - 1))) /* as guard.c has it */

struct own {
	uint64_t stack;
	uint64_t free; /* = stack while nobody uses it, else 0; atomic */
	uint64_t alternate, alternate_bytes;
	bool is_looked_at; /* the alternate stack is known */
};

/* In own-stack-x86-64.S: call @work(@arg) on the stack below @top. */
void dw_own_stack_switch(uint64_t top, void (*work)(void *arg), void *arg);

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
