/*
 * Flat totals of calls; see call-flat.h.
 *
 * The walk is depth first and keeps, for each node on its path, the values of what it has seen of
 * that node's subtree: no inclusive values are stored but those of the path. Overflow nodes stand
 * beside the trees: their exclusive values count as a node's, their inclusive ones where their
 * flags say that they are outermost. Sites have no flag of their own, the edge's stands for it: an
 * activation whose edge is on the path already mostly has its site there too.
 */
#include "analysis/call-flat.h"

#include "analysis/call-rows.h"

#include <errno.h>

enum {
	NO_ROW = UINT32_MAX,
	/* Parts that need more of a node than its function. */
	OF_NODES = DWELL_TOTALS_MODULES | DWELL_TOTALS_EDGES | DWELL_TOTALS_LINES |
		   DWELL_TOTALS_INSTRUCTIONS,
};

/* A node on the path. */
struct dw_call_step {
	uint32_t id;
	uint32_t callee; /* dense */
	uint32_t site;	 /* frame id; 0 = none that counts */
	uint32_t line;	 /* frame id of the statement that was measured, or of the call */
	uint32_t function, module, edge, instruction; /* rows in the ledgers, NO_ROW = none */
	struct dw_call_values inclusive;	      /* so far */
};

static bool wants(const struct dw_call_flat *f, unsigned part)
{
	return f->parts & part;
}

int dw_call_flat_init(struct dw_call_flat *f, const struct dw_call_nodes *nodes, unsigned parts)
{
	const struct dw_subjects *s = nodes->subjects;

	*f = (struct dw_call_flat){.nodes = nodes, .parts = parts};
	if ((wants(f, DWELL_TOTALS_FUNCTIONS) &&
	     dw_ledger_reserve(&f->functions, dw_call_callees_n(nodes))) ||
	    (wants(f, DWELL_TOTALS_MODULES) && dw_ledger_reserve(&f->modules, s->modules_n + 1)) ||
	    (wants(f, DWELL_TOTALS_LINES) && dw_ledger_reserve(&f->lines, (uint32_t)s->lines.n)) ||
	    (wants(f, DWELL_TOTALS_INSTRUCTIONS) &&
	     dw_ledger_reserve(&f->instructions, s->frames_n)))
		return -ENOMEM;
	return wants(f, DWELL_TOTALS_EDGES) ? dw_vec_push(&f->edge_keys, (struct dw_call_edge){0})
					    : 0;
}

/* Whether anybody wants the edge @caller -> @callee. */
static bool is_wanted_edge(const struct dw_call_flat *f, uint32_t caller, uint32_t callee)
{
	uint32_t only = f->nodes->filter->focus.function;

	return wants(f, DWELL_TOTALS_EDGES) && (!only || caller == only || callee == only);
}

/* The id of an edge, made when new; 0 without memory. */
static uint32_t edge_id(struct dw_call_flat *f, uint32_t caller, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	uint32_t id = dw_map_get(&f->edge_ids, key);

	if (id)
		return id;
	id = (uint32_t)f->edge_keys.n;
	if (dw_ledger_reserve(&f->edges, id + 1) || dw_map_put(&f->edge_ids, key, id) ||
	    dw_vec_push(&f->edge_keys, (struct dw_call_edge){caller, callee}))
		return 0;
	return id;
}

/* Find the row of an edge; all threads' roots are one caller. 0 or -ENOMEM. */
static int find_edge(struct dw_call_flat *f, uint32_t caller, uint32_t callee, uint32_t *row)
{
	uint32_t id, roots = f->nodes->subjects->functions_n;

	caller = caller > roots ? roots : caller;
	*row = NO_ROW;
	if (!is_wanted_edge(f, caller, callee))
		return 0;
	id = edge_id(f, caller, callee);
	if (id)
		*row = dw_ledger_row(&f->edges, id);
	return *row == NO_ROW ? -ENOMEM : 0;
}

/* Find the row of @id in @l, unless nobody wants that ledger. 0 or -ENOMEM. */
static int find_row(struct dw_ledger *l, uint32_t id, uint32_t *row)
{
	*row = l->ids_n ? dw_ledger_row(l, id) : NO_ROW;
	return l->ids_n && *row == NO_ROW ? -ENOMEM : 0;
}

/* The rows of a node that was called by @caller (dense). */
static int find_rows(struct dw_call_flat *f, const struct dw_call_node *node, uint32_t caller,
		     struct dw_call_step *step)
{
	const struct dw_call_nodes *t = f->nodes;
	const struct dw_subjects *s = t->subjects;
	bool is_root = step->callee >= s->functions_n;

	step->function = step->module = step->edge = step->instruction = NO_ROW;
	if (step->callee == dw_call_truncated(t))
		return 0;
	if (find_row(&f->functions, step->callee, &step->function))
		return -ENOMEM;
	if (!wants(f, OF_NODES))
		return 0;
	if (find_row(&f->modules, is_root ? s->modules_n : dw_call_module_at(t, node->entry),
		     &step->module))
		return -ENOMEM;
	if (is_root)
		return 0;
	step->site = node->site < s->frames_n ? node->site : 0;
	if (step->site && find_row(&f->instructions, step->site, &step->instruction))
		return -ENOMEM;
	return find_edge(f, caller, step->callee, &step->edge);
}

/* What happens to the row of a statement at a call site; @node is an overflow's, else NULL. */
typedef void line_fn(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
		     const struct dw_call_values *values);

/* Do @one for the rows of all statements at step->line: those of inlined functions and of the calls
 * that they stand for. */
static int each_line(struct dw_call_flat *f, const struct dw_call_step *step,
		     const struct dw_call_node *node, const struct dw_call_values *values,
		     line_fn *one)
{
	const struct dw_subjects *s = f->nodes->subjects;

	if (!step->line || !wants(f, DWELL_TOTALS_LINES))
		return 0;
	for (uint32_t slot = s->first[step->line]; slot < s->first[step->line + 1]; slot++) {
		uint32_t row = dw_ledger_row(&f->lines, s->line[slot]);

		if (row == NO_ROW)
			return -ENOMEM;
		one(&f->lines, row, node, values);
	}
	return 0;
}

static void enter_line(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
		       const struct dw_call_values *values)
{
	(void)node;
	dw_ledger_enter(l, row, values->calls);
}

static void leave_line(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
		       const struct dw_call_values *values)
{
	(void)node;
	dw_ledger_leave(l, row, values);
}

static void enter_row(struct dw_ledger *l, uint32_t row, uint64_t calls)
{
	if (row != NO_ROW)
		dw_ledger_enter(l, row, calls);
}

static void leave_row(struct dw_ledger *l, uint32_t row, const struct dw_call_values *inclusive)
{
	if (row != NO_ROW)
		dw_ledger_leave(l, row, inclusive);
}

static void own_row(struct dw_ledger *l, uint32_t row, const struct dw_call_values *own)
{
	if (row != NO_ROW)
		dw_ledger_own(l, row, own);
}

/* The frame of the statement @id. */
static uint32_t statement_at(const struct dw_call_flat *f, uint32_t id)
{
	uint32_t frame = dw_call_nodes_get(f->nodes, id)->entry;

	return frame < f->nodes->subjects->frames_n ? frame : 0;
}

/* A statement of the last node's function joins the path: its time is the function's own. */
static int enter_statement(struct dw_call_flat *f, uint32_t id)
{
	const struct dw_subjects *s = f->nodes->subjects;
	const struct dw_call_step *up = f->path.n ? &f->path.v[f->path.n - 1] : NULL;
	struct dw_call_step step = {.id = id,
				    .callee = f->nodes->links[id].callee,
				    .line = statement_at(f, id),
				    .function = NO_ROW,
				    .module = NO_ROW,
				    .edge = NO_ROW,
				    .instruction = NO_ROW,
				    .inclusive = dw_call_nodes_values(f->nodes, id)};
	struct dw_call_values arrivals = {.calls = dw_call_nodes_arrivals(f->nodes, id)};

	if (up) {
		own_row(&f->functions, up->function, &step.inclusive);
		own_row(&f->modules, up->module, &step.inclusive);
		own_row(&f->edges, up->edge, &step.inclusive);
	}
	if (each_line(f, &step, NULL, &arrivals, enter_line))
		return -ENOMEM;
	if (step.line && wants(f, DWELL_TOTALS_LINES)) {
		uint32_t row = dw_ledger_row(&f->lines, s->line[s->first[step.line]]);

		f->lines.rows.v[row].is_measured = true;
		own_row(&f->lines, row, &step.inclusive);
	}
	return dw_vec_push(&f->path, step);
}

/* A path that was found now and then: its time is the thread's, all else has it from overflow
 * nodes.
 */
static int enter_estimate(struct dw_call_flat *f, struct dw_call_step *step)
{
	step->function = step->module = step->edge = step->instruction = NO_ROW;
	step->inclusive = dw_call_nodes_values(f->nodes, step->id);
	return dw_vec_push(&f->path, *step);
}

/* The statement that the call of @id was made from, where these were measured, counts its calls
 * itself. Whether it was. */
static bool find_line(const struct dw_call_flat *f, uint32_t id, struct dw_call_step *step)
{
	uint32_t above = dw_call_nodes_above(f->nodes, id);
	bool is_line = above && dw_call_nodes_is_line(f->nodes, above);

	step->line = is_line ? statement_at(f, above) : step->site;
	return is_line;
}

/* A node joins the path. */
static int enter(struct dw_call_flat *f, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(f->nodes, id);
	struct dw_call_step step = {.id = id, .callee = f->nodes->links[id].callee};
	uint32_t caller = f->path.n ? f->path.v[f->path.n - 1].callee : 0;
	struct dw_call_values site = {0};
	uint64_t calls;

	dw_call_nodes_expect(f->nodes, f->nodes->links[id].child);
	dw_call_nodes_expect(f->nodes, f->nodes->links[id].next);
	if (node->flags & DWELL_CALL_ESTIMATED)
		return enter_estimate(f, &step);
	if (node->flags & DWELL_CALL_LINE)
		return enter_statement(f, id);
	if (find_rows(f, node, caller, &step))
		return -ENOMEM;
	step.inclusive = dw_call_nodes_values(f->nodes, id);
	calls = step.inclusive.calls;
	enter_row(&f->functions, step.function, calls);
	enter_row(&f->modules, step.module, calls);
	enter_row(&f->edges, step.edge, calls);
	enter_row(&f->instructions, step.instruction, calls);
	own_row(&f->functions, step.function, &step.inclusive);
	own_row(&f->modules, step.module, &step.inclusive);
	own_row(&f->edges, step.edge, &step.inclusive);
	if (!find_line(f, id, &step))
		site.calls = calls;
	if (each_line(f, &step, NULL, &site, enter_line))
		return -ENOMEM;
	return dw_vec_push(&f->path, step);
}

/* The last node leaves the path; its caller's inclusive values have it from now on. */
static int leave(struct dw_call_flat *f)
{
	struct dw_call_step *step = &f->path.v[--f->path.n];

	leave_row(&f->functions, step->function, &step->inclusive);
	leave_row(&f->modules, step->module, &step->inclusive);
	leave_row(&f->edges, step->edge, &step->inclusive);
	leave_row(&f->instructions, step->instruction, &step->inclusive);
	if (f->path.n)
		dw_call_values_add(&f->path.v[f->path.n - 1].inclusive, &step->inclusive);
	return each_line(f, step, NULL, &step->inclusive, leave_line);
}

/* @id if it has anything to count, else the first of its later siblings that has. */
static uint32_t present(const struct dw_call_nodes *t, uint32_t id)
{
	while (id && !(t->links[id].state & DWELL_CALL_PRESENT))
		id = t->links[id].next;
	return id;
}

static int walk_thread(struct dw_call_flat *f, uint32_t thread)
{
	const struct dw_call_nodes *t = f->nodes;
	uint32_t at = present(t, t->top[thread]), child;
	int rc = 0;

	while (at && !rc) {
		rc = enter(f, at);
		child = present(t, t->links[at].child);
		if (rc || child) {
			at = child;
			continue;
		}
		for (at = 0; f->path.n && !at && !rc;) {
			at = present(t, t->links[f->path.v[f->path.n - 1].id].next);
			rc = leave(f);
		}
	}
	f->path.n = 0;
	return rc;
}

/* What an overflow node says of one row: its own values, or the inclusive ones of activations that
 * were outermost there. */
static void add_overflow(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
			 const struct dw_call_values *values, uint32_t outermost)
{
	struct dw_ledger_row *r;

	if (row == NO_ROW)
		return;
	r = &l->rows.v[row];
	if (!(node->flags & DWELL_CALL_INCLUSIVE)) {
		dw_ledger_own(l, row, values);
		r->calls += values->calls;
		r->counted += node->flags & DWELL_CALL_COUNTED ? values->calls : 0;
	} else if (node->flags & outermost) {
		dw_call_values_add(&r->inclusive, values);
		r->outer_calls += values->calls;
	}
}

/* The callee's own time is not the statement's, which counts its calls itself where it was
 * measured.
 */
static void overflow_line(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
			  const struct dw_call_values *values)
{
	struct dw_call_values own = l->rows.v[row].exclusive, called = *values;

	called.calls = l->rows.v[row].has_arrivals ? 0 : called.calls;
	l->rows.v[row].is_repeated |= node->flags & DWELL_CALL_INCLUSIVE &&
				      !(node->flags & DWELL_CALL_OUTERMOST_FUNCTION);
	add_overflow(l, row, node, &called, DWELL_CALL_OUTERMOST_SITE);
	l->rows.v[row].exclusive = own;
}

/* A statement that was come to so many times, and what it took without its calls. */
static void statement_line(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
			   const struct dw_call_values *values)
{
	struct dw_ledger_row *r = &l->rows.v[row];

	(void)node;
	r->calls += values->calls;
	r->outer_calls += values->calls;
	r->has_arrivals = true;
}

/* Its inclusive time is that and its calls', unless it has called itself: then what it took is in
 * that of its calls, all but the outermost time. */
static void close_line(struct dw_ledger *l, uint32_t row, const struct dw_call_node *node,
		       const struct dw_call_values *values)
{
	struct dw_ledger_row *r = &l->rows.v[row];

	(void)node;
	if (!r->is_repeated)
		dw_call_values_add(&r->inclusive, values);
}

/* A statement of a function on any path: its time is the function's own. */
static int count_statement(struct dw_call_flat *f, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(f->nodes, id);
	const struct dw_subjects *s = f->nodes->subjects;
	struct dw_call_step step = {.callee = f->nodes->links[id].callee,
				    .line = statement_at(f, id)};
	struct dw_call_values own = dw_call_nodes_values(f->nodes, id), all = own;
	uint32_t row;

	all.calls = dw_call_nodes_arrivals(f->nodes, id);
	if (find_row(&f->functions, step.callee, &step.function) ||
	    find_row(&f->modules, dw_call_module_at(f->nodes, node->caller), &step.module))
		return -ENOMEM;
	own_row(&f->functions, step.function, &own);
	own_row(&f->modules, step.module, &own);
	if (!step.line || !wants(f, DWELL_TOTALS_LINES))
		return 0;
	if (each_line(f, &step, node, &all, statement_line))
		return -ENOMEM;
	row = dw_ledger_row(&f->lines, s->line[s->first[step.line]]);
	f->lines.rows.v[row].is_measured = true;
	own_row(&f->lines, row, &own);
	return 0;
}

/* The time of a statement with its calls, which are counted. */
static int close_statement(struct dw_call_flat *f, uint32_t id)
{
	const struct dw_call_node *node = dw_call_nodes_get(f->nodes, id);
	struct dw_call_step step = {.line = statement_at(f, id)};
	struct dw_call_values own = dw_call_nodes_values(f->nodes, id);

	return each_line(f, &step, node, &own, close_line);
}

/* Do @one with the statements among the overflow nodes of @process. */
static int each_statement(struct dw_call_flat *f, uint32_t process,
			  int (*one)(struct dw_call_flat *f, uint32_t id))
{
	const struct dw_call_nodes *t = f->nodes;
	int rc = 0;

	for (uint32_t i = t->begin[process]; i < t->begin[process + 1]; i++)
		for (uint32_t id = t->overflow[t->order[i]]; id && !rc; id = t->links[id].next)
			if (t->links[id].state & DWELL_CALL_PRESENT && dw_call_nodes_is_line(t, id))
				rc = one(f, id);
	return rc;
}

/* One overflow node. Under a filter by module its time is known to pass, that of its callees is
 * not: then its own time is all the inclusive one. */
static int count_overflow(struct dw_call_flat *f, uint32_t id)
{
	struct dw_call_node node = *dw_call_nodes_get(f->nodes, id);
	struct dw_call_step step = {.callee = f->nodes->links[id].callee};
	struct dw_call_values values = dw_call_nodes_values(f->nodes, id);
	bool by_module = f->nodes->filter->modules, inclusive = node.flags & DWELL_CALL_INCLUSIVE;
	uint32_t caller = dw_call_function_at(f->nodes, node.caller);
	bool counted = node.flags & DWELL_CALL_COUNTED; /* without time */

	if (node.flags & DWELL_CALL_LINE)
		return 0;
	if (!node.caller && !counted) /* else nobody knows */
		caller = f->nodes->subjects->functions_n;
	if (by_module && inclusive)
		return 0;
	if (find_rows(f, &node, caller, &step))
		return -ENOMEM;
	step.line = step.site;
	for (int pass = 0; pass <= (by_module && !counted); pass++) {
		if (pass)
			node.flags |= DWELL_CALL_INCLUSIVE | DWELL_CALL_OUTERMOST_FUNCTION |
				      DWELL_CALL_OUTERMOST_MODULE | DWELL_CALL_OUTERMOST_EDGE |
				      DWELL_CALL_OUTERMOST_SITE;
		add_overflow(&f->functions, step.function, &node, &values,
			     DWELL_CALL_OUTERMOST_FUNCTION);
		add_overflow(&f->modules, step.module, &node, &values, DWELL_CALL_OUTERMOST_MODULE);
		add_overflow(&f->edges, step.edge, &node, &values, DWELL_CALL_OUTERMOST_EDGE);
		add_overflow(&f->instructions, step.instruction, &node, &values,
			     DWELL_CALL_OUTERMOST_SITE);
		if (each_line(f, &step, &node, &values, overflow_line))
			return -ENOMEM;
	}
	return 0;
}

static int walk(struct dw_call_flat *f, uint32_t process)
{
	const struct dw_call_nodes *t = f->nodes;
	int rc = each_statement(f, process, count_statement);

	f->process = (struct dw_call_values){0};
	for (uint32_t i = t->begin[process]; i < t->begin[process + 1] && !rc; i++) {
		uint32_t thread = t->order[i];

		dw_call_values_add(&f->process, &t->sums[thread]);
		rc = walk_thread(f, thread);
		for (uint32_t id = t->overflow[thread]; id && !rc; id = t->links[id].next)
			if (t->links[id].state & DWELL_CALL_PRESENT)
				rc = count_overflow(f, id);
	}
	return rc ? rc : each_statement(f, process, close_statement);
}

int dw_call_flat_count(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	int rc = walk(f, process);

	if (!rc)
		rc = dw_call_rows_put(f, process, ret);
	dw_ledger_clear(&f->functions);
	dw_ledger_clear(&f->modules);
	dw_ledger_clear(&f->lines);
	dw_ledger_clear(&f->instructions);
	dw_ledger_clear(&f->edges);
	return rc;
}

void dw_call_flat_release(struct dw_call_flat *f)
{
	dw_ledger_release(&f->functions);
	dw_ledger_release(&f->modules);
	dw_ledger_release(&f->lines);
	dw_ledger_release(&f->instructions);
	dw_ledger_release(&f->edges);
	dw_map_release(&f->edge_ids);
	dw_vec_release(&f->edge_keys);
	dw_vec_release(&f->path);
}
