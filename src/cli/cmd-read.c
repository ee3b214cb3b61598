/*
 * dwell read: a session on the full screen. Where there is no terminal to draw on it is the
 * summary, as dwell report prints it.
 */
#include "base/error.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/filter-file.h"
#include "cli/terminal.h"
#include "record/finish.h"
#include "session/read.h"
#include "tui/reader.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct read_options {
	struct dw_filter_options filter;
	struct dw_option_list source_dirs;
	bool shows_all_code;
};

#define FIELD(name) offsetof(struct read_options, name)

static const struct dw_option table[] = {
	DW_FILTER_OPTIONS(FIELD(filter)),
	{"to", 0, "TIME", dw_option_time_ns, FIELD(filter.to_ns), NULL}, /* what it was called */
	{"source-dir", 0, "DIR", dw_option_list, FIELD(source_dirs),
	 "look for source below DIR first"},
	{"all-code", 0, NULL, dw_option_flag, FIELD(shows_all_code),
	 "begin without folding the system's code"},
	{NULL},
};

static int load(void *path, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	const struct dw_session_range range = {from_ns, to_ns};

	*ret = DWELL_RECORDING_ENDED;
	p->calls.wants_activity = true;
	return dw_open_profile(path, &range, p, err);
}

static const char *path_of(void *path)
{
	return path;
}

struct leaving {
	const char *save; /* NULL = nothing is saved */
	int rc;
	struct dw_error *err;
};

static void leave(void *ctx, const struct dw_filter_words *words)
{
	struct leaving *l = ctx;

	if (l->save)
		l->rc = dw_filter_file_write(l->save, words, l->err);
}

/* Read @path until the user has enough. *@ret_signal: what ended that. */
static int read_session(const struct read_options *o, char *path, int *ret_signal,
			struct dw_error *err)
{
	const struct dw_filter_words words = dw_filter_options_words(&o->filter);
	struct leaving leaving = {.save = o->filter.save, .err = err};
	const struct dw_reading_start start = {
		.path = path,
		.words = &words,
		.source_dirs = o->source_dirs.v,
		.source_dirs_n = o->source_dirs.n,
		.shows_all_code = o->shows_all_code,
		.source = {.ctx = path, .load = load, .path = path_of},
		.leave = leave,
		.leave_ctx = &leaving,
	};
	int rc = dw_reader_run(&start, ret_signal, err);

	return rc ? rc : leaving.rc;
}

static char **copy_words(int argc, char **argv)
{
	char **words = calloc((size_t)argc + 1, sizeof *words);

	if (words)
		memcpy(words, argv, (size_t)argc * sizeof *words);
	return words;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct read_options o = {0};
	struct dw_error err = DW_ERROR_INIT;
	char **words = copy_words(argc, argv); /* parsing uses them up */
	int first, number = 0, rc = -ENOTTY, code = dw_command_parse(self, argv, &o, &first);

	if (code < 0 && argc - first > 1)
		code = dw_command_wrong(self, "takes one session (a FILE.dwell) and no view: "
					      "dwell report FILE VIEW shows one");
	else if (code < 0 && argc == first)
		code = dw_command_wrong(self, "which session? (a FILE.dwell)");
	if (code < 0 && dw_terminal_has_screen()) {
		dw_large_heap();
		rc = read_session(&o, argv[first], &number, &err);
		if (!rc)
			code = DWELL_EXIT_OK;
		else if (rc == DWELL_ERR_USAGE)
			code = dw_command_misuse(self, &err);
		else if (rc != -ENOTTY)
			code = dw_command_fail(&err, DWELL_EXIT_BAD);
	}
	dw_filter_options_release(&o.filter);
	dw_vec_release(&o.source_dirs);
	dw_error_clear(&err);
	if (code < 0)
		code = dw_cmd_report.run(&dw_cmd_report, argc, words ? words : argv);
	free(words);
	/* Who waits for us is to know what it was. */
	if (number)
		raise(number);
	return code;
}

const struct dw_command dw_cmd_read = {
	.name = "read",
	.help = "look through a session on the full screen; 'dwell FILE' does that, too",
	.synopsis = "FILE [OPTIONS]",
	.options = table,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
