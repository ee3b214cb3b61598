/*
 * A comparison in sentences: what changed most, of what that is made, and how far it can be
 * trusted.
 *
 * Functions whose calls changed as those of their callers did are effects, and are not named here.
 */
#include "base/cleanup.h"
#include "format/diff.h"
#include "format/shorten.h"
#include "format/text.h"
#include "format/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	SENTENCES = 3,	/* about rows */
	PAIRS_TOLD = 5, /* names that were taken for the same */
	INDENT = 2,
	NAME_COLUMNS = 60,
	PATH_COLUMNS = 100,
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

/* "1.2 ms -> 3.4 ms" */
static void put_from_to(struct words *w, size_t column, double base, double now)
{
	dw_diff_put_amount(&w->line, w->c, column, base, false);
	dw_buf_puts(&w->line, " -> ");
	dw_diff_put_amount(&w->line, w->c, column, now, false);
}

/* Threads, where all runs of one side have more than any of the other. */
static void tell_threads(struct words *w)
{
	uint32_t least[DWELL_SIDES] = {UINT32_MAX, UINT32_MAX}, most[DWELL_SIDES] = {0};

	dw_vec_each(run, &w->c->runs) {
		least[run->side] =
			run->threads < least[run->side] ? run->threads : least[run->side];
		most[run->side] = run->threads > most[run->side] ? run->threads : most[run->side];
	}
	if (least[0] <= most[1] && least[1] <= most[0])
		return;
	dw_buf_printf(&w->line, "There are %s threads: ", least[1] > most[0] ? "more" : "fewer");
	for (int side = 0; side < DWELL_SIDES; side++) {
		dw_buf_printf(&w->line, "%s%" PRIu32, side ? " -> " : "", least[side]);
		if (least[side] != most[side])
			dw_buf_printf(&w->line, "..%" PRIu32, most[side]);
	}
	dw_buf_puts(&w->line, ".");
	put_line(w);
}

static void tell_sides(struct words *w)
{
	double before = total(w->c, DWELL_SIDE_BASE), after = total(w->c, DWELL_SIDE_NEW);

	dw_buf_puts(&w->line, "From ");
	put_side(w, DWELL_SIDE_BASE);
	dw_buf_puts(&w->line, " to ");
	put_side(w, DWELL_SIDE_NEW);
	dw_buf_printf(&w->line, ": %s ", dw_column_info(w->c->columns[DWELL_MAIN].column)->title);
	put_from_to(w, DWELL_MAIN, before, after);
	if (before > 0)
		dw_buf_printf(&w->line, " (%+.1f %%)", dw_change_pct(before, after - before));
	dw_buf_puts(&w->line, ".");
	put_line(w);
	tell_threads(w);
}

/* What a row has of a count, of runs that differ between what: "100..105". */
static void put_counted(struct words *w, size_t column, const struct dw_change *n,
			enum dw_side side)
{
	dw_diff_put_amount(&w->line, w->c, column, n->least[side], false);
	if (n->least[side] == n->most[side])
		return;
	dw_buf_puts(&w->line, "..");
	dw_diff_put_amount(&w->line, w->c, column, n->most[side], false);
}

/* "3 times as often", "2.5 times as often", "more often" */
static void put_ratio(struct words *w, const struct dw_change *calls)
{
	double ratio = calls->base > 0 ? calls->now / calls->base : 0;

	if (ratio < 1.95) {
		dw_buf_printf(&w->line, "%s often", calls->now > calls->base ? "more" : "less");
		return;
	}
	ratio = ratio < 10 ? nearbyint(ratio * 10) / 10 : nearbyint(ratio);
	dw_diff_put_amount(&w->line, w->c, DWELL_CALLS, ratio, false);
	dw_buf_puts(&w->line, " times as often");
}

/* "is called 3 times as often (1,000 -> 3,000 calls)", "has more objects (10 -> 20)" */
static void put_calls(struct words *w, const struct dw_compared_row *row,
		      const struct dw_change *count)
{
	const char *noun = dw_diff_noun(w->c, row->count);
	bool is_calls = !strcmp(noun, "calls");

	dw_buf_puts(&w->line, row->calls.trust == DWELL_NOT_TESTED ? "maybe " : "");
	if (is_calls) {
		dw_buf_puts(&w->line, "is called ");
		put_ratio(w, count);
	} else {
		dw_buf_printf(&w->line, "has %s %s", count->now > count->base ? "more" : "fewer",
			      noun);
	}
	dw_buf_puts(&w->line, " (");
	put_counted(w, row->count, count, DWELL_SIDE_BASE);
	dw_buf_puts(&w->line, " -> ");
	put_counted(w, row->count, count, DWELL_SIDE_NEW);
	dw_buf_puts(&w->line, is_calls ? " calls)" : ")");
}

/* "takes longer (1.2 us -> 2.5 us a call)", "has larger objects (32 -> 64 bytes each)". The medians
 * of the runs may say otherwise than what was tested, the median of all differences: then that
 * alone is told, "takes longer (by 0.1 us a call)". */
static void put_cost(struct words *w, const struct dw_compared_row *row, uint32_t at)
{
	bool more = row->happened & DWELL_SLOWER, each = false;
	struct dw_change judged;
	double shift = 0;

	dw_buf_puts(&w->line, row->cost.trust == DWELL_NOT_TESTED ? "maybe " : "");
	if (!dw_change_judged(w->c, at, &judged, &shift, &each))
		shift = judged.now - judged.base;
	if (dw_diff_is_time(w->c, DWELL_MAIN))
		dw_buf_printf(&w->line, "takes %s (", more ? "longer" : "less time");
	else if (each)
		dw_buf_printf(&w->line, "has %s objects (", more ? "larger" : "smaller");
	else
		dw_buf_printf(&w->line, "has %s %s (", more ? "more" : "fewer",
			      dw_diff_noun(w->c, DWELL_MAIN));
	if (more ? judged.now > judged.base : judged.now < judged.base) {
		put_from_to(w, DWELL_MAIN, judged.base, judged.now);
	} else {
		dw_buf_puts(&w->line, "by ");
		dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, fabs(shift), false);
	}
	if (each)
		dw_buf_puts(&w->line,
			    dw_diff_is_time(w->c, DWELL_MAIN) ? " a call" : " bytes each");
	dw_buf_puts(&w->line, ")");
}

/* Whether the parts of a difference say of the calls' costs what the row's verdict says. */
static bool is_story_fit(const struct dw_compared_row *row, const struct dw_story *story)
{
	if (row->happened & DWELL_SLOWER)
		return story->by_cost > 0;
	return !(row->happened & DWELL_FASTER) || story->by_cost < 0;
}

/* ": +12 ms, all of it more calls". Where medians contradict what was tested it is the shift. */
static void put_delta(struct words *w, uint32_t at, const struct dw_change *time,
		      const struct dw_change *calls)
{
	struct dw_story story = dw_story_of(time, calls);
	double delta = time->now - time->base, pct;
	bool more_calls = calls && calls->now > calls->base;
	const char *noun = calls ? dw_diff_noun(w->c, DWELL_CALLS) : "";
	struct dw_shift shift;

	if (!is_story_fit(&w->c->rows.v[at], &story)) {
		if (dw_change_shift(w->c, at, DWELL_MAIN, &shift))
			delta = shift.median;
		calls = NULL;
	}
	dw_buf_puts(&w->line, ": ");
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, delta, true);
	if (!calls || calls->base == calls->now || calls->base <= 0 || calls->now <= 0)
		return;
	pct = 100 * story.by_calls / (delta != 0 ? delta : 1);
	if (pct >= WHOLE_PART_PCT && pct <= 200 - WHOLE_PART_PCT) {
		dw_buf_printf(&w->line, ", %s of it %s %s",
			      pct > 99 && pct < 101 ? "all" : "nearly all",
			      more_calls ? "more" : "fewer", noun);
		return;
	}
	dw_buf_puts(&w->line, ", ");
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, story.by_calls, true);
	dw_buf_printf(&w->line, " by %s %s and ", more_calls ? "more" : "fewer", noun);
	dw_diff_put_amount(&w->line, w->c, DWELL_MAIN, story.by_cost, true);
	if (dw_diff_is_time(w->c, DWELL_MAIN))
		dw_buf_printf(&w->line, " as each call costs %s",
			      story.by_cost > 0 ? "more" : "less");
	else
		dw_buf_printf(&w->line, " by %s ones", story.by_cost > 0 ? "larger" : "smaller");
}

/* Whether something of the difference that is told can be trusted so far. Of presence whatever
 * tells it. */
static bool is_trusted(const struct dw_compared_row *row, enum dw_trust trust)
{
	const unsigned presence = DWELL_HAS_APPEARED | DWELL_HAS_GONE;
	const unsigned counts = presence | DWELL_MORE_CALLS | DWELL_FEWER_CALLS;
	const unsigned costs = presence | DWELL_SLOWER | DWELL_FASTER;

	return (row->happened & counts && row->count && row->calls.trust == trust) ||
	       (row->happened & costs && row->cost.trust == trust);
}

/* Whether something of the difference is sure: a count, or what was tested. */
static bool is_sure(const struct dw_compared_row *row)
{
	return is_trusted(row, DWELL_COUNTED) || is_trusted(row, DWELL_TESTED);
}

static void put_presence(struct words *w, const struct dw_compared_row *row,
			 const struct dw_change *count)
{
	bool is_new = row->happened & DWELL_HAS_APPEARED;
	enum dw_side side = is_new ? DWELL_SIDE_NEW : DWELL_SIDE_BASE;
	const char *noun;
	size_t plural;

	if (row->happened & DWELL_IS_INLINED)
		dw_buf_puts(&w->line, "is inlined now, where its callers have its time");
	else if (row->happened & DWELL_NO_LONGER_INLINED)
		dw_buf_puts(&w->line, "is no longer inlined");
	else if (!w->c->counts_n)
		dw_buf_printf(&w->line, "%swas seen in %s alone", is_sure(row) ? "" : "maybe ",
			      is_new ? "new" : "base");
	else
		dw_buf_puts(&w->line, is_new ? "is new" : "is gone");
	if (!count)
		return;
	noun = dw_diff_noun(w->c, row->count);
	plural = strcspn(noun, " "); /* "calls", "bytes read" */
	dw_buf_puts(&w->line, " (");
	put_counted(w, row->count, count, side);
	dw_buf_printf(&w->line, " %.*s%s)", (int)plural - (count->most[side] == 1), noun,
		      noun + plural);
}

/* Append the name in @full, or of a long one what tells most; chains keep their ends. */
static void put_fitted(struct words *w, const struct dw_buf *full, size_t columns)
{
	struct dw_out fitted;

	if (dw_text_columns(dw_buf_str(full)) <= columns) {
		dw_buf_puts(&w->line, dw_buf_str(full));
		return;
	}
	dw_out_init_buffer(&fitted);
	dw_function_name_put_fitted(&fitted, dw_buf_str(full), columns);
	dw_buf_puts(&w->line, dw_buf_str(&fitted.buf));
	dw_out_close(&fitted);
}

static void put_row_name(struct words *w, uint32_t at)
{
	dw_auto(dw_buf) name = DW_BUF_INIT;

	dw_diff_put_name(&name, w->c, at);
	put_fitted(w, &name, w->c->view == &dw_view_file_io ? SIZE_MAX : NAME_COLUMNS);
}

/* ", from main > load" */
static void put_path(struct words *w, uint32_t at)
{
	dw_auto(dw_buf) path = DW_BUF_INIT;

	dw_comparison_path(w->c, at, &path);
	if (path.len) {
		dw_buf_puts(&w->line, ", from ");
		put_fitted(w, &path, PATH_COLUMNS);
	}
}

static void tell_row(struct words *w, uint32_t at)
{
	const unsigned counts = DWELL_MORE_CALLS | DWELL_FEWER_CALLS;
	const unsigned costs = DWELL_SLOWER | DWELL_FASTER;
	const struct dw_compared_row *row = &w->c->rows.v[at];
	struct dw_change time = dw_change_get(w->c, at, DWELL_MAIN), count, *calls = NULL;

	if (row->count)
		count = dw_change_get(w->c, at, row->count);
	if (dw_comparison_has_calls(w->c))
		calls = &count;
	put_row_name(w, at);
	dw_buf_puts(&w->line, " ");
	if (row->happened & (DWELL_HAS_APPEARED | DWELL_HAS_GONE))
		put_presence(w, row, row->count ? &count : NULL);
	if (row->happened & counts)
		put_calls(w, row, &count);
	if (row->happened & counts && row->happened & costs)
		dw_buf_puts(&w->line, " and ");
	if (row->happened & costs)
		put_cost(w, row, at);
	put_path(w, at);
	put_delta(w, at, &time, calls);
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

static bool do_runs_suffice(const struct dw_comparison *c)
{
	return dw_runs_suffice(c->runs_n[DWELL_SIDE_BASE], c->runs_n[DWELL_SIDE_NEW], c->tests);
}

static void tell_nothing(struct words *w)
{
	const char *by = do_runs_suffice(w->c) ? "more than chance may" : "much";
	bool varies = false;

	dw_vec_each(row, &w->c->rows)
		varies |= (row->happened & DWELL_CALLS_VARY) != 0;
	if (!w->c->counts_n)
		dw_buf_printf(&w->line, "Nothing has changed by %s.", by);
	else if (varies)
		dw_buf_printf(&w->line, "No count and no time has changed by %s.", by);
	else
		dw_buf_printf(&w->line, "No count has changed, and no time by %s.", by);
	put_line(w);
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
	if (!different)
		tell_nothing(w);
}

/* Behind the first ones of @n functions that @what is told of. */
static void tell_left_out(struct words *w, size_t n, const char *what)
{
	if (n <= PAIRS_TOLD)
		return;
	dw_buf_printf(&w->line, "%zu more %s.", n - PAIRS_TOLD, what);
	put_line(w);
}

/* Whether the function is in another file now, and in just that one. */
static bool has_other_file(const struct dw_compared_name *name)
{
	const uint32_t *file = name->file_of;

	return name->has[0] && name->has[1] && file[0] && file[1] && file[0] != file[1] &&
	       !name->in_files[0] && !name->in_files[1];
}

static void tell_files(struct words *w)
{
	const struct dw_names *names = &w->c->names;
	size_t n = 0;

	for (uint32_t id = 1; id < names->v.n; id++) {
		const struct dw_compared_name *name = &names->v.v[id];

		if (!has_other_file(name) || n++ >= PAIRS_TOLD)
			continue;
		dw_buf_printf(&w->line, "%s is in %s now, and was in %s.",
			      dw_strings_get(&names->strings, name->text),
			      dw_strings_get(&names->strings, name->file_of[1]),
			      dw_strings_get(&names->strings, name->file_of[0]));
		put_line(w);
	}
	tell_left_out(w, n, "are in another file");
}

/* Names that were taken for others. */
static void tell_pairs(struct words *w)
{
	const struct dw_names *names = &w->c->names;
	size_t n = 0;

	for (uint32_t id = 1; id < names->v.n; id++) {
		const struct dw_compared_name *name = &names->v.v[id];
		const struct dw_compared_name *other =
			name->other ? &names->v.v[name->other] : NULL;

		if (!other || name->likeness < DWELL_LIKE_MOVED || n++ >= PAIRS_TOLD)
			continue;
		dw_buf_printf(&w->line, "Taken for the same: %s",
			      dw_strings_get(&names->strings, name->text));
		if (name->likeness == DWELL_LIKE_MOVED)
			dw_buf_printf(&w->line, " in %s, which was in %s.",
				      dw_strings_get(&names->strings, name->module_shown),
				      dw_strings_get(&names->strings, other->module_shown));
		else
			dw_buf_printf(&w->line, ", which was %s.",
				      dw_strings_get(&names->strings, other->text));
		put_line(w);
	}
	tell_left_out(w, n, "were taken for others");
}

/* One run a side. */
static void tell_of_single(struct words *w, bool any_maybe)
{
	const struct dw_comparison *c = w->c;

	dw_buf_puts(&w->line, "One run a side: ");
	if (c->counts_n || c->columns[DWELL_MAIN].is_count)
		dw_buf_puts(&w->line, "whether counts differ from run to run is not known");
	if (c->counts_n && c->tests)
		dw_buf_puts(&w->line, ", and ");
	if (c->tests)
		dw_buf_printf(&w->line, "%s was tested",
			      dw_diff_is_time(c, DWELL_MAIN) ? "no time" : "nothing");
	if (any_maybe)
		dw_buf_printf(&w->line, "; what is marked 'maybe' may be chance%s",
			      c->runs.v[0].sample > 0
				      ? ", though it is more than the error of sampling"
				      : "");
	if (c->tests)
		dw_buf_printf(&w->line, "; %zu runs a side would tell (dwell diff --run)",
			      c->runs_wanted);
	dw_buf_puts(&w->line, ".");
	put_line(w);
}

/* Several runs: what the tests say. */
static void tell_of_tests(struct words *w, size_t significant, bool any_maybe)
{
	const struct dw_comparison *c = w->c;
	const char *s = c->tests == 1 ? "" : "s";

	if (!do_runs_suffice(c) && !significant) {
		dw_buf_printf(&w->line, "With %zu", c->runs_n[0]);
		if (c->runs_n[0] != c->runs_n[1])
			dw_buf_printf(&w->line, " and %zu", c->runs_n[1]);
		dw_buf_printf(&w->line,
			      " runs a side a change of one of %zu row%s cannot be told from "
			      "chance; %zu runs a side would do",
			      c->tests, s, c->runs_wanted);
	} else {
		dw_buf_printf(&w->line,
			      "%zu row%s with at least 1 %% of all %s tested: of the differences "
			      "that are told at most 5 %% are chance",
			      c->tests, s, c->tests == 1 ? "was" : "were");
	}
	if (any_maybe)
		dw_buf_puts(&w->line, "; what is marked 'maybe' may be chance");
	if (any_maybe && significant)
		dw_buf_printf(&w->line, ", %zu runs a side would tell", c->runs_wanted);
	dw_buf_puts(&w->line, ".");
	put_line(w);
}

static void tell_trust(struct words *w)
{
	size_t varying = 0, significant = 0;
	bool any_maybe = false;

	dw_vec_each(row, &w->c->rows) {
		varying += (row->happened & DWELL_CALLS_VARY) != 0;
		significant += is_trusted(row, DWELL_TESTED);
		any_maybe |= is_trusted(row, DWELL_NOT_TESTED);
	}
	if (w->c->runs.n == 2)
		tell_of_single(w, any_maybe);
	else if (w->c->tests)
		tell_of_tests(w, significant, any_maybe);
	if (varying) {
		dw_buf_printf(&w->line, "Counts of %zu row%s differ from run to run.", varying,
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
	tell_files(&w);
	tell_trust(&w);
	dw_buf_release(&w.line);
}
