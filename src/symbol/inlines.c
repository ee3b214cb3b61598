/*
 * The walk over one unit; see inlines.h. Only subtrees whose ranges hold an address are entered.
 * Types are passed over at first: they make up most of a C++ unit and seldom hold code. When some
 * address is left without a function, a second, thorough walk looks there too (methods in D and
 * Rust, nested functions of GNU C and Ada). Depth is limited, every step leads forward.
 */
#include "symbol/inlines.h"

#include "base/vec.h"
#include "symbol/die.h"
#include "symbol/lines.h"

#include <dwarf.h>
#include <errno.h>

struct walk {
	struct dw_inlines *t;
	struct dw_die_functions *functions;
	Dwarf_Die *unit;
	const uint64_t *svmas;
	uint32_t *nodes;
	size_t n;
	bool thorough;
	int rc;
};

/* Where the walk stands. */
struct place {
	uint32_t root; /* node of the subprogram around, 0 = none that holds an address */
	int depth;
};

/* A node for @die inside of @outer. 0 without memory (w->rc is set) or when the chain is too long.
 */
static uint32_t add_node(struct walk *w, Dwarf_Die *die, uint32_t outer)
{
	struct dw_inline node = {.outer = outer, .root = (uint32_t)w->t->nodes.n};

	if (outer) {
		node.root = w->t->nodes.v[outer].root;
		node.depth = w->t->nodes.v[outer].depth + 1;
		node.line = dw_die_number(die, DW_AT_call_line);
		node.column = dw_die_number(die, DW_AT_call_column);
	}
	if (node.depth >= DWELL_ANSWER_CHAIN_MAX)
		return 0;
	w->rc = dw_die_functions_get(w->functions, die, &node.function);
	if (!w->rc && outer && dwarf_hasattr(die, DW_AT_call_file))
		w->rc = dw_lines_file(w->unit, dw_die_number(die, DW_AT_call_file),
				      w->functions->answer, &node.file);
	if (!w->rc)
		w->rc = dw_vec_push(&w->t->nodes, node);
	return w->rc ? 0 : (uint32_t)w->t->nodes.n - 1;
}

/*
 * Put @die around the addresses in its ranges: a subprogram where none is yet, an inlined copy
 * within the subprogram @root. Returns the outermost node of what was put, 0 = no address.
 */
static uint32_t mark(struct walk *w, Dwarf_Die *die, uint32_t root)
{
	Dwarf_Addr base, lo, hi;
	uint32_t outer = 0, node = 0;
	ptrdiff_t at = 0;

	while (!w->rc && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		for (size_t i = dw_sorted_count(w->svmas, w->n, v, *v < lo);
		     i < w->n && w->svmas[i] < hi; i++) {
			uint32_t was = w->nodes[i];

			if ((was ? w->t->nodes.v[was].root : 0) != root || (node && was == node))
				continue;
			if (!node || was != outer)
				node = add_node(w, die, outer = was);
			if (!node)
				return 0;
			w->nodes[i] = node;
		}
	}
	return node ? w->t->nodes.v[node].root : 0;
}

static bool has_code(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		size_t i = dw_sorted_count(w->svmas, w->n, v, *v < lo);

		any = true;
		if (i < w->n && w->svmas[i] < hi)
			return true;
	}
	return !any;
}

static void visit_below(struct walk *w, Dwarf_Die *die, struct place place);

static void visit(struct walk *w, Dwarf_Die *die, struct place place)
{
	uint32_t root;

	place.depth++;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		root = mark(w, die, 0);
		place.root = root;
		if (root || w->thorough)
			visit_below(w, die, place);
		break;
	case DW_TAG_inlined_subroutine:
		if (place.root ? mark(w, die, place.root) != 0 : w->thorough)
			visit_below(w, die, place);
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		if (w->thorough)
			visit_below(w, die, place);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		visit_below(w, die, place);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (w->thorough || has_code(w, die))
			visit_below(w, die, place);
		break;
	}
}

static void visit_below(struct walk *w, Dwarf_Die *die, struct place place)
{
	Dwarf_Die child;

	if (place.depth > DWELL_DIE_DEPTH_MAX || !dw_die_first(die, &child))
		return;
	do {
		visit(w, &child, place);
	} while (!w->rc && dw_die_next(&child));
}

int dw_inlines_find(struct dw_inlines *t, struct dw_die_functions *functions, Dwarf_Die *unit,
		    const uint64_t *svmas, uint32_t *nodes, size_t n)
{
	struct walk w = {.t = t,
			 .functions = functions,
			 .unit = unit,
			 .svmas = svmas,
			 .nodes = nodes,
			 .n = n};

	if (!t->nodes.n && dw_vec_push(&t->nodes, (struct dw_inline){0}))
		return -ENOMEM;
	visit_below(&w, unit, (struct place){0});
	for (size_t i = 0; i < n && !w.thorough; i++)
		w.thorough = !nodes[i];
	if (w.thorough && !w.rc)
		visit_below(&w, unit, (struct place){0});
	return w.rc;
}

void dw_inlines_release(struct dw_inlines *t)
{
	dw_vec_release(&t->nodes);
}
