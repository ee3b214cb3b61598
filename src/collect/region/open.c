/*
 * Open activations; see open.h. They are walked from the innermost one outwards: what the system
 * did in one it did in those around it, the call that goes on first of all.
 */
#include "collect/region/open.h"

#include "collect/region/each.h"
#include "wire/system-calls.h"

#include <errno.h>

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

	if (k->thread->quiet_last == k->t.last && k->thread->quiet_ticks > 0)
		ran = (uint64_t)k->thread->quiet_ticks;
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

static struct dw_range_ns range_of(uint64_t ticks, const struct dw_region_clock *clock)
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
		.ranges = DWELL_RANGES_NONE,
	};

	for (int i = 0; i < DWELL_OS_KINDS; i++)
		os += w->os[i];
	row.ranges.elapsed_exclusive = range_of(own, clock);
	row.ranges.application_exclusive = range_of(less(own, w->own_os), clock);
	if (!is_inner) {
		row.ranges.elapsed_inclusive = range_of(w->elapsed, clock);
		row.ranges.application_inclusive = range_of(less(w->elapsed, os), clock);
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

	if (kind != DWELL_LINE_FUNCTION && kind != DWELL_LINE_OUTSIDE)
		return 0;
	is_inner = s->counts.v[line].is_inner;
	rc = dw_call_lines_key(s, line) & DWELL_KEY_ADDRESS ? 0 : add_ranges(s, k, is_inner, clock);
	if (!rc && is_kept && !is_inner)
		rc = dw_each_add_slow(s, &k->w, clock, &id);
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
