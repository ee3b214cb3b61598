/*
 * The cache of disabled probes: what runs with a limit of overhead have switched off in a module.
 *
 * A file beside the module's clone image, in the same folder and under the same rules
 * (base/cache.h): it is gone with the image, and each limit has its own. Each run measures some of
 * it again, others than the run before: what turns out to measure more than it costs is forgotten.
 * Keys count from the image: index of a function or import, DWELL_DISABLE_POINTERS with that of a
 * function for its calls through pointers. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

enum dw_disabled_cache_state {
	DWELL_DISABLED_BEFORE,	  /* from the start */
	DWELL_DISABLED_RETRIED,	  /* measured in this run */
	DWELL_DISABLED_NOW,	  /* switched off in this run */
	DWELL_DISABLED_FORGOTTEN, /* worth its probes in this run */
};

struct dw_disabled_cache_row {
	uint32_t disable_key;
	uint32_t state; /* enum dw_disabled_cache_state */
};

struct dw_disabled_cache {
	DW_VEC(struct dw_disabled_cache_row) rows; /* those that are off from the start first */
	size_t off_n;
	uint32_t runs;
	struct dw_map index; /* key -> place in rows + 1 */
};

/*
 * Read what runs with @limit (a part of 1) have left beside the image @path, whose keys are
 * below @max. What is not there or makes no sense is nothing. 0 or -ENOMEM.
 */
int dw_disabled_cache_read(struct dw_disabled_cache *l, const char *path, double limit,
			   uint32_t max);

/* Note that @disable_key was switched off in this run. 0 or -ENOMEM. */
int dw_disabled_cache_add(struct dw_disabled_cache *l, uint32_t disable_key);

/* Note that @row, measured again, was worth it. */
void dw_disabled_cache_forget(struct dw_disabled_cache_row *row);

/* Write what is to be kept beside the image @path. 0, or a negative code: the next run begins as
 * this one did. */
int dw_disabled_cache_write(const struct dw_disabled_cache *l, const char *path, double limit);

/* Free everything. */
void dw_disabled_cache_release(struct dw_disabled_cache *l);
