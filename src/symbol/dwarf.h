/*
 * What the DWARF of one file says of a list of addresses.
 *
 * Only for helper processes: libdw is fed with hostile bytes here.
 */
#pragma once

#include "symbol/inlines.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

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
