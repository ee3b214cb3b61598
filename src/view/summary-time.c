/*
 * What the summary says first: where the time of all threads went. Processor time, then what was
 * waited for, the longest first, are shares of the work that all else is told of. What is in none
 * of its numbers, such as idle threads, stands in one line behind.
 */
#include "view/notes.h"

enum {
	KINDS_MAX = 4,	  /* of waits, in lines of their own */
	KIND_MIN_PCT = 1, /* of the work, likewise */
	PART_MIN = 500,	  /* of the work, likewise: every so manieth part */
	AROUND_MIN_NS = 1000,
};

/* What there is to tell. */
struct told {
	struct dw_notes *t;
	uint64_t work;	  /* ns, what shares are of */
	uint64_t besides; /* ns that are in none of the numbers */
};

/* The parts of processor time. */
struct processor {
	uint64_t program, system, around;
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

static void add_share(const struct told *w, uint64_t ns, enum dw_sentence says)
{
	dw_note_by(w->t, SHARE, says, .n = {ns}, .share = {dw_share(ns, w->work)});
}

/* Whether a part of processor time is worth a line. */
static bool is_part(const struct told *w, uint64_t ns)
{
	return ns && ns >= w->work / PART_MIN;
}

/* The kinds of waiting that are work, and together what is not worth a line. */
static void add_kinds(const struct told *w, const enum dw_wait_kind *kinds, unsigned n)
{
	const struct dw_notes *t = w->t;
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
		add_share(w, k->ns, DWELL_SAYS_WAITING_TIME);
		dw_note_by(w->t, MORE, DWELL_SAYS_WAITS_OTHER + kinds[i]);
		if (f && k->function_ns > k->ns / 2)
			dw_note(w->t, MORE, WAITS_MOST,
				.name = {dw_strings_get(&t->profile->strings, f->name)});
		told++;
	}
	if (more && more >= least)
		add_share(w, more, DWELL_SAYS_WAITS_MORE);
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

		if (!is_left_out(t, kinds[i]) || ns < least)
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

static void add_processor(const struct told *w, const struct processor *p)
{
	struct dw_notes *t = w->t;
	bool is_calls = dw_profile_method(t->profile) == DWELL_METHOD_INSTRUMENTATION;
	uint64_t io = t->totals->all[DWELL_MEASURE_IO_CALLS];

	if (p->program)
		add_share(w, p->program,
			  dw_call_is_upper_bound(t->profile, 0) ? DWELL_SAYS_IN_PROGRAM_AT_MOST
								: DWELL_SAYS_IN_PROGRAM);
	if (is_part(w, p->system)) {
		add_share(w, p->system,
			  is_calls ? DWELL_SAYS_IN_SYSTEM_CALLS : DWELL_SAYS_IN_KERNEL);
		if (is_calls && io)
			dw_note(t, MORE, IO_CALLS, .n = {io});
		else if (!is_calls && dw_notes_fact(t, "kernel_sampled", 0) <= 0)
			dw_note(t, MORE, NOT_SAMPLED);
	}
	if (is_part(w, p->around))
		add_share(w, p->around, DWELL_SAYS_AROUND_SWITCHES);
}

static void tell(struct dw_notes *t, const struct processor *p)
{
	enum dw_wait_kind kinds[DWELL_WAIT_KINDS];
	unsigned n = sort_kinds(t->totals->waits, kinds);
	struct told w = {.t = t,
			 .work = p->program + p->system + p->around,
			 .besides = t->totals->all[DWELL_MEASURE_OVERHEAD]};

	for (unsigned i = 0; i < n; i++)
		*(is_left_out(t, kinds[i]) ? &w.besides : &w.work) += t->totals->waits[kinds[i]].ns;
	if (!w.work && !w.besides)
		return;
	dw_note(t, HEADING, TIME, .n = {w.work});
	add_processor(&w, p);
	add_kinds(&w, kinds, n);
	add_besides(&w, kinds, n);
}

void dw_notes_time_of_calls(struct dw_notes *t)
{
	const uint64_t *v = t->totals->all;
	struct processor p = {.program = v[DWELL_MEASURE_APPLICATION],
			      .system = v[DWELL_MEASURE_OS_CPU]};
	uint64_t known = p.program + p.system + v[DWELL_MEASURE_BLOCKED];

	if (known + v[DWELL_MEASURE_ELAPSED] / 10000 + AROUND_MIN_NS < v[DWELL_MEASURE_ELAPSED])
		p.around = v[DWELL_MEASURE_ELAPSED] - known;
	tell(t, &p);
}

/* The kernel tells the time of whole recordings, samples that of a part. */
void dw_notes_time_of_samples(struct dw_notes *t)
{
	int64_t user = dw_notes_fact(t, "user_cpu_ns", 0),
		kernel = dw_notes_fact(t, "kernel_cpu_ns", 0);
	struct processor p = {0};

	if (dw_notes_is_part(t)) {
		p.program = t->totals->amounts.sample_ns * t->totals->all[DWELL_MEASURE_SAMPLES];
	} else {
		p.program = user > 0 ? (uint64_t)user : 0;
		p.system = kernel > 0 ? (uint64_t)kernel : 0;
	}
	tell(t, &p);
}
