/*
 * Activations that the slow path begins and ends; see activation.h. The gates do the same for most
 * of them (src/clone/trampolines/time-x86-64.S), but for those that are marked: with OS events, or
 * of which nobody knows when they began.
 */
#include "agent/core/activation.h"

#include "agent/core/arena.h"
#include "agent/core/cells.h"
#include "agent/core/each.h"

static enum dw_pair_kind pair_of(uint64_t record)
{
	return record & DWELL_RECORD_CALL_OUT ? DWELL_PAIR_OUTSIDE : DWELL_PAIR_FUNCTION;
}

struct dw_shadow dw_activation_begin(const struct dw_stacks *s, struct dw_tree_node *node,
				     uint64_t record)
{
	struct dw_shadow e = dw_shadow_of(node, record);

	e.start = e.spent = s->now + s->thread->callee_ticks[pair_of(record)];
	e.began = s->now + s->thread->cost;
	return e;
}

/* Say what @e was like, which had the OS events @os. */
static void tell(const struct dw_stacks *s, const struct dw_shadow *e, const struct dw_os_sums *os)
{
	bool is_cell = s->thread->has_cells;
	struct dw_ended ended = {
		.key = e->function->key,
		.is_inner = is_cell ? e->began & DWELL_SHADOW_INNER : e->function->is_inner,
		.node = is_cell ? 0 : dw_arena_index(s->thread->arena, e->function),
		.inclusive = (int64_t)(s->now - e->start),
		.exclusive = (int64_t)(s->now - (e->spent & ~DWELL_SHADOW_SLOW)),
		.start = dw_shadow_began(e),
		.os = os,
	};

	ended.cost = s->now + s->thread->cost - ended.start - (uint64_t)ended.inclusive;
	dw_each_end(s->each, &ended);
}

/* What the system did in @e, which has ended, it did in the activation below. */
static void pass_os(struct dw_stack *k, const struct dw_shadow *e)
{
	struct dw_shadow *below = (struct dw_shadow *)e - 1;
	uint32_t entry = (uint32_t)(e - k->entries);

	dw_stack_activation(k, &below);
	if (dw_os_inside_move(&k->os, entry, (uint32_t)(below - k->entries)))
		below->spent |= DWELL_SHADOW_SLOW;
}

void dw_activation_end(struct dw_stacks *s, struct dw_shadow *e)
{
	uint64_t cost = s->thread->pair_ticks[pair_of(e->record)];
	uint32_t entry = (uint32_t)(e - s->current->entries);
	const struct dw_os_sums *os = dw_os_inside_of(&s->current->os, entry);
	struct dw_tree_os since;

	if (s->each && !(e->start & DWELL_SHADOW_LEFT_OUT))
		tell(s, e, os);
	if (s->thread->has_cells)
		dw_cell_close(s, e);
	if (s->thread->has_cells && os) {
		since = dw_os_inside_since(&s->current->os, entry);
		dw_cell_add_os(s, e, &since);
	}
	e[-1].spent += s->now - (e->start & ~DWELL_SHADOW_LEFT_OUT);
	pass_os(s->current, e);
	s->thread->cost += cost;
	s->now -= cost;
}

void dw_activation_add_os(struct dw_stacks *s, const struct dw_interval *interval)
{
	struct dw_stack *k = s->current;
	struct dw_shadow *e = s->thread->top;

	if (!dw_stack_activation(k, &e))
		return;
	e->spent |= DWELL_SHADOW_SLOW;
	if (!dw_os_inside_add(&k->os, (uint32_t)(e - k->entries), interval))
		e->start |= DWELL_SHADOW_LEFT_OUT;
}

void dw_activation_give_up(struct dw_stack *k, const struct dw_shadow *e, struct dw_shadow *below)
{
	below->spent += (e->spent & ~DWELL_SHADOW_SLOW) - (e->start & ~DWELL_SHADOW_LEFT_OUT);
	dw_stack_activation(k, &below);
	below->spent |= e->spent & DWELL_SHADOW_SLOW;
	dw_os_inside_rename(&k->os, (uint32_t)(e - k->entries), (uint32_t)(below - k->entries));
}
