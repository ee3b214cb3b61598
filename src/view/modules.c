/*
 * The modules view: a tree of modules, their functions, those functions' lines, and the
 * instructions of the lines. Instrumentation has the first two only: what it knows of lines are
 * call sites, no parts of their function's values.
 *
 * Items number the four kinds of totals through, modules first, so that parents come first. An
 * instruction belongs to the line of its innermost function.
 */
#include "analysis/totals.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "view/rows.h"

#include <errno.h>

/* Where each kind of item starts; end[3] is the number of all. */
struct kinds {
	size_t end[4];
};

static struct kinds kinds_of(const struct dw_view *v)
{
	const struct dw_totals *t = v->request.totals;
	bool has_calls = dw_totals_has(t, DWELL_MEASURE_CALLS);
	struct kinds k;

	k.end[0] = t->modules.n;
	k.end[1] = k.end[0] + t->functions.n;
	k.end[2] = k.end[1] + (has_calls ? 0 : t->lines.n);
	k.end[3] = k.end[2] + (has_calls ? 0 : t->instructions.n);
	return k;
}

static void module_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		       struct dw_row *ret)
{
	const struct dw_totals *t = v->request.totals;
	struct kinds k = kinds_of(v);

	(void)scratch;
	if (item < k.end[0]) {
		dw_row_set_module(v, &t->modules.v[item], ret);
	} else if (item < k.end[1]) {
		dw_row_set_function_total(v, &t->functions.v[item - k.end[0]], ret);
		ret->level = 1;
	} else if (item < k.end[2]) {
		dw_row_set_line(v, &t->lines.v[item - k.end[1]], ret);
		ret->level = 2;
	} else {
		dw_row_set_instruction(v, &t->instructions.v[item - k.end[2]], ret);
		ret->level = 3;
	}
}

static const struct dw_values *module_values(const struct dw_view *v, uint32_t item)
{
	const struct dw_totals *t = v->request.totals;
	struct kinds k = kinds_of(v);

	if (item < k.end[0])
		return dw_totals_values(t, t->modules.v[item].amounts);
	if (item < k.end[1])
		return dw_totals_values(t, t->functions.v[item - k.end[0]].amounts);
	if (item < k.end[2])
		return dw_totals_values(t, t->lines.v[item - k.end[1]].amounts);
	return dw_totals_values(t, t->instructions.v[item - k.end[2]].amounts);
}

static uint64_t key(uint32_t lane, uint32_t module)
{
	return (uint64_t)lane << 32 | module;
}

/* Parents of functions are found by lane and module. */
static int link_functions(const struct dw_view *v, struct kinds k, uint32_t *parent)
{
	const struct dw_totals *t = v->request.totals;
	struct dw_map modules = {0}; /* key -> item + 1 */
	int rc = 0;

	for (uint32_t i = 0; i < k.end[0] && !rc; i++)
		rc = dw_map_put(&modules, key(t->modules.v[i].lane, t->modules.v[i].module), i + 1);
	for (size_t i = k.end[0]; i < k.end[1]; i++) {
		struct dw_row row = {0};

		module_row(v, (uint32_t)i, NULL, &row);
		if (row.function == (uint32_t)DWELL_FUNCTION_ROOT)
			row.module = (uint32_t)DWELL_MODULE_ROOT;
		parent[i] =
			dw_map_get(&modules, key(t->functions.v[i - k.end[0]].lane, row.module)) -
			1;
	}
	dw_map_release(&modules);
	return rc;
}

/* Lines and instructions know where the totals they belong to stand. */
static int link_items(const struct dw_view *v, struct kinds k, uint32_t *parent)
{
	const struct dw_totals *t = v->request.totals;

	for (size_t i = 0; i < k.end[0]; i++)
		parent[i] = UINT32_MAX;
	for (size_t i = 0; i < k.end[2] - k.end[1]; i++)
		parent[k.end[1] + i] = (uint32_t)k.end[0] + t->lines.v[i].function_row;
	for (size_t i = 0; i < k.end[3] - k.end[2]; i++)
		parent[k.end[2] + i] = (uint32_t)k.end[1] + t->instructions.v[i].line_row;
	return link_functions(v, k, parent);
}

static int open_modules(struct dw_view *v)
{
	struct kinds k = kinds_of(v);
	dw_auto_free uint32_t *parent = NULL;
	int rc;

	if (v->request.collapsed)
		return dw_order_list(v, k.end[0]);
	parent = malloc((k.end[3] + 1) * sizeof *parent);
	rc = parent ? dw_order_all(v, k.end[3]) : -ENOMEM;
	if (!rc)
		rc = link_items(v, k, parent);
	return rc ? rc : dw_order_tree(v, dw_take_ptr(parent));
}

static const enum dw_column columns[] = {DWELL_COLUMN_NAME,	   DWELL_COLUMN_LANE,
					 DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_MODULE_PATH,
					 DWELL_COLUMN_SOURCE_FILE, DWELL_COLUMN_FUNCTION_LINE,
					 DWELL_COLUMN_LEVEL,	   DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES,	   DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_DEFAULT_LANE,
					  DWELL_COLUMN_NAME, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_modules = {
	.name = "modules",
	.splits = true,
	.help = "modules, their functions, and what was sampled of lines and instructions",
	.parts = DWELL_TOTALS_MODULES | DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_LINES |
		 DWELL_TOTALS_INSTRUCTIONS,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_INCLUSIVE,
	.not_of_calls = DWELL_TOTALS_LINES | DWELL_TOTALS_INSTRUCTIONS,
	.tree = DWELL_COLUMN_NAME,
	.trims = true,
	.open = open_modules,
	.row = module_row,
	.values = module_values,
};
