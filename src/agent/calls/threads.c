/*
 * Threads; see threads.h.
 *
 * A thread's own memory is mapped at its first probe and stays in a list. The trampolines' word
 * leads to a line without room until then, and after that to the thread's own. In a fork's child
 * the one thread that is left begins again.
 */
#include "agent/calls/threads.h"

#include "agent/calls/activation.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/slow.h"
#include "agent/core/system-calls.h"

#include <errno.h>

enum {
	THREADS_FREE = 16,	 /* for which the arena has room from the start */
	CLOCK_OF_THREAD = 4 | 2, /* the kernel's CPUCLOCK_PERTHREAD_MASK and CPUCLOCK_SCHED */
	LOOKS = 4, /* threads that are looked at for one that has ended, when one begins */
	TRIES_MAX = 1 << 16, /* probes of a thread that cannot be made: one at each power of two */
};

struct threads {
	struct dw_thread *all;	     /* atomic */
	uint32_t all_n;		     /* atomic */
	uint32_t n;		     /* that have begun, atomic */
	struct dw_thread *looked_at; /* the last one, atomic */
	uint32_t forks;		     /* regions made anew */
	bool has_leader; /* the only thread that a fork's child begins with has met a probe */
};

static struct threads threads;
static struct dw_shadow no_room[2];

struct dw_tree_thread dw_thread_none = {.top = no_room,
					.os_word = &dw_thread_none.os_seen,
					.limit = no_room,
					.counted_end = INT32_MIN};
/* As that one, but for its state. */
static struct dw_tree_thread off = {.top = no_room,
				    .os_word = &off.os_seen,
				    .limit = no_room,
				    .counted_end = INT32_MIN,
				    .state = DWELL_THREAD_OFF};

__thread struct dw_tree_thread *dw_thread_word __attribute__((tls_model("initial-exec"))) =
	&dw_thread_none;
static __thread struct dw_thread *self __attribute__((tls_model("initial-exec")));
/* Probes since the thread could not be made. */
static __thread uint32_t refused __attribute__((tls_model("initial-exec")));
/* @self is from before a fork, and has no room in this process yet. */
static __thread bool is_held __attribute__((tls_model("initial-exec")));

/* Whether the calling thread has its own in this process: not one from before a fork. */
static bool is_in_use(void)
{
	return self && self->forks == threads.forks && !is_held;
}

int32_t dw_thread_offset(void)
{
	return (int32_t)((uint64_t)&dw_thread_word - dw_thread_pointer());
}

/* Put @line to place @i of the region's list, before it is written; the number of places counts
 * those before which none is empty. */
static void publish(uint32_t i, uint32_t line)
{
	struct dw_region_header *region = dw_agent_region();
	uint32_t n = __atomic_load_n(&region->threads_n, __ATOMIC_ACQUIRE);

	__atomic_store_n(&region->threads[i], line, __ATOMIC_SEQ_CST);
	while (n < DWELL_REGION_THREADS && __atomic_load_n(&region->threads[n], __ATOMIC_SEQ_CST))
		if (__atomic_compare_exchange_n(&region->threads_n, &n, n + 1, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			n++;
}

/* Whether place @i of the region's list has memory, and the next, which is looked at, too. */
static bool has_place(uint32_t i)
{
	return dw_agent_have(&dw_agent_region()->threads[i],
			     (i + 1 < DWELL_REGION_THREADS ? 2 : 1) * sizeof(uint32_t));
}

/* A new line for @t in the region's list. */
static bool take_line(struct dw_thread *t)
{
	uint32_t i, line;

	if (__atomic_load_n(&threads.n, __ATOMIC_RELAXED) >= DWELL_REGION_THREADS)
		return false;
	/* First: a place that stayed empty would hide all that follow. */
	line = dw_arena_take(&t->tree.lines, DWELL_THREAD_LINES, DWELL_LINE_OTHER);
	if (!line)
		return false;
	i = __atomic_fetch_add(&threads.n, 1, __ATOMIC_RELAXED);
	if (i >= DWELL_REGION_THREADS || !has_place(i))
		return false;
	t->line = dw_arena_line(dw_arena_base(), line);
	t->line->counted_end = INT32_MIN;
	t->more_pointers = 0;
	t->has_no_counters = false;
	publish(i, line);
	return true;
}

/* Let @t go on with the line and the tree of the thread that had it before, which has ended, as if
 * they were one; the time between the two does not count. */
static struct dw_tree_node *continue_line(struct dw_thread *t)
{
	struct dw_tree_thread *line = t->line;

	if (!line)
		return NULL;
	line->end = 0;
	return dw_arena_line(line->arena, line->has_cells ? t->tree.cells : line->root);
}

/* Begin the tree and the line of @t. Its root, NULL = no room. */
static struct dw_tree_node *start_line(struct dw_thread *t)
{
	struct dw_tree_node *root;
	struct timespec cpu = {0, 0};

	if (!take_line(t))
		return continue_line(t);
	root = dw_tree_start(&t->tree, t->line);
	if (!root)
		return NULL;
	dw_extremes_start(&t->extremes, t->line);
	dw_file_io_start(&t->io);
	t->stacks.extremes = &t->extremes;
	dw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu);
	t->line->start_cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	t->line->start = t->line->last = dw_ticks();
	return root;
}

static struct dw_tree_node *child_kept(void *ctx, struct dw_tree_node *parent,
				       const struct dw_kept *kept)
{
	return dw_tree_child(ctx, parent, kept->key, kept->site);
}

/* The stacks of @t, whose tree has @root: those that a fork's child has brought along, else a new
 * one. With @cells it goes on with these, as what is open had no room as nodes. */
static bool open_stacks(struct dw_thread *t, struct dw_tree_node *root, bool cells, uint64_t record)
{
	struct dw_tree_node *first = NULL;

	if (cells)
		first = dw_tree_make_cells(&t->tree, t->line, &t->extremes);
	t->stacks.lines = &t->tree.lines;
	root = first ? first : root;
	if (!dw_stacks_reopen(&t->stacks, t->line, root, child_kept, &t->tree) &&
	    !dw_stacks_start(&t->stacks, t->line, root, record))
		return false;
	if (first)
		dw_drawn_begin(&t->drawer, &t->stacks);
	return true;
}

/* Forget what @t has of the region before a fork: the child's has nothing of it. */
static void strand(struct dw_thread *t)
{
	t->line = NULL;
	t->tree.lines = t->extremes.lines = (struct dw_lines){0, 0};
	t->os = (struct dw_os_state){0};
}

/* Let @t be the calling thread. False: no room. */
static bool start_thread(struct dw_thread *t, uint64_t record)
{
	bool cells = t->stacks.kept && t->tree.cells;
	struct dw_tree_node *root;
	uint64_t now;

	if (t->forks != threads.forks) /* whether it was in use at the fork or not */
		strand(t);
	root = start_line(t);
	if (!root || !open_stacks(t, root, cells, record))
		return false;
	t->word = &dw_thread_word;
	t->forks = threads.forks;
	t->line->tid = (int32_t)dw_syscall(SYS_gettid);
	if (t->line->tid == (int32_t)dw_sys_getpid())
		threads.has_leader = true;
	dw_os_thread_start(t->line, &t->os);
	now = dw_ticks(); /* what this took is no part of its life */
	t->line->start += now - t->line->last;
	t->line->last = now;
	__atomic_store_n(&t->line->state, DWELL_THREAD_RUNNING, __ATOMIC_RELEASE);
	__atomic_store_n(&t->use, DWELL_THREAD_USED, __ATOMIC_RELEASE);
	return true;
}

static bool change_use(struct dw_thread *t, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&t->use, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* @t's thread has ended: note when. */
static void end_thread(struct dw_thread *t)
{
	t->line->end = t->line->last;
	__atomic_store_n(&t->line->state, DWELL_THREAD_ENDED, __ATOMIC_RELEASE);
	dw_os_thread_end(t->line, &t->os);
}

/* End @t if its thread is there no more. */
static void look_at(struct dw_thread *t)
{
	bool is_stranded, has_ended;

	if (!change_use(t, DWELL_THREAD_USED, DWELL_THREAD_BUSY))
		return;
	is_stranded = t->forks != threads.forks;
	has_ended = is_stranded
			    ? threads.has_leader
			    : t->word == &dw_thread_word || dw_syscall(SYS_tgkill, dw_sys_getpid(),
								       t->line->tid, 0) == -ESRCH;
	if (has_ended && !is_stranded)
		end_thread(t);
	__atomic_store_n(&t->use, has_ended ? DWELL_THREAD_UNUSED : DWELL_THREAD_USED,
			 __ATOMIC_RELEASE);
}

/* What a thread that has ended left, busy. NULL = nothing is found. */
static struct dw_thread *take_unused(void)
{
	struct dw_thread *first = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
	struct dw_thread *t = __atomic_load_n(&threads.looked_at, __ATOMIC_RELAXED);

	for (int i = 0; i < LOOKS && first; i++) {
		t = t && t->next ? t->next : first;
		look_at(t);
	}
	__atomic_store_n(&threads.looked_at, t, __ATOMIC_RELAXED);
	for (t = first; t; t = t->next)
		if (change_use(t, DWELL_THREAD_UNUSED, DWELL_THREAD_BUSY))
			return t;
	return NULL;
}

static struct dw_thread *new_thread(void)
{
	struct dw_thread *t = dw_agent_memory(sizeof(*t));

	if (!t)
		return NULL;
	if (__atomic_fetch_add(&threads.all_n, 1, __ATOMIC_RELAXED) >= THREADS_FREE)
		dw_arena_extend();
	t->own_stack = dw_own_stack_make();
	t->next = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&threads.all, &t->next, t, false, __ATOMIC_RELEASE,
					    __ATOMIC_ACQUIRE))
		;
	return t;
}

/* A thread that begins. */
struct beginning {
	struct dw_thread *t;
	uint64_t record;
	bool is_done;
};

static void begin(void *ctx)
{
	struct beginning *b = ctx;

	b->is_done = start_thread(b->t, b->record);
}

static struct dw_thread *begin_thread(uint64_t record)
{
	struct beginning b = {.record = record};
	struct dw_thread *t;

	if (!dw_agent_is_on() || !dw_agent_is_self())
		return NULL;
	t = take_unused();
	if (!t)
		t = new_thread();
	if (!t)
		return NULL;
	dw_own_stack_set(t->own_stack);
	b.t = t;
	dw_own_stack_call(begin, &b);
	if (b.is_done)
		return t;
	dw_own_stack_set(0);
	__atomic_store_n(&t->use, DWELL_THREAD_UNUSED, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * In a fork's child: give @self, which has come along, a line and a tree in the new region. Where
 * there is no room it stays this thread's, which may stand on its stack, and is tried again.
 */
static bool resume(uint64_t record)
{
	if (!dw_agent_is_on())
		return false;
	if (!is_held && !change_use(self, DWELL_THREAD_USED, DWELL_THREAD_BUSY))
		return false; /* another thread looks at it */
	is_held = !start_thread(self, record);
	return !is_held;
}

void dw_thread_end_self(void)
{
	struct dw_thread *t = dw_thread_known();

	if (!t || !change_use(t, DWELL_THREAD_USED, DWELL_THREAD_BUSY))
		return;
	end_thread(t);
	dw_own_stack_set(0);
	dw_thread_off();
	__atomic_store_n(&t->use, DWELL_THREAD_UNUSED, __ATOMIC_RELEASE);
}

/* Note how long @t's thread, which goes on, has used the processor. Its clock: clock_gettime(2). */
static void read_clock(struct dw_thread *t)
{
	struct timespec cpu;
	uint64_t clock;

	if (__atomic_load_n(&t->use, __ATOMIC_ACQUIRE) != DWELL_THREAD_USED)
		return; /* it may have no line */
	clock = (uint64_t) ~(int64_t)t->line->tid << 3 | CLOCK_OF_THREAD;
	if (!dw_syscall(SYS_clock_gettime, clock, &cpu))
		t->line->end_cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
}

void dw_threads_end(void)
{
	struct dw_thread *t = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);

	for (; t && dw_agent_may_call(); t = t->next) {
		if (t == self)
			continue;
		look_at(t);
		read_clock(t);
	}
}

void dw_thread_off(void)
{
	self = NULL;
	is_held = false;
	dw_thread_word = &off;
}

/* Whether one of the probes of a thread that could not be made is one to try it again. */
static bool is_due(void)
{
	return !(refused & (refused - 1));
}

/* The calling thread could not be made, by whatever cause. It counts as long as this holds. */
static void refuse(void)
{
	if (!refused)
		dw_agent_drop(DWELL_DROP_THREADS);
	refused++;
	if (!dw_agent_may_call())
		dw_agent_drop(DWELL_DROP_THREADS_FILTERED);
	if (refused > TRIES_MAX || !dw_agent_is_on() || !dw_agent_may_call())
		dw_thread_off();
}

struct dw_thread *dw_thread_self(uint64_t record)
{
	bool is_begun = false;

	if (is_in_use())
		return self;
	if (self && is_due())
		is_begun = resume(record);
	else if (!self && is_due())
		is_begun = (self = begin_thread(record));
	if (!is_begun) {
		refuse();
		return NULL;
	}
	if (refused)
		dw_agent_drop_n(DWELL_DROP_THREADS, -1);
	refused = 0;
	return self;
}

/* Whether a slow path of @t goes on, or one in which it begins or ends. */
static bool is_busy(const struct dw_thread *t)
{
	uint32_t use = __atomic_load_n(&t->use, __ATOMIC_ACQUIRE);

	return use == DWELL_THREAD_BUSY ||
	       (use == DWELL_THREAD_USED && t->forks == threads.forks &&
		__atomic_load_n(&t->line->slow_since, __ATOMIC_RELAXED) &&
		t->line->state != DWELL_THREAD_ENDED);
}

bool dw_threads_are_busy(void)
{
	const struct dw_thread *t = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);

	while (t && (t == self || !is_busy(t)))
		t = t->next;
	return t;
}

struct dw_thread *dw_thread_known(void)
{
	return !dw_agent_is_retired() && is_in_use() && dw_agent_has_own_region() ? self : NULL;
}

void dw_thread_charge_plain(struct dw_thread *t, uint64_t elapsed, uint32_t overhead)
{
	struct dw_tree_node *node = t->line->current;

	node->elapsed += elapsed;
	node->overhead = (node->overhead + overhead) & UINT32_MAX >> 1;
}

void dw_thread_charge(struct dw_thread *t, const struct dw_interval *interval)
{
	struct dw_tree_node *node = t->line->current;
	bool has_event = interval->os || interval->switches || interval->io_calls ||
			 interval->blocking_calls;
	struct dw_tree_os *os = NULL;

	dw_thread_charge_plain(t, interval->elapsed, interval->overhead);
	if (has_event || interval->os_probe)
		dw_activation_add_os(&t->stacks, interval);
	if (t->line->has_cells && (interval->os || interval->os_probe))
		dw_drawn_add_os(&t->drawer, &t->stacks, &t->tree, interval);
	if (has_event || interval->os_probe)
		os = dw_tree_os(&t->tree, node);
	if (os)
		dw_interval_add(os, interval);
}

/* Where the program uses its stack from. */
static uint64_t stack_pointer(void)
{
	uint64_t sp = dw_slow_sp();

	return sp ? sp - DWELL_RECORD_CALL_OUT : (uint64_t)__builtin_frame_address(0);
}

void dw_threads_forked(void)
{
	if (is_in_use())
		dw_stacks_keep(&self->stacks, stack_pointer());
	dw_arena_forked();
	threads.n = 0;
	threads.forks++;
	threads.has_leader = false;
	refused = 0;
	/* Whatever comes of it here: trampolines must not go by the parent's line and its event. */
	dw_thread_word = &dw_thread_none;
}
