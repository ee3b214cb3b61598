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

/* Create the region's file, dw_agent.path, with @bytes allocated. Its descriptor, or -errno and no
 * file. */
int dw_region_create(uint64_t bytes);

/* Fill @header but for modules and chunks; its magic comes last. Also makes this process
 * dw_agent.pid. */
void dw_region_fill(struct dw_region_header *header, bool is_fork);
