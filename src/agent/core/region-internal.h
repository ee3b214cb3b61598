/*
 * What the files of the region share: its file and its mappings.
 */
#pragma once

#include "agent/core/agent-internal.h"

enum { DWELL_PAGE = 4096 };

/* @bytes up to the end of their last page. */
static inline uint64_t dw_whole_pages(uint64_t bytes)
{
	return (bytes + DWELL_PAGE - 1) & ~(uint64_t)(DWELL_PAGE - 1);
}

/* Map the file's @bytes from @offset shared and writable; in the place of what is at @at, unless
 * that is NULL. dw_is_mapped() tells the result from -errno. */
void *dw_map_file(void *at, uint64_t bytes, int fd, uint64_t offset);

/* Map zeroed private memory, as dw_map_file() does. */
void *dw_map_memory(void *at, uint64_t bytes);

/* Create the region's file, dw_agent.path, of @bytes, allocated but for parts of the header. Its
 * descriptor, or -errno and no file. */
int dw_region_create(uint64_t bytes);

/* As dw_agent_have(), in the region's header that is mapped at @header. */
bool dw_region_have(const struct dw_region_header *header, const void *at, size_t bytes);

/* The region's file, opened again, or -errno: also when the path leads elsewhere now. */
int dw_region_reopen(void);

/* Let the file @fd have @bytes, with a hole at its end. 0 or -errno, no signal. */
int dw_region_resize(int fd, uint64_t bytes);

/* Map @chunk from the window, allocated, in the place of what is at @to. False: it is not in the
 * window, or there is no room. */
bool dw_region_window_map(const struct dw_region_chunk *chunk, void *to);

/* In a fork's child: let the window be one of its own file @fd, behind what is in use. */
void dw_region_window_again(int fd);

/* Give the window back. */
void dw_region_window_close(void);

/* Fill @header but for modules and chunks; its magic comes last. Also makes this process
 * dw_agent.pid. */
void dw_region_fill(struct dw_region_header *header, bool is_fork);
