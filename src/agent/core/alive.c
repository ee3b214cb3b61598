/*
 * Whether somebody records: a page of the session's folder tells, without a system call, wherever
 * the program has gone with its user, its root or its filters. It is mapped when the agent first
 * asks, and a fork's child has it from its parent.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/hot.h"
#include "agent/core/syscall-x86-64.h"

#include <errno.h>
#include <linux/futex.h>

enum { DWELL_ALIVE_PAGE = 4096 };

/* Map the page. -ENOENT: it has gone with its folder. */
static int map_alive(void)
{
	char path[sizeof(dw_agent.path)] = "";
	struct stat st = {0};
	void *mapped;
	int fd;

	dw_text_append(path, sizeof(path), dw_agent.folder);
	dw_text_append(path, sizeof(path), "/" DWELL_REGION_ALIVE);
	fd = dw_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	mapped = (void *)-ENXIO;
	if (!dw_sys_fstat(fd, &st) && st.st_size >= DWELL_ALIVE_PAGE)
		mapped = dw_sys_mmap(NULL, DWELL_ALIVE_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	dw_sys_close(fd);
	if (!dw_is_mapped(mapped))
		return (int)(long)mapped;
	dw_agent.alive = mapped;
	return 0;
}

bool dw_agent_files_are_alike(void)
{
	return dw_agent.alive && dw_agent.alive->files_are_alike;
}

DWELL_HOT bool dw_agent_is_over(void)
{
	const struct dw_region_alive *alive = dw_agent.alive;

	if (dw_agent_is_retired())
		return true;
	return alive && (__atomic_load_n(&alive->is_over, __ATOMIC_RELAXED) ||
			 __atomic_load_n(&alive->owner, __ATOMIC_RELAXED) & FUTEX_OWNER_DIED);
}

bool dw_region_is_abandoned(void)
{
	if (!dw_agent_is_over() && !dw_agent.alive && map_alive() == -ENOENT)
		return true;
	return dw_agent_is_over();
}
