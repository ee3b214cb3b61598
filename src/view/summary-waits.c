/*
 * What the summary says of waits: for what threads waited and where most, the longest first. Short
 * ones are told together.
 */
#include "view/notes.h"

enum {
	KINDS_MAX = 6,	  /* in lines of their own */
	KIND_MIN_PCT = 1, /* likewise: of waits and of what the program did beside */
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

static void add_kind(struct dw_notes *t, enum dw_wait_kind kind, uint64_t all)
{
	const struct dw_wait_total *w = &t->totals->waits[kind];
	const struct dw_function *f = dw_functions_get(&t->profile->functions, w->function);

	dw_note_by(t, SHARE, DWELL_SAYS_WAITS_OTHER + kind, .n = {w->ns},
		   .share = {dw_share(w->ns, all)});
	if (dw_wait_kinds_have(t->totals->waits_left_out, kind))
		dw_note(t, MORE, WAITS_LEFT_OUT);
	if (f && w->function_ns > w->ns / 2)
		dw_note(t, MORE, WAITS_MOST,
			.name = {dw_strings_get(&t->profile->strings, f->name)});
}

/* What samples of time stand for, 0 of others. */
static uint64_t processor_ns(const struct dw_notes *t)
{
	return t->totals->amounts.sample_ns * t->totals->all[DWELL_MEASURE_SAMPLES];
}

void dw_notes_waits(struct dw_notes *t)
{
	const struct dw_wait_total *waits = t->totals->waits;
	enum dw_wait_kind kinds[DWELL_WAIT_KINDS];
	unsigned n = sort_kinds(waits, kinds);
	uint64_t all = 0, more = 0, left_out = 0, least;

	if (!n)
		return;
	for (unsigned i = 0; i < n; i++)
		all += waits[kinds[i]].ns;
	least = (all + processor_ns(t)) / 100 * KIND_MIN_PCT;
	if (all < least)
		return;
	dw_note(t, HEADING, WAITS);
	for (unsigned i = 0; i < n; i++) {
		bool is_told = i < KINDS_MAX && waits[kinds[i]].ns >= least;

		if (is_told)
			add_kind(t, kinds[i], all);
		else
			more += waits[kinds[i]].ns;
		if (is_told && dw_wait_kinds_have(t->totals->waits_left_out, kinds[i]))
			left_out += waits[kinds[i]].ns;
	}
	if (more >= least)
		dw_note(t, SHARE, WAITS_MORE, .n = {more}, .share = {dw_share(more, all)});
	if (left_out)
		dw_note(t, SAYS, WAITS_LEFT_OUT_MEANS);
}
