/*
 * The slow path of the gates that measure time; see src/clone/trampolines/time-x86-64.S.
 *
 * The gates come here for new callees, when the thread was switched, when the stack is not what
 * they expect, at a thread's first probe and in a fork's child. All of the event is done here. The
 * interval that has ended goes to the node that is current; what is spent here belongs to
 * nobody and is only counted. Meanwhile the thread's word leads to a line without room, so that the
 * probes of a handler come here as well.
 */
#include "agent/probe/timing.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/cells.h"
#include "agent/core/open.h"
#include "agent/core/os-interval.h"
#include "agent/core/own-stack.h"
#include "agent/core/slow.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/core/thread.h"
#include "agent/core/ticks-x86-64.h"
#include "agent/probe/counted.h"
#include "agent/probe/finish.h"
#include "agent/probe/half-way.h"
#include "agent/probe/keys.h"
#include "agent/probe/mute.h"
#include "agent/probe/state.h"
#include "agent/probe/system-calls.h"

enum {
	LATE_TICKS_MAX = 4096,	 /* then something else has come between */
	PUBLISH_TICKS = 1 << 14, /* for each activation that is open */
};

#define ARENA_BYTES ((uint64_t)40 << 20) /* where nobody says another number */

/* A call of the slow path. */
struct event {
	struct dw_thread *t;
	const struct dw_area *area;
	uint64_t gate;
	uint64_t rsp;
	uint64_t what;
	uint64_t now;  /* TSC: the end of the interval */
	uint64_t read; /* what the gate has read, 0 = nothing */
	enum dw_call_kind call;
};

static bool is_call(const struct event *e)
{
	return e->gate == DWELL_GATE_CALL_BEGIN || e->gate == DWELL_GATE_CALL_END;
}

/* Whether @gate ends an activation. */
static bool is_end(uint64_t gate)
{
	return gate == DWELL_GATE_EXIT || gate == DWELL_GATE_BACK;
}

static bool is_begin(uint64_t gate)
{
	return gate == DWELL_GATE_ENTER || gate == DWELL_GATE_OUT ||
	       gate == DWELL_GATE_OUT_POINTER || gate == DWELL_GATE_TAIL;
}

/* Charge what ends at e->now to the current node. What is charged and until when come as one: a
 * thread may be killed in what follows. */
static void charge(struct event *e)
{
	struct dw_tree_thread *line = e->t->line;
	struct dw_interval interval;

	if (!is_call(e) && *line->os_word == line->os_seen) {
		dw_thread_charge_plain(e->t, e->now - line->last, 0);
		line->last = e->now;
		return;
	}
	e->now = dw_os_close(line, &e->t->os, e->now,
			     is_call(e) ? DWELL_EVENT_CALL : DWELL_EVENT_PROBE, &interval);
	line->last = e->now;
	dw_thread_charge(e->t, &interval);
}

/* Whether the callee of @e goes on on another stack. */
static bool switches(const struct event *e)
{
	const struct dw_clone_header *h = e->area->header;
	const struct dw_clone_import *imports = (const void *)(e->area->area + h->imports.at);

	if (e->gate == DWELL_GATE_OUT_POINTER)
		return false;
	if (e->gate == DWELL_GATE_ENTER)
		return e->what < h->functions.n &&
		       dw_functions(e->area)[e->what].flags & DWELL_CLONE_SWITCHES;
	return e->what - h->functions.n < h->imports.n &&
	       imports[e->what - h->functions.n].flags & DWELL_IMPORT_SWITCHES;
}

/* The key of function 0 of @area. */
static uint64_t first_id(const struct dw_area *area)
{
	return ((const uint64_t *)(area->area +
				   area->header->constants_at))[DWELL_CONSTANT_FIRST_ID];
}

/* How many of the slowest calls of the callee of @e are kept. */
static uint32_t slowest_n(const struct event *e)
{
	if (!dw_probe.has_slowest)
		return 1;
	return e->gate == DWELL_GATE_ENTER && e->what < e->area->header->functions.n &&
			       dw_functions(e->area)[e->what].flags & DWELL_CLONE_SLOWEST
		       ? DWELL_SLOWEST_MAX
		       : 0;
}

static uint64_t key_of(const struct event *e)
{
	if (e->gate == DWELL_GATE_OUT_POINTER)
		return e->what | DWELL_KEY_ADDRESS;
	return (first_id(e->area) + (uint32_t)e->what) |
	       (e->gate == DWELL_GATE_LINE ? DWELL_KEY_LINE : 0);
}

/*
 * Whether @node, for a call out that leads to a function with probes, is a mark: what the callee's
 * own probes count must not be counted twice. Where the loader had not looked the callee up before
 * its first call, an activation of @node was pushed, and is taken back now that its entry follows.
 */
static bool is_mark(struct dw_tree_node *node)
{
	if (node->os != UINT32_MAX && !node->os && !node->calls &&
	    dw_is_probed(dw_address_of_key(node->key)))
		node->os = UINT32_MAX;
	return node->os == UINT32_MAX;
}

/* What the system did in @from, which has a record of it, it did in the current node. */
static void move_os(const struct event *e, struct dw_tree_node *from)
{
	struct dw_tree_os *os = dw_tree_os(&e->t->tree, from);
	struct dw_tree_os *to = dw_tree_os(&e->t->tree, e->t->line->current);

	if (to)
		dw_tree_os_add(to, os);
	*os = (struct dw_tree_os){.mark = os->mark};
}

/* At the entry of @key: take back what the call or the jump out on top pushed, if it was this one.
 * The loader may have taken long to find it: the thread was switched then. */
static void take_back(const struct event *e, uint64_t key)
{
	const struct dw_shadow *top = e->t->line->top;
	struct dw_tree_node *out = top->node;
	uint64_t address = e->area->module + dw_functions(e->area)[e->what].start;

	if ((top->record != e->rsp + DWELL_RECORD_CALL_OUT &&
	     top->record != e->rsp - DWELL_RECORD_CALL_OUT) ||
	    out->calls != 1 || out->key == key || dw_address_of_key(out->key) != address)
		return;
	dw_stacks_take_back(&e->t->stacks);
	if (out->os)
		move_os(e, out);
	e->t->line->current->elapsed += out->elapsed;
	out->elapsed = out->calls = 0;
	out->os = UINT32_MAX;
}

static uint64_t ticks_of(int32_t parts)
{
	return (uint64_t)((int64_t)(parts + DWELL_TICK_PARTS / 2) / DWELL_TICK_PARTS);
}

/* Let the gates of a thread know what pairs of probes cost. */
static void tell_cost(struct dw_tree_thread *line)
{
	const int32_t *cost = dw_agent_region()->probe_cost;

	if (line->has_cells)
		cost += DWELL_PROBE_CELL_ENTER - DWELL_PROBE_ENTER;
	line->callee_ticks[DWELL_PAIR_FUNCTION] = ticks_of(cost[DWELL_PROBE_LEAVE]);
	line->callee_ticks[DWELL_PAIR_OUTSIDE] = ticks_of(cost[DWELL_PROBE_BACK]);
	line->pair_ticks[DWELL_PAIR_FUNCTION] =
		ticks_of(cost[DWELL_PROBE_ENTER] + cost[DWELL_PROBE_LEAVE]);
	line->pair_ticks[DWELL_PAIR_OUTSIDE] =
		ticks_of(cost[DWELL_PROBE_OUT] + cost[DWELL_PROBE_BACK]);
	cost = dw_agent_region()->probe_cost;
	if (cost[DWELL_PROBE_LINE] > 0)
		line->line_ticks = (uint32_t)ticks_of(cost[DWELL_PROBE_LINE]);
}

/* Let the stack be that of @e, if it is this thread's: what follows of another task that uses its
 * memory is dropped before anything is charged. */
static enum dw_fit fit(const struct event *e, enum dw_stack_event what, uint64_t record)
{
	enum dw_fit fit = dw_stacks_fit(&e->t->stacks, what, record);

	if (fit == DWELL_FIT_FOREIGN)
		dw_system_call_share(e->t);
	return fit;
}

/* End what the event ends; of TAIL the function alone. */
static void pop(const struct event *e)
{
	bool is_back = e->gate == DWELL_GATE_BACK;

	if (fit(e, is_back ? DWELL_AT_BACK : DWELL_AT_EXIT, is_back ? e->rsp - 4 : e->rsp) ==
	    DWELL_FIT_EVENT)
		dw_stacks_pop(&e->t->stacks);
}

/* Whether the gate BACK stands where the function of @e, which ends in a jump, returns to. */
static bool returns_to_back(const struct event *e)
{
	const struct dw_area *a = e->area;
	uint64_t to = *(const uint64_t *)(e->rsp + sizeof(to));

	return to - a->area < a->bytes && dw_gate_called(a, to) == DWELL_GATE_BACK;
}

/* There was no room for a node: go over to cells, once. Whether that is done now. */
static bool make_cells(const struct event *e)
{
	struct dw_tree_node *root;

	if (e->t->line->has_cells)
		return false;
	root = dw_tree_make_cells(&e->t->tree, e->t->line, &e->t->each);
	if (root) {
		dw_cells_begin(&e->t->stacks, &e->t->tree, root);
		dw_drawn_begin(&e->t->drawer, &e->t->stacks);
	}
	return root;
}

/* The node of @key and @site below what is current or, with @in_function, the function on top. NULL
 * = there is no room. */
static struct dw_tree_node *find_node(const struct event *e, uint64_t key, uint32_t site,
				      bool in_function)
{
	struct dw_tree_node *node;

	e->t->line->lookups++;
	do {
		const struct dw_shadow *top = e->t->line->top;

		node = dw_tree_child(&e->t->tree, in_function ? top->function : e->t->line->current,
				     key, site);
	} while (!node && make_cells(e));
	return node;
}

/* Begin what the event begins. True: it ends a function instead, as a jump to one with probes does.
 */
static bool push(const struct event *e)
{
	bool is_enter = e->gate == DWELL_GATE_ENTER, is_switch = switches(e);
	uint64_t record = is_enter ? e->rsp : e->rsp - 4;
	const uint32_t *site = (const uint32_t *)(is_enter ? e->rsp + 8 : e->rsp);
	struct dw_tree_node *node;

	if (is_enter)
		take_back(e, key_of(e));
	if (fit(e, is_enter ? DWELL_AT_ENTER : DWELL_AT_OUT, record) != DWELL_FIT_EVENT)
		return false;
	node = find_node(e, key_of(e), *site, false);
	if (!is_enter && node && is_mark(node)) {
		dw_tree_remember(&e->t->tree, e->t->line, e->t->line->current, node);
		return e->gate == DWELL_GATE_TAIL;
	}
	dw_each_expect(&e->t->each, key_of(e), slowest_n(e));
	tell_cost(e->t->line);
	if (node && !is_switch)
		dw_tree_remember(&e->t->tree, e->t->line, e->t->line->current, node);
	if (!node || !dw_stacks_push(&e->t->stacks, node, record, is_switch))
		dw_agent_drop(DWELL_DROP_COUNTS);
	return false;
}

/* Whether the statement of @e is one of the activation @top: parts of a function that stand apart
 * are functions of their own there. */
static bool is_in(const struct event *e, const struct dw_shadow *top)
{
	const struct dw_clone_header *h = e->area->header;
	const struct dw_clone_statement *all = (const void *)(e->area->area + h->statements.at);
	uint64_t i = e->what - h->functions.n - h->imports.n, key;
	uint32_t function;

	if (i >= h->statements.n || top->record & 1)
		return false;
	function = all[i].function;
	key = top->function->key - first_id(e->area);
	return key == function ||
	       (dw_functions(e->area)[function].flags & DWELL_CLONE_COLD && key < h->functions.n);
}

/* Let the activation on top be at the statement, whose node hangs below its own. */
static void come_to_line(const struct event *e)
{
	const struct dw_shadow *top;
	struct dw_tree_node *node;

	if (fit(e, DWELL_AT_LINE, e->rsp) != DWELL_FIT_EVENT)
		return;
	top = e->t->line->top;
	if (!is_in(e, top))
		return;
	node = find_node(e, key_of(e), 0, true);
	if (node) {
		node->calls++;
		dw_tree_remember(&e->t->tree, e->t->line, top->function, node);
	}
	dw_stacks_set_line(&e->t->stacks, node);
}

/* Do what the event does to the stack. Each step stands here once: the compiler makes one frame of
 * them all, and there may be little room. */
static void apply(const struct event *e)
{
	bool ends = is_end(e->gate) || (e->gate == DWELL_GATE_TAIL && !returns_to_back(e));

	if (is_begin(e->gate) && !ends)
		ends = push(e);
	else if (e->gate == DWELL_GATE_TAIL)
		dw_counted_tail(e->t, e->area, e->rsp, (uint32_t)e->what);
	if (ends)
		pop(e);
	switch (e->gate) {
	case DWELL_GATE_CALL_BEGIN:
		dw_os_call_begin(e->t->line, &e->t->os, e->call);
		dw_open_tell(e->t);
		break;
	case DWELL_GATE_CALL_END:
		break;
	case DWELL_GATE_LINE:
		come_to_line(e);
		break;
	case DWELL_GATE_LANDING:
		fit(e, DWELL_AT_LANDING, e->rsp);
		break;
	case DWELL_GATE_COUNTED:
		dw_counted_call(e->t, e->area, (int32_t)e->what);
		break;
	case DWELL_GATE_COUNTED_POINTER:
		dw_counted_add_pointer(e->t, e->what);
		break;
	default:
		break;
	}
}

/*
 * The interval that follows begins now; what was spent here is the new current node's overhead, but
 * for the time without a processor.
 */
static void resume(const struct event *e, uint64_t start)
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
	line->slow_ticks += now - start - off;
	line->cost += spent;
	line->other_cost += spent;
	line->last = now;
}

/* Make the child of a fork one that has a region. Whether probes count here. */
static bool is_alive(const struct dw_area *a)
{
	const uint64_t *wiped = a ? (const uint64_t *)(a->area + a->header->wiped_at) : NULL;

	if (wiped && !wiped[DWELL_WIPED_ALIVE])
		dw_agent_after_fork();
	return wiped && wiped[DWELL_WIPED_ALIVE] && dw_agent_is_on();
}

/* The thread that @e is an event of; NULL = it counts for none. */
static struct dw_thread *find_thread(struct event *e)
{
	struct dw_thread *t;

	if (e->gate == DWELL_GATE_CALL_BEGIN)
		return dw_system_call_thread(e->rsp, e->what, &e->call);
	if (e->gate == DWELL_GATE_CALL_END) {
		t = dw_thread_known();
		return t && t->line->state == DWELL_THREAD_IN_CALL ? t : NULL;
	}
	e->area = dw_area_at((uint64_t)e->area);
	t = is_alive(e->area) ? dw_thread_self(e->rsp) : NULL;
	return t && !dw_system_call_is_other(t, e->rsp) ? t : NULL;
}

/*
 * Whether the gate has read the clock and found out how late what stands before was done: *@ret.
 * The reading is that of the event then. What a handler has come between is another event's.
 */
static bool is_late(struct event *e, uint64_t *ret)
{
	struct dw_tree_thread *line = e->t->line;
	uint64_t read = line->read, done = line->done;

	line->read = 0;
	if (!read || read < line->last || done < read || e->now < done ||
	    done - read > LATE_TICKS_MAX || e->now - done > LATE_TICKS_MAX)
		return false;
	e->now = read;
	*ret = done - read;
	return true;
}

/* Say it of the activation on top, if the event begins or ends that. */
static void tell_late(const struct event *e, uint64_t ticks)
{
	const struct dw_shadow *top = e->t->line->top;
	bool is_out = e->gate == DWELL_GATE_OUT || e->gate == DWELL_GATE_TAIL;
	uint64_t below = e->rsp - top->record;
	bool is_it = e->gate == DWELL_GATE_BACK ? below == 4 || below == DWELL_BACK_FUNCTION ||
							  below == DWELL_BACK_TAIL
						: below == (is_out ? 4 : 0);

	if (is_it)
		dw_each_late(&e->t->each, top->function->key,
			     is_end(e->gate) ? DWELL_LATE_END : DWELL_LATE_BEGIN, ticks);
}

/* A thread that has cells: draw its path if it is time, and let the collector know what calls have
 * taken that go on, before one that may wait for long, too. */
static void draw(const struct event *e)
{
	struct dw_thread *t = e->t;

	if (!t->line->has_cells ||
	    (!dw_drawn_look(&t->drawer, &t->stacks, &t->tree) && e->gate != DWELL_GATE_CALL_BEGIN))
		return;
	/* That walks the whole stack: of a deep one less often. */
	if (e->now - t->published >
	    PUBLISH_TICKS * dw_stack_depth(t->stacks.current, t->line->top)) {
		dw_cells_publish(&t->stacks);
		t->published = e->now;
	}
}

static void run(void *ctx)
{
	struct event *e = ctx;
	uint64_t start, late;
	bool has_late;

	dw_thread_word = &dw_thread_none;
	has_late = is_late(e, &late);
	/* What a gate has compared must be what is compared here. */
	if (e->read)
		e->now = e->read;
	start = e->now;
	if (e->now < e->t->line->last) /* it has begun just now */
		start = e->now = e->t->line->last;
	e->t->line->slow_since = start;
	charge(e);
	dw_stacks_at(&e->t->stacks, e->now);
	draw(e);
	dw_mute_look(e->t);
	dw_counted_look(e->now);
	if (has_late && is_end(e->gate))
		tell_late(e, late);
	apply(e);
	if (has_late && !is_end(e->gate))
		tell_late(e, late);
	resume(e, start);
	e->t->line->slow_since = 0;
	dw_thread_word = e->t->line;
}

static struct dw_region_moment moment(void)
{
	return (struct dw_region_moment){dw_ticks(), dw_sys_now_ns()};
}

/* The process ends now; other threads may have ended before. */
static void end_process(void)
{
	struct timespec cpu = {0, 0};

	dw_threads_end();
	dw_counted_end();
	if (dw_agent_may_call())
		dw_syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &cpu);
	dw_agent_region()->end_cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	dw_agent_region()->end = moment();
}

/* Whether @e is before a call that ends a thread or the process. */
static bool is_last(const struct event *e)
{
	return e->gate == DWELL_GATE_CALL_BEGIN &&
	       (e->what == SYS_exit || e->what == SYS_exit_group);
}

/* The last event of the calling thread, unless it is a child on another's memory: all that is open
 * ends. */
static void close_thread(struct event *e)
{
	e->t = dw_thread_known();
	if (!e->t || dw_syscall(SYS_gettid) != e->t->line->tid)
		return;
	e->t->line->slow_since = e->now; /* nothing follows */
	charge(e);
	dw_stacks_at(&e->t->stacks, e->now);
	dw_stacks_close(&e->t->stacks);
	if (e->gate == DWELL_GATE_CALL_BEGIN && e->what == SYS_exit)
		dw_thread_end_self();
	else if (!dw_agent_region()->end.ticks)
		end_process();
}

/* Nobody reads what this process measures, or it cannot: its probes go, and as long as a thread
 * meets some, it passes them. */
static void retire(void)
{
	dw_agent_after_fork();
	dw_thread_off(); /* its lines may go */
	if (dw_agent_is_self())
		dw_finish_all();
	dw_finish_set_alive(1);
}

/* Nothing can be measured any more. */
static void go_blind(struct event *e)
{
	if (dw_agent_may_call())
		close_thread(e);
	dw_probe.is_blind = true;
	dw_finish_set_alive(0);
}

/* An event that is not the last. */
static void handle(void *ctx)
{
	struct event *e = ctx;
	bool is_first;

	if (dw_agent_is_over() || !dw_agent_is_on()) {
		retire();
		return;
	}
	is_first = !dw_thread_known();
	e->t = find_thread(e);
	if (e->t && is_first) /* it has a stack of its own now */
		dw_own_stack_call(run, e);
	else if (e->t)
		run(e);
	else if (e->gate == DWELL_GATE_CALL_BEGIN && dw_system_call_blinds(e->rsp, e->what))
		go_blind(e);
}

uint64_t dw_timing_slow(uint64_t gate, uint64_t rsp, uint64_t what, uint64_t area)
{
	struct event e;

	if (dw_probe.is_blind) {
		dw_agent_drop(DWELL_DROP_BLIND);
		return 0;
	}
	if (gate == DWELL_GATE_COUNTED && dw_slow_goes_on() &&
	    dw_counted_interrupted((int32_t)what))
		return 0;
	/* Before all that takes long: until then handlers find us here. */
	if (!dw_slow_begin(rsp))
		return 0;
	/* From here on no handler forks, so what is here stays. */
	if (dw_agent_is_retired()) {
		dw_thread_off();
		return dw_slow_leave();
	}
	/* Then the time: what comes before is not measured here. In order: what the program had
	 * begun would else be done in the slow path's time. */
	e.now = dw_ticks_in_order();
	e.read = is_end(gate) ? what : 0;
	e.gate = gate;
	e.rsp = rsp;
	e.what = what;
	e.area = (const struct dw_area *)area;
	e.call = DWELL_CALL_NOT_COUNTED;
	/* What a thread has is another's from its last event on, its stack too. */
	if (!is_last(&e))
		dw_own_stack_call(handle, &e);
	else if (dw_agent_may_call())
		close_thread(&e);
	return dw_slow_leave();
}

bool dw_timing_interrupt_call(void)
{
	struct event e = {.gate = DWELL_GATE_CALL_END};

	if (dw_probe.is_blind)
		return false;
	e.now = dw_ticks();
	e.t = find_thread(&e);
	if (!e.t || !dw_slow_begin((uint64_t)__builtin_frame_address(0)))
		return false;
	dw_own_stack_call(run, &e);
	dw_slow_end();
	return true;
}

void dw_timing_resume_call(void)
{
	/* It was counted when it was interrupted. */
	struct event e = {.gate = DWELL_GATE_CALL_BEGIN};

	if (dw_probe.is_blind)
		return;
	e.now = dw_ticks();
	e.t = dw_thread_known();
	if (!e.t || !dw_slow_begin((uint64_t)__builtin_frame_address(0)))
		return;
	dw_own_stack_call(run, &e);
	dw_slow_end();
}

void dw_timing_start(const char *mode)
{
	const char *memory, *paths = dw_text_option(mode, "paths");

	if (!dw_text_after(mode, "time"))
		return;
	memory = dw_text_option(mode, "memory");
	dw_tree_limit(paths ? (uint32_t)dw_text_number(paths) : UINT32_MAX);
	dw_probe.has_slowest = dw_text_option(mode, "slowest");
	dw_os_start(dw_text_option(mode, "os-source"), dw_text_option(mode, "os-proven"));
	dw_counted_start(dw_text_option(mode, "counts"));
	if (!dw_arena_start(memory ? dw_text_number(memory) : ARENA_BYTES))
		dw_agent_off(DWELL_OFF_NO_MEMORY);
	dw_agent_region()->start = moment();
}

uint32_t dw_timing_first_id(uint32_t region_module, const struct dw_clone_header *h)
{
	struct dw_region_module *m = &dw_agent_region()->modules[region_module];
	uint32_t n = h->functions.n + h->imports.n + h->statements.n;

	if (!m->first_id || m->ids_n != n) {
		m->first_id = dw_probe.id_n + 1;
		m->ids_n = n;
		dw_probe.id_n += n;
	}
	return m->first_id;
}

void dw_timing_forked(void)
{
	dw_threads_forked();
	if (dw_probe.is_blind)
		return;
	dw_agent_region()->start = moment();
	dw_finish_set_alive(1);
}

void dw_timing_end(void)
{
	struct event e = {.gate = DWELL_GATE_EXIT};

	if (dw_probe.is_blind)
		return;
	e.now = dw_ticks();
	if (dw_agent_may_call() && dw_slow_begin((uint64_t)__builtin_frame_address(0))) {
		close_thread(&e);
		dw_slow_end();
	}
	if (!dw_agent_region()->end.ticks)
		end_process();
}
