/*
 * Beyond the tree; see overflow.h.
 *
 * What is on the path is counted in one set of counters for the thread (on-path.h). It holds the
 * path to one boundary node and, apart from that, what is open beyond the tree on the current
 * stack. Which call an overflow node is for stands in its line's link. Neighbouring boundaries
 * share most of their paths, so going from one to the next is cheap; another stack takes its
 * activations out and the next one brings its own.
 *
 * Inclusive values are differences of sums over all that the stack has done beyond the tree, kept
 * for the activations that are outermost of anything: no more than there are call sites.
 */
#include "agent/core/overflow.h"

#include "agent/core/agent.h"
#include "agent/core/arena.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/on-path.h"
#include "agent/core/syscall-x86-64.h"

enum { SUMS_MIN = 32 };

/* What a stack has done beyond the tree, so far or until some moment. */
struct dw_overflow_sums {
	uint64_t elapsed, os, os_probe, os_cpu, os_blocked;
	uint64_t calls, overhead;
	uint32_t switches, io_calls, blocking_calls;
};

struct dw_overflow {
	uint64_t base; /* of the arena */
	struct dw_lines lines;
	uint32_t *links;	    /* of the arena */
	struct dw_path_table nodes; /* lines of overflow and truncated nodes */
	struct dw_path path;
	struct dw_tree_node *boundary; /* the path to it is counted; NULL = none is */
	bool has_stack;		       /* so are activations on the current stack */
};

static struct dw_tree_node *parent_of(const struct dw_overflow *o, const struct dw_tree_node *n)
{
	return dw_arena_line(o->base, n->parent);
}

/* The path has @n once more, or less. Statements are no callees and no callers. */
static void count_node(struct dw_overflow *o, const struct dw_tree_node *n, bool is_more)
{
	const struct dw_tree_node *caller = parent_of(o, n);
	uint32_t call = 0;

	if (dw_key_is_line(caller->key))
		caller = parent_of(o, caller);
	if (!dw_key_is_line(n->key))
		call = dw_path_find(&o->path, caller->key, n->key, n->site);
	if (call && is_more)
		dw_path_enter(&o->path, call);
	else if (call)
		dw_path_leave(&o->path, call);
}

/* Let the path to @to be the one that is counted. */
static void move_boundary(struct dw_overflow *o, struct dw_tree_node *to)
{
	struct dw_tree_node *from = o->boundary;

	/* Parents stand before children: the later of the two goes up. Roots are not counted. */
	for (struct dw_tree_node *n = to; from != n;) {
		if (from > n) {
			if (from->parent)
				count_node(o, from, false);
			from = from->parent ? parent_of(o, from) : NULL;
		} else {
			if (n->parent)
				count_node(o, n, true);
			n = n->parent ? parent_of(o, n) : NULL;
		}
	}
	o->boundary = to;
}

/* The call that @x is for, in the path. */
static uint32_t call_of(const struct dw_overflow *o, const struct dw_tree_overflow *x)
{
	return o->links[dw_arena_index(o->base, x)];
}

/* The path has once more, or less, all that is open beyond the tree on the current stack. */
static void count_stack(struct dw_stacks *s, bool is_more)
{
	struct dw_overflow *o = s->overflow;
	struct dw_shadow *e = s->thread->top;

	while (dw_stack_activation(s->current, &e) && dw_shadow_is_beyond(e)) {
		uint32_t call = call_of(o, (const struct dw_tree_overflow *)e->node);

		if (is_more)
			dw_path_enter(&o->path, call);
		else
			dw_path_leave(&o->path, call);
		e--;
	}
	o->has_stack = is_more;
}

void dw_overflow_leave_stack(struct dw_stacks *s)
{
	if (s->overflow && s->overflow->has_stack)
		count_stack(s, false);
}

static uint64_t overflow_hash(uint32_t call, uint32_t outermost)
{
	return dw_path_mix(call, outermost);
}

static uint64_t truncated_hash(uint32_t boundary)
{
	return dw_path_mix(boundary, DWELL_KEY_TRUNCATED);
}

static uint64_t node_hash(const void *ctx, uint32_t line)
{
	const struct dw_overflow *o = ctx;
	const struct dw_tree_overflow *x = dw_arena_line(o->base, line);

	return x->mark == DWELL_MARK_OVERFLOW
		       ? overflow_hash(o->links[line], x->outermost)
		       : truncated_hash(((const struct dw_tree_node *)x)->parent);
}

/* Where the node for @call stands in the table, or belongs. */
static uint32_t *find_node(const struct dw_overflow *o, uint32_t call, uint32_t outermost)
{
	const struct dw_path_table *t = &o->nodes;
	const struct dw_tree_overflow *x;
	uint64_t h = overflow_hash(call, outermost);
	uint32_t *at;

	for (;; h++) {
		at = &t->at[h & (t->room - 1)];
		x = dw_arena_line(o->base, *at);
		if (!*at || (x->mark == DWELL_MARK_OVERFLOW && o->links[*at] == call &&
			     x->outermost == outermost))
			return at;
	}
}

/* Where the truncated child of @boundary stands in the table, or belongs. */
static uint32_t *find_truncated(const struct dw_overflow *o, uint32_t boundary)
{
	const struct dw_path_table *t = &o->nodes;
	const struct dw_tree_node *n;
	uint64_t h = truncated_hash(boundary);
	uint32_t *at;

	for (;; h++) {
		at = &t->at[h & (t->room - 1)];
		n = dw_arena_line(o->base, *at);
		if (!*at || (n->key == DWELL_KEY_TRUNCATED && n->parent == boundary))
			return at;
	}
}

/* How many of enum dw_tree_outermost. */
static uint32_t bits_of(uint32_t outermost)
{
	return (outermost & 1) + (outermost >> 1 & 1) + (outermost >> 2 & 1) + (outermost >> 3 & 1);
}

/* Make the node for the activations of call @i that are @outermost. */
static uint32_t make_node(struct dw_stacks *s, uint32_t i, uint32_t outermost)
{
	struct dw_overflow *o = s->overflow;
	const struct dw_path_call *call = &o->path.calls[i];
	uint32_t line = dw_arena_take(&o->lines, 2, DWELL_LINE_OTHER);
	struct dw_tree_overflow *x = dw_arena_line(o->base, line);

	if (!line)
		return 0;
	x->key = call->key;
	x->site = call->site;
	x->caller = call->caller;
	x->thread = dw_arena_index(o->base, s->thread);
	x->outermost = outermost;
	o->links[line] = i;
	__atomic_store_n(&x->mark, DWELL_MARK_OVERFLOW, __ATOMIC_RELEASE);
	return line;
}

/* The node for the activations of call @i that are @outermost. NULL = no room. */
static struct dw_tree_overflow *node_of(struct dw_stacks *s, uint32_t i, uint32_t outermost)
{
	struct dw_overflow *o = s->overflow;
	uint32_t *known = &o->path.calls[i].nodes[bits_of(outermost)], *at;
	struct dw_tree_overflow *x = dw_arena_line(o->base, *known);

	if (*known && x->outermost == outermost)
		return x;
	if (!dw_path_reserve(&o->nodes, node_hash, o))
		return NULL;
	at = find_node(o, i, outermost);
	if (!*at) {
		*at = make_node(s, i, outermost);
		o->nodes.n += *at != 0;
	}
	*known = *at;
	return *at ? dw_arena_line(o->base, *at) : NULL;
}

/* The truncated child of @boundary, made if it is new. NULL = no room. */
static struct dw_tree_node *truncated_of(struct dw_overflow *o, struct dw_tree_node *boundary)
{
	uint32_t of = dw_arena_index(o->base, boundary), *at, line;
	struct dw_tree_node *n;

	if (!dw_path_reserve(&o->nodes, node_hash, o))
		return NULL;
	at = find_truncated(o, of);
	if (*at)
		return dw_arena_line(o->base, *at);
	line = dw_arena_take(&o->lines, 1, DWELL_LINE_OTHER);
	if (line && line < of) { /* parents stand before children: go on in a new block */
		o->lines = (struct dw_lines){0, 0};
		line = dw_arena_take(&o->lines, 1, DWELL_LINE_OTHER);
	}
	if (!line)
		return NULL;
	n = dw_arena_line(o->base, line);
	n->key = DWELL_KEY_TRUNCATED;
	__atomic_store_n(&n->parent, of, __ATOMIC_RELEASE);
	*at = line;
	o->nodes.n++;
	return n;
}

/* Room for one more moment of the current stack. */
static bool reserve_sums(struct dw_beyond *b)
{
	uint32_t room = b->room ? 2 * b->room : SUMS_MIN;
	struct dw_overflow_sums *sums;

	if (b->n + 1 < b->room)
		return true;
	sums = dw_agent_memory(room * sizeof(*sums));
	if (!sums)
		return false;
	if (b->sums)
		memcpy(sums, b->sums, b->room * sizeof(*sums));
	dw_agent_memory_free(b->sums, b->room * sizeof(*sums));
	b->sums = sums;
	b->room = room;
	return true;
}

static bool start(struct dw_stacks *s)
{
	struct dw_overflow *o = dw_agent_memory(sizeof(*o));

	if (!o)
		return false;
	o->base = s->thread->arena;
	o->links = dw_arena_links();
	s->overflow = o;
	return true;
}

/* Make the last node that the tree has on the current stack the boundary, and its truncated child
 * current; one farther up where there is no room: its time is in the right thread at least. */
static bool begin(struct dw_stacks *s)
{
	struct dw_beyond *b = &s->current->beyond;
	struct dw_overflow *o = s->overflow;
	struct dw_tree_node *above = s->thread->current, *truncated = truncated_of(o, above);

	while (!truncated && above->parent) {
		dw_agent_drop(DWELL_DROP_COUNTS);
		above = parent_of(o, above);
		truncated = truncated_of(o, above);
	}
	if (!truncated)
		return false;
	b->boundary = s->thread->current;
	b->truncated = truncated;
	b->n = 0;
	b->sums[0] = (struct dw_overflow_sums){0};
	return true;
}

/* Let the counters be those of the current stack. */
static void set_right(struct dw_stacks *s)
{
	struct dw_overflow *o = s->overflow;

	if (o->boundary != s->current->beyond.boundary)
		move_boundary(o, s->current->beyond.boundary);
	if (!o->has_stack)
		count_stack(s, true);
}

static uint64_t key_on_top(const struct dw_stacks *s)
{
	const struct dw_shadow *top = s->thread->top;

	return top->function->key;
}

/* Call @i is on the path now: push its activation. */
static bool push_counted(struct dw_stacks *s, uint32_t i, uint32_t outermost, uint64_t record,
			 bool switches)
{
	struct dw_tree_overflow *x = node_of(s, i, outermost);
	struct dw_beyond *b;

	if (!x || !dw_stacks_push(s, (struct dw_tree_node *)x, record - 1, switches))
		return false;
	b = &s->current->beyond;
	x->calls++;
	b->sums[0].calls++;
	if (outermost)
		b->sums[++b->n] = b->sums[0];
	return true;
}

static bool push(struct dw_stacks *s, uint64_t key, uint32_t site, uint64_t record, bool switches)
{
	uint64_t caller = key_on_top(s);
	uint32_t i, outermost;

	if ((!s->overflow && !start(s)) || !reserve_sums(&s->current->beyond) ||
	    (!dw_overflow_is_current(s->thread) && !begin(s)))
		return false;
	set_right(s);
	i = dw_path_find(&s->overflow->path, caller, key, site);
	if (!i)
		return false;
	outermost = dw_path_enter(&s->overflow->path, i);
	if (push_counted(s, i, outermost, record, switches))
		return true;
	dw_path_leave(&s->overflow->path, i);
	return false;
}

bool dw_overflow_push(struct dw_stacks *s, uint64_t key, uint32_t site, uint64_t record,
		      bool switches)
{
	bool is_pushed = push(s, key, site, record, switches);

	if (is_pushed)
		s->thread->depth_lost++;
	else
		dw_agent_drop(DWELL_DROP_COUNTS);
	return is_pushed;
}

void dw_overflow_pop(struct dw_stacks *s, struct dw_tree_overflow *x)
{
	struct dw_beyond *b = &s->current->beyond;
	const struct dw_overflow_sums *now = b->sums, *then;

	if (s->overflow->has_stack)
		dw_path_leave(&s->overflow->path, call_of(s->overflow, x));
	if (!x->outermost || !b->n)
		return;
	then = &b->sums[b->n--];
	x->inclusive += now->elapsed - then->elapsed;
	x->inclusive_os += now->os - then->os;
	x->inclusive_probe += now->os_probe - then->os_probe;
	x->inclusive_cpu += now->os_cpu - then->os_cpu;
	x->inclusive_blocked += now->os_blocked - then->os_blocked;
	x->inclusive_calls += now->calls - then->calls;
	x->inclusive_switches += now->switches - then->switches;
	x->inclusive_io += now->io_calls - then->io_calls;
	x->inclusive_blocking += now->blocking_calls - then->blocking_calls;
	x->inclusive_overhead += (uint32_t)(now->overhead - then->overhead);
}

/* The operating system's line of @x, made if it is new. NULL = no room. */
static struct dw_tree_os *os_of(struct dw_overflow *o, struct dw_tree_overflow *x)
{
	struct dw_tree_os *os;
	uint32_t line;

	if (x->os)
		return dw_arena_line(o->base, x->os);
	line = dw_arena_take(&o->lines, 1, DWELL_LINE_OTHER);
	if (!line)
		return NULL;
	os = dw_arena_line(o->base, line);
	__atomic_store_n(&os->mark, DWELL_MARK_OS, __ATOMIC_RELEASE);
	__atomic_store_n(&x->os, line, __ATOMIC_RELEASE);
	return os;
}

static void charge_os(struct dw_tree_os *os, const struct dw_interval *i)
{
	os->ticks += i->os;
	os->probe_ticks += i->os_probe;
	os->cpu_ticks += i->os_cpu;
	os->blocked_ticks += i->os_blocked;
	os->switches += i->switches;
	os->io_calls += i->io_calls;
	os->blocking_calls += i->blocking_calls;
}

static struct dw_tree_overflow *on_top(const struct dw_stacks *s)
{
	return (struct dw_tree_overflow *)((struct dw_shadow *)s->thread->top)->node;
}

void dw_overflow_charge_plain(struct dw_stacks *s, uint64_t elapsed, uint32_t overhead)
{
	struct dw_tree_overflow *x = on_top(s);
	struct dw_overflow_sums *sums = s->current->beyond.sums;

	x->elapsed += elapsed;
	x->overhead += overhead;
	sums->elapsed += elapsed;
	sums->overhead += overhead;
}

void dw_overflow_charge_os(struct dw_stacks *s, const struct dw_interval *i)
{
	struct dw_overflow_sums *sums = s->current->beyond.sums;
	bool has_os = i->os | i->os_probe | i->switches | i->io_calls | i->blocking_calls;
	struct dw_tree_os *os = has_os ? os_of(s->overflow, on_top(s)) : NULL;

	if (os)
		charge_os(os, i);
	sums->os += i->os;
	sums->os_probe += i->os_probe;
	sums->os_cpu += i->os_cpu;
	sums->os_blocked += i->os_blocked;
	sums->switches += i->switches;
	sums->io_calls += i->io_calls;
	sums->blocking_calls += i->blocking_calls;
}

void dw_overflow_end(struct dw_stacks *s)
{
	struct dw_overflow *o = s->overflow;

	for (uint32_t i = 0; i < s->n; i++) {
		struct dw_beyond *b = &s->list[i]->beyond;

		dw_agent_memory_free(b->sums, b->room * sizeof(*b->sums));
		*b = (struct dw_beyond){0};
	}
	if (!o)
		return;
	dw_agent_memory_free(o->nodes.at, o->nodes.room * sizeof(uint32_t));
	dw_path_end(&o->path);
	dw_agent_memory_free(o, sizeof(*o));
	s->overflow = NULL;
}
