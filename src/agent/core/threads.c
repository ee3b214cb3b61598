/*
 * Threads; see threads.h.
 *
 * A thread's own memory is mapped at its first probe and stays in a list. The gates' word leads to
 * a line without room until then, and after that to the thread's own. In a fork's child the one
 * thread that is left begins again.
 */
#include "agent/core/threads.h"

#include "agent/core/agent-internal.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/core/thread.h"
#include "agent/core/ticks-x86-64.h"

enum {
	THREAD_LINES = sizeof(struct dw_tree_thread) / DWELL_LINE_BYTES,
	THREADS_FREE = 16, /* for which the arena has room from the start */
	THREAD_BYTES = 1 << 20,
};

struct threads {
	struct dw_thread *all; /* atomic */
	uint32_t n;	       /* that have begun, atomic */
	uint32_t forks;	       /* regions made anew */
};

static struct threads threads;
static struct dw_shadow no_room[2];

struct dw_tree_thread dw_thread_none = {
	.top = no_room, .os_word = &dw_thread_none.os_seen, .limit = no_room};

__thread struct dw_tree_thread *dw_thread_word __attribute__((tls_model("initial-exec"))) =
	&dw_thread_none;
static __thread struct dw_thread *self __attribute__((tls_model("initial-exec")));
static __thread bool is_refused __attribute__((tls_model("initial-exec")));

int32_t dw_thread_offset(void)
{
	return (int32_t)((uint64_t)&dw_thread_word - dw_thread_pointer());
}

static void *map(uint64_t bytes)
{
	void *at = dw_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

	return dw_is_mapped(at) ? at : NULL;
}

/* A line for @t in the region's list. */
static bool take_line(struct dw_thread *t)
{
	uint32_t i = __atomic_fetch_add(&threads.n, 1, __ATOMIC_RELAXED), line;

	if (i >= DWELL_REGION_THREADS)
		return false;
	line = dw_arena_take(&t->tree.lines, THREAD_LINES, DWELL_LINE_OTHER);
	if (!line)
		return false;
	t->line = dw_arena_line(dw_arena_base(), line);
	__atomic_store_n(&dw_agent_region()->threads[i], line, __ATOMIC_RELEASE);
	__atomic_fetch_add(&dw_agent_region()->threads_n, 1, __ATOMIC_RELEASE);
	if (i >= THREADS_FREE)
		dw_arena_extend(THREAD_BYTES);
	return true;
}

/* Begin the tree and the line of @t. Its root, NULL = no room. */
static struct dw_tree_node *start_line(struct dw_thread *t)
{
	struct dw_tree_thread *line;
	struct dw_tree_node *root;
	struct timespec cpu = {0, 0};

	if (!take_line(t))
		return NULL;
	root = dw_tree_start(&t->tree);
	if (!root)
		return NULL;
	line = t->line;
	line->arena = dw_arena_base();
	line->root = dw_arena_index(line->arena, root);
	line->current = root;
	line->tid = (int32_t)dw_syscall(SYS_gettid);
	dw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu);
	line->start_cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	t->forks = threads.forks;
	return root;
}

/* All stands: from now on time counts. */
static void run(struct dw_thread *t)
{
	dw_os_thread_start(t->line, &t->os);
	t->line->start = t->line->last = dw_ticks();
	__atomic_store_n(&t->line->state, DWELL_THREAD_RUNNING, __ATOMIC_RELEASE);
}

static struct dw_thread *start_thread(uint64_t record)
{
	struct dw_thread *t;
	struct dw_tree_node *root;

	if (!dw_agent_is_on() || !dw_agent_is_self())
		return NULL;
	t = map(sizeof(*t));
	if (!t)
		return NULL;
	root = start_line(t);
	if (!root || !dw_stacks_start(&t->stacks, t->line, root, record)) {
		dw_sys_munmap(t, sizeof(*t));
		return NULL;
	}
	run(t);
	t->next = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&threads.all, &t->next, t, false, __ATOMIC_RELEASE,
					    __ATOMIC_ACQUIRE))
		;
	return t;
}

/* In a fork's child: give @t, which has come along, a line and a tree in the new region. */
static bool resume(struct dw_thread *t, uint64_t record)
{
	struct dw_tree_node *root;

	t->tree.lines = (struct dw_lines){0, 0};
	t->stacks = (struct dw_stacks){0};
	t->os = (struct dw_os_state){0};
	root = dw_agent_is_on() ? start_line(t) : NULL;
	if (!root || !dw_stacks_start(&t->stacks, t->line, root, record))
		return false;
	run(t);
	return true;
}

struct dw_thread *dw_thread_self(uint64_t record)
{
	if (is_refused)
		return NULL;
	if (!self)
		self = start_thread(record);
	else if (self->forks != threads.forks && !resume(self, record))
		self = NULL;
	if (self)
		return self;
	is_refused = true;
	dw_agent_drop(DWELL_DROP_THREADS);
	return NULL;
}

struct dw_thread *dw_thread_known(void)
{
	return self && self->forks == threads.forks && dw_agent.wiped->is_same_process ? self
										       : NULL;
}

static void add_os(struct dw_tree_os *os, const struct dw_interval *interval)
{
	os->ticks += interval->os;
	os->probe_ticks += interval->os_probe;
	os->cpu_ticks += interval->os_cpu;
	os->blocked_ticks += interval->os_blocked;
	os->switches += interval->switches;
	os->io_calls += interval->io_calls;
	os->blocking_calls += interval->blocking_calls;
}

void dw_thread_charge(struct dw_thread *t, const struct dw_interval *interval)
{
	struct dw_tree_node *node = t->line->current;
	struct dw_tree_os *os = NULL;

	node->elapsed += interval->elapsed;
	if (interval->overhead < UINT32_MAX - node->overhead)
		node->overhead += interval->overhead;
	else
		node->overhead = UINT32_MAX;
	if (interval->os || interval->os_probe || interval->switches || interval->io_calls ||
	    interval->blocking_calls)
		os = dw_tree_os(&t->tree, node);
	if (os)
		add_os(os, interval);
}

void dw_threads_forked(void)
{
	dw_arena_forked();
	threads.n = 0;
	threads.forks++;
}
