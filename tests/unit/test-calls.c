/*
 * Totals of calls: small trees with values computed by hand, and random ones against a plain count
 * that looks at every node's path, the slow and obvious way.
 */
#include "analysis/totals.h"
#include "check.h"
#include "maker.h"
#include "row-amounts.h"
#include "rows.h"

static const struct dw_filter each_process = {.by = DWELL_BY_PROCESS};

/* What @row of @a has, kept for two calls more. */
static const struct dw_call_total *total_at(const struct dw_amounts *a, size_t row)
{
	static struct dw_call_total last[3];
	static unsigned n;

	last[++n % 3] = row_calls(a, row);
	return &last[n % 3];
}

static const struct dw_call_total *node_total(const struct dw_totals *t, uint32_t node)
{
	return total_at(&t->node_amounts, node);
}

static uint32_t thread_of(const struct dw_totals *t, uint32_t node)
{
	return t->node_threads.v[node];
}

/* prog: main, f, g, h; lib.so: p, q. One process of one thread, started at main. */
struct world {
	struct dw_profile p;
	struct dw_totals t;
	uint32_t prog, lib, thread;
	uint32_t main, f, g, p_, q;	     /* functions */
	uint32_t e_main, e_f, e_g, e_p, e_q; /* where they start */
	uint32_t root;
};

static void begin(struct world *w)
{
	struct dw_profile *p = &w->p;

	*w = (struct world){0};
	w->prog = mk_module(p, "prog");
	w->lib = mk_module(p, "lib.so");
	w->thread = mk_process(p, 7, "prog");
	w->main = mk_function(p, w->prog, "main", "a.c", 1);
	w->f = mk_function(p, w->prog, "f", "a.c", 2);
	w->g = mk_function(p, w->prog, "g", "a.c", 3);
	w->p_ = mk_function(p, w->lib, "p", "b.c", 1);
	w->q = mk_function(p, w->lib, "q", "b.c", 2);
	w->e_main = mk_plain_frame(p, w->main, 0, 10);
	w->e_f = mk_plain_frame(p, w->f, 0, 20);
	w->e_g = mk_plain_frame(p, w->g, 0, 30);
	w->e_p = mk_plain_frame(p, w->p_, 0, 40);
	w->e_q = mk_plain_frame(p, w->q, 0, 50);
	w->root = mk_call(p, w->thread, 0, 0, 0, DWELL_CALL_ROOT);
	mk_slice(p, 1000000);
}

static void end(struct world *w)
{
	dw_totals_release(&w->t);
	dw_profile_release(&w->p);
}

/* A call of @calls activations that took @ns of their own, all of it the program's. */
static uint32_t call(struct world *w, uint32_t parent, uint32_t entry, uint64_t calls, uint64_t ns)
{
	uint32_t id = mk_call(&w->p, w->thread, parent, entry, 0, 0);

	mk_delta(&w->p, 0, id,
		 (struct dw_call_values){.calls = calls,
					 .elapsed_ns = ns,
					 .application_ns = ns,
					 .delimited_ns = ns});
	return id;
}

static const struct dw_call_total *function_total(const struct world *w, uint32_t function)
{
	static const struct dw_call_total none;

	dw_vec_each(row, &w->t.functions)
		if (row->function == function)
			return total_at(&w->t.amounts, row->amounts);
	return &none;
}

static const struct dw_call_total *module_total(const struct world *w, uint32_t module)
{
	static const struct dw_call_total none;

	dw_vec_each(row, &w->t.modules)
		if (row->module == module)
			return total_at(&w->t.amounts, row->amounts);
	return &none;
}

static const struct dw_call_total *edge_total(const struct world *w, uint32_t caller,
					      uint32_t callee)
{
	static const struct dw_call_total none;

	dw_vec_each(row, &w->t.edges)
		if (row->caller == caller && row->callee == callee)
			return total_at(&w->t.amounts, row->amounts);
	return &none;
}

#define CHECK_TOTAL(total, calls_, outer, inclusive_, exclusive_)     \
	do {                                                          \
		const struct dw_call_total *check_t = (total);        \
		CHECK_INT(check_t->exclusive.calls, calls_);          \
		CHECK_INT(check_t->inclusive.calls, calls_);          \
		CHECK_INT(check_t->outer_calls, outer);               \
		CHECK_INT(check_t->inclusive.elapsed_ns, inclusive_); \
		CHECK_INT(check_t->exclusive.elapsed_ns, exclusive_); \
	} while (0)

/* main 10 > f 20 > f 40 > f 80: f is entered three times, from outside once. */
TEST(recursion_counts_once)
{
	struct world w;
	uint32_t at;

	begin(&w);
	at = call(&w, w.root, w.e_main, 1, 10);
	at = call(&w, at, w.e_f, 1, 20);
	at = call(&w, at, w.e_f, 1, 40);
	call(&w, at, w.e_f, 1, 80);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED], 150);
	CHECK_INT(w.t.all[DWELL_MEASURE_CALLS], 4);
	CHECK_TOTAL(function_total(&w, w.main), 1, 1, 150, 10);
	CHECK_TOTAL(function_total(&w, w.f), 3, 1, 140, 140);
	CHECK_TOTAL(edge_total(&w, 0, w.main), 1, 1, 150, 10);
	CHECK_TOTAL(edge_total(&w, w.main, w.f), 1, 1, 140, 20);
	CHECK_TOTAL(edge_total(&w, w.f, w.f), 2, 1, 120, 120);
	CHECK_TOTAL(module_total(&w, w.prog), 4, 1, 150, 150);
	/* Process, thread, main, and a node for each f. */
	CHECK_INT(w.t.nodes.n, 6);
	CHECK_INT(w.t.nodes.v[1].function, (uint32_t)DWELL_FUNCTION_ROOT);
	CHECK_INT(thread_of(&w.t, 1), w.thread);
	CHECK_INT(w.t.nodes.v[5].level, 5);
	CHECK_TOTAL(node_total(&w.t, 4), 1, 1, 120, 40);
	end(&w);
}

/* main 1 > p 2 > f 4 > p 8 > f 16, and main > q 32: p and f take turns, in two modules. */
TEST(mutual_recursion_between_modules_counts_once)
{
	struct world w;
	uint32_t at, main_;

	begin(&w);
	main_ = at = call(&w, w.root, w.e_main, 1, 1);
	at = call(&w, at, w.e_p, 5, 2);
	at = call(&w, at, w.e_f, 6, 4);
	at = call(&w, at, w.e_p, 7, 8);
	call(&w, at, w.e_f, 8, 16);
	call(&w, main_, w.e_q, 1, 32);
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_TOTAL(function_total(&w, w.p_), 12, 5, 30, 10);
	CHECK_TOTAL(function_total(&w, w.f), 14, 6, 28, 20);
	CHECK_TOTAL(module_total(&w, w.prog), 15, 1, 63, 21);
	CHECK_TOTAL(module_total(&w, w.lib), 13, 6, 62, 42);
	CHECK_TOTAL(edge_total(&w, w.p_, w.f), 14, 6, 28, 20);
	CHECK_TOTAL(edge_total(&w, w.f, w.p_), 7, 7, 24, 8);
	end(&w);
}

/*
 * A thread: main runs 100, is switched out for 50 and runs 30 more (one probe-to-probe interval of
 * 180); calls f, which runs 40 without a break; then main runs 10, spends 60 in read() of which 20
 * are on the processor, and runs 5 (three intervals: the call's own is one). Transitions end
 * intervals: application is 130 + 40 + 15. Only probes do: 40 + 15, for read()'s call has probes.
 */
TEST(both_interval_rules)
{
	struct dw_filter classic = {.by = DWELL_BY_PROCESS, .delimited_intervals = true};
	struct world w;
	uint32_t main_, f;

	begin(&w);
	main_ = mk_call(&w.p, w.thread, w.root, w.e_main, 0, 0);
	f = mk_call(&w.p, w.thread, main_, w.e_f, 0, 0);
	mk_delta(&w.p, 0, main_,
		 (struct dw_call_values){.calls = 1,
					 .elapsed_ns = 180 + 75,
					 .application_ns = 130 + 15,
					 .delimited_ns = 15,
					 .blocked_ns = 50 + 40,
					 .os_cpu_ns = 20,
					 .switches = 1,
					 .io_calls = 1});
	mk_delta(&w.p, 0, f, (struct dw_call_values){1, 40, 40, 40, 0, 0, 0, 0, 0, 0});
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED], 295);
	CHECK_INT(function_total(&w, w.main)->inclusive.application_ns, 185);
	CHECK_INT(function_total(&w, w.main)->exclusive.application_ns, 145);
	CHECK_INT(function_total(&w, w.main)->exclusive.blocked_ns, 90);
	CHECK_INT(function_total(&w, w.main)->exclusive.io_calls, 1);
	CHECK_INT(w.t.all[DWELL_MEASURE_OS_CPU], 20);
	CHECK_INT(dw_totals_compute(&w.p, &classic, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED], 295);
	CHECK_INT(function_total(&w, w.main)->inclusive.application_ns, 55);
	CHECK_INT(function_total(&w, w.main)->exclusive.application_ns, 15);
	CHECK_INT(w.t.all[DWELL_MEASURE_APPLICATION], 55);
	end(&w);
}

/* Of 90 off the processor inside read() it had to wait 50 for one; f, which asks for nothing, only
 * did that. */
TEST(waits_for_a_processor_are_no_waits_for_what_was_called)
{
	struct dw_filter folded = {.by = DWELL_BY_PROCESS,
				   .waits_left_out = 1u << DWELL_WAIT_READY};
	const unsigned parts = DWELL_TOTALS_ALL | DWELL_TOTALS_WAITS;
	struct world w;
	uint32_t main_, f;

	begin(&w);
	main_ = mk_call(&w.p, w.thread, w.root, w.e_main, 0, 0);
	f = mk_call(&w.p, w.thread, main_, w.e_f, 0, 0);
	mk_delta(&w.p, 0, main_,
		 (struct dw_call_values){
			 .elapsed_ns = 255, .blocked_ns = 90, .ready_ns = 50, .io_calls = 1});
	mk_delta(&w.p, 0, f, (struct dw_call_values){.elapsed_ns = 40, .blocked_ns = 7});
	CHECK_INT(dw_totals_compute(&w.p, &each_process, parts, &w.t), 0);
	CHECK_INT(w.t.waits[DWELL_WAIT_READY].ns, 57);
	CHECK_INT(w.t.waits[DWELL_WAIT_OTHER].ns, 40);
	CHECK_INT(dw_totals_compute(&w.p, &folded, parts, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED] - w.t.all[DWELL_MEASURE_WORK], 57);
	folded.waits_left_out = 1u << DWELL_WAIT_OTHER;
	CHECK_INT(dw_totals_compute(&w.p, &folded, parts, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED] - w.t.all[DWELL_MEASURE_WORK], 40);
	end(&w);
}

/* Slices end at 100, 250 and 1000. */
TEST(ranges_snap_to_slices)
{
	static const struct {
		uint64_t from_ns, to_ns, want_from, want_to, elapsed;
	} cases[] = {
		{0, 0, 0, 0, 111},	    {100, 0, 100, 1000, 110}, {140, 240, 100, 250, 10},
		{0, 90, 0, 100, 1},	    {200, 0, 250, 1000, 100}, {120, 130, 100, 250, 10},
		{300, 400, 250, 1000, 100}, {5000, 0, 0, 0, 0},	      {900, 0, 250, 1000, 100},
	};
	struct world w;
	uint32_t f;

	begin(&w);
	w.p.calls.slices.v[0].end_ns = 100;
	mk_slice(&w.p, 250);
	mk_slice(&w.p, 1000);
	f = call(&w, w.root, w.e_f, 1, 1);
	for (uint32_t i = 1; i < 3; i++)
		mk_delta(&w.p, i, f, (struct dw_call_values){.elapsed_ns = i == 1 ? 10 : 100});
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_filter filter = {.by = DWELL_BY_PROCESS,
					   .from_ns = cases[i].from_ns,
					   .to_ns = cases[i].to_ns};

		CHECK_INT(dw_totals_compute(&w.p, &filter, DWELL_TOTALS_ALL, &w.t), 0);
		CHECK_INT(w.t.from_ns, cases[i].want_from);
		CHECK_INT(w.t.to_ns, cases[i].want_to);
		CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED], cases[i].elapsed);
		CHECK_INT(function_total(&w, w.f)->inclusive.elapsed_ns, cases[i].elapsed);
	}
	end(&w);
}

/* Only time whose innermost function is in lib.so; main is still called once, f has none of it. */
TEST(a_filter_by_module_takes_time_not_calls)
{
	static const uint8_t modules[] = {0, 0, 1};
	struct dw_filter filter = {.by = DWELL_BY_PROCESS, .modules = modules, .modules_n = 3};
	struct world w;
	uint32_t main_;

	begin(&w);
	main_ = call(&w, w.root, w.e_main, 1, 1000);
	call(&w, main_, w.e_f, 3, 500);
	call(&w, main_, w.e_p, 2, 70);
	CHECK_INT(dw_totals_compute(&w.p, &filter, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED], 70);
	CHECK_TOTAL(function_total(&w, w.main), 1, 1, 70, 0);
	CHECK_TOTAL(function_total(&w, w.p_), 2, 2, 70, 70);
	CHECK_TOTAL(function_total(&w, w.f), 0, 0, 0, 0);
	end(&w);
}

/* A call site is one line and one instruction, with the caller's inlined functions; nothing is
 * theirs alone. */
TEST(call_sites_have_inclusive_values_only)
{
	struct world w;
	struct dw_location chain[] = {{.file = 1, .line = 77}, {.file = 1, .line = 12}};
	uint32_t site, main_, f;

	begin(&w);
	chain[0].function = w.g;
	chain[1].function = w.main;
	site = mk_frame(&w.p, (struct dw_frame){w.prog, DWELL_FRAME_CODE, 0x1234}, chain, 2);
	main_ = call(&w, w.root, w.e_main, 1, 5);
	f = call(&w, main_, w.e_f, 3, 10);
	w.p.calls.nodes.v[f - 1].site = site;
	f = call(&w, f, w.e_f, 4, 20);
	w.p.calls.nodes.v[f - 1].site = site;
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.instructions.n, 1);
	CHECK_INT(w.t.instructions.v[0].frame, site);
	CHECK_INT(w.t.lines.n, 2);
	CHECK_INT(w.t.lines.v[0].line, 77);
	CHECK_INT(w.t.lines.v[0].function_row, UINT32_MAX);
	CHECK_INT(w.t.functions.v[w.t.lines.v[1].function_row].function, w.main);
	for (int i = 0; i < 3; i++) {
		struct dw_measured m =
			i ? dw_totals_line_measured(&w.t, &w.t.lines.v[i - 1])
			  : dw_totals_instruction_measured(&w.t, &w.t.instructions.v[0]);

		CHECK_TOTAL(total_at(m.table, m.row), 7, 3, 30, 0);
		CHECK(m.is_site);
	}
	end(&w);
}

/*
 * Beyond the memory for paths: a statement that inlined functions have at 77 within 12 was come to
 * four times, and f was called three times from 77 within 13. Line 77 counts its calls itself, 13
 * has none of its own: it has f's, whatever stands inside of it.
 */
TEST(lines_count_calls_of_what_overflowed_once)
{
	struct world w;
	struct dw_location chain[] = {{.file = 1, .line = 77}, {.file = 1, .line = 12}};
	uint32_t statement, site, line, f;

	begin(&w);
	chain[0].function = w.g;
	chain[1].function = w.main;
	statement = mk_frame(&w.p, (struct dw_frame){w.prog, DWELL_FRAME_CODE, 0x1234}, chain, 2);
	chain[1].line = 13;
	site = mk_frame(&w.p, (struct dw_frame){w.prog, DWELL_FRAME_CODE, 0x1250}, chain, 2);
	line = call(&w, w.root, statement, 4, 5);
	w.p.calls.nodes.v[line - 1].flags = DWELL_CALL_OVERFLOW | DWELL_CALL_LINE;
	w.p.calls.nodes.v[line - 1].caller = w.e_main;
	f = call(&w, w.root, w.e_f, 3, 10);
	w.p.calls.nodes.v[f - 1].flags = DWELL_CALL_OVERFLOW;
	w.p.calls.nodes.v[f - 1].caller = w.e_main;
	w.p.calls.nodes.v[f - 1].site = site;
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_LINES, &w.t), 0);
	CHECK_INT(w.t.lines.n, 3);
	dw_vec_each(row, &w.t.lines)
		CHECK_INT(total_at(&w.t.amounts, row->amounts)->exclusive.calls,
			  row->line == 13 ? 3 : 4);
	end(&w);
}

/* main > statement 5 > f 2: where the tree ends at main, the statement's time is main's own still.
 */
TEST(statements_are_their_functions_own_wherever_a_tree_ends)
{
	struct world w;
	uint32_t main_, line, at;

	begin(&w);
	main_ = call(&w, w.root, w.e_main, 1, 1);
	line = call(&w, main_, w.e_q, 0, 5);
	w.p.calls.nodes.v[line - 1].flags = DWELL_CALL_LINE;
	call(&w, line, w.e_f, 1, 2);
	for (size_t rows = 0; rows < 3; rows++) {
		struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus.rows = rows};

		CHECK_INT(dw_totals_compute(&w.p, &filter, DWELL_TOTALS_NODES, &w.t), 0);
		at = UINT32_MAX;
		dw_vec_each(node, &w.t.nodes)
			if (node->function == w.main)
				at = (uint32_t)(node - w.t.nodes.v);
		CHECK(at != UINT32_MAX);
		CHECK_INT(w.t.nodes.n, rows == 1 ? 3 : 4); /* f is there where main has children */
		CHECK_TOTAL(node_total(&w.t, at), 1, 1, 8, 6);
	}
	end(&w);
}

static void add_extremes(struct world *w, uint32_t entry, struct dw_extreme_values values)
{
	struct dw_call_extremes e = {.thread = w->thread, .entry = entry, .values = values};

	if (dw_vec_push(&w->p.calls.extremes, e))
		abort();
}

/* The extremes of a row, which may be none. */
static struct dw_extreme_values ranges_at(const struct world *w, uint32_t extremes)
{
	static const struct dw_extreme_values none = DWELL_EXTREMES_NONE;

	return extremes ? w->t.extremes.v[extremes - 1] : none;
}

static struct dw_extreme_values ranges_of(const struct world *w, uint32_t function)
{
	dw_vec_each(row, &w->t.functions)
		if (row->function == function)
			return ranges_at(w, row->extremes);
	return ranges_at(w, 0);
}

static struct dw_extreme_values ranges_of_module(const struct world *w, uint32_t module)
{
	dw_vec_each(row, &w->t.modules)
		if (row->module == module)
			return ranges_at(w, row->extremes);
	return ranges_at(w, 0);
}

#define CHECK_RANGE(range, min, max)                 \
	do {                                         \
		struct dw_range_ns range_ = (range); \
		CHECK(dw_range_known(&range_));      \
		CHECK_INT(range_.min_ns, min);       \
		CHECK_INT(range_.max_ns, max);       \
	} while (0)

TEST(extremes_are_known_of_whole_sessions)
{
	struct world w;
	struct dw_filter range = {.by = DWELL_BY_PROCESS, .to_ns = 1000000},
			 classic = {.by = DWELL_BY_PROCESS, .delimited_intervals = true};
	struct dw_extreme_values r;
	uint32_t f;

	begin(&w);
	f = call(&w, w.root, w.e_f, 2, 10);
	call(&w, f, w.e_g, 1, 2);
	add_extremes(&w, w.e_f, (struct dw_extreme_values){{3, 9}, {2, 8}, {1, 7}, {1, 6}});
	add_extremes(
		&w, w.e_f,
		(struct dw_extreme_values){DWELL_RANGE_NONE, {1, 4}, DWELL_RANGE_NONE, {0, 4}});
	add_extremes(&w, w.e_g, (struct dw_extreme_values){{2, 2}, {2, 2}, {2, 2}, {2, 2}});
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	r = ranges_of(&w, w.f);
	CHECK_RANGE(r.elapsed_inclusive, 3, 9);
	CHECK_RANGE(r.elapsed_exclusive, 1, 8);
	CHECK_RANGE(r.application_inclusive, 1, 7);
	CHECK_RANGE(r.application_exclusive, 0, 6);
	r = ranges_of_module(&w, w.prog);
	CHECK_RANGE(r.elapsed_inclusive, 2, 9);
	CHECK_RANGE(r.application_exclusive, 0, 6);
	CHECK_INT(dw_totals_compute(&w.p, &classic, DWELL_TOTALS_FUNCTIONS, &w.t), 0);
	r = ranges_of(&w, w.f);
	CHECK_RANGE(r.elapsed_inclusive, 3, 9);
	CHECK(!dw_range_known(&r.application_inclusive));
	CHECK_INT(dw_totals_compute(&w.p, &range, DWELL_TOTALS_FUNCTIONS, &w.t), 0);
	CHECK_INT(w.t.extremes.n, 0);
	end(&w);
}

/* One activation of f is still open, or what its probes cost was another's measure. */
TEST(extremes_fit_the_sum)
{
	struct world w;
	struct dw_extreme_values r;

	begin(&w);
	call(&w, w.root, w.e_f, 2, 100);
	add_extremes(&w, w.e_f,
		     (struct dw_extreme_values){{3, 9}, {60, 60}, {1, 170}, DWELL_RANGE_NONE});
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_FUNCTIONS, &w.t), 0);
	r = ranges_of(&w, w.f);
	CHECK_RANGE(r.elapsed_inclusive, 3, 50);
	CHECK_RANGE(r.elapsed_exclusive, 50, 60);
	CHECK_RANGE(r.application_inclusive, 1, 100);
	CHECK(!dw_range_known(&r.application_exclusive));
	end(&w);
}

/* Links that no honest session has. */
TEST(damaged_trees_are_survived)
{
	struct world w;
	uint32_t a, b;

	begin(&w);
	a = call(&w, 77, w.e_f, 1, 1);
	b = call(&w, a, w.e_f, 1, 2);
	w.p.calls.nodes.v[a - 1].parent = b;
	call(&w, b, 4000000, 1, 4);
	w.p.calls.nodes.v[call(&w, b, w.e_g, 1, 8) - 1].thread = 99;
	w.p.calls.nodes.v[call(&w, b, w.e_g, 1, 16) - 1].site = 99999999;
	b = mk_call(&w.p, w.thread, w.root, w.e_p, 0, DWELL_CALL_OVERFLOW);
	w.p.calls.nodes.v[b - 1].caller = 1u << 31;
	call(&w, b, w.e_q, 1, 32);
	mk_delta(&w.p, 99, a, (struct dw_call_values){.elapsed_ns = 1000});
	mk_delta(&w.p, 0, 99, (struct dw_call_values){.elapsed_ns = 1000});
	mk_delta(&w.p, 0, b, (struct dw_call_values){.calls = 1, .elapsed_ns = 64});
	CHECK_INT(dw_totals_compute(&w.p, &each_process, DWELL_TOTALS_ALL, &w.t), 0);
	CHECK_INT(w.t.all[DWELL_MEASURE_ELAPSED], 1 + 2 + 4 + 16 + 32);
	CHECK_TOTAL(function_total(&w, w.f), 2, 1, 1 + 2 + 4 + 16, 3);
	CHECK_TOTAL(function_total(&w, w.p_), 1, 0, 64, 64);
	end(&w);
}

/* ---- Random trees against a plain count ---- */

enum { FUNCTIONS = 9, SITES = 5, NODES = 700, THREADS = 5, SLICES = 3, DEPTH_MAX = 40 };

static uint32_t roll(uint64_t *state, uint32_t n)
{
	*state = dw_hash_u64(*state + 0x9e3779b97f4a7c15u);
	return (uint32_t)(*state % n);
}

struct forest {
	struct dw_profile p;
	uint32_t entry[FUNCTIONS], site[SITES];
	uint32_t depth[NODES + THREADS + 1];
};

static struct dw_call_values random_values(uint64_t *seed)
{
	uint64_t elapsed = roll(seed, 1000), blocked = roll(seed, 3) ? 0 : roll(seed, 100);

	return (struct dw_call_values){.calls = roll(seed, 4),
				       .elapsed_ns = elapsed + blocked,
				       .application_ns = elapsed,
				       .delimited_ns = blocked ? 0 : elapsed,
				       .overhead_ns = roll(seed, 50),
				       .blocked_ns = blocked,
				       .os_cpu_ns = roll(seed, 9),
				       .switches = blocked > 0,
				       .io_calls = roll(seed, 2),
				       .blocking_calls = roll(seed, 2)};
}

static void make_tasks(struct forest *t, const uint32_t *modules)
{
	char name[16];

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof name, "f%u", i);
		t->entry[i] = mk_plain_frame(
			&t->p, mk_function(&t->p, modules[i % 3], name, "a.c", i), 0, i);
	}
	for (uint32_t i = 0; i < SITES; i++)
		t->site[i] = mk_plain_frame(&t->p, 1 + i, 8 + i, 100 + i / 2);
	for (uint32_t i = 0; i < THREADS; i++) {
		/* Two processes; the first three threads of the first have two start routines. */
		struct dw_thread row = {
			.process = i / 3 + 1, .tid = 100 + (int32_t)i, .start = 1 + i % 2};
		struct dw_process process = {.pid = 100 + (int32_t)i};
		uint32_t id;

		if ((i % 3 == 0 && dw_processes_add(&t->p.processes, &process, &id)) ||
		    dw_threads_add(&t->p.threads, &row, &id))
			abort();
		t->depth[mk_call(&t->p, id, 0, 0, 0, DWELL_CALL_ROOT)] = 1;
	}
	for (uint32_t i = 0; i < SLICES; i++)
		mk_slice(&t->p, 1000 * (i + 1));
}

/* A parent of less than DEPTH_MAX ancestors. */
static uint32_t roll_parent(const struct forest *t, uint64_t *seed)
{
	uint32_t n = dw_calls_count(&t->p.calls), parent;

	do
		parent = roll(seed, 2) ? 1 + roll(seed, n) : n - roll(seed, 5 < n ? 5 : n);
	while (t->depth[parent] >= DEPTH_MAX);
	return parent;
}

static void make_forest(struct forest *t, uint64_t seed)
{
	uint32_t modules[3];

	memset(t, 0, sizeof *t);
	modules[0] = mk_module(&t->p, "prog");
	modules[1] = mk_module(&t->p, "lib.so");
	modules[2] = 0;
	make_tasks(t, modules);
	while (dw_calls_count(&t->p.calls) < NODES) {
		uint32_t parent = roll_parent(t, &seed), id;
		uint32_t thread = dw_calls_get(&t->p.calls, parent)->thread;

		id = mk_call(&t->p, thread, parent, t->entry[roll(&seed, FUNCTIONS)],
			     roll(&seed, 3) ? t->site[roll(&seed, SITES)] : 0, 0);
		t->depth[id] = t->depth[parent] + 1;
	}
	for (uint32_t s = 0; s < SLICES; s++)
		for (uint32_t id = 1; id <= NODES; id++)
			if (!roll(&seed, 2))
				mk_delta(&t->p, s, id, random_values(&seed));
}

/* What a plain count looks for on a node's path. */
struct wanted {
	uint32_t process;
	uint32_t module;   /* when asks_module */
	uint32_t function; /* frame of its entry, when not 0 */
	uint32_t caller;   /* with function, when asks_edge: frame, 0 = a root */
	uint32_t site;	   /* when not 0 */
	bool asks_module, asks_edge;
};

static bool fits(const struct forest *t, const struct wanted *w, uint32_t id)
{
	const struct dw_call_node *n = dw_calls_get(&t->p.calls, id);

	if (n->flags & DWELL_CALL_ROOT)
		return false;
	if (w->asks_module)
		return dw_frames_get(&t->p.frames, n->entry)->module == w->module;
	if (w->site)
		return n->site == w->site;
	if (w->asks_edge && dw_calls_get(&t->p.calls, n->parent)->entry != w->caller)
		return false;
	return n->entry == w->function;
}

/* The values of @w by looking at all nodes' paths. */
static struct dw_call_total plain_count(const struct forest *t, const struct wanted *w)
{
	struct dw_call_total sum = {0};

	dw_vec_each(d, &t->p.calls.deltas) {
		uint32_t on_path = 0, thread = dw_calls_get(&t->p.calls, d->node)->thread;
		bool own = fits(t, w, d->node);

		if (dw_threads_get(&t->p.threads, thread)->process != w->process)
			continue;
		for (uint32_t id = d->node; id; id = dw_calls_get(&t->p.calls, id)->parent)
			on_path += fits(t, w, id);
		if (on_path)
			dw_call_values_add(&sum.inclusive, &d->values);
		if (own)
			dw_call_values_add(&sum.exclusive, &d->values);
		if (own && on_path == 1)
			sum.outer_calls += d->values.calls;
	}
	sum.inclusive.calls = sum.exclusive.calls;
	return sum;
}

static bool is_equal_total(const struct dw_call_total *a, const struct dw_call_total *b)
{
	return !memcmp(&a->inclusive, &b->inclusive, sizeof a->inclusive) &&
	       !memcmp(&a->exclusive, &b->exclusive, sizeof a->exclusive) &&
	       a->outer_calls == b->outer_calls;
}

/* Frame of the entry of @function. */
static uint32_t entry_of(const struct forest *t, uint32_t function)
{
	return function && function <= FUNCTIONS ? t->entry[function - 1] : 0;
}

/* Whether rows say of @w what the plain count says. */
static bool is_right(const struct forest *t, const struct dw_totals *totals, uint32_t calls,
		     const struct wanted *w)
{
	struct dw_call_total want = plain_count(t, w);

	if (w->site)
		want.exclusive = (struct dw_call_values){.calls = want.exclusive.calls};
	return is_equal_total(total_at(&totals->amounts, calls), &want);
}

static bool are_flat_rows_right(const struct forest *t, const struct dw_totals *totals)
{
	bool ok = true;

	dw_vec_each(row, &totals->functions) {
		struct wanted w = {.process = row->lane, .function = entry_of(t, row->function)};

		ok = ok && (!w.function || is_right(t, totals, row->amounts, &w));
	}
	dw_vec_each(row, &totals->modules) {
		struct wanted w = {
			.process = row->lane, .module = row->module, .asks_module = true};

		ok = ok && (row->module == (uint32_t)DWELL_MODULE_ROOT ||
			    is_right(t, totals, row->amounts, &w));
	}
	dw_vec_each(row, &totals->edges) {
		struct wanted w = {.process = row->lane,
				   .function = entry_of(t, row->callee),
				   .caller = entry_of(t, row->caller),
				   .asks_edge = true};

		ok = ok && is_right(t, totals, row->amounts, &w);
	}
	dw_vec_each(row, &totals->instructions) {
		struct wanted w = {.process = row->lane, .site = row->frame};

		ok = ok && is_right(t, totals, row->amounts, &w);
	}
	return ok;
}

/* Sums of exclusive values of all rows are those of everything; what was truncated has no calls in
 * the tree. */
static bool do_rows_add_up(const struct dw_totals *t, dw_measures measures)
{
	struct dw_call_values functions = {0}, modules = {0}, nodes = {0}, threads = {0};
	struct dw_amounts sum = {0};
	uint64_t all[DWELL_MEASURES];

	dw_vec_each(row, &t->functions)
		dw_call_values_add(&functions, &total_at(&t->amounts, row->amounts)->exclusive);
	dw_vec_each(row, &t->modules)
		dw_call_values_add(&modules, &total_at(&t->amounts, row->amounts)->exclusive);
	for (uint32_t i = 0; i < t->nodes.n; i++)
		dw_call_values_add(&nodes, &node_total(t, i)->exclusive);
	dw_vec_each(row, &t->threads)
		dw_call_values_add(&threads, &total_at(&t->amounts, row->amounts)->exclusive);
	nodes.calls = functions.calls;
	dw_amounts_init(&sum, measures, 0);
	row_put_calls(&sum, &functions, &functions, (struct row_calls){.calls = functions.calls});
	dw_amounts_pop(&sum, all);
	dw_amounts_release(&sum);
	return !memcmp(all, t->all, sizeof all) &&
	       !memcmp(&modules, &functions, sizeof functions) &&
	       !memcmp(&nodes, &functions, sizeof functions) &&
	       !memcmp(&threads, &functions, sizeof functions);
}

TEST(flat_totals_equal_a_plain_count)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct forest t;
		struct dw_totals totals = {0};

		make_forest(&t, seed);
		CHECK_INT(dw_totals_compute(&t.p, &each_process, DWELL_TOTALS_ALL, &totals), 0);
		CHECK(totals.functions.n > 2 * FUNCTIONS);
		CHECK(are_flat_rows_right(&t, &totals));
		CHECK(do_rows_add_up(&totals, dw_profile_measures(&t.p)));
		dw_totals_release(&totals);
		dw_profile_release(&t.p);
	}
}

/* The node of the call tree that the call node @id belongs to, by walking down from the root. */
static uint32_t tree_node(const struct forest *t, const struct dw_totals *totals, uint32_t id)
{
	const struct dw_call_node *n = dw_calls_get(&t->p.calls, id);
	const struct dw_thread *thread = dw_threads_get(&t->p.threads, n->thread);
	uint32_t up = n->parent ? tree_node(t, totals, n->parent) : UINT32_MAX;

	for (uint32_t i = 0; i < totals->nodes.n; i++) {
		const struct dw_node_total *row = &totals->nodes.v[i];
		const struct dw_node_total *above =
			row->parent == UINT32_MAX ? NULL : &totals->nodes.v[row->parent];

		if (n->parent
			    ? row->parent == up && entry_of(t, row->function) == n->entry
			    : above && thread_of(totals, i) && above->lane == thread->process &&
				      dw_threads_get(&t->p.threads, thread_of(totals, i))->start ==
					      thread->start)
			return i;
	}
	return UINT32_MAX;
}

TEST(the_call_tree_merges_sites_and_threads)
{
	struct forest t;
	struct dw_totals totals = {0};
	struct dw_call_total *want;

	make_forest(&t, 42);
	CHECK_INT(dw_totals_compute(&t.p, &each_process, DWELL_TOTALS_NODES, &totals), 0);
	want = calloc(totals.nodes.n, sizeof *want);
	dw_vec_each(d, &t.p.calls.deltas) {
		uint32_t i = tree_node(&t, &totals, d->node);

		CHECK(i != UINT32_MAX);
		dw_call_values_add(&want[i].exclusive, &d->values);
		want[i].outer_calls += d->values.calls;
		for (; i != UINT32_MAX; i = totals.nodes.v[i].parent)
			dw_call_values_add(&want[i].inclusive, &d->values);
	}
	for (size_t i = 0; i < totals.nodes.n; i++) {
		want[i].inclusive.calls = want[i].exclusive.calls;
		CHECK(is_equal_total(node_total(&totals, (uint32_t)i), &want[i]));
	}
	free(want);
	dw_totals_release(&totals);
	dw_profile_release(&t.p);
}

TEST(first_rows_of_a_tree_need_no_others)
{
	struct forest t;
	struct dw_totals all = {0}, some = {0};

	make_forest(&t, 6);
	CHECK_INT(dw_totals_compute(&t.p, &each_process, DWELL_TOTALS_NODES, &all), 0);
	for (size_t rows = 1; rows <= 64; rows++) {
		struct dw_filter filter = {.by = DWELL_BY_PROCESS, .focus.rows = rows};

		CHECK_INT(dw_totals_compute(&t.p, &filter, DWELL_TOTALS_NODES, &some), 0);
		CHECK(rows_agree(&all, &some, rows));
		CHECK(some.nodes.n < all.nodes.n);
	}
	dw_totals_release(&all);
	dw_totals_release(&some);
	dw_profile_release(&t.p);
}

/* Trees that nobody looks at in full have the same values where they have nodes. */
TEST(pruned_trees_keep_their_values)
{
	struct dw_filter small = {.by = DWELL_BY_PROCESS, .focus.min_pct = 5},
			 hot = {.by = DWELL_BY_PROCESS, .focus.hot_path = true};
	struct dw_filter below = {.by = DWELL_BY_PROCESS, .focus.root = 3};
	struct forest t;
	struct dw_totals all = {0}, some = {0};
	uint64_t inclusive = 0, expected = 0;

	make_forest(&t, 5);
	CHECK_INT(dw_totals_compute(&t.p, &each_process,
				    DWELL_TOTALS_NODES | DWELL_TOTALS_FUNCTIONS, &all),
		  0);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(dw_totals_compute(&t.p, i ? &hot : &small, DWELL_TOTALS_NODES, &some), 0);
		CHECK(some.nodes.n > 3 && some.nodes.n < all.nodes.n / 4);
		CHECK(some.branches_left_out > 0);
		dw_vec_each(row, &some.nodes) {
			bool found = false;

			dw_vec_each(other, &all.nodes)
				found = found ||
					(other->function == row->function &&
					 other->level == row->level &&
					 is_equal_total(
						 node_total(&some, (uint32_t)(row - some.nodes.v)),
						 node_total(&all,
							    (uint32_t)(other - all.nodes.v))));
			CHECK(found);
		}
	}
	CHECK_INT(dw_totals_compute(&t.p, &below, DWELL_TOTALS_NODES, &some), 0);
	dw_vec_each(row, &some.nodes)
		if (row->parent == UINT32_MAX)
			inclusive += node_total(&some, (uint32_t)(row - some.nodes.v))
					     ->inclusive.overhead_ns;
	dw_vec_each(row, &all.functions)
		if (row->function == 3)
			expected += total_at(&all.amounts, row->amounts)->inclusive.overhead_ns;
	CHECK_INT(inclusive, expected);
	dw_totals_release(&all);
	dw_totals_release(&some);
	dw_profile_release(&t.p);
}

/* ---- Trees whose memory was used up ---- */

/* Whether an activation of @id is the outermost of its kind on its path. */
static bool is_outermost(const struct forest *t, uint32_t id, uint32_t flag)
{
	const struct dw_call_node *n = dw_calls_get(&t->p.calls, id);
	struct wanted w = {.function = n->entry};

	if (flag == DWELL_CALL_OUTERMOST_MODULE)
		w = (struct wanted){.asks_module = true,
				    .module = dw_frames_get(&t->p.frames, n->entry)->module};
	if (flag == DWELL_CALL_OUTERMOST_EDGE) {
		w.asks_edge = true;
		w.caller = dw_calls_get(&t->p.calls, n->parent)->entry;
	}
	for (id = n->parent; id; id = dw_calls_get(&t->p.calls, id)->parent)
		if (fits(t, &w, id))
			return false;
	return true;
}

/* The overflow node for the call node @id of @t, of kind @flags, in @cut; made when new. */
static uint32_t overflow_node(const struct forest *t, struct forest *cut, uint32_t id,
			      uint32_t flags)
{
	static const uint32_t kinds[] = {DWELL_CALL_OUTERMOST_FUNCTION, DWELL_CALL_OUTERMOST_MODULE,
					 DWELL_CALL_OUTERMOST_EDGE};
	const struct dw_call_node *n = dw_calls_get(&t->p.calls, id);
	struct dw_call_node want = {.thread = n->thread,
				    .parent = n->thread,
				    .entry = n->entry,
				    .caller = dw_calls_get(&t->p.calls, n->parent)->entry,
				    .flags = DWELL_CALL_OVERFLOW | flags};

	for (int i = 0; i < 3; i++)
		if (is_outermost(t, id, kinds[i]))
			want.flags |= kinds[i];
	for (uint32_t i = 1; i <= dw_calls_count(&cut->p.calls); i++)
		if (!memcmp(dw_calls_get(&cut->p.calls, i), &want, sizeof want))
			return i;
	if (dw_calls_add(&cut->p.calls, &want, &id))
		abort();
	return id;
}

/* The child of @parent for what had no room. */
static uint32_t truncated_node(struct forest *cut, uint32_t parent)
{
	for (uint32_t i = 1; i <= dw_calls_count(&cut->p.calls); i++)
		if (dw_calls_get(&cut->p.calls, i)->parent == parent &&
		    dw_calls_get(&cut->p.calls, i)->flags == DWELL_CALL_TRUNCATED)
			return i;
	return mk_call(&cut->p, dw_calls_get(&cut->p.calls, parent)->thread, parent, 0, 0,
		       DWELL_CALL_TRUNCATED);
}

/* Make @cut what a target would have said of @t with room for only the nodes up to @room. */
static void cut_forest(const struct forest *t, struct forest *cut, uint32_t room)
{
	for (uint32_t id = 1; id <= room; id++) {
		const struct dw_call_node *n = dw_calls_get(&t->p.calls, id);

		mk_call(&cut->p, n->thread, n->parent, n->entry, 0, n->flags);
	}
	dw_vec_each(d, &t->p.calls.deltas) {
		struct dw_call_values time = d->values;
		uint32_t at = d->node;

		if (at <= room) {
			mk_delta(&cut->p, 0, at, d->values);
			continue;
		}
		mk_delta(&cut->p, 0, overflow_node(t, cut, at, 0), d->values);
		for (; at > room; at = dw_calls_get(&t->p.calls, at)->parent) {
			mk_delta(&cut->p, 0, overflow_node(t, cut, at, DWELL_CALL_INCLUSIVE), time);
			time.calls = 0;
		}
		mk_delta(&cut->p, 0, truncated_node(cut, at), time);
	}
}

TEST(truncated_trees_equal_full_ones)
{
	struct forest t, cut;
	struct dw_totals totals = {0};
	uint32_t truncated = 0;

	make_forest(&t, 11);
	make_forest(&cut, 11);
	dw_calls_release(&cut.p.calls);
	mk_slice(&cut.p, 1000);
	cut_forest(&t, &cut, NODES / 3);
	CHECK_INT(dw_totals_compute(&cut.p, &each_process,
				    DWELL_TOTALS_ALL & ~(unsigned)DWELL_TOTALS_INSTRUCTIONS,
				    &totals),
		  0);
	CHECK(are_flat_rows_right(&t, &totals));
	CHECK(do_rows_add_up(&totals, dw_profile_measures(&t.p)));
	dw_vec_each(row, &totals.nodes)
		truncated += row->function == (uint32_t)DWELL_FUNCTION_TRUNCATED;
	CHECK(truncated > 10);
	dw_totals_release(&totals);
	dw_profile_release(&t.p);
	dw_profile_release(&cut.p);
}

TEST_MAIN()
