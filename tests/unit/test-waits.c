/* Waits: their aggregators, and what a range of time and a filter make of them. */
#include "check.h"
#include "rows.h"

#include "analysis/lock-holders.h"
#include "analysis/totals.h"
#include "collect/waits/aggregator.h"
#include "collect/waits/waits.h"
#include "model/worth.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MS 1000000ull

/* All blocked time in @p on @stack. */
static uint64_t blocked_on(const struct dw_profile *p, uint32_t stack)
{
	uint64_t ns = 0;

	dw_vec_each(w, &p->extras.rows)
		ns += w->stack == stack ? w->n : 0;
	return ns;
}

static struct dw_extra wait_of(uint64_t begin_ns, uint64_t ns, uint32_t stack)
{
	return (struct dw_extra){begin_ns, ns, ns, 1, stack, DWELL_MEASURE_BLOCKED};
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
				      .place = {.stack = 3},
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
		struct dw_wait_row w = {.wait = wait_of(i * MS, MS / 2, 7)};

		CHECK_INT(dw_wait_aggregator_seen(&b, &p, &w), 0);
	}
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 50 * MS, true), 0);
	CHECK_INT(p.extras.rows.n, 1);
	CHECK_INT(p.extras.rows.v[0].n, 25 * MS);
	CHECK_INT(p.extras.rows.v[0].span_ns, 49 * MS + MS / 2);
	dw_profile_release(&p);
}

TEST(long_and_other_waits_are_their_own)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};
	struct dw_wait_row rows[] = {{.wait = wait_of(0, 500 * MS, 7)},
				     {.wait = wait_of(501 * MS, 500 * MS, 7)},
				     {.wait = wait_of(1002 * MS, MS, 8)}};

	for (int i = 0; i < 3; i++)
		CHECK_INT(dw_wait_aggregator_seen(&b, &p, &rows[i]), 0);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 2000 * MS, true), 0);
	CHECK_INT(p.extras.rows.n, 3);
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
	dw_wait_aggregator_note(&b, (struct dw_wait_place){.stack = 7}, MS, 4 * MS);
	dw_wait_aggregator_note(&b, (struct dw_wait_place){.stack = 8}, 3 * MS, 4 * MS);
	dw_wait_aggregator_note(&b, (struct dw_wait_place){.stack = 9}, 5 * MS,
				4 * MS); /* such are always seen */
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
	CHECK_INT(p.extras.rows.n, 0); /* somebody may still */
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 5000 * MS, true), 0);
	CHECK_INT(blocked_on(&p, 0), 30 * MS);
	CHECK_INT(b.nameless_ns, 30 * MS);
	dw_profile_release(&p);
}

/* What a thread was ready for is told apart, and what of it was at the ends of waits taken off
 * those that are not told yet, or the next. */
TEST(ready_is_no_wait)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};
	struct dw_wait_row w = {.wait = wait_of(0, 30 * MS, 7)};
	uint64_t ready = 0, blocked = 0;

	CHECK_INT(dw_wait_aggregator_seen(&b, &p, &w), 0);
	dw_wait_aggregator_unseen(&b, 40 * MS, 50 * MS);
	CHECK_INT(dw_wait_aggregator_ready(&b, &p, 1, 0, 50 * MS, 12 * MS, 8 * MS), 0);
	/* Longer than since the last time, and more than what waits are open. */
	CHECK_INT(dw_wait_aggregator_ready(&b, &p, 1, 50 * MS, 60 * MS, 100 * MS, 90 * MS), 0);
	w.wait = wait_of(200 * MS, 60 * MS, 7);
	CHECK_INT(dw_wait_aggregator_seen(&b, &p, &w), 0);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 1000 * MS, true), 0);
	dw_vec_each(row, &p.extras.rows) {
		*(row->kind == DWELL_WAIT_READY ? &ready : &blocked) += row->n;
		CHECK_INT(row->measure, DWELL_MEASURE_BLOCKED);
	}
	CHECK_INT(blocked, (30 + 10 + 60 - 8 - 90) * MS);
	CHECK_INT(ready, (12 + 100) * MS);
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
		dw_wait_aggregator_note(&b, (struct dw_wait_place){.stack = i}, MS, 4 * MS);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 100 * MS, true), 0);
	dw_vec_each(w, &p.extras.rows)
		ns += w->n;
	CHECK_INT(ns, 100 * MS);
	dw_profile_release(&p);
}

/* Who had the lock is told beside each wait: without a stack if this took nearly all of the time.
 */
TEST(holders_are_told_beside_waits)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_wait_aggregator b = {0};
	struct dw_wait_row rows[] = {{wait_of(0, 100 * MS, 7), {2, 9}},
				     {wait_of(300 * MS, 10 * MS, 7), {2, 9}},
				     {wait_of(340 * MS, 10 * MS, 7), {2, 9}},
				     {wait_of(350 * MS, 10 * MS, 7), {0, 0}}};
	static const struct dw_extra expected[] = {
		{0, 100 * MS, 100 * MS, 2, 0, DWELL_MEASURE_OTHERS_WAITED, 0},
		{300 * MS, 50 * MS, 20 * MS, 2, 9, DWELL_MEASURE_OTHERS_WAITED, 0}};
	size_t n = 0;

	for (int i = 0; i < 4; i++)
		CHECK_INT(dw_wait_aggregator_seen(&b, &p, &rows[i]), 0);
	CHECK_INT(dw_wait_aggregator_flush(&b, &p, 1, 1000 * MS, true), 0);
	CHECK_INT(blocked_on(&p, 7), 130 * MS);
	dw_vec_each(x, &p.extras.rows) {
		if (x->measure == DWELL_MEASURE_BLOCKED)
			continue;
		CHECK(n < 2 && !memcmp(x, &expected[n], sizeof *x));
		n++;
	}
	CHECK_INT(n, 2);
	dw_profile_release(&p);
}

/* What a holder did in the time of a wait: what it waited itself, and the rest for its samples. */
TEST(holders_are_where_they_were)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_extra waits = {150 * MS, 100 * MS, 100 * MS, 2, 5, DWELL_MEASURE_BLOCKED, 0};
	const struct dw_extra held[] = {
		{100 * MS, 100 * MS, 100 * MS, 2, 0, DWELL_MEASURE_OTHERS_WAITED, 0},
		{135 * MS, 10 * MS, 10 * MS, 2, 0, DWELL_MEASURE_OTHERS_WAITED, 0}, /* short */
		{900 * MS, 100 * MS, 100 * MS, 2, 0, DWELL_MEASURE_OTHERS_WAITED, 0}};
	static const struct {
		uint64_t at_ms;
		uint32_t thread, stack;
	} samples[] = {{50, 2, 8}, {110, 2, 6}, {120, 1, 8}, {130, 2, 6}, {140, 2, 7}, {260, 2, 8}};

	CHECK_INT(dw_facts_set_text(&p.facts, "event", "cpu-clock"), 0);
	CHECK_INT(dw_facts_set(&p.facts, "frequency_hz", 1000), 0);
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		CHECK_INT(dw_samples_add(&p.samples, samples[i].at_ms * MS, samples[i].thread,
					 samples[i].stack),
			  0);
	for (int i = 0; i < 3; i++)
		CHECK_INT(dw_vec_push(&p.extras.rows, held[i]), 0);
	CHECK_INT(dw_vec_push(&p.extras.rows, waits), 0);
	for (int again = 0; again < 2; again++) {
		uint64_t on[9] = {0}, ends_ns = 0;

		CHECK_INT(dw_locate_lock_holders(&p), 0);
		CHECK_INT(p.extras.rows.n, 6);
		dw_vec_each(x, &p.extras.rows) {
			CHECK(x->begin_ns + x->span_ns >= ends_ns);
			ends_ns = x->begin_ns + x->span_ns;
			on[x->stack] += x->measure == DWELL_MEASURE_BLOCKED ? 0 : x->n;
		}
		CHECK_INT((on[5] + MS / 2) / MS, 50);
		CHECK_INT((on[6] + MS / 2) / MS, 33);
		CHECK_INT((on[7] + MS / 2) / MS, 17 + 10);
		CHECK_INT(on[8], 0);
		CHECK_INT(on[0], 100 * MS);
	}
	dw_profile_release(&p);
}

/* So much that not all can be looked at for each row: a part speaks for it, and nothing is lost. */
TEST(holders_of_very_much)
{
	enum { ROWS = 20000, SAMPLES = 20000 };
	struct dw_profile p = DW_PROFILE_INIT;
	const uint64_t end_ns = 1000 * MS;
	double on[3] = {0}, all = 0;

	CHECK_INT(dw_facts_set_text(&p.facts, "event", "cpu-clock"), 0);
	CHECK_INT(dw_facts_set(&p.facts, "frequency_hz", 1000), 0);
	for (uint32_t i = 0; i < SAMPLES; i++)
		CHECK_INT(dw_samples_add(&p.samples, end_ns / SAMPLES * i, 2, i % 3 ? 1 : 2), 0);
	for (uint32_t i = 0; i < ROWS; i++)
		CHECK_INT(dw_vec_push(&p.extras.rows,
				      ((struct dw_extra){0, end_ns, i ? end_ns : UINT64_MAX, 2, 0,
							 DWELL_MEASURE_OTHERS_WAITED, 0})),
			  0);
	CHECK_INT(dw_locate_lock_holders(&p), 0);
	CHECK_INT(p.extras.rows.n, 2 * ROWS);
	dw_vec_each(x, &p.extras.rows) {
		CHECK(x->stack == 1 || x->stack == 2);
		on[x->stack] += (double)x->n;
	}
	all = (double)UINT64_MAX + (double)(ROWS - 1) * (double)end_ns;
	CHECK(fabs(on[1] + on[2] - all) < all / 1e9);
	CHECK(fabs(on[1] / all - 2. / 3) < .01);
	dw_profile_release(&p);
}

TEST(ranges_cut_waits)
{
	struct dw_extra w = {100, 100, 50, 1, 0, DWELL_MEASURE_BLOCKED};
	struct dw_extra moment = {.begin_ns = 100, .n = 3};
	struct dw_extra hostile = {UINT64_MAX - 5, UINT64_MAX, UINT64_MAX, 1, 0, 0};

	CHECK_INT(dw_extra_within(&w, 0, 0), 50);
	CHECK_INT(dw_extra_within(&w, 150, 0), 25);
	CHECK_INT(dw_extra_within(&w, 0, 110), 5);
	CHECK_INT(dw_extra_within(&w, 120, 140), 10);
	CHECK_INT(dw_extra_within(&w, 200, 0), 0);
	CHECK_INT(dw_extra_within(&w, 0, 100), 0);
	CHECK_INT(dw_extra_within(&moment, 100, 101), 3);
	CHECK_INT(dw_extra_within(&moment, 101, 0), 0);
	CHECK_INT(dw_extra_within(&moment, 0, 100), 0);
	CHECK_INT(dw_extra_within(&hostile, 0, 10), 0);
	CHECK(dw_extra_within(&hostile, 0, 0) <= hostile.n);
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
	struct dw_extra inner = wait_of(0, 30, 2), outer = wait_of(100, 10, 1);

	CHECK_INT(make_profile(&p), 0);
	CHECK_INT(dw_samples_add(&p.samples, 5, 1, 2), 0);
	CHECK_INT(dw_samples_add(&p.samples, 6, 1, 1), 0);
	CHECK_INT(dw_vec_push(&p.extras.rows, inner) | dw_vec_push(&p.extras.rows, outer), 0);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	CHECK(dw_totals_has_waits(&t));
	CHECK_INT(t.all[DWELL_MEASURE_SAMPLES], 2);
	CHECK_INT(t.all[DWELL_MEASURE_BLOCKED], 40);
	CHECK_INT(rows_node_values(&t, 0)->inclusive, 2);
	CHECK_INT(dw_amounts_common(&t.node_amounts, 0, DWELL_MEASURE_BLOCKED)->inclusive, 40);
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

/* Rows name their measure, and who recorded tells which ones there are. */
TEST(extras_of_measures_that_nobody_told_of_count_for_nothing)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_extra wait = wait_of(0, 30, 2), other = wait_of(0, 5, 2);

	other.measure = DWELL_MEASURE_CALLS;
	CHECK_INT(make_profile(&p), 0);
	CHECK_INT(dw_vec_push(&p.extras.rows, wait) | dw_vec_push(&p.extras.rows, other), 0);
	CHECK_INT(dw_profile_measures_add(&p, DWELL_MEASURE_CALLS), 0);
	CHECK_INT(dw_profile_measures(&p), 1 << DWELL_MEASURE_SAMPLES);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(t.functions.n, 0);
	dw_totals_release(&t);
	t = (struct dw_totals){0};
	CHECK_INT(dw_profile_measures_add(&p, DWELL_MEASURE_BLOCKED), 0);
	CHECK_INT(dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(t.all[DWELL_MEASURE_BLOCKED], 30);
	CHECK_INT(t.all[DWELL_MEASURE_CALLS], 0);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

/* A share of any measure beside samples is enough, but nothing at all never is. */
TEST(rows_are_worth_showing_by_any_measure)
{
	struct dw_totals t = {0};
	struct dw_amount some;
	struct dw_worth worth;
	uint32_t row;

	dw_totals_init(&t, 1 << DWELL_MEASURE_SAMPLES | 1 << DWELL_MEASURE_BLOCKED, 0);
	t.all[DWELL_MEASURE_SAMPLES] = 2001;
	row = dw_amounts_push(&t.amounts);
	dw_worth_init(&worth, &t, 0);
	CHECK(!dw_worth_has(&worth, &t.amounts, row, false));
	dw_worth_init(&worth, &t, 0.05);
	CHECK_INT(worth.n, 2);
	CHECK_INT(worth.v[0].least, 2);
	CHECK_INT(worth.v[1].least, 1);
	dw_amount_of(&t.amounts, DWELL_MEASURE_SAMPLES, 1, &some);
	CHECK_INT(dw_amounts_add(&t.amounts, row, &some, DWELL_BOTH), 0);
	CHECK(!dw_worth_has(&worth, &t.amounts, row, false));
	dw_amount_of(&t.amounts, DWELL_MEASURE_BLOCKED, 1, &some);
	CHECK_INT(dw_amounts_add(&t.amounts, row, &some, DWELL_INCLUSIVE), 0);
	CHECK(dw_worth_has(&worth, &t.amounts, row, false));
	CHECK(!dw_worth_has(&worth, &t.amounts, row, true));
	dw_totals_release(&t);
}

TEST(waits_alone_have_rows)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals t = {0};
	struct dw_filter range = {.from_ns = 15, .to_ns = 20};
	struct dw_extra w = wait_of(0, 30, 2), unknown = wait_of(0, 30, 0);

	CHECK_INT(make_profile(&p), 0);
	CHECK_INT(dw_vec_push(&p.extras.rows, w) | dw_vec_push(&p.extras.rows, unknown), 0);
	CHECK_INT(dw_totals_compute(&p, &range, DWELL_TOTALS_ALL, &t), 0);
	CHECK_INT(t.all[DWELL_MEASURE_SAMPLES], 0);
	CHECK_INT(t.all[DWELL_MEASURE_BLOCKED], 10);
	CHECK_INT(dw_amounts_common(&t.node_amounts, 0, DWELL_MEASURE_BLOCKED)->inclusive, 10);
	CHECK_INT(rows_node_values(&t, 0)->inclusive, 0);
	CHECK(t.functions.n > 0);
	dw_vec_each(row, &t.functions)
		CHECK_INT(dw_totals_values(&t, row->amounts)->inclusive, 0);
	dw_totals_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
