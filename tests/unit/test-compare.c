/* Comparisons: names across builds, which differences are real, what they are made of, conditions.
 */
#include "check.h"
#include "compare/columns.h"
#include "compare/comparison.h"
#include "compare/condition.h"
#include "compare/name.h"
#include "compare/verdict.h"
#include "format/diff.h"

#include <math.h>

/* Whether @put makes @want of @name. */
static bool becomes(int (*put)(struct dw_buf *, const char *), const char *name, const char *want)
{
	struct dw_buf b = DW_BUF_INIT;
	bool same = !put(&b, name) && !strcmp(dw_buf_str(&b), want);

	if (!same)
		printf("# %s became %s, not %s\n", name, dw_buf_str(&b), want);
	dw_buf_release(&b);
	return same;
}

TEST(modules_without_their_version)
{
	CHECK(becomes(dw_name_put_module, "libz.so.1.2.13", "libz.so"));
	CHECK(becomes(dw_name_put_module, "libz.so", "libz.so"));
	CHECK(becomes(dw_name_put_module, "libc-2.31.so", "libc.so"));
	CHECK(becomes(dw_name_put_module, "libstdc++.so.6.0.30", "libstdc++.so"));
	CHECK(becomes(dw_name_put_module, "program-2", "program-2"));
	CHECK(becomes(dw_name_put_module, "a.sound", "a.sound"));
	CHECK(becomes(dw_name_put_module, "", ""));
}

TEST(names_without_what_builds_number)
{
	static const char *const cases[][2] = {
		{"parse_line", "parse_line"},
		{"parse.constprop.0", "parse"},
		{"parse.constprop.0.isra.1", "parse"},
		{"parse.part.3.cold", "parse"},
		{"parse.llvm.1234567", "parse"},
		{"Box::get(int) [clone .constprop.0]", "Box::get(int)"},
		{"main::{lambda(int)#12}::operator()(int) const",
		 "main::{lambda(int)#}::operator()(int) const"},
		{"run()::$_3::operator()() const", "run()::$_::operator()() const"},
		{"App.Program+<>c__DisplayClass12_0.<Main>b__1",
		 "App.Program+<>c__DisplayClass.<Main>b__"},
		{"App.Program.<Main>g__Add|0_1", "App.Program.<Main>g__Add|"},
		{"App.Program+<Load>d__5.MoveNext", "App.Program+<Load>d__.MoveNext"},
		{"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
		{"app::main::{closure#0}", "app::main::{closure#}"},
		/* None of these. */
		{"version.1", "version.1"},
		{"a.party", "a.party"},
		{"table::h0123", "table::h0123"},
		{"part2", "part2"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(becomes(dw_name_put_loose, cases[i][0], cases[i][1]));
}

static uint32_t add_name(struct dw_names *n, const char *module, const char *text,
			 enum dw_side side)
{
	struct dw_name_facts facts = {.module = module, .text = text, .file = ""};
	uint32_t id = dw_names_add(n, &facts, side);

	if (id)
		dw_names_get(n, id)->has[side] = true;
	return id;
}

TEST(names_are_paired_where_there_is_one_way)
{
	struct dw_names n = {0};
	uint32_t base[8], now[8];
	bool any = false;

	base[0] = add_name(&n, "liba.so.1", "same", DWELL_SIDE_BASE);
	now[0] = add_name(&n, "liba.so.2", "same", DWELL_SIDE_NEW);
	CHECK_INT(base[0], now[0]);
	base[1] = add_name(&n, "liba.so.1", "copy.constprop.0", DWELL_SIDE_BASE);
	now[1] = add_name(&n, "liba.so.2", "copy", DWELL_SIDE_NEW);
	base[2] = add_name(&n, "liba.so.1", "moves", DWELL_SIDE_BASE);
	now[2] = add_name(&n, "libb.so", "moves", DWELL_SIDE_NEW);
	/* Two ways: neither is taken. */
	base[3] = add_name(&n, "liba.so.1", "part.part.0", DWELL_SIDE_BASE);
	base[4] = add_name(&n, "liba.so.1", "part.part.1", DWELL_SIDE_BASE);
	now[3] = add_name(&n, "liba.so.2", "part.part.2", DWELL_SIDE_NEW);
	/* The same code under another name. */
	base[5] = add_name(&n, "liba.so.1", "old_name", DWELL_SIDE_BASE);
	now[5] = add_name(&n, "liba.so.2", "fresh_name", DWELL_SIDE_NEW);
	dw_names_get(&n, base[5])->bytes = dw_names_get(&n, now[5])->bytes = 77;
	dw_names_get(&n, base[5])->calls[DWELL_SIDE_BASE] = 5;
	dw_names_get(&n, now[5])->calls[DWELL_SIDE_NEW] = 5;
	CHECK_INT(dw_names_match(&n, &any), 0);
	CHECK(any);
	for (size_t i = 1; i < 6; i++) {
		bool is_pair = i != 3 && i != 4;

		CHECK_INT(dw_names_get(&n, base[i])->same, is_pair ? now[i] : base[i]);
		if (is_pair)
			CHECK_INT(dw_names_get(&n, now[i])->other, base[i]);
	}
	CHECK_INT(dw_names_get(&n, now[3])->other, 0);
	CHECK_INT(dw_names_get(&n, now[1])->likeness, DWELL_LIKE_LOOSE);
	CHECK_INT(dw_names_get(&n, now[2])->likeness, DWELL_LIKE_MOVED);
	CHECK_INT(dw_names_get(&n, now[5])->likeness, DWELL_LIKE_CODE);
	dw_names_release(&n);
}

/* Of as much code many functions are called once; where one is declared says more. */
TEST(renamed_functions_are_known_by_their_place_or_code)
{
	static const struct {
		uint64_t calls;
		uint32_t line;
		int likeness; /* 0 = no pair */
	} cases[] = {{1, 0, 0},
		     {2, 0, DWELL_LIKE_CODE},
		     {2, 7, DWELL_LIKE_RENAMED},
		     {1, 7, DWELL_LIKE_RENAMED}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_names n = {0};
		uint32_t ids[DWELL_SIDES];
		bool any = false;

		for (int side = 0; side < DWELL_SIDES; side++) {
			struct dw_name_facts facts = {.module = "program",
						      .text = side ? "fresh" : "old",
						      .file = cases[i].line ? "a.c" : "",
						      .line = cases[i].line,
						      .bytes = 77};

			ids[side] = dw_names_add(&n, &facts, (enum dw_side)side);
			dw_names_get(&n, ids[side])->has[side] = true;
			dw_names_get(&n, ids[side])->calls[side] = cases[i].calls;
		}
		CHECK_INT(dw_names_match(&n, &any), 0);
		CHECK_INT(any, cases[i].likeness != 0);
		CHECK_INT(dw_names_get(&n, ids[1])->likeness, cases[i].likeness);
		dw_names_release(&n);
	}
}

/* Static functions of one name in two files are in neither. */
TEST(files_of_names)
{
	static const char *const files[] = {"src/a.c", "src/b.c", "src/a.c"};
	struct dw_name_facts facts = {.module = "program", .text = "init"};
	struct dw_names n = {0};
	uint32_t id = 0;

	for (size_t i = 0; i < 3; i++) {
		facts.file = files[i];
		id = dw_names_add(&n, &facts, DWELL_SIDE_BASE);
		CHECK_INT(dw_names_get(&n, id)->in_files[DWELL_SIDE_BASE], i > 0);
	}
	dw_names_add(&n, &facts, DWELL_SIDE_NEW);
	CHECK_STR(dw_strings_get(&n.strings, dw_names_get(&n, id)->file_of[DWELL_SIDE_NEW]), "a.c");
	CHECK(!dw_names_get(&n, id)->in_files[DWELL_SIDE_NEW]);
	dw_names_release(&n);
}

enum { ROWS = 3, COLUMNS = 2 };

/* A comparison of @n runs a side; @values by side, run, row: time and calls. */
static bool make(struct dw_comparison *c, size_t n, uint64_t (*values)[ROWS][COLUMNS])
{
	static const char *const names[ROWS] = {"first", "second", "third"};

	*c = (struct dw_comparison){
		.view = &dw_view_functions,
		.method = DWELL_METHOD_INSTRUMENTATION,
		.relevant_pct = 1,
		.columns = {{DWELL_COLUMN_AE, false}, {DWELL_COLUMN_CALLS, true}},
		.columns_n = COLUMNS,
		.counts_n = 1,
	};
	for (size_t run = 0; run < 2 * n; run++) {
		struct dw_compared_run made = {.side = run < n ? DWELL_SIDE_BASE : DWELL_SIDE_NEW,
					       .rows = ROWS,
					       .path = strdup("run"),
					       .values = malloc(sizeof *values)};

		memcpy(made.values, values[run], sizeof *values);
		for (size_t row = 0; row < ROWS; row++) {
			uint32_t name = add_name(&c->names, "program", names[row], made.side);
			struct dw_compared_row key = {.parent = UINT32_MAX, .name = name};
			bool has = made.values[row * COLUMNS + 1] > 0;

			for (size_t k = 0; k < COLUMNS; k++)
				made.all[k] += made.values[row * COLUMNS + k];
			if (dw_comparison_add_row(c, &key) != row)
				return false;
			c->rows.v[row].has[made.side] |= has;
		}
		c->runs_n[made.side]++;
		if (dw_vec_push(&c->runs, made))
			return false;
	}
	return true;
}

TEST(a_difference_is_calls_and_what_each_costs)
{
	uint64_t values[2][ROWS][COLUMNS] = {{{1000, 10}, {500, 5}, {0, 0}},
					     {{3000, 30}, {2000, 10}, {70, 7}}};
	struct dw_change time, calls;
	struct dw_story story;
	struct dw_comparison c;

	CHECK(make(&c, 1, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	for (uint32_t row = 0; row < ROWS; row++) {
		static const struct dw_story want[ROWS] = {{2000, 0}, {500, 1000}, {70, 0}};

		time = dw_change_get(&c, row, DWELL_MAIN);
		calls = dw_change_get(&c, row, DWELL_CALLS);
		CHECK(calls.is_exact && !time.is_exact);
		story = dw_story_of(&time, &calls);
		CHECK(story.by_calls == want[row].by_calls);
		CHECK(story.by_cost == want[row].by_cost);
	}
	CHECK_INT(c.rows.v[0].happened, DWELL_MORE_CALLS);
	CHECK_INT(c.rows.v[1].happened, DWELL_MORE_CALLS | DWELL_SLOWER);
	CHECK_INT(c.rows.v[2].happened, DWELL_HAS_APPEARED);
	CHECK_INT(c.order.n, ROWS);
	CHECK_INT(c.order.v[0], 0);
	dw_comparison_release(&c);
}

/* A function with inlined copies that is also called elsewhere is not inlined, but gone here. */
TEST(inlined_is_what_has_no_other_copy)
{
	uint64_t values[2][ROWS][COLUMNS] = {{{1000, 10}, {500, 5}, {0, 0}},
					     {{1000, 10}, {0, 0}, {70, 7}}};
	struct dw_comparison c;

	for (int pass = 0; pass < 2; pass++) {
		struct dw_compared_name *gone, *fresh;

		CHECK(make(&c, 1, values));
		gone = dw_names_get(&c.names, c.rows.v[1].name);
		fresh = dw_names_get(&c.names, c.rows.v[2].name);
		gone->inlined[DWELL_SIDE_NEW] = fresh->inlined[DWELL_SIDE_BASE] = true;
		gone->has[DWELL_SIDE_NEW] = fresh->has[DWELL_SIDE_BASE] = pass;
		CHECK_INT(dw_comparison_decide(&c), 0);
		CHECK_INT(c.rows.v[1].happened, DWELL_HAS_GONE | (pass ? 0 : DWELL_IS_INLINED));
		CHECK_INT(c.rows.v[2].happened,
			  DWELL_HAS_APPEARED | (pass ? 0 : DWELL_NO_LONGER_INLINED));
		dw_comparison_release(&c);
	}
}

/* Six runs a side: the first row is slower, the second one's calls vary, the third is as it was. */
static void fill(uint64_t (*values)[ROWS][COLUMNS])
{
	for (size_t run = 0; run < 12; run++) {
		bool is_new = run >= 6;
		uint64_t made[ROWS][COLUMNS] = {{(is_new ? 1500 : 1000) + run % 6 * 10, 10},
						{800 + run * 7 % 6, 100 + run % 3},
						{900 + run * 5 % 11, 3}};

		memcpy(values[run], made, sizeof made);
	}
}

TEST(times_are_tested_over_runs)
{
	uint64_t values[12][ROWS][COLUMNS];
	struct dw_comparison c;

	fill(values);
	CHECK(make(&c, 6, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(c.tests, ROWS);
	CHECK_INT(c.runs_wanted, 5);
	CHECK_INT(c.rows.v[0].happened, DWELL_SLOWER);
	CHECK_INT(c.rows.v[0].cost.trust, DWELL_TESTED);
	CHECK(fabs(c.rows.v[0].cost.p - 3 * 2 / 924.) < 1e-6);
	CHECK_INT(c.rows.v[0].calls.trust, DWELL_COUNTED);
	CHECK_INT(c.rows.v[1].happened, DWELL_CALLS_VARY);
	CHECK_INT(c.rows.v[2].happened, 0);
	CHECK_INT(c.order.n, 1);
	dw_comparison_release(&c);
}

/* What the condition @text says of @c. */
static int check(const struct dw_comparison *c, const char *text, enum dw_column column,
		 struct dw_condition_finding *ret)
{
	struct dw_condition g;
	int rc = dw_condition_parse(&g, text, NULL);

	g.column = column;
	rc = rc ? rc : dw_condition_check(&g, c, ret, NULL);
	dw_condition_release(&g);
	return rc;
}

/* Counts that vary are tested as times are. */
TEST(more_calls_are_told_of_counts_that_vary)
{
	uint64_t values[12][ROWS][COLUMNS];
	struct dw_condition_finding f;
	struct dw_comparison c;

	for (size_t run = 0; run < 12; run++) {
		bool is_new = run >= 6;
		uint64_t made[ROWS][COLUMNS] = {
			{(is_new ? 3000 : 1000) + run % 6 * 10, (is_new ? 300 : 100) + run % 6},
			{1000, 100 + run * 7 % 6},
			/* Not called in all runs of the base, and in some of these at no time. */
			{is_new ? 500 : 0, is_new ? 7 + run : 0},
		};

		memcpy(values[run], made, sizeof made);
	}
	CHECK(make(&c, 6, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(c.rows.v[0].happened, DWELL_MORE_CALLS | DWELL_CALLS_VARY);
	CHECK_INT(c.rows.v[0].calls.trust, DWELL_TESTED);
	CHECK(fabs(c.rows.v[0].calls.p - 2 * 2 / 924.) < 1e-6);
	CHECK_INT(c.rows.v[1].happened, DWELL_CALLS_VARY);
	CHECK_INT(c.rows.v[2].happened, DWELL_HAS_APPEARED);
	CHECK_INT(c.rows.v[2].calls.trust, DWELL_COUNTED);
	CHECK_INT(c.order.n, 2);
	/* So do conditions, however small the row is. */
	dw_vec_each(run, &c.runs)
		run->all[DWELL_MAIN] = run->all[DWELL_CALLS] = 1000000;
	CHECK_INT(check(&c, "calls > 100 %", DWELL_COLUMN_CALLS, &f), 0);
	CHECK_INT(f.result, DWELL_IS_MET);
	CHECK(f.row == 2 && f.base == 0 && f.meeting == 1);
	dw_comparison_release(&c);
}

/* What is called in some runs alone costs nothing in the others: not 0 ns. */
TEST(runs_without_a_call_have_no_cost)
{
	uint64_t values[12][ROWS][COLUMNS];
	struct dw_comparison c;

	fill(values);
	for (size_t run = 0; run < 12; run++) {
		bool is_called = run >= 6 || run % 6 == 0;

		values[run][0][0] = is_called ? 1000 + run : 0;
		values[run][0][1] = is_called;
	}
	CHECK(make(&c, 6, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(c.rows.v[0].happened & (DWELL_SLOWER | DWELL_FASTER), 0);
	CHECK_INT(c.rows.v[0].happened & DWELL_CALLS_VARY, DWELL_CALLS_VARY);
	dw_comparison_release(&c);
}

/* Three runs cannot be significant, and four not where many rows are tested: what is large and has
 * no run in common is told as not tested. */
TEST(too_few_runs_tell_what_is_large_as_not_tested)
{
	uint64_t values[12][ROWS][COLUMNS];
	struct dw_comparison c;

	for (size_t n = 3; n <= 4; n++) {
		fill(values);
		/* As slow, but for one run of the base that is slower. */
		for (size_t run = 6; run < 12; run++)
			values[run][2][0] = 1500;
		values[0][2][0] = 1600;
		memmove(values[n], values[6], n * sizeof *values);
		CHECK(make(&c, n, values));
		CHECK_INT(dw_comparison_finish(&c, NULL), 0);
		CHECK_INT(c.tests, 3);
		CHECK_INT(c.runs_wanted, 5);
		CHECK_INT(c.rows.v[0].happened, DWELL_SLOWER);
		CHECK_INT(c.rows.v[0].cost.trust, DWELL_NOT_TESTED);
		CHECK(c.rows.v[0].cost.p == 1);
		CHECK_INT(c.rows.v[2].happened, 0);
		CHECK_INT(c.order.n, 1);
		dw_comparison_release(&c);
	}
}

/* The least change is one of the base, with one run a side as with many. */
TEST(least_changes_are_of_the_base)
{
	uint64_t values[2][ROWS][COLUMNS] = {{{1000, 10}, {1000, 10}, {1000, 10}},
					     {{1450, 10}, {1390, 10}, {610, 10}}};
	struct dw_comparison c;

	CHECK(make(&c, 1, values));
	c.relevant_pct = 40;
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(c.rows.v[0].happened, DWELL_SLOWER);
	CHECK_INT(c.rows.v[1].happened, 0);
	CHECK_INT(c.rows.v[2].happened, 0);
	CHECK_INT(c.runs_wanted, 5);
	dw_comparison_release(&c);
}

/* Sides may be sampled at different frequencies: each has its own error. */
TEST(errors_of_sampling_are_those_of_each_side)
{
	uint64_t values[2][ROWS][COLUMNS] = {{{100000000, 1}, {1, 1}, {1, 1}},
					     {{140000000, 1}, {1, 1}, {1, 1}}};
	struct dw_comparison c;

	/* 1.96 * sqrt(1e8 * 1e6 + 1.4e8 * s) is 30.4 ms for s = 1 ms, and 75.9 ms for 10 ms. */
	for (int coarse = 0; coarse < 2; coarse++) {
		CHECK(make(&c, 1, values));
		c.method = DWELL_METHOD_SAMPLING;
		c.counts_n = 0;
		c.runs.v[0].sample = 1e6;
		c.runs.v[1].sample = coarse ? 1e7 : 1e6;
		CHECK_INT(dw_comparison_decide(&c), 0);
		CHECK_INT(c.rows.v[0].happened & DWELL_SLOWER, coarse ? 0 : DWELL_SLOWER);
		dw_comparison_release(&c);
	}
}

/* Four runs are too few for one row of three, but when all of them differ, that is no chance. */
TEST(few_runs_do_where_most_rows_differ)
{
	uint64_t values[8][ROWS][COLUMNS];
	struct dw_comparison c;

	for (size_t run = 0; run < 8; run++)
		for (size_t row = 0; row < ROWS; row++) {
			values[run][row][0] = (run < 4 ? 1000 : 1040) + run % 4;
			values[run][row][1] = 10;
		}
	CHECK(make(&c, 4, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	for (size_t row = 0; row < ROWS; row++) {
		CHECK_INT(c.rows.v[row].happened, DWELL_SLOWER);
		CHECK_INT(c.rows.v[row].cost.trust, DWELL_TESTED);
		CHECK(fabs(c.rows.v[row].cost.p - 2 / 70.) < 1e-6);
	}
	dw_comparison_release(&c);
}

TEST(conditions_are_parsed)
{
	static const struct {
		const char *text, *view, *glob, *column;
		double allowed;
		bool is_pct, is_time;
	} cases[] = {
		{"calls > 0 %", NULL, NULL, "calls", 0, true},
		{"calls>0%", NULL, NULL, "calls", 0, true},
		{"functions:parse*:application_inclusive > 5 %", "functions", "parse*",
		 "application_inclusive", 5, true},
		{"functions:ns::Box::get*:calls > 2.5%", "functions", "ns::Box::get*", "calls", 2.5,
		 true},
		{"modules:elapsed_exclusive > 10ms", "modules", NULL, "elapsed_exclusive", 1e7,
		 false, true},
		{" calls > 100", NULL, NULL, "calls", 100, false},
		{"functions:operator>:calls > 1 %", "functions", "operator>", "calls", 1, true},
	};
	static const char *const bad[] = {"",
					  "calls",
					  "calls > x",
					  "> 5 %",
					  "calls > 5 %%",
					  "nowhere:calls > 1",
					  "calls > -1",
					  "calls > 5 apples",
					  "functions:f: > 1"};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_condition g;

		CHECK_INT(dw_condition_parse(&g, cases[i].text, NULL), 0);
		CHECK_STR(g.view ? g.view->name : "-", cases[i].view ? cases[i].view : "-");
		CHECK_STR(g.glob ? g.glob : "-", cases[i].glob ? cases[i].glob : "-");
		CHECK_STR(g.name, cases[i].column);
		CHECK(g.allowed == cases[i].allowed && g.is_pct == cases[i].is_pct);
		CHECK_INT(g.is_time, cases[i].is_time);
		dw_condition_release(&g);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct dw_error err = DW_ERROR_INIT;
		struct dw_condition g;

		CHECK_INT(dw_condition_parse(&g, bad[i], &err), DWELL_ERR_USAGE);
		CHECK_CONTAINS(dw_error_message(&err), "--fail-if");
		dw_error_clear(&err);
		dw_condition_release(&g);
	}
}

/* Times without a unit are seconds, and nothing else has such a unit. */
TEST(units_of_conditions)
{
	static const struct {
		const char *text;
		int rc;
		enum dw_column column;
		double allowed;
	} cases[] = {
		{"application_exclusive > 2.5", 0, DWELL_COLUMN_AE, 2.5e9},
		{"application_exclusive > 2.5ms", 0, DWELL_COLUMN_AE, 2.5e6},
		{"application_exclusive_time > 5 %", 0, DWELL_COLUMN_AE, 5},
		{"calls > 10", 0, DWELL_COLUMN_CALLS, 10},
		{"calls > 10ms", DWELL_ERR_USAGE, 0, 0},
		{"module_name > 1", DWELL_ERR_USAGE, 0, 0},
		{"function_line_number > 1", DWELL_ERR_USAGE, 0, 0},
		{"apples > 1", DWELL_ERR_USAGE, 0, 0},
	};
	struct dw_profile p = DW_PROFILE_INIT;

	CHECK_INT(dw_facts_set_text(&p.facts, "method", "instrumentation"), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_error err = DW_ERROR_INIT;
		struct dw_condition g;

		CHECK_INT(dw_condition_parse(&g, cases[i].text, NULL), 0);
		CHECK_INT(dw_condition_resolve(&g, &dw_view_functions, &p, &err), cases[i].rc);
		CHECK(!cases[i].rc == !err.message);
		CHECK_INT(g.column, cases[i].column);
		CHECK(cases[i].rc || g.allowed == cases[i].allowed);
		dw_error_clear(&err);
		dw_condition_release(&g);
	}
	dw_profile_release(&p);
}

TEST(comparisons_are_held_against_conditions)
{
	uint64_t values[12][ROWS][COLUMNS];
	struct dw_condition_finding f;
	struct dw_compared_name *third;
	struct dw_comparison c;

	fill(values);
	values[6][2][1] = values[7][2][1] = values[8][2][1] = 4;
	values[9][2][1] = values[10][2][1] = values[11][2][1] = 4;
	CHECK(make(&c, 6, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(check(&c, "calls > 0 %", DWELL_COLUMN_CALLS, &f), 0);
	CHECK_INT(f.result, DWELL_IS_MET);
	CHECK_INT(f.row, 2);
	CHECK(f.base == 3 && f.now == 4 && f.meeting == 1);
	CHECK_INT(check(&c, "calls > 40 %", DWELL_COLUMN_CALLS, &f), 0);
	CHECK_INT(f.result, DWELL_IS_NOT_MET);
	CHECK_INT(check(&c, "calls > 1", DWELL_COLUMN_CALLS, &f), 0);
	CHECK_INT(f.result, DWELL_IS_NOT_MET);
	CHECK_INT(check(&c, "functions:first:ae > 5 %", DWELL_COLUMN_AE, &f), 0);
	CHECK_INT(f.result, DWELL_IS_MET);
	CHECK_INT(check(&c, "functions:first:ae > 60 %", DWELL_COLUMN_AE, &f), 0);
	CHECK_INT(f.result, DWELL_IS_NOT_MET);
	CHECK_INT(check(&c, "functions:second:ae > 0 %", DWELL_COLUMN_AE, &f), 0);
	CHECK_INT(f.result, DWELL_IS_NOT_MET);
	CHECK_INT(check(&c, "functions:none*:ae > 0 %", DWELL_COLUMN_AE, &f), DWELL_ERR_NOT_FOUND);
	/* A pair by code alone may be another function. */
	third = dw_names_get(&c.names, c.rows.v[2].name);
	third->other = c.rows.v[1].name;
	for (int guessed = 0; guessed < 2; guessed++) {
		third->likeness = guessed ? DWELL_LIKE_CODE : DWELL_LIKE_RENAMED;
		CHECK_INT(check(&c, "functions:third:calls > 900 %", DWELL_COLUMN_CALLS, &f), 0);
		CHECK_INT(f.result, guessed ? DWELL_IS_MET : DWELL_IS_NOT_MET);
	}
	CHECK(f.base == 0 && f.now == 4);
	third->other = 0;
	/* Modules have no text but their own name, and functions are not found by it. */
	CHECK_INT(check(&c, "functions:program:ae > 0 %", DWELL_COLUMN_AE, &f),
		  DWELL_ERR_NOT_FOUND);
	third->text = 0;
	CHECK_INT(check(&c, "modules:prog*:calls > 0", DWELL_COLUMN_CALLS, &f), 0);
	CHECK_INT(f.result, DWELL_IS_MET);
	CHECK_INT(f.row, 2);
	dw_comparison_release(&c);
	memmove(values[3], values[6], 3 * sizeof *values);
	CHECK(make(&c, 3, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(check(&c, "functions:first:ae > 5 %", DWELL_COLUMN_AE, &f), 0);
	CHECK_INT(f.result, DWELL_IS_UNDECIDED);
	CHECK_INT(f.runs_wanted, 4);
	dw_comparison_release(&c);
}

/* Rows of one name are one: their averages, the longest and the shortest are no sums. */
TEST(what_rows_of_one_name_have_together)
{
	static const struct {
		enum dw_column column;
		uint64_t want, weight;
	} cases[] = {
		{DWELL_COLUMN_CALLS, 1300, 0}, {DWELL_COLUMN_EI, 1300, 0},
		{DWELL_COLUMN_EI_AVG, 325, 8}, {DWELL_COLUMN_EI_MAX, 1000, 0},
		{DWELL_COLUMN_EI_MIN, 100, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static const uint64_t values[][2] = {{1000, 2}, {0, 0}, {100, 4}, {200, 1}, {0, 1}};
		uint64_t to = 0, weight = 0;

		for (size_t k = 0; k < sizeof values / sizeof *values; k++)
			dw_compared_column_join(cases[i].column, &to, &weight, values[k][0],
						values[k][1]);
		CHECK_INT(to, cases[i].want);
		CHECK_INT(weight, cases[i].weight);
	}
}

/* Whether the words about @c have @want. */
static bool says(const struct dw_comparison *c, const char *want)
{
	const struct dw_diff_job job = {.comparison = c};
	struct dw_out out;
	bool has;

	dw_out_init_buffer(&out);
	dw_diff_write_words(&job, "", &out);
	has = strstr(dw_buf_str(&out.buf), want);
	if (!has)
		printf("# no \"%s\" in: %s\n", want, dw_buf_str(&out.buf));
	dw_out_close(&out);
	return has;
}

/* Most runs are slower, though the median of the new ones is the smaller: the words go by what was
 * tested, and show no numbers that say otherwise. */
TEST(words_do_not_contradict_the_test)
{
	enum { RUNS = 50 };
	uint64_t values[2 * RUNS][ROWS][COLUMNS];
	struct dw_comparison c;

	for (size_t run = 0; run < 2 * RUNS; run++) {
		size_t i = run % RUNS;
		bool is_new = run >= RUNS;
		uint64_t each = is_new ? (i < 30 ? 50000 : 110000) : i < 22 ? 0 : 100000;
		uint64_t made[ROWS][COLUMNS] = {{100 * each, 100}, {0, 0}, {0, 0}};

		memcpy(values[run], made, sizeof made);
	}
	CHECK(make(&c, RUNS, values));
	CHECK_INT(dw_comparison_finish(&c, NULL), 0);
	CHECK_INT(c.rows.v[0].happened, DWELL_SLOWER);
	CHECK(dw_change_get(&c, 0, DWELL_MAIN).now < dw_change_get(&c, 0, DWELL_MAIN).base);
	CHECK(says(&c, "first takes longer (by 10.0 \302\265s a call)"));
	CHECK(says(&c, ": +1.0 ms."));
	dw_comparison_release(&c);
}

TEST_MAIN()
