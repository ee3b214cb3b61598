/*
 * Probes of methods; see probes.h.
 *
 * Most events are done here as the trampolines of clones do them
 * (src/clone/trampolines/time-x86-64.S), what is not as usual goes to the calls' room. Each is a
 * slow path to handlers: one that comes meanwhile is put off.
 */
#include "agent/managed/probes.h"

#include "agent/calls/call-extremes.h"
#include "agent/calls/events.h"
#include "agent/calls/os-events.h"
#include "agent/calls/stacks.h"
#include "agent/calls/threads.h"
#include "agent/calls/tree.h"
#include "agent/clr/ids.h"
#include "agent/core/agent.h"
#include "agent/core/slow.h"
#include "agent/core/system-calls.h"

/* What probes run as a rule lies together, in the order that it has here: the collector finds by
 * samples what it takes. */
#ifdef __clang__
#define DWELL_PROBE __attribute__((section(".text.dwell_probes"), noinline))
#else
#define DWELL_PROBE __attribute__((section(".text.dwell_probes"), noinline, no_reorder))
#endif
#define DWELL_PART static inline __attribute__((always_inline))

enum kind { ENTER, LEAVE, LANDING };

/* Not 0 where the region is this process's own: in a fork's child it has to be made. */
static const uint64_t *own_region;
static bool slowest_are_chosen;	 /* else one of each method is kept */
static uint32_t collection_key;	 /* atomic, 0 = they are not told */
static struct dw_ids slowest_of; /* keys of those that are */

/* An event of a method. It lies on the program's stack, so it is small. */
struct event {
	struct dw_thread *t;
	uint64_t now;
	uint64_t read; /* by which the probe has found that its end is not as usual, 0 = it has not
			*/
	uint64_t sp;   /* in the probe */
	uint64_t record; /* rbp of the method */
	uint32_t key;
	enum kind kind;
};

/* How many single calls of the method of @key are kept. */
static uint32_t slowest_n(uint32_t key)
{
	if (!slowest_are_chosen)
		return 1;
	return dw_ids_find(&slowest_of, key) ? DWELL_SLOWEST_MAX : 0;
}

static void enter(const struct dw_event *event, const struct event *e)
{
	const struct dw_callee callee = {
		.key = e->key, .record = e->record, .slowest_n = slowest_n(e->key)};

	if (dw_event_fit(event, DWELL_AT_ENTER, e->record) == DWELL_FIT_EVENT)
		dw_event_push(event, dw_event_find(event, e->key, DWELL_SITE_NONE), &callee);
}

/* End the method, after all that it has called and that an exception has ended. Where it goes on in
 * better code its frame lies below the one that it entered with. */
static void leave(const struct dw_event *event, const struct event *e)
{
	const struct dw_shadow *top;

	if (dw_event_fit(event, DWELL_AT_LANDING, e->record) == DWELL_FIT_FOREIGN)
		return;
	top = event->t->line->top;
	if (!dw_shadow_is_mark(top) && top->record >= e->record && top->function->key == e->key)
		dw_event_pop(event, DWELL_AT_EXIT, top->record);
}

static void run(void *ctx)
{
	const struct event *e = ctx;
	struct dw_event event = {.t = e->t, .now = e->now};

	dw_event_begin(&event, e->read);
	if (e->kind == ENTER)
		enter(&event, e);
	else if (e->kind == LEAVE)
		leave(&event, e);
	else
		dw_event_fit(&event, DWELL_AT_LANDING, e->record);
	dw_event_end(&event);
}

/* The thread that @e is an event of; NULL = it counts for none. */
static struct dw_thread *find_thread(const struct event *e)
{
	if (!dw_agent_has_own_region())
		dw_agent_after_fork();
	return dw_agent_is_on() ? dw_event_thread(e->sp, e->record) : NULL;
}

static void handle(void *ctx)
{
	struct event *e = ctx;
	bool is_first;

	if (dw_agent_is_over() || !dw_agent_is_on()) {
		dw_thread_off();
		return;
	}
	is_first = !dw_thread_known();
	e->t = find_thread(e);
	if (e->t)
		dw_event_run(is_first, run, e);
}

/* Inside a slow path that has begun. */
static __attribute__((noinline)) void go_slow(enum kind kind, uint32_t key, const uint64_t *frame,
					      uint64_t read)
{
	struct event e;

	if (dw_thread_word->state == DWELL_THREAD_OFF && *own_region)
		return;
	if (dw_agent_is_retired()) {
		dw_thread_off();
		return;
	}
	e.now = dw_ticks_in_order();
	e.read = read;
	e.kind = kind;
	e.key = key;
	e.record = frame[0];
	e.sp = (uint64_t)(frame + 1);
	dw_own_stack_call(handle, &e);
}

/* The child of @parent for @key that the trampolines know. NULL = they know none. */
DWELL_PART struct dw_tree_node *known_child(const struct dw_tree_thread *line,
					    const struct dw_tree_node *parent, uint32_t key)
{
	uint16_t tag = (uint16_t)(key * DWELL_TAG_FACTOR + DWELL_SITE_NONE);
	const struct dw_tree_quick *q;
	struct dw_tree_node *n;
	uint32_t check;

	for (int i = 0; i < DWELL_TREE_WAYS; i++) {
		if (parent->tags[i] != tag)
			continue;
		n = dw_arena_line(line->arena, parent->children[i]);
		if (n->key == key && n->site == DWELL_SITE_NONE)
			return n;
		break;
	}
	check = (uint32_t)((uint64_t)parent / DWELL_LINE_BYTES) * DWELL_NODE_FACTOR +
		key * DWELL_KEY_FACTOR + DWELL_SITE_NONE;
	q = (const void *)((uint64_t)line->quick + ((check ^ check >> 15) & line->quick_mask));
	if (q->check != check && (++q)->check != check)
		return NULL;
	n = dw_arena_line(line->arena, q->line);
	return n->key == key && n->site == DWELL_SITE_NONE ? n : NULL;
}

/* Let the interval that ends @now be @line's current node's. */
DWELL_PART void charge(struct dw_tree_thread *line, struct dw_tree_node *node, uint64_t now)
{
	node->elapsed += now - line->last;
	line->last = now;
}

/* Whether the event could be done. */
DWELL_PART bool enter_fast(struct dw_tree_thread *line, uint32_t key, uint64_t record)
{
	struct dw_shadow *top = line->top;
	struct dw_tree_node *node;
	uint64_t now, start;

	if (line->has_cells || top->record - record - 1 >= line->window ||
	    (void *)top >= line->limit)
		return false;
	node = known_child(line, top->node, key);
	now = dw_ticks();
	if (!node || *line->os_word != line->os_seen)
		return false;
	start = now - line->cost + line->callee_ticks[DWELL_PAIR_FUNCTION];
	top[1].node = top[1].function = node;
	top[1].record = record;
	top[1].start = top[1].spent = start;
	top[1].began = now;
	charge(line, top->node, now);
	node->calls++;
	line->current = node;
	line->top = top + 1;
	return true;
}

/* Whether @ticks lie from @least on in a span of @span: nothing new. */
DWELL_PART bool is_usual(uint64_t ticks, int64_t least, uint64_t span)
{
	return ticks - (uint64_t)least <= span;
}

/* Likewise; marks of the slow path make times so large that they lie outside of all bounds. *@ret
 * is the time that was compared with these. */
DWELL_PART bool leave_fast(struct dw_tree_thread *line, uint32_t key, uint64_t record,
			   uint64_t *ret)
{
	struct dw_shadow *top = line->top;
	const struct dw_bounds *b;
	uint64_t now, clock;

	if (line->has_cells || top->record != record || top->function->key != key)
		return false;
	now = dw_ticks();
	if (*line->os_word != line->os_seen)
		return false;
	*ret = now;
	clock = now - line->cost;
	b = (const struct dw_bounds *)line->bounds + (key & line->bounds_mask);
	if (!is_usual(clock - top->spent, b->exclusive_least, b->exclusive_span) ||
	    (!top->function->is_inner &&
	     !is_usual(clock - top->start, b->inclusive_least, b->inclusive_span)))
		return false;
	top[-1].spent += clock - top->start;
	charge(line, top->node, now);
	line->cost += line->pair_ticks[DWELL_PAIR_FUNCTION];
	line->current = top[-1].node;
	line->top = top - 1;
	return true;
}

/* Whether nothing that lies below a method at @record is open. */
DWELL_PART bool land_fast(const struct dw_tree_thread *line, uint64_t record)
{
	const struct dw_shadow *top = line->top;

	return top->record - record < DWELL_STACK_WINDOW;
}

/* What a probe does, whose frame is @frame. */
DWELL_PART void probe(enum kind kind, uint32_t key, const uint64_t *frame)
{
	struct dw_tree_thread *line;
	uint64_t read = 0;
	bool is_done;

	if (!dw_slow_begin_quick((uint64_t)(frame + 1)))
		return;
	line = dw_thread_word;
	if (!*own_region)
		is_done = false;
	else if (kind == ENTER)
		is_done = enter_fast(line, key, frame[0]);
	else if (kind == LEAVE)
		is_done = leave_fast(line, key, frame[0], &read);
	else
		is_done = land_fast(line, frame[0]);
	if (!is_done)
		go_slow(kind, key, frame, read);
	dw_slow_end_quick();
}

void dw_method_unwound(uint64_t rbp)
{
	const uint64_t frame[2] = {rbp, 0};

	/* It stands where it is: below the method's frame, as what is dropped. */
	if (dw_thread_known())
		probe(LANDING, 0, frame);
}

void dw_collections_start(uint32_t key)
{
	__atomic_store_n(&collection_key, key, __ATOMIC_RELEASE);
}

void dw_collection_begins(void)
{
	const uint64_t frame[2] = {(uint64_t)__builtin_frame_address(0), 0};
	uint32_t key = __atomic_load_n(&collection_key, __ATOMIC_ACQUIRE);

	if (key && dw_thread_known())
		probe(ENTER, key, frame);
}

void dw_collection_ends(void)
{
	uint32_t key = __atomic_load_n(&collection_key, __ATOMIC_ACQUIRE);
	const struct dw_thread *t = key ? dw_thread_known() : NULL;
	const struct dw_shadow *top = t ? t->line->top : NULL;

	/* In whatever frame the runtime says so: it is the one that has begun. */
	if (top && !dw_shadow_is_mark(top) && top->function->key == key) {
		const uint64_t frame[2] = {top->record, 0};

		probe(LEAVE, key, frame);
	}
}

static DWELL_PROBE void method_enter(int32_t key)
{
	probe(ENTER, (uint32_t)key, __builtin_frame_address(0));
}

static DWELL_PROBE void method_leave(int32_t key)
{
	probe(LEAVE, (uint32_t)key, __builtin_frame_address(0));
}

static DWELL_PROBE void method_landing(int32_t key)
{
	probe(LANDING, (uint32_t)key, __builtin_frame_address(0));
}

/* Behind the last of them. */
static DWELL_PROBE void probes_end(void)
{
}

void dw_method_probes_start(bool chosen)
{
	slowest_are_chosen = chosen;
	own_region = dw_agent_own_region_word();
}

void dw_method_probes_keep_slowest(uint32_t key)
{
	if (!dw_agent_enter())
		return;
	dw_ids_put(&slowest_of, key, 0, 0);
	dw_agent_leave();
}

struct dw_il_probes dw_method_probes(void)
{
	return (struct dw_il_probes){
		.enter = (uint64_t)method_enter,
		.leave = (uint64_t)method_leave,
		.landing = (uint64_t)method_landing,
	};
}

uint64_t dw_method_probes_code(uint64_t *ret_bytes)
{
	*ret_bytes = (uint64_t)probes_end - (uint64_t)method_enter;
	return (uint64_t)method_enter;
}
