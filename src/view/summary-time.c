/*
 * What the summary says first: where the time of all threads went. Processor time, then what was
 * waited for, the longest first, are shares of the work that all else is told of. What is in none
 * of its numbers, such as idle threads, stands in one line behind.
 */
#include "analysis/just-my-code.h"
#include "view/notes.h"

enum {
	KINDS_MAX = 4,	  /* of waits, in lines of their own */
	KIND_MIN_PCT = 1, /* of the work, likewise */
	PART_MIN = 500,	  /* of the work, likewise: every so manieth part */
	AROUND_MIN_NS = 1000,
	LACK_MIN_NS = 10000000, /* without a processor, to warn of it, */
	LACK_PART = 2,		/* and so manieth part of the time with one */
};

/* What there is to tell. */
struct told {
	struct dw_notes *t;
	uint64_t processor; /* ns */
	uint64_t work;	    /* ns, what shares are of */
	uint64_t besides;   /* ns that are in none of the numbers */
	bool has_lack;	    /* that there was no processor is told already */
};

/* Put the kinds that waited into @ret, the longest first. How many there are. */
static unsigned sort_kinds(const struct dw_wait_total *waits, enum dw_wait_kind *ret)
{
	unsigned n = 0;

	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++) {
		unsigned at = n;

		if (!waits[kind].ns)
			continue;
		for (; at && waits[ret[at - 1]].ns < waits[kind].ns; at--)
			ret[at] = ret[at - 1];
		ret[at] = kind;
		n++;
	}
	return n;
}

static bool is_left_out(const struct dw_notes *t, enum dw_wait_kind kind)
{
	return dw_wait_kinds_have(t->totals->waits_left_out, kind);
}

/* Whose a share is: its bar looks like that. */
enum part { PROGRAM, SYSTEM, WAITS };

static void add_share(const struct told *w, uint64_t ns, enum part part, enum dw_sentence says)
{
	double share = dw_share(ns, w->work);

	dw_note_by(w->t, SHARE, says, .n = {ns}, .shares = 3,
		   .share = {share, part == PROGRAM ? share : 0, part == SYSTEM ? share : 0});
}

/* Whether a part of processor time is worth a line. */
static bool is_part(const struct told *w, uint64_t ns)
{
	return ns && ns >= w->work / PART_MIN;
}

/* Who had what @kind waited for, where that is known of most of it. */
static void add_holder(const struct told *w, enum dw_wait_kind kind)
{
	const struct dw_notes *t = w->t;
	const struct dw_wait_total *h = &t->totals->holders[kind];
	const struct dw_function *f = dw_functions_get(&t->profile->functions, h->function);

	if (f && h->function_ns > t->totals->waits[kind].ns / 2 &&
	    !(f->module && dw_is_system_module(t->profile, f->module)))
		dw_note(w->t, MORE, WAITS_HELD_BY,
			.name = {dw_strings_get(&t->profile->strings, f->name)});
}

/* The kinds of waiting that are work, and together what is not worth a line. */
static void add_kinds(const struct told *w, const enum dw_wait_kind *kinds, unsigned n)
{
	const struct dw_notes *t = w->t;
	/* Of calls it is not known whether a processor was lacking there. */
	enum dw_sentence time = dw_profile_has_calls(t->profile) ? DWELL_SAYS_OFF_PROCESSOR
								 : DWELL_SAYS_WAITING_TIME;
	uint64_t more = 0, least = w->work / 100 * KIND_MIN_PCT;
	unsigned told = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct dw_wait_total *k = &t->totals->waits[kinds[i]];
		const struct dw_function *f = dw_functions_get(&t->profile->functions, k->function);

		if (is_left_out(t, kinds[i]))
			continue;
		if (told == KINDS_MAX || k->ns < least) {
			more += k->ns;
			continue;
		}
		add_share(w, k->ns, WAITS, time);
		dw_note_by(w->t, MORE, DWELL_SAYS_WAITS_OTHER + kinds[i]);
		/* What all threads begin with says nothing. */
		if (f && k->function_ns > k->ns / 2 &&
		    !(f->module && dw_is_system_module(t->profile, f->module)))
			dw_note(w->t, MORE, WAITS_MOST,
				.name = {dw_strings_get(&t->profile->strings, f->name)});
		add_holder(w, kinds[i]);
		told++;
	}
	if (!more || more < least)
		return;
	add_share(w, more, WAITS, time);
	dw_note(w->t, MORE, WAITS_MORE);
}

/* Whether threads lacked a processor so long that all other numbers look otherwise alone. */
static bool lacks_processor(const struct told *w)
{
	uint64_t ready = w->t->totals->waits[DWELL_WAIT_READY].ns;

	return is_left_out(w->t, DWELL_WAIT_READY) && ready > LACK_MIN_NS &&
	       ready > w->processor / LACK_PART;
}

/* Say that threads lacked a processor. */
static void add_lack(struct told *w, enum dw_sentence says)
{
	if (!w->has_lack && lacks_processor(w))
		dw_note_by(w->t, SAYS, says, .n = {w->t->totals->waits[DWELL_WAIT_READY].ns});
	w->has_lack = true;
}

/* What is in no number, where it is worth to be told. */
static void add_besides(const struct told *w, const enum dw_wait_kind *kinds, unsigned n)
{
	struct dw_notes *t = w->t;
	uint64_t least = (w->work + w->besides) / 100 * KIND_MIN_PCT;
	uint64_t probes = t->totals->all[DWELL_MEASURE_OVERHEAD];
	bool any = false;

	for (unsigned i = 0; i < n; i++) {
		uint64_t ns = t->totals->waits[kinds[i]].ns;

		if (!is_left_out(t, kinds[i]) || ns < least ||
		    (kinds[i] == DWELL_WAIT_READY && lacks_processor(w)))
			continue;
		if (any)
			dw_note(t, MORE, AND);
		else
			dw_note(t, SAYS, BESIDES_WAITS);
		dw_note(t, MORE, OF_TIME, .n = {ns});
		dw_note_by(t, MORE, DWELL_SAYS_WAITS_OTHER + kinds[i]);
		any = true;
	}
	if (!probes || probes < least)
		return;
	if (any)
		dw_note(t, MORE, AND_PROBES, .n = {probes});
	else
		dw_note(t, SAYS, BESIDES_PROBES, .n = {probes});
}

/* Sum up what there is, and say what it is shares of. False: there is nothing. */
static bool begin(struct told *w, enum dw_wait_kind *kinds, unsigned *ret_n)
{
	struct dw_notes *t = w->t;
	uint64_t threads, processes;

	*ret_n = sort_kinds(t->totals->waits, kinds);
	w->work += w->processor;
	w->besides = t->totals->all[DWELL_MEASURE_OVERHEAD];
	for (unsigned i = 0; i < *ret_n; i++)
		*(is_left_out(t, kinds[i]) ? &w->besides : &w->work) +=
			t->totals->waits[kinds[i]].ns;
	if (!w->work && !w->besides)
		return false;
	/* Who lacked a processor longer than all else took wants to know this first. */
	if (t->totals->waits[DWELL_WAIT_READY].ns > w->work)
		add_lack(w, DWELL_SAYS_NO_PROCESSOR);
	dw_note(t, HEADING, TIME, .n = {w->work});
	dw_notes_count_tasks(t, &threads, &processes);
	if (threads > 1)
		dw_note(t, MORE, TIME_OF_THREADS);
	return true;
}

void dw_notes_time_of_calls(struct dw_notes *t)
{
	const uint64_t *v = t->totals->all;
	uint64_t program = v[DWELL_MEASURE_APPLICATION], system = v[DWELL_MEASURE_OS_CPU],
		 known = program + system + v[DWELL_MEASURE_BLOCKED], around = 0;
	struct told w = {.t = t, .processor = program + system};
	enum dw_wait_kind kinds[DWELL_WAIT_KINDS];
	unsigned n;

	if (known + v[DWELL_MEASURE_ELAPSED] / 10000 + AROUND_MIN_NS < v[DWELL_MEASURE_ELAPSED])
		around = v[DWELL_MEASURE_ELAPSED] - known;
	w.work = around;
	if (!begin(&w, kinds, &n))
		return;
	if (program)
		add_share(&w, program, PROGRAM,
			  dw_call_is_upper_bound(t->profile, 0) ? DWELL_SAYS_IN_PROGRAM_AT_MOST
								: DWELL_SAYS_IN_PROGRAM);
	if (is_part(&w, system)) {
		add_share(&w, system, SYSTEM, DWELL_SAYS_IN_SYSTEM_CALLS);
		if (v[DWELL_MEASURE_IO_CALLS])
			dw_note(t, MORE, IO_CALLS, .n = {v[DWELL_MEASURE_IO_CALLS]});
	}
	if (is_part(&w, around))
		add_share(&w, around, SYSTEM, DWELL_SAYS_AROUND_SWITCHES);
	add_kinds(&w, kinds, n);
	add_besides(&w, kinds, n);
	add_lack(&w, w.work > w.processor + around ? DWELL_SAYS_NO_PROCESSOR_IN_CALLS
						   : DWELL_SAYS_NO_PROCESSOR);
}

/* How the kernel divides processor time is known of whole recordings. */
void dw_notes_time_of_samples(struct dw_notes *t)
{
	int64_t kernel = dw_notes_fact(t, "kernel_cpu_ns", -1);
	bool is_sampled = dw_notes_fact(t, "kernel_sampled", 0) > 0;
	bool is_known = kernel >= 0 && !dw_notes_is_part(t);
	struct told w = {.t = t,
			 .processor = t->totals->amounts.sample_ns *
				      t->totals->all[DWELL_MEASURE_SAMPLES]};
	enum dw_wait_kind kinds[DWELL_WAIT_KINDS];
	unsigned n;

	if (!begin(&w, kinds, &n))
		return;
	if (w.processor)
		add_share(&w, w.processor, PROGRAM,
			  is_sampled ? DWELL_SAYS_ON_PROCESSOR : DWELL_SAYS_IN_PROGRAM);
	if (w.processor && is_sampled && is_known)
		dw_note(t, MORE, OF_IT_IN_KERNEL, .n = {kernel});
	add_kinds(&w, kinds, n);
	add_besides(&w, kinds, n);
	if (is_known && !is_sampled && is_part(&w, (uint64_t)kernel))
		dw_note(t, SAYS, KERNEL_NOT_SAMPLED, .n = {kernel});
	add_lack(&w, DWELL_SAYS_NO_PROCESSOR);
}
