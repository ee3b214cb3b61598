/*
 * The layout: where every clone, map and table stands in the area, and how far the area lies from
 * its module.
 */
#pragma once

#include "base/error.h"
#include "clone/gates.h"
#include "clone/module.h"

#include <stdint.h>

enum { DWELL_AREA_PAGE = 4096 };

/* Area offsets. Bytes between the parts are zero, but int3 between clones. */
struct dw_clone_layout {
	uint32_t code_at;    /* whole pages */
	uint32_t code_bytes; /* whole pages */
	struct dw_gates gates;
	uint32_t tables_at; /* maps and tables of jumps */
	uint32_t end;	    /* of those; what has no influence on clones follows, 8-aligned */
};

/*
 * Place the clones of all functions without a reason: clone_at, clone_bytes, prefix_bytes, map_at,
 * m->places, table_at of jumps, m->distance. 0; -ENOMEM; DWELL_ERR_LIMIT.
 */
int dw_clone_lay_out(struct dw_clone_module *m, struct dw_clone_layout *ret, struct dw_error *err);
