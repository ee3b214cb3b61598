/*
 * What keys and call sites mean in one process: frames of the profile.
 *
 * An import is the function that the loader finds by its name, in the order of the process's
 * modules: whether its pointer was already filled does not matter, nor whether the process still
 * lives. A site is the last byte of its call, as the frames of stacks are. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "collect/calls/calls.h"
#include "collect/region/read.h"
#include "record/call-methods.h"
#include "record/call-modules.h"

#include <stdint.h>

/* A module where the process has it. */
struct dw_call_place {
	uint64_t start, bytes;
	uint64_t area; /* of its clones, 0 = none */
	uint32_t first_id, ids_n;
	struct dw_call_module *module;
};

struct dw_call_names {
	struct dw_call_modules *modules;     /* borrowed, as the next */
	struct dw_call_methods *methods;     /* of a .NET runtime in the process */
	int fd;				     /* of the region that is being read, borrowed */
	DW_VEC(struct dw_call_place) places; /* those the agent does not tell of first */
	size_t untold_n;
	struct dw_map callees; /* what was found: key -> frame, and whether it is external */
	struct dw_map sites;   /* place, address and kind -> frame */
};

/*
 * Learn where the process has its modules, from the region @fd whose head was just read. 0 or
 * -ENOMEM. Modules that are not in n->modules have no names.
 */
int dw_call_names_update(struct dw_call_names *n, int fd, const struct dw_region_head *head);

/*
 * Add the loader, which the agent does not tell of, as @p maps it; @own are our rights. Before the
 * first update. 0 or -ENOMEM.
 */
int dw_call_names_add_loader(struct dw_call_names *n, const struct dw_region_process *p,
			     const struct dw_rights *own);

/* The callbacks for dw_region_calls_new(), @n is borrowed. */
struct dw_region_names dw_call_names_of(struct dw_call_names *n);

/* Free everything. */
void dw_call_names_release(struct dw_call_names *n);
