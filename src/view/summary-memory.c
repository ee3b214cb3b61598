/*
 * What the summary says of allocations.
 *
 * Objects that die young cost little, those that get old and then die cost full collections: so the
 * first question is when objects died, the next which types did so in generation 2, and last who
 * allocates. How long the program stood still for it stands beside.
 */
#include "view/notes.h"

#include <math.h>

enum { ROWS_MAX = 5 }; /* of a list */

#define SHARE_MIN .005 /* percent: what would be shown as 0.00 is not */

/* The measure of bytes that belongs to @objects. */
static enum dw_measure bytes_of(enum dw_measure objects)
{
	return objects - DWELL_MEASURE_OBJECTS + DWELL_MEASURE_BYTES;
}

/* What one end of objects took, when any had it. */
static void add_end(struct dw_notes *t, enum dw_measure objects, enum dw_sentence says)
{
	const uint64_t *all = t->totals->all;
	uint64_t bytes = all[bytes_of(objects)];

	if (all[objects])
		dw_note_by(t, SHARE, says, .n = {bytes, all[objects]},
			   .share = {dw_share(bytes, all[DWELL_MEASURE_BYTES])});
}

static void add_ends(struct dw_notes *t)
{
	const uint64_t *all = t->totals->all;
	int64_t interval = dw_notes_fact(t, "sample_bytes", 0);
	bool is_collected = dw_notes_fact(t, "collected_at_end", 0) && !t->totals->to_ns;

	if (!all[DWELL_MEASURE_OBJECTS])
		return;
	if (interval > 0) {
		dw_note(t, SAYS, ESTIMATES, .n = {dw_notes_fact(t, "objects_sampled", 0)},
			.share = {196 * sqrt((double)interval / (double)all[DWELL_MEASURE_BYTES])});
		return;
	}
	if (!dw_notes_fact(t, "has_lifetime", 1)) {
		dw_note(t, SAYS, NO_LIFETIME);
		return;
	}
	dw_note(t, HEADING, LIFETIME);
	for (unsigned i = 0; i < DWELL_GENERATIONS; i++)
		add_end(t, DWELL_MEASURE_OBJECTS_GEN0 + i, DWELL_SAYS_DIED_GEN0 + i);
	add_end(t, DWELL_MEASURE_OBJECTS_ALIVE,
		is_collected ? DWELL_SAYS_ALIVE_COLLECTED : DWELL_SAYS_ALIVE);
}

/* "29 collections (20 of generation 0, 6 of 1, 3 of 2) stopped the program for 280 ms, 14.0 % of
 * the run." And of the longest: "34.2 ms: number 17, generation 2 (induced)." */
static void add_collections(struct dw_notes *t)
{
	int64_t duration = dw_notes_fact(t, "duration_ns", 0);
	uint64_t of[3] = {0}, all_ns = 0, added_ns = 0;
	const struct dw_gc *longest = NULL;
	const char *reason;
	bool is_one;

	dw_vec_each(i, &t->totals->gcs) {
		const struct dw_gc *gc = &t->profile->allocations.gcs.v[*i];

		of[gc->generation < 3 ? gc->generation : 2]++;
		all_ns += gc->pause_ns;
		added_ns += gc->added_ns;
		if (!longest || gc->pause_ns > longest->pause_ns)
			longest = gc;
	}
	if (!longest)
		return;
	dw_note(t, SAYS, COLLECTIONS, .n = {t->totals->gcs.n, of[0], of[1], of[2], all_ns});
	is_one = duration > 0 && dw_processes_count(&t->profile->processes) == 1;
	dw_note_by(t, MORE, is_one ? DWELL_SAYS_OF_THE_RUN : DWELL_SAYS_FULL_STOP,
		   .share = {is_one ? 100.0 * (double)all_ns / (double)duration : 0});
	dw_note(t, SAYS, LONGEST_PAUSE,
		.n = {longest->pause_ns, longest->number, longest->generation});
	reason = dw_strings_get(&t->profile->strings, longest->reason);
	dw_note_by(t, MORE, *reason ? DWELL_SAYS_REASON : DWELL_SAYS_FULL_STOP, .name = {reason});
	if (added_ns)
		dw_note(t, SAYS, PAUSES_ADDED, .n = {added_ns});
}

/* How a list is told. */
struct list {
	enum dw_section section;
	enum dw_sentence heading;
	bool by_objects; /* shares are of objects, not of bytes */
	bool old;	 /* what counts was collected in generation 2, else what is a row's own */
	bool is_detail;
};

/* Rows with the share of their bytes, or objects: "12.3 MB = 1,234,567 × 153 B". */
static void add_list(struct dw_notes *t, const struct list *l)
{
	enum dw_measure objects = l->old ? DWELL_MEASURE_OBJECTS_GEN2 : DWELL_MEASURE_OBJECTS;
	uint64_t all = t->totals->all[l->by_objects ? objects : bytes_of(objects)];
	size_t first = t->end[l->section - 1], end = t->end[l->section];

	t->in_details = l->is_detail;
	if (first < end)
		dw_note_by(t, HEADING, l->heading);
	for (size_t i = first; i < end && i < first + ROWS_MAX; i++) {
		struct dw_row row = dw_notes_row(t, i);
		uint64_t n = dw_measured_get(&row.measured, objects, !l->old);
		uint64_t bytes = dw_measured_get(&row.measured, bytes_of(objects), !l->old);
		double share = dw_share(l->by_objects ? n : bytes, all);

		if (n && (i == first || share >= SHARE_MIN))
			dw_note(t, RANKED, BYTES_OF_OBJECTS, .row = (uint32_t)i, .share = {share},
				.n = {bytes, n, ((bytes + n / 2) / n)});
	}
}

static void add_trust(struct dw_notes *t)
{
	int64_t counted = dw_notes_fact(t, "bytes_counted_by_runtime", 0),
		seen = dw_notes_fact(t, "bytes_announced", 0);
	int64_t interval = dw_notes_fact(t, "sample_bytes", 0);

	if (dw_notes_fact(t, "has_lifetime", 0))
		dw_note(t, SAYS, BACKGROUND_OFF);
	if (interval) {
		dw_note(t, SAYS, ONE_OBJECT_IN, .n = {interval});
	} else {
		dw_note(t, SAYS, SLOW_WAY);
		if (!dw_notes_fact(t, "announces_all", 1))
			dw_note(t, SAYS, NOT_ALL_ANNOUNCED);
		if (seen > 0 && counted > seen)
			dw_note(t, SAYS, RUNTIME_COUNTED, .n = {counted - seen},
				.share = {dw_share((uint64_t)(counted - seen), (uint64_t)seen)});
	}
	t->in_details = false;
	dw_notes_facts(t, DWELL_SAYS_OBJECTS_LOST, DWELL_SAYS_ROWS_DROPPED);
	if (t->totals->stacks_cut)
		dw_note(t, SAYS, ALLOCATIONS_CUT, .n = {t->totals->stacks_cut});
}

void dw_notes_memory(struct dw_notes *t)
{
	static const struct list lists[] = {
		{DWELL_SECTION_FUNCTIONS, DWELL_SAYS_ALLOCATING, .by_objects = false},
		{DWELL_SECTION_TYPES_BY_BYTES, DWELL_SAYS_TYPES_BY_BYTES, .by_objects = false},
		{DWELL_SECTION_TYPES_BY_OBJECTS, DWELL_SAYS_TYPES_BY_OBJECTS, .by_objects = true,
		 .is_detail = true},
		{DWELL_SECTION_TYPES_BY_OLD, DWELL_SAYS_TYPES_BY_OLD, .old = true},
	};
	const uint64_t *all = t->totals->all;
	bool any = all[DWELL_MEASURE_OBJECTS];

	dw_notes_begin_size(t);
	dw_note(t, MORE, OBJECTS,
		.n = {all[DWELL_MEASURE_OBJECTS], t->totals->types.n, all[DWELL_MEASURE_BYTES]});
	dw_notes_end_size(t);
	add_ends(t);
	add_collections(t);
	dw_notes_path(t);
	if (!any)
		dw_note(t, SAYS, NO_ALLOCATION);
	if (!any && !dw_notes_fact(t, "processes_instrumented", 0)) {
		dw_note(t, SAYS, NO_DOTNET);
		return;
	}
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		add_list(t, &lists[i]);
	t->in_details = true;
	dw_note(t, HEADING, CHANGED);
	add_trust(t);
}
