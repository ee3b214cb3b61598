/* Paths drawn by time; see path-samples.h. */
#include "agent/calls/path-samples.h"

#include "agent/calls/arena.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

/* Ticks between two moments, in the mean: short runs have few of them, long ones need no more. */
enum {
	PERIOD_MIN = 1 << 19,
	PERIOD_MAX = 1 << 21,
	MOMENTS = 4096, /* until the period doubles, and again */
	COUNT_MAX = 1 << 20,
	NOTED_MIN = 256, /* entries: a page */
};

static uint64_t period_of(const struct dw_drawer *d)
{
	uint64_t period = PERIOD_MIN;

	for (uint64_t n = d->n; n >= MOMENTS && period < PERIOD_MAX; n /= 2)
		period *= 2;
	return period;
}

/* Xorshift: Marsaglia, Xorshift RNGs, 2003. */
static uint64_t next_random(struct dw_drawer *d)
{
	d->random ^= d->random << 13;
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	return d->random;
}

/* From one moment to the next: half a period at least, one and a half at most. */
static uint64_t step(struct dw_drawer *d, uint64_t period)
{
	return period / 2 + next_random(d) % period;
}

void dw_drawn_begin(struct dw_drawer *d, struct dw_stacks *s)
{
	d->random = dw_ticks() | 1;
	d->n = 0;
	if (d->room)
		memset(d->noted, 0, d->room * sizeof(*d->noted));
	s->thread->draw_at = s->now + step(d, period_of(d));
}

/* Beside a path: what lies above it has no room. */
#define LOST (1u << 31)

/* The path of @parent and then @cell, made if it is new. */
static uint32_t path_above(struct dw_stacks *s, struct dw_tree *tree, uint32_t parent,
			   const struct dw_tree_node *cell)
{
	uint32_t path = 0;

	if (!(parent & LOST))
		path = dw_tree_drawn(tree, parent, dw_arena_index(s->thread->arena, cell));
	return path ? path : parent | LOST;
}

/* Let there be room for @n entries. */
static bool reserve(struct dw_drawer *d, uint32_t n)
{
	uint32_t room = d->room ? d->room : NOTED_MIN;
	struct dw_noted *noted;

	while (room < n)
		room *= 2;
	if (room == d->room)
		return true;
	noted = dw_agent_memory_more(d->noted, d->room * sizeof(*noted), room * sizeof(*noted));
	if (!noted)
		return false;
	d->noted = noted;
	d->room = room;
	return true;
}

/* Whether @e of @k has its path noted. What is below it has not changed then. */
static bool is_noted(const struct dw_drawer *d, const struct dw_stack *k, const struct dw_shadow *e)
{
	const struct dw_noted *noted = &d->noted[e - k->entries];

	return dw_is_activation(k, e) && noted->path && noted->began == dw_shadow_began(e);
}

/*
 * The path to what is current; with LOST as much of it as there was room for, which may be none.
 * Only what has come since it was asked for last is looked at: so deep recursion costs no more.
 */
static uint32_t current_path(struct dw_drawer *d, struct dw_stacks *s, struct dw_tree *tree)
{
	struct dw_stack *k = s->current;
	const struct dw_shadow *top = s->thread->top, *e = top;
	uint32_t path;

	if (!reserve(d, (uint32_t)(top - k->entries) + 1))
		return LOST;
	while (e > k->entries && !is_noted(d, k, e))
		e--;
	path = e > k->entries ? d->noted[e - k->entries].path
			      : path_above(s, tree, 0, k->entries[0].node);
	for (;; e++) {
		if (dw_is_activation(k, e) && e->node != e->function)
			path = path_above(s, tree, path, e->node);
		if (e == top)
			break;
		if (!dw_is_activation(k, e + 1)) {
			d->noted[e + 1 - k->entries].path = 0;
			continue;
		}
		path = path_above(s, tree, path, e[1].function);
		d->noted[e + 1 - k->entries] = (struct dw_noted){dw_shadow_began(e + 1), path};
	}
	s->thread->drawn_lost += path >= LOST;
	return path;
}

static struct dw_tree_drawn *path_at(const struct dw_stacks *s, uint32_t path)
{
	return dw_arena_line(s->thread->arena, path & ~LOST);
}

bool dw_drawn_sample(struct dw_drawer *d, struct dw_stacks *s, struct dw_tree *tree)
{
	uint64_t period = period_of(d), n = 0;
	uint32_t path;

	while ((int64_t)(s->now - s->thread->draw_at) >= 0 && n < COUNT_MAX) {
		s->thread->draw_at += step(d, period);
		n++;
	}
	if (!n)
		return false;
	d->n += n;
	path = current_path(d, s, tree);
	if (path > LOST) {
		path_at(s, path)->lost += n * period;
	} else if (path < LOST) {
		path_at(s, path)->ticks += n * period;
		path_at(s, path)->n += n;
	}
	return true;
}

void dw_drawn_add_os(struct dw_drawer *d, struct dw_stacks *s, struct dw_tree *tree,
		     const struct dw_interval *interval)
{
	uint32_t path = current_path(d, s, tree);

	s->thread->draw_at += interval->os;
	if (path < LOST)
		dw_interval_add(&path_at(s, path)->os, interval);
}
