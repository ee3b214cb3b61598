/*
 * Patches: where the module's own code is overwritten with jumps to clones.
 *
 * A jump takes five bytes. Nothing may lead to the last four of them: no branch of code that may
 * still run in the module, no address that anything knows. Where an entry has no such room, two
 * bytes hop to padding nearby that holds the jump.
 */
#pragma once

#include "base/vec.h"
#include "clone/module.h"

#include <stdint.h>

/* A patch whose target is not yet known. */
struct dw_planned_patch {
	struct dw_clone_patch patch;
	uint32_t insn; /* it brings back the kept return in front of this instruction; UINT32_MAX:
			  it leads to the clone of the function */
};

struct dw_patches {
	DW_VEC(struct dw_planned_patch) list; /* sorted by place */
};

/*
 * Plan the patches of all functions that are to be cloned, with what reason is set so far; sets
 * DWELL_LEFT_NO_ROOM, DWELL_LEFT_RETURN_ADDRESS and the flag DWELL_CLONE_REDIRECTED. 0 or -ENOMEM.
 * dw_patches_release() in any case.
 */
int dw_patches_plan(struct dw_clone_module *m, struct dw_patches *ret);

/* Fill in the targets, after the layout. */
void dw_patches_link(const struct dw_clone_module *m, struct dw_patches *p);

/* Free the memory. */
void dw_patches_release(struct dw_patches *p);
