/*
 * Steps through the DIEs of hostile DWARF: always forward, so that every walk ends.
 */
#pragma once

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
