/*
 * From the tables of a .NET agent to the allocations of a profile: copies, checked, then
 * differences.
 *
 * One reader for each region. Each reading adds to a slice what has come since the one before. What
 * a hostile target writes gives odd numbers, never a bad index: rows that make no sense are dropped
 * and counted. One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/region/read.h"
#include "model/profile.h"
#include "wire/allocations.h"

#include <stdint.h>

struct dw_region_allocations;

/* One reading. */
struct dw_allocations_reading {
	const struct dw_region_head *head; /* just read */
	uint64_t start_ns;		   /* CLOCK_MONOTONIC that times count from */
	uint32_t slice;
};

/* Sums over a region, as last read. */
struct dw_region_allocations_stats {
	struct dw_alloc_count allocated; /* by groups */
	struct dw_alloc_count threads;	 /* as threads have counted */
	uint64_t counted_bytes;		 /* by the runtime, of the threads for which it is known */
	uint64_t types, groups, nodes, gcs;
	uint64_t broken; /* rows that make no sense */
	uint64_t facts[DWELL_CLR_FACTS];
};

/* A reader for the process @process of @p (borrowed), whose agent may use @budget bytes. 0 or
 * -ENOMEM. */
int dw_region_allocations_new(struct dw_profile *p, uint32_t process, uint64_t budget,
			      struct dw_region_allocations **ret);

/*
 * Read the region @fd and add what is new: threads, types, methods, stacks, collections, and the
 * slice's deltas. 0; DWELL_ERR_NOT_FOUND (nothing there yet); DWELL_ERR_FORMAT and DWELL_ERR_LIMIT
 * (the profile stays good); -ENOMEM; -errno.
 */
int dw_region_allocations_read(struct dw_region_allocations *r, int fd,
			       const struct dw_allocations_reading *now);

/* Sums of what was read, borrowed. */
const struct dw_region_allocations_stats *
dw_region_allocations_stats(const struct dw_region_allocations *r);

/* Free everything. NULL is fine. */
void dw_region_allocations_free(struct dw_region_allocations *r);
