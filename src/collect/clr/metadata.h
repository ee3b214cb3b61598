/*
 * What rows of an agent's tables are in the profile: modules, types, methods, frames, stacks,
 * threads. Each row is looked at once. One thread.
 */
#pragma once

#include "collect/clr/tables.h"
#include "model/profile.h"

#include <stdint.h>

struct dw_clr_metadata {
	struct dw_profile *p;
	uint32_t process;
	uint64_t start_ns; /* CLOCK_MONOTONIC that times count from */
	const struct dw_clr_tables *tables;
	/* By row: id in the profile, 0 = not looked at yet. */
	DW_VEC(uint32_t) modules;
	DW_VEC(uint32_t) types;
	DW_VEC(uint32_t) frames;
	DW_VEC(uint32_t) threads;
	DW_VEC(uint32_t) stacks; /* by node; UINT32_MAX = the empty stack */
	DW_VEC(uint32_t) path;	 /* for one stack */
	uint32_t native;	 /* frame of nameless native code, 0 = not met yet */
	uint64_t broken;
};

/* The id of row @row, *@ret = 0: it makes no sense. 0 or -ENOMEM. */
int dw_clr_type(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret);

/* The same of a thread. */
int dw_clr_thread(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret);

/* The method of row @row, added to the profile. DWELL_ERR_FORMAT: it makes no sense. */
int dw_clr_method(struct dw_clr_metadata *m, uint32_t row, struct dw_alloc_method *ret);

/* The stack of node @row, 0 = the empty one. DWELL_ERR_FORMAT: it makes no sense. */
int dw_clr_stack(struct dw_clr_metadata *m, uint32_t row, uint32_t *ret);

/* Free everything. */
void dw_clr_metadata_release(struct dw_clr_metadata *m);
