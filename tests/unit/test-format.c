/* Text at the edge: decoding, escaping, fitting; tables within a width; numbers that read back. */
#include "check.h"
#include "analysis/totals.h"
#include "format/format.h"
#include "format/shorten.h"
#include "format/text.h"
#include "format/wrap.h"
#include "format/units.h"
#include "maker.h"
#include "view/view.h"

static char *put(const char *s, size_t columns)
{
	struct dw_out out;

	dw_out_init_buffer(&out);
	if (columns)
		dw_text_put_fitted(&out, s, columns);
	else
		dw_text_put(&out, s);
	return dw_buf_detach(&out.buf);
}

#define CHECK_PUT(text, columns, want)                                 \
	do {                                                           \
		char *got_ = put(text, columns);                       \
		char copy_[256];                                       \
		snprintf(copy_, sizeof copy_, "%s", got_ ? got_ : ""); \
		free(got_);                                            \
		CHECK_STR(copy_, want);                                \
	} while (0)

TEST(utf8_is_decoded_strictly)
{
	static const struct {
		const char *bytes;
		uint32_t want[6]; /* ends with 0 */
	} cases[] = {
		{"a\x7f", {'a', 0x7f}},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", {0xe9, 0x20ac, 0x1f600}},
		{"\xc0\xaf", {0xfffd, 0xfffd}},				/* overlong */
		{"\xed\xa0\x80", {0xfffd, 0xfffd, 0xfffd}},		/* surrogate */
		{"\xf4\x90\x80\x80", {0xfffd, 0xfffd, 0xfffd, 0xfffd}}, /* past the end */
		{"\xe2\x82", {0xfffd, 0xfffd}},				/* cut */
		{"\xff\x80z", {0xfffd, 0xfffd, 'z'}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *s = cases[i].bytes;

		for (size_t k = 0; k < 6 && cases[i].want[k]; k++) {
			CHECK(*s);
			CHECK_INT(dw_text_next(&s), cases[i].want[k]);
		}
		CHECK_INT(*s, 0);
	}
}

TEST(code_points_survive_encoding)
{
	for (uint32_t c = 1; c <= 0x10ffff; c += c < 0x900 ? 1 : 251) {
		char bytes[5];
		const char *s = bytes;
		size_t n = dw_text_encode(c, bytes);

		if (c >= 0xd800 && c < 0xe000)
			continue;
		CHECK_INT(dw_text_next(&s), c);
		CHECK_INT(s - bytes, n);
	}
}

TEST(what_controls_is_escaped)
{
	CHECK_PUT("a\033[2Jb\x7f\xc2\x9b", 0, "a\\x1b[2Jb\\x7f\\x9b");
	CHECK_PUT("\xe2\x80\xaegnp\xe2\x81\xa6\xef\xbb\xbf", 0, "\\u202egnp\\u2066\\ufeff");
	CHECK_PUT("tab\tline\n", 0, "tab\\x09line\\x0a");
	CHECK_PUT("plain \xe6\xbc\xa2", 0, "plain \xe6\xbc\xa2");
	CHECK_INT(dw_text_columns("\033"), 4);
	CHECK_INT(dw_text_columns("\xe6\xbc\xa2"
				  "e\xcc\x81"),
		  3);
}

TEST(the_middle_gives_way)
{
	CHECK_PUT("0123456789", 10, "0123456789");
	CHECK_PUT("0123456789", 9, "0123…6789");
	CHECK_PUT("0123456789", 1, "…");
	for (size_t columns = 1; columns < 20; columns++) {
		char *got = put("\xe6\xbc\xa2\xe5\xad\x97\033\033wide\xe6\xbc\xa2", columns);
		size_t used = dw_text_columns(got);

		free(got);
		CHECK(used <= columns);
	}
}

TEST(the_own_name_of_a_function_stays)
{
	static const char *const cpp[] = {
		"static void ns::Box<long>::get<short>(int, char const*) const",
		"ns::Box<long>::get<short>(int, char const*) const",
		"ns::Box<long>::get<short>(…)",
		"ns::Box<…>::get<…>(…)",
		"ns::Box<…>::get",
		"…Box<…>::get",
		"get",
		"g…",
		NULL};
	static const char *const rust[] = {"<alloc::vec::Vec<T> as core::iter::Iterator>::next",
					   "<Vec as Iterator>::next", "Vec::next", "next", NULL};
	static const char *const within[] = {"<b::Map<I as c::Iter> as c::Fold>::fold",
					     "<Map as Fold>::fold", "Map::fold", "fold", NULL};
	static const char *const dotnet[] = {
		"App.Models.Tree`1[System.Int32].Make(System.Int32, System.String)",
		"App.Models.Tree`1[System.Int32].Make(…)",
		"App.Models.Tree`1[…].Make(…)",
		"App.Models.Tree`1[…].Make",
		"…Models.Tree`1[…].Make",
		"…Tree`1[…].Make",
		"Make",
		NULL};
	static const char *const chain[] = {"void a::f<int>(int) > b::g() > h",
					    "a::f<int>(int) > b::g() > h",
					    "a::f<int>(…) > b::g() > h",
					    "a::f<…>(…) > b::g() > h",
					    "a::f > b::g > h",
					    "f > g > h",
					    NULL};
	static const char *const operators[] = {
		"bool std::operator< <char, a>(std::__cxx11::basic_string<char, "
		"std::char_traits<char>, std::allocator<char> > const&)",
		"std::operator< <char, a>(std::string const&)",
		"std::operator< <char, a>(…)",
		"std::operator< <…>(…)",
		"std::operator<",
		"operator<",
		NULL};
	static const char *const nameless[] = {
		"std::less<std::vector<int> >::operator()(int) const",
		"std::less<std::vector<int> >::operator()(…)",
		"std::less<…>::operator()(…)",
		"std::less<…>::operator()",
		"less<…>::operator()",
		NULL};
	static const char *const turbofish[] = {"a::Vec::<T>::grow::<b::Global>",
						"a::Vec::<…>::grow::<…>",
						"a::Vec::<…>::grow",
						"…Vec::<…>::grow",
						"grow",
						NULL};
	static const char *const lambda[] = {"int main(int, char**)::<lambda(int, long)>",
					     "main(int, char**)::<lambda(int, long)>",
					     "main(…)::<lambda(int, long)>", NULL};
	static const char *const closure[] = {"prog::work::{{closure}}", "work::{{closure}}", NULL};
	static const char *const plain[] = {"a_long_name_of_c", "a_long_…me_of_c", NULL};

	static const char *const *const all[] = {cpp,	    rust,     dotnet,  chain,
						 operators, nameless, closure, turbofish,
						 lambda,    plain,    within};

	/* Each fits where the one before does not. */
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (const char *const *want = all[i]; *want; want++) {
			struct dw_out out;
			size_t columns = dw_text_columns(*want), used;

			dw_out_init_buffer(&out);
			used = dw_function_name_put_fitted(&out, all[i][0], columns);
			CHECK_STR(dw_buf_str(&out.buf), *want);
			CHECK_INT(used, columns);
			dw_out_close(&out);
		}
}

TEST(times_have_units_that_fit)
{
	static const struct {
		uint64_t largest, ns;
		enum dw_time_digits digits;
		const char *want;
	} cases[] = {
		{0, 0, DWELL_DIGITS_USUAL, "0"},
		{9999, 9999, DWELL_DIGITS_USUAL, "9999ns"},
		{10000, 9999, DWELL_DIGITS_USUAL, "9.999us"},
		{9999999, 200, DWELL_DIGITS_USUAL, "0.200us"},
		{10000000, 1234567, DWELL_DIGITS_USUAL, "1.235ms"},
		{10000000, 200, DWELL_DIGITS_CALL, "0.000200ms"},
		{9999999999, 9999999999, DWELL_DIGITS_POINT, "10000.000ms"},
		{10000000000, 9999999999, DWELL_DIGITS_USUAL, "10.000s"},
		{10000000000, 1234567890, DWELL_DIGITS_POINT, "1.234568s"},
		{10000000000, 1234567890, DWELL_DIGITS_FEW, "1.235s"},
		{1000000000, 12000000, DWELL_DIGITS_FEW, "12ms"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_buf b = DW_BUF_INIT;

		dw_time_unit_put(&b, cases[i].ns, dw_time_unit_for(cases[i].largest),
				 cases[i].digits);
		CHECK_STR(dw_buf_str(&b), cases[i].want);
		dw_buf_release(&b);
	}
}

TEST(ends_of_chains_and_of_paths_stay)
{
	struct dw_out out;

	dw_out_init_buffer(&out);
	CHECK_INT(dw_function_name_put_fitted(&out, "_start > a::middle(int) > main", 17), 17);
	CHECK_STR(dw_buf_str(&out.buf), "_start > … > main");
	dw_buf_clear(&out.buf);
	CHECK_INT(dw_function_name_put_fitted(&out, "_start > a::middle(int) > main", 12), 10);
	CHECK_STR(dw_buf_str(&out.buf), "_start > …");
	dw_buf_clear(&out.buf);
	/* The sign of an operator opens nothing. */
	dw_function_name_put_fitted(&out, "std::operator< <char>(int) > std::string::compare(int)",
				    32);
	CHECK_STR(dw_buf_str(&out.buf), "operator< > compare");
	dw_buf_clear(&out.buf);
	dw_function_name_put_fitted(
		&out, "a::Ptr<a::Node>::operator->() > b::much::longer::find(int)", 24);
	CHECK_STR(dw_buf_str(&out.buf), "operator-> > find");
	dw_buf_clear(&out.buf);
	CHECK_INT(dw_path_put_fitted(&out, "/usr/include/c++/bits/stl_tree.h", 18), 17);
	CHECK_STR(dw_buf_str(&out.buf), "…/bits/stl_tree.h");
	dw_buf_clear(&out.buf);
	CHECK_INT(dw_path_put_fitted(&out, "/bits/stl_tree.h", 8), 8);
	CHECK_STR(dw_buf_str(&out.buf), "/bit…e.h");
	dw_out_close(&out);
}

/* Any bytes, also brackets that nobody closes, in any room. */
TEST(hostile_names_are_shortened)
{
	static const char *const names[] = {"",
					    "((((",
					    "))))",
					    "a(<b[{",
					    "operator",
					    "operator ",
					    "x operator<",
					    " > > > ",
					    "::",
					    "a::",
					    "<a as >::",
					    "< as b>::c()",
					    "void (",
					    "f\033(int) > \xff::g<"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t columns = 0; columns < 24; columns++) {
			struct dw_out out;

			dw_out_init_buffer(&out);
			CHECK(dw_function_name_put_fitted(&out, names[i], columns) <= columns);
			CHECK(dw_text_columns(dw_buf_str(&out.buf)) <= columns);
			dw_out_close(&out);
		}
}

TEST(doubles_read_back)
{
	static const double values[] = {0, 100, 12.5, 100.0 / 3, 1e-7, 99.999999999999986, 2.0 / 3};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char text[DWELL_DOUBLE_MAX_BYTES];

		CHECK_INT(dw_format_double(values[i], text), strlen(text));
		CHECK(strtod(text, NULL) == values[i]);
	}
}

/* What %g would write, in the fewest digits that read back. */
static void write_slowly(double v, char ret[40])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(ret, 40, "%.*g", digits, v);
		if (strtod(ret, NULL) == v)
			break;
	}
}

TEST(doubles_are_the_shortest)
{
	static const uint32_t wholes[] = {1, 3, 7, 200, 3088, 65536, 999983, 1000000, 4294967295};
	uint64_t random = 1;
	int differ = 0;

	for (int i = 0; i < 90000; i++) {
		uint32_t whole = wholes[i % 9];
		char wanted[40], got[DWELL_DOUBLE_MAX_BYTES];
		double v;

		random = dw_hash_u64(random);
		v = 100.0 *
		    (double)(i < 20000 ? (uint64_t)i % (whole + 1ull) : random % (whole + 1ull)) /
		    (double)whole;
		for (int small = i % 19; i >= 45000 && small; small--)
			v /= 10;
		write_slowly(v, wanted);
		dw_format_double(v, got);
		differ += strcmp(got, wanted) != 0;
	}
	CHECK(differ == 0);
}

/* A profile of 40 functions with long names; function i has i samples. */
static void make_long(struct dw_profile *p)
{
	uint32_t m = mk_module(p, "a-module-with-a-rather-long-name.so.6.0.30");
	uint32_t t = mk_process(p, 1, "prog");

	for (uint32_t i = 1; i <= 40; i++) {
		char name[300];
		uint32_t f, frame;

		memset(name, 'x', sizeof name);
		snprintf(name + 7 * i, 9, "%u", i);
		f = mk_function(p, m, name, "file.c", i);
		frame = mk_plain_frame(p, f, 0, i);
		mk_samples(p, t, mk_stack(p, &frame, 1), i * 1000);
	}
}

TEST(tables_fit_and_never_cut_numbers)
{
	static const size_t widths[] = {80, 60, 132, 250};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	enum dw_column columns[DWELL_COLUMNS_N];

	make_long(&p);
	dw_view_columns(&dw_view_functions, &p, DWELL_BY_NONE, true, columns);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_FUNCTIONS, &t), 0);
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct dw_view_request request = {.profile = &p, .totals = &t};
		struct dw_view v;
		struct dw_format_job job = {.view = &v, .columns = columns, .width = widths[i]};
		struct dw_out out;
		uint64_t sum = 0;
		char *text, *line, *rest;

		CHECK_INT(dw_view_open(&v, &dw_view_functions, &request), 0);
		dw_out_init_buffer(&out);
		dw_format_find("table")->write(&job, &out);
		text = dw_buf_detach(&out.buf);
		dw_view_release(&v);
		line = strtok_r(text, "\n", &rest);
		while ((line = strtok_r(NULL, "\n", &rest))) {
			uint64_t n = 0;

			CHECK(dw_text_columns(line) <= widths[i]);
			CHECK_INT(sscanf(line, "%*f %" SCNu64, &n), 1);
			sum += n;
		}
		free(text);
		CHECK_INT(sum, t.all[DWELL_MEASURE_SAMPLES]);
	}
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* A chain of functions with long names; whoever knows nothing of switches says so. */
static void make_long_calls(struct dw_profile *p, const char *os_source)
{
	uint32_t m = mk_module(p, "a-rather-long-library-name.so.1");
	uint32_t t = mk_process(p, 1, "prog"), at = mk_call(p, t, 0, 0, 0, DWELL_CALL_ROOT);

	mk_slice(p, 5000000000);
	for (uint32_t i = 1; i <= 20; i++) {
		char name[64];

		snprintf(name, sizeof name, "a_function_with_a_name_that_is_long_%u", i);
		at = mk_call(p, t, at,
			     mk_plain_frame(p, mk_function(p, m, name, "file.c", i), 0, i), 0, 0);
		mk_delta(p, 0, at,
			 (struct dw_call_values){.calls = 1000000 * i,
						 .elapsed_ns = 123456789 * i,
						 .application_ns = 100000000 * i});
	}
	if (os_source && dw_facts_set_text(&p->facts, "os_source", os_source))
		abort();
}

/* The functions of @p as a table of @width columns, in memory of the caller's. */
static char *functions_table(const struct dw_profile *p, size_t width)
{
	struct dw_totals t = {0};
	struct dw_view_request request = {.profile = p, .totals = &t};
	struct dw_view v;
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_format_job job = {.view = &v, .columns = columns, .width = width};
	struct dw_out out;
	char *text = NULL;

	dw_out_init_buffer(&out);
	dw_view_columns(&dw_view_functions, p, DWELL_BY_NONE, true, columns);
	if (!dw_totals_compute(p, NULL, DWELL_TOTALS_FUNCTIONS, &t) &&
	    !dw_view_open(&v, &dw_view_functions, &request)) {
		dw_format_find("table")->write(&job, &out);
		text = dw_buf_detach(&out.buf);
		dw_view_release(&v);
	}
	dw_totals_release(&t);
	return text;
}

/* Numbers give way to names, and what is left fits. */
TEST(tables_of_calls_fit)
{
	static const struct {
		size_t width;
		const char *has, *lacks;
	} cases[] = {
		{80, "EE %", "Module Name"},
		{100, "App Excl", "AI %"},
		{160, "AI %", "nothing"},
		{0, "Module Name", "nothing"},
	};
	struct dw_profile p = DW_PROFILE_INIT;

	make_long_calls(&p, "perf");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *line, *rest, *text = functions_table(&p, cases[i].width);

		CHECK_CONTAINS(text, cases[i].has);
		CHECK(!strstr(text, cases[i].lacks));
		CHECK(!strstr(text, "upper bound"));
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			CHECK(!cases[i].width || dw_text_columns(line) <= cases[i].width);
		free(text);
	}
	dw_profile_release(&p);
}

TEST(application_times_may_be_upper_bounds)
{
	struct dw_profile p = DW_PROFILE_INIT;
	char *text;

	make_long_calls(&p, "none");
	text = functions_table(&p, 0);
	CHECK_CONTAINS(text, "App Incl (upper bound)");
	CHECK_CONTAINS(text, "App Excl (upper bound)");
	free(text);
	dw_profile_release(&p);
}

static int print_summary(struct dw_out *out, const struct dw_profile *p, const struct dw_totals *t,
			 struct dw_format_job job)
{
	struct dw_view_request request = {.profile = p, .totals = t};
	struct dw_view v;
	int rc = dw_view_open(&v, &dw_view_summary, &request);

	job.view = &v;
	if (!rc)
		dw_summary_write(&job, out, NULL);
	dw_view_release(&v);
	return rc;
}

/* The summary of @p in @width columns, in memory of the caller's. */
static char *summary_of(const struct dw_profile *p, size_t width)
{
	struct dw_format_job style = {.path = "x.dwell", .width = width};
	struct dw_totals t = {0};
	struct dw_out out;
	char *text = NULL;

	dw_out_init_buffer(&out);
	if (!dw_totals_compute(p, NULL, DWELL_TOTALS_ALL | DWELL_TOTALS_EXTERNAL | DWELL_TOTALS_HOT,
			       &t) &&
	    !print_summary(&out, p, &t, style))
		text = dw_buf_detach(&out.buf);
	dw_totals_release(&t);
	return text;
}

TEST(sentences_go_on_where_a_terminal_ends)
{
	static const struct {
		size_t used, indent, width;
		const char *text, *want;
	} cases[] = {
		{0, 2, 0, "no terminal, no end", "no terminal, no end\n"},
		{0, 2, 11, "one two and three", "one two and\n  three\n"},
		{4, 4, 11, "one two and three", "one two\n    and\n    three\n"},
		{0, 2, 8, "a wordthatislonger so", "a\n  wordthatislonger\n  so\n"},
		{0, 4, 9, "blanks   (or none)", "blanks\n    (or\n    none)\n"},
		{2, 4, 14, "two sentences\n  of one note", "two\n    sentences\n  of one note\n"},
		{0, 0, 4, "µµ µ µ", "µµ µ\nµ\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_out out;

		dw_out_init_buffer(&out);
		dw_text_put_wrapped(&out, cases[i].text, cases[i].used, cases[i].indent,
				    cases[i].width);
		CHECK_STR(dw_buf_str(&out.buf), cases[i].want);
		dw_out_close(&out);
	}
}

TEST(summary_of_calls_has_names_on_narrow_terminals)
{
	static const size_t widths[] = {20, 40, 55, 60, 70};
	struct dw_profile p = DW_PROFILE_INIT;

	make_long_calls(&p, "perf");
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		char *text = summary_of(&p, widths[i]);

		CHECK_CONTAINS(text, " a_funct");
		CHECK_CONTAINS(text, "g_20  (20.0 M calls, 123 ns each)");
		free(text);
	}
	dw_profile_release(&p);
}

/* 123 ns a call, of which probes may have taken 90. */
TEST(summary_leaves_out_bounds_that_a_terminal_has_no_room_for)
{
	struct dw_profile p = DW_PROFILE_INIT;
	char *text;

	make_long_calls(&p, "perf");
	CHECK_INT(dw_facts_set(&p.facts, "probes_function_ps", 150000), 0);
	text = summary_of(&p, 100);
	CHECK_CONTAINS(text, "g_20  (20.0 M calls, 123 ns to ");
	free(text);
	text = summary_of(&p, 70);
	CHECK_CONTAINS(text, "g_20  (20.0 M calls, 123 ns each)");
	free(text);
	dw_profile_release(&p);
}

/* A module that has probes, if only in one function, is not one to ask for. */
TEST(summary_names_the_heaviest_module_without_probes)
{
	static const struct dw_call_values much[] = {{.calls = 1, .application_ns = 30000000000},
						     {.calls = 1, .application_ns = 60000000000}};
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t m[2], at;
	char *text;

	make_long_calls(&p, "perf");
	text = summary_of(&p, 80);
	CHECK(!strstr(text, "shows where"));
	free(text);
	at = mk_call(&p, 1, 0, 0, 0, DWELL_CALL_ROOT);
	for (uint32_t i = 0; i < 2; i++) {
		m[i] = mk_module(&p, i ? "lib many.so" : "libprobed.so");
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t f = mk_function(&p, m[i], k ? "some" : "other", "file.c", 1);
			uint32_t id = mk_call(&p, 1, at, mk_plain_frame(&p, f, m[i], k), 0,
					      i || k ? DWELL_CALL_EXTERNAL : 0);

			mk_delta(&p, 0, id, much[i]);
		}
	}
	text = summary_of(&p, 0);
	CHECK_CONTAINS(text, "  60 % of the program's time is in 'lib many.so': "
			     "--module 'lib many.so' shows where.\n");
	free(text);
	dw_profile_release(&p);
}

TEST(summary_without_calls_trusts_nothing)
{
	struct dw_profile p = DW_PROFILE_INIT;
	char *text;

	mk_process(&p, 1, "prog");
	CHECK_INT(dw_facts_set_text(&p.facts, "method", "instrumentation"), 0);
	CHECK_INT(dw_facts_set_text(&p.facts, "os_source", "none"), 0);
	CHECK_INT(dw_facts_set(&p.facts, "processes_not_instrumented", 2), 0);
	text = summary_of(&p, 80);
	CHECK_CONTAINS(text, "No call was seen.\n  2 processes not instrumented");
	CHECK(!strstr(text, "could not be seen"));
	CHECK(!strstr(text, "No function had probes"));
	free(text);
	CHECK_INT(dw_facts_set(&p.facts, "functions_instrumented", 0), 0);
	text = summary_of(&p, 80);
	CHECK_CONTAINS(text, "No call was seen.\n  No function had probes: see what --include");
	free(text);
	dw_profile_release(&p);
}

TEST(summary_of_calls_is_short_and_says_how_much_is_known)
{
	struct dw_profile p = DW_PROFILE_INIT;
	char *line, *rest, *text;
	size_t lines = 0;

	make_long_calls(&p, "none");
	CHECK_INT(dw_facts_set(&p.facts, "residual_ns", -2000000), 0);
	CHECK_INT(dw_facts_set(&p.facts, "user_cpu_ns", 100000000), 0);
	text = summary_of(&p, 80);
	CHECK_CONTAINS(text, "210,000,000 calls of 20 functions, 1 thread in 1 process");
	CHECK_CONTAINS(text, "in the program, at most");
	CHECK_CONTAINS(text, "context switches could not be seen");
	CHECK(!strstr(text, "Not explained"));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++)
		CHECK(dw_text_columns(line) <= 90);
	CHECK(lines > 10 && lines <= 32);
	free(text);
	dw_profile_release(&p);
}

TEST(summary_of_jit_code_says_how_to_name_it)
{
	static const char note[] = "  6 samples in JIT code, without names: man dwell-";
	struct dw_profile p = DW_PROFILE_INIT;
	uint32_t thread = mk_process(&p, 1, "node"), made = mk_module(&p, "[anon]"), named,
		 nameless;
	char *text;

	dw_modules_get(&p.modules, made)->kind = DWELL_MODULE_ANON;
	named = mk_plain_frame(&p, mk_function(&p, made, "fib", NULL, 0), 0, 0);
	nameless = mk_function(&p, made, "[anon]+0x1100", NULL, 0);
	dw_functions_get(&p.functions, nameless)->flags = DWELL_FUNCTION_NO_SYMBOL;
	nameless = mk_plain_frame(&p, nameless, 0, 0);
	mk_samples(&p, thread, mk_stack(&p, &named, 1), 114);
	mk_samples(&p, thread, mk_stack(&p, &nameless, 1), 5);
	text = summary_of(&p, 80);
	CHECK(!strstr(text, "made at run time"));
	free(text);
	mk_samples(&p, thread, mk_stack(&p, &nameless, 1), 1);
	text = summary_of(&p, 80);
	CHECK_CONTAINS(text, note);
	free(text);
	dw_profile_release(&p);
}

TEST(summary_without_facts_and_samples)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_format_job style = {.path = "it's.dwell"};
	struct dw_totals t = {0};
	struct dw_out out;

	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	dw_out_init_buffer(&out);
	CHECK_INT(print_summary(&out, &p, &t, style), 0);
	CHECK_CONTAINS(dw_buf_str(&out.buf), "No sample was taken");
	CHECK_CONTAINS(dw_buf_str(&out.buf), "dwell report 'it'\\''s.dwell' calltree");
	dw_out_close(&out);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* Ten processes with 10 ms of CPU time and no sample, and 3 samples of 32-bit code. */
TEST(summary_says_what_is_not_seen)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_format_job style = {.path = "x.dwell", .width = 80};
	struct dw_totals t = {0};
	struct dw_out out;
	uint32_t id;

	for (int i = 1; i <= 10; i++)
		CHECK_INT(dw_processes_add(&p.processes, &(struct dw_process){.pid = i}, &id), 0);
	CHECK_INT(dw_facts_set(&p.facts, "user_cpu_ns", 10000000), 0);
	CHECK_INT(dw_facts_set(&p.facts, "frequency_hz", 1000), 0);
	CHECK_INT(dw_facts_set(&p.facts, "samples_discarded", 5), 0);
	CHECK_INT(dw_facts_set(&p.facts, "samples_discarded_32bit", 3), 0);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	dw_out_init_buffer(&out);
	CHECK_INT(print_summary(&out, &p, &t, style), 0);
	CHECK_CONTAINS(dw_buf_str(&out.buf), "Processes of less than 1.0 ms of CPU time are");
	CHECK_CONTAINS(dw_buf_str(&out.buf), "3 samples discarded: of 32-bit code");
	CHECK_CONTAINS(dw_buf_str(&out.buf), "2 samples discarded: the program was not running");
	dw_out_close(&out);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST(summary_is_short_and_colour_is_asked_for)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_format_job style = {.path = "x.dwell", .width = 80};
	struct dw_totals t = {0};
	struct dw_out out;
	size_t lines = 0;

	make_long(&p);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	dw_out_init_buffer(&out);
	CHECK_INT(print_summary(&out, &p, &t, style), 0);
	for (const char *c = dw_buf_str(&out.buf); *c; c++)
		lines += *c == '\n';
	CHECK(lines > 5 && lines <= 30);
	CHECK(!strchr(dw_buf_str(&out.buf), '\033'));
	dw_buf_clear(&out.buf);
	style.colour = true;
	CHECK_INT(print_summary(&out, &p, &t, style), 0);
	CHECK_CONTAINS(dw_buf_str(&out.buf), "\033[1m");
	dw_out_close(&out);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
