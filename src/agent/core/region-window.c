/*
 * The region's window: the part of its file that it can grow by, mapped when the agent starts.
 *
 * The file has holes there. A piece is mapped a second time where it is wanted, and its pages are
 * allocated by MADV_POPULATE_WRITE, which fails where a full file system would raise SIGBUS later.
 * So the region grows when its file cannot be opened any more: the program has become another user,
 * has another root, or no descriptors. Without a window (kernels before 5.14, a limit of address
 * space) the file is opened again for each chunk.
 */
#include "agent/core/region-internal.h"

#include "agent/core/syscall-x86-64.h"

#include <errno.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { DWELL_POPULATE_TRIES = 10 };

#define WINDOW_BYTES_MAX ((uint64_t)4 << 30)

static int populate(void *at, uint64_t bytes)
{
	int error, tries = DWELL_POPULATE_TRIES;

	do
		error = (int)dw_syscall(SYS_madvise, at, bytes, MADV_POPULATE_WRITE);
	while (error == -EINTR && --tries);
	return error;
}

/* Map @bytes of the file behind what is in use, without rights: at @at, unless that is NULL. */
static void *map_window(void *at, int fd, uint64_t bytes)
{
	return dw_sys_mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0),
			   fd, dw_agent.bytes);
}

/* Whether addresses may be had freely. */
static bool has_space(void)
{
	struct rlimit space = {0, 0};

	return !dw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, &space) &&
	       space.rlim_cur == RLIM_INFINITY;
}

void dw_agent_window(uint64_t bytes)
{
	void *at = NULL;
	int fd;

	bytes = bytes < WINDOW_BYTES_MAX ? dw_whole_pages(bytes) : WINDOW_BYTES_MAX;
	if (dw_agent.window.bytes || !has_space() || populate(dw_agent.region, DWELL_PAGE))
		return;
	fd = dw_region_reopen();
	if (fd < 0)
		return;
	if (!dw_region_resize(fd, dw_agent.bytes + bytes))
		at = map_window(NULL, fd, bytes);
	dw_sys_close(fd);
	if (at && dw_is_mapped(at))
		dw_agent.window = (struct dw_agent_window){at, dw_agent.bytes, bytes};
}

void dw_region_window_again(int fd)
{
	struct dw_agent_window *w = &dw_agent.window;

	if (!w->bytes)
		return;
	if (dw_region_resize(fd, dw_agent.bytes + w->bytes) ||
	    !dw_is_mapped(map_window(w->at, fd, w->bytes)))
		dw_region_window_close();
	w->from = dw_agent.bytes;
}

void dw_region_window_close(void)
{
	if (dw_agent.window.bytes)
		dw_sys_munmap(dw_agent.window.at, dw_agent.window.bytes);
	dw_agent.window.bytes = 0;
}

bool dw_region_window_map(const struct dw_region_chunk *chunk, void *to)
{
	const struct dw_agent_window *w = &dw_agent.window;
	uint64_t offset = chunk->at - w->from;
	void *got;

	if (offset >= w->bytes || chunk->bytes > w->bytes - offset)
		return false;
	got = (void *)dw_syscall(SYS_mremap, (uint64_t)w->at + offset, 0, chunk->bytes,
				 MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (!dw_is_mapped(got))
		return false;
	if (!dw_sys_mprotect(to, chunk->bytes, PROT_READ | PROT_WRITE) &&
	    !populate(to, chunk->bytes))
		return true;
	dw_sys_mmap(to, chunk->bytes, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return false;
}
