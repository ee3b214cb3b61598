/* Agents with a deferred start; see deferred-start.h. The program has threads: signals are blocked
 * in slow parts. */
#include "agent/core/deferred-start.h"

#include "agent/core/agent-internal.h"
#include "agent/core/exec.h"
#include "agent/core/system-calls.h"

typedef const char *second_function(void);

void dw_deferred_preload(char **envp)
{
	const char *path = dw_loader_own_path();
	second_function *second = path ? (second_function *)dw_real("dwell_second") : NULL;
	const char *start = second ? second() : NULL;

	if (start) {
		dw_agent_wake_second(start);
		return;
	}
	if (path && dw_environment_preloads(envp, path) && dw_agent_wake(envp))
		dw_exec_patch();
}

bool dw_deferred_is_preloaded(void)
{
	return dw_agent.is_active;
}

const char *dw_deferred_own_path(void)
{
	return dw_loader_own_path();
}

const char *dw_deferred_mode(void)
{
	return dw_environment_mode();
}

void dw_deferred_leave_children(void)
{
	dw_agent.is_active = false;
}

bool dw_deferred_start(const char *folder, uint64_t filters)
{
	if (folder) {
		dw_agent.folder[0] = '\0';
		if (!dw_text_append(dw_agent.folder, sizeof(dw_agent.folder), folder) ||
		    !dw_filters_fit(filters))
			return false;
	}
	if (!dw_agent_may_call())
		return false;
	dw_agent.is_started = true;
	return dw_region_start();
}

void dw_deferred_started(uint64_t begin_ns)
{
	dw_agent.region->agent_start_ns = dw_sys_now_ns() - begin_ns;
	__atomic_store_n(&dw_agent.region->state, DWELL_REGION_RUNNING, __ATOMIC_RELEASE);
}

void dw_deferred_end(void)
{
	dw_agent.region->end.ns = dw_sys_now_ns();
	__atomic_store_n(&dw_agent.region->state, DWELL_REGION_ENDED, __ATOMIC_RELEASE);
}
