/*
 * The summary of an instrumented run; see call-summary.h.
 *
 * The first question after such a run is whether the time was the program's at all, so that comes
 * first: all threads' time by who had it. Probe cost has its share there because it is a part of
 * the threads' lifetimes, though of no other number.
 */
#include "format/call-summary.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "format/slow-summary.h"
#include "format/text.h"
#include "format/words.h"
#include "view/call-bounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	BAR_MAX = 20,
	SHARE_COLUMNS = 12 + BAR_MAX, /* "  12.34 % ", the bar and a blank */
	AROUND_MIN_NS = 1000,
	OUTSIDE_MIN_PCT = 20,
	UNCOVERED_MIN_PCT = 2,
};

static const struct dw_totals *totals_of(const struct dw_summary_writer *w)
{
	return w->job->view->request.totals;
}

static const struct dw_facts *facts_of(const struct dw_summary_writer *w)
{
	return &w->job->view->request.profile->facts;
}

/* Functions, whatever number of processes they were called in. */
static size_t count_functions(const struct dw_totals *t)
{
	struct dw_map seen = {0};
	size_t n = 0;

	dw_vec_each(row, &t->functions) {
		if (row->function == (uint32_t)DWELL_FUNCTION_ROOT ||
		    dw_map_get(&seen, row->function) || dw_map_put(&seen, row->function, 1))
			continue;
		n++;
	}
	dw_map_release(&seen);
	return n;
}

/* "1.23 s, 51,234,567 calls of 731 functions, 3 threads in 2 processes" */
static void put_size(const struct dw_summary_writer *w)
{
	const struct dw_profile *p = w->job->view->request.profile;
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", -1);
	char digits[DWELL_GROUPED_MAX_BYTES];

	dw_out_puts(w->out, "  ");
	if (duration >= 0) {
		dw_words_time(w->out, duration);
		dw_out_puts(w->out, ", ");
	}
	dw_words_count(w->out, totals_of(w)->all[DWELL_MEASURE_CALLS], "call");
	dw_out_puts(w->out, " of ");
	dw_words_count(w->out, count_functions(totals_of(w)), "function");
	dw_out_puts(w->out, ", ");
	dw_words_count(w->out, dw_threads_count(&p->threads), "thread");
	if (dw_processes_count(&p->processes) == 1)
		dw_out_puts(w->out, " in 1 process\n");
	else
		dw_out_printf(w->out, " in %s processes\n",
			      dw_words_grouped(dw_processes_count(&p->processes), digits));
}

/* The names in @list, which commas divide: "a, b". */
static void put_list(struct dw_out *out, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		dw_auto_free char *name = strndup(list, n);

		dw_text_put(out, name ? name : "");
		list += n + (list[n] == ',');
		dw_out_puts(out, *list ? ", " : "");
	}
}

/* The libraries that were chosen without being named. */
static void put_chosen(const struct dw_summary_writer *w)
{
	const char *libraries = dw_facts_get_text(facts_of(w), "modules_chosen");
	const char *executables = dw_facts_get_text(facts_of(w), "modules_chosen_for");

	if (!libraries || !executables)
		return;
	dw_out_puts(w->out, "  ");
	put_list(w->out, executables);
	dw_out_puts(w->out, strchr(executables, ',') ? " have little code of their own"
						     : " has little code of its own");
	dw_out_puts(w->out, ": measured with ");
	put_list(w->out, libraries);
	dw_out_puts(w->out, " (--module chooses otherwise).\n");
}

/* A bar of @full and behind it @half of 100 percent. */
static void put_bar(struct dw_out *out, double full, double half)
{
	size_t a = (size_t)(full * BAR_MAX / 100 + .5);
	size_t b = (size_t)((full + half) * BAR_MAX / 100 + .5);

	for (size_t i = 0; i < BAR_MAX; i++)
		dw_out_puts(out, i < a ? "█" : i < b ? "▒" : "·");
}

static double share(uint64_t n, uint64_t all)
{
	return all ? 100.0 * (double)n / (double)all : 0;
}

/* A part of all threads' time, when it has any. */
static void put_part(const struct dw_summary_writer *w, uint64_t ns, uint64_t all, const char *who)
{
	if (!ns)
		return;
	dw_out_printf(w->out, "  %6.2f %% ", share(ns, all));
	put_bar(w->out, share(ns, all), 0);
	dw_out_puts(w->out, " ");
	dw_words_time(w->out, (int64_t)ns);
	dw_out_printf(w->out, " %s", who);
}

/* ": 3 switches, 2 blocking calls" */
static void put_causes(const struct dw_summary_writer *w)
{
	const uint64_t *v = totals_of(w)->all;
	const char *before = ": ";

	if (v[DWELL_MEASURE_SWITCHES]) {
		dw_out_puts(w->out, before);
		dw_words_count(w->out, v[DWELL_MEASURE_SWITCHES], "switch");
		before = ", ";
	}
	if (v[DWELL_MEASURE_BLOCKING_CALLS]) {
		dw_out_puts(w->out, before);
		dw_words_count(w->out, v[DWELL_MEASURE_BLOCKING_CALLS], "blocking call");
	}
}

static bool is_upper_bound(const struct dw_summary_writer *w)
{
	return dw_call_is_upper_bound(w->job->view->request.profile, 0);
}

void dw_call_summary_head(struct dw_summary_writer *w)
{
	const uint64_t *v = totals_of(w)->all;
	uint64_t all = v[DWELL_MEASURE_ELAPSED] + v[DWELL_MEASURE_OVERHEAD];
	uint64_t known =
		v[DWELL_MEASURE_APPLICATION] + v[DWELL_MEASURE_BLOCKED] + v[DWELL_MEASURE_OS_CPU];

	put_size(w);
	put_chosen(w);
	if (!all)
		return;
	dw_summary_heading(w, "Where the time of all threads went");
	put_part(w, v[DWELL_MEASURE_APPLICATION], all,
		 is_upper_bound(w) ? "in the program, at most\n" : "in the program\n");
	put_part(w, v[DWELL_MEASURE_BLOCKED], all, "off the processor");
	if (v[DWELL_MEASURE_BLOCKED]) {
		put_causes(w);
		dw_out_puts(w->out, "\n");
	}
	put_part(w, v[DWELL_MEASURE_OS_CPU], all, "in system calls");
	if (v[DWELL_MEASURE_OS_CPU]) {
		dw_out_puts(w->out, v[DWELL_MEASURE_IO_CALLS] ? ": " : "");
		if (v[DWELL_MEASURE_IO_CALLS])
			dw_words_count(w->out, v[DWELL_MEASURE_IO_CALLS], "I/O call");
		dw_out_puts(w->out, "\n");
	}
	if (known + all / 10000 + AROUND_MIN_NS < v[DWELL_MEASURE_ELAPSED])
		put_part(w, v[DWELL_MEASURE_ELAPSED] - known, all, "around switches\n");
	put_part(w, v[DWELL_MEASURE_OVERHEAD], all, "in probes (in no other number)\n");
}

/* "2,692,537 calls, 455 ns each", or "200 calls in 2 processes, 455 ns"; "at most 30 ns each" where
 * that is all that can be told */
static void describe_calls(const struct dw_summary_writer *w, const struct dw_row *row,
			   struct dw_out *out)
{
	const struct dw_measured *m = &row->measured;
	uint64_t at_most = dw_call_at_most(w->job->view->uncertain_ns, m);
	uint64_t measured = dw_measured_get(m, DWELL_MEASURE_MEASURED, false);
	uint64_t elapsed = dw_measured_get(m, DWELL_MEASURE_ELAPSED, true);
	uint32_t processes = row->processes;

	dw_words_count(out, dw_measured_get(m, DWELL_MEASURE_CALLS, false), "call");
	if (processes > 1) {
		dw_out_puts(out, " in ");
		dw_words_count(out, processes, "process");
	}
	if (!measured)
		return;
	if (dw_measured_get(m, DWELL_MEASURE_COUNTED, false)) {
		dw_out_puts(out, ", ");
		dw_words_count(out, measured, "measured one");
	}
	dw_out_puts(out, at_most ? ", at most " : ", ");
	at_most -= at_most ? dw_measured_get(m, DWELL_MEASURE_APPLICATION, true) : 0;
	dw_words_time(out, (int64_t)((elapsed + at_most) / measured));
	if (measured > 1 && processes == 1)
		dw_out_puts(out, " each");
}

/* One function: its share with a bar, its name, and its calls at the end of the line. */
static void put_function(struct dw_summary_writer *w, const struct dw_row *row)
{
	uint64_t all = totals_of(w)->all[DWELL_MEASURE_ELAPSED];
	double elapsed = share(dw_measured_get(&row->measured, DWELL_MEASURE_ELAPSED, true), all);
	double program =
		share(dw_measured_get(&row->measured, DWELL_MEASURE_APPLICATION, true), all);
	struct dw_out calls;

	dw_out_init_buffer(&calls);
	if (row->function != (uint32_t)DWELL_FUNCTION_ROOT)
		describe_calls(w, row, &calls);
	else if (row->processes > 1)
		dw_words_count(&calls, row->processes, "process");
	dw_out_printf(w->out, "  %6.2f %% ", elapsed);
	put_bar(w->out, program, elapsed - program);
	dw_out_puts(w->out, " ");
	dw_summary_name(w, row, SHARE_COLUMNS + calls.buf.len + 3);
	dw_out_printf(w->out, calls.buf.len ? "  (%s)\n" : "\n", dw_buf_str(&calls.buf));
	dw_out_close(&calls);
}

static void put_functions(struct dw_summary_writer *w, size_t first)
{
	const struct dw_view *v = w->job->view;

	if (first < v->n)
		dw_summary_heading(w, "Functions with most individual work (█ the program, "
				      "▒ the operating system)");
	for (size_t i = first; i < v->n; i++) {
		struct dw_row row;

		dw_view_row(v, i, &w->scratch[0], &row);
		if (!row.values.exclusive)
			break;
		put_function(w, &row);
	}
}

/* " but in app (12), whose application times are upper bounds" */
static void put_unseen(const struct dw_summary_writer *w)
{
	const struct dw_profile *p = w->job->view->request.profile;
	uint32_t n = 0, last = 0;

	for (uint32_t id = 1; id <= dw_processes_count(&p->processes) && !is_upper_bound(w); id++)
		if (dw_call_is_upper_bound(p, id)) {
			last = id;
			n++;
		}
	if (!n)
		return;
	dw_out_puts(w->out, " but in ");
	if (n == 1) {
		const struct dw_process *row = dw_processes_get(&p->processes, last);

		dw_text_put(w->out, dw_strings_get(&p->strings, row->name));
		dw_out_printf(w->out, " (%" PRId32 ")", row->pid);
	} else {
		dw_words_count(w->out, n, "process");
	}
	dw_out_puts(w->out, ", whose application times are upper bounds");
}

/* How the operating system's part is known. */
static void put_source(const struct dw_summary_writer *w)
{
	const char *source = dw_facts_get_text(facts_of(w), "os_source");

	if (!source)
		return;
	dw_out_puts(w->out, "  OS events: ");
	if (is_upper_bound(w))
		dw_out_puts(w->out, "context switches could not be seen");
	else
		dw_out_printf(w->out, "context switches by %s", source);
	put_unseen(w);
	dw_out_puts(w->out, dw_facts_get(facts_of(w), "system_calls_seen", 0)
				    ? ", system calls by probes in the C library.\n"
				    : "; system calls could not be seen.\n");
}

/* Where costs of probes come from, if it is not what was sampled, and what they are too high by, if
 * that is much. */
static void put_costs(const struct dw_summary_writer *w)
{
	int64_t left = dw_facts_get(facts_of(w), "overhead_uncovered_ns", 0);
	uint64_t program = totals_of(w)->all[DWELL_MEASURE_APPLICATION];

	if (!dw_facts_get(facts_of(w), "probes_samples", 1))
		dw_out_puts(w->out, "  Cost of probes: as measured in loops, which is less than in "
				    "most programs; there were no samples of it.\n");
	if (left <= 0 || share((uint64_t)left, program) < UNCOVERED_MIN_PCT)
		return;
	dw_out_puts(w->out, "  Cost of probes: ");
	dw_words_time(w->out, left);
	dw_out_puts(w->out, " could not be taken off, as calls took less.\n");
}

/* What is in no row, in either direction. Where switches were not seen, nobody can tell. */
static void put_residual(const struct dw_summary_writer *w)
{
	int64_t residual = dw_facts_get(facts_of(w), "residual_ns", INT64_MIN);
	int64_t user = dw_facts_get(facts_of(w), "user_cpu_ns", 0);
	/* Older sessions compare with the command's. */
	int64_t cpu = dw_facts_get(facts_of(w), "processes_cpu_ns",
				   user + dw_facts_get(facts_of(w), "kernel_cpu_ns", 0));

	if (residual == INT64_MIN || is_upper_bound(w))
		return;
	dw_out_puts(w->out, "  Not explained: ");
	dw_out_puts(w->out, residual < 0 ? "-" : "");
	dw_words_time(w->out, residual < 0 ? -residual : residual);
	if (cpu > 0)
		dw_out_printf(w->out, ", %.1f %% of the CPU time",
			      100.0 * (double)residual / (double)cpu);
	dw_out_puts(w->out, residual < 0 ? " too much in the rows above.\n" : " in no row.\n");
}

/* What the agents' own start took, where it shows. */
static void put_start(const struct dw_summary_writer *w)
{
	int64_t start = dw_facts_get(facts_of(w), "agent_start_ns", 0);

	if (start <= dw_facts_get(facts_of(w), "duration_ns", 0) / 100)
		return;
	dw_out_puts(w->out, "  Starting the agents took ");
	dw_words_time(w->out, start);
	dw_out_puts(w->out, ", which is in no row.\n");
}

/* " --module NAME" for each of the names in @list, which commas divide; NULL = none. */
static void put_options(struct dw_out *out, const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ",");
		dw_auto_free char *name = strndup(list, n);

		dw_out_puts(out, " --module ");
		dw_words_shell(out, name ? name : "");
		list += n + (list[n] == ',');
	}
}

/* Where most of the rest was, when that is much: the module to be asked for next, beside those that
 * were chosen without. */
static void put_outside(const struct dw_summary_writer *w)
{
	const struct dw_profile *p = w->job->view->request.profile;
	const struct dw_totals *t = totals_of(w);
	double part = share(t->outside_ns, t->all[DWELL_MEASURE_APPLICATION]);
	const char *name;

	if (!t->outside_module || part < OUTSIDE_MIN_PCT)
		return;
	name = dw_strings_get(&p->strings, p->modules.rows.v[t->outside_module].name);
	dw_out_printf(w->out, "  %.0f %% of the program's time was in ", part);
	dw_words_shell(w->out, name);
	dw_out_puts(w->out, ", which had no probes (--module ");
	dw_words_shell(w->out, name);
	put_options(w->out, dw_facts_get_text(facts_of(w), "modules_chosen"));
	dw_out_puts(w->out, ").\n");
}

static void put_notes(const struct dw_summary_writer *w)
{
	static const struct {
		const char *key, *what, *meaning;
	} notes[] = {
		{"functions_short", "short function",
		 "without probes: a part of their callers (--all-functions)."},
		{"functions_switched_off", "function",
		 "switched off: calls cost more than they measured; their time is their callers'."},
		{"calls_only_counted", "call",
		 "of what is switched off were counted, without time and caller."},
		{"functions_switched_off_before", "function",
		 "of these never measured: an earlier run has found out (--forget)."},
		{"callees_switched_off_in_part", "callee",
		 "switched off for some callers, likewise."},
		{"functions_left_alone", "function",
		 "left alone: clones were not safe (--list-functions)."},
		{"statements_left_alone", "statement",
		 "without a probe: their time is the one's before."},
		{"modules_without_lines", "module",
		 "had no debug information: no times of lines, only of functions."},
		{"modules_not_instrumented", "module", "chosen, but not instrumented."},
		{"processes_not_instrumented", "process", "not instrumented: the time is missing."},
		{"processes_left_out", "process",
		 "left out: they began when the call trees were too large already."},
		{"runtimes", ".NET runtime",
		 "ran whose methods are not measured yet: dwell sample shows their shares."},
		{"java_runtimes", "Java runtime",
		 "ran whose methods are not measured: dwell sample shows their shares."},
		{"threads_dropped", "thread", "ran unmeasured: the time is missing."},
		{"threads_filtered", "thread",
		 "of these began under a system-call filter: agents make no calls there."},
		{"calls_truncated", "call",
		 "beyond the memory for paths: counted exactly, but trees estimate their paths."},
		{"calls_without_caller", "call",
		 "of these only counted for their functions: no memory for more callers (--memory)."},
		{"paths_drawn", "look", "at the stack tell the shares of these paths."},
		{"paths_not_drawn", "look", "told nothing: there was no memory for their paths."},
		{"callees_without_extremes", "callee",
		 "without shortest, longest and slowest calls in a thread: no memory (--memory)."},
		{"events_dropped", "event",
		 "of signal handlers dropped: their time is the interrupted function's."},
		{"events_blind", "event",
		 "after strict seccomp mode was entered: the time from there on is missing."},
		{"calls_dropped", "call", "dropped: they are in no row."},
		{"counters_dropped", "time",
		 "there was no memory for counters of what is switched off: calls are missing."},
		{"system_calls_without_probe", "system call site",
		 "without a probe: their time is the program's."},
		{"nodes_dropped", "node", "dropped that broke the rules of call trees."},
	};

	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		dw_words_note(w->out, dw_facts_get(facts_of(w), notes[i].key, 0), notes[i].what,
			      notes[i].meaning);
}

void dw_call_summary_tail(struct dw_summary_writer *w, size_t first)
{
	put_functions(w, first);
	dw_slow_summary_write(w, first);
	if (!totals_of(w)->all[DWELL_MEASURE_CALLS]) {
		dw_out_puts(w->out, "  No call was seen.\n");
		if (!dw_facts_get(facts_of(w), "functions_instrumented", 1))
			dw_out_puts(w->out,
				    "  No function had probes: see what --include, --exclude "
				    "and --module choose by --list-functions.\n");
		put_notes(w);
		return;
	}
	dw_summary_heading(w, "How far to trust this");
	put_source(w);
	put_costs(w);
	put_residual(w);
	put_start(w);
	dw_out_puts(w->out, "  Where code waits for memory, probes shift shares: some waits get "
			    "longer, others hide.\n  dwell sample is the judge there.\n");
	put_outside(w);
	put_notes(w);
}
