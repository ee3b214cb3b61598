/*
 * The handler of the sampler's signal; see sampling.h. It runs on the program's stack, or its
 * alternate one where it has one (SA_ONSTACK: coroutines and small stacks), with all signals
 * blocked, for some microseconds, longer where it reads an interpreter's frames; what it copies of
 * the stack goes straight into the ring. Signals that are not from our timers have what effect they
 * would have had. errno is never touched.
 */
#include "agent/sample/interpreter.h"
#include "agent/sample/sampling.h"

#include "agent/core/agent.h"
#include "agent/core/system-calls.h"

#include <signal.h>
#include <ucontext.h>

enum {
	FRAME_ROOM = 1024,     /* above a thread's first frame that is known: what called that */
	RESTORER = 0x04000000, /* SA_RESTORER, which the C library keeps to itself */
	WAITS = 1000,	       /* for another thread that moves to another signal */
	WAIT_NS = 50000,
};

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

void dw_tick_return(void) __attribute__((visibility("hidden"))); /* entries-x86-64.S */

static int set_action(int signal, const struct kernel_action *action, struct kernel_action *old)
{
	return (int)dw_syscall(SYS_rt_sigaction, signal, action, old, sizeof(action->mask));
}

/* Bytes of stack from @sp on that are worth copying. */
static uint32_t stack_bytes(uint64_t sp)
{
	uint64_t top = dw_sample_top ? dw_sample_top + FRAME_ROOM : dw_sampling.main_top;
	uint64_t n = sp < top ? top - sp : UINT64_MAX;

	return n < dw_sampling.stack_bytes ? (uint32_t)n : dw_sampling.stack_bytes;
}

static void take(const greg_t *g)
{
	const uint64_t regs[DWELL_SAMPLE_REGS] = {
		(uint64_t)g[REG_RAX], (uint64_t)g[REG_RDX], (uint64_t)g[REG_RCX],
		(uint64_t)g[REG_RBX], (uint64_t)g[REG_RSI], (uint64_t)g[REG_RDI],
		(uint64_t)g[REG_RBP], (uint64_t)g[REG_RSP], (uint64_t)g[REG_R8],
		(uint64_t)g[REG_R9],  (uint64_t)g[REG_R10], (uint64_t)g[REG_R11],
		(uint64_t)g[REG_R12], (uint64_t)g[REG_R13], (uint64_t)g[REG_R14],
		(uint64_t)g[REG_R15], (uint64_t)g[REG_RIP]};
	uint32_t n = stack_bytes((uint64_t)g[REG_RSP]), at = 0;
	struct dw_interpreter_walk walk;
	struct dw_ring_place place;
	bool has_frames = dw_interpreter_look(&walk, regs);
	uint32_t room = (uint32_t)sizeof(regs) + n + (has_frames ? dw_interpreter_bytes(&walk) : 0);

	if (dw_ring_begin(&place, has_frames ? DWELL_SAMPLE_INTERPRETER_STACK : DWELL_SAMPLE_STACK,
			  room)) {
		if (has_frames)
			at = dw_interpreter_write(&walk, &place);
		dw_ring_write(&place, at, regs, sizeof(regs));
		at += (uint32_t)sizeof(regs);
		at += dw_ring_copy(&place, at, (uint64_t)g[REG_RSP], n);
		dw_ring_end(&place, at);
	}
	if (has_frames)
		dw_interpreter_end(&walk);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (info->si_code != SI_TIMER || info->si_ptr != DWELL_TIMER_VALUE) {
		dw_signal_from_others(signal, info, &((ucontext_t *)context)->uc_sigmask);
		return;
	}
	if (!dw_sampling_is_on())
		return;
	dw_agent_after_fork();
	if (!dw_agent_is_on() || dw_agent_is_over())
		dw_sampling_stop(DWELL_SAMPLE_OFF_TIMER);
	else
		take(g);
}

uint64_t dw_tick_mask(void)
{
	uint64_t mask = 0;

	dw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	return mask;
}

static const struct kernel_action ours = {on_signal,
					  SA_SIGINFO | SA_RESTART | SA_ONSTACK | RESTORER,
					  dw_tick_return, ~(1ull << (SIGTRAP - 1))};

void dw_tick_retake(int signal)
{
	set_action(signal, &ours, NULL);
}

/* Take @signal if nobody has set anything for it, and @mask has it just when it has both of its
 * neighbours: see signals.c. */
static bool take_signal(int signal, uint64_t mask)
{
	const uint64_t bit = dw_sample_bit(signal);
	struct kernel_action old = {0};

	if (dw_sample_is_between(mask, signal) != !!(mask & bit) ||
	    set_action(signal, NULL, &old) || old.handler || set_action(signal, &ours, NULL))
		return false;
	__atomic_store_n(&dw_sampling.signal, signal, __ATOMIC_RELEASE);
	dw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, 0, sizeof(bit));
	return true;
}

static bool take_one(uint64_t mask)
{
	for (int signal = DWELL_SAMPLE_SIGNAL_LAST; signal >= DWELL_SAMPLE_SIGNAL_FIRST; signal--)
		if (take_signal(signal, mask))
			return true;
	return false;
}

bool dw_tick_start(void)
{
	return take_one(dw_tick_mask());
}

void dw_tick_give(int signal, sighandler_t to)
{
	struct kernel_action action = {.handler = (void *)SIG_IGN};

	set_action(signal, &action, NULL);
	if (to == SIG_IGN)
		return;
	action.handler = NULL;
	set_action(signal, &action, NULL);
}

void dw_tick_move(uint64_t mask, sighandler_t to)
{
	int old = __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE);
	bool has_one;

	if (!old)
		return;
	if (__atomic_exchange_n(&dw_sampling.is_moving, true, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < WAITS && dw_sampling.is_moving; i++)
			dw_sys_sleep_ns(WAIT_NS);
		return;
	}
	/* Timers that are made from here on have the new one. */
	has_one = dw_sampling_is_on() && take_one(mask & ~dw_sample_bit(old));
	if (!has_one)
		__atomic_store_n(&dw_sampling.signal, 0, __ATOMIC_RELEASE);
	dw_timers_stop();
	dw_tick_give(old, to);
	if (has_one)
		dw_timers_resume();
	else
		dw_sampling_stop(DWELL_SAMPLE_OFF_SIGNAL);
	__atomic_store_n(&dw_sampling.is_moving, false, __ATOMIC_RELEASE);
}
