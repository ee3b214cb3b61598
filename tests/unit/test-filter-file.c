/* Filter files: what is written is what is read, and what is wrong with a line is told. */
#include "base/cleanup.h"
#include "check.h"
#include "cli/filter-file.h"
#include "model/wait.h"
#include "scratch.h"

#include <errno.h>
#include <sys/stat.h>

static void write_text(const char *text, size_t n)
{
	FILE *f = fopen("f", "w");

	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		abort();
}

/* The contents of @path, valid until the next call. */
static const char *text_of(const char *path)
{
	static char text[4096];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return text;
}

TEST(all_kinds_of_lines_are_options)
{
	static const char text[] =
		"# a comment\n"
		"\n"
		"--process=cc1plus shop.cc\n"
		"  --process \t 42\r\n"
		"--thread= x=#y \n"
		"\t# --thread=no\n"
		"--module=*.so\n--type=List<int>\n--waits=lock,disk\n--from=1.5\n"
		"--until=2s";
	struct dw_filter_options o = {0};

	write_text(text, sizeof text - 1);
	CHECK_INT(dw_filter_file_read("f", &o, NULL), 0);
	CHECK_INT(o.processes.n, 2);
	CHECK_STR(o.processes.v[0], "cc1plus shop.cc");
	CHECK_STR(o.processes.v[1], "42");
	CHECK_INT(o.threads.n, 1);
	CHECK_STR(o.threads.v[0], " x=#y ");
	CHECK_STR(o.modules.v[0], "*.so");
	CHECK_STR(o.types.v[0], "List<int>");
	CHECK_INT(o.waits.left_out,
		  DWELL_WAITS_ALL & ~(1u << DWELL_WAIT_LOCK | 1u << DWELL_WAIT_DISK));
	CHECK_INT(o.from_ns, 1500000000);
	CHECK_INT(o.to_ns, 2000000000);
	dw_filter_options_release(&o);
}

TEST(lines_stand_in_place_of_the_option)
{
	struct dw_filter_options o = {0};

	write_text("--from=1\n--process=b\n", 21);
	CHECK_INT(dw_option_list("a", &o.processes, NULL), 0);
	o.from_ns = 7;
	CHECK_INT(dw_option_filter("f", &o, NULL), 0);
	CHECK_INT(o.processes.n, 2);
	CHECK_STR(o.processes.v[1], "b");
	CHECK_INT(o.from_ns, 1000000000);
	dw_filter_options_release(&o);
}

TEST(wrong_lines_are_named)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"\n--proces=1\n", "f:2: unknown option '--proces' (did you mean --process?)"},
		{"--from=soon", "f:1: --from: 'soon' is not a time (try 2, 500ms, 1.5s, 2m)"},
		{"--process\n", "f:1: --process needs a value (PID|NAME)"},
		{"# x\n# y\nprocess=1",
		 "f:3: what is 'process=1' for? (an option a line, as --process=NAME)"},
		{"--\n", "f:1: what is '--' for? (an option a line, as --process=NAME)"},
		{"--help", "f:1: --help chooses nothing"},
		{"--filter=f\n", "f:1: unknown option '--filter'"},
		{"--top=3\n", "f:1: unknown option '--top'"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_filter_options o = {0};
		struct dw_error err = DW_ERROR_INIT;

		write_text(cases[i].text, strlen(cases[i].text));
		CHECK_INT(dw_filter_file_read("f", &o, &err), DWELL_ERR_USAGE);
		CHECK_STR(dw_error_message(&err), cases[i].want);
		dw_error_clear(&err);
		dw_filter_options_release(&o);
	}
}

TEST(what_is_no_text_is_told)
{
	static char much[(1 << 20) + 2];
	struct dw_filter_options o = {0};
	struct dw_error err = DW_ERROR_INIT;

	write_text("--from=1\n--process=a\0b\n", 23);
	CHECK_INT(dw_filter_file_read("f", &o, &err), DWELL_ERR_FORMAT);
	CHECK_STR(dw_error_message(&err), "f:2: a NUL byte is in no option");
	memset(much, '\n', sizeof much);
	write_text(much, sizeof much);
	CHECK_INT(dw_filter_file_read("f", &o, &err), DWELL_ERR_FORMAT);
	CHECK_STR(dw_error_message(&err), "f: more than 1 MB is no filter file");
	CHECK_INT(dw_filter_file_read(".", &o, &err), -EISDIR);
	CHECK_INT(dw_filter_file_read("nowhere", &o, &err), -ENOENT);
	CHECK_STR(dw_error_message(&err), "cannot read 'nowhere': No such file or directory");
	write_text("", 0);
	CHECK_INT(dw_filter_file_read("f", &o, &err), 0);
	dw_error_clear(&err);
	dw_filter_options_release(&o);
}

TEST(what_is_written_is_read)
{
	static const char *const names[] = {"",		  " a=b ", "#x", "--process=y",
					    "\t*\"'\xff", "\r\rz"};
	static const uint64_t times[] = {1, 1000, 2500000, 7000000000, 1234567891, 86400000000000};
	enum { NAMES = sizeof names / sizeof *names };

	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		const struct dw_filter_words words = {
			.processes = names,
			.processes_n = NAMES,
			.types = names + 1,
			.types_n = 1,
			.from_ns = times[i],
			.to_ns = i % 2 ? times[i] + 1 : 0,
			.waits_left_out =
				i ? (dw_wait_kinds)i * 37 & DWELL_WAITS_ALL : DWELL_WAITS_ALL};
		struct dw_filter_options o = {0};
		struct dw_filter_words read;

		CHECK_INT(dw_filter_file_write("g", &words, NULL), 0);
		CHECK_INT(dw_filter_file_read("g", &o, NULL), 0);
		read = dw_filter_options_words(&o);
		CHECK_INT(read.processes_n, NAMES);
		for (size_t k = 0; k < NAMES; k++)
			CHECK_STR(read.processes[k], names[k]);
		CHECK_INT(read.threads_n + read.modules_n, 0);
		CHECK_INT(read.types_n, 1);
		CHECK_INT(read.from_ns, words.from_ns);
		CHECK_INT(read.to_ns, words.to_ns);
		CHECK_INT(read.waits_left_out, words.waits_left_out);
		dw_filter_options_release(&o);
	}
}

TEST(written_files_are_short)
{
	static const char *const process = "make";
	const struct dw_filter_words words = {.processes = &process,
					      .processes_n = 1,
					      .from_ns = 1500000000,
					      .to_ns = 60000000000,
					      .waits_left_out = DWELL_WAITS_FOLDED};

	CHECK_INT(dw_filter_file_write("short", &words, NULL), 0);
	CHECK_STR(strchr(text_of("short"), '\n'), "\n--process=make\n--from=1500ms\n--until=60s\n");
}

TEST(other_files_are_not_replaced)
{
	static const char *const broken = "a\nb";
	struct dw_filter_words words = {.waits_left_out = DWELL_WAITS_FOLDED};
	struct dw_error err = DW_ERROR_INIT;
	struct stat st;

	write_text("precious\n", 9);
	CHECK_INT(dw_filter_file_write("f", &words, &err), DWELL_ERR_REFUSED);
	CHECK_STR(dw_error_message(&err), "'f' exists and is no filter file, not overwriting it");
	CHECK_STR(text_of("f"), "precious\n");
	write_text("--from=1\n", 9);
	chmod("f", 0640);
	CHECK_INT(dw_filter_file_write("f", &words, &err), 0);
	CHECK_STR(strchr(text_of("f"), '\n'), "\n");
	CHECK(!stat("f", &st));
	CHECK_INT(st.st_mode & 0777, 0640);
	words.threads = &broken;
	words.threads_n = 1;
	CHECK_INT(dw_filter_file_write("new", &words, &err), DWELL_ERR_REFUSED);
	CHECK(stat("new", &st));
	CHECK_INT(dw_filter_file_write("no/where", &words, &err), DWELL_ERR_REFUSED);
	words.threads_n = 0;
	CHECK_INT(dw_filter_file_write("no/where", &words, &err), -ENOENT);
	dw_error_clear(&err);
}

TEST_MAIN()
