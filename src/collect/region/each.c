/*
 * Rows of single activations; see each.h.
 *
 * The words of ranges are right one by one, whenever they are read. A slow activation is one whole:
 * its lines are taken when they are the same as at the reading before, or when nobody writes them
 * any more, and their serial says that no change is under way. What a hostile target tells gives
 * odd times, in which the parts are never more than the whole.
 */
#include "collect/region/each.h"

#include <errno.h>

/* struct dw_call_line.state of these lines. */
enum { NOT_LISTED, LISTED, CHANGED };

/* The profile's thread at @line, 0 = there is none. */
static uint32_t thread_at(const struct dw_call_lines *s, uint32_t line)
{
	if (line >= s->lines.n || s->lines.v[line].kind != DWELL_LINE_THREAD)
		return 0;
	return s->threads.v[s->lines.v[line].id].id;
}

static struct dw_range_ns range_of(const struct dw_tree_range *r,
				   const struct dw_region_clock *clock)
{
	if (r->least > r->most)
		return (struct dw_range_ns)DWELL_RANGE_NONE;
	return (struct dw_range_ns){dw_region_clock_span(clock, (double)r->least),
				    dw_region_clock_span(clock, (double)r->most)};
}

/* Append the row of @line. Sets *@done unless it has to be looked at again. */
static int take_each(struct dw_call_lines *s, uint32_t line, const struct dw_region_clock *clock,
		     bool *done)
{
	struct dw_calls *calls = &s->p->calls;
	struct dw_call_line *l = &s->lines.v[line];
	struct dw_call_extremes row = {.id = l->id ? l->id : calls->extremes_ids + 1};
	struct dw_tree_each e;
	bool is_outside;
	int rc;

	dw_call_lines_get(s, line, DWELL_EACH_LINES, &e);
	row.thread = thread_at(s, e.thread);
	if (!row.thread || e.elapsed_exclusive.least > e.elapsed_exclusive.most)
		return 0;
	rc = s->names.callee(s->names.ctx, e.key, &row.entry, &is_outside);
	row.ranges.elapsed_inclusive = range_of(&e.elapsed_inclusive, clock);
	row.ranges.elapsed_exclusive = range_of(&e.elapsed_exclusive, clock);
	row.ranges.application_inclusive = range_of(&e.application_inclusive, clock);
	row.ranges.application_exclusive = range_of(&e.application_exclusive, clock);
	if (!rc)
		rc = dw_vec_push(&calls->extremes, row);
	if (rc)
		return rc;
	calls->extremes_ids += !l->id;
	l->id = row.id;
	*done = true;
	return 0;
}

/* @ticks in nanoseconds, at most *@left, which gets less by it. */
static uint64_t take_part(uint64_t ticks, const struct dw_region_clock *clock, uint64_t *left)
{
	uint64_t ns = dw_region_clock_span(clock, (double)ticks);

	if (ns > *left)
		ns = *left;
	*left -= ns;
	return ns;
}

/* The times of @w: what the system had of the whole by kind, the rest is the program's. */
static void fill_times(const struct dw_tree_slow *w, const struct dw_region_clock *clock,
		       struct dw_call_slow *row)
{
	struct dw_call_values *all = &row->inclusive, *own = &row->exclusive;
	uint64_t left;

	left = all->elapsed_ns = dw_region_clock_span(clock, (double)w->elapsed);
	row->io_ns = take_part(w->os[DWELL_OS_IO], clock, &left);
	row->blocking_ns = take_part(w->os[DWELL_OS_BLOCKING], clock, &left);
	row->switched_ns = take_part(w->os[DWELL_OS_SWITCHED], clock, &left);
	all->application_ns = all->whole_ns = left;
	left = own->elapsed_ns = all->elapsed_ns;
	own->elapsed_ns -= take_part(w->below, clock, &left);
	left = own->elapsed_ns;
	own->blocked_ns = take_part(w->own_blocked, clock, &left);
	left = own->application_ns = own->elapsed_ns;
	own->application_ns -= take_part(w->own_os, clock, &left);
	if (own->application_ns > all->application_ns)
		own->application_ns = all->application_ns;
	own->whole_ns = own->application_ns;
	left = all->elapsed_ns;
	all->os_cpu_ns = take_part(w->cpu_ticks, clock, &left);
	all->blocked_ns = take_part(w->blocked_ticks, clock, &left);
	all->overhead_ns = dw_region_clock_span(clock, (double)w->cost);
}

int dw_each_add_slow(struct dw_call_lines *s, const struct dw_tree_slow *w,
		     const struct dw_region_clock *clock, uint32_t *id)
{
	struct dw_calls *calls = &s->p->calls;
	struct dw_call_slow row = {.id = *id ? *id : calls->slow_ids + 1,
				   .node = s->lines.v[w->node].id,
				   .start_ns = dw_region_clock_ns(clock, w->start)};

	row.inclusive = (struct dw_call_values){.calls = 1,
						.switches = w->switches,
						.io_calls = w->io_calls,
						.blocking_calls = w->blocking_calls};
	row.exclusive.calls = 1;
	fill_times(w, clock, &row);
	if (dw_vec_push(&calls->slow, row))
		return -ENOMEM;
	calls->slow_ids += !*id;
	*id = row.id;
	return 0;
}

/* Append the row of @line. Sets *@done unless it has to be looked at again. */
static int take_slow(struct dw_call_lines *s, uint32_t line, const struct dw_region_clock *clock,
		     bool *done)
{
	struct dw_tree_slow w;
	enum dw_line_kind kind;

	dw_call_lines_get(s, line, DWELL_SLOW_LINES, &w);
	kind = w.node < s->lines.n ? s->lines.v[w.node].kind : DWELL_LINE_UNKNOWN;
	*done = !w.node && w.serial; /* it has no path, so it is none that could be shown */
	if (w.serial & 1 || (kind != DWELL_LINE_FUNCTION && kind != DWELL_LINE_OUTSIDE))
		return 0;
	*done = true;
	return dw_each_add_slow(s, &w, clock, &s->lines.v[line].id);
}

/* List the lines that have changed. */
static int list_changed(struct dw_each_reader *r, struct dw_call_lines *s)
{
	int rc = 0;

	dw_vec_each(change, &s->changes) {
		struct dw_call_line *l = &s->lines.v[change->line];

		if (l->kind != DWELL_LINE_EACH && l->kind != DWELL_LINE_SLOW)
			continue;
		if (!rc && l->state == NOT_LISTED)
			rc = dw_vec_push(&r->lines, change->line);
		l->state = CHANGED;
	}
	return rc;
}

int dw_each_read(struct dw_each_reader *r, struct dw_call_lines *s,
		 const struct dw_region_clock *clock, bool is_last)
{
	int rc = list_changed(r, s);
	size_t kept = 0;

	for (size_t i = 0; i < r->lines.n && !rc; i++) {
		uint32_t line = r->lines.v[i];
		struct dw_call_line *l = &s->lines.v[line];
		bool done = false;

		if (l->kind == DWELL_LINE_EACH)
			rc = take_each(s, line, clock, &done);
		else if (l->state != CHANGED || is_last)
			rc = take_slow(s, line, clock, &done);
		l->state = done ? NOT_LISTED : LISTED;
		if (!done)
			r->lines.v[kept++] = line;
	}
	if (!rc)
		r->lines.n = kept;
	return rc;
}

void dw_each_release(struct dw_each_reader *r)
{
	dw_vec_release(&r->lines);
}
