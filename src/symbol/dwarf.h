/*
 * What the DWARF of one file says of a list of addresses: lines, and the functions around each, a
 * subprogram and what was inlined into it.
 *
 * Only for helper processes: libdw is fed with hostile bytes here.
 */
#pragma once

#include "symbol/dwarf-functions.h"

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

/* Free everything. */
void dw_inlines_release(struct dw_inlines *t);

/* Per address: node 0 = DWARF knows no function. The line is that of the innermost function. */
struct dw_dwarf_place {
	uint32_t node; /* in the inlines */
	struct dw_location line;
};

/*
 * Look up the sorted addresses @svmas, @n of them.
 * @places  zeroed, @n of them. Names go to @answer, functions around an address to @inlines.
 * 0 or -ENOMEM.
 */
int dw_dwarf_find(Dwarf *dwarf, const uint64_t *svmas, struct dw_dwarf_place *places, size_t n,
		  struct dw_inlines *inlines, struct dw_answer *answer);

/* Find the units of @dwarf and what their ranges need: libdw remembers them. 0 or -ENOMEM. */
int dw_dwarf_list_units(Dwarf *dwarf);
