/*
 * Beyond the tree; see overflow.h.
 *
 * What is on the path is counted by hashes of 64 bits: functions, modules, edges, sites. One set of
 * counters serves the thread. It holds the path to one boundary node and, apart from that, what is
 * open beyond the tree on the current stack. Neighbouring boundaries share most of their paths, so
 * going from one to the next is cheap; another stack takes its activations out and the next one
 * brings its own. Entries of the counters are never taken out: there are as many as call sites.
 *
 * Inclusive values are differences of sums over all that the stack has done beyond the tree, kept
 * for the activations that are outermost of anything: no more than there are call sites.
 */
#include "agent/core/overflow.h"

#include "agent/core/agent.h"
#include "agent/core/arena.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

enum { ROOM_MIN = 512, SUMS_MIN = 32 };

/* What a key in the counters is one of. */
enum kind { KEY_FUNCTION, KEY_MODULE, KEY_MODULE_UNKNOWN, KEY_EDGE, KEY_SITE };

#define MIX	       0x9e3779b97f4a7c15ull
#define MIX_MORE       0xbf58476d1ce4e5b9ull
#define MODULE_UNKNOWN UINT32_MAX
#define OVERHEAD_MAX   UINT32_MAX

/* How often something is on the path. */
struct active {
	uint64_t key; /* 0 = free */
	uint32_t count;
	uint32_t module; /* of functions */
};

/* What a stack has done beyond the tree, so far or until some moment. */
struct dw_overflow_sums {
	uint64_t elapsed, os, os_probe, os_cpu, os_blocked;
	uint64_t calls, overhead;
	uint32_t switches, io_calls, blocking_calls;
};

struct dw_overflow {
	uint64_t base; /* of the arena */
	struct dw_lines lines;
	uint32_t *nodes; /* lines of overflow and truncated nodes, by hash, 0 = free */
	uint32_t nodes_room, nodes_n;
	struct active *active;
	uint32_t active_room, active_n;
	struct dw_tree_node *boundary; /* the path to it is counted; NULL = none is */
	bool has_stack;		       /* so are activations on the current stack */
};

/* The activation that is asked for. */
struct call {
	uint64_t caller, key;
	uint32_t site, outermost;
};

static void unmap(void *at, size_t bytes)
{
	if (at)
		dw_sys_munmap(at, bytes);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * MIX_MORE) * MIX;

	h = (h ^ h >> 32) * MIX_MORE;
	return h ^ h >> 29;
}

/* The entry of @key, or the free one where it belongs. */
static struct active *find_active(const struct active *table, uint32_t room, uint64_t key)
{
	uint32_t i = (uint32_t)key & (room - 1);

	while (table[i].key && table[i].key != key)
		i = (i + 1) & (room - 1);
	return (struct active *)&table[i];
}

static bool grow_active(struct dw_overflow *o)
{
	uint32_t room = o->active_room ? 2 * o->active_room : ROOM_MIN;
	struct active *table = dw_agent_memory(room * sizeof(*table));

	if (!table)
		return false;
	for (uint32_t i = 0; i < o->active_room; i++)
		if (o->active[i].key)
			*find_active(table, room, o->active[i].key) = o->active[i];
	unmap(o->active, o->active_room * sizeof(*table));
	o->active = table;
	o->active_room = room;
	return true;
}

/* The entry of @key (a hash), made if it is new. NULL = no room. */
static struct active *active_of(struct dw_overflow *o, uint64_t key)
{
	struct active *a;

	key += !key;
	if (o->active_n >= o->active_room / 2 && !grow_active(o))
		return NULL;
	a = find_active(o->active, o->active_room, key);
	if (!a->key) {
		*a = (struct active){.key = key, .module = MODULE_UNKNOWN};
		o->active_n++;
	}
	return a;
}

/* The module's key. What leads nowhere known is a module of its own; once counted, a function's
 * module stays what it is until nothing of it is on the path. */
static uint64_t module_key(struct active *function, uint64_t key)
{
	if (function->module == MODULE_UNKNOWN && !function->count && dw_agent_part.module_of)
		function->module = dw_agent_part.module_of(key);
	return function->module == MODULE_UNKNOWN ? mix(key, KEY_MODULE_UNKNOWN)
						  : mix(function->module, KEY_MODULE);
}

/* Add @n to how often @key is on the path. Whether it was or is the only one. */
static bool count_key(struct dw_overflow *o, uint64_t key, int32_t n)
{
	struct active *a = active_of(o, key);
	bool is_only = a && a->count == (n < 0);

	if (a)
		a->count += (uint32_t)n;
	return is_only;
}

/*
 * Add @n to how often the call of @key by @caller at @site is on the path, and tell of what it was
 * or is the only one (enum dw_tree_outermost).
 */
static uint32_t count(struct dw_overflow *o, const struct call *call, int32_t n)
{
	uint64_t key = mix(call->key, KEY_FUNCTION);
	struct active *function = active_of(o, key);
	uint64_t module = function ? module_key(function, call->key) : 0;
	uint32_t outermost = 0;

	if (count_key(o, key, n))
		outermost |= DWELL_OUTERMOST_FUNCTION;
	if (module && count_key(o, module, n))
		outermost |= DWELL_OUTERMOST_MODULE;
	if (count_key(o, mix(call->caller, mix(call->key, KEY_EDGE)), n))
		outermost |= DWELL_OUTERMOST_EDGE;
	if (count_key(o, mix(call->caller, mix(call->site, KEY_SITE)), n))
		outermost |= DWELL_OUTERMOST_SITE;
	return outermost;
}

static struct dw_tree_node *parent_of(const struct dw_overflow *o, const struct dw_tree_node *n)
{
	return dw_arena_line(o->base, n->parent);
}

static void count_node(struct dw_overflow *o, const struct dw_tree_node *n, int32_t by)
{
	count(o, &(struct call){parent_of(o, n)->key, n->key, n->site, 0}, by);
}

/* Let the path to @to be the one that is counted. */
static void move_boundary(struct dw_overflow *o, struct dw_tree_node *to)
{
	struct dw_tree_node *from = o->boundary;

	/* Parents stand before children: the later of the two goes up. Roots are not counted. */
	for (struct dw_tree_node *n = to; from != n;) {
		if (from > n) {
			if (from->parent)
				count_node(o, from, -1);
			from = from->parent ? parent_of(o, from) : NULL;
		} else {
			if (n->parent)
				count_node(o, n, 1);
			n = n->parent ? parent_of(o, n) : NULL;
		}
	}
	o->boundary = to;
}

/* Add @by to the counters for all that is open beyond the tree on the current stack. */
static void count_stack(struct dw_stacks *s, int32_t by)
{
	struct dw_shadow *e = s->thread->top;
	const struct dw_tree_overflow *x;

	while (dw_stack_activation(s->current, &e) && dw_shadow_is_beyond(e)) {
		x = (const struct dw_tree_overflow *)e->node;
		count(s->overflow, &(struct call){x->caller, x->key, x->site, 0}, by);
		e--;
	}
	s->overflow->has_stack = by > 0;
}

void dw_overflow_leave_stack(struct dw_stacks *s)
{
	if (s->overflow && s->overflow->has_stack)
		count_stack(s, -1);
}

static bool grow_nodes(struct dw_overflow *o);

/* Where the node for @call stands in the table, or belongs. */
static uint32_t *find_node(const struct dw_overflow *o, const struct call *call)
{
	uint32_t i = (uint32_t)mix(mix(call->caller, call->key),
				   (uint64_t)call->site << 8 | call->outermost);
	const struct dw_tree_overflow *x;

	for (;; i++) {
		i &= o->nodes_room - 1;
		x = dw_arena_line(o->base, o->nodes[i]);
		if (!o->nodes[i] || (x->mark == DWELL_MARK_OVERFLOW && x->caller == call->caller &&
				     x->key == call->key && x->site == call->site &&
				     x->outermost == call->outermost))
			return &o->nodes[i];
	}
}

/* Where the truncated child of @boundary stands in the table, or belongs. */
static uint32_t *find_truncated(const struct dw_overflow *o, uint32_t boundary)
{
	uint32_t i = (uint32_t)mix(boundary, DWELL_KEY_TRUNCATED);
	const struct dw_tree_node *n;

	for (;; i++) {
		i &= o->nodes_room - 1;
		n = dw_arena_line(o->base, o->nodes[i]);
		if (!o->nodes[i] || (n->key == DWELL_KEY_TRUNCATED && n->parent == boundary))
			return &o->nodes[i];
	}
}

static void put_node(struct dw_overflow *o, uint32_t line)
{
	const struct dw_tree_overflow *x = dw_arena_line(o->base, line);

	if (x->mark == DWELL_MARK_OVERFLOW)
		*find_node(o, &(struct call){x->caller, x->key, x->site, x->outermost}) = line;
	else
		*find_truncated(o, ((const struct dw_tree_node *)x)->parent) = line;
}

static bool grow_nodes(struct dw_overflow *o)
{
	uint32_t *old = o->nodes, old_room = o->nodes_room;
	uint32_t room = old_room ? 2 * old_room : ROOM_MIN;
	uint32_t *table = dw_agent_memory(room * sizeof(*table));

	if (!table)
		return false;
	o->nodes = table;
	o->nodes_room = room;
	for (uint32_t i = 0; i < old_room; i++)
		if (old[i])
			put_node(o, old[i]);
	unmap(old, old_room * sizeof(*old));
	return true;
}

static struct dw_tree_overflow *node_of(struct dw_stacks *s, const struct call *call)
{
	struct dw_overflow *o = s->overflow;
	struct dw_tree_overflow *x;
	uint32_t *at, line;

	if (o->nodes_n >= o->nodes_room / 2 && !grow_nodes(o))
		return NULL;
	at = find_node(o, call);
	if (*at)
		return dw_arena_line(o->base, *at);
	line = dw_arena_take(&o->lines, 2, DWELL_LINE_OTHER);
	if (!line)
		return NULL;
	x = dw_arena_line(o->base, line);
	x->key = call->key;
	x->site = call->site;
	x->caller = call->caller;
	x->thread = dw_arena_index(o->base, s->thread);
	x->outermost = call->outermost;
	__atomic_store_n(&x->mark, DWELL_MARK_OVERFLOW, __ATOMIC_RELEASE);
	*at = line;
	o->nodes_n++;
	return x;
}

/* The truncated child of @boundary, made if it is new. NULL = no room. */
static struct dw_tree_node *truncated_of(struct dw_overflow *o, struct dw_tree_node *boundary)
{
	uint32_t of = dw_arena_index(o->base, boundary), *at, line;
	struct dw_tree_node *n;

	if (o->nodes_n >= o->nodes_room / 2 && !grow_nodes(o))
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
	o->nodes_n++;
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
	unmap(b->sums, b->room * sizeof(*sums));
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
		count_stack(s, 1);
}

static uint64_t key_on_top(const struct dw_stacks *s)
{
	return ((const struct dw_shadow *)s->thread->top)->node->key;
}

static bool push(struct dw_stacks *s, struct call *call, uint64_t record, bool switches)
{
	struct dw_beyond *b;
	struct dw_tree_overflow *x;

	if ((!s->overflow && !start(s)) || !reserve_sums(&s->current->beyond) ||
	    (!dw_overflow_is_current(s->thread) && !begin(s)))
		return false;
	set_right(s);
	call->outermost = count(s->overflow, call, 1);
	x = node_of(s, call);
	if (!x || !dw_stacks_push(s, (struct dw_tree_node *)x, record - 1, switches)) {
		count(s->overflow, call, -1);
		return false;
	}
	b = &s->current->beyond;
	x->calls++;
	b->sums[0].calls++;
	if (call->outermost)
		b->sums[++b->n] = b->sums[0];
	return true;
}

bool dw_overflow_push(struct dw_stacks *s, uint64_t key, uint32_t site, uint64_t record,
		      bool switches)
{
	struct call call = {.caller = key_on_top(s), .key = key, .site = site};
	bool is_pushed = push(s, &call, record, switches);

	if (is_pushed)
		s->thread->depth_lost++;
	else
		dw_agent_drop(DWELL_DROP_COUNTS);
	return is_pushed;
}

static uint32_t add_overhead(uint32_t to, uint64_t more)
{
	return more > OVERHEAD_MAX - to ? OVERHEAD_MAX : to + (uint32_t)more;
}

void dw_overflow_pop(struct dw_stacks *s, struct dw_tree_overflow *x)
{
	struct dw_beyond *b = &s->current->beyond;
	const struct dw_overflow_sums *now = b->sums, *then;

	if (s->overflow->has_stack)
		count(s->overflow, &(struct call){x->caller, x->key, x->site, 0}, -1);
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
	x->inclusive_overhead = add_overhead(x->inclusive_overhead, now->overhead - then->overhead);
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

void dw_overflow_charge(struct dw_stacks *s, const struct dw_interval *i)
{
	struct dw_tree_overflow *x =
		(struct dw_tree_overflow *)((struct dw_shadow *)s->thread->top)->node;
	struct dw_overflow_sums *sums = s->current->beyond.sums;
	bool has_os = i->os | i->os_probe | i->switches | i->io_calls | i->blocking_calls;
	struct dw_tree_os *os = has_os ? os_of(s->overflow, x) : NULL;

	x->elapsed += i->elapsed;
	x->overhead = add_overhead(x->overhead, i->overhead);
	if (os)
		charge_os(os, i);
	sums->elapsed += i->elapsed;
	sums->os += i->os;
	sums->os_probe += i->os_probe;
	sums->os_cpu += i->os_cpu;
	sums->os_blocked += i->os_blocked;
	sums->overhead += i->overhead;
	sums->switches += i->switches;
	sums->io_calls += i->io_calls;
	sums->blocking_calls += i->blocking_calls;
}

void dw_overflow_end(struct dw_stacks *s)
{
	struct dw_overflow *o = s->overflow;

	for (uint32_t i = 0; i < s->n; i++) {
		struct dw_beyond *b = &s->list[i]->beyond;

		unmap(b->sums, b->room * sizeof(*b->sums));
		*b = (struct dw_beyond){0};
	}
	if (!o)
		return;
	unmap(o->nodes, o->nodes_room * sizeof(*o->nodes));
	unmap(o->active, o->active_room * sizeof(*o->active));
	unmap(o, sizeof(*o));
	s->overflow = NULL;
}
