/*
 * Parents of DIEs; see scope.h. Only what can stand before "::" or hold such a thing is kept:
 * namespaces, types, functions, blocks.
 */
#include "symbol/scope.h"

#include "symbol/die.h"

#include <dwarf.h>

static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_variant_part:
	case DW_TAG_variant:
		return true;
	}
	return false;
}

/* Add all scopes below @die, which is row @parent. */
static void add_below(struct dw_scope_unit *u, Dwarf_Die *die, uint32_t parent, int depth)
{
	Dwarf_Die child;

	if (depth > DWELL_DIE_DEPTH_MAX || !dw_die_first(die, &child))
		return;
	do {
		if (!is_scope(dwarf_tag(&child)))
			continue;
		if (dw_vec_push(&u->rows, (struct dw_scope){child, parent}))
			return;
		add_below(u, &child, (uint32_t)u->rows.n - 1, depth + 1);
	} while (dw_die_next(&child));
}

static struct dw_scope_unit *unit_of(struct dw_scopes *s, Dwarf_Die *die)
{
	Dwarf_Die root;
	struct dw_scope_unit *u;

	/* The last unit is the likely one. */
	for (size_t i = s->units.n; i-- > 0;)
		if (s->units.v[i].cu == (void *)die->cu)
			return &s->units.v[i];
	if (!dwarf_diecu(die, &root, NULL, NULL) || dw_vec_reserve(&s->units, 1))
		return NULL;
	u = &s->units.v[s->units.n++];
	*u = (struct dw_scope_unit){.cu = die->cu};
	add_below(u, &root, UINT32_MAX, 0);
	return u;
}

Dwarf_Die *dw_scopes_parent(struct dw_scopes *s, Dwarf_Die *die)
{
	struct dw_scope_unit *u = unit_of(s, die);
	size_t lo = 0, hi = u ? u->rows.n : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->rows.v[mid].die.addr < die->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!u || lo == u->rows.n || u->rows.v[lo].die.addr != die->addr ||
	    u->rows.v[lo].parent == UINT32_MAX)
		return NULL;
	return &u->rows.v[u->rows.v[lo].parent].die;
}

void dw_scopes_release(struct dw_scopes *s)
{
	dw_vec_each(u, &s->units)
		dw_vec_release(&u->rows);
	dw_vec_release(&s->units);
}
