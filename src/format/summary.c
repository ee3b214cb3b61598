/*
 * The summary in words; see summary.h. A line about what is missing appears only when there is
 * something to say, and says what it means for the numbers above it.
 */
#include "format/summary.h"

#include "format/alloc-summary.h"
#include "format/call-summary.h"
#include "format/summary-writer.h"
#include "format/text.h"
#include "format/words.h"
#include "view/views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDTH_DEFAULT = 80,
	WIDTH_MAX = 120,
	NAME_MIN = 16,	    /* columns of a name, in whatever is left of its line */
	BAR_MAX = 20,	    /* columns of a full bar */
	PATH_ROWS_MAX = 10, /* of the hot path */
	PATH_HEAD_ROWS = 3, /* of a longer one before the gap: its end matters most */
	INDENT_MAX = 24,
	FEW_SAMPLES = 100,
	NAMELESS_PCT = 5, /* of samples in code without names, to say so */
	MANY_PROCESSES = 10,
};

static const char *bold(const struct dw_format_job *job)
{
	return job->colour ? "\033[1m" : "";
}

static const char *plain(const struct dw_format_job *job)
{
	return job->colour ? "\033[0m" : "";
}

size_t dw_summary_width(const struct dw_format_job *job)
{
	size_t width = job->width ? job->width : WIDTH_DEFAULT;

	return width > WIDTH_MAX ? WIDTH_MAX : width < 40 ? 40 : width;
}

static int64_t fact(const struct dw_format_job *job, const char *key, int64_t otherwise)
{
	return dw_facts_get(&job->view->request.profile->facts, key, otherwise);
}

static void put_title(const struct dw_format_job *job, struct dw_out *out)
{
	const char *command = dw_facts_get_text(&job->view->request.profile->facts, "command");

	dw_out_puts(out, bold(job));
	dw_text_put_fitted(out,
			   command     ? command
			   : job->path ? job->path
				       : "",
			   dw_summary_width(job));
	dw_out_printf(out, "%s\n", plain(job));
}

/* " at 1,000 Hz" or " of page-faults, one each 100": how samples came. */
static void put_rate(const struct dw_format_job *job, struct dw_out *out)
{
	const char *event = dw_facts_get_text(&job->view->request.profile->facts, "event");
	int64_t hz = fact(job, "frequency_hz", 0), period = fact(job, "period", 0);
	char digits[DWELL_GROUPED_MAX_BYTES];

	if (event && strcmp(event, "cpu-clock") != 0 && strcmp(event, "cycles") != 0) {
		dw_out_puts(out, " of ");
		dw_text_put(out, event);
	}
	if (period > 1)
		dw_out_printf(out, ", one each %s", dw_words_grouped((uint64_t)period, digits));
	if (hz > 0)
		dw_out_printf(out, " at %s Hz", dw_words_grouped((uint64_t)hz, digits));
}

/* "2.01 s, 1,984 samples at 1,000 Hz, 8 threads in 1 process" */
static void put_size(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_profile *p = job->view->request.profile;
	int64_t duration = fact(job, "duration_ns", -1);
	char digits[DWELL_GROUPED_MAX_BYTES];

	dw_out_puts(out, "  ");
	if (duration >= 0) {
		dw_words_time(out, duration);
		dw_out_puts(out, ", ");
	}
	dw_words_count(out, job->view->request.totals->all[DWELL_MEASURE_SAMPLES], "sample");
	put_rate(job, out);
	dw_out_puts(out, ", ");
	dw_words_count(out, dw_threads_count(&p->threads), "thread");
	dw_out_puts(out, dw_processes_count(&p->processes) == 1 ? " in 1 process\n" : " in ");
	if (dw_processes_count(&p->processes) != 1)
		dw_out_printf(out, "%s processes\n",
			      dw_words_grouped(dw_processes_count(&p->processes), digits));
}

/* "Blocked: 12.3 s, all threads together" */
static void put_blocked(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_totals *t = job->view->request.totals;

	if (!dw_totals_has_waits(t))
		return;
	dw_out_puts(out, "  Blocked: ");
	dw_words_time(out, (int64_t)t->all[DWELL_MEASURE_BLOCKED]);
	dw_out_puts(out, ", all threads together\n");
}

/* "CPU time 1.98 s in the program, 0.02 s in the kernel" */
static void put_cpu(const struct dw_format_job *job, struct dw_out *out)
{
	int64_t user = fact(job, "user_cpu_ns", -1), kernel = fact(job, "kernel_cpu_ns", -1);

	if (user < 0)
		return;
	dw_out_puts(out, "  CPU time: ");
	dw_words_time(out, user);
	dw_out_puts(out, " in the program");
	if (kernel >= 0) {
		dw_out_puts(out, ", ");
		dw_words_time(out, kernel);
		dw_out_puts(out, " in the kernel");
		if (fact(job, "kernel_sampled", 0) <= 0)
			dw_out_puts(out, " (not sampled)");
	}
	dw_out_puts(out, "\n");
}

void dw_summary_heading(const struct dw_summary_writer *w, const char *text)
{
	dw_out_printf(w->out, "\n%s%s%s\n", bold(w->job), text, plain(w->job));
}

void dw_summary_name(struct dw_summary_writer *w, const struct dw_row *row, size_t used)
{
	size_t width = dw_summary_width(w->job);
	struct dw_cell c;

	dw_view_cell(w->job->view, row, DWELL_COLUMN_NAME, &w->scratch[1], &c);
	dw_text_put_fitted(w->out, c.kind ? c.text : "",
			   used + NAME_MIN < width ? width - used : NAME_MIN);
}

static double percent(const struct dw_summary_writer *w, uint64_t n)
{
	const struct dw_totals *t = w->job->view->request.totals;
	uint64_t all = t->all[t->main];

	return all ? 100.0 * (double)n / (double)all : 0;
}

static double blocked_percent(const struct dw_summary_writer *w, uint64_t ns)
{
	uint64_t all = w->job->view->request.totals->all[DWELL_MEASURE_BLOCKED];

	return all ? 100.0 * (double)ns / (double)all : 0;
}

/* The shares of a row of the hot path. Returns the columns written. */
static size_t put_path_shares(const struct dw_summary_writer *w, const struct dw_row *row)
{
	const struct dw_totals *t = w->job->view->request.totals;
	uint64_t ns = dw_measured_get(&row->measured, DWELL_MEASURE_BLOCKED, false);

	if (dw_totals_go_by_waits(t)) {
		dw_out_printf(w->out, "  %6.2f %%", blocked_percent(w, ns));
		return 10;
	}
	dw_out_printf(w->out, "  %6.2f %%", percent(w, row->values.inclusive));
	if (t->main == DWELL_MEASURE_SAMPLES)
		return 10;
	dw_out_printf(w->out, "  %6.2f %%", percent(w, row->values.exclusive));
	return 20;
}

static void put_path_row(struct dw_summary_writer *w, size_t i, size_t depth)
{
	size_t used, indent = depth * 2 > INDENT_MAX ? INDENT_MAX : depth * 2;
	struct dw_row row;

	dw_view_row(w->job->view, i, &w->scratch[0], &row);
	used = put_path_shares(w, &row);
	dw_out_printf(w->out, "%*s ", (int)indent, "");
	dw_summary_name(w, &row, used + 2 + indent);
	dw_out_puts(w->out, "\n");
}

/* The hot path as an indented chain; the middle of a long one is left out. */
static void put_path(struct dw_summary_writer *w, size_t n)
{
	size_t left_out = n > PATH_ROWS_MAX ? n - PATH_ROWS_MAX : 0;
	enum dw_method method = dw_profile_method(w->job->view->request.profile);

	if (n && method == DWELL_METHOD_INSTRUMENTATION)
		dw_summary_heading(w, "Hot path: time with callees, and of its own");
	else if (n && method == DWELL_METHOD_MEMORY)
		dw_summary_heading(w, "Hot path: bytes with callees, and of its own");
	else if (n && dw_totals_go_by_waits(w->job->view->request.totals))
		dw_summary_heading(w, "Hot path: blocked time");
	else if (n)
		dw_summary_heading(w, "Hot path");
	for (size_t i = 0; i < n - left_out; i++) {
		if (left_out && i == PATH_HEAD_ROWS)
			dw_out_printf(w->out, "  %*s... %zu more ...\n",
				      (method != DWELL_METHOD_SAMPLING ? 19 : 9) +
					      PATH_HEAD_ROWS * 2,
				      "", left_out);
		put_path_row(w, i < PATH_HEAD_ROWS ? i : i + left_out, i);
	}
}

static void put_bar(struct dw_summary_writer *w, double pct)
{
	size_t full = (size_t)(pct * BAR_MAX / 100 + .5);

	for (size_t i = 0; i < BAR_MAX; i++)
		dw_out_puts(w->out, i < full ? "█" : "·");
}

/* The name of a function at the end of its line, with the number of processes that it is in. */
static void put_function_name(struct dw_summary_writer *w, const struct dw_row *row)
{
	struct dw_out processes;

	dw_out_init_buffer(&processes);
	if (row->processes > 1) {
		dw_out_puts(&processes, "  (");
		dw_words_count(&processes, row->processes, "process");
		dw_out_puts(&processes, ")");
	}
	dw_summary_name(w, row, 12 + BAR_MAX + processes.buf.len);
	dw_out_printf(w->out, "%s\n", dw_buf_str(&processes.buf));
	dw_out_close(&processes);
}

static bool is_waiting(const struct dw_row *row)
{
	return !strcmp(row->section, "Functions Waiting Longest");
}

/* The functions with most samples of their own, with bars. */
static void put_functions(struct dw_summary_writer *w, size_t first)
{
	const struct dw_view *v = w->job->view;

	if (first < v->n && v->request.totals->all[DWELL_MEASURE_SAMPLES])
		dw_summary_heading(w, "Functions doing most of the work themselves");
	for (size_t i = first; i < v->n; i++) {
		struct dw_row row;

		dw_view_row(v, i, &w->scratch[0], &row);
		if (!row.values.exclusive || is_waiting(&row))
			break;
		dw_out_printf(w->out, "  %6.2f %% ", percent(w, row.values.exclusive));
		put_bar(w, percent(w, row.values.exclusive));
		dw_out_puts(w->out, " ");
		put_function_name(w, &row);
	}
}

/* The functions that wait longest themselves, which come last. */
static void put_waiting(struct dw_summary_writer *w, size_t first)
{
	const struct dw_view *v = w->job->view;
	bool has_heading = false;

	for (size_t i = first; i < v->n; i++) {
		struct dw_row row;
		double pct;

		dw_view_row(v, i, &w->scratch[0], &row);
		if (!is_waiting(&row))
			continue;
		if (!has_heading)
			dw_summary_heading(w, "Functions waiting longest themselves");
		has_heading = true;
		pct = blocked_percent(w,
				      dw_measured_get(&row.measured, DWELL_MEASURE_BLOCKED, true));
		dw_out_printf(w->out, "  %6.2f %% ", pct);
		put_bar(w, pct);
		dw_out_puts(w->out, " ");
		put_function_name(w, &row);
	}
}

static bool is_from_inside(const struct dw_format_job *job)
{
	const char *road = dw_facts_get_text(&job->view->request.profile->facts, "road");

	return road && !strcmp(road, "inside");
}

/*
 * Say so where far fewer samples came than the CPU time gives. The kernel's timer begins anew in
 * each process, so one that ends before its first tick is not seen, which shows where processes are
 * many. And reading the clock of a thread's own CPU time makes the kernel (since Linux 6.6) look
 * whether its turn is over: threads that do so all the time give way to others between ticks.
 */
static void put_unseen(const struct dw_format_job *job, struct dw_out *out)
{
	int64_t user = fact(job, "user_cpu_ns", 0), hz = fact(job, "frequency_hz", 0);
	double all = (double)user / 1e9 * (double)hz,
	       got = (double)(fact(job, "samples_kept", 0) + fact(job, "samples_lost", 0) +
			      fact(job, "samples_discarded", 0));

	if (hz <= 0 || got >= .8 * all)
		return;
	if (dw_processes_count(&job->view->request.profile->processes) >= MANY_PROCESSES) {
		dw_out_puts(out, "  Processes of less than ");
		dw_words_time(out, 1000000000 / hz);
		dw_out_puts(out, " of CPU time are mostly missing; a higher -F shows them.\n");
	} else if (is_from_inside(job) && all >= FEW_SAMPLES) {
		dw_out_printf(
			out,
			"  The kernel's ticks found the program for %.0f %% of its CPU time: it gave "
			"way to others between them.\n",
			100 * got / all);
	}
}

/* "Sampled from inside, at the kernel's ticks: CAUSE AND CURE", and who was left out. */
static void put_road(const struct dw_format_job *job, struct dw_out *out)
{
	const char *why = dw_facts_get_text(&job->view->request.profile->facts, "road_why");

	if (!is_from_inside(job))
		return;
	dw_out_puts(out, "  Sampled from inside the program, at the kernel's ticks: ");
	dw_text_put(out, why ? why : "perf was refused");
	dw_out_puts(out, "\n");
	dw_words_note(out, fact(job, "threads_unsampled", 0), "thread",
		      "not sampled: they began in a way that gives no timer.");
	dw_words_note(out, fact(job, "children_unsampled", 0), "child program",
		      "not sampled: static, of another C library, or with other rights.");
	dw_words_note(out, fact(job, "left_alone_signal", 0), "program",
		      "left alone: it uses the sampler's signal itself.");
	dw_words_note(out, fact(job, "left_alone_filter", 0), "program",
		      "left alone: it forbade itself system calls.");
	dw_words_note(out, fact(job, "left_alone_traced", 0), "program",
		      "left alone: it asked to be traced.");
	dw_words_note(out, fact(job, "left_alone_timer", 0), "program",
		      "not sampled: the kernel refused its timer.");
}

/* What is to be known of waits. */
static void put_wait_notes(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_facts *facts = &job->view->request.profile->facts;
	const char *road = dw_facts_get_text(facts, "road");

	if (road && !strcmp(road, "outside")) {
		dw_out_puts(out, "  Seen from outside, waits alone: ");
		dw_text_put(out, dw_facts_get_text(facts, "road_why")
					 ? dw_facts_get_text(facts, "road_why")
					 : "perf was refused");
		dw_out_puts(out, "\n");
	}
	dw_words_note(out, fact(job, "waits_stacks_cut", 0), "stack of a wait",
		      "cut: outer callers are missing.");
	if (fact(job, "waits_stacks_refused", 0) && !fact(job, "waits_stacks_whole", 0) &&
	    !fact(job, "waits_stacks_cut", 0))
		dw_out_puts(out, "  Waits have no stacks: we may not read the processes' memory "
				 "(another user's, or kernel.yama.ptrace_scope).\n");
}

/* Percentages of a few samples say little. Inside programs the kernel's ticks set the rate. */
static void put_few(const struct dw_format_job *job, struct dw_out *out)
{
	uint64_t n = job->view->request.totals->all[DWELL_MEASURE_SAMPLES];

	if (!n)
		dw_out_puts(out, "  No sample was taken");
	else if (n < FEW_SAMPLES)
		dw_out_printf(out, "  Only %" PRIu64 " sample%s: too few to trust the percentages",
			      n, n == 1 ? "" : "s");
	if (n < FEW_SAMPLES)
		dw_out_printf(out, "; run longer%s.\n",
			      is_from_inside(job) ? "" : " or with a higher -F");
}

/* Code that a program makes at run time has names only if it tells them, which runtimes do on
 * request: say so where it matters. */
static void put_nameless(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_profile *p = job->view->request.profile;
	const struct dw_totals *t = job->view->request.totals;
	uint64_t n = 0;

	dw_vec_each(row, &t->functions) {
		const struct dw_function *f = dw_functions_get(&p->functions, row->function);
		const struct dw_module *m = f ? dw_modules_get(&p->modules, f->module) : NULL;

		if (m && m->kind == DWELL_MODULE_ANON && f->flags & DWELL_FUNCTION_NO_SYMBOL)
			n += dw_totals_values(t, row->amounts)->exclusive;
	}
	if (!n || n * 100 < t->all[DWELL_MEASURE_SAMPLES] * NAMELESS_PCT)
		return;
	dw_words_note(out, (int64_t)n, "sample",
		      "in code made at run time, without names: man dwell-sample tells how to have "
		      "them.");
}

static void put_notes(const struct dw_format_job *job, struct dw_out *out)
{
	const struct dw_totals *t = job->view->request.totals;
	int64_t in_32bit = fact(job, "samples_discarded_32bit", 0);

	if (!dw_totals_has_waits(t))
		put_few(job, out);
	put_road(job, out);
	if (dw_totals_has_waits(t))
		put_wait_notes(job, out);
	put_unseen(job, out);
	dw_words_note(out, fact(job, "samples_lost", 0), "sample",
		      "lost (buffers were full): shares may lean towards quiet times.");
	dw_words_note(out, fact(job, "records_lost", 0), "event record",
		      "lost: some processes, threads, modules or waits may be missing.");
	dw_words_note(out, fact(job, "throttled", 0), "time",
		      "slowed down by the kernel: fewer samples there; a lower -F avoids it.");
	dw_words_note(out, (int64_t)t->stacks_cut, "stack",
		      "cut: outer callers are missing, the functions themselves are right.");
	put_nameless(job, out);
	dw_words_note(out, in_32bit, "sample", "discarded: of 32-bit code, which is not unwound.");
	dw_words_note(out, fact(job, "samples_discarded", 0) - in_32bit, "sample",
		      "discarded: the program was not running then.");
}

/* What became of asking servers for debug information. */
static void put_debuginfod(const struct dw_format_job *job, struct dw_out *out)
{
	const char *state = dw_facts_get_text(&job->view->request.profile->facts, "debuginfod");

	if (!state)
		return;
	dw_out_puts(out, "\n  Debug information that is not here: ");
	if (!strcmp(state, "no servers")) {
		dw_out_puts(out, "not asked for, DEBUGINFOD_URLS names no server.\n");
	} else if (!strcmp(state, "no library")) {
		dw_out_puts(out, "not asked for, libdebuginfod.so.1 is not installed.\n");
	} else {
		dw_out_printf(out, "%" PRId64 " of ", fact(job, "debuginfod_found", 0));
		dw_words_count(out, (uint64_t)fact(job, "debuginfod_modules", 0), "module");
		dw_out_puts(out, " came from debuginfod.\n");
		dw_words_note(out, fact(job, "debuginfod_late", 0), "module",
			      "not answered in time: try again, or --debuginfod-timeout.");
		dw_words_note(out, fact(job, "debuginfod_failed", 0), "module",
			      "not answered: no server could be reached.");
		dw_words_note(out, fact(job, "debuginfod_wrong", 0), "module",
			      "answered with another build's debug information: not used.");
	}
}

static void put_next(const struct dw_format_job *job, struct dw_out *out)
{
	bool memory = dw_profile_method(job->view->request.profile) == DWELL_METHOD_MEMORY;

	if (!job->path)
		return;
	dw_out_puts(out, "\nNext: dwell report ");
	dw_words_shell(out, job->path);
	dw_out_puts(out, memory ? " allocations   (or lifetime, gc, calltree, functions, callers "
				  "FUNCTION)\n"
				: " calltree   (or functions, lines, modules, callers FUNCTION)\n");
}

void dw_summary_write(const struct dw_format_job *job, struct dw_out *out)
{
	struct dw_summary_writer w = {.job = job, .out = out};
	size_t path = 0;

	for (struct dw_row row; path < job->view->n; path++) {
		dw_view_row(job->view, path, &w.scratch[0], &row);
		if (strcmp(row.section, "Hot Path"))
			break;
	}
	put_title(job, out);
	switch (dw_profile_method(job->view->request.profile)) {
	case DWELL_METHOD_INSTRUMENTATION:
		dw_call_summary_head(&w);
		put_path(&w, path);
		dw_call_summary_tail(&w, path);
		break;
	case DWELL_METHOD_MEMORY:
		dw_alloc_summary_head(&w);
		put_path(&w, path);
		dw_alloc_summary_tail(&w, path);
		break;
	default:
		put_size(job, out);
		put_cpu(job, out);
		put_blocked(job, out);
		put_notes(job, out);
		put_path(&w, path);
		put_functions(&w, path);
		put_waiting(&w, path);
	}
	put_debuginfod(job, out);
	put_next(job, out);
	dw_buf_release(&w.scratch[0]);
	dw_buf_release(&w.scratch[1]);
}

int dw_summary_print(struct dw_out *out, const struct dw_profile *p, const struct dw_totals *t,
		     const struct dw_summary_style *style)
{
	struct dw_view_request request = {.profile = p, .totals = t};
	struct dw_view v;
	int rc = dw_view_open(&v, &dw_view_summary, &request);
	struct dw_format_job job = {
		.view = &v, .path = style->path, .width = style->width, .colour = style->colour};

	if (!rc)
		dw_summary_write(&job, out);
	dw_view_release(&v);
	return rc;
}
