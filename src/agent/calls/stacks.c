/*
 * Shadow stacks; see stacks.h.
 *
 * Each lies in a mapping of its own that starts with its struct dw_stack and is moved when it
 * grows. The list of all is sorted, so a switch costs a binary search. Stacks that nothing is open
 * on are used again for new ones: a few are looked at each time, in turn.
 */
#include "agent/calls/stacks.h"

#include "agent/calls/activation.h"
#include "agent/calls/arena.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

enum {
	STACK_BYTES = 16384,
	LIST_BYTES = 4096,
	SPARE = 4,		/* entries behind the limit: activation, guard, link and bottom */
	SLACK = 512,		/* a bottom is at least this far above the first event */
	KEPT_BYTES = 256 << 10, /* of a thread that ends, for the next one */
	FRAME_BYTES_MAX = 1 << 28, /* farther down is another stack */
	HOLE_BYTES = 1024,	   /* calls of one activation lie no farther from each other */
	LOOKS = 8,		   /* stacks that are looked at for one to be used again */
	AROUND = 4, /* stacks that are looked at for the one an event is on: some lie in others */
};

/* The part of a shadow stack that lies in one range of addresses. */
struct segment {
	struct dw_shadow *base, *top;
};

/* The activation at or below the guard that may be on top. */
static struct dw_shadow *below_guard(struct dw_shadow *e)
{
	return e->record == DWELL_RECORD_GUARD ? e - 1 : e;
}

/* The segment below @g of @k, @g's link still there. False: there is none. */
static bool next_segment(const struct dw_stack *k, struct segment *g)
{
	const struct dw_shadow *link = g->base - 1;

	if (g->base == k->entries)
		return false;
	g->top = g->base - 2;
	g->base = k->entries + ((link->record & ~DWELL_RECORD_LINK) >> 1);
	return true;
}

/*
 * Whether @record lies in the frame of an activation of the segment, far above what that has
 * called, while what is on top has gone elsewhere: a coroutine's whose stack is an array of its
 * caller's.
 */
static bool is_in_frame(const struct segment *g, uint64_t record)
{
	const struct dw_shadow *e = below_guard(g->top);
	uint64_t callee = e->record;

	if (e == g->top)
		return false;
	for (; e > g->base && (dw_shadow_is_mark(e) || e->record <= record); e--)
		callee = dw_shadow_is_mark(e) ? callee : e->record;
	return record - callee > HOLE_BYTES;
}

/* Whether @record lies within the segment, and not on a stack of its own in one of its frames. */
static bool holds(const struct segment *g, uint64_t record)
{
	return below_guard(g->top)->record <= record && record < g->base->record &&
	       !is_in_frame(g, record);
}

/* How far @record is below the segment's top, huge when it is not. */
static uint64_t depth_below(const struct segment *g, uint64_t record)
{
	return below_guard(g->top)->record - record;
}

/* Whether what is open on top has gone on on another stack, when @event comes below it. */
static bool has_left(const struct segment *g, enum dw_stack_event event)
{
	const struct dw_shadow *e = below_guard(g->top);

	return e != g->top && (e->record & DWELL_RECORD_CALL_OUT ||
			       (event != DWELL_AT_ENTER && event != DWELL_AT_OUT));
}

/* Whether an event at @record can be one of the segment, above its top or near below: statements
 * stand in the frame of the top itself, however large that is. */
static bool suits(const struct segment *g, enum dw_stack_event event, uint64_t record)
{
	uint64_t window = event == DWELL_AT_LINE ? FRAME_BYTES_MAX : DWELL_STACK_WINDOW;

	return holds(g, record) || (depth_below(g, record) < window && !has_left(g, event));
}

static struct dw_shadow *top_of(const struct dw_stacks *s, const struct dw_stack *k)
{
	return k == s->current ? s->thread->top : k->top;
}

static uint64_t bottom_of(const struct dw_stack *k)
{
	return k->entries[0].record;
}

/* Where the entries of @k may begin that room is kept for. */
static struct dw_shadow *limit_of(const struct dw_stack *k)
{
	return k->entries + k->room - SPARE;
}

static void set_top(struct dw_stacks *s, struct dw_shadow *top)
{
	s->thread->top = top;
	s->thread->current = top->node;
	s->thread->limit = limit_of(s->current);
	s->thread->window = dw_stacks_window(s);
}

void dw_stacks_go_to(struct dw_stacks *s, struct dw_stack *k)
{
	if (s->current == k)
		return;
	if (s->current) {
		if (s->thread->has_cells)
			dw_cells_leave(s);
		s->current->top = s->thread->top;
		s->current->left = s->now;
		s->thread->cost += s->now - k->left;
		s->thread->other_cost += s->now - k->left;
		s->thread->draw_at -= s->now - k->left;
		s->now = k->left;
	}
	s->current = k;
	set_top(s, k->top);
	if (s->thread->has_cells)
		dw_cells_return(s);
}

/* The number of stacks whose bottoms are above @record: they come first. */
static uint32_t above(const struct dw_stacks *s, uint64_t record)
{
	uint32_t low = 0, high = s->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (bottom_of(s->list[middle]) > record)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t index_of(const struct dw_stacks *s, const struct dw_stack *k)
{
	uint32_t i = above(s, bottom_of(k));

	while (i < s->n && s->list[i] != k)
		i++;
	return i;
}

static void list_remove(struct dw_stacks *s, uint32_t i)
{
	s->n--;
	memmove(&s->list[i], &s->list[i + 1], (s->n - i) * sizeof(struct dw_stack *));
}

/* Put @k, whose bottom is set, into the list, which has room. */
static void list_insert(struct dw_stacks *s, struct dw_stack *k)
{
	uint32_t i = above(s, bottom_of(k));

	memmove(&s->list[i + 1], &s->list[i], (s->n - i) * sizeof(struct dw_stack *));
	s->list[i] = k;
	s->n++;
}

static size_t stack_bytes(const struct dw_stack *k)
{
	return sizeof(*k) + k->room * sizeof(struct dw_shadow);
}

/* Make the list's room at least one more. */
static bool reserve_list(struct dw_stacks *s)
{
	size_t old = s->room * sizeof(struct dw_stack *), bytes = old ? 2 * old : LIST_BYTES;
	struct dw_stack **list;

	if (s->n < s->room)
		return true;
	list = dw_agent_memory_more(s->list, old, bytes);
	if (!list)
		return false;
	s->list = list;
	s->room = (uint32_t)(bytes / sizeof(struct dw_stack *));
	return true;
}

/* Double the room of the current stack. */
static bool grow(struct dw_stacks *s)
{
	struct dw_stack *old = s->current, *k;
	size_t bytes = stack_bytes(old);
	uint32_t i = index_of(s, old),
		 top = (uint32_t)((struct dw_shadow *)s->thread->top - old->entries);
	uint32_t base = (uint32_t)(old->base - old->entries);

	k = dw_agent_memory_more(old, bytes, 2 * bytes);
	if (!k)
		return false;
	k->entries = (struct dw_shadow *)(k + 1);
	k->base = k->entries + base;
	k->room = (uint32_t)((2 * bytes - sizeof(*k)) / sizeof(struct dw_shadow));
	s->list[i] = s->current = k;
	set_top(s, k->entries + top);
	return true;
}

/* The bottom of a stack whose first event is at @record. */
static uint64_t bottom_for(uint64_t record)
{
	return (record | (SLACK - 1)) + 1 + SLACK;
}

/* Let @k, which is in no list, be a stack without activations. */
static void reset(const struct dw_stacks *s, struct dw_stack *k, uint64_t record)
{
	k->entries[0] = dw_shadow_of(s->root, bottom_for(record));
	k->entries[1].node = NULL; /* what lies above may be of another thread: find_top() */
	k->top = k->base = k->entries;
	k->left = s->now;
	k->os.n = 0;
}

/* Take a stack to be used again out of the list. NULL = none. */
static struct dw_stack *take_used(struct dw_stacks *s)
{
	bool is_full = s->n == DWELL_STACKS;

	for (uint32_t i = 0; i < LOOKS && s->n; i++) {
		uint32_t at = s->hand++ % s->n;
		struct dw_stack *k = s->list[at];

		if (k == s->current || (s->current && k->top != k->entries && !is_full))
			continue;
		list_remove(s, at);
		return k;
	}
	return NULL;
}

static struct dw_stack *new_stack(struct dw_stacks *s)
{
	struct dw_stack *k = take_used(s);

	if (k)
		return k;
	if (!reserve_list(s))
		return NULL;
	k = dw_agent_memory(STACK_BYTES);
	if (!k)
		return NULL;
	k->entries = (struct dw_shadow *)(k + 1);
	k->room = (STACK_BYTES - sizeof(*k)) / sizeof(struct dw_shadow);
	s->thread->stacks++;
	return k;
}

/* Go over to a new stack whose first event is at @record. */
static bool begin_stack(struct dw_stacks *s, uint64_t record)
{
	struct dw_stack *k = new_stack(s);

	if (!k)
		return false;
	reset(s, k, record);
	list_insert(s, k);
	dw_stacks_go_to(s, k);
	return true;
}

/* Give @k back. */
static void unmap(struct dw_stack *k)
{
	dw_os_inside_end(&k->os);
	dw_agent_memory_free(k, stack_bytes(k));
}

/* Give back all stacks but the first, if that is a small one. */
static void forget(struct dw_stacks *s)
{
	while (s->n > 1 || (s->n && stack_bytes(s->list[0]) > KEPT_BYTES)) {
		s->n--;
		unmap(s->list[s->n]);
	}
	s->current = NULL;
}

bool dw_stacks_start(struct dw_stacks *s, struct dw_tree_thread *t, struct dw_tree_node *root,
		     uint64_t record)
{
	forget(s);
	s->thread = t;
	s->root = root;
	dw_stacks_at(s, dw_ticks());
	return begin_stack(s, record);
}

void dw_stacks_at(struct dw_stacks *s, uint64_t ticks)
{
	s->now = ticks - s->thread->cost;
}

/* Pop the topmost segment of the current stack, which has one below it. */
static void pop_segment(struct dw_stacks *s)
{
	struct dw_stack *k = s->current;
	struct segment g = {k->base, s->thread->top};

	while (s->thread->top != k->base)
		dw_stacks_pop(s);
	next_segment(k, &g);
	g.top->spent += k->base->spent;
	k->base = g.base;
	set_top(s, g.top);
}

/* Make the segment that suits the event the topmost one of @k, and @k current. */
static bool go_to(struct dw_stacks *s, struct dw_stack *k, enum dw_stack_event event,
		  uint64_t record)
{
	struct segment g = {k->base, top_of(s, k)};
	uint32_t n = 0;

	while (!suits(&g, event, record)) {
		if (!next_segment(k, &g))
			return false;
		n++;
	}
	dw_stacks_go_to(s, k);
	while (n--)
		pop_segment(s);
	return true;
}

/* Whether this is another task, which shares the memory of the thread. */
static bool is_foreign(const struct dw_stacks *s)
{
	return dw_agent_may_call() && (int32_t)dw_syscall(SYS_gettid) != s->thread->tid;
}

/* Pop what has ended before an event at @record of the current stack. */
static enum dw_fit settle(struct dw_stacks *s, enum dw_stack_event event, uint64_t record)
{
	bool is_new = event == DWELL_AT_ENTER || event == DWELL_AT_OUT;
	struct dw_shadow *e = below_guard(s->thread->top);

	while (e > s->current->base && e->record < record + is_new) {
		dw_stacks_pop(s);
		e = below_guard(s->thread->top);
	}
	if (is_new || event == DWELL_AT_LINE)
		return DWELL_FIT_EVENT;
	return event != DWELL_AT_LANDING && e > s->current->base && e->record == record
		       ? DWELL_FIT_EVENT
		       : DWELL_FIT_NONE;
}

static void pop_all(struct dw_stacks *s)
{
	while (s->current->base != s->current->entries)
		pop_segment(s);
	while (s->thread->top != s->current->entries)
		dw_stacks_pop(s);
}

/* Let the current stack, on which nothing is open any more, begin above @record. */
static void rebase(struct dw_stacks *s, uint64_t record)
{
	struct dw_stack *k = s->current;

	pop_all(s);
	list_remove(s, index_of(s, k));
	k->entries[0].record = bottom_for(record);
	list_insert(s, k);
}

/* An activation begins at @record, where no stack is known. */
static enum dw_fit begin_elsewhere(struct dw_stacks *s, uint64_t record)
{
	struct dw_stack *k = s->current;
	struct segment g = {k->base, s->thread->top};
	bool has_guard = g.top != below_guard(g.top);
	bool is_empty = g.top == k->entries;

	if (!has_guard && depth_below(&g, record) < FRAME_BYTES_MAX)
		return DWELL_FIT_EVENT;
	if (is_empty || (!has_guard && record - bottom_of(k) < DWELL_STACK_WINDOW)) {
		rebase(s, record);
		return DWELL_FIT_EVENT;
	}
	return begin_stack(s, record) ? DWELL_FIT_EVENT : DWELL_FIT_NONE;
}

/* The stack that the event is on, made current. False: no known one. */
static bool find(struct dw_stacks *s, enum dw_stack_event event, uint64_t record)
{
	uint32_t i;

	if (go_to(s, s->current, event, record))
		return true;
	i = above(s, record);
	for (uint32_t n = 0; n < AROUND && i; n++) {
		struct dw_stack *k = s->list[--i];
		struct segment g = {k->base, k->top};

		if (k != s->current && (!n || holds(&g, record)) && go_to(s, k, event, record))
			return true;
	}
	return false;
}

enum dw_fit dw_stacks_fit(struct dw_stacks *s, enum dw_stack_event event, uint64_t record)
{
	struct segment g = {s->current->base, s->thread->top};
	bool is_plain = g.top == below_guard(g.top) && suits(&g, event, record);

	if (is_plain)
		return settle(s, event, record);
	if (is_foreign(s))
		return DWELL_FIT_FOREIGN;
	s->thread->repairs++;
	if (find(s, event, record))
		return settle(s, event, record);
	if (event != DWELL_AT_ENTER && event != DWELL_AT_OUT)
		return DWELL_FIT_NONE;
	return begin_elsewhere(s, record);
}

bool dw_stacks_push(struct dw_stacks *s, struct dw_tree_node *node, uint64_t record, bool switches)
{
	struct dw_shadow *top = s->thread->top;

	if (top >= limit_of(s->current)) {
		if (!grow(s))
			return false;
		top = s->thread->top;
	}
	*++top = dw_activation_begin(s, node, record);
	if (s->thread->has_cells) {
		dw_cell_open(s, top, top->start);
		dw_cell_count(s, top);
	} else {
		node->calls++;
	}
	if (switches)
		*++top = dw_shadow_of(node, DWELL_RECORD_GUARD);
	set_top(s, top);
	return true;
}

void dw_stacks_set_line(struct dw_stacks *s, struct dw_tree_node *node)
{
	struct dw_shadow *top = s->thread->top;

	top->node = node ? node : top->function;
	s->thread->current = top->node;
}

void dw_stacks_pop(struct dw_stacks *s)
{
	struct dw_shadow *top = s->thread->top, *e = below_guard(top);

	if (e == s->current->base)
		return;
	if (e != top)
		e->spent += top->spent;
	dw_activation_end(s, e);
	set_top(s, e - 1);
}

/* Whether @e of @k, whose top is @top, can be taken out: an activation that the tree has, below
 * nothing that repeats its node. */
static bool is_loose(const struct dw_stack *k, const struct dw_shadow *e,
		     const struct dw_shadow *top)
{
	bool is_bottom = e == k->entries || e[-1].record & DWELL_RECORD_LINK;

	return !is_bottom && !dw_shadow_is_mark(e) && (e == top || !dw_shadow_is_mark(e + 1));
}

/* Close the gaps of @k, whose top is @top. The new top. */
static struct dw_shadow *drop(struct dw_stack *k, struct dw_shadow *top,
			      bool (*is_over)(const struct dw_tree_node *node))
{
	struct dw_shadow *to = k->entries, *base = k->entries;

	for (struct dw_shadow *e = k->entries; e <= top; e++) {
		bool is_base = e > k->entries && e[-1].record & DWELL_RECORD_LINK;
		uint32_t entry = (uint32_t)(e - k->entries);

		if (is_loose(k, e, top) && is_over(e->function)) {
			dw_activation_give_up(k, e, to - 1);
			continue;
		}
		dw_os_inside_rename(&k->os, entry, (uint32_t)(to - k->entries));
		*to = *e;
		if (e->record & DWELL_RECORD_LINK)
			to->record = DWELL_RECORD_LINK | (uint64_t)(base - k->entries) << 1 | 1;
		if (is_base)
			base = to;
		to++;
	}
	k->base = base;
	return to - 1;
}

void dw_stacks_drop(struct dw_stacks *s, bool (*is_over)(const struct dw_tree_node *node))
{
	if (s->thread->has_cells)
		dw_cells_leave(s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct dw_stack *k = s->list[i];
		struct dw_shadow *top;

		top = drop(k, top_of(s, k), is_over);
		if (k == s->current)
			set_top(s, top);
		else
			k->top = top;
	}
	if (s->thread->has_cells)
		dw_cells_return(s);
}

void dw_stacks_take_back(struct dw_stacks *s)
{
	struct dw_shadow *e = below_guard(s->thread->top);

	if (s->thread->has_cells)
		dw_cell_take_back(s, e);
	dw_activation_give_up(s->current, e, e - 1);
	set_top(s, e - 1);
}

bool dw_stacks_handler_begin(struct dw_stacks *s, uint64_t bottom)
{
	struct dw_shadow *top;

	while (s->current->base != s->current->entries && s->current->base->record == bottom)
		pop_segment(s); /* its handler has left by longjmp() */
	top = s->thread->top;
	if (top >= limit_of(s->current)) {
		if (!grow(s))
			return false;
		top = s->thread->top;
	}
	top[1] = dw_shadow_of(top->node,
			      DWELL_RECORD_LINK |
				      (uint64_t)(s->current->base - s->current->entries) << 1 | 1);
	top[2] = dw_shadow_of(top->node, bottom);
	top[1].function = top[2].function = top->function;
	s->current->base = top + 2;
	set_top(s, top + 2);
	return true;
}

bool dw_stacks_handler_end(struct dw_stacks *s, uint64_t bottom)
{
	struct dw_stack *k = s->current;
	struct segment g = {k->base, s->thread->top};
	uint32_t n = 1;

	while (g.base->record != bottom || g.base == k->entries) {
		if (!next_segment(k, &g))
			return false;
		n++;
	}
	while (n--)
		pop_segment(s);
	return true;
}

void dw_stacks_close(struct dw_stacks *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		dw_stacks_go_to(s, s->list[i]);
		pop_all(s);
	}
}

bool dw_stack_activation(const struct dw_stack *k, struct dw_shadow **e)
{
	struct dw_shadow *at = *e;

	while (at > k->entries && (dw_shadow_is_mark(at) || at[-1].record & DWELL_RECORD_LINK))
		at--;
	*e = at;
	return at > k->entries;
}

bool dw_is_activation(const struct dw_stack *k, const struct dw_shadow *e)
{
	return e > k->entries && !dw_shadow_is_mark(e) && !(e[-1].record & DWELL_RECORD_LINK);
}

void dw_stacks_end(struct dw_stacks *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		unmap(s->list[i]);
	dw_agent_memory_free(s->list, s->room * sizeof(struct dw_stack *));
	*s = (struct dw_stacks){0};
}
