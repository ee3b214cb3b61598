/*
 * What the summary says of waits: for what threads waited and where most, the longest first. Short
 * ones are told together.
 */
#include "view/notes.h"

enum {
	KINDS_MAX = 6,	  /* in lines of their own */
	KIND_MIN_PCT = 1, /* likewise */
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
	if (f && w->function_ns > w->ns / 2)
		dw_note(t, MORE, WAITS_MOST,
			.name = {dw_strings_get(&t->profile->strings, f->name)});
}

/* The kinds that are left out and were waited for, with commas, to t->left_out. */
static void list_left_out(struct dw_notes *t)
{
	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++)
		if (t->totals->waits[kind].ns &&
		    dw_wait_kinds_have(t->totals->waits_left_out, kind))
			dw_buf_printf(&t->left_out, "%s%s", t->left_out.len ? "," : "",
				      dw_wait_kind_name(kind));
}

void dw_notes_waits(struct dw_notes *t, bool says_left_out)
{
	const struct dw_wait_total *waits = t->totals->waits;
	enum dw_wait_kind kinds[DWELL_WAIT_KINDS];
	unsigned n = sort_kinds(waits, kinds);
	uint64_t all = 0, more = 0;

	if (!n)
		return;
	for (unsigned i = 0; i < n; i++)
		all += waits[kinds[i]].ns;
	dw_note(t, HEADING, WAITS);
	for (unsigned i = 0; i < n; i++)
		if (i < KINDS_MAX && waits[kinds[i]].ns >= all / 100 * KIND_MIN_PCT)
			add_kind(t, kinds[i], all);
		else
			more += waits[kinds[i]].ns;
	if (more >= all / 100 * KIND_MIN_PCT)
		dw_note(t, SHARE, WAITS_MORE, .n = {more}, .share = {dw_share(more, all)});
	if (says_left_out)
		list_left_out(t);
	if (t->left_out.len)
		dw_note(t, SAYS, WAITS_LEFT_OUT, .name = {dw_buf_str(&t->left_out)});
}
