/*
 * A comparison in sentences: what changed most, of what that is made, and how far it can be
 * trusted.
 *
 * Functions whose calls changed as those of their callers did are effects, and are not named here.
 */
#include "format/diff.h"
#include "format/text.h"
#include "format/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	SENTENCES = 3,	/* about rows */
	PAIRS_TOLD = 5, /* names that were taken for the same */
	INDENT = 2,
};

#define WHOLE_PART_PCT 90. /* of a difference: nearly all of it */

struct words {
	const struct dw_diff_job *job;
	const struct dw_comparison *c;
	const char *before;
	struct dw_out *out;
	struct dw_buf line;
};

static void put_line(struct words *w)
{
	struct dw_out escaped;

	dw_out_init_buffer(&escaped);
	dw_text_put(&escaped, dw_buf_str(&w->line));
	dw_out_puts(&escaped, "\n");
	dw_out_puts(w->out, w->before);
	dw_text_put_wrapped(w->out, dw_buf_str(&escaped.buf), 0, INDENT, w->job->width);
	dw_out_close(&escaped);
	dw_buf_clear(&w->line);
}

/* The median of the main column of all of @side. */
static double total(const struct dw_comparison *c, enum dw_side side)
{
	double all[DWELL_RUNS_MAX];
	size_t n = 0;

	dw_vec_each(run, &c->runs)
		if (run->side == side)
			all[n++] = (double)run->all[DWELL_MAIN];
	return dw_median(all, n);
}

static const struct dw_compared_run *first_run(const struct dw_comparison *c, enum dw_side side)
{
	dw_vec_each(run, &c->runs)
		if (run->side == side)
			return run;
	return NULL;
}

static void put_side(struct words *w, enum dw_side side)
{
	size_t n = w->c->runs_n[side];

	bool differ = false;

	dw_vec_each(run, &w->c->runs)
		differ |= run->side == side && strcmp(run->path, first_run(w->c, side)->path) != 0;
	dw_buf_puts(&w->line, first_run(w->c, side)->path);
	if (differ)
		dw_buf_printf(&w->line, " and %zu more", n - 1);
	else if (n > 1)
		dw_buf_printf(&w->line, " (%zu runs)", n);
}

static void put_pct(struct dw_buf *b, double base, double now)
{
	if (base > 0)
		dw_buf_printf(b, " (%+.1f %%)", 100 * (now - base) / base);
}

static void tell_sides(struct words *w)
{
	const struct dw_column_info *info = dw_column_info(w->c->columns[DWELL_MAIN].column);
	const struct dw_compared_run *base = first_run(w->c, DWELL_SIDE_BASE),
				     *now = first_run(w->c, DWELL_SIDE_NEW);
	double before = total(w->c, DWELL_SIDE_BASE), after = total(w->c, DWELL_SIDE_NEW);

	dw_buf_puts(&w->line, "From ");
	put_side(w, DWELL_SIDE_BASE);
	dw_buf_puts(&w->line, " to ");
	put_side(w, DWELL_SIDE_NEW);
	if (info->measure) {
		dw_buf_printf(&w->line, ": %s ", info->title);
		dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, before, false);
		dw_buf_puts(&w->line, " -> ");
		dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, after, false);
		put_pct(&w->line, before, after);
	}
	dw_buf_puts(&w->line, ".");
	put_line(w);
	if (base->threads == now->threads)
		return;
	dw_buf_printf(&w->line, "There are %s threads: %" PRIu32 " -> %" PRIu32 ".",
		      now->threads > base->threads ? "more" : "fewer", base->threads, now->threads);
	put_line(w);
}

/* "is called 3 times as often (1,000 -> 3,000 calls)" */
static void put_calls(struct words *w, const struct dw_change *calls)
{
	const char *unit = w->c->method == DWELL_METHOD_MEMORY ? "objects"
			   : w->c->view == &dw_view_file_io    ? "reads"
							       : "calls";
	double ratio = calls->base > 0 ? calls->now / calls->base : 0;

	if (w->c->method == DWELL_METHOD_MEMORY || w->c->view == &dw_view_file_io)
		dw_buf_printf(&w->line, "has %s %s (", calls->now > calls->base ? "more" : "fewer",
			      unit);
	else if (ratio >= 1.95)
		dw_buf_printf(&w->line, "is called %.4g times as often (",
			      ratio >= 10 ? nearbyint(ratio) : nearbyint(ratio * 10) / 10);
	else
		dw_buf_printf(&w->line, "is called %s often (", ratio > 1 ? "more" : "less");
	dw_diff_put_amount(&w->line, w->c, DWELL_CALLS, calls->base, false);
	dw_buf_puts(&w->line, " -> ");
	dw_diff_put_amount(&w->line, w->c, DWELL_CALLS, calls->now, false);
	dw_buf_printf(&w->line, " %s)", unit);
}

/* "takes longer (1.2us -> 2.5us a call)" */
static void put_cost(struct words *w, const struct dw_change *time, const struct dw_change *calls,
		     bool more)
{
	bool each = calls && calls->base > 0 && calls->now > 0;

	if (w->c->columns[DWELL_MAIN].is_count || w->c->is_estimated)
		dw_buf_printf(&w->line, "%s %s bytes (", each ? "these have" : "has",
			      more ? "more" : "fewer");
	else
		dw_buf_printf(&w->line, "takes %s (", more ? "longer" : "less time");
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, each ? time->base / calls->base : time->base,
			   false);
	dw_buf_puts(&w->line, " -> ");
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, each ? time->now / calls->now : time->now,
			   false);
	if (w->c->method == DWELL_METHOD_MEMORY)
		dw_buf_puts(&w->line, each ? " an object)" : ")");
	else
		dw_buf_puts(&w->line, each ? " a call)" : ")");
}

/* ": +12ms, all of it more calls" */
static void put_delta(struct words *w, const struct dw_change *time, const struct dw_change *calls)
{
	struct dw_story story = dw_story_of(time, calls);
	double delta = time->now - time->base;
	bool more_calls = calls && calls->now > calls->base;
	const char *by_calls = w->c->method == DWELL_METHOD_MEMORY ? "objects" : "calls";
	double pct = delta != 0 ? 100 * story.by_calls / delta : 0;

	dw_buf_puts(&w->line, ": ");
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, delta, true);
	if (!calls || calls->base == calls->now || calls->base <= 0 || calls->now <= 0)
		return;
	if (pct >= WHOLE_PART_PCT && pct <= 200 - WHOLE_PART_PCT) {
		dw_buf_printf(&w->line, ", %s of it %s %s",
			      pct > 99 && pct < 101 ? "all" : "nearly all",
			      more_calls ? "more" : "fewer", by_calls);
		return;
	}
	dw_buf_puts(&w->line, ", ");
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, story.by_calls, true);
	dw_buf_printf(&w->line, " by %s %s and ", more_calls ? "more" : "fewer", by_calls);
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, story.by_cost, true);
	dw_buf_puts(&w->line, " by what each costs");
}

static void put_presence(struct words *w, const struct dw_compared_row *row,
			 const struct dw_change *calls)
{
	bool is_new = row->happened & DWELL_HAS_APPEARED;

	if (row->happened & DWELL_IS_INLINED)
		dw_buf_puts(&w->line, "is inlined now, where its callers have its time");
	else if (row->happened & DWELL_NO_LONGER_INLINED)
		dw_buf_puts(&w->line, "is no longer inlined");
	else
		dw_buf_puts(&w->line, is_new ? "is new" : "is gone");
	if (!calls)
		return;
	dw_buf_puts(&w->line, " (");
	dw_diff_put_amount(&w->line, w->c, DWELL_CALLS, is_new ? calls->now : calls->base, false);
	dw_buf_printf(&w->line, " %s%s)", w->c->method == DWELL_METHOD_MEMORY ? "object" : "call",
		      (is_new ? calls->now : calls->base) == 1 ? "" : "s");
}

static void tell_row(struct words *w, uint32_t at)
{
	const struct dw_compared_row *row = &w->c->rows.v[at];
	struct dw_change time, counted, *calls = dw_comparison_has_calls(w->c) ? &counted : NULL;
	size_t path;

	if (!dw_change_get(w->c, at, DWELL_MAIN, &time) ||
	    (calls && !dw_change_get(w->c, at, DWELL_CALLS, calls)))
		return;
	dw_diff_put_name(&w->line, w->c, at);
	dw_buf_puts(&w->line, " ");
	if (row->happened & (DWELL_HAS_APPEARED | DWELL_HAS_GONE)) {
		put_presence(w, row, calls);
	} else {
		if (row->happened & (DWELL_MORE_CALLS | DWELL_FEWER_CALLS) && calls)
			put_calls(w, calls);
		if (row->happened & (DWELL_MORE_CALLS | DWELL_FEWER_CALLS) && calls &&
		    row->happened & (DWELL_SLOWER | DWELL_FASTER))
			dw_buf_puts(&w->line, " and ");
		if (row->happened & (DWELL_SLOWER | DWELL_FASTER))
			put_cost(w, &time, calls, row->happened & DWELL_SLOWER);
	}
	dw_buf_puts(&w->line, ", from ");
	path = w->line.len;
	dw_comparison_path(w->c, at, &w->line);
	if (w->line.len == path)
		w->line.data[w->line.len -= sizeof ", from " - 1] = 0;
	put_delta(w, &time, calls);
	if (row->trust == DWELL_NOT_TESTED && row->happened & (DWELL_SLOWER | DWELL_FASTER))
		dw_buf_puts(&w->line, " (not tested)");
	dw_buf_puts(&w->line, ".");
	put_line(w);
}

/* Whether a row is worth a sentence: a cause, not what follows from it. In trees what is above has
 * the same difference, and what is below has the same calls. */
static bool is_cause(const struct dw_comparison *c, uint32_t at)
{
	const unsigned counts =
		DWELL_HAS_APPEARED | DWELL_HAS_GONE | DWELL_MORE_CALLS | DWELL_FEWER_CALLS;
	const struct dw_compared_row *row = &c->rows.v[at];

	if (!c->view->tree)
		return !(row->happened & DWELL_AS_CALLERS);
	if (row->happened & counts)
		return row->parent == UINT32_MAX || !(c->rows.v[row->parent].happened & counts);
	return !row->is_above;
}

/* Whether something of the difference is sure: a count, or a time that was tested. */
static bool is_sure(const struct dw_compared_row *row)
{
	const unsigned costs = DWELL_SLOWER | DWELL_FASTER;

	return row->trust != DWELL_NOT_TESTED || row->happened & DWELL_DIFFERENT & ~costs;
}

/* What is sure first. */
static void tell_rows(struct words *w)
{
	size_t told = 0, different = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < w->c->order.n; i++) {
			uint32_t at = w->c->order.v[i];
			const struct dw_compared_row *row = &w->c->rows.v[at];

			if (!(row->happened & DWELL_DIFFERENT) || is_sure(row) == (pass == 1))
				continue;
			different++;
			if (told < SENTENCES && is_cause(w->c, at) && ++told)
				tell_row(w, at);
		}
	if (different)
		return;
	dw_buf_puts(&w->line, dw_comparison_has_calls(w->c)
				      ? "No count has changed, and no time by more than chance may."
				      : "Nothing has changed by more than chance may.");
	put_line(w);
}

/* Functions that are in another file now. */
static void tell_files(struct words *w)
{
	const struct dw_names *names = &w->c->names;
	size_t told = 0;

	for (uint32_t id = 1; id < names->v.n && told < PAIRS_TOLD; id++) {
		const struct dw_compared_name *name = &names->v.v[id];
		const uint32_t *file = name->file_of;

		if (!name->has[0] || !name->has[1] || !file[0] || !file[1] || file[0] == file[1])
			continue;
		told++;
		dw_buf_printf(&w->line, "%s is in %s now, and was in %s.",
			      dw_strings_get(&names->strings, name->text),
			      dw_strings_get(&names->strings, file[1]),
			      dw_strings_get(&names->strings, file[0]));
		put_line(w);
	}
}

/* Names that were taken for others, and functions that are in another file now. */
static void tell_pairs(struct words *w)
{
	const struct dw_names *names = &w->c->names;
	size_t pairs = 0;

	for (uint32_t id = 1; id < names->v.n; id++) {
		const struct dw_compared_name *name = &names->v.v[id];
		const struct dw_compared_name *other =
			name->other ? &names->v.v[name->other] : NULL;

		if (!other || name->likeness < DWELL_LIKE_MOVED || pairs++ >= PAIRS_TOLD)
			continue;
		if (name->likeness == DWELL_LIKE_MOVED)
			dw_buf_printf(&w->line, "Taken for the same: %s in %s, which was in %s.",
				      dw_strings_get(&names->strings, name->text),
				      dw_strings_get(&names->strings, name->module_shown),
				      dw_strings_get(&names->strings, other->module_shown));
		else
			dw_buf_printf(&w->line, "Taken for the same: %s, which was %s.",
				      dw_strings_get(&names->strings, name->text),
				      dw_strings_get(&names->strings, other->text));
		put_line(w);
	}
	tell_files(w);
	if (pairs > PAIRS_TOLD) {
		dw_buf_printf(&w->line, "So were %zu more.", pairs - PAIRS_TOLD);
		put_line(w);
	}
}

static void tell_trust(struct words *w)
{
	const struct dw_comparison *c = w->c;
	size_t n = c->runs_n[0] < c->runs_n[1] ? c->runs_n[0] : c->runs_n[1], varying = 0;

	dw_vec_each(row, &c->rows)
		varying += (row->happened & DWELL_CALLS_VARY) != 0;
	if (c->runs_n[0] == 1 && c->runs_n[1] == 1 && c->columns[DWELL_MAIN].is_count)
		dw_buf_puts(&w->line, "One run a side: whether counts vary from run to run is not "
				      "known.");
	else if (c->runs_n[0] == 1 && c->runs_n[1] == 1)
		dw_buf_printf(&w->line,
			      "One run a side: no time was tested, and what is marked with ? may "
			      "be chance%s; several runs tell (dwell diff --run).",
			      c->method == DWELL_METHOD_SAMPLING
				      ? ", though it is more than the error of sampling"
				      : "");
	else if (c->tests && n < c->runs_wanted)
		dw_buf_printf(&w->line,
			      "%zu runs a side are too few to test the times of %zu row%s: %zu "
			      "would do.",
			      n, c->tests, c->tests > 1 ? "s" : "", c->runs_wanted);
	else if (c->tests)
		dw_buf_printf(&w->line,
			      "The times of %zu row%s with at least 1 %% of all were tested: of "
			      "differences that are told at most 5 %% are chance.",
			      c->tests, c->tests > 1 ? "s" : "");
	if (w->line.len)
		put_line(w);
	if (varying) {
		dw_buf_printf(&w->line, "Counts of %zu row%s vary from run to run.", varying,
			      varying > 1 ? "s" : "");
		put_line(w);
	}
}

void dw_diff_write_words(const struct dw_diff_job *job, const char *before, struct dw_out *out)
{
	struct words w = {.job = job, .c = job->comparison, .before = before, .out = out};

	tell_sides(&w);
	tell_rows(&w);
	tell_pairs(&w);
	tell_trust(&w);
	dw_buf_release(&w.line);
}
