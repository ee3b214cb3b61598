/*
 * dwell live: a recording that goes on, looked at again and again, as top does it with processes.
 *
 * Each look reads the session as any report does, with names from symbol tables only; a look that
 * takes long makes the next one come later, so that looking takes no more than a tenth of a
 * processor.
 */
#include "analysis/totals.h"
#include "base/clock.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/live-screen.h"
#include "cli/live-source.h"
#include "cli/terminal.h"
#include "format/format.h"
#include "format/text.h"
#include "record/finish.h"
#include "view/column-groups.h"
#include "view/views.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

enum {
	INTERVAL_DEFAULT_MS = 1000,
	WINDOW_DEFAULT_S = 10,
	SHARE_OF_TIME = 10, /* looks take at most one part in so many */
	PATH_ROWS = 8,
	OTHER_ROWS = 6, /* what is said above, headers, and between them */
	ROWS_MIN = 5,
	ROWS_PLAIN = 20,
};

struct live_options {
	uint64_t interval_ns, window_ns;
	const char *output;
	bool once;
};

struct live {
	struct live_options options;
	struct dw_live_source source;
	struct dw_live_screen screen;
	bool whole, paused, inclusive, finished;
};

#define AT(field) offsetof(struct live_options, field)

static const struct dw_option options[] = {
	{"interval", 'i', "TIME", dw_option_time_ns, AT(interval_ns),
	 "time between two looks (1; 500ms)"},
	{"window", 'w', "TIME", dw_option_time_ns, AT(window_ns),
	 "show the last part of the run, this long (10)"},
	{"output", 'o', "FILE", dw_option_text, AT(output),
	 "of a PID: keep the session in this file"},
	{"once", 0, NULL, dw_option_flag, AT(once), "look once, write it as text, and end"},
	{0},
};

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
	bool colour = l->screen.is_terminal && dw_terminal_colour(STDOUT_FILENO);

	dw_out_puts(out, colour ? "\033[1m" : "");
	dw_text_put(out, command ? command : l->source.path);
	dw_out_puts(out, colour ? "\033[0m" : "");
	dw_out_printf(out, "  %.1f s", (double)end_of(p) / 1e9);
	if (dw_profile_method(p) == DWELL_METHOD_SAMPLING)
		dw_out_printf(out, ", %" PRIu64 " samples", t->all[DWELL_MEASURE_SAMPLES]);
	if (l->whole || !t->to_ns)
		dw_out_puts(out, " in the whole run");
	else
		dw_out_printf(out, " in the last %.1f s", (double)(t->to_ns - t->from_ns) / 1e9);
	dw_out_puts(out, l->finished ? "; it has ended\n" : l->paused ? "; paused\n" : "\n");
	if (l->screen.has_keys)
		dw_out_puts(out, "q quit   space pause   a all or last   s sort\n");
	dw_out_puts(out, "\n");
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
		.path = l->source.path,
		.width = l->screen.is_terminal ? l->screen.width : 0,
		.colour = l->screen.is_terminal && dw_terminal_colour(STDOUT_FILENO),
	};
	int rc = dw_view_open(&view, ops, request);

	dw_view_columns(ops, request->profile, true, columns);
	if (!rc)
		dw_formats[0]->write(&job, out);
	dw_view_release(&view);
	return rc;
}

/* The column by which rows come first. */
static enum dw_column lead_column(const struct dw_profile *p, bool exclusive)
{
	return dw_columns_lead(dw_measures_lead(dw_profile_measures(p), true), exclusive);
}

static int put_views(const struct live *l, const struct dw_profile *p, struct dw_out *out)
{
	uint64_t end = end_of(p);
	struct dw_filter filter = {.focus = {.hot_path = true}};
	struct dw_totals totals = {0};
	struct dw_view_request request = {.profile = p, .totals = &totals};
	size_t rows = ROWS_PLAIN;
	int rc;

	if (!l->whole && end > l->options.window_ns)
		filter.from_ns = end - l->options.window_ns;
	filter.to_ns = filter.from_ns ? end + 1 : 0;
	rc = dw_totals_compute(p, &filter, DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_NODES, &totals);
	if (!rc) {
		totals.from_ns = filter.from_ns;
		totals.to_ns = filter.to_ns;
		put_head(l, p, &totals, out);
		if (l->screen.is_terminal)
			rows = l->screen.height > PATH_ROWS + OTHER_ROWS + ROWS_MIN
				       ? l->screen.height - PATH_ROWS - OTHER_ROWS
				       : ROWS_MIN;
		request.sort = lead_column(p, !l->inclusive);
		rc = put_view(l, &dw_view_functions, &request, rows, out);
	}
	dw_out_puts(out, "\n");
	request.sort = DWELL_COLUMN_END;
	request.hot_path = true;
	request.shape.fold = true;
	if (!rc)
		rc = put_view(l, &dw_view_calltree, &request, PATH_ROWS, out);
	dw_totals_release(&totals);
	return rc;
}

/* Look once and draw. */
static int look(struct live *l, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_out out;
	int rc = dw_open_running(dw_live_source_file(&l->source), &p, &l->finished, err);

	/* Between two names there may be neither file. */
	if (rc == -ENOENT) {
		dw_error_clear(err);
		dw_profile_release(&p);
		p = (struct dw_profile)DW_PROFILE_INIT;
		rc = dw_open_running(l->source.path, &p, &l->finished, err);
	}
	dw_out_init_buffer(&out);
	if (!rc) {
		rc = put_views(l, &p, &out);
		if (rc)
			dw_error_set(err, rc, "cannot compute the view: %s", dw_err_string(rc));
	}
	/* A reader that has seen enough is no failure. */
	if (!rc && dw_live_screen_draw(&l->screen, out.buf.data, out.buf.len))
		l->finished = true;
	dw_out_close(&out);
	dw_profile_release(&p);
	return rc;
}

/* Do what @key asks. False: it asks for the end. */
static bool obey(struct live *l, int key)
{
	switch (key) {
	case -1:
	case 'q':
	case 'Q':
		return false;
	case ' ':
	case 'p':
		l->paused = !l->paused;
		break;
	case 'a':
		l->whole = !l->whole;
		break;
	case 's':
		l->inclusive = !l->inclusive;
		break;
	default:
		break;
	}
	return true;
}

/* Look until somebody has seen enough or the recording ends. */
static int watch(struct live *l, struct dw_error *err)
{
	bool goes_on = true;
	int rc = 0;

	/* A recording that has just begun has nothing to show. */
	if (l->source.recorder)
		goes_on = obey(
			l, dw_live_screen_key(&l->screen, (int)(l->options.interval_ns / 1000000)));

	while (goes_on && !rc) {
		uint64_t begin = dw_clock_ns(CLOCK_MONOTONIC), took, wait;
		int key;

		rc = look(l, err);
		if (rc || l->options.once || l->finished)
			break;
		took = dw_clock_ns(CLOCK_MONOTONIC) - begin;
		wait = took * SHARE_OF_TIME > l->options.interval_ns ? took * SHARE_OF_TIME
								     : l->options.interval_ns;
		do {
			key = dw_live_screen_key(&l->screen, (int)(wait / 1000000));
			goes_on = obey(l, key);
		} while (goes_on && !key && l->paused);
	}
	return rc;
}

static int live(struct live *l, const char *word)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc = dw_live_source_open(&l->source, word, l->options.output, &err), code;

	if (!rc) {
		dw_live_screen_open(&l->screen, l->options.once);
		rc = watch(l, &err);
		dw_live_screen_close(&l->screen);
	}
	/* What was on the screen is gone with it: leave the last look behind. */
	if (!rc && l->finished && isatty(STDOUT_FILENO) && !l->options.once)
		rc = look(l, &err);
	code = rc ? DWELL_EXIT_BAD : DWELL_EXIT_OK;
	if (rc && !l->source.has_told)
		dw_command_fail(&err, code);
	dw_live_source_close(&l->source);
	dw_error_clear(&err);
	return code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct live l = {.options = {.interval_ns = (uint64_t)INTERVAL_DEFAULT_MS * 1000000,
				     .window_ns = (uint64_t)WINDOW_DEFAULT_S * 1000000000}};
	struct dw_error err = DW_ERROR_INIT;
	int first, code = dw_command_parse(self, argv, &l.options, &first);

	if (code >= 0)
		return code;
	dw_large_heap();
	if (argc - first == 1)
		return live(&l, argv[first]);
	dw_error_set(&err, DWELL_ERR_USAGE, "takes one FILE.dwell or one process id");
	code = dw_command_misuse(self, &err);
	dw_error_clear(&err);
	return code;
}

const struct dw_command dw_cmd_live = {
	.name = "live",
	.help = "watch a recording, or a process, while it runs",
	.synopsis = "FILE|PID [OPTIONS]",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
