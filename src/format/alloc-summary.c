/*
 * The summary of a session of allocations; see alloc-summary.h.
 *
 * Objects that die young cost little, those that get old and then die cost full collections: so the
 * first question is when objects died, the next which types did so in generation 2, and last who
 * allocates. How long the program stood still for it stands beside.
 */
#include "format/alloc-summary.h"

#include "format/text.h"
#include "format/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	BAR_MAX = 10,
	SHARE_COLUMNS = 12 + BAR_MAX, /* "  12.34 % ", the bar and a blank */
	ROWS_MAX = 5,		      /* of a list */
};

#define SHARE_MIN .005 /* percent: what would be shown as 0.00 is not */

static const struct dw_totals *totals_of(const struct dw_summary_writer *w)
{
	return w->job->view->request.totals;
}

static const struct dw_profile *profile_of(const struct dw_summary_writer *w)
{
	return w->job->view->request.profile;
}

static int64_t fact(const struct dw_summary_writer *w, const char *key)
{
	return dw_facts_get(&profile_of(w)->facts, key, 0);
}

static double share(uint64_t n, uint64_t all)
{
	return all ? 100.0 * (double)n / (double)all : 0;
}

/* "1.23 s, 8,412,345 objects of 731 types, 554.1 MB, 3 threads in 2 processes" */
static void put_size(const struct dw_summary_writer *w)
{
	const struct dw_profile *p = profile_of(w);
	const uint64_t *all = totals_of(w)->all;
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", -1);

	dw_out_puts(w->out, "  ");
	if (duration >= 0) {
		dw_words_time(w->out, duration);
		dw_out_puts(w->out, ", ");
	}
	dw_words_count(w->out, all[DWELL_MEASURE_OBJECTS], "object");
	dw_out_puts(w->out, " of ");
	dw_words_count(w->out, totals_of(w)->types.n, "type");
	dw_out_puts(w->out, ", ");
	dw_words_bytes(w->out, all[DWELL_MEASURE_BYTES]);
	dw_out_puts(w->out, ", ");
	dw_words_count(w->out, dw_threads_count(&p->threads), "thread");
	dw_out_puts(w->out, " in ");
	dw_words_count(w->out, dw_processes_count(&p->processes), "process");
	dw_out_puts(w->out, "\n");
}

static void put_bar(struct dw_out *out, double pct)
{
	size_t full = (size_t)(pct * BAR_MAX / 100 + .5);

	for (size_t i = 0; i < BAR_MAX; i++)
		dw_out_puts(out, i < full ? "█" : "·");
}

/* The measure of bytes that belongs to @objects. */
static enum dw_measure bytes_of(enum dw_measure objects)
{
	return objects - DWELL_MEASURE_OBJECTS + DWELL_MEASURE_BYTES;
}

/* What one end of objects took, when any had it. */
static void put_end(const struct dw_summary_writer *w, enum dw_measure objects, const char *what)
{
	const uint64_t *all = totals_of(w)->all;
	uint64_t bytes = all[bytes_of(objects)];
	double pct = share(bytes, all[DWELL_MEASURE_BYTES]);

	if (!all[objects])
		return;
	dw_out_printf(w->out, "  %6.2f %% ", pct);
	put_bar(w->out, pct);
	dw_out_puts(w->out, " ");
	dw_words_bytes(w->out, bytes);
	dw_out_printf(w->out, " %s: ", what);
	dw_words_count(w->out, all[objects], "object");
	dw_out_puts(w->out, "\n");
}

/* That all is estimated from samples. */
static void put_error(const struct dw_summary_writer *w, uint64_t bytes)
{
	double interval = (double)fact(w, "sample_bytes");

	dw_out_puts(w->out, "  All numbers are estimates from ");
	dw_words_count(w->out, (uint64_t)fact(w, "objects_sampled"), "sample");
	dw_out_printf(w->out, ": bytes are right to ± %.1f %%, with 95 %% certainty.\n",
		      196 * sqrt(interval / (double)bytes));
}

static void put_ends(const struct dw_summary_writer *w)
{
	static const char *const words[DWELL_GENERATIONS] = {
		"died young, in generation 0",	  "died in generation 1",
		"died old, in generation 2",	  "died in the large object heap",
		"died in the pinned object heap",
	};
	const uint64_t *all = totals_of(w)->all;

	if (!all[DWELL_MEASURE_OBJECTS])
		return;
	if (fact(w, "sample_bytes") > 0) {
		put_error(w, all[DWELL_MEASURE_BYTES]);
		return;
	}
	if (!dw_facts_get(&profile_of(w)->facts, "has_lifetime", 1)) {
		dw_out_puts(w->out, "  What became of them was not recorded.\n");
		return;
	}
	dw_summary_heading(w, "What became of it");
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		put_end(w, DWELL_MEASURE_OBJECTS_GEN0 + i, words[i]);
	put_end(w, DWELL_MEASURE_OBJECTS_ALIVE,
		fact(w, "collected_at_end") && !totals_of(w)->to_ns
			? "still alive after a last collection"
			: "still alive at the end");
}

/* What collections of one process or of all come to. */
struct pauses {
	uint64_t of[3]; /* by generation */
	uint64_t all_ns, added_ns;
	const struct dw_gc *longest;
};

static struct pauses sum_pauses(const struct dw_summary_writer *w)
{
	struct pauses sum = {0};

	dw_vec_each(i, &totals_of(w)->gcs) {
		const struct dw_gc *gc = &profile_of(w)->allocations.gcs.v[*i];

		sum.of[gc->generation < 3 ? gc->generation : 2]++;
		sum.all_ns += gc->pause_ns;
		sum.added_ns += gc->added_ns;
		if (!sum.longest || gc->pause_ns > sum.longest->pause_ns)
			sum.longest = gc;
	}
	return sum;
}

/* "29 collections (20 of generation 0, 6 of 1, 3 of 2) stopped it for 280 ms in all, 14 % of the
 * run. The longest: 34.2 ms, number 17, generation 2, induced." */
static void put_collections(const struct dw_summary_writer *w)
{
	struct pauses p = sum_pauses(w);
	int64_t duration = fact(w, "duration_ns");
	const char *reason;

	if (!p.longest)
		return;
	dw_out_puts(w->out, "  ");
	dw_words_count(w->out, totals_of(w)->gcs.n, "collection");
	dw_out_printf(w->out,
		      " (%" PRIu64 " of generation 0, %" PRIu64 " of 1, %" PRIu64
		      " of 2) stopped the program for ",
		      p.of[0], p.of[1], p.of[2]);
	dw_words_time(w->out, (int64_t)p.all_ns);
	if (duration > 0 && dw_processes_count(&profile_of(w)->processes) == 1)
		dw_out_printf(w->out, ", %.1f %% of the run",
			      100.0 * (double)p.all_ns / (double)duration);
	dw_out_puts(w->out, ".\n  The longest took ");
	dw_words_time(w->out, (int64_t)p.longest->pause_ns);
	reason = dw_strings_get(&profile_of(w)->strings, p.longest->reason);
	dw_out_printf(w->out, ": number %" PRIu32 ", generation %" PRIu32 "%s", p.longest->number,
		      p.longest->generation, *reason ? " (" : "");
	dw_text_put(w->out, reason);
	dw_out_puts(w->out, *reason ? ").\n" : ".\n");
	if (!p.added_ns)
		return;
	dw_out_puts(w->out, "  Pauses were longer by ");
	dw_words_time(w->out, (int64_t)p.added_ns);
	dw_out_puts(w->out, " in all, not counted here, because dwell was told of each.\n");
}

void dw_alloc_summary_head(struct dw_summary_writer *w)
{
	put_size(w);
	put_ends(w);
	put_collections(w);
}

/* "12.3 MB = 1,234,567 × 153 B" */
static void describe(const struct dw_alloc_count *n, struct dw_out *out)
{
	char digits[DWELL_GROUPED_MAX_BYTES];

	dw_words_bytes(out, n->bytes);
	dw_out_printf(out, " = %s × ", dw_words_grouped(n->objects, digits));
	dw_words_bytes(out, (n->bytes + n->objects / 2) / n->objects);
}

/* A row with the share of its bytes, or objects, and how many objects it has. */
static void put_row(struct dw_summary_writer *w, const struct dw_row *row,
		    const struct dw_alloc_count *n, double pct)
{
	struct dw_out words;

	dw_out_init_buffer(&words);
	describe(n, &words);
	dw_out_printf(w->out, "  %6.2f %% ", pct);
	put_bar(w->out, pct);
	dw_out_puts(w->out, " ");
	dw_summary_name(w, row, SHARE_COLUMNS + words.buf.len + 4);
	dw_out_printf(w->out, "  (%s)\n", dw_buf_str(&words.buf));
	dw_out_close(&words);
}

/* How a section of the view is told. */
struct section {
	const char *name, *heading;
	bool by_objects; /* shares are of objects, not of bytes */
	bool old;	 /* what counts was collected in generation 2, else what is a row's own */
};

static const struct section sections[] = {
	{"Functions Allocating Most Memory", "Functions allocating most memory themselves"},
	{"Types with Most Memory Allocated", "Types with most memory allocated"},
	{"Types with Most Instances", "Types with most instances", .by_objects = true},
	{"Types with Most Memory Collected in Gen 2",
	 "What dies old: types collected in generation 2", .old = true},
};

/* The rows of @s, from row @i of the view on. Gives the first behind them. */
static size_t put_section(struct dw_summary_writer *w, size_t i, const struct section *s)
{
	enum dw_measure objects = s->old ? DWELL_MEASURE_OBJECTS_GEN2 : DWELL_MEASURE_OBJECTS;
	enum dw_measure what = s->by_objects ? objects : bytes_of(objects);
	uint64_t all = totals_of(w)->all[what];
	const struct dw_view *v = w->job->view;
	size_t first = i;

	for (struct dw_row row; i < v->n; i++) {
		struct dw_alloc_count n;
		double pct;

		dw_view_row(v, i, &w->scratch[0], &row);
		if (strcmp(row.section, s->name))
			break;
		n.objects = dw_measured_get(&row.measured, objects, !s->old);
		n.bytes = dw_measured_get(&row.measured, bytes_of(objects), !s->old);
		if (i == first)
			dw_summary_heading(w, s->heading);
		pct = share(s->by_objects ? n.objects : n.bytes, all);
		if (n.objects && (i == first || pct >= SHARE_MIN) && i < first + ROWS_MAX)
			put_row(w, &row, &n, pct);
	}
	return i;
}

/* What the runtime counted and nobody announced. */
static void put_missing(const struct dw_summary_writer *w)
{
	int64_t counted = fact(w, "bytes_counted_by_runtime"), seen = fact(w, "bytes_announced");

	if (!dw_facts_get(&profile_of(w)->facts, "announces_all", 1))
		dw_out_puts(w->out,
			    "  That the runtime announced all objects is not known: boxes of "
			    "structs and\n  some others may be missing.\n");
	if (seen <= 0 || counted <= seen)
		return;
	dw_out_puts(w->out, "  The runtime itself counted ");
	dw_words_bytes(w->out, (uint64_t)(counted - seen));
	dw_out_printf(w->out, " more, %.2f %%.\n",
		      share((uint64_t)(counted - seen), (uint64_t)seen));
}

static void put_slow_way(const struct dw_summary_writer *w)
{
	dw_out_puts(w->out, "  Each allocation took the runtime's slow way and was noted: times of "
			    "this run\n  say little about a plain one.\n");
	put_missing(w);
}

static void put_sampling(const struct dw_summary_writer *w)
{
	dw_out_puts(w->out, "  Little: one object in ");
	dw_words_bytes(w->out, (uint64_t)fact(w, "sample_bytes"));
	dw_out_puts(w->out, " was noted. The runtime itself allocated some\n  600 kB more when it "
			    "started, for telling of them.\n");
}

static void put_trust(const struct dw_summary_writer *w)
{
	static const struct {
		const char *key, *what, *meaning;
	} notes[] = {
		{"objects_lost", "object", "not counted: they are in no row."},
		{"objects_without_stack", "object", "counted without a stack, as [unknown]."},
		{"objects_folded", "object", "counted without the recursion of their stacks."},
		{"objects_beyond", "object",
		 "counted by function, call and line, in no call tree: no memory was left for it."},
		{"objects_untracked", "object", "whose end is not known: they count as alive."},
		{"processes_not_instrumented", "process", "not measured: its objects are missing."},
		{"rows_dropped", "row", "dropped that made no sense."},
	};

	if (fact(w, "has_lifetime"))
		dw_out_puts(w->out,
			    "  Following objects turned background collections off: those of "
			    "generation 2\n  stopped the program instead. --no-lifetime keeps "
			    "them.\n");
	if (fact(w, "sample_bytes"))
		put_sampling(w);
	else
		put_slow_way(w);
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		dw_words_note(w->out, fact(w, notes[i].key), notes[i].what, notes[i].meaning);
	dw_words_note(w->out, (int64_t)totals_of(w)->stacks_cut, "allocation",
		      "with a stack that was cut: outer callers are missing.");
}

void dw_alloc_summary_tail(struct dw_summary_writer *w, size_t first)
{
	if (!totals_of(w)->all[DWELL_MEASURE_OBJECTS])
		dw_out_puts(w->out, "  No allocation was seen.\n");
	if (!totals_of(w)->all[DWELL_MEASURE_OBJECTS] && !fact(w, "processes_instrumented"))
		return; /* nothing was measured */
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		first = put_section(w, first, &sections[i]);
	dw_summary_heading(w, "What measuring changed");
	put_trust(w);
}
