/* The perf backend without the kernel: records, rings, processes and mappings from bytes of our
 * own. */
#include "check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "collect/samples/deep-stack.h"
#include "collect/perf/event.h"
#include "collect/perf/records.h"
#include "collect/perf/ring.h"
#include "target/maps.h"

#include <unistd.h>

/* Append a record: header, then what @body puts, then for all but samples pid, tid and time. */
static void begin_record(struct dw_buf *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {type, misc, 0};

	dw_buf_put(b, &h, sizeof h);
}

static void put_u32(struct dw_buf *b, uint32_t v)
{
	dw_buf_put(b, &v, sizeof v);
}

static void put_u64(struct dw_buf *b, uint64_t v)
{
	dw_buf_put(b, &v, sizeof v);
}

/* Set the size of the record that began at @from. */
static void end_record(struct dw_buf *b, size_t from)
{
	uint16_t bytes = (uint16_t)(b->len - from);

	memcpy(b->data + from + 6, &bytes, sizeof bytes);
}

static void put_trailer(struct dw_buf *b, size_t from, uint32_t pid, uint32_t tid, uint64_t time)
{
	put_u32(b, pid);
	put_u32(b, tid);
	put_u64(b, time);
	end_record(b, from);
}

static void put_task(struct dw_buf *b, uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid,
		     uint32_t ptid, uint64_t time)
{
	size_t from = b->len;

	begin_record(b, type, 0);
	put_u32(b, pid);
	put_u32(b, ppid);
	put_u32(b, tid);
	put_u32(b, ptid);
	put_u64(b, time);
	put_trailer(b, from, pid, tid, time);
}

static void put_comm(struct dw_buf *b, uint32_t pid, const char *name, bool exec, uint64_t time)
{
	size_t from = b->len;
	char padded[16] = "";

	strncpy(padded, name, sizeof padded - 1);
	begin_record(b, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	put_u32(b, pid);
	put_u32(b, pid);
	dw_buf_put(b, padded, sizeof padded);
	put_trailer(b, from, pid, pid, time);
}

static void put_mmap2(struct dw_buf *b, uint32_t pid, uint64_t start, uint64_t inode,
		      const char *path, uint64_t time)
{
	size_t from = b->len;
	char padded[32] = "";

	strncpy(padded, path, sizeof padded - 1);
	begin_record(b, PERF_RECORD_MMAP2, 0);
	put_u32(b, pid);
	put_u32(b, pid);
	put_u64(b, start);
	put_u64(b, 0x2000);
	put_u64(b, 0x1000);
	put_u32(b, 8);
	put_u32(b, 1);
	put_u64(b, inode);
	put_u64(b, 77);
	put_u64(b, 0);
	dw_buf_put(b, padded, sizeof padded);
	put_trailer(b, from, pid, pid, time);
}

/* A sample at @ip with a small stack of @words words. */
static void put_sample(struct dw_buf *b, uint32_t tid, uint64_t ip, const uint64_t *words, size_t n,
		       uint64_t time)
{
	size_t from = b->len;

	begin_record(b, PERF_RECORD_SAMPLE, 0);
	put_u64(b, ip);
	put_u32(b, tid);
	put_u32(b, tid);
	put_u64(b, time);
	put_u64(b, PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < 17; i++)
		put_u64(b, i == 8 ? ip : i == 7 || i == 6 ? 0x7000 : (uint64_t)i);
	put_u64(b, n * 8);
	dw_buf_put(b, words, n * 8);
	put_u64(b, n * 8);
	end_record(b, from);
}

/* Feed all records of @b. */
static int feed(struct dw_dispatcher *in, const struct dw_buf *b)
{
	size_t at = 0;

	while (at < b->len) {
		struct perf_event_header h;
		int rc;

		memcpy(&h, b->data + at, sizeof h);
		rc = dw_dispatcher_record(in, b->data + at, h.size, true);
		if (rc)
			return rc;
		at += h.size;
	}
	return 0;
}

/* A sample of 64-bit code without a stack, with the @n addresses of @chain. */
static void put_chained(struct dw_buf *b, const uint64_t *chain, uint64_t n)
{
	size_t from = b->len;

	begin_record(b, PERF_RECORD_SAMPLE, 0);
	put_u64(b, 7); /* the event */
	put_u32(b, 10);
	put_u32(b, 10);
	put_u64(b, 1000);
	put_u64(b, n);
	dw_buf_put(b, chain, n * sizeof *chain);
	put_u64(b, PERF_SAMPLE_REGS_ABI_NONE);
	put_u64(b, 0);
	end_record(b, from);
}

TEST(records_of_switches)
{
	static const struct {
		uint16_t misc;
		enum dw_switch to;
	} cases[] = {
		{0, DWELL_SWITCH_ON},
		{PERF_RECORD_MISC_SWITCH_OUT, DWELL_SWITCH_OFF},
		{PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		 DWELL_SWITCH_PREEMPTED},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dw_auto(dw_buf) b = DW_BUF_INIT;
		struct dw_perf_record r;

		begin_record(&b, PERF_RECORD_SWITCH, cases[i].misc);
		put_u32(&b, 10);
		put_u32(&b, 11);
		put_u64(&b, 1000);
		end_record(&b, 0);
		CHECK_INT(dw_perf_record_decode(b.data, b.len, false, &r), 0);
		CHECK_INT(r.type, PERF_RECORD_SWITCH);
		CHECK_INT(r.pid, 10);
		CHECK_INT(r.tid, 11);
		CHECK_INT(r.time_ns, 1000);
		CHECK_INT(r.to, cases[i].to);
		CHECK_INT(dw_perf_record_decode(b.data, b.len - 1, false, &r), DWELL_ERR_FORMAT);
	}
}

TEST(frames_of_the_kernel)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
				  PERF_CONTEXT_USER, 0x1000};
	dw_auto(dw_buf) b = DW_BUF_INIT;
	struct dw_perf_record r;
	uint64_t second;

	put_chained(&b, chain, 5);
	CHECK_INT(dw_perf_record_decode(b.data, b.len, true, &r), 0);
	CHECK_INT(r.sample.event, 7);
	CHECK_INT(r.sample.kernel_n, 2);
	memcpy(&second, r.sample.kernel + 8, sizeof second);
	CHECK(second == chain[2]);
	for (size_t n = 0; n < b.len; n++)
		CHECK_INT(dw_perf_record_decode(b.data, n, true, &r), DWELL_ERR_FORMAT);
	b.len = 0;
	put_chained(&b, chain + 4, 1); /* no mark: not the kernel's */
	CHECK_INT(dw_perf_record_decode(b.data, b.len, true, &r), 0);
	CHECK_INT(r.sample.kernel_n, 0);
}

TEST(samples_in_the_kernel_alone)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020};
	struct dw_profile p = DW_PROFILE_INIT;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	const struct dw_stack *stack;
	struct dw_dispatcher in;

	dw_dispatcher_init(&in, &p, NULL, true);
	in.has_chains = true;
	put_chained(&b, chain, 3);
	CHECK_INT(feed(&in, &b), 0);
	CHECK_INT(p.samples.n, 1);
	stack = dw_stacks_get(&p.stacks, p.samples.stack[0]);
	CHECK(dw_frames_get(&p.frames, stack->frame)->svma == chain[1]);
	stack = dw_stacks_get(&p.stacks, stack->parent);
	CHECK(dw_frames_get(&p.frames, stack->frame)->svma == chain[2] - 1);
	CHECK_INT(stack->parent, 0);
	CHECK_INT(dw_modules_get(&p.modules, 1)->kind, DWELL_MODULE_KERNEL);
	CHECK_INT(in.unwinder.cut, 0);
	dw_dispatcher_release(&in);
	dw_profile_release(&p);
}

TEST(events_by_name)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_perf_event e;

	CHECK_INT(dw_perf_event_find("page-faults", &e, &err), 0);
	CHECK_INT(e.type, PERF_TYPE_SOFTWARE);
	CHECK_INT(e.config, PERF_COUNT_SW_PAGE_FAULTS);
	CHECK_INT(e.kind, DWELL_EVENT_COUNT);
	CHECK_INT(dw_perf_event_find("r1c0", &e, &err), 0);
	CHECK_INT(e.type, PERF_TYPE_RAW);
	CHECK_INT(e.config, 0x1c0);
	CHECK_INT(dw_perf_event_find("software/", &e, &err), 0);
	CHECK_INT(e.type, PERF_TYPE_SOFTWARE);
	for (unsigned i = 0; dw_perf_event_name(i); i++)
		CHECK_INT(dw_perf_event_find(dw_perf_event_name(i), &e, &err), 0);
	dw_error_clear(&err);
}

TEST(events_that_are_none)
{
	static const char *const names[] = {
		"",	     "nix",	      "r",   "rxyz",	     "/",
		"no-pmu/x/", "software/x=1/", "a:b", "../software/", "sched:../sched_switch",
		":",	     "software/x"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct dw_error err = DW_ERROR_INIT;
		struct dw_perf_event e;

		CHECK_INT(dw_perf_event_find(names[i], &e, &err), DWELL_ERR_NOT_FOUND);
		dw_error_clear(&err);
	}
}

TEST(record_of_a_sample)
{
	dw_auto(dw_buf) b = DW_BUF_INIT;
	uint64_t words[2] = {1, 2};
	struct dw_perf_record r;

	put_sample(&b, 5, 0x1234, words, 2, 99);
	CHECK_INT(dw_perf_record_decode(b.data, b.len, false, &r), 0);
	CHECK_INT(dw_perf_record_time(b.data, b.len), 99);
	CHECK_INT(r.tid, 5);
	CHECK_INT(r.time_ns, 99);
	CHECK_INT(r.sample.regs.r[DWELL_REG_PC], 0x1234);
	CHECK_INT(r.sample.regs.r[DWELL_REG_SP], 0x7000);
	CHECK_INT(r.sample.regs.r[3], 1); /* perf's bx is DWARF's 3 */
	CHECK_INT(r.sample.regs.r[1], 3); /* perf's dx is DWARF's 1 */
	CHECK_INT(r.sample.regs.r[15], 16);
	CHECK_INT(r.sample.stack_bytes, 16);
	CHECK_INT(r.sample.stack[8], 2);
}

TEST(records_cut_anywhere)
{
	dw_auto(dw_buf) b = DW_BUF_INIT;
	uint64_t words[2] = {1, 2};
	struct dw_perf_record r;

	put_sample(&b, 5, 0x1234, words, 2, 99);
	for (size_t n = 0; n < b.len; n++)
		CHECK_INT(dw_perf_record_decode(b.data, n, false, &r), DWELL_ERR_FORMAT);
	dw_buf_clear(&b);
	put_mmap2(&b, 1, 0x1000, 2, "/a/path/that/is/long", 3);
	for (size_t n = 0; n < 100; n++)
		CHECK_INT(dw_perf_record_decode(b.data, n, false, &r), DWELL_ERR_FORMAT);
}

/* A ring of one page in our own memory, in which positions start just before the wrap. */
struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[4096];
	struct dw_ring ring;
};

static void fake_write(struct fake *f, const struct dw_buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		f->data[(f->page.data_head + i) % sizeof f->data] = (uint8_t)b->data[i];
	f->page.data_head += b->len;
}

static void fake_init(struct fake *f, uint64_t at)
{
	memset(f, 0, sizeof *f);
	f->page.data_head = f->page.data_tail = at;
	dw_ring_init(&f->ring, &f->page, f->data, sizeof f->data);
}

TEST(ring_wraps_around)
{
	static struct fake f;
	struct dw_perf_record r;
	uint64_t words[200];

	for (size_t i = 0; i < 200; i++)
		words[i] = i * 3;
	fake_init(&f, 4096 * 5 - 12);
	for (uint64_t time = 1; time < 20; time++) {
		dw_auto(dw_buf) b = DW_BUF_INIT;
		const void *p;
		size_t n;

		put_sample(&b, 7, 0x1000, words, 200, time);
		fake_write(&f, &b);
		dw_ring_refresh(&f.ring);
		p = dw_ring_peek(&f.ring, &n);
		CHECK(p);
		CHECK_INT(dw_perf_record_decode(p, n, false, &r), 0);
		CHECK_INT(r.time_ns, time);
		CHECK(!memcmp(r.sample.stack, words, sizeof words));
		dw_ring_consume(&f.ring);
		CHECK_INT(f.page.data_tail, f.page.data_head);
		CHECK(!dw_ring_peek(&f.ring, &n));
	}
	dw_ring_close(&f.ring);
}

TEST(the_record_behind_the_next_is_seen)
{
	static struct fake f;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	struct dw_perf_record r;
	const void *p;
	size_t n = 0;

	fake_init(&f, 0);
	CHECK(!dw_ring_peek_behind(&f.ring, &n));
	put_comm(&b, 1, "first", false, 5);
	fake_write(&f, &b);
	dw_ring_refresh(&f.ring);
	CHECK(!dw_ring_peek_behind(&f.ring, &n));
	dw_buf_clear(&b);
	put_comm(&b, 2, "second", false, 6);
	fake_write(&f, &b);
	dw_ring_refresh(&f.ring);
	p = dw_ring_peek_behind(&f.ring, &n);
	CHECK(p);
	CHECK_INT(dw_perf_record_decode(p, n, false, &r), 0);
	CHECK_INT(r.pid, 2);
	CHECK_STR(r.comm.name, "second");
	dw_ring_consume(&f.ring);
	CHECK(p == dw_ring_peek(&f.ring, &n));
	CHECK(!dw_ring_peek_behind(&f.ring, &n));
	dw_ring_close(&f.ring);
}

TEST(broken_sizes_empty_a_ring)
{
	static const uint16_t sizes[] = {0, 7, 4000, 65535};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		static struct fake f;
		dw_auto(dw_buf) b = DW_BUF_INIT;
		size_t n;

		fake_init(&f, 0);
		put_comm(&b, 1, "x", false, 5);
		memcpy(b.data + 6, &sizes[i], 2);
		fake_write(&f, &b);
		dw_ring_refresh(&f.ring);
		CHECK(!dw_ring_peek(&f.ring, &n));
		CHECK_INT(f.page.data_tail, f.page.data_head);
		CHECK_INT(f.ring.dropped, 1);
		dw_ring_close(&f.ring);
	}
}

TEST(rings_merge_by_time)
{
	static struct fake side, a, b;
	static const uint64_t side_times[] = {20, 40}, a_times[] = {10, 20, 50},
			      b_times[] = {15, 40};
	static const uint64_t want[] = {10, 15, 20, 20, 40, 40};
	dw_auto(dw_buf) bytes = DW_BUF_INIT;
	struct dw_rings rings = {0};
	struct dw_ring *r;
	size_t n = 0;

	fake_init(&side, 0);
	fake_init(&a, 4096 - 8);
	fake_init(&b, 4096 - 40);
	for (size_t i = 0; i < 2; i++)
		put_comm(&bytes, 1, "s", false, side_times[i]);
	fake_write(&side, &bytes);
	dw_buf_clear(&bytes);
	for (size_t i = 0; i < 3; i++)
		put_comm(&bytes, 2, "a", false, a_times[i]);
	fake_write(&a, &bytes);
	dw_buf_clear(&bytes);
	for (size_t i = 0; i < 2; i++)
		put_comm(&bytes, 3, "b", false, b_times[i]);
	fake_write(&b, &bytes);
	CHECK_INT(dw_vec_push(&rings.v, side.ring) | dw_vec_push(&rings.v, a.ring) |
			  dw_vec_push(&rings.v, b.ring),
		  0);
	dw_rings_refresh(&rings);
	while ((r = dw_rings_next(&rings, 49))) {
		CHECK(n < 6);
		CHECK_INT(r->next_ns, want[n]);
		/* At equal times the side-band ring comes first. */
		CHECK(n != 2 || r == &rings.v.v[0]);
		CHECK(n != 4 || r == &rings.v.v[0]);
		dw_ring_consume(r);
		n++;
	}
	CHECK_INT(n, 6);
	r = dw_rings_next(&rings, UINT64_MAX - 1);
	CHECK(r);
	CHECK_INT(r->next_ns, 50);
	dw_rings_release(&rings);
}

TEST(processes_and_their_mappings)
{
	dw_auto(dw_profile) p = DW_PROFILE_INIT;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	dw_auto(dw_dispatcher) in;
	const struct dw_process *row;
	uint64_t words[4] = {0};

	dw_dispatcher_init(&in, &p, NULL, true);
	in.track.start_ns = 1000;
	CHECK_INT(dw_track_command(&in.track, 10), 0);
	put_comm(&b, 10, "first", true, 1100);
	put_mmap2(&b, 10, 0x400000, 5, "/bin/first", 1110);
	put_task(&b, PERF_RECORD_FORK, 10, 10, 11, 10, 1120); /* a thread */
	put_task(&b, PERF_RECORD_FORK, 12, 10, 12, 11, 1130); /* a process */
	put_sample(&b, 12, 0x400800, words, 4, 1140);	      /* in what it inherited */
	put_comm(&b, 12, "second", true, 1150);
	put_sample(&b, 12, 0x400800, words, 4, 1160); /* nothing mapped there any more */
	put_task(&b, PERF_RECORD_EXIT, 12, 10, 12, 10, 1170);
	put_task(&b, PERF_RECORD_FORK, 12, 10, 12, 10, 1180); /* the number comes again */
	put_task(&b, PERF_RECORD_EXIT, 10, 1, 10, 1, 1190);   /* the leader first */
	put_task(&b, PERF_RECORD_EXIT, 10, 1, 11, 1, 1200);
	CHECK_INT(feed(&in, &b), 0);

	CHECK_INT(dw_processes_count(&p.processes), 3);
	CHECK_INT(dw_threads_count(&p.threads), 4);
	CHECK_INT(dw_modules_count(&p.modules), 1);
	row = dw_processes_get(&p.processes, 1);
	CHECK_STR(dw_strings_get(&p.strings, row->name), "first");
	CHECK_INT(row->begin_ns, 0);
	CHECK_INT(row->end_ns, 200);
	row = dw_processes_get(&p.processes, 2);
	CHECK_STR(dw_strings_get(&p.strings, row->name), "second");
	CHECK_INT(row->parent, 1);
	CHECK_INT(row->begin_ns, 130);
	CHECK_INT(row->end_ns, 170);
	row = dw_processes_get(&p.processes, 3);
	CHECK_INT(row->pid, 12);
	CHECK_STR(dw_strings_get(&p.strings, row->name), "first");
	CHECK_INT(row->end_ns, DWELL_TIME_NONE);

	CHECK_INT(p.samples.n, 2);
	CHECK_INT(p.samples.time_ns[0], 140);
	{
		const struct dw_stack *before = dw_stacks_get(&p.stacks, p.samples.stack[0]);
		const struct dw_stack *after = dw_stacks_get(&p.stacks, p.samples.stack[1]);

		CHECK_INT(dw_frames_get(&p.frames, before->frame)->module, 1);
		CHECK_INT(dw_frames_get(&p.frames, before->frame)->svma, 0x1800);
		CHECK_INT(dw_frames_get(&p.frames, after->frame)->module, 0);
	}
	CHECK_INT(in.unwinder.kept, 2);
	CHECK_INT(in.unwinder.cut, 1); /* the one in no known code */
}

/* In the kernel the stack's page may not be there: more of nothing is not worth a larger copy. */
TEST(place_of_a_stack_that_was_not_copied)
{
	dw_auto(dw_profile) p = DW_PROFILE_INIT;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	dw_auto(dw_dispatcher) in;
	const uint64_t kernel = 0xffffffff81000000;
	struct dw_perf_record r = {.type = PERF_RECORD_SAMPLE, .time_ns = 20, .pid = 10, .tid = 10};

	dw_dispatcher_init(&in, &p, NULL, true);
	CHECK_INT(dw_track_command(&in.track, 10), 0);
	put_mmap2(&b, 10, 0x400000, 5, "/bin/first", 10);
	CHECK_INT(feed(&in, &b), 0);
	r.sample.abi = PERF_SAMPLE_REGS_ABI_64;
	r.sample.regs.r[DWELL_REG_PC] = 0x400800;
	r.sample.kernel = (const uint8_t *)&kernel;
	r.sample.kernel_n = 1;
	CHECK_INT(dw_dispatcher_take(&in, &r, false), 0);
	CHECK_INT(in.unwinder.kept, 1);
	CHECK_INT(in.unwinder.cut, 1);
	CHECK_INT(in.unwinder.uncopied, 1);
}

/* Samples of events beside come with an identity, and are no samples. */
static enum dw_measure measure_of(void *ctx, const struct dw_perf_sample *sample)
{
	return sample->event == *(const uint64_t *)ctx ? DWELL_MEASURE_BLOCKED
						       : DWELL_MEASURE_SAMPLES;
}

TEST(samples_of_events_beside_are_rows_of_their_measure)
{
	dw_auto(dw_profile) p = DW_PROFILE_INIT;
	dw_auto(dw_dispatcher) in;
	struct dw_perf_record r = {.type = PERF_RECORD_SAMPLE, .time_ns = 20, .pid = 10, .tid = 10};
	uint64_t beside = 7;

	dw_dispatcher_init(&in, &p, NULL, true);
	CHECK_INT(dw_track_command(&in.track, 10), 0);
	in.unwinder.measure_of = measure_of;
	in.unwinder.ctx = &beside;
	r.sample.abi = PERF_SAMPLE_REGS_ABI_64;
	r.sample.stack_bytes = 8;
	r.sample.stack = (const uint8_t *)&beside;
	for (r.sample.event = 6; r.sample.event < 9; r.sample.event++)
		CHECK_INT(dw_dispatcher_take(&in, &r, false), 0);
	CHECK_INT(in.unwinder.kept, 2);
	CHECK_INT(p.samples.n, 2);
	CHECK_INT(p.extras.rows.n, 1);
	CHECK_INT(p.extras.rows.v[0].measure, DWELL_MEASURE_BLOCKED);
	CHECK_INT(p.extras.rows.v[0].begin_ns, 20);
	CHECK_INT(p.extras.rows.v[0].n, 1);
	CHECK_INT(p.extras.rows.v[0].thread, p.samples.thread[0]);
}

/* Whether /proc tells something new by @line. */
static bool is_new_mapping(struct dw_dispatcher *in, const char *line)
{
	struct dw_tracked_thread *th = dw_track_find(&in->track, 10);
	struct dw_mappings m;
	bool is_changed = false;

	if (!th || dw_mappings_parse(strdup(line), strlen(line), &m))
		return false;
	dw_track_mappings(&in->track, th->process, &m, &is_changed);
	dw_mappings_release(&m);
	return is_changed;
}

TEST(mappings_that_are_known)
{
	dw_auto(dw_profile) p = DW_PROFILE_INIT;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	dw_auto(dw_dispatcher) in;

	dw_dispatcher_init(&in, &p, NULL, true);
	CHECK_INT(dw_track_command(&in.track, 10), 0);
	put_mmap2(&b, 10, 0x400000, 5, "/bin/first", 10);
	CHECK_INT(feed(&in, &b), 0);
	CHECK(!is_new_mapping(&in, "400000-402000 r-xp 1000 08:01 5 /bin/first\n"));
	CHECK(!is_new_mapping(&in, "400000-402000 r-xp 1000 08:01 5 /bin/renamed\n"));
	CHECK(!is_new_mapping(&in, "400000-402000 r-xp 1000 00:33 5 /bin/first\n")); /* overlay */
	CHECK_INT(dw_modules_count(&p.modules), 1);
	CHECK(is_new_mapping(&in, "400000-402000 r-xp 1000 00:33 5 /bin/second\n"));
	CHECK(is_new_mapping(&in, "400000-402000 r-xp 1000 00:33 6 /bin/second\n"));
	CHECK(is_new_mapping(&in, "400000-403000 r-xp 1000 00:33 6 /bin/second\n"));
	CHECK_INT(dw_modules_count(&p.modules), 3);
}

TEST(exec_by_another_thread)
{
	dw_auto(dw_profile) p = DW_PROFILE_INIT;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	dw_auto(dw_dispatcher) in;

	dw_dispatcher_init(&in, &p, NULL, true);
	CHECK_INT(dw_track_command(&in.track, 10), 0);
	put_task(&b, PERF_RECORD_FORK, 10, 10, 11, 10, 10);
	put_task(&b, PERF_RECORD_EXIT, 10, 1, 10, 1, 20);
	put_comm(&b, 10, "next", true, 30); /* thread 11 is now 10 */
	put_task(&b, PERF_RECORD_EXIT, 10, 1, 10, 1, 40);
	CHECK_INT(feed(&in, &b), 0);
	CHECK_INT(dw_processes_count(&p.processes), 1);
	CHECK_INT(dw_processes_get(&p.processes, 1)->end_ns, 40);
	CHECK_INT(dw_threads_count(&p.threads), 3);
	CHECK_INT(dw_threads_get(&p.threads, 2)->end_ns, 30);
}

TEST(stacks_share_their_outer_frames)
{
	dw_auto(dw_profile) p = DW_PROFILE_INIT;
	dw_auto(dw_buf) b = DW_BUF_INIT;
	dw_auto(dw_dispatcher) in;
	/* A frame-pointer chain 0x7000 -> 0x7010 -> end, as code without unwind tables has it. */
	uint64_t words[6] = {0x7010, 0x400101, 0, 0, 0, 0};

	dw_dispatcher_init(&in, &p, NULL, true);
	CHECK_INT(dw_track_command(&in.track, 10), 0);
	put_mmap2(&b, 10, 0x400000, 5, "/bin/first", 10);
	put_sample(&b, 10, 0x400800, words, 6, 20);
	put_sample(&b, 10, 0x400804, words, 6, 30);
	put_sample(&b, 10, 0x400804, words, 6, 40);
	CHECK_INT(feed(&in, &b), 0);
	CHECK_INT(p.samples.n, 3);
	CHECK_INT(in.unwinder.cut, 0);
	CHECK_INT(p.samples.stack[1], p.samples.stack[2]);
	CHECK(p.samples.stack[0] != p.samples.stack[1]);
	CHECK_INT(dw_stacks_get(&p.stacks, p.samples.stack[0])->parent,
		  dw_stacks_get(&p.stacks, p.samples.stack[1])->parent);
	CHECK_INT(dw_stacks_count(&p.stacks), 3);
}

/* Below the stack pointer, where no dump reaches, a pointer into the dump is read from the thread.
 */
TEST(red_zone_is_read_from_the_thread)
{
	static uint64_t stack[64];
	uint64_t *sp = stack + 32;
	struct dw_unwind_memory m = {
		.base = (uintptr_t)sp, .bytes = (const uint8_t *)sp, .n = 32 * sizeof *sp};
	struct dw_deep d = {.time_ns = 1};
	uint64_t word = 0;

	sp[3] = 33;
	sp[-1] = (uintptr_t)(sp + 5);
	sp[-2] = (uintptr_t)stack;
	dw_deep_begin(&d, getpid(), NULL, NULL, &m);
	CHECK_INT(m.extend(m.ctx, &m, (uintptr_t)(sp - 2)), -1);
	CHECK_INT(m.extend(m.ctx, &m, (uintptr_t)(sp - 17)), -1);
	CHECK_INT(m.base, (uintptr_t)sp);
	CHECK_INT(m.extend(m.ctx, &m, (uintptr_t)(sp - 1)), 0);
	memcpy(&word, m.bytes + ((uintptr_t)(sp - 1) - m.base), sizeof word);
	CHECK_INT(word, (uintptr_t)(sp + 5));
	memcpy(&word, m.bytes + ((uintptr_t)(sp + 3) - m.base), sizeof word);
	CHECK_INT(word, 33);
	CHECK_INT(m.base + m.n, (uintptr_t)(stack + 64));
	dw_deep_release(&d);
}

TEST_MAIN()
