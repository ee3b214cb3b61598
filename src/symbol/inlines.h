/*
 * The functions around each address of one DWARF unit: a subprogram and what was inlined into it.
 */
#pragma once

#include "symbol/functions.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* One function at some addresses. Chains lead outward. */
struct dw_inline {
	uint32_t outer;	   /* index of the node that this one was inlined into, 0 = none */
	uint32_t root;	   /* index of the outermost node */
	uint32_t function; /* id in the answer, 0 = without a name */
	uint32_t depth;	   /* nodes outside of this one */
	uint32_t file;	   /* string: where @outer calls it, 0 = not known */
	uint32_t line;
	uint32_t column;
};

struct dw_inlines {
	DW_VEC(struct dw_inline) nodes; /* index 0 unused */
};

/*
 * Find the innermost function at each of the sorted addresses @svmas, @n of them.
 * @unit     the unit's DIE, of the split unit where there is one.
 * @nodes    receives node indices, 0 = no function; must be zeroed.
 * 0 or -ENOMEM.
 */
int dw_inlines_find(struct dw_inlines *t, struct dw_die_functions *functions, Dwarf_Die *unit,
		    const uint64_t *svmas, uint32_t *nodes, size_t n);

/* Free everything. */
void dw_inlines_release(struct dw_inlines *t);
