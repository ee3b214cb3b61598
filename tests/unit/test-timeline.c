/* How much was measured when: samples, waits that are longer than columns, and slices. */
#include "check.h"
#include "model/amounts.h"
#include "analysis/timeline.h"

#include <stdlib.h>

enum { MS = 1000000, COLUMNS = 10 };

static int make(struct dw_timeline *t, struct dw_profile *p, int64_t duration_ns)
{
	return dw_facts_set(&p->facts, "duration_ns", duration_ns) | dw_timeline_make(t, p);
}

/* The levels of @t as a text of digits. */
static const char *levels(const struct dw_timeline *t)
{
	static char text[COLUMNS + 1];
	uint8_t v[COLUMNS];

	dw_timeline_levels(t, COLUMNS, v);
	for (size_t i = 0; i < COLUMNS; i++)
		text[i] = (char)('0' + v[i]);
	return text;
}

TEST(samples_are_counted)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_timeline t;

	for (uint64_t i = 0; i < 80; i++)
		CHECK_INT(dw_samples_add(&p.samples, i * MS / 8, 1, 0), 0);
	for (uint64_t i = 0; i < 40; i++)
		CHECK_INT(dw_samples_add(&p.samples, 30 * MS + i * MS / 4, 1, 0), 0);
	/* Later than the recording's end, as clocks may have it. */
	CHECK_INT(dw_samples_add(&p.samples, 200 * MS, 1, 0), 0);
	CHECK_INT(make(&t, &p, 100 * MS), 0);
	CHECK_STR(levels(&t), "8004000001");
	dw_timeline_release(&t);
	dw_profile_release(&p);
}

static int add_wait(struct dw_profile *p, uint64_t begin_ns, uint64_t span_ns)
{
	struct dw_extra x = {.begin_ns = begin_ns,
			     .span_ns = span_ns,
			     .n = span_ns,
			     .thread = 1,
			     .measure = DWELL_MEASURE_BLOCKED};

	return dw_vec_push(&p->extras.rows, x);
}

TEST(long_waits_are_in_all_their_columns)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_timeline t;

	CHECK_INT(dw_profile_measures_add(&p, DWELL_MEASURE_BLOCKED), 0);
	CHECK_INT(dw_samples_add(&p.samples, 95 * MS, 1, 0), 0);
	CHECK_INT(add_wait(&p, 15 * MS, 40 * MS), 0);
	CHECK_INT(add_wait(&p, 20 * MS, 10 * MS), 0);
	CHECK_INT(add_wait(&p, 82 * MS, 5 * MS), 0);
	CHECK_INT(make(&t, &p, 100 * MS), 0);
	CHECK_STR(levels(&t), "0284420020");
	dw_timeline_release(&t);
	dw_profile_release(&p);
}

TEST(slices_are_as_long_as_they_are)
{
	static const struct dw_slice_activity slices[] = {
		{20 * MS, 20}, {30 * MS, 20}, {30 * MS, 0}, {80 * MS, 25}};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_timeline t;

	for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
		CHECK_INT(dw_vec_push(&p.calls.activity, slices[i]), 0);
	CHECK_INT(make(&t, &p, 100 * MS), 0);
	CHECK_STR(levels(&t), "4482222200");
	dw_timeline_release(&t);
	dw_profile_release(&p);
}

TEST(times_of_columns_are_round_and_found_again)
{
	struct dw_timeline t = {.duration_ns = 1234567891};

	for (size_t n = 1; n < 300; n++)
		for (size_t i = 0; i <= n; i++)
			CHECK_INT(dw_timeline_column(&t, dw_timeline_at(&t, i, n), n), i);
	CHECK_INT(dw_timeline_at(&t, 30, 100) % MS, 0);
	CHECK_INT(dw_timeline_at(&t, 100, 100), 1234567891);
	t.duration_ns = 7; /* fewer than columns */
	CHECK_INT(dw_timeline_at(&t, 50, 100), 3);
}

TEST(nothing_is_known)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_timeline t;

	CHECK_INT(dw_timeline_make(&t, &p), 0);
	CHECK_INT(t.knots.n, 0);
	CHECK_INT(make(&t, &p, 100 * MS), 0);
	CHECK_INT(t.knots.n, 0);
	CHECK_STR(levels(&t), "0000000000");
	dw_timeline_release(&t);
	dw_profile_release(&p);
}

TEST_MAIN()
