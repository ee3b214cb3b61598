/*
 * Costs by function and call instead of by path, as callgrind has them.
 *
 * Each slot (export/slots.h) has costs of its own. A call leads from a slot to a symbol and has all
 * that lies below it, once for each sample or interval however often the call is on its stack.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/slots.h"

#include <stdint.h>

struct dw_cost_call {
	uint32_t symbol; /* of the callee */
	uint32_t line;	 /* where the callee was first seen, 0 = not known */
	uint32_t next;	 /* index of the next call from the same slot + 1, 0 = none */
	uint32_t active; /* while costs are added up: how often it is on the path at hand */
	uint64_t count;	 /* calls; where these are not known, samples or objects */
};

struct dw_call_costs {
	unsigned kinds_n;
	struct dw_slots slots;
	uint64_t *own;	     /* by slot, kinds_n each */
	uint32_t *symbol_of; /* by slot */
	uint32_t *place_of;  /* by slot */
	uint32_t *calls_of;  /* by slot: index of its first call + 1 */
	DW_VEC(struct dw_cost_call) calls;
	DW_VEC(uint64_t) inclusive; /* by call, kinds_n each */
	struct dw_map call_ids;	    /* slot << 32 | symbol -> index + 1 */
};

/* Add up the weights of @e. 0 or -ENOMEM, to be released in either case. */
int dw_call_costs_init(struct dw_call_costs *c, const struct dw_export *e);

/* Free everything. */
void dw_call_costs_release(struct dw_call_costs *c);
