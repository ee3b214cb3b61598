/*
 * Rows of single activations; see call-extremes.h.
 *
 * The words of extremes are right one by one, whenever they are read. A slow activation is one
 * whole: its lines are taken when they are the same as at the reading before, or when nobody writes
 * them any more, and their serial says that no change is under way. What a hostile target tells
 * gives odd times, in which the parts are never more than the whole.
 */
#include "collect/calls/call-extremes.h"

#include "wire/system-calls.h"

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
static int take_extremes(struct dw_call_lines *s, uint32_t line,
			 const struct dw_region_clock *clock, bool *done)
{
	struct dw_calls *calls = &s->p->calls;
	struct dw_call_line *l = &s->lines.v[line];
	struct dw_call_extremes row = {.id = l->id ? l->id : calls->extremes_ids + 1};
	struct dw_tree_extremes e;
	bool is_external;
	int rc;

	dw_call_lines_get(s, line, DWELL_EXTREMES_LINES, &e);
	row.thread = thread_at(s, e.thread);
	if (!row.thread || e.elapsed_exclusive.least > e.elapsed_exclusive.most)
		return 0;
	rc = s->names.callee(s->names.ctx, e.key, &row.entry, &is_external);
	row.values.elapsed_inclusive = range_of(&e.elapsed_inclusive, clock);
	row.values.elapsed_exclusive = range_of(&e.elapsed_exclusive, clock);
	row.values.application_inclusive = range_of(&e.application_inclusive, clock);
	row.values.application_exclusive = range_of(&e.application_exclusive, clock);
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
	all->application_ns = all->delimited_ns = left;
	left = own->elapsed_ns = all->elapsed_ns;
	own->elapsed_ns -= take_part(w->below, clock, &left);
	left = own->elapsed_ns;
	own->blocked_ns = take_part(w->own_blocked, clock, &left);
	left = own->application_ns = own->elapsed_ns;
	own->application_ns -= take_part(w->own_os, clock, &left);
	if (own->application_ns > all->application_ns)
		own->application_ns = all->application_ns;
	own->delimited_ns = own->application_ns;
	left = all->elapsed_ns;
	all->os_cpu_ns = take_part(w->cpu_ticks, clock, &left);
	all->blocked_ns = take_part(w->blocked_ticks, clock, &left);
	all->overhead_ns = dw_region_clock_span(clock, (double)w->cost);
}

/* Append the slow call @w, whose node's line has one in the profile: *@id is that of its row, 0 =
 * it has none yet, which is set. 0 or -ENOMEM. */
static int each_add_slow(struct dw_call_lines *s, const struct dw_tree_slow *w,
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
	if (w.serial & 1 || (kind != DWELL_LINE_FUNCTION && kind != DWELL_LINE_EXTERNAL))
		return 0;
	*done = true;
	return each_add_slow(s, &w, clock, &s->lines.v[line].id);
}

static int list_changed(struct dw_extremes_reader *r, struct dw_call_lines *s)
{
	int rc = 0;

	dw_vec_each(change, &s->changes) {
		struct dw_call_line *l = &s->lines.v[change->line];

		if (l->kind != DWELL_LINE_EXTREMES && l->kind != DWELL_LINE_SLOW)
			continue;
		if (!rc && l->state == NOT_LISTED)
			rc = dw_vec_push(&r->lines, change->line);
		l->state = CHANGED;
	}
	return rc;
}

int dw_extremes_read(struct dw_extremes_reader *r, struct dw_call_lines *s,
		     const struct dw_region_clock *clock, bool is_last)
{
	int rc = list_changed(r, s);
	size_t kept = 0;

	for (size_t i = 0; i < r->lines.n && !rc; i++) {
		uint32_t line = r->lines.v[i];
		struct dw_call_line *l = &s->lines.v[line];
		bool done = false;

		if (l->kind == DWELL_LINE_EXTREMES)
			rc = take_extremes(s, line, clock, &done);
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

void dw_extremes_release(struct dw_extremes_reader *r)
{
	dw_vec_release(&r->lines);
}

/*
 * They are walked from the innermost one outwards: what the system did in one it did in those
 * around it, the call that goes on first of all.
 */

/* What is known of the activation that was looked at last, and of those inside it. */
struct walk {
	const struct dw_call_thread *thread;
	struct dw_tree_thread t;
	uint64_t clock; /* of the stack, at the end */
	struct dw_tree_slow w;
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The system call that goes on, as what the innermost activation has of it. */
static void begin(struct walk *k)
{
	uint64_t elapsed = less(k->thread->wait_until, k->t.last), ran = 0;
	bool is_io = k->t.call == DWELL_CALL_IO;

	if (k->thread->silent_last == k->t.last && k->thread->silent_ticks > 0)
		ran = (uint64_t)k->thread->silent_ticks;
	ran = ran < elapsed ? ran : elapsed;
	k->clock = k->thread->wait_until - k->t.cost;
	k->w = (struct dw_tree_slow){.own_os = elapsed,
				     .own_blocked = elapsed - ran,
				     .cpu_ticks = ran,
				     .blocked_ticks = elapsed - ran,
				     .io_calls = is_io,
				     .blocking_calls = k->t.call == DWELL_CALL_BLOCKING};
	k->w.os[is_io ? DWELL_OS_IO : DWELL_OS_BLOCKING] = elapsed;
}

/* Go on to @o, which called what was looked at before. */
static void go_out(struct walk *k, const struct dw_tree_open *o)
{
	struct dw_tree_slow *w = &k->w;
	uint64_t inside = w->elapsed;

	w->start = o->start;
	w->elapsed = less(k->clock, o->clock);
	w->below = less(w->elapsed, less(k->clock, o->spent + inside));
	w->cost = less(less(k->thread->wait_until, o->start), w->elapsed);
	w->node = o->node;
	w->own_os += o->own_os;
	w->own_blocked += o->own_blocked;
	for (int i = 0; i < DWELL_OS_KINDS; i++)
		w->os[i] += o->os[i];
	w->cpu_ticks += o->cpu_ticks;
	w->blocked_ticks += o->blocked_ticks;
	w->switches += o->switches;
	w->io_calls += o->io_calls;
	w->blocking_calls += o->blocking_calls;
}

static struct dw_range_ns range_of_one(uint64_t ticks, const struct dw_region_clock *clock)
{
	uint64_t ns = dw_region_clock_span(clock, (double)ticks);

	return (struct dw_range_ns){ns, ns};
}

static int add_ranges(struct dw_call_lines *s, const struct walk *k, bool is_inner,
		      const struct dw_region_clock *clock)
{
	struct dw_calls *calls = &s->p->calls;
	const struct dw_tree_slow *w = &k->w;
	uint64_t own = w->elapsed - w->below, os = 0;
	struct dw_call_extremes row = {
		.id = calls->extremes_ids + 1,
		.thread = k->thread->id,
		.entry = s->callees.v[s->lines.v[w->node].callee - 1].entry,
		.values = DWELL_EXTREMES_NONE,
	};

	for (int i = 0; i < DWELL_OS_KINDS; i++)
		os += w->os[i];
	row.values.elapsed_exclusive = range_of_one(own, clock);
	row.values.application_exclusive = range_of_one(less(own, w->own_os), clock);
	if (!is_inner) {
		row.values.elapsed_inclusive = range_of_one(w->elapsed, clock);
		row.values.application_inclusive = range_of_one(less(w->elapsed, os), clock);
	}
	if (dw_vec_push(&calls->extremes, row))
		return -ENOMEM;
	calls->extremes_ids++;
	return 0;
}

/* Append what was looked at. */
static int add(struct dw_call_lines *s, const struct walk *k, bool is_kept,
	       const struct dw_region_clock *clock)
{
	uint32_t line = k->w.node, id = 0;
	enum dw_line_kind kind = line < s->lines.n ? s->lines.v[line].kind : DWELL_LINE_UNKNOWN;
	bool is_inner;
	int rc;

	if (kind != DWELL_LINE_FUNCTION && kind != DWELL_LINE_EXTERNAL)
		return 0;
	is_inner = s->counts.v[line].is_inner;
	rc = dw_call_lines_key(s, line) & DWELL_KEY_ADDRESS ? 0 : add_ranges(s, k, is_inner, clock);
	if (!rc && is_kept && !is_inner)
		rc = each_add_slow(s, &k->w, clock, &id);
	return rc;
}

bool dw_open_get(const struct dw_call_lines *s, const struct dw_tree_thread *t, uint32_t index,
		 struct dw_tree_open *ret)
{
	uint32_t i = index % DWELL_OPEN_MAX, block = t->open[i / DWELL_OPEN_BLOCK];
	uint64_t line = (uint64_t)block + (uint64_t)i % DWELL_OPEN_BLOCK * DWELL_OPEN_LINES;

	if (!index || !block || line >= s->lines.n || s->lines.v[line].kind != DWELL_LINE_OPEN)
		return false;
	dw_arena_get(&s->arena, s->fd, (uint32_t)line, DWELL_OPEN_LINES, ret);
	return ret->index == index;
}

static int take_thread(struct dw_call_lines *s, const struct dw_call_thread *thread,
		       const struct dw_region_clock *clock)
{
	struct walk k = {.thread = thread};
	struct dw_tree_open o;
	uint32_t index;
	int rc = 0;

	dw_call_lines_get(s, thread->line, DWELL_THREAD_LINES, &k.t);
	begin(&k);
	index = k.t.open_top;
	for (int i = 0; i < DWELL_OPEN_MAX && !rc && dw_open_get(s, &k.t, index, &o); i++) {
		go_out(&k, &o);
		rc = add(s, &k, o.is_kept, clock);
		k.w.own_os = k.w.own_blocked = 0;
		index = o.below < index ? o.below : 0;
	}
	return rc;
}

int dw_open_read(struct dw_call_lines *s, const struct dw_region_clock *clock)
{
	int rc = 0;

	dw_vec_each(thread, &s->threads) {
		if (!rc && thread->wait_until)
			rc = take_thread(s, thread, clock);
	}
	return rc;
}
