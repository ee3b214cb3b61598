/*
 * Whether a preloaded agent belongs into this process; see agent-internal.h and start.c.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/exec-program.h"
#include "agent/core/memory.h"

#include <elf.h>

/* The words behind the environment: what the kernel told about this program. */
static const Elf64_auxv_t *auxiliary(char **envp)
{
	while (*envp)
		envp++;
	return (const Elf64_auxv_t *)(envp + 1);
}

static bool is_secure(char **envp)
{
	const Elf64_auxv_t *word = auxiliary(envp);

	for (; word->a_type != AT_NULL; word++)
		if (word->a_type == AT_SECURE)
			return word->a_un.a_val != 0;
	return true;
}

static void activate(const char *path)
{
	dw_agent.is_active = !dw_region_is_abandoned() && dw_exec_program_start(path);
	if (dw_agent.is_active)
		dw_memory_start();
}

void dw_agent_wake_second(const char *start)
{
	const char *path = dw_loader_own_path();

	if (!path || !dw_environment_be_second(start))
		return;
	dw_agent.is_second = true;
	activate(path);
}

const char *dw_agent_second(void)
{
	return dw_agent.is_active ? dw_environment_second() : NULL;
}

bool dw_agent_wake(char **envp)
{
	const char *path = dw_loader_own_path();
	uint64_t filters;

	if (!path || is_secure(envp) || !dw_environment_take(envp, path, &filters))
		return false;
	if (!dw_filters_fit(filters))
		return false;
	activate(path);
	return dw_agent.is_active;
}
