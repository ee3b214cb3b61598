/*
 * Threads; see thread.h. A thread that begins takes over the memory of one that has ended, which
 * the kernel is asked about: nobody tells.
 */
#include "agent/clr/thread.h"

#include "agent/clr/loader.h"
#include "agent/clr/overflow-table.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>

enum { LOOKS = 4 }; /* threads that are looked at for one that has ended, when one begins */

struct threads {
	struct dw_clr_self *all;       /* atomic */
	struct dw_clr_self *looked_at; /* atomic */
	uint64_t first_stack_high;
};

static struct threads threads;
static __thread struct dw_clr_self *self __attribute__((tls_model("initial-exec")));
static __thread bool is_refused __attribute__((tls_model("initial-exec")));

void dw_clr_threads_start(void)
{
	void *const *end = dw_loader_first("__libc_stack_end");

	threads.first_stack_high = end ? (uint64_t)*end : 0;
}

/* The first thread's stack ends where the loader says, those of others at their descriptors. */
static uint64_t stack_high(int32_t tid)
{
	return tid == (int32_t)dw_sys_getpid() ? threads.first_stack_high : dw_thread_pointer();
}

static bool change_use(struct dw_clr_self *t, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&t->use, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void look_at(struct dw_clr_self *t)
{
	bool has_ended;

	if (!change_use(t, DWELL_CLR_USED, DWELL_CLR_BUSY))
		return;
	has_ended = dw_syscall(SYS_tgkill, dw_sys_getpid(), t->shown->tid, 0) == -ESRCH;
	__atomic_store_n(&t->use, has_ended ? DWELL_CLR_UNUSED : DWELL_CLR_USED, __ATOMIC_RELEASE);
}

/* The memory of a thread that has ended, busy. NULL = none is found. */
static struct dw_clr_self *take_unused(void)
{
	struct dw_clr_self *first = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
	struct dw_clr_self *t = __atomic_load_n(&threads.looked_at, __ATOMIC_RELAXED);

	for (int i = 0; i < LOOKS && first; i++) {
		t = t && t->next ? t->next : first;
		look_at(t);
	}
	__atomic_store_n(&threads.looked_at, t, __ATOMIC_RELAXED);
	for (t = first; t; t = t->next)
		if (change_use(t, DWELL_CLR_UNUSED, DWELL_CLR_BUSY))
			return t;
	return NULL;
}

static struct dw_clr_self *new_self(void)
{
	struct dw_clr_self *t = dw_agent_memory(sizeof(*t));

	if (!t)
		return NULL;
	t->use = DWELL_CLR_BUSY;
	t->next = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&threads.all, &t->next, t, false, __ATOMIC_RELEASE,
					    __ATOMIC_ACQUIRE))
		;
	return t;
}

/* Let @t be the calling thread: a new row, and a stack without frames. False: no room. */
static bool start_self(struct dw_clr_self *t)
{
	uint32_t row = dw_table_take(DWELL_CLR_THREADS, 1), root;
	struct dw_clr_node *nodes;

	root = row ? dw_table_take(DWELL_CLR_NODES, 2) : 0;
	if (!root)
		return false;
	nodes = dw_table_row(DWELL_CLR_NODES, root);
	nodes[1].parent = root;
	__atomic_store_n(&nodes[0].frame, DWELL_CLR_FRAME_ROOT, __ATOMIC_RELEASE);
	__atomic_store_n(&nodes[1].frame, DWELL_CLR_FRAME_TRUNCATED, __ATOMIC_RELEASE);
	t->row = row;
	t->root = root;
	t->nodes = t->nodes_end = 0; /* children have higher numbers than their parents */
	t->truncated = root + 1;
	t->last_class = 0;
	t->path.n = t->path.nodes_n = t->shared = 0;
	dw_overflow_forget(t);
	t->context = NULL;
	t->context_counted = 0;
	t->shown = dw_table_row(DWELL_CLR_THREADS, row);
	t->shown->start_ns = dw_sys_now_ns();
	t->stack_high = stack_high((int32_t)dw_syscall(SYS_gettid));
	__atomic_store_n(&t->shown->tid, (int32_t)dw_syscall(SYS_gettid), __ATOMIC_RELEASE);
	__atomic_store_n(&t->use, DWELL_CLR_USED, __ATOMIC_RELEASE);
	return true;
}

/* Apart from dw_clr_self(), which is called for each object and needs no registers saved. */
static __attribute__((noinline, cold)) struct dw_clr_self *begin(void)
{
	struct dw_clr_self *t;

	if (is_refused || !dw_agent_is_self())
		return NULL;
	t = take_unused();
	if (!t)
		t = new_self();
	if (t && start_self(t))
		return self = t;
	if (t)
		__atomic_store_n(&t->use, DWELL_CLR_UNUSED, __ATOMIC_RELEASE);
	is_refused = true;
	return NULL;
}

DWELL_HOT struct dw_clr_self *dw_clr_self(void)
{
	return __builtin_expect(self != NULL, 1) ? self : begin();
}

struct dw_clr_self *dw_clr_threads(void)
{
	return __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE);
}
