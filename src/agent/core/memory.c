/* The agent's own memory; see memory.h. Nothing is reserved: a program's limits are for itself. */
#include "agent/core/memory.h"

#include "agent/core/agent.h"
#include "agent/core/syscall-x86-64.h"

void *dw_agent_memory(size_t bytes)
{
	void *got;

	if (!dw_agent_may_call())
		return NULL;
	got = dw_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return dw_is_mapped(got) ? got : NULL;
}

void *dw_agent_memory_more(void *old, size_t old_bytes, size_t bytes)
{
	void *got;

	if (!old)
		return dw_agent_memory(bytes);
	if (!dw_agent_may_call())
		return NULL;
	got = (void *)dw_syscall(SYS_mremap, old, old_bytes, bytes, MREMAP_MAYMOVE);
	return dw_is_mapped(got) ? got : NULL;
}
