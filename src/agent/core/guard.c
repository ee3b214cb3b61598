/*
 * Who may run the agent's slow parts: one thread at a time, never a handler inside it.
 *
 * Waiting is bounded: who does not get in drops its event. All signals are blocked inside, so no
 * handler runs there, no longjmp() leaves and no asynchronous cancellation ends it half-way; but
 * for SIGTRAP, which kills a program that single-steps itself when it is blocked. The
 * lock lies in the page that a fork's child finds zeroed, so a holder that was not forked along
 * holds nothing in the child. It is taken by a flag of the thread first: a child that shares memory
 * is kept out by its callers, which ask dw_agent_is_self().
 */
#include "agent/core/agent-internal.h"
#include "agent/core/system-calls.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* Who waits looks less and less often, so that hundreds of threads leave the holder a processor:
 * 1 s together. */
enum { DWELL_ENTER_TRIES = 320, DWELL_ENTER_WAIT_NS = 50000, DWELL_ENTER_WAIT_MAX_NS = 3200000 };

enum { SETTLE_TRIES = 200, SETTLE_WAIT_NS = 50000 };

static __thread bool is_inside __attribute__((tls_model("initial-exec")));

static bool lock(void)
{
	long wait = DWELL_ENTER_WAIT_NS;

	for (int i = 0; i < DWELL_ENTER_TRIES; i++) {
		if (!__atomic_exchange_n(&dw_agent.wiped->lock, 1, __ATOMIC_ACQUIRE))
			return true;
		dw_sys_sleep_ns(wait);
		if (wait < DWELL_ENTER_WAIT_MAX_NS)
			wait *= 2;
	}
	return false;
}

static void set_mask(uint64_t mask, uint64_t *ret_old)
{
	dw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, ret_old, sizeof(mask));
}

bool dw_agent_enter(void)
{
	uint64_t old = 0;

	if (is_inside || !dw_agent.wiped || !dw_agent_may_call())
		return false;
	if (dw_agent.is_started)
		set_mask(~(1ULL << (SIGTRAP - 1)), &old);
	is_inside = true;
	if (lock()) {
		dw_agent.mask = old;
		return true;
	}
	is_inside = false;
	if (dw_agent.is_started)
		set_mask(old, NULL);
	return false;
}

void dw_agent_leave(void)
{
	uint64_t mask = dw_agent.mask;

	__atomic_store_n(&dw_agent.wiped->lock, 0, __ATOMIC_RELEASE);
	is_inside = false;
	if (dw_agent.is_started)
		set_mask(mask, NULL);
}

bool dw_agent_may_call(void)
{
	return !__atomic_load_n(&dw_agent.filters, __ATOMIC_RELAXED);
}

static bool is_busy(void)
{
	return (dw_agent_part.is_busy && dw_agent_part.is_busy()) ||
	       (dw_agent.wiped && __atomic_load_n(&dw_agent.wiped->lock, __ATOMIC_RELAXED));
}

void dw_agent_settle(void)
{
	for (int i = 0; i < SETTLE_TRIES && !dw_agent_is_retired() && is_busy(); i++)
		dw_sys_sleep_ns(SETTLE_WAIT_NS);
}

bool dw_agent_is_alone(void)
{
	return dw_sys_tasks() == 1 &&
	       dw_syscall(SYS_waitid, P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL) ==
		       -ECHILD;
}

bool dw_agent_has_own_region(void)
{
	return dw_agent.wiped && dw_agent.wiped->is_same_process;
}

const uint64_t *dw_agent_own_region_word(void)
{
	return &dw_agent.wiped->is_same_process;
}

bool dw_agent_is_self(void)
{
	/* In pid namespaces a fork's child can have its parent's number. */
	return dw_agent_may_call() && dw_agent_has_own_region() && dw_sys_getpid() == dw_agent.pid;
}
