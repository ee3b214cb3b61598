/*
 * Make the clone images of programs and libraries and verify them:
 * verify-images [-p none|count|time|system-calls] [-l] [-a] FILE... (files that are no such thing
 * are passed over; -l = with time: statements at every fourth address, most of them no
 * instruction's; -a = probes in short functions too).
 * Prints a line for each, its first findings, and a total. Exit 1 with findings or failures.
 */
#include "base/cleanup.h"
#include "base/vec.h"
#include "clone/clone.h"
#include "clone/verify/verify.h"
#include "code/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

DW_DEFINE_FREEP(dw_elf)

struct totals {
	uint64_t files, ranges, functions, instructions, statements, findings, failures;
};

/* Statements that are asked for. */
struct lines {
	DW_VEC(struct dw_clone_line) list;
};

/* Ask for statements all over the code of @elf, which no compiler has put there. */
static int make_lines(const struct dw_elf *elf, struct lines *l)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);

	for (size_t i = 0; i < n; i++)
		for (uint64_t k = 0; s[i].flags & PF_X && k < s[i].file_bytes; k++) {
			uint64_t svma = s[i].svma.v + k, hash = svma * 0x9e3779b97f4a7c15u >> 32;

			if (!(hash % 4) &&
			    dw_vec_push(&l->list, (struct dw_clone_line){svma, hash / 4 % 8}))
				return -ENOMEM;
		}
	return 0;
}

static uint32_t ranges_of(const uint8_t *image)
{
	struct dw_clone_header h;

	memcpy(&h, image + DWELL_CLONE_HEADER_OFFSET, sizeof h);
	return h.functions.n;
}

static uint32_t statements_of(const uint8_t *image)
{
	struct dw_clone_header h;

	memcpy(&h, image + DWELL_CLONE_HEADER_OFFSET, sizeof h);
	return h.statements.n;
}

static void print_findings(const char *path, const struct dw_verify_result *r)
{
	size_t n = sizeof r->findings / sizeof *r->findings;

	n = r->findings_n < n ? r->findings_n : n;
	for (size_t i = 0; i < n; i++)
		printf("%s: %#" PRIx64 ", clone at %#x: %s\n", path, r->findings[i].svma,
		       r->findings[i].clone_at, r->findings[i].text);
}

/* Verify the image of @elf, and add what came of it to @t. */
static int verify(const char *path, const struct dw_elf *elf, const struct dw_clone_options *o,
		  struct totals *t, struct dw_error *err)
{
	struct dw_verify_result r = {0};
	dw_auto_free uint8_t *image = NULL;
	size_t n;
	int rc = dw_clone_make(elf, o, &image, &n, err);

	if (rc == DWELL_ERR_NOT_FOUND || rc == DWELL_ERR_UNSUPPORTED)
		return 0;
	if (!rc)
		rc = dw_clone_verify(elf, image, n, &r, err);
	if (rc)
		return rc;
	printf("%s: %" PRIu64 " of %u functions, %" PRIu64 " instructions, %" PRIu64 " findings\n",
	       path, r.functions, ranges_of(image), r.instructions, r.findings_n);
	print_findings(path, &r);
	t->files++;
	t->ranges += ranges_of(image);
	t->functions += r.functions;
	t->statements += statements_of(image);
	t->instructions += r.instructions;
	t->findings += r.findings_n;
	return 0;
}

static void verify_file(const char *path, const struct dw_clone_options *options, bool with_lines,
			struct totals *t)
{
	struct dw_clone_options o = *options;
	struct lines lines = {0};
	dw_auto_ptr(dw_elf) elf = NULL;
	struct dw_error err = DW_ERROR_INIT;
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || dw_elf_open(fd, &elf, NULL))
		return;
	if (with_lines && make_lines(elf, &lines))
		t->failures++;
	o.lines = lines.list.v;
	o.lines_n = lines.list.n;
	if (verify(path, elf, &o, t, &err)) {
		printf("%s: %s\n", path, dw_error_message(&err));
		t->failures++;
	}
	dw_vec_release(&lines.list);
	dw_error_clear(&err);
	fflush(stdout);
}

/* The kind of probes called @word; none when it is no such word. */
static uint32_t probes_of(const char *word)
{
	static const char *const words[] = {[DWELL_PROBES_COUNT] = "count",
					    [DWELL_PROBES_SYSTEM_CALLS] = "system-calls",
					    [DWELL_PROBES_TIME] = "time"};

	for (uint32_t i = DWELL_PROBES_COUNT; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i]))
			return i;
	return DWELL_PROBES_NONE;
}

int main(int argc, char **argv)
{
	struct dw_clone_options options = {.probes = DWELL_PROBES_NONE};
	struct totals t = {0};
	bool with_lines = false;
	int i = 1;

	if (i + 1 < argc && !strcmp(argv[i], "-p")) {
		options.probes = probes_of(argv[i + 1]);
		i += 2;
	}
	if (i < argc && !strcmp(argv[i], "-l")) {
		with_lines = true;
		i++;
	}
	if (i < argc && !strcmp(argv[i], "-a")) {
		options.all_functions = true;
		i++;
	}
	for (; i < argc; i++)
		verify_file(argv[i], &options, with_lines, &t);
	printf("%" PRIu64 " files, %" PRIu64 " of %" PRIu64 " functions, %" PRIu64
	       " instructions, %" PRIu64 " statements: %" PRIu64 " findings, %" PRIu64
	       " failures\n",
	       t.files, t.functions, t.ranges, t.instructions, t.statements, t.findings,
	       t.failures);
	return t.findings || t.failures;
}
