/*
 * The way out of the trampolines that measure time (src/clone/trampolines/time-x86-64.S), and the
 * agent's own part: what happens at the start of a program, in a fork's child and at the end.
 *
 * The trampolines come here for new callees, when the thread was switched, when the stack is not
 * what they expect, at a thread's first probe and in a fork's child: what their event is about goes
 * to the calls' room (agent/calls/events.h).
 */
#include "agent/clones/trampolines.h"

#include "agent/calls/activation.h"
#include "agent/calls/events.h"
#include "agent/calls/file-io.h"
#include "agent/calls/os-events.h"
#include "agent/calls/threads.h"
#include "agent/clones/calibrate.h"
#include "agent/clones/clones.h"
#include "agent/clones/counts.h"
#include "agent/clones/disable.h"
#include "agent/clones/finish.h"
#include "agent/clones/modules.h"
#include "agent/clones/rooms.h"
#include "agent/clones/signal-context.h"
#include "agent/clr/tables.h"
#include "agent/clr/variables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/slow.h"
#include "agent/core/system-calls.h"

/* Where the trampolines keep arguments of system calls and what these return
 * (src/clone/trampolines/time-x86-64.S). */
enum { SAVED_RAX = -8, SAVED_RDX = -24, SAVED_RSI = -32, SAVED_RDI = -40 };

/* A call of the slow path. It lies on the program's stack, so it is small; @event lies on the
 * agent's own. */
struct event {
	struct dw_thread *t;
	uint64_t now;
	struct dw_event *event; /* once it has begun */
	const struct dw_area *area;
	uint64_t sp;
	uint64_t what;
	uint64_t read; /* what the trampoline has read, 0 = nothing */
	uint32_t trampoline;
	enum dw_call_kind call;
	struct dw_io_call *interrupted; /* of a handler's: what it interrupts, or has */
};

static uint64_t saved_at(uint64_t sp, int at)
{
	return *(const uint64_t *)(sp + (uint64_t)(int64_t)at);
}

static uint64_t saved(const struct event *e, int at)
{
	return saved_at(e->sp, at);
}

/* Whether @trampoline ends an activation. */
static bool is_end(uint32_t trampoline)
{
	return trampoline == DWELL_TRAMPOLINE_EXIT || trampoline == DWELL_TRAMPOLINE_RETURN;
}

static bool is_begin(uint32_t trampoline)
{
	return trampoline == DWELL_TRAMPOLINE_ENTER || trampoline == DWELL_TRAMPOLINE_OUT ||
	       trampoline == DWELL_TRAMPOLINE_OUT_POINTER || trampoline == DWELL_TRAMPOLINE_TAIL;
}

/* Whether the callee of @e goes on on another stack. */
static bool switches(const struct event *e)
{
	const struct dw_clone_header *h = e->area->header;
	const struct dw_clone_import *imports = (const void *)(e->area->area + h->imports.at);

	if (e->trampoline == DWELL_TRAMPOLINE_OUT_POINTER)
		return false;
	if (e->trampoline == DWELL_TRAMPOLINE_ENTER)
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
	return e->trampoline == DWELL_TRAMPOLINE_ENTER && e->what < e->area->header->functions.n &&
			       dw_functions(e->area)[e->what].flags & DWELL_CLONE_SLOWEST
		       ? DWELL_SLOWEST_MAX
		       : 0;
}

static uint64_t key_of(const struct event *e)
{
	if (e->trampoline == DWELL_TRAMPOLINE_OUT_POINTER)
		return e->what | DWELL_KEY_ADDRESS;
	return (first_id(e->area) + (uint32_t)e->what) |
	       (e->trampoline == DWELL_TRAMPOLINE_LINE ? DWELL_KEY_LINE : 0);
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

/* At the entry of @key: take back what the call or the jump out on top pushed, if it was this one.
 * The loader may have taken long to find it: the thread was switched then. */
static void take_back(const struct event *e, uint64_t key)
{
	const struct dw_shadow *top = e->t->line->top;
	const struct dw_tree_node *out = top->node;
	uint64_t address = e->area->module + dw_functions(e->area)[e->what].start;

	if ((top->record == e->sp + DWELL_RECORD_CALL_OUT ||
	     top->record == e->sp - DWELL_RECORD_CALL_OUT) &&
	    out->calls == 1 && out->key != key && dw_address_of_key(out->key) == address)
		dw_event_take_back(e->event);
}

/* Whether the trampoline RETURN stands where the function of @e, which ends in a jump, returns to.
 */
static bool returns_to_probe(const struct event *e)
{
	const struct dw_area *a = e->area;
	uint64_t to = *(const uint64_t *)(e->sp + sizeof(to));

	return to - a->area < a->bytes && dw_trampoline_called(a, to) == DWELL_TRAMPOLINE_RETURN;
}

/* Begin what the event begins. True: it ends a function instead, as a jump to one with probes does.
 */
static bool push(const struct event *e)
{
	bool is_enter = e->trampoline == DWELL_TRAMPOLINE_ENTER;
	const uint32_t *site = (const uint32_t *)(is_enter ? e->sp + 8 : e->sp);
	const struct dw_callee callee = {
		.key = key_of(e),
		.record = is_enter ? e->sp : e->sp - 4,
		.slowest_n = slowest_n(e),
		.switches = switches(e),
	};
	struct dw_thread *t = e->t;
	struct dw_tree_node *node;

	if (is_enter)
		take_back(e, callee.key);
	if (dw_event_fit(e->event, is_enter ? DWELL_AT_ENTER : DWELL_AT_OUT, callee.record) !=
	    DWELL_FIT_EVENT)
		return false;
	node = dw_event_find(e->event, callee.key, *site);
	if (!is_enter && node && is_mark(node)) {
		dw_tree_remember(&t->tree, t->line, t->line->current, node);
		return e->trampoline == DWELL_TRAMPOLINE_TAIL;
	}
	dw_event_push(e->event, node, &callee);
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

static void come_to_line(const struct event *e)
{
	if (dw_event_fit(e->event, DWELL_AT_LINE, e->sp) == DWELL_FIT_EVENT &&
	    is_in(e, e->t->line->top))
		dw_event_come_to_line(e->event, key_of(e));
}

/* A system call of the thread's begins, or goes on after a handler. */
static void begin_io(const struct event *e)
{
	if (e->interrupted) {
		dw_file_io_resume(e->t, e->interrupted);
	} else if (e->call == DWELL_CALL_IO) {
		const uint64_t arguments[] = {saved(e, SAVED_RDI), saved(e, SAVED_RSI),
					      saved(e, SAVED_RDX)};

		dw_file_io_begin(e->t, e->what, arguments);
	}
}

/* One has taken @ticks, and has ended or is interrupted by a handler. */
static void end_io(const struct event *e, uint64_t ticks)
{
	if (e->interrupted)
		*e->interrupted = dw_file_io_interrupt(e->t, ticks);
	else
		dw_file_io_end(e->t, (int64_t)saved(e, SAVED_RAX), saved(e, SAVED_RSI), ticks);
}

/* Do what the event does to the stack; of TAIL the function alone may end. Each step stands here
 * once: the compiler makes one frame of them all, and there may be little room. */
static void apply(const struct event *e)
{
	struct dw_thread *t = e->t;
	bool is_return = e->trampoline == DWELL_TRAMPOLINE_RETURN;
	bool ends = is_end(e->trampoline) ||
		    (e->trampoline == DWELL_TRAMPOLINE_TAIL && !returns_to_probe(e));

	if (is_begin(e->trampoline) && !ends)
		ends = push(e);
	else if (e->trampoline == DWELL_TRAMPOLINE_TAIL)
		dw_counted_tail(t, e->area, e->sp, (uint32_t)e->what);
	if (ends)
		dw_event_pop(e->event, is_return ? DWELL_AT_RETURN : DWELL_AT_EXIT,
			     is_return ? e->sp - 4 : e->sp);
	switch (e->trampoline) {
	case DWELL_TRAMPOLINE_CALL_BEGIN:
		dw_os_call_begin(t->line, &t->os, e->call);
		dw_open_tell(t);
		begin_io(e);
		break;
	case DWELL_TRAMPOLINE_CALL_END:
		break;
	case DWELL_TRAMPOLINE_LINE:
		come_to_line(e);
		break;
	case DWELL_TRAMPOLINE_LANDING:
		dw_event_fit(e->event, DWELL_AT_LANDING, e->sp);
		break;
	case DWELL_TRAMPOLINE_COUNTED:
		dw_counted_call(t, e->area, (int32_t)e->what);
		break;
	case DWELL_TRAMPOLINE_COUNTED_POINTER:
		dw_counted_add_pointer(t, e->what);
		break;
	default:
		break;
	}
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

	if (e->trampoline == DWELL_TRAMPOLINE_CALL_BEGIN)
		return dw_system_call_thread(e->sp, e->what, saved(e, SAVED_RSI), &e->call);
	if (e->trampoline == DWELL_TRAMPOLINE_CALL_END) {
		t = dw_thread_known();
		return t && t->line->state == DWELL_THREAD_IN_CALL ? t : NULL;
	}
	e->area = dw_area_at((uint64_t)e->area);
	return is_alive(e->area) ? dw_event_thread(e->sp, e->sp) : NULL;
}

/* Say how late what stands before the probe was done, of the activation on top, if the event begins
 * or ends that. */
static void tell_skid(const struct event *e)
{
	const struct dw_shadow *top = e->t->line->top;
	bool is_out =
		e->trampoline == DWELL_TRAMPOLINE_OUT || e->trampoline == DWELL_TRAMPOLINE_TAIL;
	uint64_t below = e->sp - top->record;
	bool is_it =
		e->trampoline == DWELL_TRAMPOLINE_RETURN
			? below == 4 || below == DWELL_RETURN_FUNCTION || below == DWELL_RETURN_TAIL
			: below == (is_out ? 4 : 0);

	if (is_it && e->event->has_skid)
		dw_extremes_skid(&e->t->extremes, top->function->key,
				 is_end(e->trampoline) ? DWELL_SKID_END : DWELL_SKID_BEGIN,
				 e->event->skid);
}

static void run(void *ctx)
{
	struct event *e = ctx;
	bool is_call_begin = e->trampoline == DWELL_TRAMPOLINE_CALL_BEGIN;
	uint64_t since = e->t->line->last;
	struct dw_event event = {
		.t = e->t,
		.now = e->now,
		.may_wait = is_call_begin,
		.is_system_call = is_call_begin || e->trampoline == DWELL_TRAMPOLINE_CALL_END,
	};

	e->event = &event;
	dw_event_begin(&event, e->read);
	if (e->trampoline == DWELL_TRAMPOLINE_CALL_END)
		end_io(e, e->t->line->last - since);
	dw_disable_update(e->t);
	dw_counted_look(event.now);
	if (is_end(e->trampoline))
		tell_skid(e);
	apply(e);
	if (!is_end(e->trampoline))
		tell_skid(e);
	dw_event_end(&event);
}

static void end_process(void)
{
	dw_counted_end();
	dw_calls_end();
}

/* Whether @e is before a call that ends a thread or the process. */
static bool is_last(const struct event *e)
{
	return e->trampoline == DWELL_TRAMPOLINE_CALL_BEGIN &&
	       (e->what == SYS_exit || e->what == SYS_exit_group);
}

/* The last event of the calling thread, unless it is a child on another's memory: all that is open
 * ends. */
static void close_thread(struct event *e)
{
	struct dw_thread *t = dw_thread_known();
	struct dw_event event = {
		.t = t,
		.now = e->now,
		.is_system_call = e->trampoline == DWELL_TRAMPOLINE_CALL_BEGIN,
	};

	if (!t || dw_syscall(SYS_gettid) != t->line->tid)
		return;
	dw_event_close(&event);
	if (e->trampoline == DWELL_TRAMPOLINE_CALL_BEGIN && e->what == SYS_exit)
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
	if (e->t)
		dw_event_run(is_first, run, e);
	else if (e->trampoline == DWELL_TRAMPOLINE_CALL_BEGIN &&
		 dw_system_call_blinds(e->what, saved(e, SAVED_RDI), saved(e, SAVED_RSI)))
		go_blind(e);
}

uint64_t dw_timing_slow(uint64_t trampoline, uint64_t sp, uint64_t what, uint64_t area)
{
	struct event e;

	if (dw_probe.is_blind) {
		dw_agent_drop(DWELL_DROP_BLIND);
		return 0;
	}
	if (trampoline == DWELL_TRAMPOLINE_COUNTED && dw_slow_goes_on() &&
	    dw_counted_interrupted((int32_t)what))
		return 0;
	if (trampoline == DWELL_TRAMPOLINE_CALL_BEGIN)
		dw_file_io_forget(what, saved_at(sp, SAVED_RDI), saved_at(sp, SAVED_RSI));
	/* Before all that takes long: until then handlers find us here. */
	if (!dw_slow_begin(sp))
		return 0;
	/* From here on no handler forks, so what is here stays. */
	if (dw_agent_is_retired()) {
		dw_thread_off();
		return dw_slow_leave();
	}
	/* Then the time: what comes before is not measured here. In order: what the program had
	 * begun would else be done in the slow path's time. */
	e.now = dw_ticks_in_order();
	e.read = is_end((uint32_t)trampoline) ? what : 0;
	e.trampoline = (uint32_t)trampoline;
	e.sp = sp;
	e.what = what;
	e.area = (const struct dw_area *)area;
	e.call = DWELL_CALL_NOT_COUNTED;
	e.interrupted = NULL;
	/* What a thread has is another's from its last event on, its stack too. */
	if (!is_last(&e))
		dw_own_stack_call(handle, &e);
	else if (dw_agent_may_call())
		close_thread(&e);
	return dw_slow_leave();
}

bool dw_timing_interrupt_call(struct dw_io_call *ret)
{
	struct event e = {.trampoline = DWELL_TRAMPOLINE_CALL_END, .interrupted = ret};

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

void dw_timing_resume_call(const struct dw_io_call *call)
{
	struct dw_io_call copy = *call;
	/* It was counted when it was interrupted, but for its bytes. */
	struct event e = {.trampoline = DWELL_TRAMPOLINE_CALL_BEGIN, .interrupted = &copy};

	if (dw_probe.is_blind)
		return;
	e.now = dw_ticks();
	e.t = dw_thread_known();
	if (!e.t || !dw_slow_begin((uint64_t)__builtin_frame_address(0)))
		return;
	dw_own_stack_call(run, &e);
	dw_slow_end();
}

uint32_t dw_timing_first_id(uint32_t region_module, const struct dw_clone_header *h)
{
	struct dw_region_module *m = &dw_agent_region()->modules[region_module];
	uint32_t n = h->functions.n + h->imports.n + h->statements.n;

	if (!m->first_id || m->ids_n != n) {
		m->first_id = dw_calls_take_keys(n);
		m->ids_n = n;
	}
	return m->first_id;
}

/* Get ready to measure, if @mode says so. */
static void start_timing(const char *mode)
{
	if (!dw_text_after(mode, "time"))
		return;
	dw_probe.has_slowest = dw_text_option(mode, "slowest");
	dw_counted_start(dw_text_option(mode, "counts"));
	if (!dw_calls_start(mode))
		dw_agent_off(DWELL_OFF_NO_MEMORY);
	dw_calls_begin();
}

static void start(const char *mode)
{
	start_timing(mode);
	dw_rooms_start();
	dw_probe.is_calibrated = dw_calibrate_from(mode);
	dw_modules_start();
}

/* Let the trampolines run again. */
static void timing_forked(void)
{
	dw_threads_forked();
	if (dw_probe.is_blind)
		return;
	dw_calls_begin();
	dw_finish_set_alive(1);
}

static void forked(void)
{
	dw_count_forked();
	dw_counted_forked();
	dw_disable_forked();
	timing_forked();
}

/* The program ends: from now on nothing counts. */
static void end(void)
{
	struct event e = {.trampoline = DWELL_TRAMPOLINE_EXIT};

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

/* Lines are shared memory, but their links are private. */
static void give_back(uint64_t keep, bool is_private)
{
	dw_tables_give_back(keep);
	dw_arena_give_back(is_private ? keep * DWELL_LINES_A_LINK : keep);
	if (!is_private)
		dw_rooms_give_back(keep);
}

const struct dw_agent_part dw_agent_part = {.start = start,
					    .forked = forked,
					    .stranded = dw_threads_forked,
					    .end = end,
					    .running = dw_clone_of,
					    .module_of = dw_module_of_key,
					    .hides = dw_variables_are,
					    .give_back = give_back,
					    .unmaps = dw_rooms_unmapped,
					    .is_busy = dw_threads_are_busy};
