/*
 * Comparisons; see comparison.h.
 *
 * When names are paired, rows that stood apart become one: all rows are joined once more, by the
 * names that stand for both, parents first.
 */
#include "compare/comparison.h"

#include "analysis/totals.h"
#include "base/cleanup.h"
#include "compare/columns.h"
#include "compare/verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

unsigned dw_comparison_parts(const struct dw_comparison *c, const struct dw_profile *p)
{
	unsigned parts = dw_view_parts(c->view, p);

	/* Who called whom tells causes. */
	return parts == DWELL_TOTALS_FUNCTIONS ? parts | DWELL_TOTALS_EDGES : parts;
}

uint32_t dw_comparison_add_row(struct dw_comparison *c, const struct dw_compared_row *key)
{
	uint32_t id =
		dw_pairs_add(&c->row_of, ((uint64_t)key->parent + 1) << 32 | key->name, key->what);

	if (!id || (id > c->rows.n && dw_vec_push(&c->rows, *key)))
		return UINT32_MAX;
	return id - 1;
}

int dw_comparison_add_edge(struct dw_comparison *c, const struct dw_compared_edge *edge)
{
	uint32_t id = dw_pairs_add(&c->edge_of, edge->caller, edge->callee);

	if (!id ||
	    (id > c->edges.n &&
	     dw_vec_push(&c->edges, (struct dw_compared_edge){edge->caller, edge->callee, {0}})))
		return -ENOMEM;
	for (int side = 0; side < DWELL_SIDES; side++)
		c->edges.v[id - 1].weight[side] += edge->weight[side];
	return 0;
}

/* Put what @run has into the rows that @row_of leads to, of which there are @n. */
static int move_values(const struct dw_comparison *c, struct dw_compared_run *run,
		       const uint32_t *row_of, size_t n)
{
	size_t columns = c->columns_n;
	dw_auto_free uint64_t *values = calloc(n * columns + 1, sizeof *values);
	dw_auto_free uint64_t *weights =
		run->weights ? calloc(n * columns + 1, sizeof *weights) : NULL;

	if (!values || (run->weights && !weights))
		return -ENOMEM;
	for (size_t i = 0; i < run->rows && i < c->rows.n; i++)
		for (size_t k = 0; k < columns; k++) {
			size_t from = i * columns + k, to = row_of[i] * columns + k;
			uint64_t none = 0;

			dw_compared_column_join(c->columns[k].column, &values[to],
						weights ? &weights[to] : &none, run->values[from],
						weights ? run->weights[from] : 0);
		}
	free(run->values);
	free(run->weights);
	run->values = dw_take_ptr(values);
	run->weights = dw_take_ptr(weights);
	run->rows = n;
	return 0;
}

static int join_rows(struct dw_comparison *c)
{
	struct dw_comparison joined = {0};
	dw_auto_free uint32_t *row_of = malloc((c->rows.n + 1) * sizeof *row_of);
	int rc = row_of ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->rows.n && !rc; i++) {
		struct dw_compared_row key = c->rows.v[i];

		key.name = c->names.v.v[key.name].same;
		if (key.parent != UINT32_MAX)
			key.parent = row_of[key.parent];
		row_of[i] = dw_comparison_add_row(&joined, &key);
		if (row_of[i] == UINT32_MAX) {
			rc = -ENOMEM;
			break;
		}
		for (int side = 0; side < DWELL_SIDES; side++)
			joined.rows.v[row_of[i]].has[side] |= key.has[side];
		if (key.has[DWELL_SIDE_NEW])
			joined.rows.v[row_of[i]].line = key.line;
	}
	for (size_t i = 0; i < c->runs.n && !rc; i++)
		rc = move_values(c, &c->runs.v[i], row_of, joined.rows.n);
	dw_vec_release(&c->rows);
	dw_pairs_release(&c->row_of);
	memcpy(&c->rows, &joined.rows, sizeof c->rows);
	c->row_of = joined.row_of;
	return rc;
}

static int join_edges(struct dw_comparison *c)
{
	struct dw_comparison joined = {0};
	int rc = 0;

	for (size_t i = 0; i < c->edges.n && !rc; i++) {
		struct dw_compared_edge edge = c->edges.v[i];

		edge.caller = c->names.v.v[edge.caller].same;
		edge.callee = c->names.v.v[edge.callee].same;
		rc = dw_comparison_add_edge(&joined, &edge);
	}
	dw_vec_release(&c->edges);
	dw_pairs_release(&c->edge_of);
	memcpy(&c->edges, &joined.edges, sizeof c->edges);
	c->edge_of = joined.edge_of;
	return rc;
}

static int by_callee(const void *a, const void *b)
{
	const struct dw_compared_edge *x = a, *y = b;

	return x->callee != y->callee ? (x->callee > y->callee) - (x->callee < y->callee)
				      : (x->caller > y->caller) - (x->caller < y->caller);
}

/* The first edge to @callee. */
static size_t first_edge(const struct dw_comparison *c, uint32_t callee)
{
	return dw_sorted_count(c->edges.v, c->edges.n, e, e->callee < callee);
}

/* The row of the function @name in a flat view, UINT32_MAX = it has none. */
static uint32_t row_of_name(const struct dw_comparison *c, uint32_t name)
{
	return dw_pairs_find(&c->row_of, ((uint64_t)UINT32_MAX + 1) << 32 | name, 0) - 1;
}

/* The calls of @row in the first run of @side, which is the one that edges are of. */
static double first_calls(const struct dw_comparison *c, uint32_t row, enum dw_side side)
{
	dw_vec_each(run, &c->runs)
		if (run->side == side)
			return (double)dw_comparison_value(c, run, row, DWELL_CALLS);
	return 0;
}

/* Whether calls of the row @at changed as those of all its callers did. */
static bool follows_callers(const struct dw_comparison *c, uint32_t at)
{
	uint32_t name = c->rows.v[at].name;
	double sum[DWELL_SIDES] = {0};

	for (size_t i = first_edge(c, name); i < c->edges.n && c->edges.v[i].callee == name; i++) {
		const struct dw_compared_edge *e = &c->edges.v[i];
		uint32_t row = row_of_name(c, e->caller);
		double base = (double)e->weight[0], now = (double)e->weight[1];

		if (row == UINT32_MAX || row == at ||
		    base * first_calls(c, row, DWELL_SIDE_NEW) !=
			    now * first_calls(c, row, DWELL_SIDE_BASE))
			return false;
		sum[0] += base;
		sum[1] += now;
	}
	return sum[0] == first_calls(c, at, DWELL_SIDE_BASE) &&
	       sum[1] == first_calls(c, at, DWELL_SIDE_NEW);
}

static void find_followers(struct dw_comparison *c)
{
	const unsigned calls =
		DWELL_MORE_CALLS | DWELL_FEWER_CALLS | DWELL_HAS_APPEARED | DWELL_HAS_GONE;

	for (uint32_t at = 0; c->edges.n && dw_comparison_has_calls(c) && at < c->rows.n; at++)
		if (c->rows.v[at].happened & calls && follows_callers(c, at))
			c->rows.v[at].happened |= DWELL_AS_CALLERS;
}

/* How much a row matters: by how much its main column changed. */
static double weight(const struct dw_comparison *c, uint32_t row)
{
	struct dw_change change = dw_change_get(c, row, DWELL_MAIN);

	return fabs(change.now - change.base);
}

static int list_flat(struct dw_comparison *c)
{
	DW_VEC(struct dw_sort_row) rows = {0};
	int rc = 0;

	for (uint32_t at = 0; at < c->rows.n && !rc; at++) {
		struct dw_sort_row row = {.row = at};

		if (c->all || c->rows.v[at].happened & DWELL_DIFFERENT) {
			row.key = UINT64_MAX - (uint64_t)weight(c, at);
			c->rows.v[at].is_shown = true;
			rc = dw_vec_push(&rows, row);
		}
	}
	if (!rc)
		rc = dw_sort_rows(rows.v, rows.n);
	for (size_t i = 0; i < rows.n && !rc; i++)
		rc = dw_vec_push(&c->order, (uint32_t)rows.v[i].row);
	dw_vec_release(&rows);
	return rc;
}

struct family {
	uint32_t *child,
		*next; /* by row + 1 (0 = above all roots): first child, next sibling; row + 1 */
};

/* Gather the children that are shown; their order is that of the rows, or else of what changed. */
static int gather_children(const struct dw_comparison *c, struct family *f)
{
	DW_VEC(struct dw_sort_row) rows = {0};
	int rc = 0;

	f->child = calloc(c->rows.n + 1, sizeof *f->child);
	f->next = calloc(c->rows.n + 1, sizeof *f->next);
	if (!f->child || !f->next)
		return -ENOMEM;
	for (uint32_t at = 0; at < c->rows.n && !rc; at++)
		if (c->rows.v[at].is_shown)
			rc = dw_vec_push(&rows, (struct dw_sort_row){(uint64_t)weight(c, at), at});
	if (!rc)
		rc = dw_sort_rows(rows.v, rows.n);
	/* The one put in last comes first. */
	for (size_t i = 0; i < rows.n && !rc; i++) {
		uint32_t at = (uint32_t)rows.v[i].row, parent = c->rows.v[at].parent + 1;

		f->next[at + 1] = f->child[parent];
		f->child[parent] = at + 1;
	}
	dw_vec_release(&rows);
	return rc;
}

static int list_tree(struct dw_comparison *c)
{
	struct family f = {0};
	DW_VEC(uint32_t) open = {0};
	int rc;

	for (size_t at = c->rows.n; at--;) {
		struct dw_compared_row *row = &c->rows.v[at];

		row->is_shown |= c->all || row->happened & DWELL_DIFFERENT;
		if (row->parent == UINT32_MAX)
			continue;
		c->rows.v[row->parent].is_shown |= row->is_shown;
		c->rows.v[row->parent].is_above |= row->is_above || row->happened & DWELL_DIFFERENT;
	}
	rc = gather_children(c, &f);
	if (!rc && f.child[0])
		rc = dw_vec_push(&open, f.child[0]);
	while (!rc && open.n) {
		uint32_t at = open.v[--open.n];

		rc = dw_vec_push(&c->order, at - 1);
		if (!rc && f.next[at])
			rc = dw_vec_push(&open, f.next[at]);
		if (!rc && f.child[at])
			rc = dw_vec_push(&open, f.child[at]);
	}
	dw_vec_release(&open);
	free(f.child);
	free(f.next);
	return rc;
}

/* Whether what was run goes by the same name on both sides. */
static bool is_one_program(const struct dw_comparison *c)
{
	dw_vec_each(run, &c->runs)
		if (run->program != c->runs.v[0].program)
			return false;
	return true;
}

/* Whether the programs share a function of their own, or one of them has none. All have a main().
 */
static bool have_common(const struct dw_comparison *c)
{
	bool has[DWELL_SIDES] = {false};

	for (size_t id = 1; id < c->names.v.n; id++) {
		const struct dw_compared_name *name = &c->names.v.v[id];
		const char *text = dw_strings_get(&c->names.strings, name->text);

		if (!*text || name->module || !name->module_shown || !strcmp(text, "main") ||
		    !strcmp(text, "_start"))
			continue;
		if ((name->has[0] && name->has[1]) || name->other)
			return true;
		has[0] |= name->has[0];
		has[1] |= name->has[1];
	}
	return !has[0] || !has[1];
}

static int check_sides(const struct dw_comparison *c, struct dw_error *err)
{
	bool any[DWELL_SIDES] = {false};

	dw_vec_each(row, &c->rows)
		for (int side = 0; side < DWELL_SIDES; side++)
			any[side] |= row->has[side];
	for (int side = 0; side < DWELL_SIDES; side++)
		if (!any[side] && any[!side])
			return dw_error_set(err, DWELL_ERR_REFUSED, "%s has nothing to compare",
					    side ? "the new side" : "the base");
	if (!is_one_program(c) && !have_common(c))
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "'%s' and '%s' have no function in common: these are sessions "
				    "of different programs",
				    c->runs.v[0].path, c->runs.v[c->runs.n - 1].path);
	return 0;
}

int dw_comparison_finish(struct dw_comparison *c, struct dw_error *err)
{
	bool any = false;
	int rc = dw_names_match(&c->names, &any);

	if (!rc && any)
		rc = join_rows(c);
	if (!rc && any)
		rc = join_edges(c);
	if (!rc)
		rc = check_sides(c, err);
	if (rc)
		return rc;
	if (c->edges.n)
		qsort(c->edges.v, c->edges.n, sizeof *c->edges.v, by_callee);
	rc = dw_comparison_decide(c);
	if (rc)
		return rc;
	find_followers(c);
	return c->view->tree ? list_tree(c) : list_flat(c);
}

static const char *text(const struct dw_comparison *c, uint32_t id)
{
	return dw_strings_get(&c->names.strings, id);
}

const char *dw_comparison_text(const struct dw_comparison *c, size_t row)
{
	return text(c, c->names.v.v[c->rows.v[row].name].text);
}

const char *dw_comparison_module(const struct dw_comparison *c, size_t row)
{
	return text(c, c->names.v.v[c->rows.v[row].name].module_shown);
}

const struct dw_compared_name *dw_comparison_other(const struct dw_comparison *c, size_t row)
{
	const struct dw_compared_name *name = &c->names.v.v[c->rows.v[row].name];

	return name->other ? &c->names.v.v[name->other] : NULL;
}

enum { PATH_MAX_NAMES = 4 };

static uint64_t edge_change(const struct dw_compared_edge *e)
{
	return e->weight[0] > e->weight[1] ? e->weight[0] - e->weight[1]
					   : e->weight[1] - e->weight[0];
}

/* The caller of @name by which most changed, or else that calls it most. 0 = none is known. */
static uint32_t caller_of(const struct dw_comparison *c, uint32_t name)
{
	const struct dw_compared_edge *best = NULL;

	for (size_t i = first_edge(c, name); i < c->edges.n && c->edges.v[i].callee == name; i++) {
		const struct dw_compared_edge *e = &c->edges.v[i];

		if (e->caller == name)
			continue;
		if (!best || edge_change(e) > edge_change(best) ||
		    (edge_change(e) == edge_change(best) &&
		     e->weight[0] + e->weight[1] > best->weight[0] + best->weight[1]))
			best = e;
	}
	return best ? best->caller : 0;
}

/* Whether what calls the function @name is no part of the program's story. */
static bool is_outermost(const struct dw_comparison *c, uint32_t name)
{
	return !strcmp(text(c, c->names.v.v[name].text), "main");
}

/* The row that calls @row, of a tree. UINT32_MAX = none is a function. */
static uint32_t caller_row(const struct dw_comparison *c, size_t row)
{
	uint32_t parent = c->rows.v[row].parent;

	return parent != UINT32_MAX && c->names.v.v[c->rows.v[parent].name].module_shown
		       ? parent
		       : UINT32_MAX;
}

/* The functions above @row: in a tree its path, else the callers by which most changed. */
static size_t list_callers(const struct dw_comparison *c, size_t row, uint32_t *names, bool *more)
{
	uint32_t name = c->rows.v[row].name;
	size_t n = 0;

	while (!is_outermost(c, name)) {
		if (c->view->tree) {
			row = caller_row(c, row);
			name = row == UINT32_MAX ? 0 : c->rows.v[row].name;
		} else {
			name = caller_of(c, name);
		}
		for (size_t i = 0; i < n && !c->view->tree; i++)
			if (names[i] == name)
				return n;
		*more = name && n == PATH_MAX_NAMES;
		if (!name || *more)
			break;
		names[n++] = name;
	}
	return n;
}

void dw_comparison_path(const struct dw_comparison *c, size_t row, struct dw_buf *ret)
{
	uint32_t names[PATH_MAX_NAMES];
	bool more = false;
	size_t n = c->view == &dw_view_allocations ? 0 : list_callers(c, row, names, &more);

	dw_buf_puts(ret, more ? "… > " : "");
	while (n) {
		dw_buf_puts(ret, text(c, c->names.v.v[names[--n]].text));
		dw_buf_puts(ret, n ? " > " : "");
	}
}

void dw_comparison_release(struct dw_comparison *c)
{
	dw_vec_each(run, &c->runs) {
		free(run->path);
		free(run->values);
		free(run->weights);
	}
	dw_names_release(&c->names);
	dw_vec_release(&c->rows);
	dw_pairs_release(&c->row_of);
	dw_vec_release(&c->runs);
	dw_pairs_release(&c->edge_of);
	dw_vec_release(&c->edges);
	dw_vec_release(&c->order);
}
