/*
 * Rows of calls; see call-rows.h. Room for all of them is made first, so that nothing fails on the
 * way.
 */
#include "analysis/call-rows.h"

#include <errno.h>

static void limit(uint64_t *value, uint64_t most)
{
	if (*value > most)
		*value = most;
}

static void raise(uint64_t *value, uint64_t least)
{
	if (*value < least)
		*value = least;
}

/* The total of row @i of @l, a ledger of @f. Of cells, inclusive and exclusive times are measured
 * apart: what probes cost of both is an estimate, so a row could seem to have more than its
 * process, or less than its own. */
static struct dw_call_total total_of(const struct dw_call_flat *f, const struct dw_ledger *l,
				     size_t i)
{
	struct dw_call_total total = dw_ledger_total(l, i);

	limit(&total.inclusive.elapsed_ns, f->process.elapsed_ns);
	limit(&total.inclusive.application_ns, f->process.application_ns);
	limit(&total.inclusive.whole_ns, f->process.whole_ns);
	limit(&total.inclusive.blocked_ns, f->process.blocked_ns);
	raise(&total.inclusive.elapsed_ns, total.exclusive.elapsed_ns);
	raise(&total.inclusive.application_ns, total.exclusive.application_ns);
	return total;
}

/* Put @total into a row of the amounts of @ret, for which there is room. Its number. */
static uint32_t put_total(struct dw_totals *ret, const struct dw_call_total *total)
{
	return dw_amounts_put_calls(&ret->amounts, &total->inclusive, &total->exclusive,
				    (struct dw_call_counts){total->inclusive.calls,
							    total->outer_calls, total->counted});
}

/* The same for row @i of @l. */
static uint32_t emit_total(const struct dw_call_flat *f, const struct dw_ledger *l, size_t i,
			   struct dw_totals *ret)
{
	struct dw_call_total total = total_of(f, l, i);

	return put_total(ret, &total);
}

/* The same for a call site: what is the callee's own is not the site's. */
static uint32_t emit_site(const struct dw_call_flat *f, const struct dw_ledger *l, size_t i,
			  struct dw_totals *ret)
{
	struct dw_call_total total = total_of(f, l, i);

	total.exclusive = (struct dw_call_values){0};
	return put_total(ret, &total);
}

static void emit_functions(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	for (size_t i = 0; i < f->functions.rows.n; i++) {
		struct dw_function_total *row = &ret->functions.v[ret->functions.n];

		*row = (struct dw_function_total){.process = process};
		row->function =
			dw_call_row_function(f->nodes, f->functions.rows.v[i].id, &row->thread);
		row->amounts = emit_total(f, &f->functions, i, ret);
		f->functions.rows.v[i].place = (uint32_t)ret->functions.n++;
	}
}

static void emit_modules(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	for (size_t i = 0; i < f->modules.rows.n; i++) {
		struct dw_module_total *row = &ret->modules.v[ret->modules.n++];
		uint32_t id = f->modules.rows.v[i].id;

		*row = (struct dw_module_total){.process = process, .module = id};
		if (id == f->nodes->subjects->modules_n)
			row->module = (uint32_t)DWELL_MODULE_ROOT;
		row->amounts = emit_total(f, &f->modules, i, ret);
	}
}

/* Where the total of @function stands, UINT32_MAX when it has none. */
static uint32_t function_row(const struct dw_call_flat *f, uint32_t function)
{
	uint32_t id = function < f->nodes->subjects->functions_n ? function : 0, place;

	place = f->functions.ids_n ? f->functions.place[id] : 0;
	return place ? f->functions.rows.v[place - 1].place : UINT32_MAX;
}

static void emit_lines(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	for (size_t i = 0; i < f->lines.rows.n; i++) {
		struct dw_line_total *row = &ret->lines.v[ret->lines.n];

		*row = f->nodes->subjects->lines.v[f->lines.rows.v[i].id];
		row->process = process;
		row->function_row = function_row(f, row->function);
		row->is_site = !f->lines.rows.v[i].is_measured;
		row->amounts = row->is_site ? emit_site(f, &f->lines, i, ret)
					    : emit_total(f, &f->lines, i, ret);
		f->lines.rows.v[i].place = (uint32_t)ret->lines.n++;
	}
}

static void emit_instructions(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	const struct dw_subjects *s = f->nodes->subjects;

	for (size_t i = 0; i < f->instructions.rows.n; i++) {
		struct dw_instruction_total *row = &ret->instructions.v[ret->instructions.n++];
		uint32_t frame = f->instructions.rows.v[i].id, place = 0;

		*row = (struct dw_instruction_total){.process = process, .frame = frame};
		if (f->lines.ids_n)
			place = f->lines.place[s->line[s->first[frame]]];
		row->line_row = place ? f->lines.rows.v[place - 1].place : 0;
		row->amounts = emit_site(f, &f->instructions, i, ret);
	}
}

/* Let @values be no more than the inclusive ones of @function. */
static void limit_to(const struct dw_call_flat *f, uint32_t function, const struct dw_totals *ret,
		     struct dw_call_values *values)
{
	uint32_t row = function_row(f, function);
	const struct dw_amounts *a = &ret->amounts;

	if (row == UINT32_MAX)
		return;
	row = ret->functions.v[row].amounts;
	limit(&values->elapsed_ns, dw_amounts_pair(a, row, DWELL_MEASURE_ELAPSED)->inclusive);
	limit(&values->application_ns,
	      dw_amounts_pair(a, row, DWELL_MEASURE_APPLICATION)->inclusive);
	limit(&values->whole_ns, dw_amounts_pair(a, row, DWELL_MEASURE_WHOLE)->inclusive);
	limit(&values->blocked_ns, dw_amounts_pair(a, row, DWELL_MEASURE_BLOCKED)->inclusive);
}

/* Of cells, a function that calls itself from two places is found twice on an edge: that has no
 * more than all calls of the callee, and of the caller. */
static uint32_t emit_edge(const struct dw_call_flat *f, size_t i, struct dw_call_edge key,
			  struct dw_totals *ret)
{
	struct dw_call_total total = total_of(f, &f->edges, i);

	limit_to(f, key.callee, ret, &total.inclusive);
	if (key.caller && key.caller < f->nodes->subjects->functions_n)
		limit_to(f, key.caller, ret, &total.inclusive);
	raise(&total.inclusive.elapsed_ns, total.exclusive.elapsed_ns);
	raise(&total.inclusive.application_ns, total.exclusive.application_ns);
	return put_total(ret, &total);
}

static void emit_edges(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	for (size_t i = 0; i < f->edges.rows.n; i++) {
		struct dw_edge_total *row = &ret->edges.v[ret->edges.n++];
		struct dw_call_edge key = f->edge_keys.v[f->edges.rows.v[i].id];
		uint32_t thread;

		*row = (struct dw_edge_total){.process = process};
		row->callee = dw_call_row_function(f->nodes, key.callee, &thread);
		row->caller = dw_call_row_function(f->nodes, key.caller, &thread);
		if (row->caller == (uint32_t)DWELL_FUNCTION_ROOT)
			row->caller = 0;
		row->amounts = emit_edge(f, i, key, ret);
	}
}

static int make_room(const struct dw_call_flat *f, struct dw_totals *ret)
{
	size_t all = f->functions.rows.n + f->modules.rows.n + f->edges.rows.n + f->lines.rows.n +
		     f->instructions.rows.n;

	return dw_amounts_reserve(&ret->amounts, all) ||
			       dw_vec_reserve(&ret->functions, f->functions.rows.n) ||
			       dw_vec_reserve(&ret->modules, f->modules.rows.n) ||
			       dw_vec_reserve(&ret->edges, f->edges.rows.n) ||
			       dw_vec_reserve(&ret->lines, f->lines.rows.n) ||
			       dw_vec_reserve(&ret->instructions, f->instructions.rows.n)
		       ? -ENOMEM
		       : 0;
}

int dw_call_rows_put(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret)
{
	if (make_room(f, ret))
		return -ENOMEM;
	emit_functions(f, process, ret);
	emit_modules(f, process, ret);
	emit_lines(f, process, ret);
	emit_instructions(f, process, ret);
	emit_edges(f, process, ret);
	return 0;
}
