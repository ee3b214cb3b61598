/* What nodes have grown by; see increments.h. */
#include "collect/calls/increments.h"

#include <errno.h>
#include <string.h>

struct dw_call_increment dw_call_increments_get(const struct dw_call_increments *r,
						const struct dw_call_change *c)
{
	int64_t moved = (int64_t)c->moved;
	struct dw_call_increment increment = {
		.elapsed = (int64_t)c->elapsed,
		.application = (int64_t)c->elapsed,
		.delimited = (int64_t)c->elapsed,
		.slow = (uint64_t)c->overhead * DWELL_OVERHEAD_TICKS,
		.calls = c->calls,
	};

	if (c->is_apart)
		increment = r->v.v[c->calls];
	increment.elapsed += moved;
	increment.application += moved;
	increment.delimited += moved;
	return increment;
}

int dw_call_increments_set(struct dw_call_increments *r, struct dw_call_change *c,
			   const struct dw_call_increment *increment)
{
	if (c->is_apart) {
		r->v.v[c->calls] = *increment;
		return 0;
	}
	c->elapsed = (uint64_t)increment->elapsed;
	c->calls = increment->calls;
	c->overhead = (uint32_t)(increment->slow / DWELL_OVERHEAD_TICKS) & (UINT32_MAX >> 1);
	if (increment->application == increment->elapsed &&
	    increment->delimited == increment->elapsed && !increment->blocked &&
	    !increment->os_cpu && !increment->switches && !increment->io_calls &&
	    !increment->blocking_calls)
		return 0;
	c->is_apart = 1;
	c->calls = r->v.n;
	return dw_vec_push(&r->v, *increment);
}

double dw_call_program_time(const struct dw_call_increment *increment)
{
	int64_t ticks = increment->application < increment->elapsed ? increment->application
								    : increment->elapsed;

	return ticks > 0 ? (double)ticks : 0;
}

enum { DELTAS_MAX = 1 << 18 }; /* in memory, where somebody takes them */

int dw_deltas_give(struct dw_profile *p, uint32_t id, const struct dw_call_values *values,
		   const struct dw_region_reading *now)
{
	static const struct dw_call_values nothing;
	__auto_type deltas = &p->calls.deltas;

	if (!memcmp(values, &nothing, sizeof nothing))
		return 0;
	if (now->full && deltas->n >= DELTAS_MAX)
		now->full(now->ctx);
	return dw_vec_push(deltas, ((struct dw_call_delta){now->slice, id, *values}));
}

enum {
	LITTLE_TICKS = 1 << 20,
	TRIES = 4, /* the target charges both within some nanoseconds */
};

/* Whether what the node of @c has, whose record is on line @os, may be of two moments. */
static bool may_be_torn(const struct dw_call_lines *s, const struct dw_call_change *c, uint32_t os)
{
	struct dw_tree_os now, old;
	int64_t program;

	dw_call_lines_get(s, os, 1, &now);
	dw_call_lines_get_old(s, os, 1, &old);
	program = (int64_t)(s->counts.v[c->line].elapsed - c->elapsed - (now.ticks - old.ticks));
	return program < 0 || program > LITTLE_TICKS;
}

/* Read the node at @line, and its record at @os when that was the same before and after. */
static bool read_pair(const struct dw_call_lines *s, uint32_t line, uint32_t os,
		      struct dw_tree_node *node, struct dw_arena_line *record)
{
	struct dw_tree_node before;

	for (int i = 0; i < TRIES; i++) {
		if (!dw_arena_get(&s->arena, s->fd, line, 1, &before) ||
		    !dw_arena_get(&s->arena, s->fd, os, 1, record) ||
		    !dw_arena_get(&s->arena, s->fd, line, 1, node))
			return false;
		if (before.elapsed == node->elapsed)
			return true;
	}
	return false;
}

/* Leave what has grown in the node of @c to the next reading. */
static void put_off(struct dw_call_lines *s, const struct dw_call_change *c)
{
	struct dw_call_counts *counts = &s->counts.v[c->line];

	counts->elapsed = c->elapsed;
	counts->calls = c->calls;
	counts->overhead = c->overhead;
	counts->os = 0;
}

/* Bring the node of @c and its record at @os to one moment. */
static int renew(struct dw_call_lines *s, const struct dw_call_change *c, uint32_t os)
{
	struct dw_call_counts *counts = &s->counts.v[c->line];
	struct dw_arena_line record;
	struct dw_tree_node node;

	if ((s->lines.v[os].id && s->lines.v[os].id != c->line) || !may_be_torn(s, c, os) ||
	    !read_pair(s, c->line, os, &node, &record))
		return 0;
	counts->elapsed = node.elapsed;
	counts->calls = node.calls;
	counts->overhead = node.overhead;
	return dw_call_lines_set(s, os, &record);
}

int dw_call_pairs_read(struct dw_call_lines *s, bool is_last)
{
	int rc = 0;

	dw_vec_each(c, &s->changes) {
		enum dw_line_kind kind = s->lines.v[c->line].kind;
		uint32_t os = s->counts.v[c->line].os;

		if (rc || !os || !(dw_line_is_node(kind) || dw_line_is_cell(kind)))
			continue;
		if (os < s->lines.n && s->lines.v[os].kind == DWELL_LINE_OS)
			rc = renew(s, c, os);
		else if (!is_last)
			put_off(s, c);
	}
	return rc;
}
