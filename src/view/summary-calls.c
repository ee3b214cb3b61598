/*
 * What the summary says of calls.
 *
 * The first question after such a run is whether the time was the program's at all, so that comes
 * first (summary-time.c). Behind the hot path stand the functions with most time of their own. What
 * is as usual, and makes no number doubtful, is a detail; so are single calls that took much longer
 * than others, with why: the largest part of their time. What waited is looked for among the other
 * slow calls that are known: one of the same thread, within this one, that has most of that time
 * itself.
 */
#include "analysis/just-my-code.h"
#include "base/map.h"
#include "view/notes.h"

#include <stdlib.h>
#include <string.h>

enum {
	EXTERNAL_MIN_PCT = 20,	    /* of the program's time, to tell of the module where it was; */
	EXTERNAL_MUCH_PCT = 50,	    /* so much of it is more than a detail */
	RESIDUAL_MUCH_PCT = 10,	    /* likewise, of the processor time */
	RESIDUAL_MOST_PCT = 50,	    /* and so much comes first */
	RESIDUAL_MIN_NS = 20000000, /* and so much */
	ALONE_MUCH_PCT = 5,	    /* likewise, of functions, */
	ALONE_MANY = 5,		    /* and so many */
	UNCOVERED_MIN_PCT = 2,
	UNUSUAL = 2,	    /* times the mean */
	FUNCTIONS_MAX = 5,  /* in notes */
	SLOWEST_MAX = 3,    /* likewise */
	TRIFLE_PART = 1000, /* of all work: of less it is not worth to speak */
};

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

/* The libraries that were chosen without being named. */
static void add_chosen(struct dw_notes *t)
{
	const char *libraries = dw_notes_word(t, "modules_chosen");
	const char *executables = dw_notes_word(t, "modules_chosen_for");

	if (!libraries || !executables)
		return;
	dw_note_by(t, SAYS,
		   strchr(executables, ',') ? DWELL_SAYS_CHOSEN_FOR_MORE
					    : DWELL_SAYS_CHOSEN_FOR_ONE,
		   .name = {executables, libraries});
}

static bool is_upper_bound(const struct dw_notes *t)
{
	return dw_call_is_upper_bound(t->profile, 0);
}

/* "2,692,537 calls, 455 ns each"; "7 ns to 30 ns each" where it cannot be told better, and "at most
 * 30 ns each" where nothing is left of it. */
static void describe_calls(struct dw_notes *t, const struct dw_row *row)
{
	const struct dw_measured *m = &row->measured;
	uint64_t at_most = dw_call_at_most(t->view->uncertain_ns, m);
	uint64_t measured = dw_measured_get(m, DWELL_MEASURE_MEASURED, false);
	uint64_t work = dw_measured_get(m, DWELL_MEASURE_WORK, true);
	uint64_t own = dw_measured_get(m, DWELL_MEASURE_APPLICATION, true);

	dw_note(t, MORE, TIMES_CALLED, .n = {dw_measured_get(m, DWELL_MEASURE_CALLS, false)});
	if (row->processes > 1)
		dw_note(t, MORE, IN_PROCESSES, .n = {row->processes});
	if (!measured)
		return;
	if (dw_measured_get(m, DWELL_MEASURE_COUNTED, false))
		dw_note(t, MORE, MEASURED, .n = {measured});
	if (at_most && work < measured) {
		dw_note(t, MORE, AT_MOST_EACH, .n = {(work + at_most - own) / measured});
		return;
	}
	if (at_most && (work + at_most - own) * 4 > work * 5)
		dw_note(t, MORE, TAKING_UP_TO,
			.n = {work / measured, (work + at_most - own) / measured});
	else
		dw_note(t, MORE, TAKING, .n = {work / measured});
	if (measured > 1)
		dw_note(t, MORE, EACH);
}

/* The functions with most time of their own, each with the program's and the system's part. */
static void add_functions(struct dw_notes *t)
{
	uint64_t all = t->totals->all[DWELL_MEASURE_WORK];
	size_t i = t->end[DWELL_SECTION_PATH];

	if (i < t->end[DWELL_SECTION_FUNCTIONS])
		dw_note(t, HEADING, CALLED);
	for (; i < dw_notes_end(t, DWELL_SECTION_FUNCTIONS, FUNCTIONS_MAX); i++) {
		struct dw_row row = dw_notes_row(t, i);
		uint64_t work = dw_measured_get(&row.measured, DWELL_MEASURE_WORK, true);
		double program = dw_share(
			dw_measured_get(&row.measured, DWELL_MEASURE_APPLICATION, true), all);
		double system =
			dw_share(dw_measured_get(&row.measured, DWELL_MEASURE_OS_CPU, true), all);

		if (!work || (work < all / TRIFLE_PART && i > t->end[DWELL_SECTION_PATH]))
			break;
		dw_note(t, RANKED, NONE, .row = (uint32_t)i, .shares = 3,
			.share = {dw_share(work, all), program, system});
		if (row.function != (uint32_t)DWELL_FUNCTION_ROOT)
			describe_calls(t, &row);
		else if (row.processes > 1)
			dw_note(t, MORE, PROCESSES, .n = {row.processes});
	}
}

/* Parts of a slow call's time, in the order of their sentences. */
enum part { OWN, CALLEES, IO, BLOCKING, SWITCHED, PARTS };

static uint64_t part_of(const struct dw_call_slow *s, enum part part)
{
	switch (part) {
	case OWN:
		return s->exclusive.application_ns;
	case CALLEES:
		return dw_call_slow_callees(s);
	case IO:
		return s->io_ns;
	case BLOCKING:
		return s->blocking_ns;
	default:
		return s->switched_ns;
	}
}

static enum part largest_part(const struct dw_call_slow *s)
{
	enum part largest = OWN;

	for (enum part i = OWN; i < PARTS; i++)
		if (part_of(s, i) > part_of(s, largest))
			largest = i;
	return largest;
}

static const struct dw_call_slow *slow_of(const struct dw_notes *t,
					  const struct dw_slow_total *total)
{
	return &t->profile->calls.slow.v[total->slow];
}

static uint32_t thread_of(const struct dw_notes *t, const struct dw_call_slow *s)
{
	return dw_calls_get(&t->profile->calls, s->node)->thread;
}

/* What the system took of @s without its callees. */
static uint64_t waited(const struct dw_call_slow *s)
{
	uint64_t all = s->exclusive.elapsed_ns, own = s->exclusive.application_ns;

	return all > own ? all - own : 0;
}

static bool is_within(const struct dw_notes *t, const struct dw_call_slow *inner,
		      const struct dw_call_slow *outer)
{
	return inner->start_ns >= outer->start_ns &&
	       inner->start_ns - outer->start_ns <= outer->inclusive.elapsed_ns &&
	       inner->inclusive.elapsed_ns <= outer->inclusive.elapsed_ns &&
	       thread_of(t, inner) == thread_of(t, outer);
}

/* The call within @outer that has most of the @ns itself, at least half. NULL when none is known.
 */
static const struct dw_slow_total *find_culprit(const struct dw_notes *t,
						const struct dw_call_slow *outer, uint64_t ns)
{
	const struct dw_slow_total *best = NULL;
	uint64_t most = ns / 2;

	dw_vec_each(total, &t->totals->slow) {
		const struct dw_call_slow *s = slow_of(t, total);

		if (waited(s) > most && is_within(t, s, outer)) {
			most = waited(s);
			best = total;
		}
	}
	return best;
}

/* Whether @function waits for what does not count, by its name. */
static bool is_left_out(const struct dw_notes *t, uint32_t function)
{
	const struct dw_function *f = dw_functions_get(&t->profile->functions, function);
	enum dw_wait_kind kind;

	return f &&
	       dw_wait_kind_of_function(dw_strings_get(&t->profile->strings, f->name),
					DWELL_NAMES_OF_SYSTEM, &kind) &&
	       dw_wait_kinds_have(t->totals->waits_left_out, kind);
}

/* Whether the call @total says something about the program: it is no trifle, was not just taken off
 * its processor, and did not wait for what does not count. */
static bool is_telling(const struct dw_notes *t, const struct dw_slow_total *total)
{
	const struct dw_call_slow *s = slow_of(t, total);
	const struct dw_slow_total *culprit = NULL;
	enum part part = largest_part(s);

	if (part == SWITCHED ||
	    s->inclusive.elapsed_ns < t->totals->all[DWELL_MEASURE_WORK] / TRIFLE_PART)
		return false;
	if (part == BLOCKING)
		culprit = find_culprit(t, s, part_of(s, part));
	return part != BLOCKING || !is_left_out(t, culprit ? culprit->function : total->function);
}

/* The slowest call of @row's function if there is something to say about it, else NULL. */
static const struct dw_slow_total *find_unusual(const struct dw_notes *t, const struct dw_row *row)
{
	const struct dw_slow_total *best = NULL;
	uint64_t calls = dw_measured_get(&row->measured, DWELL_MEASURE_OUTER_CALLS, false),
		 longest = 0;
	uint64_t elapsed = dw_measured_get(&row->measured, DWELL_MEASURE_ELAPSED, false);

	dw_vec_each(total, &t->totals->slow) {
		uint64_t ns = slow_of(t, total)->inclusive.elapsed_ns;

		if (total->function == row->function && (!best || ns > longest) &&
		    is_telling(t, total)) {
			best = total;
			longest = ns;
		}
	}
	return calls < 2 || longest / UNUSUAL < elapsed / calls ? NULL : best;
}

/* @note about @total, with why it is slow: "40.0 ms  read  (at 131.0 ms: I/O took 39.6 ms)". */
static void add_slow_call(struct dw_notes *t, const struct dw_slow_total *total,
			  struct dw_note note)
{
	static const enum dw_sentence reasons[PARTS] = {
		DWELL_SAYS_SLOW_OWN, DWELL_SAYS_SLOW_CALLEES, DWELL_SAYS_SLOW_IO,
		DWELL_SAYS_SLOW_BLOCKING, DWELL_SAYS_SLOW_SWITCHED};
	const struct dw_call_slow *s = slow_of(t, total), *in;
	enum part part = largest_part(s);
	uint64_t ns = part_of(s, part);
	const struct dw_slow_total *culprit =
		part == IO || part == BLOCKING ? find_culprit(t, s, ns) : NULL;

	note.says = reasons[part];
	if (culprit && culprit->function != total->function) {
		const struct dw_function *f =
			dw_functions_get(&t->profile->functions, culprit->function);

		in = slow_of(t, culprit);
		ns = waited(in);
		note.says = in->exclusive.blocked_ns > ns / 2 ? DWELL_SAYS_SLOW_CALLEE_BLOCKED
							      : DWELL_SAYS_SLOW_CALLEE_TOOK;
		note.name[0] = f ? dw_strings_get(&t->profile->strings, f->name) : "[unknown]";
	}
	note.n[0] = s->inclusive.elapsed_ns;
	note.n[1] = s->start_ns;
	note.n[2] = ns;
	dw_notes_add(t, note);
}

/* The slowest ones first. */
static void add_slow_calls(struct dw_notes *t)
{
	struct {
		size_t row;
		const struct dw_slow_total *call;
	} found[DWELL_HOT_MAX], one;
	size_t n = 0, at;

	for (size_t i = t->end[DWELL_SECTION_PATH];
	     i < t->end[DWELL_SECTION_FUNCTIONS] && n < DWELL_HOT_MAX; i++) {
		struct dw_row row = dw_notes_row(t, i);

		one.row = i;
		one.call = find_unusual(t, &row);
		if (!one.call)
			continue;
		for (at = n++; at && slow_of(t, found[at - 1].call)->inclusive.elapsed_ns <
					     slow_of(t, one.call)->inclusive.elapsed_ns;
		     at--)
			found[at] = found[at - 1];
		found[at] = one;
	}
	if (n)
		dw_note(t, HEADING, SLOWEST);
	for (size_t i = 0, shown = 0; i < n && shown < SLOWEST_MAX; i++) {
		/* Not what is told of a caller already. */
		for (at = 0; at < i &&
			     !is_within(t, slow_of(t, found[i].call), slow_of(t, found[at].call));)
			at++;
		if (at < i)
			continue;
		add_slow_call(t, found[i].call,
			      (struct dw_note){.kind = DWELL_NOTE_SLOWEST,
					       .row = (uint32_t)found[i].row});
		shown++;
	}
}

/* Whether @total is a piece of work that a pool has given its thread, such as the handler of a
 * request. */
static bool is_work(const struct dw_notes *t, const struct dw_slow_total *total)
{
	const struct dw_profile *p = t->profile;
	const struct dw_call_node *node = dw_calls_get(&p->calls, slow_of(t, total)->node);
	const struct dw_call_node *above = dw_calls_get(&p->calls, node->parent);
	const struct dw_thread *th = dw_threads_get(&p->threads, node->thread);
	const struct dw_function *f = dw_functions_get(&p->functions, total->function);

	return above && above->flags & DWELL_CALL_ROOT && th &&
	       dw_wait_is_pool_thread(dw_strings_get(&p->strings, th->name)) && f &&
	       !(f->module && dw_is_system_module(p, f->module)) && is_telling(t, total);
}

/* Put @total among the slowest ones @found, each of another function, the slowest first. */
static void keep_slow_work(const struct dw_notes *t, const struct dw_slow_total *found[SLOWEST_MAX],
			   const struct dw_slow_total *total)
{
	uint64_t ns = slow_of(t, total)->inclusive.elapsed_ns;
	size_t at = 0;

	while (at < SLOWEST_MAX - 1 && found[at] && found[at]->function != total->function)
		at++;
	if (found[at] && slow_of(t, found[at])->inclusive.elapsed_ns >= ns)
		return;
	for (; at && slow_of(t, found[at - 1])->inclusive.elapsed_ns < ns; at--)
		found[at] = found[at - 1];
	found[at] = total;
}

/* The slowest one of each function, the slowest function first. */
static void add_slow_work(struct dw_notes *t)
{
	const struct dw_slow_total *found[SLOWEST_MAX] = {0};

	dw_vec_each(total, &t->totals->slow)
		if (is_work(t, total))
			keep_slow_work(t, found, total);
	if (found[0])
		dw_note(t, HEADING, SLOWEST_WORK);
	for (size_t i = 0; i < SLOWEST_MAX && found[i]; i++) {
		const struct dw_function *f =
			dw_functions_get(&t->profile->functions, found[i]->function);

		add_slow_call(
			t, found[i],
			(struct dw_note){.kind = DWELL_NOTE_WORK,
					 .function = found[i]->function,
					 .name[1] = dw_strings_get(&t->profile->strings, f->name)});
	}
}

/* How switches are known, in which processes they are not, and system calls. */
static void add_os_events(struct dw_notes *t)
{
	const struct dw_profile *p = t->profile;
	const char *by = dw_notes_word(t, "os_source");
	uint32_t n = 0, last = 0;

	if (!by)
		return;
	for (uint32_t id = 1; id <= dw_processes_count(&p->processes) && !is_upper_bound(t); id++)
		if (dw_call_is_upper_bound(p, id)) {
			last = id;
			n++;
		}
	t->in_details = !is_upper_bound(t) && !n && dw_notes_fact(t, "system_calls_seen", 0);
	dw_note_by(t, SAYS, is_upper_bound(t) ? DWELL_SAYS_SWITCHES_UNSEEN : DWELL_SAYS_SWITCHES_BY,
		   .name = {by});
	if (n == 1) {
		const struct dw_process *row = dw_processes_get(&p->processes, last);

		dw_note(t, MORE, UNSEEN_IN_ONE, .n = {row->pid},
			.name = {dw_strings_get(&p->strings, row->name)});
	} else if (n) {
		dw_note(t, MORE, UNSEEN_IN_MORE, .n = {n});
	}
	dw_note_by(t, MORE,
		   dw_notes_fact(t, "system_calls_seen", 0) ? DWELL_SAYS_SYSTEM_CALLS_SEEN
							    : DWELL_SAYS_SYSTEM_CALLS_UNSEEN);
}

/* Where costs of probes come from, if it is not what was sampled, and what they are too high by, if
 * that is much. */
static void add_costs(struct dw_notes *t)
{
	int64_t left = dw_notes_fact(t, "overhead_uncovered_ns", 0);

	t->in_details = false;
	if (!dw_notes_fact(t, "probes_samples", 1))
		dw_note(t, SAYS, COSTS_OF_LOOPS);
	if (left > 0 && dw_share((uint64_t)left, t->totals->all[DWELL_MEASURE_APPLICATION]) >=
				UNCOVERED_MIN_PCT)
		dw_note(t, SAYS, COSTS_LEFT, .n = {left});
}

/* How often threads left their processors. */
static void add_switches(struct dw_notes *t)
{
	const uint64_t *v = t->totals->all;
	uint64_t switches = v[DWELL_MEASURE_SWITCHES], calls = v[DWELL_MEASURE_BLOCKING_CALLS];

	if (switches && calls)
		dw_note(t, SAYS, SWITCHES_AND_CALLS, .n = {switches, calls});
	else if (switches)
		dw_note(t, SAYS, SWITCHES, .n = {switches});
	else if (calls)
		dw_note(t, SAYS, BLOCKING_CALLS, .n = {calls});
}

/* What is in no row, in either direction, and its share of the processor time. False: nobody can
 * tell, as switches were not seen or the session does not say. */
static bool find_residual(const struct dw_notes *t, int64_t *ret_ns, double *ret_pct)
{
	int64_t residual = dw_notes_fact(t, "residual_ns", INT64_MIN);
	int64_t user = dw_notes_fact(t, "user_cpu_ns", 0);
	/* Older sessions compare with the command's. */
	int64_t cpu =
		dw_notes_fact(t, "processes_cpu_ns", user + dw_notes_fact(t, "kernel_cpu_ns", 0));

	*ret_ns = residual;
	*ret_pct = cpu > 0 ? 100.0 * (double)residual / (double)cpu : 0;
	return residual != INT64_MIN && !is_upper_bound(t);
}

/* What makes all other numbers meaningless comes first. */
static void add_large_residual(struct dw_notes *t)
{
	int64_t residual;
	double pct;

	if (find_residual(t, &residual, &pct) && residual > RESIDUAL_MIN_NS &&
	    pct > RESIDUAL_MOST_PCT)
		dw_note(t, SAYS, RESIDUAL_MOST, .share = {pct});
}

static void add_residual(struct dw_notes *t)
{
	int64_t residual;
	double pct;

	if (!find_residual(t, &residual, &pct))
		return;
	t->in_details = llabs(residual) <= RESIDUAL_MIN_NS ||
			(pct <= RESIDUAL_MUCH_PCT && pct >= -RESIDUAL_MUCH_PCT) ||
			pct > RESIDUAL_MOST_PCT; /* that was told first */
	dw_note(t, SAYS, RESIDUAL, .n = {residual});
	if (pct < 0 || pct > 0)
		dw_note(t, MORE, OF_CPU_TIME, .share = {pct});
	dw_note_by(t, MORE, residual < 0 ? DWELL_SAYS_TOO_MUCH : DWELL_SAYS_IN_NO_ROW);
}

/* Where most of the rest was, when that is much: the module to be asked for next, beside those that
 * were chosen without. */
static void add_external(struct dw_notes *t)
{
	const struct dw_profile *p = t->profile;
	double part = dw_share(t->totals->external_ns, t->totals->all[DWELL_MEASURE_APPLICATION]);
	uint32_t module = t->totals->external_module;

	t->in_details = part < EXTERNAL_MUCH_PCT;
	if (module && part >= EXTERNAL_MIN_PCT)
		dw_note(t, SAYS, EXTERNAL, .share = {part},
			.name = {dw_strings_get(&p->strings, p->modules.rows.v[module].name),
				 dw_notes_word(t, "modules_chosen")});
}

/* What facts say of functions without probes: details, but for limits that were asked for and where
 * many functions are left alone. */
static void add_functions_without(struct dw_notes *t)
{
	int64_t alone = dw_notes_fact(t, "functions_left_alone", 0);
	int64_t all = alone + dw_notes_fact(t, "functions_instrumented", 0);

	t->in_details = true;
	dw_notes_facts(t, DWELL_SAYS_FUNCTIONS_SHORT, DWELL_SAYS_METHODS_SHORT);
	t->in_details = false;
	dw_notes_facts(t, DWELL_SAYS_METHODS_ALONE, DWELL_SAYS_METHODS_ALONE);
	dw_notes_facts(t, DWELL_SAYS_DISABLED, DWELL_SAYS_DISABLED);
	t->in_details = true;
	dw_notes_facts(t, DWELL_SAYS_ONLY_COUNTED, DWELL_SAYS_DISABLED_IN_PART);
	t->in_details = alone <= ALONE_MANY || alone <= all / 100 * ALONE_MUCH_PCT;
	dw_notes_facts(t, DWELL_SAYS_FUNCTIONS_ALONE, DWELL_SAYS_FUNCTIONS_ALONE);
	t->in_details = false;
}

/* How far all this can be trusted. */
static void add_trust(struct dw_notes *t)
{
	bool any = t->totals->all[DWELL_MEASURE_CALLS];
	int64_t start = dw_notes_fact(t, "agent_start_ns", 0);

	t->in_details = any;
	if (any)
		dw_note(t, HEADING, TRUST);
	else
		dw_note(t, SAYS, NO_CALL);
	if (!any && !dw_notes_fact(t, "functions_instrumented", 1))
		dw_note(t, SAYS, NO_PROBES);
	if (any) {
		add_os_events(t);
		add_costs(t);
		add_residual(t);
		t->in_details = true;
		/* What the agents' own start took, where it shows. */
		if (start > dw_notes_fact(t, "duration_ns", 0) / 100)
			dw_note(t, SAYS, AGENTS_START, .n = {start});
		dw_note(t, SAYS, MEMORY_WAITS);
		add_switches(t);
		add_external(t);
	}
	add_functions_without(t);
	dw_notes_facts(t, DWELL_SAYS_STATEMENTS_ALONE, DWELL_SAYS_PROCESSES_LEFT_OUT);
	dw_notes_facts(t, DWELL_SAYS_THREADS_DROPPED, DWELL_SAYS_CALLS_WITHOUT_CALLER);
	t->in_details = true;
	dw_notes_facts(t, DWELL_SAYS_PATH_SAMPLES, DWELL_SAYS_PATHS_MISSING);
	t->in_details = false;
	dw_notes_facts(t, DWELL_SAYS_WITHOUT_EXTREMES, DWELL_SAYS_NODES_DROPPED);
}

void dw_notes_calls(struct dw_notes *t)
{
	uint64_t calls = t->totals->all[DWELL_MEASURE_CALLS];

	dw_notes_begin_size(t);
	dw_note(t, MORE, CALLS, .n = {calls, count_functions(t->totals)});
	dw_notes_end_size(t);
	dw_notes_programs(t);
	dw_notes_facts(t, DWELL_SAYS_DOTNET_RUNTIMES, DWELL_SAYS_JAVA_RUNTIMES);
	add_chosen(t);
	add_large_residual(t);
	dw_notes_time_of_calls(t);
	t->in_details = true;
	dw_notes_files(t);
	t->in_details = false;
	dw_notes_path(t);
	add_functions(t);
	add_slow_work(t);
	t->in_details = true;
	add_slow_calls(t);
	add_trust(t);
}
