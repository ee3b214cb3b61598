/*
 * Collections; see collection.h.
 *
 * Generations are those before the collection, as their bounds were when it began. Only what the
 * collection condemned is reported by the runtime: an object of a condemned generation that is in
 * no piece that survived has gone. When that cannot be followed, nothing is known of any object
 * any more.
 *
 * A collection takes longer because we are told of it: in our own callbacks, while the runtime
 * counts young objects by class, between calls that tell one row of survivors, and from the first
 * root that it shows to the end. That is taken out of the pause. What goes unseen is short: how it
 * finds the first survivors and the first roots.
 */
#include "agent/clr/collection.h"

#include "agent/clr/objects.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/clr/tree.h"
#include "agent/clr/walk.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { BOUNDS = 1 << 19, GENERATIONS = 8, TELLERS = 64, TOLD_AT_ONCE = 512 };

/* A thread that tells of survivors: the server's collector has several at a time. */
struct teller {
	uint64_t thread; /* atomic, 0 = none */
	uint64_t ns, left_ns;
	bool goes_on; /* its last call was full: the next one tells the rest */
};

struct collections {
	struct dw_com_range *bounds; /* room for BOUNDS */
	struct dw_spans generations;
	struct dw_sweep sweep;
	bool is_running, is_lost;
	bool is_compacting;	 /* atomic */
	uint64_t promoted_bytes; /* atomic */
	uint32_t n;
	uint32_t trigger_thread, trigger_node; /* of what is to begin */
	uint64_t suspend_ns, start_ns;
	struct dw_clr_gc *row;	  /* of the one that goes on, NULL = none, or no room */
	struct dw_clr_gc *paused; /* of one that has ended, while threads may still be stopped */
	struct teller tellers[TELLERS];
	uint64_t added_ns, begun_ns, shown_ns; /* shown_ns: 0 = not yet */
};

static struct collections all;

static void died(uint32_t group, uint32_t generation, uint64_t bytes)
{
	struct dw_clr_group *g = dw_table_row(DWELL_CLR_GROUPS, group);
	struct dw_clr_count *count = &g->collected;
	struct dw_clr_old *old;
	uint32_t row;

	if (generation) {
		row = g->old ? g->old : dw_table_take(DWELL_CLR_OLDS, 1);
		if (!row || generation >= DWELL_CLR_GENERATIONS) {
			dw_tables_count(DWELL_CLR_UNTRACKED, 1);
			return;
		}
		old = dw_table_row(DWELL_CLR_OLDS, row);
		if (!g->old)
			__atomic_store_n(&old->group, group, __ATOMIC_RELEASE);
		__atomic_store_n(&g->old, row, __ATOMIC_RELEASE);
		count = &old->collected[generation - 1];
	}
	count->objects++;
	count->bytes += bytes;
}

bool dw_collections_start(void)
{
	all.bounds = dw_agent_memory(BOUNDS * sizeof(*all.bounds));
	all.sweep.generations = &all.generations;
	all.sweep.died = died;
	return all.bounds && dw_spans_start(&all.generations, BOUNDS);
}

/* A thread hears that it has let the others go when they run already: one of them may have stopped
 * all again, for the next collection, so whoever comes first ends the pause. */
void dw_collection_resumed(void)
{
	struct dw_clr_gc *row = __atomic_exchange_n(&all.paused, NULL, __ATOMIC_ACQ_REL);

	if (row)
		row->pause_ns = dw_sys_now_ns() - row->start_ns;
}

void dw_collection_suspends(void)
{
	dw_collection_resumed();
	all.suspend_ns = dw_sys_now_ns();
}

/* Read the heap's pieces. Their bytes; false in *@ret_is_whole: there are more than we can hold. */
static uint64_t read_bounds(bool *ret_is_whole)
{
	uint32_t n = BOUNDS;
	uint64_t bytes = 0;

	*ret_is_whole = dw_runtime_generations(all.bounds, &n) >= 0 && n <= all.generations.room;
	for (uint32_t i = 0; i < n && *ret_is_whole; i++)
		bytes += all.bounds[i].bytes;
	all.generations.n = *ret_is_whole ? n : 0;
	return bytes;
}

static void sort_generations(void)
{
	for (uint32_t i = 0; i < all.generations.n; i++)
		all.generations.v[i] = (struct dw_span){all.bounds[i].start, all.bounds[i].reserved,
							(uint32_t)all.bounds[i].generation};
	dw_spans_sort(&all.generations);
}

static void begin_row(bool is_induced, uint64_t bytes)
{
	uint32_t at = dw_table_take(DWELL_CLR_GCS, 1);
	struct dw_clr_gc *row = dw_table_row(DWELL_CLR_GCS, at);

	all.row = at ? row : NULL;
	if (!at)
		return;
	for (uint32_t g = 0; g <= 2; g++)
		if (all.sweep.is_condemned[g])
			row->generation = g;
	row->is_induced = is_induced;
	row->thread = all.trigger_thread;
	row->node = all.trigger_node;
	row->start_ns = all.suspend_ns ? all.suspend_ns : all.start_ns;
	row->before_bytes = bytes;
	__atomic_store_n(&row->number, all.n, __ATOMIC_RELEASE);
}

/* What begins next was triggered by the thread of row @thread with the stack @node, 0 = not known.
 */
static void collection_triggered(uint32_t thread, uint32_t node)
{
	all.trigger_thread = thread;
	all.trigger_node = node;
}

/* Nothing is known of any object any more. */
static void lose(void)
{
	all.is_lost = true;
	dw_objects_stop();
	dw_tables_head()->facts[DWELL_CLR_HAS_LIFETIME] = 0;
}

/* Forget what the last collection took for us. */
static void begin_added(void)
{
	for (int i = 0; i < TELLERS; i++)
		all.tellers[i] = (struct teller){0};
	all.added_ns = 0;
	all.shown_ns = 0;
}

void dw_collection_begins(int32_t n, const int32_t *condemned, bool is_induced)
{
	bool is_whole;
	uint64_t bytes;

	all.start_ns = dw_sys_now_ns();
	begin_added();
	bytes = read_bounds(&is_whole);
	all.n++;
	all.is_running = true;
	all.is_compacting = false;
	all.promoted_bytes = 0;
	for (int32_t g = 0; g < GENERATIONS; g++)
		all.sweep.is_condemned[g] = g < n && condemned[g];
	sort_generations();
	if (!all.is_lost && !(is_whole && dw_objects_begin(&all.sweep)))
		lose();
	begin_row(is_induced, bytes);
	collection_triggered(0, 0);
	all.begun_ns = dw_sys_now_ns();
	all.added_ns = all.begun_ns - all.start_ns;
}

void dw_collection_counted(void)
{
	if (all.is_running)
		all.added_ns += dw_sys_now_ns() - all.begun_ns;
}

void dw_collection_shows(void)
{
	if (all.is_running && !all.shown_ns)
		all.shown_ns = dw_sys_now_ns();
}

int32_t dw_collection_generation(uint64_t address)
{
	const struct dw_span *s = dw_spans_find(&all.generations, address);

	return s && s->value < DWELL_CLR_GENERATIONS ? (int32_t)s->value : -1;
}

/* The calling thread's place, NULL = there are too many. */
static struct teller *find_teller(void)
{
	uint64_t self = (uint64_t)__builtin_thread_pointer();

	for (int i = 0; i < TELLERS; i++) {
		struct teller *t = &all.tellers[i];
		uint64_t thread = __atomic_load_n(&t->thread, __ATOMIC_RELAXED);

		if (thread == self ||
		    (!thread && __atomic_compare_exchange_n(&t->thread, &thread, self, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
			return t;
	}
	return NULL;
}

static void take_survivors(uint32_t n, const uint64_t *from, const uint64_t *then,
			   const uint64_t *bytes)
{
	uint64_t sum = 0;
	bool is_moved = false;

	for (uint32_t i = 0; i < n; i++) {
		sum += bytes[i];
		is_moved |= then[i] != from[i];
	}
	__atomic_fetch_add(&all.promoted_bytes, sum, __ATOMIC_RELAXED);
	if (is_moved)
		__atomic_store_n(&all.is_compacting, true, __ATOMIC_RELAXED);
	if (!all.is_lost)
		dw_objects_survive(n, from, then, bytes);
}

void dw_collection_survivors(uint32_t n, const uint64_t *from, const uint64_t *to,
			     const uint64_t *bytes)
{
	uint64_t begin_ns = dw_sys_now_ns();
	struct teller *t;

	if (!all.is_running)
		return;
	take_survivors(n, from, to ? to : from, bytes);
	t = find_teller();
	if (!t)
		return;
	if (t->goes_on)
		begin_ns = t->left_ns;
	t->left_ns = dw_sys_now_ns();
	t->ns += t->left_ns - begin_ns;
	t->goes_on = n == TOLD_AT_ONCE;
}

/* What the collection that ends has taken for us, which threads did side by side. */
static uint64_t sum_added(void)
{
	uint64_t longest = 0;

	for (int i = 0; i < TELLERS; i++)
		if (all.tellers[i].ns > longest)
			longest = all.tellers[i].ns;
	return all.added_ns + longest + dw_sys_now_ns() - all.shown_ns;
}

static void end_row(void)
{
	bool is_whole;

	if (!all.row)
		return;
	all.row->promoted_bytes = all.promoted_bytes;
	all.row->after_bytes = read_bounds(&is_whole);
	all.row->is_compacting = all.is_compacting;
	all.row->pause_ns = dw_sys_now_ns() - all.row->start_ns;
	all.row->added_us = (uint32_t)(sum_added() / 1000);
	__atomic_store_n(&all.row->is_ended, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&all.paused, all.row, __ATOMIC_RELEASE);
	all.row = NULL;
}

void dw_collection_ends(void)
{
	if (!all.is_running)
		return;
	dw_collection_shows();
	if (!all.is_lost)
		dw_objects_end(&all.sweep);
	end_row();
	all.is_running = false;
}

/*
 * What triggers collections. With the workstation's collector the thread that triggers a collection
 * stops the others itself. The server's collector has threads of its own for that, and only an
 * event tells of the other one. A session of events makes the program allocate some 600 kB more
 * when it starts (the runtime's managed half writes a manifest), so there is one only with threads
 * of that name.
 */

#define SERVER_THREAD ".NET Server GC\n"

enum { ENTRIES_BYTES = 2048, ENTRIES_READS = 64, PATH_BYTES = 48 };

/* What getdents64() gives. */
struct entry {
	uint64_t inode, next;
	uint16_t bytes;
	uint8_t kind;
	char name[];
};

struct triggers {
	bool has_stacks, is_known, is_server;
};

static struct triggers triggers;

void dw_trigger_start(bool has_stacks)
{
	triggers.has_stacks = has_stacks;
}

/* Whether the thread @tid, a number as text, is one of the server's collector. */
static bool is_server_thread(const char *tid)
{
	char path[PATH_BYTES] = "/proc/self/task/", name[32];

	if (!dw_text_append(path, sizeof(path), tid) ||
	    !dw_text_append(path, sizeof(path), "/comm"))
		return false;
	name[dw_read_file(path, name, sizeof(name) - 1)] = 0;
	return dw_text_equal(name, SERVER_THREAD);
}

static bool is_server_in(const char *entries, long bytes)
{
	long at = 0;

	while (at < bytes) {
		const struct entry *e = (const struct entry *)(entries + at);

		if (is_server_thread(e->name))
			return true;
		at += e->bytes;
	}
	return false;
}

static bool has_server_threads(void)
{
	int fd = dw_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	_Alignas(8) char entries[ENTRIES_BYTES];
	bool is_found = false;
	long n;

	if (fd < 0)
		return false;
	for (int i = 0; i < ENTRIES_READS && !is_found; i++) {
		n = dw_syscall(SYS_getdents64, fd, entries, sizeof(entries));
		if (n <= 0)
			break;
		is_found = is_server_in(entries, n);
	}
	dw_sys_close(fd);
	return is_found;
}

void dw_trigger_module_loaded(void)
{
	if (triggers.is_known)
		return;
	triggers.is_known = true;
	triggers.is_server = has_server_threads();
	if (triggers.is_server)
		dw_runtime_listen(DWELL_EVENT_WORD_GC, DWELL_EVENT_LEVEL_INFORMATIONAL);
}

static void note(uint64_t base)
{
	struct dw_clr_self *t = dw_clr_self();

	if (t)
		collection_triggered(
			t->row, triggers.has_stacks && dw_walk(t, base) ? dw_clr_tree_node(t) : 0);
}

void dw_trigger_suspends(uint64_t base)
{
	if (!triggers.is_server)
		note(base);
}

void dw_trigger_said(uint64_t base)
{
	if (triggers.is_server)
		note(base);
}

/*
 * The last collection. The runtime refuses to collect for a thread that runs
 * one of its callbacks, so a thread is made for it, by the C library: runtime code runs on it.
 */

enum { STATE_RUNS, STATE_DONE, STATE_REFUSED };

#define LOOK_NS	   1000000
#define PATIENCE_S 60

typedef int create_fn(uint64_t *ret, const void *attributes, void *(*fn)(void *), void *ctx);
typedef int detach_fn(uint64_t thread);

static void *collect(void *ctx)
{
	uint32_t *state = ctx;
	int32_t result = dw_runtime_collect();

	__atomic_store_n(state, result >= 0 ? STATE_DONE : STATE_REFUSED, __ATOMIC_RELEASE);
	return NULL;
}

bool dw_last_collection(void)
{
	static uint32_t state;
	create_fn *create = (create_fn *)dw_loader_first("pthread_create");
	detach_fn *detach = (detach_fn *)dw_loader_first("pthread_detach");
	uint64_t thread, until_ns = dw_sys_now_ns() + PATIENCE_S * 1000000000ull;

	if (!create || !detach || create(&thread, NULL, collect, &state))
		return false;
	detach(thread);
	while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == STATE_RUNS &&
	       dw_sys_now_ns() < until_ns)
		dw_sys_sleep_ns(LOOK_NS);
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == STATE_DONE;
}
