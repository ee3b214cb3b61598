/*
 * Readers of call trees; see calls.h.
 *
 * A reading takes five steps: copy the arena (arena.h); find out what is new in it (call-lines.h);
 * charge callers with the probes of their callees; turn each change into a delta (call-values.h);
 * then take what is known of single activations (call-extremes.h), at the end of those that are
 * open, too (there, too).
 */
#include "collect/calls/calls.h"

#include "collect/calls/call-ahead.h"
#include "collect/calls/call-lines.h"
#include "collect/calls/increments.h"
#include "collect/calls/call-values.h"
#include "collect/calls/cell-sums.h"
#include "collect/calls/cell-lines.h"
#include "collect/calls/counted.h"
#include "collect/calls/drawn.h"
#include "collect/calls/file-io.h"
#include "collect/calls/call-extremes.h"
#include "collect/calls/probe-costs.h"
#include "collect/calls/skid.h"

#include <errno.h>
#include <string.h>

/* What a slow path of a call takes at most; others do work for all, such as switching calls off. */
#define SLOW_TICKS_MAX 16384

/* A trampoline that only counts takes this part of what measuring a call takes (1.1 to 1.9 ns
 * of 16.5: perl, cc1plus). */
#define COUNTED_PART 0.08

/* The skid that is known of a callee, ticks by DWELL_SKID_BEGIN and _END. */
struct callee_skid {
	double ticks[DWELL_SKIDS];
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
	struct dw_call_increments increments;
	struct dw_skid skid;
	DW_VEC(struct callee_skid) skid_ticks; /* of this reading, as s.callees */
	DW_VEC(struct pool) pools;	       /* likewise */
	struct dw_cell_costs cells;
	struct dw_cell_sums sums;
	struct dw_counted_reader counted;
	struct dw_drawn_reader drawn;
	struct dw_extremes_reader extremes;
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

void dw_region_calls_limit(struct dw_region_calls *r, uint64_t bytes)
{
	/* Threads that take the last paths at once may pass the limit by some lines. */
	bytes += DWELL_ROOM_OTHER + DWELL_ROOM_PATHS + DWELL_ROOM_PATHS / 8 + DWELL_ROOM_FILES +
		 DWELL_ROOM_FILES / 8 + (uint64_t)DWELL_ROOM_THREADS * DWELL_ROOM_THREAD;
	r->s.arena.lines_max = bytes / DWELL_LINE_BYTES;
}

/* What probes of a call cost whose node is on a line of @kind. NULL = it is no call. */
static const struct dw_probe_cost *call_cost(const struct dw_region_calls *r,
					     enum dw_line_kind kind)
{
	const struct dw_probe_costs *c = &r->costs;

	switch (kind) {
	case DWELL_LINE_FUNCTION:
		return &c->function;
	case DWELL_LINE_EXTERNAL:
		return &c->external;
	case DWELL_LINE_CELL:
		return &c->cell;
	case DWELL_LINE_CELL_EXTERNAL:
		return &c->cell_external;
	default:
		return NULL;
	}
}

/* The skid of the callee of the node at @line. */
static double skid_of(const struct dw_region_calls *r, uint32_t line, int i)
{
	return r->skid_ticks.v[r->s.lines.v[line].callee - 1].ticks[i];
}

/* What is seen of @cost, of r->costs, behind the reading @i for the callee of the node at @line. */
static double seen(const struct dw_region_calls *r, double cost, uint32_t line, int i)
{
	double scale = r->costs.scale, skid = skid_of(r, line, i);

	return scale * (skid < cost / scale ? cost / scale - skid : 0);
}

/* Look up the skid of each callee, once for all its nodes. */
static int find_skid(struct dw_region_calls *r)
{
	size_t n = r->s.callees.n;

	r->skid_ticks.n = 0;
	if (dw_vec_reserve(&r->skid_ticks, n))
		return -ENOMEM;
	for (size_t c = 0; c < n; c++)
		for (int i = 0; i < DWELL_SKIDS; i++)
			r->skid_ticks.v[c].ticks[i] =
				dw_skid_of(&r->skid, r->s.callee_keys.v.v[c].a, i);
	r->skid_ticks.n = n;
	return 0;
}

/* The calls of the change @c so far: before give_all(). */
static uint64_t calls_of(const struct dw_region_calls *r, const struct dw_call_change *c)
{
	uint64_t now = r->s.counts.v[c->line].calls;

	return now > c->calls ? now - c->calls : 0;
}

/* The line of the record of the function that the cell at @line is a call of, or a statement. */
static uint32_t function_of(const struct dw_region_calls *r, uint32_t line)
{
	return r->s.lines.v[line].kind == DWELL_LINE_CELL_STATEMENT
		       ? dw_cell_lines_caller(&r->s, line)
		       : dw_cell_lines_callee(&r->s, line);
}

/* Charge the probes of the change @c to the caller of its node. */
static int charge_caller(struct dw_region_calls *r, const struct dw_call_change *c)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];
	const struct dw_probe_cost *cost = call_cost(r, l->kind);
	uint64_t calls = calls_of(r, c);
	double taken;
	int64_t parent;

	if (dw_line_is_cell(l->kind) &&
	    dw_cell_costs_add(&r->cells, function_of(r, c->line),
			      (double)(int64_t)(r->s.counts.v[c->line].elapsed - c->elapsed), 0))
		return -ENOMEM;
	if (!calls || !cost)
		return 0;
	taken = (double)calls *
		(seen(r, cost->caller, c->line, DWELL_SKID_END) + l->passed * cost->pass);
	if (dw_line_is_cell(l->kind))
		return dw_cell_costs_add(&r->cells, dw_cell_lines_caller(&r->s, c->line), 0, taken);
	parent = dw_call_lines_touch(&r->s, l->parent);
	if (parent < 0)
		return -ENOMEM;
	r->s.changes.v[parent].cost += taken;
	return 0;
}

static int charge_callers(struct dw_region_calls *r)
{
	int rc = 0;

	dw_cell_costs_clear(&r->cells);
	for (size_t i = 0, n = r->s.changes.n; i < n && !rc; i++) {
		struct dw_call_change c = r->s.changes.v[i];

		rc = charge_caller(r, &c);
	}
	return rc;
}

/* The caller of the node of @c, NULL = its call has no skid. */
static struct dw_call_change *skid_caller(struct dw_region_calls *r, const struct dw_call_change *c)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];
	uint32_t change;

	if (l->kind != DWELL_LINE_FUNCTION && l->kind != DWELL_LINE_EXTERNAL)
		return NULL;
	change = r->s.lines.v[l->parent].change;
	if (change >= r->s.changes.n || r->s.changes.v[change].line != l->parent)
		return NULL;
	return &r->s.changes.v[change];
}

/* Move skid to the function whose work it is. */
static void move_skid(struct dw_region_calls *r)
{
	struct dw_skid_moves moves = {0};

	if (r->skid.base <= 0)
		return;
	dw_call_each_node(c, &r->s)
	{
		struct dw_call_change *caller = skid_caller(r, c);
		uint64_t calls = dw_call_increments_get(&r->increments, c).calls;
		double mine = (double)calls * (skid_of(r, c->line, DWELL_SKID_END) -
					       skid_of(r, c->line, DWELL_SKID_BEGIN));

		if (caller && calls) {
			c->moved += mine;
			caller->moved -= mine;
		}
	}
	dw_call_each_node(c, &r->s)
	{
		double moved = c->moved, spare;
		struct dw_call_increment increment;

		c->moved = 0;
		increment = dw_call_increments_get(&r->increments, c);
		spare = dw_call_program_time(&increment) - c->cost;
		c->moved = dw_skid_bound(&moves, moved, spare > 0 ? spare : 0);
	}
	dw_call_each_node(c, &r->s) c->moved = dw_skid_share(&moves, c->moved);
}

/* The callee whose time it is where the node of @c has some: of a statement its function's. */
static uint32_t callee_of(const struct dw_region_calls *r, const struct dw_call_change *c)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];

	if (l->kind == DWELL_LINE_CELL_STATEMENT)
		return r->s.lines.v[function_of(r, c->line)].callee;
	return l->kind == DWELL_LINE_STATEMENT ? r->s.lines.v[l->parent].callee : l->callee;
}

/* What samples of the node of @c are of, DWELL_KEY_ROOT = there are none. */
static uint64_t fit_key(const struct dw_region_calls *r, const struct dw_call_change *c)
{
	enum dw_line_kind kind = r->s.lines.v[c->line].kind;

	if (dw_line_is_external(kind))
		return DWELL_SAMPLED_EXTERNAL;
	if (kind == DWELL_LINE_ROOT)
		return DWELL_KEY_ROOT;
	return r->s.callee_keys.v.v[callee_of(r, c) - 1].a;
}

/* Let samples say whose the costs were. */
static int fit_costs(struct dw_region_calls *r, const struct dw_trampoline_samples *samples)
{
	int rc = 0;

	dw_fit_begin(&r->fit);
	dw_call_each_node(c, &r->s)
	{
		struct dw_call_increment increment = dw_call_increments_get(&r->increments, c);
		uint64_t key = fit_key(r, c);

		if (!rc && key != DWELL_KEY_ROOT)
			rc = dw_fit_add(&r->fit, key, dw_call_program_time(&increment), c->cost);
	}
	for (size_t i = 0; i < samples->keys_n && !rc; i++)
		rc = dw_fit_sample(&r->fit, samples->keys[i], samples->ticks);
	if (rc)
		return rc;
	dw_fit_solve(&r->fit, samples->ticks);
	dw_call_each_node(c, &r->s) c->cost = dw_fit_cost(&r->fit, fit_key(r, c), c->cost);
	return 0;
}

/* Bring the costs of all that has grown to what their time covers, the rest to their pools. */
static int pool_costs(struct dw_region_calls *r)
{
	r->pools.n = 0;
	if (dw_vec_reserve(&r->pools, r->s.callees.n))
		return -ENOMEM;
	while (r->pools.n < r->s.callees.n)
		r->pools.v[r->pools.n++] = (struct pool){0};
	dw_call_each_node(c, &r->s)
	{
		struct dw_call_increment increment = dw_call_increments_get(&r->increments, c);
		struct pool *pool = &r->pools.v[callee_of(r, c) - 1];
		double time = dw_call_program_time(&increment), cost = c->cost;

		c->cost = cost < time ? cost : time;
		pool->left += cost - c->cost;
		pool->spare += time - c->cost;
	}
	return 0;
}

/* What cells have of no known path stands in one node of each thread. */
static int give_cells(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	int rc = dw_drawn_give(&r->drawn, &r->s, now);

	dw_vec_each(t, &r->s.threads) {
		if (!rc && t->cells_node)
			rc = dw_deltas_give(r->s.p, t->cells_node, &t->cells, now);
		t->cells = (struct dw_call_values){0};
	}
	return rc;
}

static bool is_statement(enum dw_line_kind kind)
{
	return kind == DWELL_LINE_STATEMENT || kind == DWELL_LINE_CELL_STATEMENT;
}

/* Ticks of the probes of a call on both sides, whose node is on a line of @kind. */
static double probes_of(const struct dw_region_calls *r, enum dw_line_kind kind)
{
	const struct dw_probe_cost *cost = call_cost(r, kind);

	if (cost)
		return cost->callee + cost->caller;
	return is_statement(kind) ? r->costs.line : 0;
}

/* Ticks that the agent has left out for the probes of each call that the cell at @line counts. */
static double taken_for_probes(struct dw_region_calls *r, uint32_t line)
{
	enum dw_line_kind kind = r->s.lines.v[line].kind;
	enum dw_pair_kind pair =
		kind == DWELL_LINE_CELL_EXTERNAL ? DWELL_PAIR_EXTERNAL : DWELL_PAIR_FUNCTION;
	struct dw_tree_thread t;

	dw_call_lines_get(&r->s, dw_call_lines_thread(&r->s, line)->line, DWELL_THREAD_LINES, &t);
	return kind == DWELL_LINE_CELL_STATEMENT ? (double)t.line_ticks
						 : (double)(int64_t)t.pair_ticks[pair];
}

/* Add the delta of the node or cell of @c. */
static int give_node(struct dw_region_calls *r, const struct dw_call_change *c,
		     const struct dw_region_reading *now)
{
	const struct dw_call_line *l = &r->s.lines.v[c->line];
	const struct pool *pool = &r->pools.v[callee_of(r, c) - 1];
	struct dw_call_increment increment = dw_call_increments_get(&r->increments, c);
	double share = pool->left < pool->spare ? pool->left / pool->spare : 1;
	double cost = c->cost;
	struct dw_call_values values;

	if (pool->left > 0)
		cost += (dw_call_program_time(&increment) - cost) * share;
	dw_call_values_of(&increment, cost, now->clock, &values);
	dw_call_values_add(&r->stats.sum, &values);
	r->slow += (double)increment.slow;
	if (dw_line_is_cell(l->kind)) {
		r->sums.cost += dw_call_taken(&increment, cost);
		r->sums.probes += (double)increment.calls * taken_for_probes(r, c->line);
		r->stats.cell_calls += l->kind == DWELL_LINE_CELL_STATEMENT ? 0 : values.calls;
		r->stats.cell_calls_of_any +=
			dw_cell_lines_is_callers(&r->s, c->line) ? 0 : values.calls;
		if (dw_drawn_share(&r->drawn, &r->s, c->line, &values))
			return -ENOMEM;
	}
	return dw_deltas_give(r->s.p, l->id, &values, now);
}

/* Give all that has grown, with what others of their callee could not cover. */
static int give_nodes(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	int rc = 0;

	dw_call_each_node(c, &r->s) if (!rc) rc = give_node(r, c, now);
	dw_vec_each(pool, &r->pools)
		r->uncovered += pool->left > pool->spare ? pool->left - pool->spare : 0;
	return rc;
}

/* The probes of the share of its own that the node of @c has, which has grown by @increment. */
static double cost_of(const struct dw_region_calls *r, const struct dw_call_change *c,
		      const struct dw_call_increment *increment)
{
	enum dw_line_kind kind = r->s.lines.v[c->line].kind;
	const struct dw_probe_cost *cost = call_cost(r, kind);
	double callers = c->cost, calls = (double)increment->calls;

	if (dw_line_is_cell(kind))
		callers = dw_cell_costs_share(&r->cells, function_of(r, c->line),
					      (double)increment->elapsed);
	if (cost)
		return callers + calls * seen(r, cost->callee, c->line, DWELL_SKID_BEGIN);
	return callers + calls * (is_statement(kind) ? r->costs.line : 0);
}

/* Tell what calls of @key took, whose node is at @line, that grew by @increment and whose own share
 * of probes is @own. Slow paths that the system's doings took are nobody's. */
static void tell_cost(struct dw_region_calls *r, const struct dw_region_reading *now, uint32_t line,
		      uint64_t key, const struct dw_call_increment *increment, double own)
{
	struct dw_call_line *l = &r->s.lines.v[line];
	bool is_systems = increment->switches || increment->io_calls || increment->blocking_calls;
	/* Elapsed time is charged ahead while a thread waits for a processor, too. */
	double time = (double)increment->application + (double)increment->os_cpu - own;
	double calls = (double)increment->calls;
	struct dw_call_cost cost = {
		.key = key,
		.site = l->site,
		.probes = calls * probes_of(r, l->kind),
		.pass = l->passed * calls * r->costs.function.pass,
		.time = time > 0 ? time : 0,
	};

	if (!now->cost)
		return;
	if (!is_systems && (double)increment->slow < calls * SLOW_TICKS_MAX)
		cost.probes += (double)increment->slow;
	if (!now->cost(now->ctx, &cost))
		l->passed = l->passed > 1 ? 0 : l->passed; /* RETURN alone stays */
}

/* Give what was counted without times, and tell what that took. */
static int give_counted(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	uint64_t before = r->counted.calls;
	double measured = (r->costs.function.caller + r->costs.function.callee) / r->costs.scale;
	int rc = dw_counted_give(&r->counted, &r->s, now);
	struct dw_call_cost cost = {
		.counted = COUNTED_PART * measured * (double)(r->counted.calls - before),
	};

	if (!rc && now->cost && cost.counted > 0)
		now->cost(now->ctx, &cost);
	return rc;
}

/* Find out what the node of @c has grown by, and what of that are probes. */
static int take_node(struct dw_region_calls *r, struct dw_call_change *c,
		     const struct dw_region_reading *now)
{
	const struct dw_call_counts *counts = &r->s.counts.v[c->line];
	struct dw_tree_node node = {counts->elapsed, counts->calls, .overhead = counts->overhead};
	struct dw_tree_node old = {c->elapsed, c->calls, .overhead = c->overhead};
	struct dw_call_ahead *ahead = dw_call_ahead_of(&r->ahead, c->line);
	struct dw_tree_os os, os_old;
	struct dw_call_increment increment;

	dw_call_lines_os(&r->s, c->line, counts->os, &os, &os_old);
	increment = dw_call_increment(&node, &old, &os, &os_old);
	if (ahead)
		dw_call_ahead_settle(ahead, &increment);
	c->cost = cost_of(r, c, &increment);
	tell_cost(r, now, c->line, r->s.callee_keys.v.v[callee_of(r, c) - 1].a, &increment,
		  c->cost);
	return dw_call_increments_set(&r->increments, c, &increment);
}

/* Turn what has changed into deltas. */
static int give_all(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	int rc = 0;

	r->increments.v.n = 0;
	dw_call_each_node(c, &r->s) if (!rc) rc = take_node(r, c, now);
	if (!rc)
		rc = dw_call_aheads_move(&r->ahead, &r->s, &r->increments);
	if (!rc)
		move_skid(r);
	if (!rc && r->is_sampled)
		rc = fit_costs(r, &now->samples);
	if (!rc)
		rc = pool_costs(r);
	if (!rc)
		rc = dw_drawn_read(&r->drawn, &r->s, now->clock);
	if (!rc)
		rc = give_nodes(r, now);
	if (!rc)
		rc = give_cells(r, now);
	if (!rc)
		rc = dw_cell_sums_give(&r->sums, &r->s, &r->ahead, now);
	if (!rc)
		rc = give_counted(r, now);
	return rc ? rc : dw_call_aheads_keep(&r->ahead);
}

/* What is seen of the probes of a call whose node is at @line. */
static double seen_of(const struct dw_region_calls *r, uint32_t line)
{
	enum dw_line_kind kind = r->s.lines.v[line].kind;
	const struct dw_probe_cost *c = call_cost(r, kind);

	if (!c)
		return probes_of(r, kind);
	return seen(r, c->callee, line, DWELL_SKID_BEGIN) +
	       seen(r, c->caller, line, DWELL_SKID_END);
}

/* What the probes of all that has changed come to, ticks. */
static double sum_costs(const struct dw_region_calls *r)
{
	double sum = 0;

	dw_vec_each(c, &r->s.changes) {
		const struct dw_call_line *l = &r->s.lines.v[c->line];
		uint64_t calls = calls_of(r, c);

		if (calls)
			sum += (double)calls *
			       (seen_of(r, c->line) + l->passed * r->costs.function.pass);
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
	return cpu > thread->silent_cpu_ns ? cpu : thread->silent_cpu_ns;
}

/* Note how long the threads have lived, and the sums. */
static void note_threads(struct dw_region_calls *r, const struct dw_region_reading *now)
{
	struct dw_region_calls_stats *s = &r->stats;
	const struct dw_region_clock *clock = now->clock;
	const struct dw_probe_costs *c = &r->costs;
	double to_mean;

	s->cpu_ns = s->lifetime_ns = s->extremes_lost = s->drawn_lost = s->lookups = s->repairs =
		s->stacks = s->io_lost = 0;
	dw_vec_each(thread, &r->s.threads) {
		struct dw_thread *row = dw_threads_get(&r->s.p->threads, thread->id);
		struct dw_tree_thread t;
		uint64_t end;

		dw_call_lines_get(&r->s, thread->line, DWELL_THREAD_LINES, &t);
		end = end_of(thread, &t, now);
		s->cpu_ns += cpu_of(thread, &t, clock);
		s->lifetime_ns += end > t.start ? dw_region_clock_ns(clock, end) -
							  dw_region_clock_ns(clock, t.start)
						: 0;
		s->extremes_lost += t.extremes_lost;
		s->drawn_lost += t.drawn_lost;
		s->io_lost += t.io_lost;
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
	s->external_ps = picoseconds(clock, to_mean * (c->external.caller + c->external.callee));
	s->pass_ps = picoseconds(clock, to_mean * 2 * c->function.pass);
	s->trampoline_samples = c->samples;
	s->looped_ns = dw_region_clock_span(clock, c->looped_all);
	s->given_ns = dw_region_clock_span(clock, c->given);
	s->uncovered_ns = dw_region_clock_span(clock, r->uncovered);
	s->slow_ns = dw_region_clock_span(clock, r->slow);
	s->arena_bytes = dw_arena_lines(&r->s.arena) * DWELL_LINE_BYTES;
	s->nodes = r->s.nodes;
	s->cells = r->s.cells;
	s->drawn = r->drawn.n;
	s->counted = r->counted.calls;
	s->broken = r->s.broken + (now->is_last ? r->s.waiting.n : 0);
}

int dw_region_calls_read(struct dw_region_calls *r, int fd, const struct dw_region_reading *now)
{
	int rc = dw_call_lines_read(&r->s, fd, now);

	if (!rc)
		rc = dw_call_pairs_read(&r->s, now->is_last);
	if (rc)
		return rc;
	dw_probe_costs_take(&r->costs, now->head);
	rc = dw_skid_read(&r->skid, &r->s);
	if (!rc)
		rc = dw_cell_lines_count(&r->s);
	if (!rc)
		rc = find_skid(r);
	if (rc)
		return rc;
	r->is_sampled = dw_probe_costs_scale(&r->costs, sum_costs(r), &now->samples);
	rc = charge_callers(r);
	if (!rc)
		rc = dw_call_aheads_look(&r->ahead, &r->s, now);
	if (!rc)
		rc = give_all(r, now);
	if (!rc)
		rc = dw_extremes_read(&r->extremes, &r->s, now->clock, now->is_last);
	if (!rc)
		rc = dw_file_io_read(&r->s, now->clock);
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
	dw_vec_release(&r->increments.v);
	dw_vec_release(&r->skid_ticks);
	dw_vec_release(&r->pools);
	dw_skid_release(&r->skid);
	dw_fit_release(&r->fit);
	dw_cell_costs_release(&r->cells);
	dw_cell_sums_release(&r->sums);
	dw_drawn_release(&r->drawn);
	dw_counted_release(&r->counted);
	dw_extremes_release(&r->extremes);
	free(r);
}
