/*
 * Flame graphs: the tree in depth-first order as columns of numbers, what is too narrow to be drawn
 * left out. How much that is stands beside it.
 */
#include "page/page-internal.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 200000 };

struct flame_node {
	uint32_t item, depth;
	uint32_t name, module; /* numbers of texts */
	uint64_t start, value, own, blocked;
};

struct texts {
	struct dw_map numbers; /* id + 1 -> number + 1 */
	struct dw_out list;
	uint32_t n;
};

struct flame {
	struct dw_page_view *v;
	const struct dw_column_info *width;
	bool has_blocked;
	uint64_t least; /* of a node that is drawn */
	uint64_t cut;
	struct texts names, modules;
	struct dw_buf scratch[2];
	DW_VEC(struct flame_node) nodes;
	DW_VEC(struct flame_node) waiting; /* the next one is the last */
};

static uint64_t get(const struct flame *f, const struct dw_row *row, bool exclusive)
{
	return dw_measured_get(&row->measured, f->width->measure, exclusive);
}

static void describe(struct flame *f, uint32_t item, struct dw_row *ret)
{
	*ret = (struct dw_row){0};
	f->v->view.ops->row(&f->v->view, item, &f->scratch[0], ret);
}

/* The number of the text that @column of @row has, which is that of all rows with @id. */
static int number_of(struct flame *f, struct texts *t, uint64_t id, const struct dw_row *row,
		     enum dw_column column, uint32_t *ret)
{
	uint32_t number = dw_map_get(&t->numbers, id + 1);
	struct dw_cell cell;

	if (!number) {
		dw_view_cell(&f->v->view, row, column, &f->scratch[1], &cell);
		dw_page_comma(&t->list, t->n);
		dw_format_json_string(&t->list, cell.kind == DWELL_CELL_TEXT ? cell.text : "");
		number = ++t->n;
		if (dw_map_put(&t->numbers, id + 1, number))
			return -ENOMEM;
	}
	*ret = number - 1;
	return 0;
}

/* Let @node, which @row describes, wait to be drawn. */
static int push_node(struct flame *f, struct flame_node node, const struct dw_row *row)
{
	uint64_t id;
	int rc;

	/* Roots are named by their process or type. */
	id = row->name == DWELL_NAME_FUNCTION && row->function != (uint32_t)DWELL_FUNCTION_ROOT
		     ? (uint64_t)row->function
		     : 1ull << 40 | (uint64_t)node.item;
	node.own = get(f, row, true);
	if (f->has_blocked)
		node.blocked = dw_measured_get(&row->measured, DWELL_MEASURE_BLOCKED, false);
	rc = number_of(f, &f->names, id, row, f->v->key.ops->tree, &node.name);
	rc = rc ? rc
		: number_of(f, &f->modules, row->flags & DWELL_ROW_HAS_MODULE ? row->module : id,
			    row, DWELL_COLUMN_MODULE_NAME, &node.module);
	return rc ? rc : dw_vec_push(&f->waiting, node);
}

/* Let the children of @node wait, the first one last, each where those before it end. */
static int push_children(struct flame *f, uint32_t item, uint64_t start, uint32_t depth)
{
	size_t n, first = f->waiting.n;
	const uint32_t *children = dw_unfold_children(&f->v->tree, item, &n);

	if (!children)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct flame_node child = {.item = children[i], .depth = depth, .start = start};
		struct dw_row row;

		describe(f, child.item, &row);
		child.value = get(f, &row, false);
		start += child.value;
		if (!child.value)
			continue;
		if (child.value < f->least)
			f->cut += child.value;
		else if (push_node(f, child, &row))
			return -ENOMEM;
	}
	for (size_t a = first, b = f->waiting.n; a + 1 < b; a++) {
		struct flame_node last = f->waiting.v[--b];

		f->waiting.v[b] = f->waiting.v[a];
		f->waiting.v[a] = last;
	}
	return 0;
}

/* What there is no room for is left out. */
static int walk(struct flame *f)
{
	int rc = 0;

	while (!rc && f->waiting.n && f->nodes.n < NODES_MAX) {
		struct flame_node node = f->waiting.v[--f->waiting.n];

		rc = dw_vec_push(&f->nodes, node);
		rc = rc ? rc : push_children(f, node.item, node.start, node.depth + 1);
	}
	dw_vec_each(node, &f->waiting)
		f->cut += node->value;
	return rc;
}

/* Of the first column @before is "". */
#define PUT_COLUMN(out, f, before, key, field)                        \
	({                                                            \
		dw_out_puts(out, before "\"" key "\": [");            \
		for (size_t i_ = 0; i_ < (f)->nodes.n; i_++) {        \
			dw_page_comma(out, i_);                       \
			dw_format_count(out, (f)->nodes.v[i_].field); \
		}                                                     \
		dw_out_puts(out, "]");                                \
	})

static void put_flame(struct flame *f, uint64_t total, struct dw_out *out)
{
	dw_out_printf(out, "\"names\": [%s], \"modules\": [%s], \"total\": %" PRIu64,
		      dw_buf_str(&f->names.list.buf), dw_buf_str(&f->modules.list.buf), total);
	dw_out_printf(out, ", \"cut_share\": %.6g, \"nodes\": {",
		      total ? (double)f->cut / (double)total : 0);
	PUT_COLUMN(out, f, "", "id", item + 1ull);
	PUT_COLUMN(out, f, ", ", "depth", depth);
	PUT_COLUMN(out, f, ", ", "start", start);
	PUT_COLUMN(out, f, ", ", "value", value);
	PUT_COLUMN(out, f, ", ", "self", own);
	PUT_COLUMN(out, f, ", ", "blocked", blocked);
	PUT_COLUMN(out, f, ", ", "name", name);
	PUT_COLUMN(out, f, ", ", "module", module);
	dw_out_puts(out, "}");
}

/* Let @root, or all roots, wait; *@total is what they have. */
static int begin(struct flame *f, uint32_t root, double min_share, uint64_t *total)
{
	struct flame_node node = {.item = root};
	const uint32_t *roots = &root;
	size_t n = 1;

	if (root == UINT32_MAX)
		roots = dw_unfold_children(&f->v->tree, root, &n);
	*total = 0;
	for (size_t i = 0; roots && i < n; i++) {
		struct dw_row row;

		describe(f, roots[i], &row);
		*total += node.value = get(f, &row, false);
		if (root != UINT32_MAX && push_node(f, node, &row))
			return -ENOMEM;
	}
	f->least = (uint64_t)((double)*total * min_share);
	return root == UINT32_MAX ? push_children(f, root, 0, 0) : 0;
}

/* The column that is the width: the one asked for, or else the one that siblings are in the order
 * of. */
static int find_width(const struct dw_page *page, const struct dw_page_request *r,
		      const struct dw_page_view *v, const struct dw_column_info **ret,
		      struct dw_error *err)
{
	enum dw_column all[DWELL_COLUMNS_N], column = dw_view_sort(v->key.ops, &page->profile);

	dw_view_columns(v->key.ops, &page->profile, DWELL_BY_NONE, false, all);
	if (r->measure)
		column = dw_view_find_column(&page->profile, all, r->measure, strlen(r->measure));
	if (!column || !dw_page_is_width(column))
		return dw_error_set(err, DWELL_ERR_USAGE, "nothing is as wide as '%s'",
				    r->measure ? r->measure : "");
	*ret = dw_column_info(column);
	return 0;
}

/* Siblings: by weight, that of the width if it is another one; by name; or of calls by time. */
static int order(const struct dw_page *page, const struct dw_page_request *r,
		 struct dw_page_request *ret, struct dw_error *err)
{
	*ret = *r;
	ret->sort = NULL;
	if (!r->order || !strcmp(r->order, "weight"))
		ret->sort = r->measure;
	else if (!strcmp(r->order, "name"))
		ret->sort =
			dw_profile_method(&page->profile) == DWELL_METHOD_MEMORY && !r->is_inverted
				? "name"
				: "function_name";
	else if (strcmp(r->order, "time") || !dw_profile_has_calls(&page->profile))
		return dw_error_set(err, DWELL_ERR_USAGE,
				    "order takes weight, name, or of calls time, not '%s'",
				    r->order);
	return 0;
}

static void release(struct flame *f)
{
	struct texts *texts[] = {&f->names, &f->modules};

	for (size_t i = 0; i < 2; i++) {
		dw_map_release(&texts[i]->numbers);
		dw_out_close(&texts[i]->list);
		dw_buf_release(&f->scratch[i]);
	}
	dw_vec_release(&f->nodes);
	dw_vec_release(&f->waiting);
}

int dw_page_op_flame(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		     struct dw_error *err)
{
	__attribute__((cleanup(release))) struct flame f = {0};
	struct dw_page_request ordered;
	uint32_t root = r->node ? (uint32_t)r->node - 1 : UINT32_MAX;
	uint64_t total;
	int rc = order(page, r, &ordered, err);

	rc = rc ? rc : dw_page_tree(page, &ordered, &f.v, err);
	rc = rc ? rc : find_width(page, r, f.v, &f.width, err);
	if (rc)
		return rc;
	dw_out_init_buffer(&f.names.list);
	dw_out_init_buffer(&f.modules.list);
	f.has_blocked = dw_totals_has(f.v->view.request.totals, DWELL_MEASURE_BLOCKED);
	rc = begin(&f, root, r->min_share, &total);
	rc = rc ? rc : walk(&f);
	if (rc || f.names.list.failed || f.modules.list.failed)
		return dw_error_set(err, -ENOMEM, "out of memory");
	put_flame(&f, total, out);
	return 0;
}
