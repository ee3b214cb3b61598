/*
 * Make the clone images of programs and libraries and verify them:
 * verify-images [-p none|count|time|system-calls] [-a] FILE... (files that are no such thing are
 * passed over; -a = probes in short functions too).
 * Prints a line for each, its first findings, and a total. Exit 1 with findings or failures.
 */
#include "base/cleanup.h"
#include "clone/clone.h"
#include "clone/verify.h"
#include "code/elf/elf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

DW_DEFINE_FREEP(dw_elf)

struct totals {
	uint64_t files, ranges, functions, instructions, findings, failures;
};

static uint32_t ranges_of(const uint8_t *image)
{
	struct dw_clone_header h;

	memcpy(&h, image + DWELL_CLONE_HEADER_OFFSET, sizeof h);
	return h.functions.n;
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
	t->instructions += r.instructions;
	t->findings += r.findings_n;
	return 0;
}

static void verify_file(const char *path, const struct dw_clone_options *o, struct totals *t)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	struct dw_error err = DW_ERROR_INIT;
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || dw_elf_open(fd, &elf, NULL))
		return;
	if (verify(path, elf, o, t, &err)) {
		printf("%s: %s\n", path, dw_error_message(&err));
		t->failures++;
	}
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
	int i = 1;

	if (i + 1 < argc && !strcmp(argv[i], "-p")) {
		options.probes = probes_of(argv[i + 1]);
		i += 2;
	}
	if (i < argc && !strcmp(argv[i], "-a")) {
		options.all_functions = true;
		i++;
	}
	for (; i < argc; i++)
		verify_file(argv[i], &options, &t);
	printf("%" PRIu64 " files, %" PRIu64 " of %" PRIu64 " functions, %" PRIu64
	       " instructions: %" PRIu64 " findings, %" PRIu64 " failures\n",
	       t.files, t.functions, t.ranges, t.instructions, t.findings, t.failures);
	return t.findings || t.failures;
}
