/*
 * dwell live: a recording that goes on, looked at again and again, as top does it with processes.
 *
 * On a terminal that is the full-screen reader. Else each look is written as text. A look reads the
 * session as any report does, with names from symbol tables only; one that takes long makes the
 * next one come later, so that looking takes no more than a tenth of a processor.
 */
#include "analysis/totals.h"
#include "base/clock.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/live-recording.h"
#include "cli/terminal.h"
#include "format/format.h"
#include "format/text.h"
#include "record/finish.h"
#include "session/read.h"
#include "tui/reader.h"
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
	INTERVAL_DEFAULT_MS = 1000,
	WINDOW_DEFAULT_S = 10,
	SHARE_OF_TIME = 10, /* looks take at most one part in so many */
	PATH_ROWS = 8,
	ROWS = 20,
};

struct live_options {
	uint64_t interval_ns, window_ns; /* 0 = as it is by default */
	const char *output;
	bool once;
};

struct live {
	struct live_options options;
	struct dw_live_recording recording;
	bool finished;
};

#define AT(field) offsetof(struct live_options, field)

static const struct dw_option options[] = {
	{"interval", 'i', "TIME", dw_option_time_ns, AT(interval_ns),
	 "time between two looks (1; 500ms)"},
	{"window", 'w', "TIME", dw_option_time_ns, AT(window_ns),
	 "show the last part of the run, this long (as text: 10)"},
	{"output", 'o', "FILE", dw_option_text, AT(output),
	 "of a PID: keep the session in this file"},
	{"once", 0, NULL, dw_option_flag, AT(once), "look once, write it as text, and end"},
	{0},
};

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
	(void)signal;
	ended = 1;
}

static void take_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = note_end};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaction(ends[i], &action, NULL);
}

/* Until when the recording has gone, ns. */
static uint64_t end_of(const struct dw_profile *p)
{
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", 0);

	return duration > 0 ? (uint64_t)duration : 0;
}

static void put_head(const struct live *l, const struct dw_profile *p, const struct dw_totals *t,
		     struct dw_out *out)
{
	const char *command = dw_facts_get_text(&p->facts, "command");

	dw_text_put(out, command ? command : l->recording.path);
	dw_out_printf(out, "  %.1f s", (double)end_of(p) / 1e9);
	if (dw_profile_method(p) == DWELL_METHOD_SAMPLING)
		dw_out_printf(out, ", %" PRIu64 " samples", t->all[DWELL_MEASURE_SAMPLES]);
	if (!t->to_ns)
		dw_out_puts(out, " in the whole run");
	else
		dw_out_printf(out, " in the last %.1f s", (double)(t->to_ns - t->from_ns) / 1e9);
	dw_out_puts(out, l->finished ? "; it has ended\n\n" : "\n\n");
}

static int put_view(const struct live *l, const struct dw_view_ops *ops,
		    struct dw_view_request *request, size_t rows, struct dw_out *out)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_view view = {0};
	struct dw_format_job job = {
		.view = &view,
		.columns = columns,
		.rows = rows,
		.path = l->recording.path,
	};
	int rc = dw_view_open(&view, ops, request);

	dw_view_columns(ops, request->profile, DWELL_BY_NONE, true, columns);
	if (!rc)
		dw_formats[0]->write(&job, out);
	dw_view_release(&view);
	return rc;
}

static int put_views(const struct live *l, const struct dw_profile *p, struct dw_out *out)
{
	uint64_t end = end_of(p);
	struct dw_filter filter = {.waits_left_out = DWELL_WAITS_FOLDED,
				   .focus = {.hot_path = true}};
	struct dw_totals totals = {0};
	struct dw_view_request request = {.profile = p, .totals = &totals};
	int rc;

	if (end > l->options.window_ns)
		filter.from_ns = end - l->options.window_ns;
	filter.to_ns = filter.from_ns ? end + 1 : 0;
	rc = dw_totals_compute(p, &filter, DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_NODES, &totals);
	if (!rc) {
		totals.from_ns = filter.from_ns;
		totals.to_ns = filter.to_ns;
		put_head(l, p, &totals, out);
		request.sort = dw_columns_lead(dw_measures_lead(dw_profile_measures(p)), true);
		rc = put_view(l, &dw_view_functions, &request, ROWS, out);
	}
	dw_out_puts(out, "\n");
	request.sort = DWELL_COLUMN_END;
	request.hot_path = true;
	request.pruning.fold = true;
	if (!rc)
		rc = put_view(l, &dw_view_calltree, &request, PATH_ROWS, out);
	dw_totals_release(&totals);
	return rc;
}

/* Look once and write what there is. */
static int look(struct live *l, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_out text, out;
	bool runs;
	int rc = dw_live_load(&l->recording, NULL, &p, &runs, err);

	l->finished = !runs;
	dw_out_init_buffer(&text);
	dw_out_init_fd(&out, STDOUT_FILENO);
	if (!rc) {
		rc = put_views(l, &p, &text);
		if (rc)
			dw_error_set(err, rc, "cannot compute the view: %s", dw_err_string(rc));
	}
	if (!rc)
		dw_out_write(&out, text.buf.data, text.buf.len);
	/* A reader that has seen enough is no failure. */
	if (dw_out_close(&out))
		l->finished = true;
	dw_out_close(&text);
	dw_profile_release(&p);
	return rc;
}

static void wait_ns(uint64_t ns)
{
	if (!ended)
		nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)},
			  NULL);
}

/* Look until somebody has seen enough or the recording ends. */
static int watch(struct live *l, struct dw_error *err)
{
	int rc = 0;

	take_signals();
	/* A recording that has just begun has nothing to show. */
	if (l->recording.recorder)
		wait_ns(l->options.interval_ns);
	while (!ended && !rc) {
		uint64_t begin = dw_clock_ns(CLOCK_MONOTONIC), took;

		rc = look(l, err);
		if (rc || l->options.once || l->finished)
			break;
		took = (dw_clock_ns(CLOCK_MONOTONIC) - begin) * SHARE_OF_TIME;
		wait_ns(took > l->options.interval_ns ? took : l->options.interval_ns);
	}
	return rc;
}

/* For the reader, of a recording. */
static int load(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	const struct dw_live_recording *s = ctx;
	const struct dw_session_range range = {from_ns, to_ns};
	bool runs;
	int rc = dw_live_load(s, &range, p, &runs, err);

	*ret = runs					 ? DWELL_RECORDING_RUNS
	       : s->is_left && !access(s->partial, F_OK) ? DWELL_RECORDING_LEFT
							 : DWELL_RECORDING_ENDED;
	return rc;
}

static enum dw_recording_news news_of(void *ctx)
{
	bool has_changed = dw_live_has_changed(ctx);

	if (dw_live_was_left(ctx))
		return DWELL_NEWS_LEFT;
	return has_changed ? DWELL_NEWS_WRITTEN : DWELL_NEWS_NONE;
}

static const char *path_of(void *ctx)
{
	return dw_live_file(ctx);
}

/* Show it on the full screen. *@ret_signal: what ended that. */
static int show(struct live *l, const char *word, int *ret_signal, struct dw_error *err)
{
	static const struct dw_filter_words words = {.waits_left_out = DWELL_WAITS_FOLDED};
	const struct dw_reading_start start = {
		.path = word,
		.words = &words,
		.interval_ns = l->options.interval_ns,
		.window_ns = l->options.window_ns,
		.source = {.ctx = &l->recording, .load = load, .look = news_of, .path = path_of},
	};

	news_of(&l->recording); /* what is loaded first is not new */
	return dw_reader_run(&start, ret_signal, err);
}

static int live(struct live *l, const char *word)
{
	struct dw_error err = DW_ERROR_INIT;
	bool has_screen = !l->options.once && dw_terminal_has_screen();
	int rc = dw_live_open(&l->recording, word, l->options.output, has_screen, &err);
	int code, number = 0;

	if (!rc)
		rc = has_screen ? show(l, word, &number, &err) : -ENOTTY;
	if (rc == -ENOTTY) {
		dw_error_clear(&err);
		if (!l->options.window_ns)
			l->options.window_ns = (uint64_t)WINDOW_DEFAULT_S * 1000000000;
		rc = watch(l, &err);
	}
	code = rc ? DWELL_EXIT_BAD : DWELL_EXIT_OK;
	if (rc && !l->recording.has_told)
		dw_command_fail(&err, code);
	dw_live_close(&l->recording);
	dw_error_clear(&err);
	/* Who waits for us is to know what it was. */
	if (number)
		raise(number);
	return code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	static struct live l; /* a thread of the reader may go on with it until the process ends */
	int first, code;

	l.options.interval_ns = (uint64_t)INTERVAL_DEFAULT_MS * 1000000;
	code = dw_command_parse(self, argv, &l.options, &first);
	if (code >= 0)
		return code;
	dw_large_heap();
	if (argc - first == 1)
		return live(&l, argv[first]);
	return dw_command_wrong(self, "takes one FILE.dwell or one process id");
}

const struct dw_command dw_cmd_live = {
	.name = "live",
	.help = "watch a recording, or a process, while it runs",
	.synopsis = "FILE|PID [OPTIONS]",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
