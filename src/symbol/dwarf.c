/*
 * From addresses to units and their parts; see dwarf.h. Units are found by the ranges of their own
 * DIEs: .debug_aranges is optional (clang and rustc write none). Line tables and DIEs are read for
 * units that hold an address only. A split unit is followed into its .dwo file; without the file
 * the skeleton's lines, and clang's copies of inlined functions in it, remain. DWARF 5, 2.17, 3.1.
 *
 * In a unit only subtrees whose ranges hold an address are entered.
 * Types are passed over at first: they make up most of a C++ unit and seldom hold code. When some
 * address is left without a function, a second, thorough walk looks there too (methods in D and
 * Rust, nested functions of GNU C and Ada). Depth is limited, every step leads forward.
 */
#include "symbol/dwarf.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "symbol/dwarf-functions.h"
#include "symbol/dwarf-lines.h"

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

/*
 * Find the innermost function at each of the sorted addresses @svmas, @n of them.
 * @unit     the unit's DIE, of the split unit where there is one.
 * @nodes    receives node indices, 0 = no function; must be zeroed.
 * 0 or -ENOMEM.
 */
static int find_inlines(struct dw_inlines *t, struct dw_die_functions *functions, Dwarf_Die *unit,
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

struct unit {
	Dwarf_Die die;
	size_t n;     /* addresses */
	size_t start; /* index of the first in the list by unit */
};

struct lookup {
	const uint64_t *svmas;
	size_t n;
	uint32_t *unit_of; /* per address: index of the unit + 1, 0 = none */
	DW_VEC(struct unit) units;
};

/* Claim for @unit the addresses in [@lo, @hi) that no unit before it has. */
static size_t claim(struct lookup *l, uint32_t unit, uint64_t lo, uint64_t hi)
{
	size_t a = dw_sorted_count(l->svmas, l->n, v, *v < lo), claimed = 0;

	for (; a < l->n && l->svmas[a] < hi; a++) {
		if (!l->unit_of[a]) {
			l->unit_of[a] = unit + 1;
			claimed++;
		}
	}
	return claimed;
}

static int add_unit(struct lookup *l, Dwarf_Die *die)
{
	struct unit u = {.die = *die};
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0)
		u.n += claim(l, (uint32_t)l->units.n, lo, hi);
	return u.n ? dw_vec_push(&l->units, u) : 0;
}

static int find_units(struct lookup *l, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0;

	while (!rc && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton || type == DW_UT_partial)
			rc = add_unit(l, &die);
	return rc;
}

/* Scratch for the addresses of one unit, in their order. */
struct part {
	uint64_t *svmas;
	uint32_t *nodes;
	struct dw_location **lines;
};

static int find_in_unit(struct unit *u, const struct part *part, struct dw_die_functions *functions,
			struct dw_inlines *inlines)
{
	Dwarf_Die split, *die = &u->die;
	uint8_t type;
	int rc = dw_lines_find(&u->die, part->svmas, part->lines, u->n, functions->answer);

	if (!dwarf_cu_info(u->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton && split.cu)
		die = &split;
	if (!rc)
		rc = find_inlines(inlines, functions, die, part->svmas, part->nodes, u->n);
	return rc;
}

/* Give each unit its addresses, in one list sorted by unit; *@order[i] = index of an address. */
static void sort_by_unit(struct lookup *l, size_t *order)
{
	size_t start = 0;

	dw_vec_each(u, &l->units) {
		u->start = start;
		start += u->n;
		u->n = 0;
	}
	for (size_t i = 0; i < l->n; i++) {
		if (l->unit_of[i]) {
			struct unit *u = &l->units.v[l->unit_of[i] - 1];

			order[u->start + u->n++] = i;
		}
	}
}

static int find_all(struct lookup *l, struct dw_dwarf_place *places, struct part *part,
		    struct dw_inlines *inlines, struct dw_answer *answer)
{
	struct dw_die_functions functions = {.answer = answer};
	dw_auto_free size_t *order = calloc(l->n, sizeof *order);
	int rc = order ? 0 : -ENOMEM;

	if (order)
		sort_by_unit(l, order);
	for (size_t k = 0; k < l->units.n && !rc; k++) {
		struct unit *u = &l->units.v[k];

		for (size_t i = 0; i < u->n; i++) {
			part->svmas[i] = l->svmas[order[u->start + i]];
			part->lines[i] = &places[order[u->start + i]].line;
			part->nodes[i] = 0;
		}
		rc = find_in_unit(u, part, &functions, inlines);
		for (size_t i = 0; i < u->n && !rc; i++)
			places[order[u->start + i]].node = part->nodes[i];
	}
	dw_die_functions_release(&functions);
	return rc;
}

int dw_dwarf_find(Dwarf *dwarf, const uint64_t *svmas, struct dw_dwarf_place *places, size_t n,
		  struct dw_inlines *inlines, struct dw_answer *answer)
{
	struct lookup l = {svmas, n, calloc(n + 1, sizeof *l.unit_of), {0}};
	struct part part = {calloc(n + 1, sizeof *part.svmas), calloc(n + 1, sizeof *part.nodes),
			    calloc(n + 1, sizeof *part.lines)};
	int rc = l.unit_of && part.svmas && part.nodes && part.lines ? 0 : -ENOMEM;

	if (!rc)
		rc = find_units(&l, dwarf);
	if (!rc)
		rc = find_all(&l, places, &part, inlines, answer);
	free(part.svmas);
	free(part.nodes);
	free(part.lines);
	free(l.unit_of);
	dw_vec_release(&l.units);
	return rc;
}

int dw_dwarf_list_units(Dwarf *dwarf)
{
	struct lookup none = {0};

	return find_units(&none, dwarf);
}
