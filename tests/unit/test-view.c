/* Views: column names, sorting, trees of any depth, rows of every view on an empty profile. */
#include "analysis/cct.h"
#include "analysis/totals.h"
#include "check.h"
#include "maker.h"
#include "model/amounts.h"
#include "row-amounts.h"
#include "view/view.h"

TEST(columns_have_keys_and_are_found_by_both)
{
	static const struct {
		enum dw_column column;
		const char *title, *key;
	} cases[] = {
		{DWELL_COLUMN_INCLUSIVE_PCT, "Inclusive Samples %", "inclusive_samples_percent"},
		{DWELL_COLUMN_PROCESS_ID, "Process ID", "process_id"},
		{DWELL_COLUMN_FUNCTION_LINE, "Function Line Number", "function_line_number"},
	};

	struct dw_profile none = DW_PROFILE_INIT;
	enum dw_column functions[DWELL_COLUMNS_N];

	dw_view_columns(&dw_view_functions, &none, DWELL_BY_PROCESS, false, functions);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char key[DWELL_KEY_MAX_BYTES];

		dw_column_key(cases[i].column, key);
		CHECK_STR(key, cases[i].key);
		CHECK_STR(dw_column_info(cases[i].column)->title, cases[i].title);
		CHECK_INT(dw_column_find(functions, cases[i].title, strlen(cases[i].title)),
			  cases[i].column);
		CHECK_INT(dw_column_find(functions, cases[i].key, strlen(cases[i].key)),
			  cases[i].column);
	}
	CHECK_INT(dw_column_find(functions, "level", 5), DWELL_COLUMN_END);
	/* What tables print. */
	CHECK_INT(dw_column_find(functions, "Excl %", 6), DWELL_COLUMN_EXCLUSIVE_PCT);
	CHECK_INT(dw_column_find(functions, "exclusive", 9), DWELL_COLUMN_EXCLUSIVE);
	CHECK_INT(dw_column_find(functions, "module name", 11), DWELL_COLUMN_MODULE_NAME);
	CHECK_INT(dw_column_find(functions, "", 0), DWELL_COLUMN_END);
}

TEST(every_column_has_a_title_and_a_key_of_its_own)
{
	char keys[DWELL_COLUMNS_N][DWELL_KEY_MAX_BYTES];

	for (int c = 1; c < DWELL_COLUMNS_N; c++) {
		dw_column_key((enum dw_column)c, keys[c]);
		CHECK(keys[c][0]);
		for (int other = 1; other < c; other++)
			CHECK(strcmp(keys[c], keys[other]) != 0);
	}
}

static dw_measures measures_of_calls(void)
{
	return ((dw_measures)2 << DWELL_MEASURE_BLOCKING_CALLS) -
	       ((dw_measures)1 << DWELL_MEASURE_BLOCKED);
}

/* A session may hold any mix: one row has all that was measured of its subject. */
TEST(amounts_of_any_measures_stand_side_by_side)
{
	const struct dw_call_values all = {.elapsed_ns = 7, .application_ns = 7, .delimited_ns = 7},
				    io = {.elapsed_ns = 5, .io_calls = 1}, none = {0};
	const struct dw_alloc_values objects = {.allocated = {3, 40},
						.collected[DWELL_GENERATION_LARGE] = {1, 30}};
	const dw_measures set = (dw_measures)1 << DWELL_MEASURE_SAMPLES |
				(dw_measures)1 << DWELL_MEASURE_OBJECTS | measures_of_calls();
	struct dw_measured m = {.row = 1};
	struct dw_amounts a = {0};
	struct dw_amount amount;
	uint64_t n = 0;

	dw_amounts_init(&a, set, 0);
	CHECK(dw_amounts_push(&a) == 0 &&
	      row_put_calls(&a, &none, &none, (struct row_calls){9, 4, 2}) == 1);
	m.table = &a;
	dw_amount_of_calls(&a, &all, &amount);
	CHECK_INT(dw_amounts_add(&a, 1, &amount, DWELL_BOTH), 0);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_APPLICATION, true), 7);
	dw_amount_of_calls(&a, &io, &amount);
	CHECK_INT(dw_amounts_add(&a, 1, &amount, DWELL_EXCLUSIVE), 0);
	dw_amount_of_allocs(&a, &objects, &amount);
	CHECK_INT(dw_amounts_add(&a, 1, &amount, DWELL_INCLUSIVE), 0);
	dw_amounts_common(&a, 1, DWELL_MEASURE_SAMPLES)->inclusive = 11;
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_ELAPSED, true), 12);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_APPLICATION, true), 7);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_IO_CALLS, true), 1);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_CALLS, false), 9);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_OUTER_CALLS, false), 4);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_MEASURED, false), 7);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_SAMPLES, false), 11);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_OBJECTS_ALIVE, false), 2);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_BYTES_LARGE, false), 30);
	CHECK(!dw_measured_value(&m, DWELL_MEASURE_BYTES_BEFORE, false, &n)); /* no range */
	m.is_site = true;
	CHECK(!dw_measured_value(&m, DWELL_MEASURE_ELAPSED, true, &n));
	m.row = 0; /* nothing of it is anybody else's */
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_ELAPSED, false), 0);
	CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_BYTES_LARGE, false), 0);
	dw_amounts_release(&a);
}

/* A path of three nodes, the outermost first; what the operating system did in one of them is in
 * those above, whichever it was. */
TEST(rare_amounts_rise_as_all_others)
{
	const struct dw_call_values plain = {
		.calls = 2, .elapsed_ns = 10, .application_ns = 10, .delimited_ns = 10};
	const struct dw_call_values waits = {
		.calls = 1, .elapsed_ns = 6, .delimited_ns = 1, .blocked_ns = 6};

	for (uint32_t at = 0; at < 3; at++) {
		struct dw_amounts a = {0};
		struct dw_measured m = {.table = &a};
		struct dw_cct t;

		dw_amounts_init(&a, measures_of_calls(), 0);
		CHECK_INT(dw_cct_init(&t, 3, &a), 0);
		for (uint32_t id = 0; id < 3; id++)
			t.parent[id] = id ? id - 1 : DWELL_CCT_NONE;
		dw_cct_mark(&t, 2);
		CHECK(!dw_cct_order(&t) && t.n == 3);
		for (uint32_t id = 0; id < 3; id++) {
			struct dw_amount amount;

			dw_amount_of_calls(&a, id == at ? &waits : &plain, &amount);
			CHECK_INT(dw_cct_add(&t, id, &amount), 0);
		}
		CHECK_INT(dw_cct_sum(&t), 0);
		for (uint32_t p = 0; p < 3; p++) {
			CHECK_INT(dw_amounts_push(&a), p);
			CHECK(!dw_cct_add_all(&t, p, &a, p) && !dw_cct_add_own(&t, p, &a, p));
		}
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_ELAPSED, false), 26);
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_APPLICATION, false), 20);
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_DELIMITED, false), 21);
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_BLOCKED, false), 6);
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_ELAPSED, true), at ? 10 : 6);
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_OUTER_CALLS, false), at ? 2 : 1);
		m.row = 2;
		CHECK_INT(dw_measured_get(&m, DWELL_MEASURE_BLOCKED, false), at == 2 ? 6 : 0);
		dw_cct_release(&t);
		dw_amounts_release(&a);
	}
}

TEST(views_of_nothing_are_empty)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_view_request request = {.profile = &p, .totals = &t, .function = 1};

	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	for (size_t i = 0; dw_views[i]; i++) {
		struct dw_view v;

		CHECK_INT(dw_view_open(&v, dw_views[i], &request), 0);
		CHECK_INT(v.n, 0);
		dw_view_release(&v);
		CHECK(dw_view_find(dw_views[i]->name) == dw_views[i]);
	}
	CHECK(!dw_view_find("nonsense"));
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* Text or number of a cell, as text in @ret. */
static const char *cell_text(const struct dw_view *v, size_t row, enum dw_column column, char *ret)
{
	struct dw_buf scratch[2] = {DW_BUF_INIT, DW_BUF_INIT};
	struct dw_cell c;
	struct dw_row r;

	dw_view_row(v, row, &scratch[0], &r);
	dw_view_cell(v, &r, column, &scratch[1], &c);
	if (c.kind == DWELL_CELL_TEXT)
		snprintf(ret, 200, "%s", c.text);
	else
		snprintf(ret, 200, "%" PRIu64, c.number);
	dw_buf_release(&scratch[0]);
	dw_buf_release(&scratch[1]);
	return ret;
}

/* Three functions: b 5 samples, a 3, c 3. */
static void make_three(struct dw_profile *p)
{
	static const struct {
		const char *name;
		size_t n;
	} rows[] = {{"b", 5}, {"c", 3}, {"a", 3}};
	uint32_t m = mk_module(p, "prog"), t = mk_process(p, 9, "prog");

	for (size_t i = 0; i < 3; i++) {
		uint32_t f = mk_function(p, m, rows[i].name, "x.c", 1);
		uint32_t frame = mk_plain_frame(p, f, 0, 2);

		mk_samples(p, t, mk_stack(p, &frame, 1), rows[i].n);
	}
}

TEST(rows_sort_by_any_column_both_ways)
{
	static const struct {
		enum dw_column column;
		bool reverse;
		const char *order;
	} cases[] = {
		{DWELL_COLUMN_END, false, "bca"},
		{DWELL_COLUMN_EXCLUSIVE_PCT, true, "cab"},
		{DWELL_COLUMN_FUNCTION_NAME, false, "abc"},
		{DWELL_COLUMN_FUNCTION_NAME, true, "cba"},
		{DWELL_COLUMN_FUNCTION_ADDRESS, false, "bca"},
		{DWELL_COLUMN_FUNCTION_ADDRESS, true, "acb"},
	};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};

	make_three(&p);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_FUNCTIONS, &t), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_view_request request = {.profile = &p,
						  .totals = &t,
						  .sort = cases[i].column,
						  .reverse = cases[i].reverse};
		char text[200], order[4] = "";
		struct dw_view v;

		CHECK_INT(dw_view_open(&v, &dw_view_functions, &request), 0);
		for (size_t row = 0; row < v.n; row++)
			strcat(order, cell_text(&v, row, DWELL_COLUMN_FUNCTION_NAME, text));
		dw_view_release(&v);
		CHECK_STR(order, cases[i].order);
	}
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* Who asked for waits looks for the longest; where nobody waited samples count. */
/* Waits and samples of time are one order, the more of either the earlier. */
TEST(rows_sort_by_processor_time_and_waits_together)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_extra wait = {
		.span_ns = 1600000, .n = 1600000, .measure = DWELL_MEASURE_BLOCKED, .thread = 1};

	make_three(&p);
	CHECK_INT(dw_facts_set_text(&p.facts, "off_cpu", "switches"), 0);
	CHECK_INT(dw_facts_set_text(&p.facts, "event", "cpu-clock"), 0);
	CHECK_INT(dw_facts_set(&p.facts, "frequency_hz", 1000), 0);
	wait.stack = p.samples.stack[p.samples.n - 1];
	for (uint64_t waits = 0; waits < 3; waits++) {
		struct dw_view_request request = {.profile = &p, .totals = &t};
		char text[200];
		struct dw_view v;

		CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_FUNCTIONS, &t), 0);
		CHECK(dw_totals_has_waits(&t));
		CHECK_INT(dw_view_open(&v, &dw_view_functions, &request), 0);
		CHECK_STR(cell_text(&v, 0, DWELL_COLUMN_FUNCTION_NAME, text),
			  waits > 1 ? "a" : "b");
		CHECK_INT(t.all[DWELL_MEASURE_WORK],
			  t.all[DWELL_MEASURE_SAMPLES] * 1000000 + waits * 1600000);
		CHECK_INT(dw_view_sorted_by(&v), DWELL_COLUMN_WORK_EXCLUSIVE);
		dw_view_release(&v);
		dw_totals_release(&t);
		CHECK_INT(dw_vec_push(&p.extras.rows, wait), 0);
	}
	dw_profile_release(&p);
}

TEST(trees_may_be_very_deep)
{
	enum { DEPTH = 20000 };
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_view_request request = {.profile = &p, .totals = &t};
	struct dw_view v;
	uint32_t m = mk_module(&p, "prog"), thread = mk_process(&p, 9, "prog");
	uint32_t frame = mk_plain_frame(&p, mk_function(&p, m, "descend", "x.c", 1), 0, 2);
	uint32_t *frames = malloc(DEPTH * sizeof *frames);
	char text[200];

	for (size_t i = 0; i < DEPTH; i++)
		frames[i] = frame;
	mk_samples(&p, thread, mk_stack(&p, frames, DEPTH), 7);
	free(frames);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(dw_totals_values(&t, t.functions.v[0].amounts)->inclusive, 7);
	CHECK_INT(dw_view_open(&v, &dw_view_calltree, &request), 0);
	CHECK_INT(v.n, DEPTH + 1);
	CHECK_STR(cell_text(&v, DEPTH, DWELL_COLUMN_LEVEL, text), "20000");
	dw_view_release(&v);
	request.pruning = (struct dw_prune_options){.trim_pct = 1, .fold = true};
	CHECK_INT(dw_view_open(&v, &dw_view_calltree, &request), 0);
	CHECK_INT(v.n, 2);
	CHECK_STR(cell_text(&v, 1, DWELL_COLUMN_EXCLUSIVE, text), "7");
	dw_view_release(&v);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
