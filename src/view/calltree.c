/*
 * The call tree: all processes together are a root, or each lane where they are told apart; every
 * function below the one that called it.
 *
 * Trimmed nodes are left out (and counted); a folded node is part of the row of its parent, whose
 * name then lists the chain. With --hot-path only that path is shown.
 *
 * The allocations view is a tree of the same kind: types, below them the functions that allocated
 * them, and callers below those.
 */
#include "analysis/prune.h"
#include "analysis/totals.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct calltree {
	uint8_t *pruning; /* by node */
	uint32_t *row;	  /* by node: its row while rows are made, UINT32_MAX = none */
	uint32_t *parent; /* by row while rows are made */
	uint32_t *level;  /* by node, as shown: a folded node is no level; NULL = as in the tree */
	struct dw_map chain;	  /* node -> the node folded into it + 1 */
	struct dw_amounts folded; /* of the row at hand, with what is folded into it */
};

static const struct dw_node_total *node(const struct dw_view *v, uint32_t item)
{
	return &v->request.totals->nodes.v[item];
}

/* Give node @i a row of its own, or make it part of its parent's, or leave it out. */
static int place_node(struct dw_view *v, struct calltree *c, uint32_t i)
{
	uint32_t parent = node(v, i)->parent;

	c->row[i] = UINT32_MAX;
	if (c->level)
		c->level[i] = parent == UINT32_MAX
				      ? 0
				      : c->level[parent] + !(c->pruning[i] & DWELL_NODE_FOLDED);
	if (c->pruning[i] & DWELL_NODE_TRIMMED) {
		if (parent == UINT32_MAX || c->row[parent] != UINT32_MAX) {
			v->hidden[0].n++;
			v->hidden[0].weight +=
				dw_totals_node_weight(v->request.totals, i).inclusive;
		}
		return 0;
	}
	if (c->pruning[i] & DWELL_NODE_FOLDED) {
		c->row[i] = c->row[parent];
		return dw_map_put(&c->chain, (uint64_t)parent + 1, i + 1);
	}
	c->row[i] = (uint32_t)v->n;
	c->parent[v->n] = parent == UINT32_MAX ? UINT32_MAX : c->row[parent];
	v->items[v->n++] = i;
	return 0;
}

static int open_tree(struct dw_view *v, struct calltree *c)
{
	size_t n = v->request.totals->nodes.n;
	int rc = dw_prune_nodes(v->request.totals, &v->request.pruning, &c->pruning);

	if (rc || dw_order_all(v, n))
		return -ENOMEM;
	v->n = 0;
	v->hidden[0].n = v->request.totals->branches_left_out;
	v->hidden[0].weight = v->request.totals->weight_left_out;
	c->row = malloc((n + 1) * sizeof *c->row);
	c->parent = malloc((n + 1) * sizeof *c->parent);
	c->level = v->request.pruning.fold ? malloc((n + 1) * sizeof *c->level) : NULL;
	if (!c->row || !c->parent || (v->request.pruning.fold && !c->level))
		return -ENOMEM;
	for (size_t i = 0; i < n && !rc; i++)
		rc = place_node(v, c, (uint32_t)i);
	free(c->row);
	free(c->pruning);
	c->row = NULL;
	c->pruning = NULL;
	return rc ? rc : dw_order_tree(v, dw_take_ptr(c->parent));
}

static int open_hot_path(struct dw_view *v)
{
	struct dw_hot_path path;
	int rc = dw_hot_path_find(v->request.totals, &path);

	if (!rc)
		rc = dw_order_all(v, path.nodes.n);
	if (!rc && v->n)
		memcpy(v->items, path.nodes.v, v->n * sizeof *v->items);
	dw_hot_path_release(&path);
	return rc;
}

static int open_calltree(struct dw_view *v)
{
	struct calltree *c = v->own = calloc(1, sizeof *c);

	if (!c)
		return -ENOMEM;
	return v->request.hot_path ? open_hot_path(v) : open_tree(v, c);
}

static const char *name_of(const struct dw_view *v, uint32_t function)
{
	const struct dw_profile *p = v->request.profile;
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	if (f)
		return dw_strings_get(&p->strings, f->name);
	return function == (uint32_t)DWELL_FUNCTION_CUT ? "[stack cut]" : "[unknown]";
}

/* A folded node's own values become the row's. Its calls do not: the row is its first node's. */
static void add_folded(const struct dw_view *v, uint32_t item, struct calltree *c,
		       struct dw_row *ret)
{
	const struct dw_totals *t = v->request.totals;
	const struct dw_values *calls = dw_amounts_pair(&c->folded, 0, DWELL_MEASURE_CALLS);
	struct dw_values before = calls ? *calls : (struct dw_values){0};

	/* Without memory the row keeps what it has. */
	if (dw_amounts_add_row(&c->folded, 0, &t->node_amounts, item, DWELL_EXCLUSIVE))
		return;
	if (calls)
		*dw_amounts_common(&c->folded, 0, DWELL_MEASURE_CALLS) = before;
	dw_row_set_measured(v, (struct dw_measured){.table = &c->folded}, ret);
}

/* Begin a row that others are folded into with what @item has. */
static int begin_folded(const struct dw_view *v, uint32_t item, struct calltree *c)
{
	struct dw_amounts *folded = &c->folded;

	if (!folded->all_n)
		dw_amounts_init_for(folded, v->request.profile);
	dw_amounts_cut(folded, 0);
	if (dw_amounts_push(folded) == UINT32_MAX)
		return -ENOMEM;
	return dw_amounts_add_row(folded, 0, &v->request.totals->node_amounts, item, DWELL_BOTH);
}

/* Add what is folded into @item: names to @scratch, samples to @ret. Recursion is one name with
 * the number of its activations. */
static void add_chain(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		      struct dw_row *ret)
{
	struct calltree *c = v->own;
	uint32_t next = dw_map_get(&c->chain, (uint64_t)item + 1), before = ret->function;
	unsigned times = 1;
	bool has_room;

	if (!next)
		return;
	has_room = !begin_folded(v, item, c);
	dw_buf_clear(scratch);
	for (; next; next = dw_map_get(&c->chain, next)) {
		const struct dw_node_total *n = node(v, next - 1);

		if (has_room)
			add_folded(v, next - 1, c, ret);
		if (n->function == before) {
			times++;
			continue;
		}
		if (times > 1)
			dw_buf_printf(scratch, " ×%u", times);
		dw_buf_printf(scratch, v->request.totals->nodes_by_type ? " < %s" : " > %s",
			      name_of(v, n->function));
		before = n->function;
		times = 1;
	}
	if (times > 1)
		dw_buf_printf(scratch, " ×%u", times);
	ret->chain = dw_buf_str(scratch);
}

static void calltree_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			 struct dw_row *ret)
{
	const struct dw_node_total *n = node(v, item);
	const struct calltree *c = v->own;

	dw_row_set_node(v, n, ret);
	if (c->level)
		ret->level = c->level[item];
	add_chain(v, item, scratch, ret);
}

static uint32_t first_call(const struct dw_view *v, uint32_t item)
{
	return v->request.totals->node_firsts.v[item];
}

static void release_calltree(struct dw_view *v)
{
	struct calltree *c = v->own;

	if (c) {
		free(c->pruning);
		free(c->row);
		free(c->parent);
		free(c->level);
		dw_map_release(&c->chain);
		dw_amounts_release(&c->folded);
	}
	free(c);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_LEVEL, DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_DEFAULT_LANE,
					  DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_MODULE_NAME,
					  DWELL_COLUMN_END};

const struct dw_view_ops dw_view_calltree = {
	.name = "calltree",
	.splits = true,
	.help = "who called whom, from all processes down",
	.parts = DWELL_TOTALS_NODES,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_INCLUSIVE,
	.tree = DWELL_COLUMN_FUNCTION_NAME,
	.is_of_my_code = true,
	.open = open_calltree,
	.row = calltree_row,
	.first = first_call,
	.release = release_calltree,
};

static const enum dw_column allocations_columns[] = {
	DWELL_COLUMN_NAME,	  DWELL_COLUMN_LANE,	    DWELL_COLUMN_MODULE_NAME,
	DWELL_COLUMN_MODULE_PATH, DWELL_COLUMN_SOURCE_FILE, DWELL_COLUMN_FUNCTION_LINE,
	DWELL_COLUMN_LEVEL,	  DWELL_COLUMN_VALUES,	    DWELL_COLUMN_END};
static const enum dw_column allocations_defaults[] = {DWELL_COLUMN_BYTES_INCLUSIVE_PCT,
						      DWELL_COLUMN_BYTES_INCLUSIVE,
						      DWELL_COLUMN_ALLOCS_INCLUSIVE,
						      DWELL_COLUMN_DEFAULT_LANE,
						      DWELL_COLUMN_NAME,
						      DWELL_COLUMN_MODULE_NAME,
						      DWELL_COLUMN_END};

const struct dw_view_ops dw_view_allocations = {
	.name = "allocations",
	.splits = true,
	.help = "types of objects, below each who allocated it, and who called that",
	.parts = DWELL_TOTALS_PATHS,
	.columns = allocations_columns,
	.defaults = allocations_defaults,
	.sort = DWELL_COLUMN_LEAD_INCLUSIVE,
	.needs = DWELL_MEASURE_OBJECTS,
	.tree = DWELL_COLUMN_NAME,
	.open = open_calltree,
	.row = calltree_row,
	.release = release_calltree,
};
