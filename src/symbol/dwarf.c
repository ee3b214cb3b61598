/*
 * From addresses to units and their parts; see dwarf.h. Units are found by the ranges of their own
 * DIEs: .debug_aranges is optional (clang and rustc write none). Line tables and DIEs are read for
 * units that hold an address only. A split unit is followed into its .dwo file; without the file
 * the skeleton's lines, and clang's copies of inlined functions in it, remain. DWARF 5, 2.17, 3.1.
 */
#include "symbol/dwarf.h"

#include "symbol/lines.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <errno.h>

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
	size_t a = 0, b = l->n, claimed = 0;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (l->svmas[mid] < lo)
			a = mid + 1;
		else
			b = mid;
	}
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
		rc = dw_inlines_find(inlines, functions, die, part->svmas, part->nodes, u->n);
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
