/*
 * Open activations in the region; see open.h. An entry that says already when the activation at its
 * index began is the same one's, and so are those of all below, which have not been on top since.
 */
#include "agent/core/open.h"

#include "agent/core/arena.h"
#include "agent/core/cells.h"

enum { OPEN_LINES = sizeof(struct dw_tree_open) / DWELL_LINE_BYTES };

/* A block of entries, marked before any is used. 0 = no room. */
static uint32_t make_block(uint64_t arena)
{
	struct dw_lines lines = {0, 0};
	uint32_t line = dw_arena_take(&lines, DWELL_OPEN_BLOCK * OPEN_LINES, DWELL_LINE_OTHER);
	struct dw_tree_open *open = dw_arena_line(arena, line);

	for (uint32_t i = 0; i < DWELL_OPEN_BLOCK && line; i++)
		__atomic_store_n(&open[i].mark, DWELL_MARK_OPEN, __ATOMIC_RELEASE);
	return line;
}

/* The entry of the activation at @index. NULL = no room. */
static struct dw_tree_open *entry_of(struct dw_tree_thread *line, uint32_t index)
{
	uint32_t i = index % DWELL_OPEN_MAX, *block = &line->open[i / DWELL_OPEN_BLOCK];

	if (!*block)
		*block = make_block(line->arena);
	if (!*block)
		return NULL;
	return (struct dw_tree_open *)dw_arena_line(line->arena, *block) + i % DWELL_OPEN_BLOCK;
}

/* What the system did so far; in most activations nothing, as before. */
static void fill_sums(struct dw_tree_open *open, const struct dw_os_sums *os)
{
	static const struct dw_os_sums nothing;

	if (!os && !open->has_sums)
		return;
	open->has_sums = os != NULL;
	os = os ? os : &nothing;
	open->own_os = os->own;
	open->own_blocked = os->own_blocked;
	for (int i = 0; i < DWELL_OS_KINDS; i++)
		open->os[i] = os->os[i];
	open->cpu_ticks = os->cpu;
	open->blocked_ticks = os->blocked;
	open->switches = os->switches;
	open->io_calls = os->io_calls;
	open->blocking_calls = os->blocking_calls;
}

/* Let @open be what @e is like. Whether it said so already, but for what ended in it since. */
static bool fill(struct dw_tree_open *open, const struct dw_thread *t, const struct dw_shadow *e,
		 const struct dw_os_sums *os)
{
	bool is_known = !(e->start & DWELL_SHADOW_LEFT_OUT), is_same;
	uint32_t node = is_known ? dw_arena_index(t->line->arena, e->function) : 0, adds = 0;
	uint64_t sums = 0;

	if (t->line->has_cells)
		adds = dw_cell_adds(&t->stacks, e, &sums);
	is_same = open->start == dw_shadow_began(e) && open->node == node && open->adds == adds &&
		  open->sums == sums;
	open->start = dw_shadow_began(e);
	open->clock = e->start;
	open->spent = e->spent & ~DWELL_SHADOW_SLOW;
	open->node = node;
	open->is_kept =
		is_known && !t->line->has_cells && dw_each_keeps(&t->each, e->function->key);
	open->adds = adds & 3;
	open->sums = sums;
	fill_sums(open, os);
	return is_same;
}

void dw_open_tell(struct dw_thread *t)
{
	const struct dw_stack *k = t->stacks.current;
	struct dw_shadow *e = t->line->top;
	struct dw_tree_open *open;
	uint32_t index;
	bool is_same = false;

	t->line->open_top = dw_stack_activation(k, &e) ? (uint32_t)(e - k->entries) : 0;
	for (uint32_t i = 0; i < DWELL_OPEN_MAX && e > k->entries && !is_same; i++) {
		index = (uint32_t)(e - k->entries);
		open = entry_of(t->line, index);
		if (!open)
			break;
		is_same = fill(open, t, e, dw_os_inside_at(&k->os, index)) && open->index == index;
		e--;
		dw_stack_activation(k, &e);
		open->index = index;
		open->below = (uint32_t)(e - k->entries);
	}
}
