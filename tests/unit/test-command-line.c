/* Command lines in few words, and whole. */
#include "base/cleanup.h"
#include "check.h"
#include "target/command-line.h"

#include <string.h>

#define WORDS(text) text, sizeof(text)

TEST(programs_go_by_their_first_own_file)
{
	static const struct {
		const char *words;
		size_t n;
		const char *want;
	} cases[] = {
		{WORDS("/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus\0-quiet\0-I\0include\0-imultiarch\0"
		       "x86_64-linux-gnu\0-D_GNU_SOURCE\0test/format-test.cc\0-o\0/tmp/ccX.s"),
		 "cc1plus format-test.cc"},
		{WORDS("as\0-I\0include\0--64\0-o\0format-test.o\0/tmp/ccX.s"), "as format-test.o"},
		{WORDS("/usr/bin/ld\0-plugin\0/usr/libexec/gcc/liblto_plugin.so\0-o\0prog\0"
		       "/usr/lib/crt1.o\0main.o"),
		 "ld main.o"},
		{WORDS("make\0-j4"), "make"},
		{WORDS("sh\0-c\0g++ -c a.cc"), "sh"},
		{WORDS("/bin/bash\0./configure\0--prefix=/usr"), "bash configure"},
		{WORDS("python3\0/usr/bin/meson\0compile"), "python3 meson"},
		{WORDS("nginx: worker process\0\0\0\0"), "nginx: worker process"},
		{WORDS("sshd: root@pts/0"), "sshd: root@pts/0"},
		{WORDS("/opt/server\0--port\0"
		       "8.5\0.hidden\0name.verylongending"),
		 "server"},
		{"", 0, ""},
		{"unended", 7, "unended"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dw_auto(dw_buf) got = DW_BUF_INIT;

		dw_command_line_shorten(cases[i].words, cases[i].n, &got);
		CHECK_STR(dw_buf_str(&got), cases[i].want);
	}
}

TEST(whole_lines_are_quoted_and_cut)
{
	dw_auto(dw_buf) got = DW_BUF_INIT, much = DW_BUF_INIT, cut = DW_BUF_INIT;

	dw_command_line_quote(WORDS("sh\0-c\0echo it's\0\0"), &got);
	CHECK_STR(dw_buf_str(&got), "sh -c 'echo it'\\''s'");
	for (int i = 0; i < 5000; i++)
		dw_buf_put(&much, "ab", 3);
	dw_command_line_quote(dw_buf_str(&much), much.len, &cut);
	CHECK(cut.len < 5000);
	CHECK_STR(dw_buf_str(&cut) + cut.len - 6, "ab ...");
}

TEST_MAIN()
