/* Inclusive values of cells; see cells.h. The gates' half: src/clone/trampolines/time-x86-64.S. */
#include "agent/core/cells.h"

#include "agent/core/agent.h"
#include "agent/core/tree.h"

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

uint32_t dw_cell_adds(const struct dw_stacks *s, const struct dw_shadow *e, uint64_t *ret)
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

void dw_cell_close(struct dw_stacks *s, struct dw_shadow *e)
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

void dw_cell_add_os(struct dw_stacks *s, const struct dw_shadow *e, const struct dw_tree_os *os)
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
			dw_cell_add_os(s, e, &os);
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
