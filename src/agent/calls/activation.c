/*
 * Activations that the slow path begins and ends; see activation.h. The trampolines do the same for
 * most of them (src/clone/trampolines/time-x86-64.S), but for those that are marked: with OS
 * events, or of which nobody knows when they began.
 */
#include "agent/calls/activation.h"

#include "agent/calls/arena.h"
#include "agent/calls/call-extremes.h"
#include "agent/calls/tree.h"
#include "agent/core/agent.h"

enum { INNER_LINES = sizeof(struct dw_tree_inner) / DWELL_LINE_BYTES };

/* Where an activation adds up, and the word that says that one does. */
struct sums {
	uint64_t *inclusive; /* and probes behind it */
	uint64_t *open;
};

/* What pairs of probes were taken to cost so far. */
static uint64_t probes_of(const struct dw_tree_thread *line)
{
	return line->cost - line->other_cost;
}

static struct dw_tree_cell *cell_of(const struct dw_shadow *e)
{
	return (struct dw_tree_cell *)e->function;
}

static struct dw_tree_inner *inner_of(const struct dw_stacks *s, const struct dw_tree_cell *cell)
{
	return cell->inner ? dw_arena_line(s->thread->arena, cell->inner) : NULL;
}

/* The same, made where there is none. NULL = no room. */
static struct dw_tree_inner *make_inner(struct dw_stacks *s, struct dw_tree_cell *cell)
{
	struct dw_lines *lines = s->lines;
	struct dw_tree_inner *inner;
	uint32_t line;

	if (cell->inner)
		return inner_of(s, cell);
	line = dw_arena_take(lines, INNER_LINES, DWELL_LINE_OTHER);
	if (!line)
		return NULL;
	inner = dw_arena_line(s->thread->arena, line);
	__atomic_store_n(&inner->mark, DWELL_MARK_INNER, __ATOMIC_RELEASE);
	__atomic_store_n(&cell->inner, line, __ATOMIC_RELEASE);
	return inner;
}

/* Where @e adds up, which says so. False: nowhere. */
static bool sums_of(const struct dw_stacks *s, const struct dw_shadow *e, struct sums *ret)
{
	struct dw_tree_cell *cell = cell_of(e);
	struct dw_tree_inner *inner = inner_of(s, cell);

	if (!(e->began & DWELL_SHADOW_INNER)) {
		ret->inclusive = &cell->inclusive;
		ret->open = &dw_tree_callee_of(s->thread, e->function)->outermost;
		return true;
	}
	if (!(e->began & DWELL_SHADOW_REPEATED) || !inner)
		return false;
	ret->inclusive = &inner->inclusive;
	ret->open = &inner->open;
	return true;
}

void dw_cell_open(struct dw_stacks *s, struct dw_shadow *e, uint64_t clock)
{
	struct dw_tree_cell *cell = cell_of(e);
	uint64_t outermost = dw_tree_callee_of(s->thread, e->function)->outermost;
	struct dw_tree_inner *inner;
	struct sums sums;

	e->began &= ~(DWELL_SHADOW_INNER | DWELL_SHADOW_REPEATED);
	if (outermost) {
		inner = make_inner(s, cell);
		e->began |= DWELL_SHADOW_INNER;
		if (outermost != (uint64_t)cell && inner && !inner->open)
			e->began |= DWELL_SHADOW_REPEATED;
	}
	if (!sums_of(s, e, &sums))
		return;
	e->inclusive = sums.inclusive[0] - clock;
	e->probes = sums.inclusive[1] - probes_of(s->thread);
	*sums.open = (uint64_t)cell;
}

void dw_cell_count(struct dw_stacks *s, const struct dw_shadow *e)
{
	struct dw_tree_cell *cell = cell_of(e);
	struct dw_tree_inner *inner = inner_of(s, cell);

	if (!(e->began & DWELL_SHADOW_INNER) || !inner)
		cell->calls++;
	else if (e->began & DWELL_SHADOW_REPEATED)
		inner->repeated++;
	else
		inner->others++;
}

/*
 * To which values of its cell the open @e adds, as struct dw_tree_open.adds, and *@sums as there.
 */
static uint32_t cell_adds(const struct dw_stacks *s, const struct dw_shadow *e, uint64_t *ret)
{
	struct sums sums;

	*ret = 0;
	if (!sums_of(s, e, &sums))
		return 0;
	*ret = e->inclusive + e->probes;
	return 1 + (e->began & DWELL_SHADOW_INNER ? DWELL_REPEATED : DWELL_OUTERMOST);
}

static void publish(const struct dw_stacks *s, const struct dw_shadow *e, const struct sums *sums)
{
	sums->inclusive[0] = e->inclusive + s->now;
	sums->inclusive[1] = e->probes + probes_of(s->thread);
}

/* It has ended now, or its stack will be left. */
static void cell_close(struct dw_stacks *s, struct dw_shadow *e)
{
	struct sums sums;

	if (!sums_of(s, e, &sums))
		return;
	publish(s, e, &sums);
	*sums.open = 0;
}

void dw_cell_take_back(struct dw_stacks *s, struct dw_shadow *e)
{
	struct sums sums;

	if (sums_of(s, e, &sums))
		*sums.open = 0;
}

/* The system did @os in @e, which has ended and was closed. */
static void cell_add_os(struct dw_stacks *s, const struct dw_shadow *e, const struct dw_tree_os *os)
{
	bool is_inner = e->began & DWELL_SHADOW_INNER;
	struct dw_tree_inner *inner;

	if (is_inner && !(e->began & DWELL_SHADOW_REPEATED))
		return;
	inner = make_inner(s, cell_of(e));
	if (inner)
		dw_tree_os_add(&inner->os[is_inner ? DWELL_REPEATED : DWELL_OUTERMOST], os);
}

/*
 * Bring up to date what is open on the current stack, and close it if @is_left. With elapsed time
 * goes what the system did in it: else a collector would take that for the program's.
 */
static void bring_up(struct dw_stacks *s, bool is_left)
{
	struct dw_stack *k = s->current;
	struct dw_tree_os os = {0};
	uint32_t i = UINT32_MAX;
	struct sums sums;

	for (struct dw_shadow *e = s->thread->top; e > k->entries; e--) {
		if (!dw_is_activation(k, e) || !sums_of(s, e, &sums))
			continue;
		publish(s, e, &sums);
		i = dw_os_inside_sum(&k->os, i, (uint32_t)(e - k->entries), &os);
		if (i < k->os.n)
			cell_add_os(s, e, &os);
		if (is_left)
			*sums.open = 0;
	}
	dw_os_inside_mark(&k->os);
}

void dw_cells_publish(struct dw_stacks *s)
{
	bring_up(s, false);
}

void dw_cells_leave(struct dw_stacks *s)
{
	bring_up(s, true);
}

void dw_cells_return(struct dw_stacks *s)
{
	struct dw_stack *k = s->current;

	for (struct dw_shadow *e = k->entries + 1; e <= (struct dw_shadow *)s->thread->top; e++)
		if (dw_is_activation(k, e))
			dw_cell_open(s, e, s->now);
}

/* The cell of @node, an activation's or its statement's, called by that of @below. */
static struct dw_tree_node *cell_for(struct dw_tree *tree, const struct dw_tree_node *node,
				     struct dw_tree_node *below)
{
	struct dw_tree_node *cell = dw_tree_child(tree, below, node->key, node->site);

	if (!cell)
		dw_agent_drop(DWELL_DROP_COUNTS);
	return cell ? cell : below;
}

static void change(struct dw_tree *tree, struct dw_stack *k, struct dw_shadow *top,
		   struct dw_tree_node *root)
{
	k->entries[0].node = k->entries[0].function = root;
	for (struct dw_shadow *e = k->entries + 1; e <= top; e++) {
		const struct dw_tree_node *line = e->node == e->function ? NULL : e->node;

		if (!dw_is_activation(k, e)) {
			e->node = e[-1].node;
			e->function = e[-1].function;
			continue;
		}
		e->function = e->node = cell_for(tree, e->function, e[-1].node);
		if (line)
			e->node = cell_for(tree, line, e->function);
	}
}

void dw_cells_begin(struct dw_stacks *s, struct dw_tree *tree, struct dw_tree_node *root)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct dw_stack *k = s->list[i];

		change(tree, k, k == s->current ? s->thread->top : k->top, root);
		dw_os_inside_mark(&k->os);
	}
	s->root = root;
	s->lines = &tree->lines;
	s->thread->current = ((struct dw_shadow *)s->thread->top)->node;
	dw_cells_return(s);
}

/*
 * An entry in the region that says already when the activation at its
 * index began is the same one's, and so are those of all below, which have not been on top since.
 */

static enum dw_pair_kind pair_of(uint64_t record)
{
	return record & DWELL_RECORD_CALL_OUT ? DWELL_PAIR_EXTERNAL : DWELL_PAIR_FUNCTION;
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
	dw_extremes_end(s->extremes, &ended);
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

	if (s->extremes && !(e->start & DWELL_SHADOW_LEFT_OUT))
		tell(s, e, os);
	if (s->thread->has_cells)
		cell_close(s, e);
	if (s->thread->has_cells && os) {
		since = dw_os_inside_since(&s->current->os, entry);
		cell_add_os(s, e, &since);
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
		adds = cell_adds(&t->stacks, e, &sums);
	is_same = open->start == dw_shadow_began(e) && open->node == node && open->adds == adds &&
		  open->sums == sums;
	open->start = dw_shadow_began(e);
	open->clock = e->start;
	open->spent = e->spent & ~DWELL_SHADOW_SLOW;
	open->node = node;
	open->is_kept =
		is_known && !t->line->has_cells && dw_extremes_keep(&t->extremes, e->function->key);
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
