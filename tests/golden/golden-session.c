/*
 * golden-session NAME FILE: write one of the sessions that golden texts are made from, through the
 * real writer.
 *
 * plain: two processes, recursion, an inlined function, a library, a cut stack, a thread without
 * samples. hostile: names that try to break each format. calls: instrumentation of two processes:
 * threads of one start routine, recursion, a callee that is not instrumented, blocked time, call
 * sites in an inlined function, a truncated tree, slices. memory: allocations of two processes:
 * objects that die in every generation, recursion, unknown and cut stacks, collections, slices.
 * requests: calls of threads of a pool, each a slow one.
 * service: calls of two functions of one name that a pool's thread runs as work.
 */
#include "analysis/totals.h"
#include "base/cleanup.h"
#include "maker.h"
#include "session/write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void set_facts(struct dw_profile *p, const char *command)
{
	if (dw_facts_set_text(&p->facts, "method", "sampling") ||
	    dw_facts_set_text(&p->facts, "command", command) ||
	    dw_facts_set(&p->facts, "frequency_hz", 1000) ||
	    dw_facts_set(&p->facts, "duration_ns", 1234567890) ||
	    dw_facts_set(&p->facts, "samples_kept", (int64_t)p->samples.n) ||
	    dw_facts_set(&p->facts, "samples_lost", 3) ||
	    dw_facts_set(&p->facts, "samples_discarded", 12) ||
	    dw_facts_set(&p->facts, "stacks_cut", 5) ||
	    dw_facts_set(&p->facts, "user_cpu_ns", 1100000000) ||
	    dw_facts_set(&p->facts, "kernel_cpu_ns", 20000000))
		abort();
}

static void add_idle_thread(struct dw_profile *p)
{
	struct dw_thread t = {.process = 1,
			      .tid = 102,
			      .name = mk_text(p, "idle"),
			      .begin_ns = 1000000,
			      .end_ns = 900000000};
	uint32_t id;

	if (dw_threads_add(&p->threads, &t, &id))
		abort();
}

/* fib's first half, up to its call of itself, of which 0x30 is the last byte; the second half is
 * not among what was stored. */
static void add_code(struct dw_profile *p, uint32_t function)
{
	static const uint8_t bytes[] = {
		0x55,					     /* 0x00 push %rbp */
		0x48, 0x89, 0xe5,			     /* 0x01 mov %rsp, %rbp */
		0x48, 0x83, 0xec, 0x10,			     /* 0x04 sub $0x10, %rsp */
		0x83, 0xff, 0x01,			     /* 0x08 cmp $1, %edi */
		0x7e, 0x26,				     /* 0x0b jle 0x33 */
		0x06,					     /* 0x0d not an instruction */
		0xf2, 0x0f, 0x10, 0x05, 0,    0,    1, 0,    /* 0x0e movsd 0x10000(%rip), %xmm0 */
		0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, /* 0x16 mov %fs:0x28, %rax */
		0xe8, 0xdc, 0xff, 0xff, 0xff,		     /* 0x1f call 0x00 */
		0x0f, 0x1f, 0x80, 0,	0,    0,    0,	     /* 0x24 nopl */
		0x90,					     /* 0x2b nop */
		0xe8, 0xcf, 0xff, 0xff, 0xff,		     /* 0x2c call 0x00 */
		0xc9,					     /* 0x31 leave */
	};
	struct dw_code code = {
		.function = function,
		.svma = dw_functions_get(&p->functions, function)->svma,
		.bytes_n = sizeof bytes,
		.bytes = malloc(sizeof bytes),
	};

	if (!code.bytes || dw_vec_push(&p->codes.rows, code))
		abort();
	memcpy(code.bytes, bytes, sizeof bytes);
}

static void set_command(struct dw_profile *p, uint32_t process, const char *command,
			const char *line)
{
	if (dw_process_set_command(p, process, command, line))
		abort();
}

static void make_plain(struct dw_profile *p)
{
	uint32_t prog = mk_module(p, "prog"), lib = mk_module(p, "libwork.so");
	uint32_t one = mk_process(p, 101, "prog"), two = mk_process(p, 201, "child");
	uint32_t start = mk_function(p, prog, "_start", NULL, 0);
	uint32_t main_ = mk_function(p, prog, "main", "src/main.c", 10);
	uint32_t fib = mk_function(p, prog, "fib", "src/main.c", 30);
	uint32_t work = mk_function(p, lib, "work(int)", "src/work.cpp", 5);
	uint32_t leaf = mk_function(p, lib, "clamp<int>(int)", "src/work.h", 7);
	struct dw_location inlined[] = {{leaf, mk_text(p, "src/work.h"), 9, 12, 10, 1},
					{work, mk_text(p, "src/work.cpp"), 8, 3, 0, 0}};
	uint32_t cut = mk_cut(p), f_start = mk_plain_frame(p, start, 0x10, 0);
	uint32_t f_main = mk_plain_frame(p, main_, 0x20, 12);
	uint32_t f_main2 = mk_plain_frame(p, main_, 0x40, 15);
	uint32_t f_fib = mk_plain_frame(p, fib, 0x30, 33), f_fib2 = mk_plain_frame(p, fib, 8, 31);
	uint32_t f_work = mk_plain_frame(p, work, 0x18, 6);
	uint32_t f_in = mk_frame(p, (struct dw_frame){lib, DWELL_FRAME_CODE, 0x1333}, inlined, 2);

	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main, f_fib, f_fib, f_fib2}, 5), 40);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main, f_fib}, 3), 10);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main2, f_work}, 3), 30);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main2, f_in}, 3), 60);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){cut, f_work, f_in}, 3), 5);
	mk_samples(p, two, mk_stack(p, (uint32_t[]){f_start, f_main2, f_in}, 3), 54);
	mk_samples(p, two, mk_stack(p, (uint32_t[]){f_start}, 1), 1);
	add_idle_thread(p);
	add_code(p, fib);
	set_command(p, two, "child", "./prog --child"); /* then it executes something else */
	set_command(p, two, "child orders.csv", "./prog --child /data/orders.csv");
	set_command(p, one, "prog", "./prog --fast");
	set_facts(p, "./prog --fast");
}

/* What a node of the session of calls has: own ns, of them the program's, and calls. */
static struct dw_call_values times(uint64_t calls, uint64_t elapsed_ns, uint64_t application_ns)
{
	uint64_t blocked = (elapsed_ns - application_ns) * 9 / 10;

	return (struct dw_call_values){
		.calls = calls,
		.elapsed_ns = elapsed_ns,
		.application_ns = application_ns,
		.delimited_ns = elapsed_ns == application_ns ? elapsed_ns : application_ns / 2,
		.overhead_ns = calls * 24,
		.blocked_ns = blocked,
		.os_cpu_ns = elapsed_ns - application_ns - blocked,
		.switches = blocked / 1000000,
		.io_calls = blocked / 2000000,
		.blocking_calls = blocked > 0,
	};
}

static void set_call_facts(struct dw_profile *p)
{
	static const struct {
		const char *key;
		int64_t value;
	} facts[] = {
		{"duration_ns", 200000000},	{"user_cpu_ns", 130000000},
		{"kernel_cpu_ns", 8000000},	{"residual_ns", 450000},
		{"functions_instrumented", 5},	{"functions_short", 2},
		{"functions_left_alone", 1},	{"processes_instrumented", 2},
		{"calls_truncated", 40},	{"paths_drawn", 12},
		{"events_dropped", 1},		{"agent_start_ns", 900000},
		{"system_calls_seen", 1},	{"processes_not_instrumented", 1},
		{"probes_function_ps", 250000},
	};

	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (dw_facts_set(&p->facts, facts[i].key, facts[i].value))
			abort();
	if (dw_facts_set_text(&p->facts, "method", "instrumentation") ||
	    dw_facts_set_text(&p->facts, "command", "./prog --fast") ||
	    dw_facts_set_text(&p->facts, "switches_unseen_in", "2") ||
	    dw_facts_set_text(&p->facts, "os_source", "perf"))
		abort();
}

/* A thread of the process @process that starts at @start. */
static uint32_t add_thread(struct dw_profile *p, uint32_t process, int32_t tid, const char *name,
			   uint32_t start)
{
	struct dw_thread t = {.process = process,
			      .tid = tid,
			      .name = mk_text(p, name),
			      .start = start,
			      .begin_ns = 5000000,
			      .end_ns = 150000000};
	uint32_t id;

	if (dw_threads_add(&p->threads, &t, &id))
		abort();
	return id;
}

static void add_slow(struct dw_profile *p, const struct dw_call_slow *slow)
{
	struct dw_call_slow row = *slow;

	row.id = (uint32_t)p->calls.slow.n + 1;
	if (dw_vec_push(&p->calls.slow, row))
		abort();
}

/* Activations of the function at @entry took @least to @most, up to a tenth of it themselves. */
static void add_extremes(struct dw_profile *p, uint32_t thread, uint32_t entry, uint64_t least,
			 uint64_t most)
{
	struct dw_call_extremes e = {.id = (uint32_t)p->calls.extremes.n + 1,
				     .thread = thread,
				     .entry = entry,
				     .values = {.elapsed_inclusive = {least, most},
						.elapsed_exclusive = {least / 10, most / 10},
						.application_inclusive = {least, most / 2},
						.application_exclusive = {least / 10, most / 20}}};

	if (dw_vec_push(&p->calls.extremes, e))
		abort();
}

static void add_file(struct dw_profile *p, uint32_t thread, uint32_t entry, const char *name,
		     struct dw_io_sums sums)
{
	struct dw_call_file f = {.id = (uint32_t)p->calls.files.n + 1,
				 .thread = thread,
				 .entry = entry,
				 .file = name ? mk_text(p, name) : 0,
				 .sums = sums};

	if (dw_vec_push(&p->calls.files, f))
		abort();
}

/* Two threads read a file, the second one by two functions; what had no room stands apart. */
static void add_files(struct dw_profile *p, uint32_t first, uint32_t second, const uint32_t *entry)
{
	const char *table = "/srv/data/table.db", *odd = "/srv/\033[31mred\n<b>.txt";

	add_file(p, first, entry[2], table, (struct dw_io_sums){120, 0, 491520, 0, 31000000});
	add_file(p, second, entry[2], table, (struct dw_io_sums){80, 0, 327680, 0, 9000000});
	add_file(p, second, entry[4], table, (struct dw_io_sums){2, 7, 100, 28672, 4000000});
	add_file(p, first, 0, "[pipe]", (struct dw_io_sums){0, 3, 0, 90, 12000});
	add_file(p, first, entry[0], odd, (struct dw_io_sums){1, 0, 0, 0, 2500});
	add_file(p, second, 0, NULL, (struct dw_io_sums){5, 1, 2048, 3, 700000});
}

/* A tree below @root: main > fib > fib, main > work > read. */
static void add_main_tree(struct dw_profile *p, uint32_t thread, const uint32_t *entry,
			  const uint32_t *site, uint64_t scale)
{
	struct dw_call_slow slow;
	uint32_t root = mk_call(p, thread, 0, 0, 0, DWELL_CALL_ROOT), main_, fib, fib2, work, read_;

	main_ = mk_call(p, thread, root, entry[0], 0, 0);
	fib = mk_call(p, thread, main_, entry[1], site[0], 0);
	fib2 = mk_call(p, thread, fib, entry[1], site[1], 0);
	work = mk_call(p, thread, main_, entry[2], site[0], 0);
	read_ = mk_call(p, thread, work, entry[3], site[2], DWELL_CALL_EXTERNAL);
	mk_delta(p, 0, root, times(0, 300000, 300000));
	mk_delta(p, 0, main_, times(1, 1000000 * scale, 1000000 * scale));
	mk_delta(p, 0, fib, times(1, 500, 500));
	mk_delta(p, 0, fib2, times(200000, 40000000 * scale, 38000000 * scale));
	mk_delta(p, 1, fib2, times(100000, 20000000 * scale, 20000000 * scale));
	mk_delta(p, 1, work, times(10, 3000000, 3000000));
	mk_delta(p, 1, read_, times(20, 50000000 * scale, 1000000));
	mk_delta(p, 2, main_, times(0, 2000000, 2000000));
	slow = (struct dw_call_slow){.node = read_, .start_ns = 131000000};
	slow.inclusive = slow.exclusive = times(1, 20000000 * scale, 400000);
	slow.io_ns = 20000000 * scale - 400000;
	add_slow(p, &slow);
	slow = (struct dw_call_slow){.node = work, .start_ns = 130500000};
	slow.inclusive = times(1, 24000000 * scale, 1600000);
	slow.exclusive = times(1, 1000000, 900000);
	slow.io_ns = 20000000 * scale - 400000;
	slow.switched_ns = 24000000 * scale - 1600000 - slow.io_ns;
	add_slow(p, &slow);
	slow = (struct dw_call_slow){.node = fib2, .start_ns = 60000000};
	slow.inclusive = times(1, 3000000, 3000000);
	slow.exclusive = times(1, 100, 100);
	add_slow(p, &slow);
	add_extremes(p, thread, entry[1], 90, 30000000 * scale);
	add_extremes(p, thread, entry[2], 110, 24000000 * scale);
	add_extremes(p, thread, entry[3], 0, 20000000 * scale);
}

/* Threads of a pool: work is called 40 times where there was no room for paths any more; one that
 * leads to three quarters of it was found. */
static void add_pool_tree(struct dw_profile *p, uint32_t thread, const uint32_t *entry)
{
	uint32_t root = mk_call(p, thread, 0, 0, 0, DWELL_CALL_ROOT);
	uint32_t pool = mk_call(p, thread, root, entry[4], 0, 0);
	uint32_t above = mk_call(p, thread, root, entry[4], 0, DWELL_CALL_ESTIMATED);
	uint32_t found = mk_call(p, thread, above, entry[2], 0, DWELL_CALL_ESTIMATED);
	uint32_t truncated = mk_call(p, thread, above, 0, 0, DWELL_CALL_TRUNCATED);
	uint32_t outermost = DWELL_CALL_OVERFLOW | DWELL_CALL_OUTERMOST_FUNCTION |
			     DWELL_CALL_OUTERMOST_MODULE | DWELL_CALL_OUTERMOST_EDGE;
	uint32_t own = mk_call(p, thread, root, entry[2], 0, outermost);
	uint32_t all = mk_call(p, thread, root, entry[2], 0, outermost | DWELL_CALL_INCLUSIVE);
	uint32_t both = mk_call(p, thread, root, entry[4], 0, outermost | DWELL_CALL_INCLUSIVE);
	struct dw_call_values time = times(0, 8000000, 8000000);

	p->calls.nodes.v[own - 1].caller = p->calls.nodes.v[all - 1].caller = entry[4];
	mk_delta(p, 1, pool, times(1, 6000000, 5000000));
	mk_delta(p, 1, found, times(30, 6000000, 6000000));
	mk_delta(p, 1, truncated, times(10, 2000000, 2000000));
	mk_delta(p, 1, both, time);
	time.calls = 40;
	mk_delta(p, 1, all, time);
	mk_delta(p, 1, own, time);
}

/* Pieces come slice by slice. */
static int compare_deltas(const void *pa, const void *pb)
{
	const struct dw_call_delta *a = pa, *b = pb;

	return a->slice != b->slice ? (a->slice > b->slice) - (a->slice < b->slice)
				    : (a->node > b->node) - (a->node < b->node);
}

static void make_calls(struct dw_profile *p)
{
	uint32_t prog = mk_module(p, "prog"), lib = mk_module(p, "libwork.so");
	uint32_t one = mk_process(p, 101, "prog"), two = mk_process(p, 201, "child");
	uint32_t start = mk_function(p, prog, "_start", NULL, 0);
	uint32_t main_ = mk_function(p, prog, "main", "src/main.c", 10);
	uint32_t fib = mk_function(p, prog, "fib", "src/main.c", 30);
	uint32_t work = mk_function(p, lib, "work(int)", "src/work.cpp", 5);
	uint32_t leaf = mk_function(p, lib, "clamp<int>(int)", "src/work.h", 7);
	uint32_t read_ = mk_function(p, mk_module(p, "libc.so.6"), "read", NULL, 0);
	uint32_t pool = mk_function(p, prog, "pool_main", "src/main.c", 50);
	struct dw_location inlined[] = {{leaf, mk_text(p, "src/work.h"), 9, 12, 10, 1},
					{work, mk_text(p, "src/work.cpp"), 8, 3, 0, 0}};
	uint32_t entry[] = {mk_plain_frame(p, main_, 0, 10), mk_plain_frame(p, fib, 0, 30),
			    mk_plain_frame(p, work, 0, 5), mk_plain_frame(p, read_, 0, 0),
			    mk_plain_frame(p, pool, 0, 50)};
	uint32_t site[] = {
		mk_plain_frame(p, main_, 0x21, 12), mk_plain_frame(p, fib, 0x31, 33),
		mk_frame(p, (struct dw_frame){lib, DWELL_FRAME_CODE, 0x1333}, inlined, 2)};

	dw_threads_get(&p->threads, one)->start = start;
	for (uint64_t i = 0; i < 3; i++)
		mk_slice(p, (50 + 75 * i) * 1000000);
	add_main_tree(p, one, entry, site, 2);
	add_main_tree(p, two, entry, site, 1);
	add_pool_tree(p, add_thread(p, 1, 102, "pool", pool), entry);
	add_pool_tree(p, add_thread(p, 1, 103, "pool", pool), entry);
	add_thread(p, 1, 104, "pool", pool);
	add_files(p, one, two, entry);
	qsort(p->calls.deltas.v, p->calls.deltas.n, sizeof *p->calls.deltas.v, compare_deltas);
	set_call_facts(p);
}

/* A thread of a pool that handles requests of two kinds: each a slow call. */
static void add_requests(struct dw_profile *p, uint32_t process, int32_t tid, const uint32_t *entry,
			 const uint64_t *ms)
{
	uint32_t thread = add_thread(p, process, tid, ".NET TP Worker", 0);
	uint32_t root = mk_call(p, thread, 0, 0, 0, DWELL_CALL_ROOT);

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t handler = mk_call(p, thread, root, entry[i % 2], 0, 0);
		struct dw_call_values all = times(1, ms[i] * 1000000, ms[i] * 1000000);

		mk_delta(p, 0, handler, all);
		add_slow(p, &(struct dw_call_slow){.node = handler,
						   .start_ns = 60000000 + 10000000 * i,
						   .inclusive = all,
						   .exclusive = all});
	}
}

/* A service: the slowest request of each kind is told, whatever order they came in. */
static void make_requests(struct dw_profile *p)
{
	uint32_t web = mk_module(p, "web.dll"), one = mk_process(p, 101, "web");
	uint32_t entry[] = {
		mk_plain_frame(p, mk_function(p, web, "Orders.Get", "orders.cs", 5), 0, 5),
		mk_plain_frame(p, mk_function(p, web, "Orders.Put", "orders.cs", 9), 0, 9)};

	mk_slice(p, 50000000);
	add_requests(p, one, 102, entry, (uint64_t[]){8, 10, 12});
	add_requests(p, one, 103, entry, (uint64_t[]){11, 7, 9});
	qsort(p->calls.deltas.v, p->calls.deltas.n, sizeof *p->calls.deltas.v, compare_deltas);
	set_call_facts(p);
}

/* A worker of a pool runs handlers of two modules, both called the same, of which one took long. */
static void make_service(struct dw_profile *p)
{
	uint32_t web = mk_module(p, "Web.dll"), orders = mk_module(p, "Orders.dll");
	uint32_t functions[] = {mk_function(p, web, "Api.Handle()", "src/web.cs", 12),
				mk_function(p, orders, "Api.Handle()", "src/orders.cs", 30)};
	uint32_t worker, root;

	mk_process(p, 301, "service");
	worker = add_thread(p, 1, 302, ".NET TP Worker", 0);
	mk_slice(p, 150000000);
	root = mk_call(p, worker, 0, 0, 0, DWELL_CALL_ROOT);
	mk_delta(p, 0, root, times(0, 1000000, 1000000));
	for (size_t i = 0; i < 2; i++) {
		uint32_t entry = mk_plain_frame(p, functions[i], 0, 12);
		uint32_t node = mk_call(p, worker, root, entry, 0, 0);
		uint64_t longest = 20000000 * (i + 1);
		struct dw_call_slow slow = {.node = node, .start_ns = 60000000};

		slow.inclusive = slow.exclusive = times(1, longest, longest);
		mk_delta(p, 0, node, times(10, longest + 9000000, longest + 9000000));
		add_slow(p, &slow);
		add_extremes(p, worker, entry, 1000000, longest);
	}
	set_call_facts(p);
}

static void make_hostile(struct dw_profile *p)
{
	static const char *const names[] = {
		"esc\033[31mape\007",
		"line\nfeed\r\ttab",
		"quote\"and,comma",
		"<b>&amp;</b>]]><!--",
		"bidi\u202egnp.exe\u2066",
		"bad\xff\xc0\xaf\xed\xa0\x80utf8\xf4\x90\x80\x80 cut\xe2\x82",
		"noncharacter\uffff\ufffe",
		"=1+1;cmd|'/c'!A0",
		"wide\u6f22\u5b57\U0001f600 e\u0301",
		"c1\xc2\x85\u2028sep\u200bzero",
	};
	uint32_t module = mk_module(p, "lib\"<evil>\n\033[2J.so");
	uint32_t thread = mk_process(p, 666, "pro\033]0;title\007cess");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint32_t f = mk_function(p, module, names[i], "src/\"<\n>&.c", 3);
		uint32_t frame = mk_plain_frame(p, f, 1, 4);

		mk_samples(p, thread, mk_stack(p, &frame, 1), 20 - i);
	}
	set_facts(p, "./prog '\033[2J' <>&\"\n");
	if (dw_facts_set_text(&p->facts, "road", "inside") ||
	    dw_facts_set_text(&p->facts, "road_why", "be\007cause <of> \"this\""))
		abort();
}

/* @n objects of @each bytes, of which so many died in generations 0, 1, 2 and the large heap. */
static struct dw_alloc_values lives(uint64_t n, uint64_t each, const uint64_t died[4])
{
	struct dw_alloc_values v = {.allocated = {n, n * each}};

	for (int i = 0; i < 4; i++)
		v.collected[i] = (struct dw_alloc_count){died[i], died[i] * each};
	return v;
}

#define DIED(...)           \
	(const uint64_t[4]) \
	{                   \
		__VA_ARGS__ \
	}

static void add_gc(struct dw_profile *p, uint32_t process, uint32_t generation, uint64_t start_ms,
		   uint32_t stack)
{
	bool is_first = !p->allocations.gcs.n;
	struct dw_gc gc = {.process = process,
			   .number = (uint32_t)p->allocations.gcs.n + 1,
			   .generation = generation,
			   .reason = mk_text(p, is_first ? "small objects" : "large objects"),
			   .is_blocking = generation < 2 || is_first,
			   .is_compacting = generation == 1,
			   .thread = stack ? process : 0,
			   .stack = stack,
			   .start_ns = start_ms * 1000000,
			   .pause_ns = 1500000 + generation * 10000000ull,
			   .added_ns = 2250000 + generation * 1000000ull,
			   .heap_before = 4000000,
			   .heap_after = 1500000 + generation,
			   .promoted = 900000};

	if (dw_vec_push(&p->allocations.gcs, gc))
		abort();
}

/* Trees of nodes, their texts, and a buffer, in the process of @thread. */
static void add_allocations(struct dw_profile *p, uint32_t thread, const uint32_t *types,
			    const uint32_t *f, uint64_t scale)
{
	uint32_t make = mk_stack(p, (uint32_t[]){f[0], f[1], f[1], f[1]}, 4);
	uint32_t once = mk_stack(p, (uint32_t[]){f[0], f[1]}, 2);
	uint32_t concat = mk_stack(p, (uint32_t[]){f[0], f[2], f[3]}, 3);
	uint32_t cut = mk_stack(p, (uint32_t[]){f[4], f[2], f[3]}, 3);
	struct dw_alloc_group node = {thread, make, types[0]}, root = {thread, once, types[0]};
	struct dw_alloc_group text = {thread, concat, types[1]}, lost = {thread, cut, types[1]};
	struct dw_alloc_group buffer = {thread, once, types[2]}, boxed = {thread, 0, types[3]};

	mk_alloc(p, 0, node, lives(1000 * scale, 40, DIED(600 * scale, 0, 0, 0)));
	mk_alloc(p, 0, root, lives(10, 40, DIED(0, 0, 0, 0)));
	mk_alloc(p, 0, text, lives(500 * scale, 64, DIED(500 * scale, 0, 0, 0)));
	mk_alloc(p, 1, node, lives(200 * scale, 40, DIED(100 * scale, 300 * scale, 0, 0)));
	mk_alloc(p, 1, buffer, lives(4, 100000, DIED(0, 0, 0, 1)));
	mk_alloc(p, 1, lost, lives(5, 64, DIED(0, 0, 0, 0)));
	mk_alloc(p, 2, node, lives(0, 40, DIED(0, 0, 150 * scale, 0)));
	mk_alloc(p, 2, buffer, lives(0, 100000, DIED(0, 0, 0, 2)));
	mk_alloc(p, 2, boxed, lives(7, 24, DIED(1, 1, 1, 0)));
	add_gc(p, thread, 0, 20, make);
	add_gc(p, thread, 1, 90, once);
	add_gc(p, thread, 2, 160, 0);
}

static int compare_allocs(const void *pa, const void *pb)
{
	const struct dw_alloc_delta *a = pa, *b = pb;

	return a->slice != b->slice ? (a->slice > b->slice) - (a->slice < b->slice)
				    : (a->group > b->group) - (a->group < b->group);
}

static void make_memory(struct dw_profile *p)
{
	uint32_t app = mk_module(p, "App.dll"), core = mk_module(p, "System.Private.CoreLib.dll");
	uint32_t one = mk_process(p, 101, "dotnet"), two = mk_process(p, 201, "worker");
	uint32_t main_ = mk_function(p, app, "App.Program.Main(string[])", "src/Program.cs", 10);
	uint32_t make = mk_function(p, app, "App.Tree.Make(int)", "src/Tree.cs", 30);
	uint32_t print = mk_function(p, app, "App.Tree.Print()", "src/Tree.cs", 50);
	uint32_t concat = mk_function(p, core, "System.String.Concat(string, string)", NULL, 0);
	uint32_t f[] = {mk_plain_frame(p, main_, 0x20, 12), mk_plain_frame(p, make, 0x10, 33),
			mk_plain_frame(p, print, 0x18, 52), mk_plain_frame(p, concat, 4, 0),
			mk_cut(p)};

	p->modules.rows.v[app].kind = p->modules.rows.v[core].kind = DWELL_MODULE_MANAGED;
	for (uint64_t i = 0; i < 3; i++)
		mk_slice(p, (50 + 75 * i) * 1000000);
	for (uint32_t process = 1; process <= 2; process++) {
		uint32_t types[] = {mk_type(p, "App.Tree.Node<int>", app, process),
				    mk_type(p, "string", core, process),
				    mk_type(p, "byte[]", core, process),
				    mk_type(p, "System.Int32", 0, process)};

		add_allocations(p, process == 1 ? one : two, types, f, process);
	}
	qsort(p->allocations.deltas.v, p->allocations.deltas.n, sizeof *p->allocations.deltas.v,
	      compare_allocs);
	if (dw_facts_set_text(&p->facts, "method", "memory") ||
	    dw_facts_set_text(&p->facts, "command", "dotnet App.dll") ||
	    dw_facts_set(&p->facts, "duration_ns", 200000000) ||
	    dw_facts_set(&p->facts, "has_lifetime", 1) ||
	    dw_facts_set(&p->facts, "bytes_announced", 1041776) ||
	    dw_facts_set(&p->facts, "bytes_counted_by_runtime", 1042000) ||
	    dw_facts_set(&p->facts, "objects_without_stack", 14))
		abort();
}

/* A flush clears samples and pieces of calls, finishing wants them back. */
static int flush(struct dw_session_writer *w, struct dw_profile *p, struct dw_error *err)
{
	struct dw_samples all = {0};
	size_t deltas = p->calls.deltas.n, extremes = p->calls.extremes.n, slow = p->calls.slow.n;
	size_t allocs = p->allocations.deltas.n, files = p->calls.files.n;
	int rc = 0;

	for (size_t i = 0; i < p->samples.n && !rc; i++)
		rc = dw_samples_add(&all, p->samples.time_ns[i], p->samples.thread[i],
				    p->samples.stack[i]);
	if (!rc)
		rc = dw_session_flush(w, p, err);
	dw_samples_release(&p->samples);
	p->samples = all;
	p->calls.deltas.n = deltas; /* the rows are there still */
	p->calls.extremes.n = extremes;
	p->calls.slow.n = slow;
	p->calls.files.n = files;
	p->allocations.deltas.n = allocs;
	return rc;
}

static int write_session(struct dw_profile *p, const char *path, struct dw_error *err)
{
	const struct dw_filter by_process = {.by = DWELL_BY_PROCESS, .splits_lines = true};
	struct dw_totals totals = {0};
	struct dw_session_writer *w = NULL;
	dw_auto_free char *partial = NULL;
	int rc;

	if (asprintf(&partial, "%s.partial", path) < 0)
		return -ENOMEM;
	rc = dw_totals_compute(p, &by_process, DWELL_TOTALS_ALL, &totals);
	if (!rc)
		rc = dw_session_create(path, &w, err);
	if (!rc)
		rc = flush(w, p, err);
	if (!rc)
		rc = dw_session_close_partial(w, err);
	dw_session_writer_free(w, rc != 0);
	if (!rc)
		rc = dw_session_finish(partial, path, p, &totals, err);
	dw_totals_release(&totals);
	return rc;
}

int main(int argc, char **argv)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	if (argc != 3) {
		fprintf(stderr,
			"usage: golden-session plain|hostile|calls|requests|memory|service FILE\n");
		return 2;
	}
	if (!strcmp(argv[1], "plain"))
		make_plain(&p);
	else if (!strcmp(argv[1], "calls"))
		make_calls(&p);
	else if (!strcmp(argv[1], "requests"))
		make_requests(&p);
	else if (!strcmp(argv[1], "memory"))
		make_memory(&p);
	else if (!strcmp(argv[1], "service"))
		make_service(&p);
	else
		make_hostile(&p);
	rc = write_session(&p, argv[2], &err);
	if (rc)
		fprintf(stderr, "golden-session: %s\n", dw_error_message(&err));
	dw_profile_release(&p);
	dw_error_clear(&err);
	return rc ? 1 : 0;
}
