/*
 * The agent's life: started by the loader before any other constructor (linked with -z initfirst),
 * ended by it after all others.
 *
 * glibc hands argc, argv and envp to constructors; other C libraries do not, so the first question
 * is whether a glibc is here. Then: do we belong here (our variables; not AT_SECURE), and may we
 * make system calls? A filter that kills cannot be asked what it allows. But a filter under
 * which dwell itself ran has let it do all that the agent does, so the agent only works when no
 * filter was added since: DWELL_FILTERS is their number then. Otherwise it makes no call but those
 * that read /proc/self/status, which the loader has just made for libraries.
 *
 * Only general registers are used from here on, so that MXCSR and the x87 words stay as
 * they are and no alignment of the stack is assumed.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/exec.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	uint64_t begin_ns;

	(void)argc;
	(void)argv;
	if (!dw_agent_wake(envp))
		return;
	begin_ns = dw_sys_now_ns();
	dw_memory_know_stack((uint64_t)envp);
	if (dw_region_start())
		dw_agent_part.start(dw_environment_mode());
	dw_agent.region->agent_start_ns = dw_sys_now_ns() - begin_ns;
	if (dw_agent.is_on)
		__atomic_store_n(&dw_agent.region->state, DWELL_REGION_RUNNING, __ATOMIC_RELEASE);
	dw_exec_patch();
	dw_agent.is_started = true;
}

__attribute__((destructor)) static void end(void)
{
	if (!dw_agent_is_on() || !dw_agent_is_self())
		return;
	dw_agent_part.end();
	__atomic_store_n(&dw_agent.region->state, DWELL_REGION_ENDED, __ATOMIC_RELEASE);
}
