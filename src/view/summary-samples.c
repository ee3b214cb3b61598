/*
 * What the summary says of samples and waits: how many there are and how far they can be trusted,
 * before the hot path; behind it the functions that work and wait themselves. What is missing is a
 * note only where there is something to say, and says what it means for the numbers.
 */
#include "analysis/just-my-code.h"
#include "view/notes.h"

#include <string.h>

enum {
	FEW_SAMPLES = 100,
	NAMELESS_PCT = 5, /* of samples in code without names, to say so */
	MANY_PROCESSES = 10,
	CUT_PART = 50,	   /* more than every so manieth stack cut is worth to be told at once */
	UNREAD_PART = 100, /* likewise samples without their functions of Python */
	BUSY_PCT = 50,	   /* of the time, to say nothing of waits */
	WORKING_MAX = 5,   /* functions in notes */
	WAITING_MAX = 3,
};

/* "1,984 samples of page-faults, one each 100": how they came, where that is not as usual. */
static void add_size(struct dw_notes *t)
{
	const char *event = dw_notes_word(t, "event");
	int64_t hz = dw_notes_fact(t, "frequency_hz", 0), period = dw_notes_fact(t, "period", 0);

	dw_notes_begin_size(t);
	dw_note(t, MORE, SAMPLES, .n = {t->totals->all[DWELL_MEASURE_SAMPLES]});
	if (event && strcmp(event, "cpu-clock") != 0 && strcmp(event, "cycles") != 0)
		dw_note(t, MORE, OF_EVENT, .name = {event});
	if (period > 1)
		dw_note(t, MORE, ONE_EACH, .n = {period});
	if (hz > 0)
		dw_note_by(t, MORE,
			   t->totals->amounts.sample_ns ? DWELL_SAYS_FREQUENCY_OF_TIME
							: DWELL_SAYS_FREQUENCY,
			   .n = {hz});
	dw_notes_end_size(t);
}

/* Where there is little to sample the answer lies elsewhere. */
static void add_mostly_waiting(struct dw_notes *t)
{
	int64_t user = dw_notes_fact(t, "user_cpu_ns", -1);
	int64_t kernel = dw_notes_fact(t, "kernel_cpu_ns", -1);
	int64_t duration = dw_notes_fact(t, "duration_ns", 0);

	if (user < 0 || kernel < 0 || duration <= 0 || (user + kernel) / BUSY_PCT >= duration / 100)
		return;
	dw_note(t, SAYS, MOSTLY_WAITING,
		.share = {dw_share((uint64_t)(user + kernel), (uint64_t)duration)});
}

static bool is_sampler(const struct dw_notes *t, const char *name)
{
	const char *sampler = dw_notes_word(t, "road");

	return sampler && !strcmp(sampler, name);
}

/* Percentages of a few samples say little. Inside programs the kernel's ticks set the rate. */
static void add_few(struct dw_notes *t)
{
	uint64_t n = t->totals->all[DWELL_MEASURE_SAMPLES];
	int64_t period = dw_notes_fact(t, "period", 0);
	const char *event = dw_notes_word(t, "event");

	if (n >= FEW_SAMPLES || (!n && dw_notes_is_part(t)))
		return;
	if (period == 1 && event) {
		dw_note_by(t, SAYS, n ? DWELL_SAYS_FEW_EVENTS : DWELL_SAYS_NO_EVENT, .n = {n},
			   .name = {event});
		return;
	}
	dw_note_by(t, SAYS, n ? DWELL_SAYS_FEW_SAMPLES : DWELL_SAYS_NO_SAMPLE, .n = {n});
	dw_note_by(t, MORE,
		   is_sampler(t, "inside") ? DWELL_SAYS_RUN_LONGER
		   : period > 1		   ? DWELL_SAYS_MORE_OF_THEM
					   : DWELL_SAYS_RUN_LONGER_OR_FASTER);
}

/* Cause and cure of not being sampled by perf, and who was left out. */
static void add_sampler(struct dw_notes *t)
{
	const char *why = dw_notes_word(t, "road_why");

	why = why ? why : "perf was refused";
	if (is_sampler(t, "inside")) {
		dw_note(t, SAYS, IN_PROCESS, .name = {why});
		dw_notes_facts(t, DWELL_SAYS_THREADS_UNSAMPLED, DWELL_SAYS_ALONE_TIMER);
	}
	if (!dw_totals_has_waits(t->totals))
		return;
	if (is_sampler(t, "outside"))
		dw_note(t, SAYS, PROCFS, .name = {why});
	t->in_details = true;
	dw_notes_facts(t, DWELL_SAYS_WAITS_CUT, DWELL_SAYS_WAITS_RUBY_UNREAD);
	t->in_details = false;
	if (dw_notes_fact(t, "waits_stacks_refused", 0) &&
	    !dw_notes_fact(t, "waits_stacks_whole", 0) && !dw_notes_fact(t, "waits_stacks_cut", 0))
		dw_note(t, SAYS, WAITS_WITHOUT_STACKS);
}

/*
 * Say so where far fewer samples came than the CPU time gives. The kernel's timer begins anew in
 * each process, so one that ends before its first tick is not seen, which shows where processes are
 * many. And reading the clock of a thread's own CPU time makes the kernel (since Linux 6.6) look
 * whether its turn is over: threads that do so all the time give way to others between ticks.
 */
static void add_unseen(struct dw_notes *t)
{
	int64_t user = dw_notes_fact(t, "user_cpu_ns", 0), hz = dw_notes_fact(t, "frequency_hz", 0);
	double all = (double)user / 1e9 * (double)hz;
	double got =
		(double)(dw_notes_fact(t, "samples_kept", 0) + dw_notes_fact(t, "samples_lost", 0) +
			 dw_notes_fact(t, "samples_discarded", 0));

	if (hz <= 0 || got >= .8 * all)
		return;
	if (dw_processes_count(&t->profile->processes) >= MANY_PROCESSES)
		dw_note(t, SAYS, SHORT_PROCESSES, .n = {1000000000 / hz});
	else if (is_sampler(t, "inside") && all >= FEW_SAMPLES)
		dw_note(t, SAYS, BETWEEN_TICKS, .share = {100 * got / all});
}

/* Code that a program makes at run time has names only if it tells them, which runtimes do on
 * request: say so where it matters. */
static void add_nameless(struct dw_notes *t)
{
	const struct dw_profile *p = t->profile;
	uint64_t n = 0;

	dw_vec_each(row, &t->totals->functions) {
		const struct dw_function *f = dw_functions_get(&p->functions, row->function);
		const struct dw_module *m = f ? dw_modules_get(&p->modules, f->module) : NULL;

		if (m && m->kind == DWELL_MODULE_ANON && f->flags & DWELL_FUNCTION_NO_SYMBOL)
			n += dw_totals_values(t->totals, row->amounts)->exclusive;
	}
	if (n && n * 100 >= t->totals->all[DWELL_MEASURE_SAMPLES] * NAMELESS_PCT)
		dw_note(t, SAYS, NAMELESS, .n = {n});
}

static void add_head(struct dw_notes *t)
{
	int64_t discarded = dw_notes_fact(t, "samples_discarded", 0) -
			    dw_notes_fact(t, "samples_discarded_32bit", 0);

	if (!dw_totals_has_waits(t->totals)) {
		add_few(t);
		if (!dw_notes_is_part(t))
			add_mostly_waiting(t);
	}
	add_sampler(t);
	add_unseen(t);
	dw_notes_facts(t, DWELL_SAYS_SAMPLES_LOST, DWELL_SAYS_THROTTLED);
	t->in_details = t->totals->stacks_cut <= t->totals->all[DWELL_MEASURE_SAMPLES] / CUT_PART;
	if (t->totals->stacks_cut)
		dw_note(t, SAYS, STACKS_CUT, .n = {t->totals->stacks_cut});
	t->in_details = false;
	add_nameless(t);
	dw_notes_facts(t, DWELL_SAYS_DISCARDED_32BIT, DWELL_SAYS_RUBY_UNKNOWN);
	t->in_details = (uint64_t)(dw_notes_fact(t, "python_unread", 0) +
				   dw_notes_fact(t, "php_unread", 0) +
				   dw_notes_fact(t, "ruby_unread", 0)) <=
			t->totals->all[DWELL_MEASURE_SAMPLES] / UNREAD_PART;
	dw_notes_facts(t, DWELL_SAYS_PYTHON_UNREAD, DWELL_SAYS_RUBY_UNREAD);
	t->in_details = false;
	if (discarded > 0)
		dw_note(t, SAYS, DISCARDED, .n = {discarded});
}

/* A function with its share, that of it which is processor time, where it begins, and the processes
 * that it is in if these are several. */
static void add_function(struct dw_notes *t, size_t i, const struct dw_row *row, double share,
			 double processor)
{
	const struct dw_function *f = dw_functions_get(&t->profile->functions, row->function);
	const char *path = f ? dw_strings_get(&t->profile->strings, f->file) : "";
	const char *name = strrchr(path, '/');
	bool has_line =
		f && *path && f->line && f->module && !dw_is_system_module(t->profile, f->module);
	bool has_more = row->processes > 1;

	dw_note_by(t, RANKED,
		   has_line   ? DWELL_SAYS_AT_LINE
		   : has_more ? DWELL_SAYS_PROCESSES
			      : DWELL_SAYS_NONE,
		   .row = (uint32_t)i, .shares = 2, .share = {share, processor},
		   .name = {name ? name + 1 : path}, .n = {row->processes, f ? f->line : 0});
	if (has_line && has_more)
		dw_note(t, MORE, AND_PROCESSES, .n = {row->processes});
}

/* Those that did most, waits included where these were recorded. */
static void add_working(struct dw_notes *t)
{
	enum dw_measure work = dw_totals_work(t->totals);
	bool has_waits = work == DWELL_MEASURE_WORK && t->totals->all[DWELL_MEASURE_BLOCKED];
	uint64_t all = t->totals->all[work];
	size_t i = t->end[DWELL_SECTION_PATH];

	if (i < t->end[DWELL_SECTION_FUNCTIONS] && all)
		dw_note_by(t, HEADING,
			   has_waits			  ? DWELL_SAYS_WORKING_OR_WAITING
			   : t->totals->amounts.sample_ns ? DWELL_SAYS_WORKING
							  : DWELL_SAYS_COUNTED);
	for (; i < dw_notes_end(t, DWELL_SECTION_FUNCTIONS, WORKING_MAX); i++) {
		struct dw_row row = dw_notes_row(t, i);
		uint64_t own = dw_measured_get(&row.measured, work, true);
		uint64_t waits =
			has_waits ? dw_measured_get(&row.measured, DWELL_MEASURE_BLOCKED, true) : 0;

		if (!own)
			break;
		add_function(t, i, &row, dw_share(own, all), dw_share(own - waits, all));
	}
}

/* Those that waited, where that is not among the work: of events that are not of time. */
static void add_waiting(struct dw_notes *t)
{
	uint64_t all = t->totals->all[DWELL_MEASURE_BLOCKED];
	size_t i = t->end[DWELL_SECTION_TYPES_BY_OLD],
	       end = dw_notes_end(t, DWELL_SECTION_WAITING, WAITING_MAX);

	if (dw_totals_has(t->totals, DWELL_MEASURE_WORK))
		return;
	if (i < end)
		dw_note(t, HEADING, WAITING);
	for (; i < end; i++) {
		struct dw_row row = dw_notes_row(t, i);
		double share =
			dw_share(dw_measured_get(&row.measured, DWELL_MEASURE_BLOCKED, true), all);

		add_function(t, i, &row, share, share);
	}
}

void dw_notes_samples(struct dw_notes *t)
{
	add_size(t);
	dw_notes_programs(t);
	add_head(t);
	dw_notes_time_of_samples(t);
	dw_notes_path(t);
	add_working(t);
	add_waiting(t);
}
