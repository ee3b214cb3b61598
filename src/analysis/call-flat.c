/*
 * Flat totals of calls; see calls.h.
 *
 * Overflow nodes stand beside the trees: their exclusive values count as a node's, their inclusive
 * ones where their flags say that they are outermost. Sites have no flag of their own, the edge's
 * stands for it: an activation whose edge is on the path already mostly has its site there too.
 */
#include "analysis/calls.h"

#include <errno.h>
#include <stdlib.h>

enum { LIMITED_N = 5 };

/* The measures that are limited: the first two are at least what is a row's own. */
static const enum dw_measure limited[LIMITED_N] = {DWELL_MEASURE_ELAPSED, DWELL_MEASURE_APPLICATION,
						   DWELL_MEASURE_DELIMITED, DWELL_MEASURE_BLOCKED,
						   DWELL_MEASURE_WORK};

static void limit(uint64_t v[LIMITED_N], const uint64_t most[LIMITED_N])
{
	for (int i = 0; i < LIMITED_N; i++)
		v[i] = v[i] < most[i] ? v[i] : most[i];
}

static void inclusive_of(const struct dw_amounts *a, uint32_t row, uint64_t ret[LIMITED_N])
{
	const struct dw_measured m = {.table = a, .row = row};

	for (int i = 0; i < LIMITED_N; i++)
		ret[i] = dw_measured_get(&m, limited[i], false);
}

/* Let @row have @v, or more where its own is. 0 or -ENOMEM. */
static int set_limited(struct dw_amounts *a, uint32_t row, uint64_t v[LIMITED_N])
{
	const struct dw_measured m = {.table = a, .row = row};
	uint64_t old[LIMITED_N], own;
	struct dw_values *rare;
	bool differs = false;

	inclusive_of(a, row, old);
	for (int i = 0; i < 2; i++) {
		own = dw_measured_get(&m, limited[i], true);
		v[i] = v[i] < own ? own : v[i];
	}
	for (int i = 0; i < LIMITED_N; i++)
		differs |= v[i] != old[i];
	if (!differs)
		return 0;
	rare = dw_amounts_rare(a, row);
	if (!rare)
		return -ENOMEM;
	dw_amounts_common(a, row, DWELL_MEASURE_ELAPSED)->inclusive = v[0];
	rare -= a->common_n + 1u; /* so that places are indices */
	rare[a->place[DWELL_MEASURE_APPLICATION]].inclusive = v[0] - v[1];
	rare[a->place[DWELL_MEASURE_DELIMITED]].inclusive = v[0] - v[2];
	rare[a->place[DWELL_MEASURE_BLOCKED]].inclusive = v[3];
	rare[a->place[DWELL_MEASURE_WORK]].inclusive = v[0] > v[4] ? v[0] - v[4] : 0;
	return 0;
}

/* Whether nothing of @row is limited, of which one look tells where all time was the program's. */
static bool is_within(const struct dw_amounts *a, uint32_t row, const uint64_t most[LIMITED_N])
{
	const struct dw_values *elapsed = dw_amounts_common(a, row, DWELL_MEASURE_ELAPSED);

	return !a->rare_of.v[row] && elapsed->inclusive >= elapsed->exclusive &&
	       elapsed->inclusive <= most[0] && elapsed->inclusive <= most[1] &&
	       elapsed->inclusive <= most[2];
}

static int limit_rows(const struct dw_flat *f, const struct dw_flat_rows *rows,
		      const uint64_t most[LIMITED_N])
{
	struct dw_amounts *a = &f->out->amounts;
	uint64_t v[LIMITED_N];
	int rc = 0;

	dw_vec_each(id, &rows->seen) {
		uint32_t row = rows->v[*id].amounts - 1;

		if (is_within(a, row, most))
			continue;
		inclusive_of(a, row, v);
		limit(v, most);
		rc |= set_limited(a, row, v);
	}
	return rc;
}

/* Let @v be no more than what is inclusive_of in @function, if that has a row. */
static void limit_to(const struct dw_flat *f, uint32_t function, uint64_t v[LIMITED_N])
{
	uint64_t most[LIMITED_N];

	if (!f->functions.ids_n || !f->functions.v[function].amounts)
		return;
	inclusive_of(&f->out->amounts, f->functions.v[function].amounts - 1, most);
	limit(v, most);
}

static int limit_edges(const struct dw_flat *f)
{
	struct dw_amounts *a = &f->out->amounts;
	int rc = 0;

	dw_vec_each(id, &f->edges.seen) {
		uint32_t row = f->edges.v[*id].amounts - 1;
		struct dw_flat_edge key = f->keys.v[*id];
		uint64_t v[LIMITED_N];

		inclusive_of(a, row, v);
		limit_to(f, key.callee, v);
		if (key.caller && key.caller < f->row_keys->functions_n)
			limit_to(f, key.caller, v);
		rc |= set_limited(a, row, v);
	}
	return rc;
}

/*
 * Of cells, inclusive and exclusive times are measured apart: what probes cost of both is an
 * estimate, so a row could seem to have more than its lane, or less than its own. A function
 * that calls itself from two places is found twice on an edge: that has no more than all calls of
 * the callee, and of the caller. Let no row, all of which are of one lane, have more than @all.
 */
static int limit_all(struct dw_flat *f, const struct dw_call_values *all)
{
	const uint64_t most[LIMITED_N] = {all->elapsed_ns, all->application_ns, all->delimited_ns,
					  all->blocked_ns, all->elapsed_ns - all->left_out_ns};
	int rc = limit_rows(f, &f->functions, most);

	rc |= limit_rows(f, &f->modules, most);
	rc |= limit_rows(f, &f->lines, most);
	rc |= limit_rows(f, &f->instructions, most);
	rc |= limit_rows(f, &f->edges, most);
	rc |= limit_edges(f);
	return rc ? -ENOMEM : 0;
}

static bool overflows(const struct dw_call_nodes *t, uint32_t id)
{
	return dw_call_nodes_get(t, id)->flags & DWELL_CALL_OVERFLOW &&
	       t->state[id] & DWELL_CALL_PRESENT;
}

/* A counting sort, by thread, of the overflow nodes that have anything. */
static int sort_overflow(struct dw_call_flat *f)
{
	const struct dw_call_nodes *t = f->nodes;

	f->begin = calloc(t->lanes.threads_n + 2ul, sizeof *f->begin);
	if (!f->begin)
		return -ENOMEM;
	for (uint32_t id = 1; id < t->n; id++)
		if (overflows(t, id))
			f->begin[dw_call_nodes_get(t, id)->thread + 2]++;
	for (size_t i = 2; i < t->lanes.threads_n + 2ul; i++)
		f->begin[i] += f->begin[i - 1];
	f->overflow = malloc((f->begin[t->lanes.threads_n + 1] + 1ul) * sizeof *f->overflow);
	for (uint32_t id = 1; id < t->n && f->overflow; id++)
		if (overflows(t, id))
			f->overflow[f->begin[dw_call_nodes_get(t, id)->thread + 1]++] = id;
	return f->overflow ? 0 : -ENOMEM;
}

int dw_call_flat_init(struct dw_call_flat *f, const struct dw_call_tree *tree, unsigned parts,
		      struct dw_totals *out)
{
	const struct dw_call_nodes *t = tree->nodes;

	*f = (struct dw_call_flat){.nodes = t, .tree = tree};
	if (dw_flat_init(&f->rows, t->row_keys, parts, t->filter->focus.function) ||
	    sort_overflow(f))
		return -ENOMEM;
	dw_flat_begin(&f->rows, &tree->cct, out);
	return 0;
}

/* The edge from @caller to @callee: all threads' roots are one caller, and nobody calls them. As
 * dw_flat_edge(). */
static uint32_t find_edge(struct dw_call_flat *f, uint32_t caller, uint32_t callee)
{
	uint32_t none = dw_row_keys_none(f->nodes->row_keys);

	return callee < none ? dw_flat_edge(&f->rows, caller < none ? caller : none, callee) : 0;
}

static uint32_t module_of(const struct dw_call_flat *f, const struct dw_call_node *node,
			  uint32_t callee)
{
	return callee < dw_row_keys_none(f->nodes->row_keys)
		       ? dw_call_module_at(f->nodes, node->entry)
		       : f->nodes->row_keys->modules_n;
}

static uint32_t valid_frame(const struct dw_call_flat *f, uint32_t frame)
{
	return frame < f->nodes->row_keys->frames_n ? frame : 0;
}

static struct dw_values *calls_at(const struct dw_call_flat *f, uint32_t row)
{
	return dw_amounts_common(&f->rows.out->amounts, row, DWELL_MEASURE_CALLS);
}

/* The call at position @p was made from @id, a line or an instruction, which came to it @calls
 * times. */
static int join_site(struct dw_call_flat *f, struct dw_flat_rows *rows, uint32_t id, uint32_t p,
		     uint64_t calls)
{
	uint32_t row;
	int rc = dw_flat_find(&f->rows, rows, id, &row);
	uint64_t outer;

	if (rc)
		return rc < 0 ? rc : 0;
	calls_at(f, row)->exclusive += calls;
	if (p < rows->v[id].until)
		return 0;
	outer = calls_at(f, row)->inclusive + calls;
	rc = dw_flat_join(&f->rows, rows, id, p);
	calls_at(f, row)->inclusive = outer;
	return rc;
}

/* Likewise of all lines at @frame: those of inlined functions and of the calls that they stand for.
 */
static int join_lines(struct dw_call_flat *f, uint32_t frame, uint32_t p, uint64_t calls)
{
	const struct dw_row_keys *s = f->nodes->row_keys;
	int rc = 0;

	if (!frame || !f->rows.lines.ids_n)
		return 0;
	for (uint32_t slot = s->first[frame]; slot < s->first[frame + 1]; slot++)
		rc |= join_site(f, &f->rows.lines, s->line[slot], p, calls);
	return rc;
}

/* The innermost line at @frame has probes of its own: what it took is its own. Its id. */
static uint32_t measured_line(struct dw_call_flat *f, uint32_t frame)
{
	const struct dw_row_keys *s = f->nodes->row_keys;
	uint32_t line = s->line[s->first[frame]];

	f->rows.line_flags[line] |= DWELL_LINE_MEASURED;
	return line;
}

/* The function of the last path but @back; at the top of a thread 0, the unknown one. */
static uint32_t caller_at(const struct dw_call_flat *f, size_t back)
{
	return f->rows.path.n > back ? f->tree->cct.about[f->rows.path.v[f->rows.path.n - 1 - back]]
				     : 0;
}

/* What is @p's own is that of the call at @up. Of paths that were found now and then nobody knows
 * more than their thread. */
static int own_parent(struct dw_call_flat *f, uint32_t up, uint32_t p)
{
	const struct dw_call_node *node =
		dw_call_nodes_get(f->nodes, dw_call_tree_node(f->tree, up));
	uint32_t callee = f->tree->cct.about[up], edge;
	struct dw_flat *rows = &f->rows;
	int rc;

	if (node->flags & DWELL_CALL_ESTIMATED ||
	    callee == dw_row_keys_truncated(f->nodes->row_keys))
		return 0;
	rc = dw_flat_own(rows, &rows->functions, callee, p);
	rc |= dw_flat_own(rows, &rows->modules, module_of(f, node, callee), p);
	edge = find_edge(f, caller_at(f, 2), callee);
	if (edge == UINT32_MAX)
		return -ENOMEM;
	return edge ? rc | dw_flat_own(rows, &rows->edges, edge, p) : rc;
}

/* At position @p is a statement of the function called at @up: its time is the function's own. */
static int enter_statement(struct dw_call_flat *f, uint32_t up, uint32_t p)
{
	uint32_t id = dw_call_tree_node(f->tree, p);
	uint32_t frame = valid_frame(f, dw_call_nodes_get(f->nodes, id)->entry);
	int rc = up == UINT32_MAX ? 0 : own_parent(f, up, p);

	if (!frame || !f->rows.lines.ids_n)
		return rc;
	rc |= join_lines(f, frame, p, dw_call_nodes_arrivals(f->nodes, id));
	return rc | dw_flat_own(&f->rows, &f->rows.lines, measured_line(f, frame), p);
}

/* The line from which the call of @id was made. Where statements were measured they count their
 * calls themselves: then *@calls becomes 0. */
static uint32_t line_of(const struct dw_call_flat *f, uint32_t id, uint32_t site, uint64_t *calls)
{
	uint32_t above = dw_call_nodes_above(f->nodes, id);

	if (!above || !dw_call_nodes_is_line(f->nodes, above))
		return site;
	*calls = 0;
	return valid_frame(f, dw_call_nodes_get(f->nodes, above)->entry);
}

/* The call of @node at position @p is about a function and a module, and through an edge. */
static int enter_call(struct dw_call_flat *f, const struct dw_call_node *node, uint32_t p)
{
	uint32_t callee = f->tree->cct.about[p], edge;
	struct dw_flat *rows = &f->rows;
	int rc = dw_flat_join_own(rows, &rows->functions, callee, p);

	if (rows->modules.ids_n)
		rc |= dw_flat_join_own(rows, &rows->modules, module_of(f, node, callee), p);
	if (!(rows->parts & DWELL_TOTALS_EDGES))
		return rc;
	edge = find_edge(f, caller_at(f, 1), callee);
	if (edge == UINT32_MAX)
		return -ENOMEM;
	return edge ? rc | dw_flat_join_own(rows, &rows->edges, edge, p) : rc;
}

/* The walk comes to position @p, which was called at @above. */
static int enter(struct dw_call_flat *f, uint32_t above, uint32_t p)
{
	const struct dw_cct *tree = &f->tree->cct;
	uint32_t id = dw_call_tree_node(f->tree, p), callee = tree->about[p], site;
	const struct dw_call_node *node = dw_call_nodes_get(f->nodes, id);
	uint64_t calls = dw_cct_own(tree, p, tree->calls);
	struct dw_flat *rows = &f->rows;
	int rc = 0;

	if (node->flags & DWELL_CALL_ESTIMATED)
		return 0;
	if (callee == DWELL_CCT_STATEMENT)
		return enter_statement(f, above, p);
	if (callee != dw_row_keys_truncated(f->nodes->row_keys))
		rc = enter_call(f, node, p);
	site = callee < dw_row_keys_none(rows->row_keys) ? valid_frame(f, node->site) : 0;
	if (site)
		rc |= join_site(f, &rows->instructions, site, p, calls);
	if (rows->lines.ids_n) {
		site = line_of(f, id, site, &calls);
		rc |= join_lines(f, site, p, calls);
	}
	return rc ? -ENOMEM : 0;
}

static void look_ahead(const struct dw_call_flat *f, uint32_t p, uint32_t end)
{
	enum { STEP = 8 };
	const struct dw_cct *tree = &f->tree->cct;

	if (p + 2 * STEP < end)
		__builtin_prefetch(
			dw_call_nodes_get(f->nodes, dw_call_tree_node(f->tree, p + 2 * STEP)));
	if (p + STEP < end && f->rows.functions.ids_n &&
	    tree->about[p + STEP] != DWELL_CCT_STATEMENT)
		__builtin_prefetch(&f->rows.functions.v[tree->about[p + STEP]]);
}

static int walk_thread(struct dw_call_flat *f, uint32_t thread)
{
	bool has_path = f->rows.parts & DWELL_TOTALS_EDGES || f->tree->cct.has_statements;
	uint32_t top = f->tree->thread[thread], above = UINT32_MAX;
	int rc = 0;

	f->rows.path.n = 0;
	if (top == DWELL_CCT_NONE)
		return 0;
	for (uint32_t p = top + 1, end = f->tree->cct.end[top]; p < end && !rc; p++) {
		look_ahead(f, p, end);
		rc = has_path ? dw_flat_step(&f->rows, p, &above) : 0;
		if (!rc)
			rc = enter(f, above, p);
	}
	return rc;
}

/* What an overflow node says: its own values, or the inclusive ones of activations that were
 * outermost somewhere. */
struct overflow {
	const struct dw_call_node *node;
	uint32_t flags;			    /* the node's, or more */
	struct dw_amount all, calls, times; /* its values; calls alone, and all others */
};

static void describe(const struct dw_call_flat *f, uint32_t id, struct overflow *ret)
{
	const struct dw_amounts *like = &f->rows.out->amounts;
	struct dw_call_values values = dw_call_nodes_values(f->nodes, id);
	uint64_t counted;

	ret->node = dw_call_nodes_get(f->nodes, id);
	ret->flags = ret->node->flags;
	counted = ret->flags & DWELL_CALL_COUNTED ? values.calls : 0;
	dw_amount_of_calls(like, &values, &ret->all);
	dw_amount_of(like, DWELL_MEASURE_CALLS, values.calls, &ret->calls);
	dw_amount_set(like, &ret->all, DWELL_MEASURE_COUNTED, counted);
	dw_amount_set(like, &ret->calls, DWELL_MEASURE_COUNTED, counted);
	values.calls = 0;
	dw_amount_of_calls(like, &values, &ret->times);
}

/* An overflow node of @flags is about @id: add @own, or @all where it was @outermost. NULL =
 * nothing. */
static int add(struct dw_call_flat *f, struct dw_flat_rows *rows, uint32_t id, uint32_t flags,
	       const struct dw_amount *own, const struct dw_amount *all, uint32_t outermost)
{
	bool inclusive = flags & DWELL_CALL_INCLUSIVE;
	const struct dw_amount *more = inclusive ? flags & outermost ? all : NULL : own;
	uint32_t row;
	int rc = dw_flat_find(&f->rows, rows, id, &row);

	if (rc || !more)
		return rc < 0 ? rc : 0;
	return dw_amounts_add(&f->rows.out->amounts, row, more,
			      inclusive ? DWELL_INCLUSIVE : DWELL_EXCLUSIVE);
}

/* The callee's own time is not the line's. One that was measured counts its calls itself. */
static int add_lines(struct dw_call_flat *f, uint32_t frame, const struct overflow *o)
{
	const struct dw_row_keys *s = f->nodes->row_keys;
	int rc = 0;

	if (!frame || !f->rows.lines.ids_n)
		return 0;
	for (uint32_t slot = s->first[frame]; slot < s->first[frame + 1]; slot++) {
		uint8_t *flags = &f->rows.line_flags[s->line[slot]];
		bool counts = *flags & DWELL_LINE_ARRIVALS;

		if (o->flags & DWELL_CALL_INCLUSIVE && !(o->flags & DWELL_CALL_OUTERMOST_FUNCTION))
			*flags |= DWELL_LINE_REPEATED;
		rc |= add(f, &f->rows.lines, s->line[slot], o->flags, counts ? NULL : &o->calls,
			  counts ? &o->times : &o->all, DWELL_CALL_OUTERMOST_SITE);
	}
	return rc;
}

/* One overflow node. Under a filter by module its time is known to pass, that of its callees is
 * not: then its own time is all the inclusive one. */
static int count_overflow(struct dw_call_flat *f, uint32_t id)
{
	const uint32_t all = DWELL_CALL_INCLUSIVE | DWELL_CALL_OUTERMOST_FUNCTION |
			     DWELL_CALL_OUTERMOST_MODULE | DWELL_CALL_OUTERMOST_EDGE |
			     DWELL_CALL_OUTERMOST_SITE;
	uint32_t callee = dw_call_callee(f->nodes, id), caller, site, edge;
	bool by_module = f->nodes->filter->modules, counted;
	struct dw_flat *rows = &f->rows;
	struct overflow o;
	int rc = 0;

	describe(f, id, &o);
	counted = o.flags & DWELL_CALL_COUNTED; /* without time */
	if (o.flags & DWELL_CALL_LINE || (by_module && o.flags & DWELL_CALL_INCLUSIVE))
		return 0;
	caller = dw_call_function_at(f->nodes, o.node->caller);
	if (!o.node->caller && !counted) /* else nobody knows */
		caller = dw_row_keys_none(rows->row_keys);
	site = valid_frame(f, o.node->site);
	edge = find_edge(f, caller, callee);
	if (edge == UINT32_MAX)
		return -ENOMEM;
	for (int pass = 0; pass <= (by_module && !counted); pass++) {
		o.flags |= pass ? all : 0;
		rc |= add(f, &rows->functions, callee, o.flags, &o.all, &o.all,
			  DWELL_CALL_OUTERMOST_FUNCTION);
		rc |= add(f, &rows->modules, module_of(f, o.node, callee), o.flags, &o.all, &o.all,
			  DWELL_CALL_OUTERMOST_MODULE);
		if (edge)
			rc |= add(f, &rows->edges, edge, o.flags, &o.all, &o.all,
				  DWELL_CALL_OUTERMOST_EDGE);
		if (site) /* what is the callee's own is not shown, but it has that at least */
			rc |= add(f, &rows->instructions, site, o.flags, &o.all, &o.all,
				  DWELL_CALL_OUTERMOST_SITE);
		rc |= add_lines(f, site, &o);
	}
	return rc ? -ENOMEM : 0;
}

/* A statement of a function on any path: its time is the function's own, and it was come to so many
 * times. */
static int count_statement(struct dw_call_flat *f, uint32_t id)
{
	const struct dw_row_keys *s = f->nodes->row_keys;
	const struct dw_amounts *like = &f->rows.out->amounts;
	struct dw_amount arrivals;
	struct overflow o;
	uint32_t frame;
	int rc;

	describe(f, id, &o);
	rc = dw_flat_add(&f->rows, &f->rows.functions, dw_call_callee(f->nodes, id), &o.all,
			 DWELL_EXCLUSIVE);
	rc |= dw_flat_add(&f->rows, &f->rows.modules, dw_call_module_at(f->nodes, o.node->caller),
			  &o.all, DWELL_EXCLUSIVE);
	frame = valid_frame(f, o.node->entry);
	if (!frame || !f->rows.lines.ids_n)
		return rc;
	dw_amount_of(like, DWELL_MEASURE_CALLS, dw_call_nodes_arrivals(f->nodes, id), &arrivals);
	for (uint32_t slot = s->first[frame]; slot < s->first[frame + 1]; slot++) {
		f->rows.line_flags[s->line[slot]] |= DWELL_LINE_ARRIVALS;
		rc |= dw_flat_add(&f->rows, &f->rows.lines, s->line[slot], &arrivals, DWELL_BOTH);
	}
	return rc | dw_flat_add(&f->rows, &f->rows.lines, measured_line(f, frame), &o.all,
				DWELL_EXCLUSIVE);
}

/* The time of a statement with its calls, which are counted: that and its calls', unless it has
 * called itself. Then what it took is in that of its calls, all but the outermost time. */
static int close_statement(struct dw_call_flat *f, uint32_t id)
{
	const struct dw_row_keys *s = f->nodes->row_keys;
	struct overflow o;
	uint32_t frame;
	int rc = 0;

	describe(f, id, &o);
	frame = valid_frame(f, o.node->entry);
	if (!frame || !f->rows.lines.ids_n)
		return 0;
	for (uint32_t slot = s->first[frame]; slot < s->first[frame + 1]; slot++)
		if (!(f->rows.line_flags[s->line[slot]] & DWELL_LINE_REPEATED))
			rc |= dw_flat_add(&f->rows, &f->rows.lines, s->line[slot], &o.all,
					  DWELL_INCLUSIVE);
	return rc;
}

/* Do @one with the statements among the overflow nodes of @lane. */
static int each_statement(struct dw_call_flat *f, uint32_t lane,
			  int (*one)(struct dw_call_flat *f, uint32_t id))
{
	const struct dw_call_nodes *t = f->nodes;
	int rc = 0;

	for (uint32_t i = t->begin[lane]; i < t->begin[lane + 1]; i++)
		for (uint32_t k = f->begin[t->order[i]]; k < f->begin[t->order[i] + 1]; k++)
			if (dw_call_nodes_is_line(t, f->overflow[k]))
				rc |= one(f, f->overflow[k]);
	return rc ? -ENOMEM : 0;
}

int dw_call_flat_count(struct dw_call_flat *f, uint32_t lane)
{
	const struct dw_call_nodes *t = f->nodes;
	struct dw_call_values all = {0};
	int rc = each_statement(f, lane, count_statement);

	for (uint32_t i = t->begin[lane]; i < t->begin[lane + 1] && !rc; i++) {
		uint32_t thread = t->order[i];

		dw_call_values_add(&all, &t->sums[thread]);
		rc = walk_thread(f, thread);
		for (uint32_t k = f->begin[thread]; k < f->begin[thread + 1] && !rc; k++)
			rc = count_overflow(f, f->overflow[k]);
	}
	if (!rc)
		rc = each_statement(f, lane, close_statement);
	if (!rc)
		rc = limit_all(&f->rows, &all);
	return rc ? rc : dw_flat_put(&f->rows, lane);
}

void dw_call_flat_release(struct dw_call_flat *f)
{
	dw_flat_release(&f->rows);
	free(f->begin);
	free(f->overflow);
}
