/* Call trees, node by node: children of one in their order, and the nodes of the hot path. A node's
 * id is its number in the tree + 1, whatever the order; 0 stands for all roots. */
#include "page/page-internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

enum { CHILDREN_MAX = 100000 };

int dw_page_tree(struct dw_page *page, const struct dw_page_request *r, struct dw_page_view **ret,
		 struct dw_error *err)
{
	const struct dw_view_ops *ops;
	struct dw_page_request named = *r;
	int rc;

	if (!named.view)
		named.view =
			dw_profile_method(&page->profile) == DWELL_METHOD_MEMORY && !r->is_inverted
				? dw_view_allocations.name
				: dw_view_calltree.name;
	rc = dw_page_find_view(page, &named, &ops, err);
	if (!rc && r->is_inverted && ops != &dw_view_calltree)
		rc = dw_error_set(err, DWELL_ERR_USAGE, "only call trees can be turned round");
	if (!rc && !ops->tree)
		rc = dw_error_set(err, DWELL_ERR_USAGE, "the view %s is no tree", ops->name);
	rc = rc ? rc : dw_page_view(page, r, ops, true, ret, err);
	if (!rc && r->node > (*ret)->tree.n)
		rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "there is no node %llu",
				  (unsigned long long)r->node);
	return rc;
}

/* The same view with @items as its rows. Not to be released. */
static struct dw_view view_of(const struct dw_page_view *v, uint32_t *items, size_t n)
{
	struct dw_view view = v->view;

	view.items = items;
	view.n = n;
	return view;
}

static void put_nodes(const struct dw_page_view *v, const struct dw_view *rows, struct dw_out *out)
{
	dw_out_puts(out, ", \"ids\": [");
	for (size_t i = 0; i < rows->n; i++) {
		dw_page_comma(out, i);
		dw_format_count(out, rows->items[i] + 1ull);
	}
	dw_out_puts(out, "], \"has_children\": [");
	for (size_t i = 0; i < rows->n; i++) {
		const uint32_t *start = v->tree.families.start + rows->items[i];

		dw_out_puts(out, i ? ", " : "");
		dw_out_puts(out, start[1] > start[0] ? "true" : "false");
	}
	dw_out_puts(out, "], \"functions\": ");
	dw_page_put_functions(rows, NULL, 0, rows->n, out);
}

int dw_page_op_tree(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		    struct dw_error *err)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_page_most most = {0};
	struct dw_page_view *v;
	struct dw_view rows;
	const uint32_t *children;
	size_t total, first, n;
	int rc = dw_page_tree(page, r, &v, err);

	rc = rc ? rc : dw_page_columns(page, r, v->key.ops, columns, err);
	if (rc)
		return rc;
	children =
		dw_unfold_children(&v->tree, r->node ? (uint32_t)r->node - 1 : UINT32_MAX, &total);
	if (!children)
		return dw_error_set(err, -ENOMEM, "out of memory");
	first = r->from < total ? (size_t)r->from : total;
	n = total - first < CHILDREN_MAX ? total - first : CHILDREN_MAX;
	n = r->has_count && r->count < n ? (size_t)r->count : n;
	rows = view_of(v, (uint32_t *)children + first, n);
	dw_out_printf(out, "\"total\": %zu, \"rows\": ", total);
	rc = dw_page_put_rows(&rows, columns, NULL, 0, n, out);
	put_nodes(v, &rows, out);
	dw_page_put_most(&rows, columns, &most, out);
	dw_page_put_columns(columns, out);
	return rc ? dw_error_set(err, rc, "out of memory") : 0;
}

int dw_page_op_hotpath(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		       struct dw_error *err)
{
	struct dw_page_view *v;
	size_t n = 0;
	int rc = dw_page_tree(page, r, &v, err);

	if (rc)
		return rc;
	dw_out_puts(out, "\"ids\": [");
	for (uint32_t at = r->node ? (uint32_t)r->node - 1 : UINT32_MAX;;) {
		at = dw_unfold_heaviest(&v->tree, at);
		if (at == UINT32_MAX)
			break;
		dw_page_comma(out, n++);
		dw_format_count(out, at + 1ull);
	}
	dw_out_puts(out, "]");
	return 0;
}
