/*
 * Readers of call trees; see calls.h.
 *
 * A reading takes five steps: copy the arena (arena.h); find out what is new in it (call-lines.h);
 * charge callers with the probes of their callees; turn each change into a delta (call-values.h);
 * then take what is known of single activations (each.h), at the end of those that are open, too
 * (open.h).
 */
#include "collect/region/calls.h"

#include "base/map.h"
#include "base/pairs.h"
#include "collect/region/call-ahead.h"
#include "collect/region/call-beyond.h"
#include "collect/region/call-lines.h"
#include "collect/region/call-values.h"
#include "collect/region/each.h"
#include "collect/region/fit.h"
#include "collect/region/late.h"
#include "collect/region/open.h"
#include "collect/region/probe-costs.h"
#include "collect/region/rows.h"

#include <errno.h>
#include <string.h>

/* What a slow path of a call takes at most; others do work for all, such as switching calls off. */
#define SLOW_TICKS_MAX 16384

/* What a node has risen by in this reading. */
struct risen {
	uint32_t node;
	uint32_t pool;	/* index + 1, 0 = none */
	uint32_t ahead; /* as in struct dw_call_line */
	uint32_t line;
	uint64_t callee;
	struct dw_call_rise rise;
	double cost; /* of probes, ticks; at most what the program's time covers */
};

/* The nodes of one callee in a thread: recursion may hang a call below another of them than the one
 * whose time its probes took. */
struct pool {
	double left;  /* cost that its node did not cover */
	double spare; /* the program's time that others still have */
};

struct dw_region_calls {
	struct dw_call_lines s;
	struct dw_call_aheads ahead;
	DW_VEC(struct risen) risen;
	DW_VEC(struct dw_late_node) late_nodes; /* as risen */
	struct dw_late late;
	DW_VEC(struct pool) pools;
	struct dw_pairs pool_of; /* callee and thread -> index + 1 */
	struct dw_call_beyond beyond;
	struct dw_each_reader each;
	struct dw_probe_costs costs;
	struct dw_fit fit;
	struct dw_region_calls_stats stats;
	double uncovered, slow; /* ticks */
	bool is_sampled;	/* the samples of this reading count */
};

int dw_region_calls_new(struct dw_profile *p, uint32_t process, const struct dw_region_names *names,
			struct dw_region_calls **ret)
{
	struct dw_region_calls *r = calloc(1, sizeof *r);

	if (!r)
		return -ENOMEM;
	r->s = (struct dw_call_lines){.p = p, .process = process, .names = *names};
	*ret = r;
	return 0;
}

/* Note what the probes of @calls more calls of an overflow node take, and of whom. */
static int charge_overflow(struct dw_region_calls *r, const struct dw_arena_change *c,
			   uint64_t calls)
{
	const struct dw_probe_cost *cost = &r->costs.beyond;
	struct dw_tree_overflow o, old;

	dw_arena_get(&r->s.arena, c->line, DWELL_OVERFLOW_LINES, &o);
	dw_arena_get_old(&r->s.arena, c->line, DWELL_OVERFLOW_LINES, &old);
	dw_call_lines_thread(&r->s, r->s.lines.v[c->line].id)->overflow_cost +=
		(double)calls * (cost->callee + cost->caller);
	return dw_call_beyond_add(&r->beyond, &o, (double)(o.elapsed - old.elapsed),
				  (double)calls * cost->caller);
}

/* What is seen of @cost, of r->costs, behind the reading @i for @key. */
static double seen(const struct dw_region_calls *r, double cost, uint64_t key, int i)
{
	double scale = r->costs.scale;

	return scale * dw_late_seen(&r->late, cost / scale, key, i);
}

/* Charge the probes of the change @c to the caller of its node, or where those go that have none in
 * the tree. */
static int charge_caller(struct dw_region_calls *r, const struct dw_arena_change *c)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];
	const struct dw_probe_cost *cost =
		l->kind == DWELL_LINE_OUTSIDE ? &r->costs.outside : &r->costs.function;
	struct dw_tree_node now = dw_call_lines_node(&r->s, c->line), old;
	uint64_t calls;
	int64_t parent;

	memcpy(&old, &c->old, sizeof old);
	calls = now.calls > old.calls ? now.calls - old.calls : 0;
	if (l->kind == DWELL_LINE_TRUNCATED)
		dw_call_lines_thread(&r->s, l->id)->truncated +=
			(double)(now.elapsed - old.elapsed);
	if (l->kind == DWELL_LINE_OVERFLOW)
		return charge_overflow(r, c, calls);
	if (!calls || (l->kind != DWELL_LINE_FUNCTION && l->kind != DWELL_LINE_OUTSIDE))
		return 0;
	parent = dw_arena_touch(&r->s.arena, l->parent);
	if (parent < 0)
		return -ENOMEM;
	r->s.arena.changes.v[parent].cost +=
		(double)calls *
		(seen(r, cost->caller, now.key, DWELL_LATE_END) + l->passed * cost->pass);
	return 0;
}

static int charge_callers(struct dw_region_calls *r)
{
	int rc = 0;

	dw_vec_each(t, &r->s.threads)
		t->overflow_cost = t->truncated = 0;
	dw_call_beyond_clear(&r->beyond);
	for (size_t i = 0, n = r->s.arena.changes.n; i < n && !rc; i++) {
		struct dw_arena_change c = r->s.arena.changes.v[i];

		rc = charge_caller(r, &c);
	}
	return rc;
}

/* What of @rise is the program's, ticks. */
static double program_time(const struct dw_call_rise *rise)
{
	int64_t ticks = rise->application < rise->elapsed ? rise->application : rise->elapsed;

	return ticks > 0 ? (double)ticks : 0;
}

/* The pool of @callee's nodes in the thread of node @id, as index + 1. 0 = no memory. */
static uint32_t get_pool(struct dw_region_calls *r, uint32_t id, uint64_t callee)
{
	uint32_t pool = dw_pairs_add(&r->pool_of, callee, dw_calls_get(&r->s.p->calls, id)->thread);

	if (pool > r->pools.n && dw_vec_push(&r->pools, (struct pool){0}))
		return 0;
	return pool;
}

/* Whether the thread of @a has booked, somewhere, all that was charged ahead of it before this
 * reading. */
static bool is_booked(struct dw_region_calls *r, const struct dw_call_ahead *a)
{
	struct dw_call_thread *thread = dw_call_lines_thread(&r->s, r->s.lines.v[a->line].id);
	struct dw_tree_thread t;

	dw_arena_get(&r->s.arena, thread->line, DWELL_THREAD_LINES, &t);
	return t.last > a->until_before;
}

/*
 * A thread that lost its processor in a gate books what passed meanwhile to the gate's new node,
 * when we have charged it to the old one: it stays there and is taken off the other's.
 */
static int move_booked(struct dw_region_calls *r)
{
	struct dw_map of_thread = {0}; /* -> index in risen + 1 */
	uint32_t i = 0;
	int rc = 0;

	dw_vec_each(n, &r->risen) {
		const struct dw_call_ahead *a = n->ahead ? &r->ahead.v.v[n->ahead - 1] : NULL;

		i++;
		if (!rc && a && a->given.elapsed > a->now.elapsed && is_booked(r, a))
			rc = dw_map_put(&of_thread, dw_calls_get(&r->s.p->calls, n->node)->thread,
					i);
	}
	for (i = 0; of_thread.used && i < r->risen.n; i++) {
		struct risen *n = &r->risen.v[i], *to;
		uint32_t at = dw_map_get(&of_thread, dw_calls_get(&r->s.p->calls, n->node)->thread);

		to = at ? &r->risen.v[at - 1] : n;
		if (to != n)
			dw_call_ahead_move(&r->ahead.v.v[to->ahead - 1], &n->rise, &to->rise);
	}
	dw_map_release(&of_thread);
	return rc;
}

/* Let late work be its function's. */
static int move_late(struct dw_region_calls *r)
{
	r->late_nodes.n = 0;
	dw_vec_each(n, &r->risen) {
		const struct dw_call_line *l = &r->s.lines.v[n->line];
		bool is_call = l->kind == DWELL_LINE_FUNCTION || l->kind == DWELL_LINE_OUTSIDE;
		uint32_t change = r->s.arena.change_of.v[l->parent];
		double spare = program_time(&n->rise) - n->cost;
		struct dw_late_node node = {.spare = spare > 0 ? spare : 0};

		if (is_call && n->rise.calls && change < r->s.arena.changes.n &&
		    r->s.arena.changes.v[change].line == l->parent) {
			node.mine = (double)n->rise.calls *
				    (dw_late_of(&r->late, n->callee, DWELL_LATE_END) -
				     dw_late_of(&r->late, n->callee, DWELL_LATE_BEGIN));
			node.caller = r->s.arena.changes.v[change].place;
		}
		if (dw_vec_push(&r->late_nodes, node))
			return -ENOMEM;
	}
	dw_late_share(r->late_nodes.v, r->late_nodes.n);
	for (size_t i = 0; i < r->risen.n; i++) {
		struct dw_call_rise *rise = &r->risen.v[i].rise;

		int64_t ticks = (int64_t)r->late_nodes.v[i].moved;

		rise->elapsed += ticks;
		rise->application += ticks;
		rise->whole += ticks;
	}
	return 0;
}

/* What samples of @n are of, DWELL_KEY_ROOT = there are none. */
static uint64_t fit_key(const struct dw_region_calls *r, const struct risen *n)
{
	enum dw_line_kind kind = r->s.lines.v[n->line].kind;

	if (kind == DWELL_LINE_FUNCTION || kind == DWELL_LINE_STATEMENT)
		return n->callee;
	return kind == DWELL_LINE_OUTSIDE ? DWELL_SAMPLED_OUTSIDE : DWELL_KEY_ROOT;
}

/* Let samples say whose the costs were. */
static int fit_costs(struct dw_region_calls *r, const struct dw_gate_samples *samples)
{
	int rc = 0;

	dw_fit_begin(&r->fit);
	dw_vec_each(n, &r->risen) {
		uint64_t key = fit_key(r, n);

		if (!rc && key != DWELL_KEY_ROOT)
			rc = dw_fit_add(&r->fit, key, program_time(&n->rise), n->cost);
	}
	for (size_t i = 0; i < samples->keys_n && !rc; i++)
		rc = dw_fit_sample(&r->fit, samples->keys[i], samples->ticks);
	if (rc)
		return rc;
	dw_fit_solve(&r->fit, samples->ticks);
	dw_vec_each(n, &r->risen)
		n->cost = dw_fit_cost(&r->fit, fit_key(r, n), n->cost);
	return 0;
}

/* Bring the costs of all that has risen to what their time covers, the rest to their pools. */
static int pool_costs(struct dw_region_calls *r)
{
	dw_vec_each(n, &r->risen) {
		double time = program_time(&n->rise), cost = n->cost;
		struct pool *pool;

		n->pool = get_pool(r, n->node, n->callee);
		if (!n->pool)
			return -ENOMEM;
		n->cost = cost < time ? cost : time;
		pool = &r->pools.v[n->pool - 1];
		pool->left += cost - n->cost;
		pool->spare += time - n->cost;
	}
	return 0;
}

/* Add the delta of node @id: @rise less the probes' @cost. */
static int give(struct dw_region_calls *r, uint32_t id, const struct dw_call_rise *rise,
		double cost, const struct dw_region_reading *now)
{
	struct dw_call_delta d = {.slice = now->slice, .node = id};
	static const struct dw_call_values nothing;
	const struct dw_call_node *node = dw_calls_get(&r->s.p->calls, id);

	dw_call_values_of(rise, cost, now->clock, &d.values);
	if (!(node->flags & DWELL_CALL_OVERFLOW)) {
		dw_call_values_add(&r->stats.sum, &d.values);
		r->slow += (double)rise->slow;
	}
	if (!memcmp(&d.values, &nothing, sizeof nothing))
		return 0;
	return dw_vec_push(&r->s.p->calls.deltas, d);
}

/* Give all that has risen, with what others of their callee could not cover. */
static int give_risen(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	int rc = 0;

	dw_vec_each(n, &r->risen) {
		const struct pool *pool = &r->pools.v[n->pool - 1];
		double share = pool->left < pool->spare ? pool->left / pool->spare : 1;

		if (!rc && pool->left > 0)
			n->cost += (program_time(&n->rise) - n->cost) * share;
		if (!rc)
			rc = give(r, n->node, &n->rise, n->cost, now);
	}
	dw_vec_each(pool, &r->pools)
		r->uncovered += pool->left > pool->spare ? pool->left - pool->spare : 0;
	r->risen.n = r->pools.n = 0;
	dw_pairs_release(&r->pool_of);
	return rc;
}

/* The probes of the node's own share in the change @c. */
static double cost_of(struct dw_region_calls *r, const struct dw_arena_change *c,
		      const struct dw_call_rise *rise)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];
	uint64_t key = dw_call_lines_node(&r->s, c->line).key;
	const struct dw_call_thread *t;

	switch (l->kind) {
	case DWELL_LINE_FUNCTION:
		return c->cost + (double)rise->calls *
					 seen(r, r->costs.function.callee, key, DWELL_LATE_BEGIN);
	case DWELL_LINE_OUTSIDE:
		return c->cost + (double)rise->calls *
					 seen(r, r->costs.outside.callee, key, DWELL_LATE_BEGIN);
	case DWELL_LINE_STATEMENT:
		return c->cost + (double)rise->calls * r->costs.line;
	case DWELL_LINE_TRUNCATED:
		t = dw_call_lines_thread(&r->s, l->id);
		return t->truncated > 0 ? t->overflow_cost * (double)rise->elapsed / t->truncated
					: 0;
	default:
		return c->cost;
	}
}

/* Ticks of the probes of a call on both sides, whose node is on a line of @kind. */
static double probes_of(const struct dw_region_calls *r, enum dw_line_kind kind)
{
	switch (kind) {
	case DWELL_LINE_FUNCTION:
		return r->costs.function.callee + r->costs.function.caller;
	case DWELL_LINE_OUTSIDE:
		return r->costs.outside.callee + r->costs.outside.caller;
	case DWELL_LINE_STATEMENT:
		return r->costs.line;
	case DWELL_LINE_OVERFLOW:
		return r->costs.beyond.callee + r->costs.beyond.caller;
	default:
		return 0;
	}
}

/* Tell what calls of the node at @line took that rose by @rise and whose own share of probes is
 * @own; what statements took is their function's. Slow paths that the system's doings took are
 * nobody's. */
static void tell_cost(struct dw_region_calls *r, const struct dw_region_reading *now, uint32_t line,
		      const struct dw_tree_node *node, const struct dw_call_rise *rise, double own)
{
	struct dw_call_line *l = &r->s.lines.v[line];
	bool is_systems = rise->switches || rise->io_calls || rise->blocking_calls;
	/* Elapsed time is charged ahead while a thread waits for a processor, too. */
	double time = (double)rise->application + (double)rise->os_cpu - own;
	double calls = (double)rise->calls;
	struct dw_call_cost cost = {
		.key = node->key,
		.site = node->site,
		.probes = calls * probes_of(r, l->kind),
		.pass = l->passed * calls * r->costs.function.pass,
		.time = time > 0 ? time : 0,
	};

	if (!is_systems && (double)rise->slow < calls * SLOW_TICKS_MAX)
		cost.probes += (double)rise->slow;
	if (now->cost && !now->cost(now->ctx, &cost))
		l->passed = l->passed > 1 ? 0 : l->passed; /* BACK alone stays */
}

static int take_node(struct dw_region_calls *r, const struct dw_arena_change *c,
		     const struct dw_region_reading *now)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];
	struct dw_tree_node node = dw_call_lines_node(&r->s, c->line), old;
	struct dw_tree_os os, os_old;
	struct dw_call_rise rise;

	if (dw_call_lines_os(&r->s, c->line, node.os, &os, &os_old))
		return -ENOMEM;
	memcpy(&old, &c->old, sizeof old);
	rise = dw_call_rise(&node, &old, &os, &os_old);
	if (l->ahead)
		dw_call_ahead_settle(&r->ahead.v.v[l->ahead - 1], &rise);
	if (l->kind == DWELL_LINE_STATEMENT) /* a line shares what it cannot cover with others */
		node.key = dw_call_lines_node(&r->s, l->parent).key;
	tell_cost(r, now, c->line, &node, &rise, cost_of(r, c, &rise));
	r->s.arena.changes.v[r->s.arena.change_of.v[c->line]].place = (uint32_t)r->risen.n + 1;
	return dw_vec_push(&r->risen, ((struct risen){.node = l->id,
						      .ahead = l->ahead,
						      .line = c->line,
						      .callee = node.key,
						      .rise = rise,
						      .cost = cost_of(r, c, &rise)}));
}

/* Both nodes of the overflow lines at @line. Those of one callee share what the probes of their
 * calls take, by their time: whose calls they are is not known. */
static int give_overflow(struct dw_region_calls *r, uint32_t line,
			 const struct dw_region_reading *now)
{
	const struct dw_call_line *l = &r->s.lines.v[line];
	double cost = r->costs.beyond.callee + r->costs.beyond.caller, own;
	struct dw_tree_overflow o, old;
	struct dw_tree_os os, os_old;
	struct dw_call_rise rise;
	int rc;

	dw_arena_get(&r->s.arena, line, DWELL_OVERFLOW_LINES, &o);
	dw_arena_get_old(&r->s.arena, line, DWELL_OVERFLOW_LINES, &old);
	if (dw_call_lines_os(&r->s, line, o.os, &os, &os_old))
		return -ENOMEM;
	rise = dw_call_rise_overflow(&o, &old, &os, &os_old);
	own = (double)rise.calls * r->costs.beyond.callee +
	      dw_call_beyond_share(&r->beyond, &o, (double)rise.elapsed);
	tell_cost(r, now, line, &(struct dw_tree_node){.key = o.key, .site = o.site}, &rise, own);
	rc = give(r, l->id, &rise, own, now);
	if (rc)
		return rc;
	rise = dw_call_rise_inclusive(&o, &old);
	return give(r, l->id + 1, &rise,
		    (double)rise.calls * r->costs.beyond.callee +
			    (double)(o.inclusive_calls - old.inclusive_calls) * cost,
		    now);
}

/* Turn what has changed into deltas. */
static int give_all(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	int rc = 0;

	for (size_t i = 0; i < r->s.arena.changes.n && !rc; i++) {
		struct dw_arena_change c = r->s.arena.changes.v[i];
		enum dw_line_kind kind = r->s.lines.v[c.line].kind;

		if (dw_line_is_node(kind))
			rc = take_node(r, &c, now);
		else if (kind == DWELL_LINE_OVERFLOW)
			rc = give_overflow(r, c.line, now);
	}
	if (!rc)
		rc = move_booked(r);
	if (!rc)
		rc = move_late(r);
	if (!rc && r->is_sampled)
		rc = fit_costs(r, &now->samples);
	if (!rc)
		rc = pool_costs(r);
	if (!rc)
		rc = give_risen(r, now);
	if (!rc)
		dw_call_aheads_keep(&r->ahead, &r->s);
	return rc;
}

/* What is seen of the probes of a call of @key, whose node is on a line of @kind. */
static double seen_of(const struct dw_region_calls *r, enum dw_line_kind kind, uint64_t key)
{
	const struct dw_probe_cost *c =
		kind == DWELL_LINE_OUTSIDE ? &r->costs.outside : &r->costs.function;

	if (kind != DWELL_LINE_FUNCTION && kind != DWELL_LINE_OUTSIDE)
		return probes_of(r, kind);
	return seen(r, c->callee, key, DWELL_LATE_BEGIN) + seen(r, c->caller, key, DWELL_LATE_END);
}

/* What the probes of all that has changed come to, ticks. */
static double sum_costs(const struct dw_region_calls *r)
{
	double sum = 0;

	dw_vec_each(c, &r->s.arena.changes) {
		const struct dw_call_line *l = &r->s.lines.v[c->line];
		struct dw_tree_node now, old;

		if (!dw_line_is_node(l->kind) && l->kind != DWELL_LINE_OVERFLOW)
			continue;
		now = dw_call_lines_node(&r->s, c->line);
		memcpy(&old, &c->old, sizeof old); /* calls of overflow nodes stand there, too */
		if (now.calls > old.calls)
			sum += (double)(now.calls - old.calls) *
			       (seen_of(r, l->kind, now.key) + l->passed * r->costs.function.pass);
	}
	return sum;
}

static uint64_t picoseconds(const struct dw_region_clock *clock, double ticks)
{
	return ticks > 0 ? dw_region_clock_span(clock, ticks * 1000) : 0;
}

/* When @thread has ended, or until when it is known to have lived. */
static uint64_t end_of(const struct dw_call_thread *thread, const struct dw_tree_thread *t,
		       const struct dw_region_reading *now)
{
	uint64_t known = t->last > thread->ahead_until ? t->last : thread->ahead_until;

	if (t->end)
		return t->end;
	return now->until > known && !thread->is_gone ? now->until : known;
}

/* The CPU clock of @t when it was last heard of. */
static uint64_t cpu_of(const struct dw_call_thread *thread, const struct dw_tree_thread *t,
		       const struct dw_region_clock *clock)
{
	uint64_t cpu = t->cpu_ns;

	if (t->os_source != DWELL_OS_NONE && t->cpu_at && t->cpu_at < t->last)
		cpu += dw_region_clock_span(clock, (double)(t->last - t->cpu_at));
	cpu = cpu > t->end_cpu_ns ? cpu : t->end_cpu_ns;
	return cpu > thread->quiet_cpu_ns ? cpu : thread->quiet_cpu_ns;
}

/* Note how long the threads have lived, and the sums. */
static void note_threads(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	struct dw_region_calls_stats *s = &r->stats;
	const struct dw_region_clock *clock = now->clock;
	const struct dw_probe_costs *c = &r->costs;
	double to_mean;

	s->cpu_ns = s->lifetime_ns = s->depth_lost = s->each_lost = s->lookups = s->repairs =
		s->stacks = 0;
	dw_vec_each(thread, &r->s.threads) {
		struct dw_thread *row = dw_threads_get(&r->s.p->threads, thread->id);
		struct dw_tree_thread t;
		uint64_t end;

		dw_arena_get(&r->s.arena, thread->line, DWELL_THREAD_LINES, &t);
		end = end_of(thread, &t, now);
		s->cpu_ns += cpu_of(thread, &t, clock);
		s->lifetime_ns += end > t.start ? dw_region_clock_ns(clock, end) -
							  dw_region_clock_ns(clock, t.start)
						: 0;
		s->depth_lost += t.depth_lost;
		s->each_lost += t.each_lost;
		s->lookups += t.lookups;
		s->repairs += t.repairs;
		s->stacks += t.stacks;
		/* One that was gone at a reading may have had events behind what was read. */
		if (end != thread->end && (t.end || thread->is_gone || now->is_last)) {
			thread->end = end;
			row->end_ns = dw_region_clock_ns(clock, end);
			row->dirty = true;
		}
	}
	to_mean = c->factor / c->scale;
	s->function_ps = picoseconds(clock, to_mean * (c->function.caller + c->function.callee));
	s->outside_ps = picoseconds(clock, to_mean * (c->outside.caller + c->outside.callee));
	s->beyond_ps = picoseconds(clock, to_mean * (c->beyond.caller + c->beyond.callee));
	s->pass_ps = picoseconds(clock, to_mean * 2 * c->function.pass);
	s->gate_samples = c->samples;
	s->looped_ns = dw_region_clock_span(clock, c->looped_all);
	s->given_ns = dw_region_clock_span(clock, c->given);
	s->uncovered_ns = dw_region_clock_span(clock, r->uncovered);
	s->slow_ns = dw_region_clock_span(clock, r->slow);
	s->arena_bytes = r->s.arena.lines.n * DWELL_LINE_BYTES;
	s->nodes = r->s.nodes;
	s->overflow_nodes = r->s.overflow_nodes;
	s->broken = r->s.broken + (now->is_last ? r->s.waiting.n : 0);
}

int dw_region_calls_read(struct dw_region_calls *r, int fd, const struct dw_region_reading *now)
{
	int rc = dw_call_lines_read(&r->s, fd, now->head, now->clock);

	if (rc)
		return rc;
	dw_probe_costs_learn(&r->costs, now->head);
	rc = dw_late_read(&r->late, &r->s);
	r->is_sampled = dw_probe_costs_scale(&r->costs, sum_costs(r), &now->samples);
	if (!rc)
		rc = charge_callers(r);
	if (!rc)
		rc = dw_call_aheads_look(&r->ahead, &r->s, fd, now);
	if (!rc)
		rc = give_all(r, now);
	if (!rc)
		rc = dw_each_read(&r->each, &r->s, now->clock, now->is_last);
	if (!rc && now->is_last)
		rc = dw_open_read(&r->s, now->clock);
	if (!rc)
		note_threads(r, now);
	return rc;
}

const struct dw_region_calls_stats *dw_region_calls_stats(const struct dw_region_calls *r)
{
	return &r->stats;
}

void dw_region_calls_free(struct dw_region_calls *r)
{
	if (!r)
		return;
	dw_call_lines_release(&r->s);
	dw_call_aheads_release(&r->ahead);
	dw_vec_release(&r->risen);
	dw_vec_release(&r->pools);
	dw_vec_release(&r->late_nodes);
	dw_late_release(&r->late);
	dw_fit_release(&r->fit);
	dw_call_beyond_release(&r->beyond);
	dw_pairs_release(&r->pool_of);
	dw_each_release(&r->each);
	free(r);
}
