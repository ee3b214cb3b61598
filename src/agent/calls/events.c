/*
 * Events of threads; see events.h. All of an event is done here; what the trampolines do for most
 * of them is in src/clone/trampolines/time-x86-64.S.
 */
#include "agent/calls/events.h"

#include "agent/calls/activation.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"

enum {
	SKID_TICKS_MAX = 4096,	 /* then something else has come between */
	PUBLISH_TICKS = 1 << 14, /* for each activation that is open */
};

#define ARENA_BYTES ((uint64_t)40 << 20) /* where nobody says another number */

/* Charge what ends at e->now to the current node. What is charged and until when come as one: a
 * thread may be killed in what follows. */
static void charge(struct dw_event *e)
{
	struct dw_tree_thread *line = e->t->line;
	struct dw_interval interval;

	if (!e->is_system_call && *line->os_word == line->os_seen) {
		dw_thread_charge_plain(e->t, e->now - line->last, 0);
		line->last = e->now;
		return;
	}
	e->now = dw_os_close(line, &e->t->os, e->now,
			     e->is_system_call ? DWELL_EVENT_CALL : DWELL_EVENT_PROBE, &interval);
	line->last = e->now;
	dw_thread_charge(e->t, &interval);
}

/*
 * The probe may have read the clock and found out how late what stands before was done: its reading
 * is that of the event then. What a handler has come between is another event's.
 */
static void find_skid(struct dw_event *e)
{
	struct dw_tree_thread *line = e->t->line;
	uint64_t read = line->read, done = line->done;

	line->read = 0;
	e->has_skid = read && read >= line->last && done >= read && e->now >= done &&
		      done - read <= SKID_TICKS_MAX && e->now - done <= SKID_TICKS_MAX;
	if (!e->has_skid)
		return;
	e->now = read;
	e->skid = done - read;
}

/* A thread that has cells: sample its path if it is time, and let the collector know what calls
 * have taken that go on, before one that may wait for long, too. */
static void sample_path(const struct dw_event *e)
{
	struct dw_thread *t = e->t;

	if (!t->line->has_cells ||
	    (!dw_drawn_sample(&t->drawer, &t->stacks, &t->tree) && !e->may_wait))
		return;
	/* That walks the whole stack: of a deep one less often. */
	if (e->now - t->published >
	    PUBLISH_TICKS * dw_stack_depth(t->stacks.current, t->line->top)) {
		dw_cells_publish(&t->stacks);
		t->published = e->now;
	}
}

void dw_event_begin(struct dw_event *e, uint64_t read)
{
	dw_thread_word = &dw_thread_none;
	find_skid(e);
	/* What a trampoline has compared must be what is compared here. */
	if (read)
		e->now = read;
	if (e->now < e->t->line->last) /* it has begun just now */
		e->now = e->t->line->last;
	e->start = e->now;
	e->t->line->slow_since = e->start;
	charge(e);
	dw_stacks_at(&e->t->stacks, e->now);
	sample_path(e);
}

/* What was spent here is the new current node's overhead, but for the time without a processor. */
void dw_event_end(struct dw_event *e)
{
	struct dw_tree_thread *line = e->t->line;
	struct dw_interval switched;
	uint64_t now = dw_ticks_in_order(), off = 0, spent;

	if (dw_os_close_slow(line, &e->t->os, e->now, &now, &switched)) {
		off = switched.elapsed;
		line->last = e->now + off;
		dw_thread_charge(e->t, &switched);
	}
	spent = now - e->now - off;
	e->t->overhead_rest += spent;
	dw_thread_charge_plain(e->t, 0, (uint32_t)(e->t->overhead_rest / DWELL_OVERHEAD_TICKS));
	e->t->overhead_rest %= DWELL_OVERHEAD_TICKS;
	line->slow_ticks += now - e->start - off;
	line->cost += spent;
	line->other_cost += spent;
	line->last = now;
	line->slow_since = 0;
	dw_thread_word = line;
}

enum dw_fit dw_event_fit(const struct dw_event *e, enum dw_stack_event what, uint64_t record)
{
	enum dw_fit fit = dw_stacks_fit(&e->t->stacks, what, record);

	if (fit == DWELL_FIT_FOREIGN)
		dw_system_call_share(e->t);
	return fit;
}

/* There was no room for a node: go over to cells, once. Whether that is done now. */
static bool make_cells(struct dw_thread *t)
{
	struct dw_tree_node *root;

	if (t->line->has_cells)
		return false;
	root = dw_tree_make_cells(&t->tree, t->line, &t->extremes);
	if (root) {
		dw_cells_begin(&t->stacks, &t->tree, root);
		dw_drawn_begin(&t->drawer, &t->stacks);
	}
	return root;
}

/* The node of @key and @site below what is current or, with @in_function, the function on top. NULL
 * = there is no room. */
static struct dw_tree_node *find_node(struct dw_thread *t, uint64_t key, uint32_t site,
				      bool in_function)
{
	struct dw_tree_node *node;

	t->line->lookups++;
	do {
		const struct dw_shadow *top = t->line->top;

		node = dw_tree_child(&t->tree, in_function ? top->function : t->line->current, key,
				     site);
	} while (!node && make_cells(t));
	return node;
}

struct dw_tree_node *dw_event_find(const struct dw_event *e, uint64_t key, uint32_t site)
{
	return find_node(e->t, key, site, false);
}

static uint64_t ticks_of(int32_t parts)
{
	return (uint64_t)((int64_t)(parts + DWELL_TICK_PARTS / 2) / DWELL_TICK_PARTS);
}

/* Let the trampolines of a thread know what pairs of probes cost. */
static void tell_cost(struct dw_tree_thread *line)
{
	const int32_t *cost = dw_agent_region()->probe_cost;

	if (line->has_cells)
		cost += DWELL_PROBE_CELL_ENTER - DWELL_PROBE_ENTER;
	line->callee_ticks[DWELL_PAIR_FUNCTION] = ticks_of(cost[DWELL_PROBE_LEAVE]);
	line->callee_ticks[DWELL_PAIR_EXTERNAL] = ticks_of(cost[DWELL_PROBE_RETURN]);
	line->pair_ticks[DWELL_PAIR_FUNCTION] =
		ticks_of(cost[DWELL_PROBE_ENTER] + cost[DWELL_PROBE_LEAVE]);
	line->pair_ticks[DWELL_PAIR_EXTERNAL] =
		ticks_of(cost[DWELL_PROBE_OUT] + cost[DWELL_PROBE_RETURN]);
	cost = dw_agent_region()->probe_cost;
	if (cost[DWELL_PROBE_LINE] > 0)
		line->line_ticks = (uint32_t)ticks_of(cost[DWELL_PROBE_LINE]);
}

void dw_event_push(const struct dw_event *e, struct dw_tree_node *node,
		   const struct dw_callee *callee)
{
	struct dw_thread *t = e->t;

	dw_extremes_expect(&t->extremes, callee->key, callee->slowest_n);
	tell_cost(t->line);
	if (node && !callee->switches)
		dw_tree_remember(&t->tree, t->line, t->line->current, node);
	if (!node || !dw_stacks_push(&t->stacks, node, callee->record, callee->switches))
		dw_agent_drop(DWELL_DROP_COUNTS);
}

void dw_event_pop(const struct dw_event *e, enum dw_stack_event what, uint64_t record)
{
	if (dw_event_fit(e, what, record) == DWELL_FIT_EVENT)
		dw_stacks_pop(&e->t->stacks);
}

/* What the system did in @from, which has a record of it, it did in the current node. */
static void move_os(struct dw_thread *t, struct dw_tree_node *from)
{
	struct dw_tree_os *os = dw_tree_os(&t->tree, from);
	struct dw_tree_os *to = dw_tree_os(&t->tree, t->line->current);

	if (to)
		dw_tree_os_add(to, os);
	*os = (struct dw_tree_os){.mark = os->mark};
}

void dw_event_take_back(const struct dw_event *e)
{
	struct dw_tree_thread *line = e->t->line;
	struct dw_tree_node *out = ((const struct dw_shadow *)line->top)->node;

	dw_stacks_take_back(&e->t->stacks);
	if (out->os)
		move_os(e->t, out);
	line->current->elapsed += out->elapsed;
	out->elapsed = out->calls = 0;
	out->os = UINT32_MAX;
}

void dw_event_come_to_line(const struct dw_event *e, uint64_t key)
{
	struct dw_thread *t = e->t;
	const struct dw_shadow *top = t->line->top;
	struct dw_tree_node *node = find_node(t, key, 0, true);

	if (node) {
		node->calls++;
		dw_tree_remember(&t->tree, t->line, top->function, node);
	}
	dw_stacks_set_line(&t->stacks, node);
}

void dw_event_close(struct dw_event *e)
{
	e->t->line->slow_since = e->now; /* nothing follows */
	charge(e);
	dw_stacks_at(&e->t->stacks, e->now);
	dw_stacks_close(&e->t->stacks);
}

static struct dw_region_moment moment(void)
{
	return (struct dw_region_moment){dw_ticks(), dw_sys_now_ns()};
}

void dw_calls_begin(void)
{
	dw_agent_region()->start = moment();
}

struct dw_thread *dw_event_thread(uint64_t sp, uint64_t record)
{
	struct dw_thread *t = dw_thread_self(record);

	return t && !dw_system_call_is_other(t, sp) ? t : NULL;
}

uint32_t dw_calls_take_keys(uint32_t n)
{
	static uint32_t taken;

	return __atomic_fetch_add(&taken, n, __ATOMIC_RELAXED) + 1;
}

bool dw_calls_start(const char *mode)
{
	const char *memory = dw_text_option(mode, "memory"), *paths = dw_text_option(mode, "paths");

	dw_tree_limit(paths ? (uint32_t)dw_text_number(paths) : UINT32_MAX);
	dw_os_start(dw_text_option(mode, "os-source"), dw_text_option(mode, "os-proven"));
	return dw_arena_start(memory ? dw_text_number(memory) : ARENA_BYTES);
}

void dw_calls_end(void)
{
	struct timespec cpu = {0, 0};

	dw_threads_end();
	if (dw_agent_may_call())
		dw_syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu);
	dw_agent_region()->end_cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	dw_agent_region()->end = moment();
}
