/*
 * A process that is measured no more, since nobody records any longer.
 *
 * What the agent has stays here, where threads may still be in gates and slow paths. The child of a
 * fork is in neither, so it gets none of those mappings, which would cost each fork more than all
 * that the program has: MADV_DONTFORK. Nor do addresses that were reserved for more stay. From now
 * on the agent does without its region, and gets memory that children have, too (memory.h).
 */
#include "agent/core/arena.h"
#include "agent/core/memory.h"
#include "agent/core/region-internal.h"
#include "agent/core/syscall-x86-64.h"

bool dw_agent_is_retired(void)
{
	return __atomic_load_n(&dw_agent.is_retired, __ATOMIC_ACQUIRE);
}

void dw_agent_retire(void)
{
	if (dw_agent.is_retired)
		return;
	dw_agent.is_on = false;
	/* First: a child that another thread makes meanwhile must not look for what it lacks. */
	__atomic_store_n(&dw_agent.is_retired, true, __ATOMIC_SEQ_CST);
	dw_region_window_close();
	dw_syscall(SYS_madvise, dw_agent.region, dw_whole_pages(sizeof(*dw_agent.region)),
		   MADV_DONTFORK);
	if (dw_agent.alive)
		dw_syscall(SYS_madvise, dw_agent.alive, DWELL_PAGE, MADV_DONTFORK);
	dw_arena_retire();
	dw_memory_retire();
}
