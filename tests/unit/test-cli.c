/* Option tables: every form of an option, operands in any place, and the words for wrong usage. */
#include "check.h"
#include "cli/options.h"

struct opts {
	const char *format;
	struct dw_option_list modules;
	bool quiet;
	uint64_t top;
	uint64_t from_ns;
	double trim;
};

static const struct dw_option table[] = {
	{"format", 'f', "NAME", dw_option_text, offsetof(struct opts, format), "how"},
	{"module", 0, "GLOB", dw_option_list, offsetof(struct opts, modules), "where"},
	{"quiet", 'q', NULL, dw_option_flag, offsetof(struct opts, quiet), "silence"},
	{"top", 'n', "N", dw_option_count, offsetof(struct opts, top), "rows"},
	{"from", 0, "TIME", dw_option_time_ns, offsetof(struct opts, from_ns), "start"},
	{"trim", 0, "PCT", dw_option_percent, offsetof(struct opts, trim), "noise"},
	{"until", 0, "TIME", dw_option_time_ns, offsetof(struct opts, from_ns), NULL},
	{NULL},
};

/* Parse the words of @line (cut at blanks in place). */
static int parse(char *line, bool leading, struct opts *o, char **argv, int *first,
		 struct dw_error *err)
{
	size_t n = 0;

	for (char *w = strtok(line, " "); w; w = strtok(NULL, " "))
		argv[n++] = w;
	argv[n] = NULL;
	return dw_options_parse(table, leading, argv, o, first, err);
}

TEST(forms_of_an_option)
{
	char line[] = "report --format=csv -n7 --module a --module=b -q --from 1.5 --trim 2%";
	struct opts o = {0};
	char *argv[32];
	int first;

	CHECK_INT(parse(line, false, &o, argv, &first, NULL), 0);
	CHECK_STR(o.format, "csv");
	CHECK_INT(o.top, 7);
	CHECK_INT(o.modules.n, 2);
	CHECK_STR(o.modules.v[0], "a");
	CHECK_STR(o.modules.v[1], "b");
	CHECK(o.quiet);
	CHECK_INT(o.from_ns, 1500000000);
	CHECK_INT((int)o.trim, 2);
	CHECK(!argv[first]);
	dw_vec_release(&o.modules);
}

TEST(operands_in_any_place_keep_their_order)
{
	char line[] = "report a.dwell -f xml functions --top 3 -- --odd";
	struct opts o = {0};
	char *argv[32];
	int first;

	CHECK_INT(parse(line, false, &o, argv, &first, NULL), 0);
	CHECK_STR(argv[first], "a.dwell");
	CHECK_STR(argv[first + 1], "functions");
	CHECK_STR(argv[first + 2], "--odd");
	CHECK(!argv[first + 3]);
	CHECK_STR(o.format, "xml");
}

TEST(a_launched_command_keeps_its_own_options)
{
	char line[] = "sample -q ls -l --format=x";
	struct opts o = {0};
	char *argv[32];
	int first;

	CHECK_INT(parse(line, true, &o, argv, &first, NULL), 0);
	CHECK_STR(argv[first], "ls");
	CHECK_STR(argv[first + 1], "-l");
	CHECK_STR(argv[first + 2], "--format=x");
	CHECK(o.quiet && !o.format);
}

TEST(wrong_usage_names_the_option)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"report --frmat csv", "unknown option '--frmat' (did you mean --format?)"},
		{"report --untill 3", "unknown option '--untill'"}, /* is hidden */
		{"report --colour", "unknown option '--colour'"},
		{"report -z", "unknown option '-z'"},
		{"report --format", "--format needs a value (NAME)"},
		{"report --quiet=yes", "--quiet takes no value"},
		{"report --top x", "--top: 'x' is not a number"},
		{"report --top -3", "--top: '-3' is not a number"},
		{"report --top 99999999999999999999",
		 "--top: '99999999999999999999' is not a number"},
		{"report --trim 101", "--trim: '101' is not a percentage"},
		{"report --trim nan", "--trim: 'nan' is not a percentage"},
		{"report --from 3x", "--from: '3x' is not a time (try 2, 500ms, 1.5s, 2m)"},
		{"report --from inf", "--from: 'inf' is not a time (try 2, 500ms, 1.5s, 2m)"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_error err = DW_ERROR_INIT;
		struct opts o = {0};
		char line[128], *argv[32];
		int first;

		snprintf(line, sizeof line, "%s", cases[i].line);
		CHECK_INT(parse(line, false, &o, argv, &first, &err), DWELL_ERR_USAGE);
		CHECK_STR(dw_error_message(&err), cases[i].message);
		dw_error_clear(&err);
	}
}

TEST(times_take_units)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {{"2", 2000000000},	   {"500ms", 500000000}, {"2m", 120000000000},
		     {".25s", 250000000},  {"7us", 7000},	 {"9ns", 9},
		     {"1h", 3600000000000}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t ns = 0;

		CHECK_INT(dw_option_time_ns(cases[i].text, &ns, NULL), 0);
		CHECK_INT(ns, cases[i].ns);
	}
}

TEST(times_are_plain_numbers)
{
	static const char *const bad[] = {"",	"0x10", "1e3", "1.2.3", ".",  "-1",
					  "+1", "nan",	"inf", "2 s",	"5d", "99999999999h"};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint64_t ns = 7;

		CHECK_INT(dw_option_time_ns(bad[i], &ns, NULL), DWELL_ERR_USAGE);
		CHECK_INT(ns, 7);
	}
}

TEST(help_is_asked_for)
{
	char one[] = "report x --help", two[] = "report -qh";
	struct opts o = {0};
	char *argv[32];
	int first;

	CHECK_INT(parse(one, false, &o, argv, &first, NULL), 1);
	CHECK_INT(parse(two, false, &o, argv, &first, NULL), 1);
}

TEST_MAIN()
