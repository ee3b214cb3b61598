/*
 * The modules view: a tree of modules, their functions, those functions' lines, and the
 * instructions of the lines.
 *
 * Items number the four kinds of totals through, modules first, so that parents come first. An
 * instruction belongs to the line of its innermost function.
 */
#include "analysis/totals.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "view/columns-of.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

#include <errno.h>

/* Where each kind of item starts; end[3] is the number of all. */
struct kinds {
	size_t end[4];
};

static struct kinds kinds_of(const struct dw_view *v)
{
	const struct dw_totals *t = v->request.totals;
	struct kinds k;

	k.end[0] = t->modules.n;
	k.end[1] = k.end[0] + t->functions.n;
	k.end[2] = k.end[1] + t->lines.n;
	k.end[3] = k.end[2] + t->instructions.n;
	return k;
}

static void module_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		       struct dw_row *ret)
{
	const struct dw_totals *t = v->request.totals;
	struct kinds k = kinds_of(v);

	(void)scratch;
	if (item < k.end[0]) {
		dw_subject_module(&t->modules.v[item], ret);
	} else if (item < k.end[1]) {
		const struct dw_function_total *f = &t->functions.v[item - k.end[0]];

		dw_subject_function(v, f->process, f->function, ret);
		ret->values = f->values;
		ret->level = 1;
	} else if (item < k.end[2]) {
		dw_subject_line(v, &t->lines.v[item - k.end[1]], ret);
		ret->level = 2;
	} else {
		dw_subject_instruction(v, &t->instructions.v[item - k.end[2]], ret);
		ret->level = 3;
	}
}

static struct dw_values module_values(const struct dw_view *v, uint32_t item)
{
	const struct dw_totals *t = v->request.totals;
	struct kinds k = kinds_of(v);

	if (item < k.end[0])
		return t->modules.v[item].values;
	if (item < k.end[1])
		return t->functions.v[item - k.end[0]].values;
	if (item < k.end[2])
		return t->lines.v[item - k.end[1]].values;
	return t->instructions.v[item - k.end[2]].values;
}

/* Finding parents: what a row of each level is known by, with the item that it is. */
struct index {
	const struct dw_view *view;
	struct dw_map modules;	 /* process << 32 | module -> item + 1 */
	struct dw_map functions; /* process << 32 | function -> item + 1 */
	struct dw_idset lines;	 /* item + 1 */
};

static uint32_t hash_line(const struct dw_row *r)
{
	uint64_t h = dw_hash_u64((uint64_t)r->process << 32 | r->function);

	h = dw_hash_u64(h ^ ((uint64_t)r->line << 32 | r->column));
	return (uint32_t)dw_hash_u64(h ^ ((uint64_t)r->line_end << 32 | r->column_end));
}

struct line_lookup {
	const struct dw_view *view;
	const struct dw_row *row;
};

static bool is_same_line(const void *ctx, uint32_t id)
{
	const struct line_lookup *l = ctx;
	const struct dw_row *b = l->row;
	const struct dw_line_total *a =
		&l->view->request.totals->lines.v[id - 1 - kinds_of(l->view).end[1]];

	return a->process == b->process && a->function == b->function && a->file == b->file &&
	       a->line == b->line && a->column == b->column && a->line_end == b->line_end &&
	       a->column_end == b->column_end;
}

static uint64_t key(uint32_t process, uint32_t id)
{
	return (uint64_t)process << 32 | id;
}

/* The item + 1 that @row belongs to, 0 = none. */
static uint32_t find_parent(const struct index *x, const struct dw_row *row)
{
	struct line_lookup l = {x->view, row};

	switch (row->level) {
	case 1:
		return dw_map_get(&x->modules, key(row->process, row->module));
	case 2:
		return dw_map_get(&x->functions, key(row->process, row->function));
	case 3:
		return dw_idset_find(&x->lines, hash_line(row), is_same_line, &l);
	}
	return 0;
}

static int add_to_index(struct index *x, const struct dw_row *row, uint32_t item)
{
	switch (row->level) {
	case 0:
		return dw_map_put(&x->modules, key(row->process, row->module), item + 1);
	case 1:
		return dw_map_put(&x->functions, key(row->process, row->function), item + 1);
	case 2:
		return dw_idset_add(&x->lines, hash_line(row), item + 1);
	}
	return 0;
}

static int link_items(struct index *x, uint32_t *parent, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_row row = {0};

		module_row(x->view, (uint32_t)i, NULL, &row);
		parent[i] = find_parent(x, &row) - 1;
		rc = add_to_index(x, &row, (uint32_t)i);
	}
	return rc;
}

static int open_modules(struct dw_view *v)
{
	size_t n = kinds_of(v).end[3];
	dw_auto_free uint32_t *parent = malloc((n + 1) * sizeof *parent);
	struct index x = {.view = v};
	int rc = parent ? dw_order_all(v, n) : -ENOMEM;

	if (!rc)
		rc = link_items(&x, parent, n);
	dw_map_release(&x.modules);
	dw_map_release(&x.functions);
	dw_idset_release(&x.lines);
	return rc ? rc : dw_order_tree(v, parent);
}

static const enum dw_column columns[] = {DWELL_COLUMN_NAME,	     DWELL_COLUMN_PROCESS_ID,
					 DWELL_COLUMN_PROCESS_NAME,  DWELL_COLUMN_MODULE_NAME,
					 DWELL_COLUMN_MODULE_PATH,   DWELL_COLUMN_SOURCE_FILE,
					 DWELL_COLUMN_FUNCTION_LINE, DWELL_COLUMN_LEVEL,
					 DWELL_COLUMNS_SAMPLES,	     DWELL_COLUMN_END};
static const enum dw_column people[] = {DWELL_COLUMNS_SAMPLES_PEOPLE, DWELL_COLUMN_NAME,
					DWELL_COLUMN_SOURCE_FILE, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_modules = {
	.name = "modules",
	.help = "modules, their functions, lines and instructions",
	.parts = DWELL_TOTALS_MODULES | DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_LINES |
		 DWELL_TOTALS_INSTRUCTIONS,
	.columns = columns,
	.people = people,
	.sort = DWELL_COLUMN_INCLUSIVE,
	.tree = DWELL_COLUMN_NAME,
	.open = open_modules,
	.row = module_row,
	.values = module_values,
};
