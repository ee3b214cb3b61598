/*
 * Which DIE holds which: the parents of named things in one unit of DWARF.
 *
 * DWARF stores no way up, and libdw finds one only by walking the unit anew each time. The map
 * walks it once. Units are remembered by address; one per struct dw_scopes and thread.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct dw_scope {
	Dwarf_Die die;
	uint32_t parent; /* index in the same unit, UINT32_MAX = the unit itself */
};

struct dw_scope_unit {
	void *cu;
	DW_VEC(struct dw_scope) rows; /* in the order of their addresses */
};

struct dw_scopes {
	DW_VEC(struct dw_scope_unit) units;
};

/* The DIE that holds @die, borrowed until the next call. NULL = the unit, or not known. */
Dwarf_Die *dw_scopes_parent(struct dw_scopes *s, Dwarf_Die *die);

/* Free everything. */
void dw_scopes_release(struct dw_scopes *s);
