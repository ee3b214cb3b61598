/*
 * What runs with a limit of overhead have switched off in a module, kept for the next run.
 *
 * A file beside the module's clone image, in the same folder and under the same rules
 * (base/cache.h): it is gone with the image, and each limit has its own. Each run measures some of
 * it again, others than the run before: what turns out to measure more than it costs is forgotten.
 * Subjects count from the image: index of a function or import, DWELL_MUTE_POINTERS with that of a
 * function for its calls through pointers. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

enum dw_learnt_state {
	DWELL_LEARNT_OFF,    /* from the start */
	DWELL_LEARNT_AGAIN,  /* measured in this run */
	DWELL_LEARNT_NOW,    /* switched off in this run */
	DWELL_LEARNT_FORGOT, /* worth its probes in this run */
};

struct dw_learnt_row {
	uint32_t subject;
	uint32_t state; /* enum dw_learnt_state */
};

struct dw_learnt {
	DW_VEC(struct dw_learnt_row) rows; /* those that are off from the start first */
	size_t off_n;
	uint32_t runs;
	struct dw_map index; /* subject -> place in rows + 1 */
};

/*
 * Read what runs with @limit (a part of 1) have left beside the image @path, whose subjects are
 * below @max. What is not there or makes no sense is nothing. 0 or -ENOMEM.
 */
int dw_learnt_read(struct dw_learnt *l, const char *path, double limit, uint32_t max);

/* Note that @subject was switched off in this run. 0 or -ENOMEM. */
int dw_learnt_add(struct dw_learnt *l, uint32_t subject);

/* Note that @row, measured again, was worth it. */
void dw_learnt_forget(struct dw_learnt_row *row);

/* Write what is to be kept beside the image @path. 0, or a negative code: the next run begins as
 * this one did. */
int dw_learnt_write(const struct dw_learnt *l, const char *path, double limit);

/* Free everything. */
void dw_learnt_release(struct dw_learnt *l);
