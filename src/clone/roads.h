/*
 * Roads into the module's own code: which addresses may still be reached there when the entries of
 * cloned functions lead to clones.
 *
 * The original code of a function may run when it is left alone, or when something can enter it
 * behind its start: a pointer, an address that code computes, a branch of other code that runs.
 * Then its own branches are roads too.
 */
#pragma once

#include "clone/module.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_roads {
	const struct dw_clone_module *m; /* borrowed */
	struct dw_rank reached;		 /* addresses that something leads to */
	bool *runs;			 /* by function: its original code may run */
	DW_VEC(uint32_t) work;		 /* functions whose branches are still to be followed */
};

/* Find the roads of @m with the reasons set so far. 0 or -ENOMEM. dw_roads_release() in any case.
 */
int dw_roads_find(const struct dw_clone_module *m, struct dw_roads *ret);

/* The original code of function @i may run after all: follow its branches. 0 or -ENOMEM. */
int dw_roads_add(struct dw_roads *r, uint32_t i);

/* Whether something leads to one of the @n addresses from @svma on. */
bool dw_roads_reach(const struct dw_roads *r, uint64_t svma, uint64_t n);

/* Free the memory. */
void dw_roads_release(struct dw_roads *r);
