/*
 * Unit tests of reading call trees: regions written line by line, read at chosen moments with a
 * clock of one nanosecond a tick.
 */
#include "check.h"
#include "scratch.h"

#include "collect/calls/call-ahead.h"
#include "collect/calls/calls.h"
#include "wire/system-calls.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "region-writer.h"

enum {
	LINES = 4096, /* of an arena, in two chunks */
	THREAD = 1,
	ROOT = THREAD + sizeof(struct dw_tree_thread) / DWELL_LINE_BYTES,
	FIRST, /* free for tests */
	START = 1000,
	BASE = 1 << 20, /* address of the arena in the target */
	/* sites with so many trampolines around them are multiples of it */
	WITH_TRAMPOLINE = 1 << 16,
};

union line {
	struct dw_tree_node node;
	struct dw_tree_os os;
};

/* A process with one thread, and its reader. */
struct process {
	struct region_writer w;
	union line *arena;
	struct dw_tree_thread *thread;
	struct dw_profile p;
	struct dw_region_calls *r;
	struct dw_region_clock clock;
	uint32_t slice;
};

/* Functions have keys below 100, their frames are key + 1; what is above is external. */
static int name_callee(void *ctx, uint64_t key, uint32_t *entry, bool *is_external)
{
	(void)ctx;
	*entry = key == DWELL_KEY_ROOT ? 0 : (uint32_t)key + 1;
	*is_external = key >= 100;
	return 0;
}

static int name_site(void *ctx, uint64_t caller, uint32_t low, bool is_return,
		     struct dw_region_site *ret)
{
	(void)ctx;
	(void)caller;
	*ret = (struct dw_region_site){low + is_return, low / WITH_TRAMPOLINE};
	return 0;
}

/* With an arena of @lines. */
static void open_arena(struct process *x, uint32_t lines)
{
	static const struct dw_region_names names = {name_callee, name_site, NULL};
	size_t bytes = sizeof(struct dw_region_header), half = lines / 2 * DWELL_LINE_BYTES;
	static unsigned n;
	char name[16];

	*x = (struct process){.clock = {{START, 5}, 1.0}};
	snprintf(name, sizeof name, "%u", n++);
	bytes = (bytes + 4095) & ~(size_t)4095;
	x->w = region_write(".", name, bytes + 2 * half);
	if (!x->w.h || dw_region_calls_new(&x->p, 1, &names, &x->r))
		abort();
	x->arena = (union line *)((char *)x->w.h + bytes);
	x->w.h->chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_ARENA, 0, bytes, half};
	x->w.h->chunks[1] = (struct dw_region_chunk){DWELL_REGION_CHUNK_COUNTS, 0, bytes, 8};
	x->w.h->chunks[2] =
		(struct dw_region_chunk){DWELL_REGION_CHUNK_ARENA, 0, bytes + half, half};
	x->w.h->chunk_n = 3;
	x->w.h->arena_base = BASE;
	x->w.h->arena_lines = lines;
	x->w.h->system_calls_seen = 1;
	x->w.h->threads[0] = THREAD;
	x->w.h->threads_n = 1;
	x->thread = (struct dw_tree_thread *)&x->arena[THREAD];
	x->thread->state = DWELL_THREAD_RUNNING;
	x->thread->root = ROOT;
	x->thread->tid = 77;
	x->thread->start = x->thread->last = START + 100;
	x->thread->current = (struct dw_tree_node *)(uintptr_t)(BASE + ROOT * DWELL_LINE_BYTES);
	x->arena[ROOT].node.key = DWELL_KEY_ROOT;
}

static void open_process(struct process *x)
{
	open_arena(x, LINES);
}

static void close_process(struct process *x)
{
	dw_region_calls_free(x->r);
	dw_profile_release(&x->p);
	region_leave(&x->w);
}

/* Read at @ticks since the start; 0 = of a killed process. */
static int read_at(struct process *x, uint64_t ticks, bool is_last)
{
	struct dw_region_head head;
	struct dw_region_reading now = {.head = &head,
					.until = ticks ? START + ticks : 0,
					.clock = &x->clock,
					.slice = x->slice++,
					.is_last = is_last};
	int rc = dw_region_read_head(x->w.fd, &head);

	return rc ? rc : dw_region_calls_read(x->r, x->w.fd, &now);
}

static void put_node(struct process *x, uint32_t line, uint32_t parent, uint64_t key)
{
	x->arena[line].node.key = key;
	x->arena[line].node.site = line * 10;
	x->arena[line].node.parent = parent;
}

/* The thread's last event, which left it in the node at @line. */
static void put_event(struct process *x, uint64_t ticks, uint32_t line)
{
	x->thread->last = START + ticks;
	x->thread->current = (struct dw_tree_node *)(uintptr_t)(BASE + line * DWELL_LINE_BYTES);
}

/* The sum of what the node with the frame @entry was given, in @slice or in all (-1). */
static struct dw_call_values sum_of(const struct process *x, uint32_t entry, int slice)
{
	struct dw_call_values sum = {0};

	dw_vec_each(d, &x->p.calls.deltas) {
		const struct dw_call_node *n = dw_calls_get(&x->p.calls, d->node);

		if (n->entry == entry && (slice < 0 || d->slice == (uint32_t)slice))
			dw_call_values_add(&sum, &d->values);
	}
	return sum;
}

TEST(tree_becomes_nodes_and_differences)
{
	struct process x;
	const struct dw_call_node *n;
	const struct dw_thread *t;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 20);
	put_node(&x, LINES - 1, FIRST + 1, 100);
	x.arena[ROOT].node.elapsed = 50;
	x.arena[FIRST].node.elapsed = 300;
	x.arena[FIRST].node.calls = 1;
	x.arena[FIRST + 1].node.elapsed = 200;
	x.arena[FIRST + 1].node.calls = 2;
	x.arena[LINES - 1].node.elapsed = 250;
	x.arena[LINES - 1].node.calls = 5;
	put_event(&x, 900, FIRST);
	CHECK_INT(read_at(&x, 900, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 4);
	n = dw_calls_get(&x.p.calls, 1);
	CHECK_INT(n->flags, DWELL_CALL_ROOT);
	n = dw_calls_get(&x.p.calls, 3);
	CHECK_INT(n->parent, 2);
	CHECK_INT(n->site, (FIRST + 1) * 10 + 1);
	CHECK_INT(n->flags, 0);
	n = dw_calls_get(&x.p.calls, 4);
	CHECK_INT(n->parent, 3);
	CHECK_INT(n->site, (LINES - 1) * 10);
	CHECK_INT(n->flags, DWELL_CALL_EXTERNAL);
	CHECK_INT(sum_of(&x, 0, -1).elapsed_ns, 50);
	CHECK_INT(sum_of(&x, 21, -1).elapsed_ns, 200);
	CHECK_INT(sum_of(&x, 21, -1).calls, 2);
	x.arena[FIRST + 1].node.elapsed = 210;
	x.arena[FIRST + 1].node.calls = 3;
	x.arena[FIRST].node.elapsed = 390;
	put_event(&x, 1000, FIRST);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(sum_of(&x, 21, 1).elapsed_ns, 10);
	CHECK_INT(sum_of(&x, 21, 1).calls, 1);
	CHECK_INT(sum_of(&x, 11, 1).application_ns, 90);
	CHECK_INT(sum_of(&x, 101, 1).calls, 0);
	CHECK_INT(read_at(&x, 1000, true), 0);
	t = dw_threads_get(&x.p.threads, 1);
	CHECK_INT(t->tid, 77);
	CHECK_INT(t->begin_ns, 100);
	CHECK_INT(t->end_ns, 1000);
	CHECK_INT(dw_region_calls_stats(x.r)->sum.elapsed_ns, 900);
	CHECK_INT(dw_region_calls_stats(x.r)->lifetime_ns, 900);
	close_process(&x);
}

TEST(system_takes_its_part)
{
	struct process x;
	struct dw_call_values v;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	x.arena[FIRST].node = (struct dw_tree_node){
		.elapsed = 1000, .calls = 1, .key = 10, .parent = ROOT, .os = FIRST + 1};
	x.arena[FIRST + 1].os = (struct dw_tree_os){.ticks = 600,
						    .probe_ticks = 900,
						    .cpu_ticks = 100,
						    .blocked_ticks = 500,
						    .ready_ticks = 200,
						    .switches = 2,
						    .io_calls = 1,
						    .mark = DWELL_MARK_OS};
	put_event(&x, 1100, FIRST);
	CHECK_INT(read_at(&x, 1100, false), 0);
	v = sum_of(&x, 11, -1);
	CHECK_INT(v.elapsed_ns, 1000);
	CHECK_INT(v.application_ns, 400);
	CHECK_INT(v.delimited_ns, 100);
	CHECK_INT(v.blocked_ns, 500);
	CHECK_INT(v.ready_ns, 200);
	CHECK_INT(v.os_cpu_ns, 100);
	CHECK_INT(v.switches, 2);
	CHECK_INT(v.io_calls, 1);
	x.arena[FIRST + 1].os.switches = 3; /* its node has not come yet */
	CHECK_INT(read_at(&x, 1100, false), 0);
	CHECK_INT(sum_of(&x, 11, 1).switches, 1);
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	close_process(&x);
}

TEST(times_wait_for_what_the_system_did)
{
	struct process x;

	open_process(&x);
	x.arena[FIRST].node = (struct dw_tree_node){
		.elapsed = 1000, .calls = 1, .key = 10, .parent = ROOT, .os = FIRST + 1};
	put_event(&x, 1100, ROOT);
	CHECK_INT(read_at(&x, 1100, false),
		  0); /* its record was made when its line had been read */
	CHECK_INT(sum_of(&x, 11, -1).application_ns, 0);
	x.arena[FIRST + 1].os = (struct dw_tree_os){
		.ticks = 900, .blocked_ticks = 900, .switches = 1, .mark = DWELL_MARK_OS};
	CHECK_INT(read_at(&x, 1100, false), 0);
	CHECK_INT(sum_of(&x, 11, 1).elapsed_ns, 1000);
	CHECK_INT(sum_of(&x, 11, 1).application_ns, 100);
	CHECK_INT(sum_of(&x, 11, 1).calls, 1);
	/* At the end there is nothing to wait for. */
	put_node(&x, FIRST + 2, ROOT, 20);
	x.arena[FIRST + 2].node.elapsed = 50;
	x.arena[FIRST + 2].node.os = FIRST + 3;
	CHECK_INT(read_at(&x, 1100, true), 0);
	CHECK_INT(sum_of(&x, 21, -1).elapsed_ns, 50);
	close_process(&x);
}

enum {
	MANY_LINES = 1 << 16, /* more than one step of a reading */
	CHARGE = 1 << 21,
	CHARGES = 2000,
	READINGS = 3,
};

struct waiter {
	struct process *process;
	uint64_t charges; /* made so far */
	int readings;	  /* by the other thread */
};

/* A thread that does nothing but wait, as its agent charges it, until it was read often enough. */
static void *wait_often(void *arg)
{
	struct waiter *w = arg;
	union line *arena = w->process->arena;

	for (; w->charges < CHARGES || __atomic_load_n(&w->readings, __ATOMIC_RELAXED) < READINGS;
	     w->charges++) {
		__atomic_fetch_add(&arena[FIRST].node.elapsed, CHARGE, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&arena[MANY_LINES - 1].os.ticks, CHARGE, __ATOMIC_SEQ_CST);
		usleep(20);
	}
	__atomic_store_n(&arena[FIRST].node.calls, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Node and record lie so far apart that a reading finds them at different moments. */
TEST(waits_that_come_while_lines_are_read_are_not_the_programs)
{
	struct process x;
	struct waiter w = {.process = &x};
	struct dw_call_values all;
	pthread_t thread;

	open_arena(&x, MANY_LINES);
	put_node(&x, FIRST, ROOT, 10);
	x.arena[FIRST].node.os = MANY_LINES - 1;
	x.arena[MANY_LINES - 1].os.mark = DWELL_MARK_OS;
	put_event(&x, 1100, ROOT);
	CHECK_INT(pthread_create(&thread, NULL, wait_often, &w), 0);
	while (!__atomic_load_n(&x.arena[FIRST].node.calls, __ATOMIC_SEQ_CST)) {
		CHECK_INT(read_at(&x, 1100, false), 0);
		__atomic_fetch_add(&w.readings, 1, __ATOMIC_RELAXED);
	}
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK_INT(read_at(&x, 1100, true), 0);
	all = sum_of(&x, 11, -1);
	CHECK(w.readings >= READINGS);
	CHECK_INT(all.elapsed_ns, CHARGE * w.charges);
	/* The thread may lose its processor between the two. */
	CHECK(all.application_ns <= CHARGE * w.charges / 50);
	close_process(&x);
}

TEST(what_runs_is_charged_ahead)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	x.arena[FIRST].node.calls = 1;
	x.arena[ROOT].node.elapsed = 100;
	put_event(&x, 200, FIRST);
	CHECK_INT(read_at(&x, 500, false), 0);
	CHECK_INT(sum_of(&x, 11, 0).elapsed_ns, 300);
	CHECK_INT(read_at(&x, 600, false), 0);
	CHECK_INT(sum_of(&x, 11, 1).elapsed_ns, 100);
	/* The event that ends it finds 350 of 500 in a slow path. */
	x.arena[FIRST].node.elapsed = 150;
	x.arena[FIRST].node.overhead = 2;
	put_event(&x, 700, ROOT);
	CHECK_INT(read_at(&x, 700, false), 0);
	CHECK_INT(sum_of(&x, 11, 2).elapsed_ns, 0);
	/* What was too much is taken off what follows. */
	x.arena[FIRST].node.elapsed = 150 + 400;
	put_event(&x, 1100, ROOT);
	CHECK_INT(read_at(&x, 1100, false), 0);
	CHECK_INT(sum_of(&x, 11, 3).elapsed_ns, 150);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 550);
	CHECK_INT(sum_of(&x, 11, -1).overhead_ns, 2 * DWELL_OVERHEAD_TICKS);
	/* A system call that counts is none of the program's time. */
	put_event(&x, 1200, FIRST);
	x.thread->state = DWELL_THREAD_IN_CALL;
	CHECK_INT(read_at(&x, 1500, false), 0);
	CHECK_INT(sum_of(&x, 11, 4).elapsed_ns, 300);
	CHECK_INT(sum_of(&x, 11, 4).application_ns, 0);
	/* Killed: no end is known, and nothing more is charged. */
	CHECK_INT(read_at(&x, 0, true), 0);
	CHECK_INT(sum_of(&x, 11, 5).elapsed_ns, 0);
	CHECK_INT(dw_threads_get(&x.p.threads, 1)->end_ns, 1500);
	close_process(&x);
}

/* The entry that says of the activation @index, called by @below, that it began at @ticks. */
static struct dw_tree_open *put_open(struct process *x, uint32_t index, uint32_t below,
				     uint32_t node, uint64_t ticks)
{
	struct dw_tree_open *o = (struct dw_tree_open *)&x->arena[x->thread->open[0] + 2 * index];

	*o = (struct dw_tree_open){.start = START + ticks,
				   .clock = START + ticks,
				   .spent = START + ticks,
				   .node = node,
				   .index = index,
				   .below = below,
				   .is_kept = 1,
				   .mark = DWELL_MARK_OPEN};
	return o;
}

TEST(what_waits_when_it_is_killed_has_waited)
{
	struct process x;
	struct dw_region_head head;
	struct dw_region_reading now = {.head = &head,
					.clock = &x.clock,
					.waits_until = START + 5000,
					.slice = 1,
					.is_last = true};
	struct dw_call_values v;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 100);
	x.arena[FIRST].node.elapsed = 100;
	x.arena[FIRST].node.calls = x.arena[FIRST + 1].node.calls = 1;
	x.thread->open[0] = FIRST + 2;
	x.thread->open_top = 3;
	put_open(&x, 3, 1, FIRST + 1, 300);
	put_open(&x, 1, 1, FIRST, 200); /* a lie: it is below itself */
	put_event(&x, 300, FIRST + 1);
	x.thread->state = DWELL_THREAD_IN_CALL;
	x.thread->call = DWELL_CALL_BLOCKING;
	CHECK_INT(read_at(&x, 1300, false), 0);
	v = sum_of(&x, 101, 0);
	CHECK_INT(v.elapsed_ns, 1000);
	CHECK_INT(v.blocked_ns, 1000);
	CHECK_INT(v.blocking_calls, 1);
	CHECK_INT(x.p.calls.slow.n, 0);
	CHECK_INT(dw_region_read_head(x.w.fd, &head), 0);
	CHECK_INT(dw_region_calls_read(x.r, x.w.fd, &now), 0);
	v = sum_of(&x, 101, -1);
	CHECK_INT(v.elapsed_ns, 4700);
	CHECK_INT(v.blocked_ns, 4700);
	CHECK_INT(v.application_ns, 0);
	CHECK_INT(v.blocking_calls, 1);
	CHECK_INT(x.p.calls.slow.n, 2);
	CHECK_INT(x.p.calls.slow.v[0].inclusive.elapsed_ns, 4700);
	CHECK_INT(x.p.calls.slow.v[0].blocking_ns, 4700);
	CHECK_INT(x.p.calls.slow.v[1].inclusive.elapsed_ns, 4800);
	CHECK_INT(x.p.calls.slow.v[1].inclusive.blocked_ns, 4700);
	CHECK_INT(x.p.calls.slow.v[1].exclusive.elapsed_ns, 100);
	CHECK_INT(x.p.calls.slow.v[1].exclusive.blocked_ns, 0);
	CHECK_INT(x.p.calls.extremes.n, 2);
	CHECK_INT(dw_threads_get(&x.p.threads, 1)->end_ns, 5000);
	close_process(&x);
}

TEST(what_goes_to_another_node_is_charged_once)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 20);
	put_event(&x, 200, FIRST);
	CHECK_INT(read_at(&x, 500, false), 0);
	CHECK_INT(sum_of(&x, 11, 0).elapsed_ns, 300);
	/* The trampoline of the call had read the clock already when the thread lost its processor.
	 */
	x.arena[FIRST + 1].node.calls = 1;
	x.arena[FIRST + 1].node.elapsed = 400;
	x.arena[FIRST + 1].node.os = FIRST + 2;
	x.arena[FIRST + 2].os = (struct dw_tree_os){
		.ticks = 350, .probe_ticks = 400, .blocked_ticks = 350, .mark = DWELL_MARK_OS};
	put_event(&x, 600, ROOT);
	CHECK_INT(read_at(&x, 700, false), 0);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 300);
	CHECK_INT(sum_of(&x, 11, -1).blocked_ns, 300);
	CHECK_INT(sum_of(&x, 21, -1).elapsed_ns, 100);
	CHECK_INT(sum_of(&x, 21, -1).application_ns, 50);
	CHECK_INT(sum_of(&x, 21, -1).blocked_ns, 50);
	close_process(&x);
}

TEST(slow_paths_are_not_charged_ahead)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_event(&x, 200, FIRST);
	x.thread->slow_since = START + 200;
	CHECK_INT(read_at(&x, 500, false), 0);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 0);
	x.thread->slow_since = 0;
	CHECK_INT(read_at(&x, 600, false), 0);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 400);
	close_process(&x);
}

static bool has_no_thread(void *ctx, int32_t tid, uint64_t *ret_ns)
{
	*(int32_t *)ctx = tid;
	*ret_ns = 0;
	return false;
}

static bool has_run(void *ctx, int32_t tid, uint64_t *ret_ns)
{
	(void)tid;
	*ret_ns = *(uint64_t *)ctx;
	return true;
}

TEST(what_has_run_is_application_time)
{
	struct process x;
	struct dw_region_head head;
	uint64_t cpu = 7000000;
	struct dw_region_reading now = {.head = &head,
					.clock = &x.clock,
					.until = START + 5000000,
					.thread_cpu = has_run,
					.ctx = &cpu};

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	x.arena[FIRST].node.calls = 1;
	put_event(&x, 500, FIRST);
	CHECK_INT(dw_region_read_head(x.w.fd, &head), 0);
	CHECK_INT(dw_region_calls_read(x.r, x.w.fd, &now), 0);
	CHECK_INT(sum_of(&x, 11, 0).elapsed_ns, 5000000 - 500);
	CHECK_INT(sum_of(&x, 11, 0).application_ns, 0); /* it may have waited */
	now.until += 4000000;
	now.slice = 1;
	cpu += 3000000;
	CHECK_INT(dw_region_calls_read(x.r, x.w.fd, &now), 0);
	CHECK_INT(sum_of(&x, 11, 1).elapsed_ns, 4000000);
	CHECK_INT(sum_of(&x, 11, 1).application_ns, 3000000);
	x.arena[FIRST].node.elapsed = 10000000;
	x.arena[FIRST].node.os = FIRST + 1;
	x.arena[FIRST + 1].os.ticks = 2000000;
	x.arena[FIRST + 1].os.mark = DWELL_MARK_OS;
	put_event(&x, 10000500, ROOT);
	CHECK_INT(read_at(&x, 10000500, false), 0);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 10000000);
	CHECK_INT(sum_of(&x, 11, -1).application_ns, 8000000);
	close_process(&x);
}

TEST(clocks_of_threads_tell_what_has_run_since_the_last_event)
{
	struct process x;
	struct dw_region_head head;
	uint64_t cpu = 7000000;
	struct dw_region_reading now = {.head = &head,
					.clock = &x.clock,
					.until = START + 5000000,
					.thread_cpu = has_run,
					.ctx = &cpu};

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	x.arena[FIRST].node.calls = 1;
	put_event(&x, 1000000, FIRST);
	x.thread->cpu_ns = 4500000;
	x.thread->cpu_at = START + 700000; /* at the event: 4,800,000 */
	CHECK_INT(dw_region_read_head(x.w.fd, &head), 0);
	CHECK_INT(dw_region_calls_read(x.r, x.w.fd, &now), 0);
	CHECK_INT(sum_of(&x, 11, 0).elapsed_ns, 4000000);
	CHECK_INT(sum_of(&x, 11, 0).application_ns, 2200000);
	now.until += 1000000;
	now.slice = 1;
	CHECK_INT(dw_region_calls_read(x.r, x.w.fd, &now), 0);
	CHECK_INT(sum_of(&x, 11, 1).elapsed_ns, 1000000);
	CHECK_INT(sum_of(&x, 11, 1).application_ns, 0);
	/* Killed: what was said stays. */
	CHECK_INT(read_at(&x, 0, true), 0);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 5000000);
	CHECK_INT(sum_of(&x, 11, -1).application_ns, 2200000);
	close_process(&x);
}

TEST(parts_given_ahead_are_no_more_than_the_whole)
{
	struct dw_call_ahead a = {.now = {.elapsed = 500, .application = 300, .blocked = 200}};
	struct dw_call_increment increment = {0};

	dw_call_ahead_settle(&a, &increment);
	CHECK_INT(increment.application, 300);
	CHECK_INT(increment.blocked, 200);
	/* The clock says by now that it has waited 50 in all. */
	a.now = (struct dw_call_stretch){.elapsed = 1000, .application = 950, .blocked = 50};
	increment = (struct dw_call_increment){0};
	dw_call_ahead_settle(&a, &increment);
	CHECK_INT(increment.elapsed, 500);
	CHECK_INT(increment.application, 500);
	CHECK_INT(increment.blocked, 0);
	/* What has been is known: the parts are what was given, and nothing is left. */
	a.now = (struct dw_call_stretch){0};
	increment =
		(struct dw_call_increment){.elapsed = 1200, .application = 1000, .blocked = 200};
	dw_call_ahead_settle(&a, &increment);
	CHECK_INT(increment.elapsed, 200);
	CHECK_INT(increment.application, 200);
	CHECK_INT(increment.blocked, 0);
}

TEST(threads_that_are_gone_are_charged_no_more)
{
	struct process x;
	struct dw_region_head head;
	int32_t asked = 0;
	struct dw_region_reading now = {.head = &head,
					.clock = &x.clock,
					.until = START + 5000000,
					.thread_cpu = has_no_thread,
					.ctx = &asked};

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	x.arena[FIRST].node.calls = 1;
	put_event(&x, 500, FIRST);
	CHECK_INT(dw_region_read_head(x.w.fd, &head), 0);
	CHECK_INT(dw_region_calls_read(x.r, x.w.fd, &now), 0);
	CHECK_INT(asked, 77);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 0);
	CHECK_INT(dw_threads_get(&x.p.threads, 1)->end_ns, 500);
	close_process(&x);
}

/* fib()'s calls may hang below another of its nodes than the one that made them. */
TEST(probes_are_subtracted_where_recursion_is_folded)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 10);
	put_node(&x, FIRST + 2, FIRST, 10);
	x.arena[FIRST].node.elapsed = 20;
	x.arena[FIRST].node.calls = 1;
	x.arena[FIRST + 1].node.elapsed = 4000;
	x.arena[FIRST + 1].node.calls = 50;
	x.arena[FIRST + 2].node.elapsed = 6000;
	x.arena[FIRST + 2].node.calls = 50;
	x.w.h->probe_cost[DWELL_PROBE_ENTER] = 30 * DWELL_TICK_PARTS; /* the caller's */
	put_event(&x, 16000, ROOT);
	CHECK_INT(read_at(&x, 16000, false), 0);
	/* 30 of it are the root's, which has no time. */
	CHECK_INT(sum_of(&x, 11, -1).overhead_ns, 100 * 30);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 10020 - 100 * 30);
	CHECK_INT(dw_region_calls_stats(x.r)->uncovered_ns, 30);
	close_process(&x);
}

TEST(probes_are_subtracted)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 20);
	put_node(&x, FIRST + 2, FIRST, 100);
	x.arena[FIRST].node.elapsed = 10000;
	x.arena[FIRST].node.calls = 1;
	x.arena[FIRST + 1].node.elapsed = 5000;
	x.arena[FIRST + 1].node.calls = 100;
	x.arena[FIRST + 2].node.elapsed = 40;
	x.arena[FIRST + 2].node.calls = 10;
	x.w.h->probe_cost[DWELL_PROBE_ENTER] = 12 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_LEAVE] = 15 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_OUT] = 8 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_RETURN] = 9 * DWELL_TICK_PARTS;
	put_event(&x, 16000, ROOT);
	CHECK_INT(read_at(&x, 16000, false), 0);
	CHECK_INT(sum_of(&x, 21, -1).elapsed_ns, 5000 - 100 * 15);
	CHECK_INT(sum_of(&x, 21, -1).overhead_ns, 100 * 15);
	CHECK_INT(sum_of(&x, 11, -1).overhead_ns, 15 + 100 * 12 + 10 * 8);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 10000 - 15 - 100 * 12 - 10 * 8);
	/* There is not enough time for 10 x 9. */
	CHECK_INT(sum_of(&x, 101, -1).elapsed_ns, 0);
	CHECK_INT(sum_of(&x, 101, -1).overhead_ns, 40);
	CHECK_INT(dw_region_calls_stats(x.r)->uncovered_ns, 50 + 12);
	close_process(&x);
}

/* Trampolines around a call that let it pass take their time of the caller. */
TEST(passes_are_subtracted)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 20);
	put_node(&x, FIRST + 2, FIRST, 20);
	put_node(&x, FIRST + 3, FIRST, 30);
	x.arena[FIRST + 2].node.site = 2 * WITH_TRAMPOLINE;
	x.arena[FIRST + 3].node.site = WITH_TRAMPOLINE;
	x.arena[FIRST + 3].node.calls = 20;
	x.arena[FIRST].node.elapsed = 10000;
	x.arena[FIRST + 1].node.calls = 100;
	x.arena[FIRST + 2].node.calls = 10;
	x.w.h->pass_cost = 8 * DWELL_TICK_PARTS;
	put_event(&x, 16000, ROOT);
	CHECK_INT(read_at(&x, 16000, false), 0);
	CHECK_INT(sum_of(&x, 11, -1).overhead_ns, 10 * 8 + 20 * 4);
	CHECK_INT(sum_of(&x, 11, -1).elapsed_ns, 10000 - 10 * 8 - 20 * 4);
	close_process(&x);
}

/* The record of the callee @key at @line and the next. */
static struct dw_tree_callee *put_callee(struct process *x, uint32_t line, uint64_t key)
{
	struct dw_tree_callee *c = (struct dw_tree_callee *)&x->arena[line];

	*c = (struct dw_tree_callee){.key = key, .thread = THREAD, .mark = DWELL_MARK_CALLEE};
	return c;
}

/* The cell at @line of calls by the callee whose record is at @caller to the one at @callee. */
static struct dw_tree_cell *put_cell(struct process *x, uint32_t line, uint32_t caller,
				     uint32_t callee)
{
	struct dw_tree_cell *c = (struct dw_tree_cell *)&x->arena[line];

	*c = (struct dw_tree_cell){.key = x->arena[callee].node.key,
				   .site = line * 10,
				   .callee = callee,
				   .caller = caller};
	return c;
}

/* What few cells have, at @line and the two that follow, of the cell at @cell. */
static struct dw_tree_inner *put_inner(struct process *x, uint32_t line, uint32_t cell)
{
	struct dw_tree_inner *i = (struct dw_tree_inner *)&x->arena[line];

	*i = (struct dw_tree_inner){.mark = DWELL_MARK_INNER};
	((struct dw_tree_cell *)&x->arena[cell])->inner = line;
	return i;
}

enum {
	ROOT_RECORD = FIRST,
	ROOT_CELL = ROOT_RECORD + 2,
	RECORDS, /* of functions 1 to 8, two lines each, and of 100 */
	EXTERNAL_RECORD = RECORDS + 16,
	CELLS = EXTERNAL_RECORD + 2, /* free for tests */
	OUTERMOST_CALL = DWELL_CALL_OUTERMOST_EDGE | DWELL_CALL_OUTERMOST_SITE,
	OUTERMOST = OUTERMOST_CALL | DWELL_CALL_OUTERMOST_FUNCTION,
};

static uint32_t record_of(uint32_t key)
{
	return RECORDS + 2 * (key - 1);
}

/* A thread that has cells, with records of callees; each two functions are a module. */
static void open_cells(struct process *x)
{
	open_process(x);
	put_callee(x, ROOT_RECORD, DWELL_KEY_ROOT);
	put_cell(x, ROOT_CELL, ROOT_RECORD, ROOT_RECORD)->site = 0;
	for (uint32_t key = 1; key <= 8; key++)
		put_callee(x, record_of(key), key);
	put_callee(x, EXTERNAL_RECORD, 100);
	for (uint32_t id = 1; id <= 9; id++) {
		struct dw_frame frame = {.module = 1 + (id - 2) / 2, .svma = id};
		uint32_t ret;

		if (dw_frames_add(&x->p.frames, frame, &ret) || ret != id)
			abort();
	}
	x->thread->has_cells = 1;
}

/* What node @id was given, in @slice or in all (-1). */
static struct dw_call_values values_of(const struct process *x, uint32_t id, int slice)
{
	struct dw_call_values sum = {0};

	dw_vec_each(d, &x->p.calls.deltas)
		if (d->node == id && (slice < 0 || d->slice == (uint32_t)slice))
			dw_call_values_add(&sum, &d->values);
	return sum;
}

/* The node of calls at @line, with @flags and perhaps others; 0 = there are none or several. */
static uint32_t cell_node(const struct process *x, uint32_t line, uint32_t flags)
{
	const struct dw_tree_cell *c = (const struct dw_tree_cell *)&x->arena[line];
	uint64_t caller = x->arena[c->caller].node.key;
	uint32_t found = 0, n = 0;

	for (uint32_t id = 1; id <= dw_calls_count(&x->p.calls); id++) {
		const struct dw_call_node *node = dw_calls_get(&x->p.calls, id);

		if (!(node->flags & DWELL_CALL_OVERFLOW) || node->entry != c->key + 1 ||
		    node->caller != (caller == DWELL_KEY_ROOT ? 0 : caller + 1) ||
		    node->site != c->site + (c->key < 100) || (node->flags & flags) != flags ||
		    (node->flags ^ flags) & DWELL_CALL_INCLUSIVE)
			continue;
		found = id;
		n++;
	}
	return n == 1 ? found : 0;
}

/* The exclusive values of the cell at @line. */
static struct dw_call_values exclusive_of(const struct process *x, uint32_t line)
{
	return values_of(x, cell_node(x, line, 0), -1);
}

/* Inclusive values that count for functions, or of repeated activations. */
static struct dw_call_values inclusive_of(const struct process *x, uint32_t line)
{
	return values_of(x, cell_node(x, line, DWELL_CALL_INCLUSIVE | OUTERMOST), -1);
}

/* The node of the repeated activations of the cell at @line. */
static uint32_t repeated_node(const struct process *x, uint32_t line)
{
	uint32_t outermost = cell_node(x, line, DWELL_CALL_INCLUSIVE | OUTERMOST), n = 0, found = 0;
	const struct dw_call_node *cell = dw_calls_get(&x->p.calls, outermost);

	for (uint32_t id = 1; cell && id <= dw_calls_count(&x->p.calls); id++) {
		const struct dw_call_node *node = dw_calls_get(&x->p.calls, id);

		if (!(node->flags & DWELL_CALL_INCLUSIVE) || id == outermost ||
		    node->entry != cell->entry || node->caller != cell->caller ||
		    node->site != cell->site)
			continue;
		found = id;
		n++;
	}
	return n == 1 ? found : 0;
}

/* The node that stands for all cells of the thread. */
static struct dw_call_values all_cells(const struct process *x, int slice)
{
	for (uint32_t id = 1; id <= dw_calls_count(&x->p.calls); id++)
		if (dw_calls_get(&x->p.calls, id)->flags & DWELL_CALL_TRUNCATED)
			return values_of(x, id, slice);
	return (struct dw_call_values){.calls = UINT64_MAX};
}

/* Cells of one function share what its calls take of it, by their time. */
TEST(probes_are_subtracted_of_cells)
{
	struct process x;
	struct dw_tree_cell *c;

	open_cells(&x);
	c = put_cell(&x, CELLS, ROOT_RECORD, record_of(2));
	c->calls = 1;
	c->elapsed = 1500;
	put_cell(&x, CELLS + 1, record_of(1), record_of(2))->elapsed = 500;
	c = put_cell(&x, CELLS + 2, record_of(2), record_of(3));
	c->calls = 100;
	c->elapsed = 3000;
	c = put_cell(&x, CELLS + 3, record_of(3), EXTERNAL_RECORD);
	c->calls = 10;
	c->elapsed = 200;
	x.w.h->probe_cost[DWELL_PROBE_CELL_ENTER] = 8 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_CELL_LEAVE] = 5 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_CELL_OUT] = 3 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_CELL_RETURN] = 2 * DWELL_TICK_PARTS;
	put_event(&x, 16000, ROOT_CELL);
	CHECK_INT(read_at(&x, 16000, false), 0);
	CHECK_INT(exclusive_of(&x, CELLS).elapsed_ns, 1500 - 5 - 100 * 8 * 3 / 4);
	CHECK_INT(exclusive_of(&x, CELLS).overhead_ns, 5 + 100 * 8 * 3 / 4);
	CHECK_INT(exclusive_of(&x, CELLS + 1).elapsed_ns, 500 - 100 * 8 / 4);
	CHECK_INT(exclusive_of(&x, CELLS + 2).elapsed_ns, 3000 - 100 * 5 - 10 * 3);
	CHECK_INT(exclusive_of(&x, CELLS + 3).elapsed_ns, 200 - 10 * 2);
	CHECK_INT(all_cells(&x, -1).elapsed_ns, 1500 + 500 + 3000 + 200 - 5 - 100 * 13 - 10 * 5);
	CHECK_INT(all_cells(&x, -1).overhead_ns, 5 + 100 * 13 + 10 * 5);
	close_process(&x);
}

/* Trampolines around a call that let it pass take their time of the caller. */
TEST(passes_are_subtracted_of_cells)
{
	struct process x;
	struct dw_tree_cell *c;

	open_cells(&x);
	put_cell(&x, CELLS, ROOT_RECORD, record_of(1))->elapsed = 1000;
	c = put_cell(&x, CELLS + 1, record_of(1), record_of(2));
	c->site = 2 * WITH_TRAMPOLINE;
	c->calls = 10;
	x.w.h->pass_cost = 8 * DWELL_TICK_PARTS;
	put_event(&x, 16000, ROOT_CELL);
	CHECK_INT(read_at(&x, 16000, false), 0);
	CHECK_INT(exclusive_of(&x, CELLS).elapsed_ns, 1000 - 10 * 8);
	close_process(&x);
}

/* Of the shortest calls more is taken off than they took. */
TEST(inclusive_sums_may_fall_below_nothing)
{
	struct process x;
	struct dw_tree_cell *c;

	open_cells(&x);
	c = put_cell(&x, CELLS, record_of(2), record_of(3));
	c->elapsed = 70;
	c->calls = 3;
	c->inclusive = -40ull;
	put_event(&x, 182, ROOT_CELL);
	CHECK_INT(read_at(&x, 182, false), 0);
	CHECK_INT(exclusive_of(&x, CELLS).calls, 3);
	CHECK_INT(inclusive_of(&x, CELLS).elapsed_ns, 0);
	c->inclusive = -10ull;
	CHECK_INT(read_at(&x, 182, false), 0);
	CHECK_INT(inclusive_of(&x, CELLS).elapsed_ns, 30);
	close_process(&x);
}

TEST(cells_have_two_nodes)
{
	struct process x;
	struct dw_tree_cell *c;
	const struct dw_call_node *n;

	open_cells(&x);
	c = put_cell(&x, CELLS, record_of(2), record_of(3));
	c->elapsed = 70;
	c->calls = 3;
	c->inclusive = 60;
	c->probes = 30;
	x.arena[ROOT_CELL].node.elapsed = 5;
	x.arena[ROOT].node.elapsed = 7;
	put_event(&x, 182, ROOT_CELL);
	CHECK_INT(read_at(&x, 182, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 4);
	CHECK_INT(dw_calls_get(&x.p.calls, 1)->flags, DWELL_CALL_ROOT);
	CHECK_INT(values_of(&x, 1, -1).elapsed_ns, 12); /* of the root's cell too */
	n = dw_calls_get(&x.p.calls, 2);
	CHECK_INT(n->flags, DWELL_CALL_TRUNCATED);
	CHECK_INT(n->parent, 1);
	CHECK_INT(n->entry, 0);
	CHECK_INT(values_of(&x, 2, -1).elapsed_ns, 70);
	CHECK_INT(values_of(&x, 2, -1).calls, 3); /* no path is known */
	n = dw_calls_get(&x.p.calls, 3);
	CHECK_INT(n->entry, 4);
	CHECK_INT(n->caller, 3);
	CHECK_INT(n->site, CELLS * 10 + 1);
	CHECK_INT(n->parent, 1);
	CHECK_INT(n->thread, 1);
	CHECK_INT(n->flags, DWELL_CALL_OVERFLOW | OUTERMOST | DWELL_CALL_OUTERMOST_MODULE);
	CHECK_INT(dw_calls_get(&x.p.calls, 4)->flags, n->flags | DWELL_CALL_INCLUSIVE);
	CHECK_INT(exclusive_of(&x, CELLS).elapsed_ns, 70);
	CHECK_INT(exclusive_of(&x, CELLS).calls, 3);
	/* Nothing was taken off, so what pairs were taken to cost is the calls'. */
	CHECK_INT(inclusive_of(&x, CELLS).elapsed_ns, 60 + 30);
	CHECK_INT(inclusive_of(&x, CELLS).calls, 3);
	c->inclusive += 10;
	CHECK_INT(read_at(&x, 182, false), 0);
	CHECK_INT(values_of(&x, cell_node(&x, CELLS, DWELL_CALL_INCLUSIVE), 1).elapsed_ns, 10);
	CHECK_INT(values_of(&x, 2, 1).elapsed_ns, 0);
	CHECK_INT(dw_region_calls_stats(x.r)->sum.elapsed_ns, 70 + 12);
	CHECK_INT(dw_region_calls_stats(x.r)->cells, 1);
	CHECK_INT(dw_region_calls_stats(x.r)->cell_calls, 3);
	CHECK_INT(dw_region_calls_stats(x.r)->nodes, 1);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* Inclusive values leave out what was taken off exclusive ones. What the thread says of its probes
 * may be newer than what its cells do. */
TEST(inclusive_values_leave_out_probes)
{
	struct process x;
	struct dw_tree_cell *c;

	open_cells(&x);
	/* 1 has called 2 100 times. 13 a pair, of which the agent has left out 26. */
	c = put_cell(&x, CELLS, ROOT_RECORD, record_of(1));
	c->calls = 1;
	c->elapsed = 1000 + 100 * 8 + 5;
	c = put_cell(&x, CELLS + 1, record_of(1), record_of(2));
	c->calls = 100;
	c->elapsed = 5000 + 100 * 5;
	c->inclusive = 5000;
	x.w.h->probe_cost[DWELL_PROBE_CELL_ENTER] = 8 * DWELL_TICK_PARTS;
	x.w.h->probe_cost[DWELL_PROBE_CELL_LEAVE] = 5 * DWELL_TICK_PARTS;
	c = (struct dw_tree_cell *)&x.arena[CELLS];
	c->inclusive = 6000 - 100 * 13; /* too much was left out */
	c->probes = 100 * 26;
	x.thread->pair_ticks[DWELL_PAIR_FUNCTION] = 26;
	x.thread->has_cells = 1;
	x.thread->cost = 130 * 26;
	put_event(&x, 16000, ROOT_CELL);
	CHECK_INT(read_at(&x, 16000, false), 0);
	CHECK_INT(exclusive_of(&x, CELLS).elapsed_ns, 1000);
	CHECK_INT(exclusive_of(&x, CELLS + 1).elapsed_ns, 5000);
	/* But for the probe of 1 itself, which costs 5 and was left out as 26. */
	CHECK_INT(inclusive_of(&x, CELLS).elapsed_ns, 6000 + 8);
	CHECK_INT(inclusive_of(&x, CELLS).overhead_ns, 100 * 13 - 8);
	close_process(&x);
}

/* Of activations below others of their callee only those count that are the outermost of their
 * cell, and neither for the function nor for its module. */
TEST(repeated_activations_have_a_node_of_their_own)
{
	struct process x;
	struct dw_tree_inner *i;
	const struct dw_call_node *n;
	uint32_t id;

	open_cells(&x);
	put_cell(&x, CELLS, ROOT_RECORD, record_of(1))->inclusive = 900;
	put_cell(&x, CELLS + 1, record_of(1), record_of(1))->calls = 8;
	put_cell(&x, CELLS + 2, record_of(1), record_of(3))->inclusive = 600;
	put_cell(&x, CELLS + 3, record_of(3), record_of(1))->inclusive = 40; /* without CELLS */
	i = put_inner(&x, CELLS + 4, CELLS + 1);
	i->inclusive = 500;
	i->probes = 20;
	i->os[DWELL_REPEATED] = (struct dw_tree_os){.ticks = 100, .blocked_ticks = 100};
	put_inner(&x, CELLS + 7, CELLS + 3)->inclusive = 300;
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(inclusive_of(&x, CELLS).elapsed_ns, 900);
	CHECK_INT(inclusive_of(&x, CELLS + 1).elapsed_ns, 0);
	CHECK_INT(inclusive_of(&x, CELLS + 1).calls, 8);
	CHECK_INT(inclusive_of(&x, CELLS + 3).elapsed_ns, 40);
	id = repeated_node(&x, CELLS + 1);
	n = dw_calls_get(&x.p.calls, id);
	CHECK(n);
	if (n)
		CHECK_INT(n->flags, DWELL_CALL_OVERFLOW | DWELL_CALL_INCLUSIVE | OUTERMOST_CALL);
	CHECK_INT(values_of(&x, id, -1).elapsed_ns, 520);
	CHECK_INT(values_of(&x, id, -1).application_ns, 420);
	CHECK_INT(values_of(&x, id, -1).blocked_ns, 100);
	CHECK_INT(values_of(&x, id, -1).calls, 0);
	CHECK_INT(values_of(&x, repeated_node(&x, CELLS + 3), -1).elapsed_ns, 300);
	CHECK_INT(repeated_node(&x, CELLS), 0);
	/* All three lines are the record's. */
	i->os[DWELL_OUTERMOST].switches = 2;
	i->os[DWELL_REPEATED].ticks += 10;
	i->os[DWELL_REPEATED].io_calls += 1;
	i->inclusive += 10;
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(values_of(&x, id, 1).elapsed_ns, 10);
	CHECK_INT(values_of(&x, id, 1).application_ns, 0);
	CHECK_INT(values_of(&x, id, 1).io_calls, 1);
	CHECK_INT(inclusive_of(&x, CELLS + 1).switches, 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* A function's module is not entered anew where a function of it calls. */
TEST(modules_are_entered_by_calls_from_others)
{
	struct process x;

	open_cells(&x);
	put_cell(&x, CELLS, record_of(1), record_of(2));
	put_cell(&x, CELLS + 1, record_of(2), record_of(3));
	put_cell(&x, CELLS + 2, ROOT_RECORD, record_of(1));
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(dw_calls_get(&x.p.calls, cell_node(&x, CELLS, 0))->flags,
		  DWELL_CALL_OVERFLOW | OUTERMOST);
	CHECK(cell_node(&x, CELLS + 1, DWELL_CALL_OUTERMOST_MODULE));
	CHECK(cell_node(&x, CELLS + 2, DWELL_CALL_OUTERMOST_MODULE));
	close_process(&x);
}

TEST(system_takes_its_part_of_cells)
{
	struct process x;
	struct dw_tree_cell *c;
	struct dw_tree_inner *i;
	struct dw_call_values v;

	open_cells(&x);
	c = put_cell(&x, CELLS, record_of(1), record_of(2));
	c->calls = 2;
	c->elapsed = 1000;
	c->inclusive = 5000;
	c->os = CELLS + 1;
	x.arena[CELLS + 1].os = (struct dw_tree_os){.ticks = 600,
						    .probe_ticks = 900,
						    .cpu_ticks = 100,
						    .blocked_ticks = 500,
						    .switches = 2,
						    .io_calls = 1,
						    .blocking_calls = 4,
						    .mark = DWELL_MARK_OS};
	i = put_inner(&x, CELLS + 2, CELLS);
	i->os[DWELL_OUTERMOST] = (struct dw_tree_os){.ticks = 1600,
						     .probe_ticks = 2900,
						     .cpu_ticks = 150,
						     .blocked_ticks = 1450,
						     .switches = 5,
						     .io_calls = 3,
						     .blocking_calls = 7};
	put_event(&x, 1100, ROOT_CELL);
	CHECK_INT(read_at(&x, 1100, false), 0);
	v = exclusive_of(&x, CELLS);
	CHECK_INT(v.elapsed_ns, 1000);
	CHECK_INT(v.application_ns, 400);
	CHECK_INT(v.delimited_ns, 100);
	CHECK_INT(v.blocked_ns, 500);
	CHECK_INT(v.os_cpu_ns, 100);
	CHECK_INT(v.switches, 2);
	CHECK_INT(v.io_calls, 1);
	CHECK_INT(v.blocking_calls, 4);
	v = all_cells(&x, -1);
	CHECK_INT(v.application_ns, 400);
	CHECK_INT(v.blocked_ns, 500);
	CHECK_INT(v.switches, 2);
	v = inclusive_of(&x, CELLS);
	CHECK_INT(v.elapsed_ns, 5000);
	CHECK_INT(v.application_ns, 3400);
	CHECK_INT(v.delimited_ns, 2100);
	CHECK_INT(v.blocked_ns, 1450);
	CHECK_INT(v.os_cpu_ns, 150);
	CHECK_INT(v.switches, 5);
	CHECK_INT(v.io_calls, 3);
	CHECK_INT(v.blocking_calls, 7);
	CHECK_INT(values_of(&x, repeated_node(&x, CELLS), -1).elapsed_ns, 0);
	x.arena[CELLS + 1].os.switches = 3; /* its cell has not changed */
	CHECK_INT(read_at(&x, 1100, true), 0);
	CHECK_INT(values_of(&x, cell_node(&x, CELLS, 0), 1).switches, 1);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

TEST(what_runs_in_a_cell_is_charged_ahead)
{
	struct process x;

	open_cells(&x);
	put_cell(&x, CELLS, ROOT_RECORD, record_of(1))->calls = 1;
	put_event(&x, 200, CELLS);
	CHECK_INT(read_at(&x, 500, false), 0);
	CHECK_INT(exclusive_of(&x, CELLS).elapsed_ns, 300);
	CHECK_INT(all_cells(&x, -1).elapsed_ns, 300);
	x.arena[CELLS].node.elapsed = 350;
	put_event(&x, 550, ROOT_CELL);
	CHECK_INT(read_at(&x, 550, true), 0);
	CHECK_INT(exclusive_of(&x, CELLS).elapsed_ns, 350);
	CHECK_INT(all_cells(&x, -1).elapsed_ns, 350);
	CHECK_INT(dw_region_calls_stats(x.r)->sum.elapsed_ns, 350);
	close_process(&x);
}

/* A function's statements have cells as what it calls; what is called from there is called by the
 * function. */
TEST(statements_have_cells)
{
	struct process x;
	const uint32_t line = CELLS, cell = CELLS + 2;
	const struct dw_call_node *n;

	open_cells(&x);
	put_cell(&x, cell, ROOT_RECORD, record_of(1))->calls = 1;
	put_callee(&x, line, DWELL_KEY_LINE | 5);
	put_cell(&x, cell + 1, record_of(1), line)->site = 0;
	x.arena[cell + 1].node.calls = 4;
	x.arena[cell + 1].node.elapsed = 100;
	put_cell(&x, cell + 2, line, record_of(2))->calls = 3;
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 2 + 2 + 1 + 2);
	n = dw_calls_get(&x.p.calls, 5);
	CHECK_INT(n->flags, DWELL_CALL_OVERFLOW | DWELL_CALL_LINE);
	CHECK_INT(n->caller, 2);
	CHECK_INT(values_of(&x, 5, -1).calls, 4);
	CHECK_INT(values_of(&x, 5, -1).elapsed_ns, 100);
	n = dw_calls_get(&x.p.calls, 6);
	CHECK_INT(n->caller, 2);
	CHECK_INT(n->entry, 3);
	CHECK_INT(n->flags, DWELL_CALL_OVERFLOW | OUTERMOST);
	CHECK_INT(dw_region_calls_stats(x.r)->cell_calls, 1 + 3); /* control is no call */
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

TEST(cells_wait_for_records)
{
	struct process x;
	struct dw_tree_callee callee;
	uint32_t late = CELLS + 10;

	open_cells(&x);
	put_callee(&x, late, 30);
	memcpy(&callee, &x.arena[late], sizeof callee);
	put_cell(&x, CELLS, late, record_of(1))->calls = 5; /* by what is not there yet */
	put_cell(&x, CELLS + 1, record_of(1), late)->calls = 7;
	memset(&x.arena[late], 0, sizeof callee);
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 1);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	memcpy(&x.arena[late], &callee, sizeof callee);
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(exclusive_of(&x, CELLS).calls, 5);
	CHECK_INT(exclusive_of(&x, CELLS + 1).calls, 7);
	CHECK_INT(dw_region_calls_stats(x.r)->cells, 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* Of the call by a statement whose function is not known. */
TEST(calls_from_statements_wait_for_their_functions)
{
	struct process x;
	uint32_t line = CELLS + 10;

	open_cells(&x);
	put_callee(&x, line, DWELL_KEY_LINE | 5);
	put_cell(&x, CELLS, line, record_of(2))->calls = 3;
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 1);
	put_cell(&x, CELLS + 1, record_of(1), line)->site = 0;
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(sum_of(&x, 3, 1).calls, 2 * 3);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

TEST(cells_that_lie_are_survived)
{
	struct process x;
	struct dw_tree_callee *record;

	open_cells(&x);
	put_cell(&x, CELLS, record_of(1), record_of(2))->calls = 5;
	put_inner(&x, CELLS + 1, CELLS)->inclusive = UINT64_MAX;
	put_cell(&x, CELLS + 4, record_of(1), record_of(3))->inner = CELLS + 1; /* another's */
	put_cell(&x, CELLS + 5, record_of(1), record_of(4))->inner = LINES - 2; /* partly beyond */
	put_cell(&x, CELLS + 6, record_of(1), record_of(5))->inner = THREAD;
	put_cell(&x, CELLS + 7, record_of(1), record_of(6))->inner = UINT32_MAX;
	put_cell(&x, CELLS + 8, record_of(1), record_of(7))->callee = LINES + 3;
	put_cell(&x, CELLS + 9, record_of(1), record_of(7))->callee = THREAD;
	put_callee(&x, CELLS + 10, 1)->thread = LINES + 1;
	put_cell(&x, CELLS + 12, CELLS + 10, record_of(1));
	put_callee(&x, CELLS + 13, 1)->thread = ROOT;
	put_callee(&x, LINES - 1, 1); /* half of it */
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(dw_region_calls_stats(x.r)->cells, 5);
	CHECK_INT(exclusive_of(&x, CELLS).calls, 5);
	/* What was well may be lies by now: records stay what they were found to be. */
	record = (struct dw_tree_callee *)&x.arena[record_of(1)];
	record->thread = UINT32_MAX;
	put_cell(&x, CELLS + 20, record_of(1), record_of(8))->calls = 1;
	record = (struct dw_tree_callee *)&x.arena[record_of(2)];
	record->thread = ROOT_CELL;
	put_cell(&x, CELLS + 21, record_of(2), record_of(8))->calls = 1;
	((struct dw_tree_callee *)&x.arena[record_of(3)])->key = DWELL_KEY_LINE;
	put_cell(&x, CELLS + 22, record_of(3), record_of(8))->calls = 1;
	((struct dw_tree_cell *)&x.arena[CELLS])->callee = UINT32_MAX;
	x.arena[CELLS].node.calls = 6;
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(dw_region_calls_stats(x.r)->cells, 8);
	CHECK(dw_region_calls_stats(x.r)->broken >= 4);
	close_process(&x);
}

/* A cell that says where its inner calls are may be read before they are. */
TEST(inner_calls_may_come_later_than_their_cell)
{
	struct process x;
	struct dw_tree_inner *inner;

	open_cells(&x);
	put_cell(&x, CELLS, ROOT_RECORD, record_of(1))->calls = 1;
	inner = put_inner(&x, CELLS + 1, CELLS);
	memset(inner, 0, sizeof *inner);
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(exclusive_of(&x, CELLS).calls, 1);
	inner->repeated = 2;
	inner->others = 4;
	inner->mark = DWELL_MARK_INNER;
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(exclusive_of(&x, CELLS).calls, 1 + 2 + 4);
	CHECK_INT(values_of(&x, repeated_node(&x, CELLS), -1).calls, 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* The line of counters of callees that are called through pointers, of the thread at @thread. */
static struct dw_tree_pointers *put_pointers(struct process *x, uint32_t line, uint64_t thread)
{
	struct dw_tree_pointers *p = (struct dw_tree_pointers *)&x->arena[line];

	*p = (struct dw_tree_pointers){.thread = thread, .mark = DWELL_MARK_POINTER};
	return p;
}

static struct dw_tree_counted *put_counted(struct process *x, uint32_t line, uint32_t thread,
					   uint32_t first)
{
	struct dw_tree_counted *c = (struct dw_tree_counted *)&x->arena[line];

	*c = (struct dw_tree_counted){.thread = thread, .first = first, .mark = DWELL_MARK_COUNTED};
	for (uint32_t i = 0; i < DWELL_COUNTERS; i++)
		c->calls[i] = 7;
	return c;
}

/* Of numbers that the region tells no key of nothing counts. */
TEST(counters_that_lie_are_survived)
{
	struct process x;
	struct dw_tree_pointers *p;
	uint32_t line = FIRST;

	open_process(&x);
	p = put_pointers(&x, line++, THREAD);
	p->callees[0].address = 1000;
	p->callees[0].calls = 5;
	p->callees[1].address = 2000;
	p->callees[1].calls = 5 | DWELL_POINTER_PROBED; /* which its own probe counts */
	put_pointers(&x, line++, ROOT)->callees[0].calls = 5;
	put_pointers(&x, line++, LINES)->callees[0].calls = 5;
	put_pointers(&x, line++, UINT64_MAX)->callees[0].calls = 5;
	put_counted(&x, line++, THREAD, 0);
	put_counted(&x, line++, THREAD, DWELL_REGION_COUNTED - 1);
	put_counted(&x, line++, THREAD, UINT32_MAX);
	put_counted(&x, line++, THREAD + 1, 0);
	put_counted(&x, line++, UINT32_MAX, 0);
	put_event(&x, 1000, ROOT);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(dw_region_calls_stats(x.r)->counted, 5);
	CHECK_INT(dw_calls_count(&x.p.calls), 2); /* with the root */
	CHECK_INT(dw_calls_get(&x.p.calls, 2)->flags,
		  DWELL_CALL_OVERFLOW | DWELL_CALL_COUNTED | DWELL_CALL_EXTERNAL);
	/* They fall, become another's, and are none any more. */
	p->callees[0].calls = 4;
	p->callees[2].calls = 3;
	p->thread = UINT64_MAX;
	put_counted(&x, FIRST + 4, UINT32_MAX, 0)->mark = 0;
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(dw_region_calls_stats(x.r)->counted, 5 + 3);
	for (uint32_t id = 1; id <= dw_calls_count(&x.p.calls); id++)
		CHECK_INT(dw_calls_get(&x.p.calls, id)->thread, 1);
	close_process(&x);
}

/* The path at @line and the next: that of @parent (0 = none), then the cell at @cell. */
static struct dw_tree_drawn *put_path(struct process *x, uint32_t line, uint32_t parent,
				      uint32_t cell)
{
	struct dw_tree_drawn *d = (struct dw_tree_drawn *)&x->arena[line];

	*d = (struct dw_tree_drawn){
		.cell = cell, .parent = parent, .thread = THREAD, .mark = DWELL_MARK_DRAWN};
	return d;
}

/* The node of the path to @entry below that of @parent; 0 = there are none or several. */
static uint32_t path_node(const struct process *x, uint32_t parent, uint32_t entry)
{
	uint32_t found = 0, n = 0;

	for (uint32_t id = 1; id <= dw_calls_count(&x->p.calls); id++) {
		const struct dw_call_node *node = dw_calls_get(&x->p.calls, id);

		if (!(node->flags & DWELL_CALL_ESTIMATED) || node->parent != parent ||
		    node->entry != entry)
			continue;
		found = id;
		n++;
	}
	return n == 1 ? found : 0;
}

/* 3 is called by 2 only, which 1 and the root call: its time is theirs as it was found. */
TEST(paths_share_what_their_cells_have)
{
	struct process x;
	struct dw_tree_drawn *by_one, *by_root;
	uint32_t root = CELLS, one, two;
	struct dw_tree_cell *c;

	open_cells(&x);
	put_path(&x, root, 0, ROOT_CELL);
	put_cell(&x, CELLS + 2, ROOT_RECORD, record_of(1))->calls = 1;
	put_cell(&x, CELLS + 3, record_of(1), record_of(2))->calls = 1;
	put_cell(&x, CELLS + 4, ROOT_RECORD, record_of(2))->calls = 1;
	c = put_cell(&x, CELLS + 5, record_of(2), record_of(3));
	c->elapsed = 1000 + 300;
	c->calls = 8;
	c->os = CELLS + 20;
	x.arena[CELLS + 20].os = (struct dw_tree_os){.ticks = 300,
						     .probe_ticks = 300,
						     .blocked_ticks = 300,
						     .switches = 2,
						     .mark = DWELL_MARK_OS};
	put_path(&x, CELLS + 6, root, CELLS + 2);
	put_path(&x, CELLS + 8, CELLS + 6, CELLS + 3);
	by_one = put_path(&x, CELLS + 10, CELLS + 8, CELLS + 5);
	put_path(&x, CELLS + 12, root, CELLS + 4);
	by_root = put_path(&x, CELLS + 14, CELLS + 12, CELLS + 5);
	by_one->ticks = 300;
	by_root->ticks = 100;
	by_root->os.ticks = by_root->os.blocked_ticks = 300; /* which is known */
	by_root->os.switches = 2;
	put_event(&x, 1300, ROOT_CELL);
	CHECK_INT(read_at(&x, 1300, false), 0);
	one = path_node(&x, path_node(&x, path_node(&x, 1, 2), 3), 4);
	two = path_node(&x, path_node(&x, 1, 3), 4);
	CHECK(one && two);
	CHECK_INT(values_of(&x, one, -1).elapsed_ns, 750);
	CHECK_INT(values_of(&x, one, -1).application_ns, 750);
	CHECK_INT(values_of(&x, one, -1).calls, 6);
	CHECK_INT(values_of(&x, two, -1).elapsed_ns, 250 + 300);
	CHECK_INT(values_of(&x, two, -1).application_ns, 250);
	CHECK_INT(values_of(&x, two, -1).blocked_ns, 300);
	CHECK_INT(values_of(&x, two, -1).switches, 2);
	CHECK_INT(exclusive_of(&x, CELLS + 5).elapsed_ns, 1300);
	CHECK_INT(all_cells(&x, -1).elapsed_ns, 0);
	/* Where none was found since, as it was found before. */
	c->elapsed += 400;
	CHECK_INT(read_at(&x, 1300, true), 0);
	CHECK_INT(values_of(&x, one, 1).elapsed_ns, 300);
	CHECK_INT(values_of(&x, two, 1).elapsed_ns, 100);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* It was found by @n path samples more. */
static void sample_path(struct dw_tree_drawn *path, uint32_t n)
{
	path->ticks += n * 100;
	path->n += n;
}

/* The values of calls of no known path by the end of the path whose node is @parent. */
static struct dw_call_values rest_below(const struct process *x, uint32_t parent)
{
	for (uint32_t id = 1; id <= dw_calls_count(&x->p.calls); id++) {
		const struct dw_call_node *node = dw_calls_get(&x->p.calls, id);

		if (node->flags & DWELL_CALL_TRUNCATED && node->parent == parent)
			return values_of(x, id, -1);
	}
	return (struct dw_call_values){0};
}

static struct dw_tree_cell *put_time(struct process *x, uint32_t line, uint32_t caller,
				     uint32_t callee, uint64_t ticks)
{
	struct dw_tree_cell *cell = put_cell(x, line, record_of(caller), record_of(callee));

	cell->elapsed = ticks;
	cell->calls = 10;
	return cell;
}

/* Paths to the calls of 3 by 1 and by 2, which the root calls, on lines from CELLS on. */
enum { BY_ONE = CELLS + 8, BY_TWO = CELLS + 12, FROM_THREE = CELLS + 14 };

static void put_paths_to_three(struct process *x)
{
	put_path(x, CELLS, 0, ROOT_CELL);
	put_cell(x, CELLS + 2, ROOT_RECORD, record_of(1))->calls = 1;
	put_cell(x, CELLS + 3, ROOT_RECORD, record_of(2))->calls = 1;
	put_cell(x, CELLS + 4, record_of(1), record_of(3))->calls = 1;
	put_cell(x, CELLS + 5, record_of(2), record_of(3))->calls = 1;
	put_path(x, CELLS + 6, CELLS, CELLS + 2);
	put_path(x, BY_ONE, CELLS + 6, CELLS + 4);
	put_path(x, CELLS + 10, CELLS, CELLS + 3);
	put_path(x, BY_TWO, CELLS + 10, CELLS + 5);
}

/*
 * Each of 100 path samples stands for 10 of 1000. Where 1 calls 3 that calls what takes less than
 * one of them each, of which some were found by chance: all of them count.
 */
TEST(times_of_paths_are_what_path_samples_tell)
{
	struct process x;
	uint32_t line = FROM_THREE, one, two;

	open_cells(&x);
	put_paths_to_three(&x);
	put_time(&x, line, 3, 4, 740);
	put_time(&x, line + 1, 3, 5, 20);
	put_time(&x, line + 2, 3, 6, 30);
	put_time(&x, line + 3, 3, 7, 150);
	put_time(&x, line + 4, 3, 8, 30);
	put_time(&x, line + 5, 1, 8, 30);
	sample_path(put_path(&x, line + 6, BY_TWO, line), 74);
	sample_path(put_path(&x, line + 8, BY_ONE, line + 1), 5);
	sample_path(put_path(&x, line + 10, BY_ONE, line + 2), 15);
	sample_path(put_path(&x, line + 12, BY_TWO, line + 4), 6);
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, true), 0);
	one = path_node(&x, path_node(&x, 1, 2), 4);
	two = path_node(&x, path_node(&x, 1, 3), 4);
	CHECK(one && two);
	/* A cell that is found often has what is known of it, and so has a function. */
	CHECK_INT(values_of(&x, path_node(&x, two, 5), -1).application_ns, 740);
	CHECK_INT(values_of(&x, path_node(&x, two, 9), -1).application_ns, 30 + 30);
	CHECK_INT(values_of(&x, path_node(&x, two, 9), -1).calls, 10);
	/* No function has more than is known; the rest is below what calls it. */
	CHECK_INT(values_of(&x, path_node(&x, one, 6), -1).application_ns, 20);
	CHECK_INT(values_of(&x, path_node(&x, one, 7), -1).application_ns, 30);
	CHECK_INT(rest_below(&x, one).application_ns, 5 * 10 - 20 + 15 * 10 - 30);
	CHECK_INT(rest_below(&x, two).application_ns, 0);
	CHECK_INT(all_cells(&x, -1).application_ns, 0);
	/* Calls of what was not found are divided as all that was found below its caller. */
	CHECK_INT(rest_below(&x, one).calls, 2);
	CHECK_INT(rest_below(&x, two).calls, 8);
	CHECK_INT(rest_below(&x, path_node(&x, 1, 2)).calls, 10 + 1);
	CHECK_INT(rest_below(&x, path_node(&x, 1, 3)).calls, 1);
	CHECK_INT(all_cells(&x, -1).calls, 2); /* by the root */
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* What is not known of a path is only how it ends. */
TEST(path_samples_count_where_their_paths_had_no_room)
{
	struct process x;
	uint32_t line = FROM_THREE;

	open_cells(&x);
	put_paths_to_three(&x);
	put_time(&x, line, 3, 4, 900);
	put_time(&x, line + 1, 3, 5, 100);
	sample_path(put_path(&x, line + 6, BY_TWO, line), 90);
	((struct dw_tree_drawn *)&x.arena[BY_ONE])->lost = 10 * 100;
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(rest_below(&x, path_node(&x, path_node(&x, 1, 2), 4)).application_ns, 100);
	CHECK_INT(rest_below(&x, path_node(&x, path_node(&x, 1, 3), 4)).application_ns, 0);
	CHECK_INT(all_cells(&x, -1).application_ns, 0);
	close_process(&x);
}

/* Every node's parent is one that it may have, whatever a target says. */
static void check_nodes(bool *check_failed, const struct process *x)
{
	for (uint32_t id = 1; id <= dw_calls_count(&x->p.calls); id++) {
		const struct dw_call_node *node = dw_calls_get(&x->p.calls, id);
		const struct dw_call_node *parent = dw_calls_get(&x->p.calls, node->parent);

		CHECK(parent || node->flags == DWELL_CALL_ROOT);
		if (!parent)
			continue;
		CHECK_INT(parent->thread, node->thread);
		CHECK(!(parent->flags & (DWELL_CALL_TRUNCATED | DWELL_CALL_OVERFLOW)));
		if (node->flags & DWELL_CALL_LINE && !(node->flags & DWELL_CALL_OVERFLOW))
			CHECK(!(parent->flags & (DWELL_CALL_ROOT | DWELL_CALL_LINE)));
	}
}

/* A call that is taken back may have been looked at before: that was time of what it was called by.
 */
TEST(paths_of_calls_that_are_taken_back_are_their_callers)
{
	struct process x;
	uint32_t one, two;

	open_cells(&x);
	put_cell(&x, CELLS, ROOT_RECORD, record_of(1))->elapsed = 300;
	put_cell(&x, CELLS + 1, record_of(1), EXTERNAL_RECORD);
	x.arena[CELLS + 1].node.os = UINT32_MAX;
	put_cell(&x, CELLS + 2, EXTERNAL_RECORD, record_of(2))->elapsed = 100;
	put_path(&x, CELLS + 3, 0, ROOT_CELL);
	sample_path(put_path(&x, CELLS + 5, CELLS + 3, CELLS), 20);
	sample_path(put_path(&x, CELLS + 7, CELLS + 5, CELLS + 1), 10);
	sample_path(put_path(&x, CELLS + 9, CELLS + 7, CELLS + 2), 10);
	put_event(&x, 400, ROOT_CELL);
	CHECK_INT(read_at(&x, 400, true), 0);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	one = path_node(&x, 1, 2);
	two = path_node(&x, one, 3);
	CHECK(one && two);
	CHECK_INT(values_of(&x, one, -1).elapsed_ns, 300);
	CHECK_INT(values_of(&x, two, -1).elapsed_ns, 100);
	close_process(&x);
}

TEST(paths_that_lie_are_survived)
{
	struct process x;
	uint32_t other = CELLS + 60, other_root = other + DWELL_THREAD_LINES, line = CELLS + 40;
	struct dw_tree_thread *t;

	open_cells(&x);
	t = (struct dw_tree_thread *)&x.arena[other];
	*t = *x.thread;
	t->root = other_root;
	x.arena[other_root].node.key = DWELL_KEY_ROOT;
	x.w.h->threads[1] = other;
	x.w.h->threads_n = 2;
	put_path(&x, CELLS, 0, ROOT_CELL);
	put_cell(&x, CELLS + 2, ROOT_RECORD, record_of(1))->elapsed = 50;
	sample_path(put_path(&x, CELLS + 3, CELLS, CELLS + 2), 10);
	/* A cell of another thread, statements by the root and by another one. */
	put_callee(&x, CELLS + 5, 2)->thread = other;
	put_cell(&x, CELLS + 7, CELLS + 5, CELLS + 5)->elapsed = 10;
	put_path(&x, CELLS + 8, CELLS + 3, CELLS + 7)->ticks = 5;
	put_callee(&x, line, DWELL_KEY_LINE | 5);
	put_cell(&x, CELLS + 10, record_of(1), line)->elapsed = 10;
	put_path(&x, CELLS + 11, CELLS, CELLS + 10)->ticks = 5;
	put_path(&x, CELLS + 13, CELLS + 3, CELLS + 10)->ticks = 5;
	put_path(&x, CELLS + 15, CELLS + 13, CELLS + 10)->ticks = 5;
	/* Parents that are none, and cells that are none. */
	put_path(&x, CELLS + 17, CELLS + 17, CELLS + 2);
	put_path(&x, CELLS + 19, THREAD, CELLS + 2);
	put_path(&x, CELLS + 21, UINT32_MAX, CELLS + 2);
	put_path(&x, CELLS + 23, CELLS, CELLS + 5);
	put_path(&x, CELLS + 25, CELLS, ROOT_CELL);
	put_path(&x, CELLS + 27, 0, CELLS + 2);
	put_path(&x, CELLS + 29, CELLS, 0)->cell = UINT64_MAX;
	put_path(&x, LINES - 1, CELLS, CELLS + 2);
	put_event(&x, 1000, ROOT_CELL);
	CHECK_INT(read_at(&x, 1000, false), 0);
	check_nodes(check_failed, &x);
	CHECK_INT(values_of(&x, path_node(&x, 1, 2), -1).elapsed_ns, 50);
	/* What was well may be lies by now. */
	((struct dw_tree_cell *)&x.arena[CELLS + 2])->callee = UINT32_MAX;
	x.arena[CELLS + 2].node.elapsed = 90;
	put_cell(&x, CELLS + 31, ROOT_RECORD, record_of(3))->callee = UINT32_MAX - 9;
	put_path(&x, CELLS + 32, CELLS, CELLS + 2)->ticks = 9;
	((struct dw_tree_drawn *)&x.arena[CELLS + 3])->parent = CELLS + 3;
	((struct dw_tree_drawn *)&x.arena[CELLS + 3])->ticks = UINT64_MAX;
	CHECK_INT(read_at(&x, 1000, false), 0);
	x.arena[CELLS + 2].node.elapsed = 100;
	CHECK_INT(read_at(&x, 1000, true), 0);
	check_nodes(check_failed, &x);
	close_process(&x);
}

static struct dw_tree_extremes *put_extremes(struct process *x, uint32_t line, uint64_t key)
{
	struct dw_tree_extremes *e = (struct dw_tree_extremes *)&x->arena[line];
	struct dw_tree_range none = {UINT64_MAX, 0};

	*e = (struct dw_tree_extremes){
		.elapsed_inclusive = none,
		.elapsed_exclusive = {40, 400},
		.key = key,
		.thread = THREAD,
		.mark = DWELL_MARK_EXTREMES,
		.application_inclusive = none,
		.application_exclusive = {30, 300},
	};
	return e;
}

TEST(extremes_of_activations_are_read)
{
	struct process x;
	struct dw_tree_extremes *e;
	const struct dw_call_extremes *row;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	e = put_extremes(&x, FIRST + 1, 10);
	put_extremes(&x, FIRST + 3, 100);
	CHECK_INT(read_at(&x, 900, false), 0);
	CHECK_INT(x.p.calls.extremes.n, 2);
	row = &x.p.calls.extremes.v[0];
	CHECK_INT(row->id, 1);
	CHECK_INT(row->thread, 1);
	CHECK_INT(row->entry, 11);
	CHECK_INT(row->values.elapsed_exclusive.min_ns, 40);
	CHECK_INT(row->values.application_exclusive.max_ns, 300);
	CHECK(!dw_range_known(&row->values.elapsed_inclusive));
	CHECK_INT(x.p.calls.extremes.v[1].entry, 101);
	CHECK_INT(read_at(&x, 1000, false), 0);
	CHECK_INT(x.p.calls.extremes.n, 2);
	/* What is in the second line counts as well; it is the same row. */
	e->application_inclusive = (struct dw_tree_range){0, 7};
	CHECK_INT(read_at(&x, 1100, false), 0);
	CHECK_INT(x.p.calls.extremes.n, 3);
	row = &x.p.calls.extremes.v[2];
	CHECK_INT(row->id, 1);
	CHECK_INT(row->values.application_inclusive.min_ns, 0);
	CHECK_INT(row->values.application_inclusive.max_ns, 7);
	CHECK_INT(sum_of(&x, 11, -1).calls, 0); /* none of it is a difference */
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* What is written between two steps of a reading, its first line before the step's end. */
static void put_extremes_across(void *ctx)
{
	struct process *x = ctx;
	struct dw_tree_extremes *e = put_extremes(x, LINES / 2 - 1, 10);

	e->skid[DWELL_SKID_END] = (struct dw_tree_skid){1, FIRST};
}

static void put_thread_across(void *ctx)
{
	struct process *x = ctx;
	uint32_t line = LINES / 2 - 1, root = line + DWELL_THREAD_LINES;
	struct dw_tree_thread *t = (struct dw_tree_thread *)&x->arena[line];

	*t = *x->thread;
	t->root = root;
	t->tid = 78;
	t->arena = BASE;
	x->arena[root].node.key = DWELL_KEY_ROOT;
	x->w.h->threads[1] = line;
	x->w.h->threads_n = 2;
}

static int read_across(struct process *x, void (*full)(void *ctx), bool is_last)
{
	struct dw_region_head head;
	struct dw_region_reading now = {.head = &head,
					.until = START + 900,
					.clock = &x->clock,
					.slice = x->slice++,
					.is_last = is_last,
					.full = full,
					.ctx = x};
	int rc = dw_region_read_head(x->w.fd, &head);

	return rc ? rc : dw_region_calls_read(x->r, x->w.fd, &now);
}

/* Records of several lines whose beginning was read before it was there, and whose end after that.
 */
TEST(ends_of_records_are_nothing_else)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	CHECK_INT(read_across(&x, put_extremes_across, false), 0);
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK(x.p.calls.extremes.n > 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

/* As many as a hostile process can have: each is looked at by itself. */
TEST(marks_of_trampolines_are_no_beginnings)
{
	struct process x;

	open_arena(&x, MANY_LINES);
	for (uint32_t line = FIRST; line < MANY_LINES; line++) {
		put_node(&x, line, ROOT, 10);
		x.arena[line].node.os = UINT32_MAX;
	}
	CHECK_INT(read_at(&x, 1000, true), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 1);
	close_process(&x);
}

TEST(threads_may_begin_at_the_end_of_a_step)
{
	struct process x;

	open_process(&x);
	put_thread_across(&x);
	CHECK_INT(read_across(&x, NULL, true), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

static struct dw_tree_slow *put_slow(struct process *x, uint32_t line, uint32_t node)
{
	struct dw_tree_slow *w = (struct dw_tree_slow *)&x->arena[line];

	*w = (struct dw_tree_slow){
		.start = START + 500,
		.elapsed = 1000,
		.below = 300,
		.cost = 20,
		.node = node,
		.own_os = 450,
		.serial = 2,
		.mark = DWELL_MARK_SLOW,
		.os = {100, 400, 50},
		.cpu_ticks = 60,
		.blocked_ticks = 490,
		.switches = 3,
		.io_calls = 1,
		.blocking_calls = 2,
		.own_blocked = 440,
	};
	return w;
}

TEST(slow_activations_are_read)
{
	struct process x;
	struct dw_tree_slow *w;
	const struct dw_call_slow *row;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	w = put_slow(&x, FIRST + 1, FIRST);
	CHECK_INT(read_at(&x, 2000, false), 0);
	CHECK_INT(x.p.calls.slow.n, 0); /* it may have been half written */
	CHECK_INT(read_at(&x, 3000, false), 0);
	CHECK_INT(x.p.calls.slow.n, 1);
	row = &x.p.calls.slow.v[0];
	CHECK_INT(row->id, 1);
	CHECK_INT(row->node, 2);
	CHECK_INT(row->start_ns, 500);
	CHECK_INT(row->inclusive.elapsed_ns, 1000);
	CHECK_INT(row->inclusive.application_ns, 450);
	CHECK_INT(row->inclusive.overhead_ns, 20);
	CHECK_INT(row->inclusive.blocked_ns, 490);
	CHECK_INT(row->inclusive.os_cpu_ns, 60);
	CHECK_INT(row->inclusive.switches, 3);
	CHECK_INT(row->exclusive.elapsed_ns, 700);
	CHECK_INT(row->exclusive.application_ns, 250);
	CHECK_INT(row->exclusive.blocked_ns, 440);
	CHECK_INT(dw_call_slow_callees(row), 200);
	CHECK_INT(row->io_ns + row->blocking_ns + row->switched_ns, 550);
	/* A slower one takes its place; while it is written nothing is known of it. */
	w->serial = 3;
	w->elapsed = 5000;
	CHECK_INT(read_at(&x, 4000, false), 0);
	CHECK_INT(read_at(&x, 5000, false), 0);
	CHECK_INT(x.p.calls.slow.n, 1);
	w->serial = 4;
	CHECK_INT(read_at(&x, 6000, true), 0);
	CHECK_INT(x.p.calls.slow.n, 2);
	CHECK_INT(x.p.calls.slow.v[1].id, 1);
	CHECK_INT(x.p.calls.slow.v[1].inclusive.elapsed_ns, 5000);
	close_process(&x);
}

TEST(activations_that_lie_are_survived)
{
	struct process x;
	struct dw_tree_slow *w;
	struct dw_tree_extremes *e;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	w = put_slow(&x, FIRST + 1, FIRST);
	w->below = w->os[DWELL_OS_SWITCHED] = w->own_os = w->own_blocked = UINT64_MAX;
	put_slow(&x, FIRST + 3, ROOT);
	put_slow(&x, FIRST + 5, LINES + 1);
	put_slow(&x, FIRST + 7, 0);
	put_slow(&x, FIRST + 9, FIRST)->serial = 1;
	put_extremes(&x, FIRST + 11, 10)->thread = FIRST;
	put_extremes(&x, FIRST + 13, 10)->thread = UINT32_MAX;
	e = put_extremes(&x, FIRST + 15, 10);
	e->elapsed_exclusive = (struct dw_tree_range){UINT64_MAX, 0};
	put_extremes(&x, LINES - 1,
		     10); /* half of it, beyond is what does not belong to the arena */
	CHECK_INT(read_at(&x, 2000, false), 0);
	CHECK_INT(read_at(&x, 3000, true), 0);
	CHECK_INT(x.p.calls.extremes.n, 0);
	CHECK_INT(x.p.calls.slow.n, 1);
	CHECK_INT(x.p.calls.slow.v[0].inclusive.application_ns, 0);
	CHECK_INT(x.p.calls.slow.v[0].switched_ns, 1000 - 500);
	CHECK_INT(x.p.calls.slow.v[0].exclusive.elapsed_ns, 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	close_process(&x);
}

TEST(children_wait_for_their_parents)
{
	struct process x;

	open_process(&x);
	x.arena[FIRST + 1].node.elapsed = 40;
	put_node(&x, FIRST + 1, FIRST, 20);
	put_node(&x, FIRST + 2, FIRST + 1, 30);
	CHECK_INT(read_at(&x, 100, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 1);
	put_node(&x, FIRST, ROOT, 10);
	CHECK_INT(read_at(&x, 100, true), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 4);
	CHECK_INT(sum_of(&x, 21, 1).elapsed_ns, 40);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

TEST(marks_of_trampolines_are_no_nodes)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 100);
	x.arena[FIRST + 1].node.os = UINT32_MAX;
	CHECK_INT(read_at(&x, 100, true), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

TEST(what_was_called_below_a_mark_is_its_callers)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	put_node(&x, FIRST + 1, FIRST, 100);
	x.arena[FIRST + 1].node.os = UINT32_MAX;
	put_node(&x, FIRST + 2, FIRST + 1, 20);
	x.arena[FIRST + 2].node.calls = 3;
	CHECK_INT(read_at(&x, 100, true), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 3);
	CHECK_INT(sum_of(&x, 21, -1).calls, 3);
	CHECK_INT(dw_calls_get(&x.p.calls, 3)->parent, 2);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 0);
	close_process(&x);
}

enum { MANY = 1 << 20 };

/* What was given of a large tree, in pieces. */
struct pieces {
	struct process x;
	struct dw_call_values sum;
	uint32_t values, nodes;
	size_t nodes_most; /* at a time */
};

/* Take what there is, and forget it, as who writes a session does. */
static void take_piece(void *ctx)
{
	struct pieces *all = ctx;
	struct dw_calls *calls = &all->x.p.calls;

	dw_vec_each(d, &calls->deltas)
		dw_call_values_add(&all->sum, &d->values);
	all->values += (uint32_t)calls->deltas.n;
	all->nodes = dw_calls_count(calls);
	if (all->nodes_most < calls->nodes.n)
		all->nodes_most = calls->nodes.n;
	calls->deltas.n = 0;
	dw_calls_forget(calls);
}

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* All that changed at once: it takes 120 bytes a node, and what is handed on at a time. */
TEST(a_million_nodes_take_little_memory)
{
	struct pieces all = {0};
	struct process *x = &all.x;
	struct dw_region_head head;
	struct dw_region_reading now = {
		.head = &head, .clock = &x->clock, .full = take_piece, .ctx = &all};
	long before_kb;

	open_arena(x, MANY + 2 * FIRST);
	for (uint32_t i = 0; i < MANY; i++) {
		put_node(x, FIRST + i, i ? FIRST + (i - 1) / 3 : ROOT, i % 50);
		x->arena[FIRST + i].node.calls = 2;
		x->arena[FIRST + i].node.elapsed = 100;
	}
	before_kb = peak_kb();
	CHECK_INT(dw_region_read_head(x->w.fd, &head), 0);
	CHECK_INT(dw_region_calls_read(x->r, x->w.fd, &now), 0);
	/* Sanitizers keep what was freed. */
	if (!IS_SANITIZED)
		CHECK(peak_kb() - before_kb < MANY / 1024 * 120 + (50 << 10));
	CHECK(all.values && all.values < MANY); /* the rest is what was not taken yet */
	take_piece(&all);
	CHECK_INT(all.nodes, MANY + 1);
	CHECK(all.nodes_most < MANY / 64);
	CHECK_INT(all.values, MANY);
	CHECK_INT(all.sum.calls, 2 * MANY);
	CHECK_INT(all.sum.elapsed_ns, 100 * MANY);
	CHECK_INT(dw_region_calls_stats(x->r)->sum.calls, 2 * MANY);
	close_process(x);
}

TEST(nonsense_is_dropped)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, FIRST, 10);		       /* its own parent */
	put_node(&x, FIRST + 1, LINES + 5, 10);	       /* beyond the arena */
	put_node(&x, FIRST + 2, THREAD, 10);	       /* no node */
	put_node(&x, FIRST + 3, ROOT, DWELL_KEY_ROOT); /* a second root */
	put_node(&x, FIRST + 4, FIRST + 9, 10);	       /* a parent behind it */
	put_node(&x, FIRST + 5, ROOT, 10);
	x.arena[FIRST + 5].node.os = LINES + 1;
	x.arena[FIRST + 6].os = (struct dw_tree_os){.ticks = UINT64_MAX, .mark = DWELL_MARK_OS};
	put_node(&x, FIRST + 7, ROOT, 11);
	x.arena[FIRST + 7].node.os = FIRST + 6;
	x.arena[FIRST + 7].node.elapsed = UINT64_MAX;
	put_node(&x, FIRST + 8, ROOT, 12);
	x.arena[FIRST + 8].node.os = FIRST + 6; /* another's */
	x.w.h->threads[1] = LINES - 1;		/* partly beyond */
	x.w.h->threads[2] = THREAD + 1;		/* over another */
	x.w.h->threads[3] = 0;
	x.w.h->threads_n = 4;
	x.thread->current = (struct dw_tree_node *)(uintptr_t)12345;
	CHECK_INT(read_at(&x, 100, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 4);
	CHECK_INT(dw_threads_count(&x.p.threads), 1);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 3); /* parents may come yet */
	x.arena[FIRST + 7].node.elapsed = 0;		  /* time runs back */
	CHECK_INT(read_at(&x, 100, false), 0);
	CHECK_INT(sum_of(&x, 12, 1).elapsed_ns, 0);
	x.arena[FIRST + 5].node.parent = UINT32_MAX; /* it had another */
	x.arena[FIRST + 5].node.calls = 3;
	CHECK_INT(read_at(&x, 100, true), 0);
	CHECK_INT(dw_region_calls_stats(x.r)->broken, 5);
	CHECK_INT(sum_of(&x, 11, -1).calls, 3);
	x.w.h->threads_n = DWELL_REGION_THREADS + 1;
	CHECK_INT(read_at(&x, 100, false), DWELL_ERR_FORMAT);
	x.w.h->threads_n = 1;
	x.w.h->arena_lines = UINT32_MAX;
	CHECK_INT(read_at(&x, 100, false), DWELL_ERR_LIMIT);
	x.w.h->arena_lines = LINES;
	x.w.h->chunks[0].at = 8;
	CHECK_INT(read_at(&x, 100, false), DWELL_ERR_FORMAT);
	x.w.h->chunks[0].at = 1ull << 40;
	CHECK_INT(read_at(&x, 100, false), DWELL_ERR_FORMAT);
	close_process(&x);
}

/* 32 MB beside the budget, and 150 for threads: what is kept of lines is a multiple of that. */
TEST(no_more_lines_are_read_than_there_is_memory_for)
{
	struct process x;

	open_process(&x);
	put_node(&x, FIRST, ROOT, 10);
	dw_region_calls_limit(x.r, 8 << 20);
	x.w.h->arena_lines = (200 << 20) / DWELL_LINE_BYTES;
	CHECK_INT(read_at(&x, 100, false), DWELL_ERR_LIMIT);
	CHECK_INT(dw_calls_count(&x.p.calls), 0);
	x.w.h->arena_lines = (182 << 20) / DWELL_LINE_BYTES;
	CHECK_INT(read_at(&x, 100, false), 0);
	CHECK_INT(dw_calls_count(&x.p.calls), 2);
	close_process(&x);
}

TEST_MAIN()
