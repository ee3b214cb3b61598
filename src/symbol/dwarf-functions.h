/*
 * Functions as DWARF describes them -> rows of an answer: name, declaration, range.
 *
 * Concrete and inlined copies share one abstract DIE, and so one row. DWARF is hostile: steps from
 * DIE to DIE lead forward, so that every walk ends. It stores no way up, and libdw finds one only
 * by walking the unit anew each time, so a map of parents walks it once.
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "symbol/question.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum { DWELL_DIE_DEPTH_MAX = 200 };

/* Set *@child to the first child of @die. False when there is none. */
static inline bool dw_die_first(Dwarf_Die *die, Dwarf_Die *child)
{
	return dwarf_child(die, child) == 0 && child->addr > die->addr;
}

/* Go to the next sibling. False after the last, or when the file leads back. */
static inline bool dw_die_next(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

/* The number in attribute @name of @die itself, 0 = none or not a number. */
static inline uint32_t dw_die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &v) || v >= UINT32_MAX)
		return 0;
	return (uint32_t)v;
}

/* A DIE that can stand before "::", or hold such a thing. */
struct dw_scope {
	Dwarf_Die die;
	uint32_t parent; /* index in the same unit, UINT32_MAX = the unit itself */
};

struct dw_scope_unit {
	void *cu;
	DW_VEC(struct dw_scope) rows; /* in the order of their addresses */
};

/* Units are remembered by address. */
struct dw_scopes {
	DW_VEC(struct dw_scope_unit) units;
};

struct dw_die_functions {
	struct dw_answer *answer; /* borrowed */
	struct dw_map ids;	  /* address of the abstract DIE -> function id */
	struct dw_scopes scopes;
};

/*
 * The row of the function that @die, a subprogram or inlined subroutine, stands for. *@ret = 0 when
 * it has no name. 0 or -ENOMEM.
 */
int dw_die_functions_get(struct dw_die_functions *t, Dwarf_Die *die, uint32_t *ret);

/* Free everything but the answer. */
void dw_die_functions_release(struct dw_die_functions *t);
