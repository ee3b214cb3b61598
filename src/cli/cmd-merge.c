/*
 * `dwell merge`: several sessions as one, with the sums of all.
 */
#include "cli/command.h"

#include "base/process-setup.h"
#include "cli/leftovers.h"
#include "merge/merge.h"

#include <stdio.h>
#include <stdlib.h>

struct cmd_merge {
	const char *output;
	bool quiet;
};

#define AT(field) offsetof(struct cmd_merge, field)

static const struct dw_option options[] = {
	{"output", 'o', "FILE", dw_option_text, AT(output), "session file"},
	{"quiet", 'q', NULL, dw_option_flag, AT(quiet), "do not say what was done"},
	{0},
};

/* What may stand beside a session while it is written: see session/output.h. */
static const char *const suffixes[] = {
	".partial",	".partial-wal",	    ".partial-shm",	".partial-journal",
	".partial-new", ".partial-new-wal", ".partial-new-shm", ".partial-new-journal",
};

enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

struct beside {
	char *names[SUFFIXES]; /* owned; NULL without memory */
	int numbers[SUFFIXES];
};

/* Begin to write @path. What stands beside it goes where a signal ends dwell. */
static int begin(const char *path, struct beside *b, struct dw_merge **ret, struct dw_error *err)
{
	sigset_t before;
	int rc;

	for (int i = 0; i < SUFFIXES; i++)
		if (asprintf(&b->names[i], "%s%s", path, suffixes[i]) < 0)
			b->names[i] = NULL;
	dw_leftovers_begin(&before);
	rc = dw_merge_begin(path, ret, err);
	for (int i = 0; i < SUFFIXES && !rc; i++)
		b->numbers[i] = b->names[i] ? dw_leftovers_add(b->names[i]) : 0;
	dw_leftovers_end(&before);
	return rc;
}

static void release(struct beside *b)
{
	for (int i = 0; i < SUFFIXES; i++) {
		dw_leftovers_drop(b->numbers[i]);
		free(b->names[i]);
	}
}

static int merge(const struct cmd_merge *c, char **paths, int n)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_merge *m = NULL;
	struct beside beside = {0};
	int rc = begin(c->output, &beside, &m, &err), code = DWELL_EXIT_OK;

	for (int i = 0; i < n && !rc; i++)
		rc = dw_merge_add(m, paths[i], &err);
	if (!rc)
		rc = dw_merge_end(m, &err);
	dw_merge_free(m);
	release(&beside);
	if (rc)
		code = dw_command_fail(&err, DWELL_EXIT_BAD);
	else if (!c->quiet)
		fprintf(stderr, "dwell: merged %d session%s; next: dwell report %s\n", n,
			n == 1 ? "" : "s", c->output);
	dw_error_clear(&err);
	return code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_merge c = {0};
	int first, code = dw_command_parse(self, argv, &c, &first);

	if (code >= 0)
		return code;
	if (argc == first)
		return dw_command_wrong(self, "takes sessions: FILE ... -o FILE");
	if (!c.output)
		return dw_command_wrong(self, "needs -o FILE, the session to write");
	dw_large_heap();
	return merge(&c, argv + first, argc - first);
}

const struct dw_command dw_cmd_merge = {
	.name = "merge",
	.help = "make one session of several, with the sums of all",
	.synopsis = "FILE ... -o FILE [options]",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
