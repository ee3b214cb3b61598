/* Waits: their aggregators, and what a range of time and a filter make of them. */
#include "check.h"

#include "analysis/totals.h"
#include "collect/waits/aggregator.h"
#include "collect/waits/waits.h"

#include <errno.h>

#define MS 1000000ull

/* All blocked time in @p on @stack. */
static uint64_t blocked_on(const struct dw_profile *p, uint32_t stack)
{
	uint64_t ns = 0;

	dw_vec_each(w, &p->waits.rows)
		ns += w->stack == stack ? w->blocked_ns : 0;
	return ns;
}

static struct dw_wait wait_of(uint64_t begin_ns, uint64_t ns, uint32_t stack)
{
	return (struct dw_wait){begin_ns, ns, ns, 1, stack};
}

/* A thread that ran at the last look, and ended: what it had waited before is told, but for the
 * time in which it may have been ready. */
TEST(what_is_owed_at_the_end_is_told)
{
	static const struct {
		int64_t owed_ms;
		uint64_t ready_ms, told_ms;
		bool has_stack;
	} cases[] = {
		{120, 20, 100, true}, {20, 20, 0, true}, {-5, 0, 0, true}, {120, 20, 0, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_profile p = DW_PROFILE_INIT;
		struct dw_dispatcher in = {.track.profile = &p};
		struct dw_waits_watch w = {.dispatcher = &in, .timer_fd = -1};
		struct dw_waiter v = {.id = 1,
				      .has_stack = cases[i].has_stack,
				      .stack = 3,
				      .looked_ns = 500 * MS,
				      .owed_ns = cases[i].owed_ms * (int64_t)MS,
				      .maybe_ready_ns = cases[i].ready_ms * MS};

		CHECK_INT(dw_waits_close_times(&w, &v, 510 * MS), 0);
		CHECK_INT(blocked_on(&p, 3), cases[i].told_ms * MS);
		dw_profile_release(&p);
	}
}

TEST(neighbours_are_one_row)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};

	for (uint64_t i = 0; i < 50; i++) {
		struct dw_wait w = wait_of(i * MS, MS / 2, 7);

		CHECK_INT(dw_wait_aggregator_seen(&b, &p, &w), 0);
	}
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 50 * MS, true), 0);
	CHECK_INT(p.waits.rows.n, 1);
	CHECK_INT(p.waits.rows.v[0].blocked_ns, 25 * MS);
	CHECK_INT(p.waits.rows.v[0].span_ns, 49 * MS + MS / 2);
	dw_profile_release(&p);
}

TEST(long_and_other_waits_are_their_own)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};
	struct dw_wait rows[] = {wait_of(0, 500 * MS, 7), wait_of(501 * MS, 500 * MS, 7),
				 wait_of(1002 * MS, MS, 8)};

	for (int i = 0; i < 3; i++)
		CHECK_INT(dw_wait_aggregator_seen(&b, &p, &rows[i]), 0);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 2000 * MS, true), 0);
	CHECK_INT(p.waits.rows.n, 3);
	CHECK_INT(blocked_on(&p, 7), 1000 * MS);
	CHECK_INT(blocked_on(&p, 8), MS);
	dw_profile_release(&p);
}

/* Seen ones speak for those that nobody saw, by how much of the time between looks they leave. */
TEST(unseen_waits_go_to_those_seen)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};

	for (uint64_t i = 0; i < 100; i++)
		dw_wait_aggregator_unseen(&b, i * MS, i * MS + MS / 2);
	dw_wait_aggregator_note(&b, 7, MS, 4 * MS);
	dw_wait_aggregator_note(&b, 8, 3 * MS, 4 * MS);
	dw_wait_aggregator_note(&b, 9, 5 * MS, 4 * MS); /* such are always seen */
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 100 * MS, false), 0);
	CHECK_INT(blocked_on(&p, 7) + blocked_on(&p, 8), 50 * MS);
	CHECK_INT(blocked_on(&p, 7), 50 * MS * 3 / 4);
	CHECK_INT(blocked_on(&p, 9), 0);
	dw_profile_release(&p);
}

TEST(nobody_saw_anything)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};

	dw_wait_aggregator_unseen(&b, 0, 30 * MS);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 5000 * MS, false), 0);
	CHECK_INT(p.waits.rows.n, 0); /* somebody may still */
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 5000 * MS, true), 0);
	CHECK_INT(blocked_on(&p, 0), 30 * MS);
	CHECK_INT(b.nameless_ns, 30 * MS);
	dw_profile_release(&p);
}

/* More stacks than an aggregator has room for: nothing is lost. */
TEST(many_stacks)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};
	uint64_t ns = 0;

	dw_wait_aggregator_unseen(&b, 0, 100 * MS);
	for (uint32_t i = 1; i <= 3 * DWELL_WAIT_STACKS; i++)
		dw_wait_aggregator_note(&b, i, MS, 4 * MS);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 100 * MS, true), 0);
	dw_vec_each(w, &p.waits.rows)
		ns += w->blocked_ns;
	CHECK_INT(ns, 100 * MS);
	dw_profile_release(&p);
}

TEST(ranges_cut_waits)
{
	struct dw_wait w = {100, 100, 50, 1, 0};
	struct dw_wait hostile = {UINT64_MAX - 5, UINT64_MAX, UINT64_MAX, 1, 0};

	CHECK_INT(dw_wait_within(&w, 0, 0), 50);
	CHECK_INT(dw_wait_within(&w, 150, 0), 25);
	CHECK_INT(dw_wait_within(&w, 0, 110), 5);
	CHECK_INT(dw_wait_within(&w, 120, 140), 10);
	CHECK_INT(dw_wait_within(&w, 200, 0), 0);
	CHECK_INT(dw_wait_within(&w, 0, 100), 0);
	CHECK_INT(dw_wait_within(&hostile, 0, 10), 0);
	CHECK(dw_wait_within(&hostile, 0, 0) <= hostile.blocked_ns);
}

/* One process of one thread, with a stack of two functions and one of the outer alone. */
static int make_profile(struct dw_profile *p)
{
	struct dw_process process = {.pid = 1, .end_ns = DWELL_TIME_NONE};
	struct dw_thread thread = {.tid = 1, .end_ns = DWELL_TIME_NONE};
	uint32_t frame, stack = 0;
	int rc = dw_processes_add(&p->processes, &process, &thread.process);

	if (!rc)
		rc = dw_threads_add(&p->threads, &thread, &frame);
	for (uint32_t i = 1; i <= 2 && !rc; i++) {
		rc = dw_frames_add(&p->frames, (struct dw_frame){.svma = i}, &frame);
		if (!rc)
			rc = dw_stacks_add(&p->stacks, stack, frame, &stack);
	}
	return rc;
}

static const struct dw_values *waits_of(const struct dw_totals *t, uint32_t amounts)
{
	return dw_amounts_common(&t->amounts, amounts, DWELL_MEASURE_BLOCKED);
}

TEST(samples_and_waits_are_apart)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_wait inner = wait_of(0, 30, 2), outer = wait_of(100, 10, 1);

	CHECK_INT(make_profile(&p), 0);
	CHECK_INT(dw_samples_add(&p.samples, 5, 1, 2), 0);
	CHECK_INT(dw_samples_add(&p.samples, 6, 1, 1), 0);
	CHECK_INT(dw_vec_push(&p.waits.rows, inner) | dw_vec_push(&p.waits.rows, outer), 0);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	CHECK(dw_totals_has_waits(&t));
	CHECK_INT(t.all[DWELL_MEASURE_SAMPLES], 2);
	CHECK_INT(t.all[DWELL_MEASURE_BLOCKED], 40);
	CHECK_INT(dw_totals_node_values(&t, 0)->inclusive, 2);
	CHECK_INT(dw_totals_node_waits(&t, 0).inclusive, 40);
	CHECK_INT(dw_totals_values(&t, t.threads.v[0].amounts)->exclusive, 2);
	CHECK_INT(waits_of(&t, t.threads.v[0].amounts)->exclusive, 40);
	CHECK_INT(t.instructions.n, 2);
	dw_vec_each(row, &t.instructions) {
		bool is_inner = row->frame == 2;

		CHECK_INT(dw_totals_values(&t, row->amounts)->inclusive, is_inner ? 1 : 2);
		CHECK_INT(dw_totals_values(&t, row->amounts)->exclusive, 1);
		CHECK_INT(waits_of(&t, row->amounts)->inclusive, is_inner ? 30 : 40);
		CHECK_INT(waits_of(&t, row->amounts)->exclusive, is_inner ? 30 : 10);
	}
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST(waits_alone_have_rows)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_filter range = {.from_ns = 15, .to_ns = 20};
	struct dw_wait w = wait_of(0, 30, 2), unknown = wait_of(0, 30, 0);

	CHECK_INT(make_profile(&p), 0);
	CHECK_INT(dw_vec_push(&p.waits.rows, w) | dw_vec_push(&p.waits.rows, unknown), 0);
	CHECK_INT(dw_totals_compute(&p, &range, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(t.all[DWELL_MEASURE_SAMPLES], 0);
	CHECK_INT(t.all[DWELL_MEASURE_BLOCKED], 10);
	CHECK_INT(dw_totals_node_waits(&t, 0).inclusive, 10);
	CHECK_INT(dw_totals_node_values(&t, 0)->inclusive, 0);
	CHECK(t.functions.n > 0);
	dw_vec_each(row, &t.functions)
		CHECK_INT(dw_totals_values(&t, row->amounts)->inclusive, 0);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
