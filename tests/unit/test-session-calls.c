/* Unit tests of src/session: sessions that hold calls. */
#include "check.h"
#include "row-amounts.h"
#include "scratch.h"

#include "recorded.h"
#include "reload.h"
#include "session/read.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct synthetic calls = SYNTHETIC_CALLS;

TEST(partial_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&calls, "a.dwell", 3, false, &err), 0);
	CHECK_INT(dw_session_load("a.dwell.partial", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&calls, false, &want), 0);
	CHECK(want.calls.deltas.n > want.calls.nodes.n);
	CHECK_STR(recorded_difference(&got, &want), "none");
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(finished_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&calls, "b.dwell", 6, true, &err), 0);
	CHECK_INT(dw_session_load("b.dwell", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&calls, true, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(
		recorded_query("b.dwell", "SELECT count(*) FROM chunk WHERE kind = 'call_deltas'"),
		1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Whether a process of its own loads @partial to finish it within @kb. */
static bool is_small(const char *partial, long kb)
{
	struct dw_profile p = DW_PROFILE_INIT;
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		long before_kb = peak_kb();
		int rc = dw_session_load_to_finish(partial, &p, NULL, NULL);

		_exit(rc || p.calls.deltas.n || (!IS_SANITIZED && peak_kb() - before_kb > kb));
	}
	waitpid(pid, &status, 0);
	return !status;
}

/* Those of the last slice are a large chunk, which goes over as it is; others are put together. A
 * quarter of a million deltas of 88 bytes are not in memory. */
TEST(large_sessions_are_finished_without_their_deltas)
{
	static const struct synthetic large = {.stacks = 1,
					       .depth = 2,
					       .addresses = 500,
					       .functions = 120,
					       .modules = 5,
					       .threads = 4,
					       .processes = 2,
					       .rate_hz = 1,
					       .seed = 1,
					       .call_nodes = 200000,
					       .slices = 5};
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&large, "l.dwell", 5, false, &err), 0);
	CHECK(is_small("l.dwell.partial", 26 << 10));
	CHECK_INT(recorded_finish(&large, "l.dwell.partial", "l.dwell", &err), 0);
	CHECK_INT(dw_session_load("l.dwell", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&large, true, &want), 0);
	CHECK(want.calls.deltas.n > 250000);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(
		recorded_query("l.dwell", "SELECT count(*) FROM chunk WHERE kind = 'call_deltas'"),
		2);
	CHECK_INT(recorded_query("l.dwell", "SELECT count(*) FROM chunk WHERE kind = 'call_nodes'"),
		  1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

/* The first node whose sum in @summed is not that of its rows in @all; 0 = none. */
static uint32_t wrong_sum(const struct dw_calls *all, const struct dw_calls *summed)
{
	struct dw_call_values *sums = calloc(all->nodes.n, sizeof *sums);
	uint32_t wrong = 0;

	dw_vec_each(d, &all->deltas)
		dw_call_values_add(&sums[d->node - 1], &d->values);
	for (uint32_t i = 0; i < all->nodes.n && !wrong; i++) {
		struct dw_call_values sum = dw_call_store_get(&summed->sums, i);

		if (memcmp(&sum, &sums[i], sizeof sum))
			wrong = i + 1;
	}
	free(sums);
	return wrong;
}

TEST(slices_are_added_up_for_who_wants_no_ranges)
{
	struct dw_session_range whole = {0};
	struct dw_profile all = DW_PROFILE_INIT, summed = DW_PROFILE_INIT;

	CHECK_INT(recorded_session(&calls, "sum.dwell", 4, false, NULL), 0);
	CHECK_INT(dw_session_load("sum.dwell.partial", &all, NULL, NULL), 0);
	CHECK_INT(dw_session_load_summed("sum.dwell.partial", &whole, &summed, NULL, NULL), 0);
	CHECK_INT(summed.calls.nodes.n, 1000);
	CHECK(dw_calls_summed(&summed.calls) && !summed.calls.deltas.n);
	CHECK_INT(summed.calls.slices.n, 1);
	CHECK_INT(summed.calls.slices.v[0].end_ns, all.calls.slices.v[5].end_ns);
	CHECK_INT(wrong_sum(&all.calls, &summed.calls), 0);
	dw_profile_release(&all);
	dw_profile_release(&summed);
}

/* Of @all the slices that a report of @range takes, summed up by the loader and by hand. */
TEST(only_a_range_is_added_up)
{
	struct dw_session_range range = {.from_ns = 0};
	struct dw_profile all = DW_PROFILE_INIT, summed = DW_PROFILE_INIT;
	struct dw_range_ns came_to;
	uint8_t selected[6];
	size_t kept = 0;

	CHECK_INT(recorded_session(&calls, "range.dwell", 4, false, NULL), 0);
	CHECK_INT(dw_session_load("range.dwell.partial", &all, NULL, NULL), 0);
	CHECK_INT(all.calls.slices.n, 6);
	range.from_ns = all.calls.slices.v[1].end_ns + 10;
	range.to_ns = all.calls.slices.v[3].end_ns - 10;
	dw_calls_select(&all.calls, range.from_ns, range.to_ns, selected, &came_to);
	CHECK_INT(memcmp(selected, (uint8_t[]){0, 0, 1, 1, 0, 0}, sizeof selected), 0);
	CHECK_INT(came_to.min_ns, all.calls.slices.v[1].end_ns);
	CHECK_INT(came_to.max_ns, all.calls.slices.v[3].end_ns);
	CHECK_INT(dw_session_load_summed("range.dwell.partial", &range, &summed, NULL, NULL), 0);
	CHECK_INT(summed.calls.slices.n, 6);
	CHECK(dw_calls_summed(&summed.calls));
	dw_vec_each(d, &all.calls.deltas) {
		if (selected[d->slice])
			all.calls.deltas.v[kept++] = *d;
	}
	CHECK(kept && kept < all.calls.deltas.n);
	all.calls.deltas.n = kept;
	CHECK_INT(wrong_sum(&all.calls, &summed.calls), 0);
	dw_profile_release(&all);
	dw_profile_release(&summed);
}

TEST(only_sessions_with_calls_have_the_new_version)
{
	static const struct synthetic samples = SYNTHETIC_SMALL;

	CHECK_INT(recorded_session(&samples, "v1.dwell", 1, true, NULL), 0);
	CHECK_INT(recorded_query("v1.dwell", "PRAGMA user_version"), 1);
	CHECK_INT(recorded_session(&calls, "v4.dwell", 1, false, NULL), 0);
	CHECK_INT(recorded_query("v4.dwell.partial", "PRAGMA user_version"), 4);
	CHECK_INT(recorded_finish(&calls, "v4.dwell.partial", "v4.dwell", NULL), 0);
	CHECK_INT(recorded_query("v4.dwell", "PRAGMA user_version"), 4);
}

TEST(any_value_is_kept)
{
	struct dw_profile p = DW_PROFILE_INIT, again = DW_PROFILE_INIT;
	struct dw_call_values odd = {
		.calls = 1,
		.elapsed_ns = UINT64_MAX,
		.delimited_ns = UINT64_MAX,
		.overhead_ns = 1ull << 63,
		.blocked_ns = UINT64_MAX,
		.os_cpu_ns = UINT64_MAX,
		.switches = 7,
		.io_calls = 8,
		.blocking_calls = UINT64_MAX,
	};

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	dw_facts_release(&p.facts); /* they are encoded apart */
	p.calls.slow.v[0].exclusive = odd;
	odd.ready_ns = UINT64_MAX - 1; /* of deltas alone */
	p.calls.deltas.v[5].values = odd;
	p.calls.extremes.v[0].values.elapsed_exclusive = (struct dw_range_ns){UINT64_MAX, 3};
	p.calls.slow.v[0].io_ns = UINT64_MAX;
	p.calls.slices.v[5].end_ns = UINT64_MAX;
	CHECK_INT(reload_into(&p, &again), 0);
	CHECK_STR(recorded_difference(&p, &again), "none");
	dw_profile_release(&again);
	dw_profile_release(&p);
}

TEST(rows_of_activations_replace_earlier_ones)
{
	struct dw_profile p = DW_PROFILE_INIT, again = DW_PROFILE_INIT;
	struct dw_call_extremes e;
	struct dw_call_slow slow;

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	dw_facts_release(&p.facts);
	e = p.calls.extremes.v[1];
	slow = p.calls.slow.v[2];
	e.values.elapsed_exclusive.max_ns = 123;
	slow.switched_ns = 456;
	CHECK_INT(dw_vec_push(&p.calls.extremes, e), 0);
	CHECK_INT(dw_vec_push(&p.calls.slow, slow), 0);
	CHECK_INT(reload_into(&p, &again), 0);
	p.calls.extremes.v[1] = e;
	p.calls.slow.v[2] = slow;
	p.calls.extremes.n--;
	p.calls.slow.n--;
	CHECK_STR(recorded_difference(&p, &again), "none");
	dw_profile_release(&again);
	dw_profile_release(&p);
}

/* The id of a node whose flags are exactly @flags, behind the roots. */
static uint32_t node_with(const struct dw_calls *t, uint32_t flags)
{
	uint32_t id = 10;

	while (dw_calls_get(t, id)->flags != flags)
		id++;
	return id;
}

TEST(links_between_nodes_are_checked)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_call_node *n, *overflow, *truncated;

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	n = &p.calls.nodes.v[node_with(&p.calls, 0) - 1];
	truncated = &p.calls.nodes.v[node_with(&p.calls, DWELL_CALL_TRUNCATED) - 1];
	overflow =
		&p.calls.nodes
			 .v[node_with(&p.calls, DWELL_CALL_OVERFLOW | DWELL_CALL_OUTERMOST_EDGE) -
			    1];
	CHECK_REFUSED(&p, n->thread, 0);
	CHECK_REFUSED(&p, n->thread, n->thread % 4 + 1);
	CHECK_REFUSED(&p, n->thread, 5);
	CHECK_REFUSED(&p, n->parent, 0);
	CHECK_REFUSED(&p, n->parent, n - p.calls.nodes.v + 1);
	CHECK_REFUSED(&p, n->parent, n - p.calls.nodes.v + 2);
	CHECK_REFUSED(&p, n->entry, 501);
	CHECK_REFUSED(&p, n->site, 501);
	CHECK_REFUSED(&p, n->flags, 1024);
	CHECK_REFUSED(&p, n->flags, DWELL_CALL_LINE | DWELL_CALL_EXTERNAL);
	CHECK_REFUSED(&p, truncated->flags, DWELL_CALL_LINE | DWELL_CALL_TRUNCATED);
	CHECK_REFUSED(&p, overflow->flags, DWELL_CALL_LINE);
	CHECK_REFUSED(&p, p.calls.nodes.v[0].flags, DWELL_CALL_LINE);
	CHECK_REFUSED(&p, n->flags, DWELL_CALL_ROOT);
	CHECK_REFUSED(&p, n->flags, DWELL_CALL_OUTERMOST_MODULE);
	CHECK_REFUSED(&p, n->flags, DWELL_CALL_TRUNCATED);
	CHECK_REFUSED(&p, truncated->entry, 1);
	CHECK_REFUSED(&p, truncated->flags, DWELL_CALL_TRUNCATED | DWELL_CALL_EXTERNAL);
	CHECK_REFUSED(&p, overflow->caller, 501);
	CHECK_REFUSED(&p, overflow->parent, overflow - p.calls.nodes.v);
	CHECK_REFUSED(&p, p.calls.nodes.v[0].entry, 1);
	CHECK_REFUSED(&p, p.calls.nodes.v[0].site, 1);
	dw_profile_release(&p);
}

TEST(slices_and_what_names_nodes_are_checked)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_call_delta *last;

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	last = &p.calls.deltas.v[p.calls.deltas.n - 1];
	CHECK_REFUSED(&p, last->slice, 6);
	CHECK_REFUSED(&p, last->slice, 4);
	CHECK_REFUSED(&p, last->node, 0);
	CHECK_REFUSED(&p, last->node, 1001);
	CHECK_REFUSED(&p, p.calls.slices.v[3].end_ns, 1);
	CHECK_REFUSED(&p, p.calls.slices.n, 0);
	CHECK_REFUSED(&p, p.calls.extremes.v[1].thread, 0);
	CHECK_REFUSED(&p, p.calls.extremes.v[1].thread, 5);
	CHECK_REFUSED(&p, p.calls.extremes.v[1].entry, 501);
	CHECK_REFUSED(&p, p.calls.extremes.v[1].id, 0);
	CHECK_REFUSED(&p, p.calls.extremes.v[1].id, 3);
	CHECK_REFUSED(&p, p.calls.slow.v[1].id, 0);
	CHECK_REFUSED(&p, p.calls.slow.v[0].id, 2);
	CHECK_REFUSED(&p, p.calls.slow.v[1].node, 0);
	CHECK_REFUSED(&p, p.calls.slow.v[1].node, 1001);
	dw_profile_release(&p);
}

TEST(functions_that_were_switched_off_are_kept_and_checked)
{
	struct synthetic shape = calls;
	struct dw_profile p = DW_PROFILE_INIT, got = DW_PROFILE_INIT;

	shape.disabled = 5;
	CHECK_INT(recorded_session(&shape, "disabled.dwell", 2, true, NULL), 0);
	CHECK_INT(recorded_query("disabled.dwell", "PRAGMA user_version"), 4);
	CHECK_INT(dw_session_load("disabled.dwell", &got, NULL, NULL), 0);
	CHECK_INT(recorded_expect(&shape, true, &p), 0);
	CHECK_INT(got.calls.disabled.n, 5);
	CHECK_STR(recorded_difference(&got, &p), "none");
	CHECK_REFUSED(&p, p.calls.disabled.v[1].process, 0);
	CHECK_REFUSED(&p, p.calls.disabled.v[1].process, shape.processes + 1);
	CHECK_REFUSED(&p, p.calls.disabled.v[1].entry, 501);
	CHECK_REFUSED(&p, p.calls.disabled.v[1].flags, 4);
	dw_profile_release(&got);
	dw_profile_release(&p);
}

/* Totals by hand: main calls work 4 times; 1,000 ns in all, 100 of them blocked. */
static void fill_totals(struct dw_totals *t, dw_measures measures)
{
	const struct dw_call_values all = {.calls = 5,
					   .elapsed_ns = 1000,
					   .application_ns = 800,
					   .delimited_ns = 500,
					   .overhead_ns = 50,
					   .blocked_ns = 100,
					   .os_cpu_ns = 100,
					   .switches = 3,
					   .io_calls = 2,
					   .blocking_calls = 1};
	const struct dw_call_values work = {.calls = 4, .elapsed_ns = 400, .application_ns = 200};
	const struct dw_call_values own = {.elapsed_ns = 600,
					   .application_ns = 600,
					   .switches = 3,
					   .io_calls = 2,
					   .blocking_calls = 1};
	const struct dw_call_values none = {0};
	struct dw_extreme_values values = DWELL_EXTREMES_NONE;
	uint32_t whole, part, site;

	dw_totals_init(t, measures, 0);
	row_put_calls(&t->amounts, &all, &all, (struct row_calls){5, 0, 0});
	dw_amounts_pop(&t->amounts, t->all);
	whole = row_put_calls(&t->amounts, &all, &own, (struct row_calls){5, 1, 0});
	part = row_put_calls(&t->amounts, &work, &work, (struct row_calls){4, 2, 0});
	site = row_put_calls(&t->amounts, &work, &none, (struct row_calls){4, 4, 0});
	values.elapsed_inclusive = (struct dw_range_ns){0, 1000};
	dw_vec_push(&t->extremes, values);
	dw_vec_push(&t->slow, (struct dw_slow_total){
				      .slow = 1, .process = 1, .function = 2, .amounts = part});
	dw_vec_push(&t->slow, (struct dw_slow_total){
				      .slow = 0, .process = 1, .function = 1, .amounts = whole});
	for (size_t i = 0; i < 2; i++) {
		dw_vec_push(&t->node_threads, 0);
		row_put_calls(&t->node_amounts, &all, &own, (struct row_calls){5, 5, 0});
	}
	dw_vec_push(&t->functions,
		    (struct dw_function_total){
			    .lane = 1, .function = 1, .extremes = 1, .amounts = whole});
	dw_vec_push(&t->functions,
		    (struct dw_function_total){.lane = 1, .function = 2, .amounts = part});
	dw_vec_push(&t->modules, (struct dw_module_total){
					 .lane = 1, .module = 1, .extremes = 1, .amounts = whole});
	dw_vec_push(&t->nodes, (struct dw_node_total){.parent = UINT32_MAX, .lane = 1});
	dw_vec_push(&t->nodes, (struct dw_node_total){.lane = 1, .function = 1, .level = 1});
	dw_vec_push(&t->edges,
		    (struct dw_edge_total){.lane = 1, .caller = 1, .callee = 2, .amounts = part});
	dw_vec_push(&t->lines, (struct dw_line_total){.lane = 1,
						      .function = 1,
						      .file = 1,
						      .line = 7,
						      .is_site = true,
						      .amounts = site});
	dw_vec_push(&t->processes, (struct dw_process_total){.process = 1, .amounts = whole});
	dw_vec_push(&t->threads, (struct dw_thread_total){.thread = 1, .amounts = whole});
}

/* Whether the one row of view @from where @where holds has @what. */
static bool says(const char *from, const char *where, const char *what)
{
	char sql[1024];

	snprintf(sql, sizeof sql, "SELECT count(*) = 1 AND min(%s) FROM %s WHERE %s", what, from,
		 where);
	return recorded_query("sql.dwell", sql) == 1;
}

TEST(views_have_the_values_of_calls)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals totals = {0};

	CHECK_INT(recorded_expect(&calls, true, &p), 0);
	fill_totals(&totals, dw_profile_measures(&p));
	CHECK_INT(dw_session_finish("sql.dwell.partial", "sql.dwell", &p, &totals, NULL), 0);
	CHECK(says("functions", "elapsed_exclusive_time = 600",
		   "number_of_calls = 5 AND elapsed_inclusive_time_percent = 100"
		   " AND elapsed_exclusive_time_percent = 60"
		   " AND application_exclusive_time_percent = 75"
		   " AND avg_elapsed_inclusive_time = 1000 AND avg_elapsed_exclusive_time = 120"
		   " AND max_elapsed_inclusive_time = 1000 AND min_elapsed_inclusive_time = 0"
		   " AND max_elapsed_exclusive_time IS NULL"
		   " AND min_application_inclusive_time IS NULL"
		   " AND time_inclusive_probe_overhead = 50"
		   " AND time_exclusive_probe_overhead = 0 AND inclusive_blocked_time = 100"
		   " AND inclusive_blocked_time_percent = 100 AND context_switches = 3"
		   " AND io_calls = 2 AND blocking_calls = 1"));
	CHECK(says("functions", "number_of_calls = 4",
		   "avg_application_inclusive_time = 100 AND avg_application_exclusive_time = 50"
		   " AND elapsed_inclusive_time_percent = 40"));
	CHECK(says("lines", "source_line_begin = 7",
		   "number_of_calls = 4 AND elapsed_inclusive_time = 400"
		   " AND elapsed_exclusive_time IS NULL AND time_exclusive_probe_overhead IS NULL"
		   " AND avg_elapsed_exclusive_time IS NULL AND exclusive_blocked_time IS NULL"));
	CHECK(says("calltree", "level = 1", "elapsed_exclusive_time = 600"));
	CHECK(says("callers", "type = 1 AND number_of_calls = 4", "elapsed_inclusive_time = 400"));
	CHECK(says("modules", "level = 0", "application_inclusive_time = 800"));
	CHECK_INT(recorded_query("sql.dwell", "SELECT max(level) FROM modules"), 1);
	CHECK(says("processes", "1", "elapsed_inclusive_time = 1000"));
	CHECK(says("threads", "1", "elapsed_exclusive_time = 600"));
	CHECK(says("summary", "section = 'Hot Path' AND level = 1",
		   "elapsed_inclusive_time = 1000"));
	CHECK(says("summary", "section <> 'Hot Path' AND number_of_calls = 5",
		   "number_of_processes = 1 AND elapsed_exclusive_time = 600"
		   " AND min_elapsed_inclusive_time = 0"));
	CHECK_INT(recorded_query("sql.dwell", "SELECT count(*) FROM slowest"), 2);
	CHECK(says("slowest", "blocking_call_time = 1 << 40 AND switched_away_time = 1",
		   "begin_time = 1000000 AND io_time < 1000"));
	CHECK_INT(recorded_query("sql.dwell", "SELECT begin_time FROM slowest LIMIT 1"), 1000000);
	CHECK(says("fact", "key = 'elapsed_inclusive_time'", "value = 1000"));
	dw_totals_release(&totals);
	dw_profile_release(&p);
}

TEST_MAIN()
