/* Time that moves between callers and callees because a processor does not wait. */
#include "check.h"
#include "collect/calls/cell-sums.h"
#include "collect/calls/skid.h"

enum { PUNCTUAL = 1, WAITS, SELDOM, KEYS, LINES = 2 * KEYS, BASE = 60, N = 1000 };

/* Two lines of single activations for each key, all of them new. */
static int fill(struct dw_call_lines *s, const struct dw_tree_skid skid[KEYS][DWELL_SKIDS])
{
	for (uint32_t i = 0; i < LINES; i++) {
		struct dw_tree_extremes extremes = {.key = i / 2};
		struct dw_arena_line lines[2];
		struct dw_call_line line = {.kind = i % 2 ? DWELL_LINE_REST : DWELL_LINE_EXTREMES,
					    .id = i - i % 2,
					    .whole = i};

		memcpy(extremes.skid, skid[i / 2], sizeof extremes.skid);
		memcpy(lines, &extremes, sizeof lines);
		if (dw_vec_push(&s->lines, line) ||
		    dw_vec_push(&s->olds, (struct dw_old_line){.whole = i}) ||
		    dw_vec_push(&s->wholes, ((struct dw_whole_line){lines[i % 2], i + 1})) ||
		    dw_vec_push(&s->changes, ((struct dw_call_change){.line = i})))
			return -1;
	}
	return 0;
}

static void release(struct dw_call_lines *s, struct dw_skid *l)
{
	dw_call_lines_release(s);
	dw_skid_release(l);
}

TEST(only_what_waits_has_skid)
{
	static const struct tree_lates {
		struct dw_tree_skid skid[KEYS][DWELL_SKIDS];
	} all = {{
		[PUNCTUAL] = {{4 * N, 4 * N * BASE}, {4 * N, 4 * N * (BASE + 9)}},
		[WAITS] = {{N, N * (BASE + 1)}, {N, N * 300}},
		[SELDOM] = {{1, 1000}, {0, 0}},
	}};
	struct dw_call_lines s = {0};
	struct dw_skid l = {0};
	double skid;

	CHECK_INT(fill(&s, all.skid), 0);
	CHECK_INT(dw_skid_read(&l, &s), 0);
	CHECK(dw_skid_of(&l, PUNCTUAL, DWELL_SKID_END) == 0);
	CHECK(dw_skid_of(&l, WAITS, DWELL_SKID_BEGIN) == 0);
	skid = dw_skid_of(&l, WAITS, DWELL_SKID_END);
	CHECK(skid > 230 && skid < 241);
	skid = dw_skid_of(&l, SELDOM, DWELL_SKID_BEGIN);
	CHECK(skid > 0 && skid < 100);
	CHECK(dw_skid_of(&l, KEYS, DWELL_SKID_END) == 0);
	release(&s, &l);
}

TEST(lies_are_left_out)
{
	static const struct dw_tree_skid lies[KEYS][DWELL_SKIDS] = {
		[PUNCTUAL] = {{UINT64_MAX, UINT64_MAX}, {1, UINT64_MAX}},
		[WAITS] = {{N, N * BASE}, {N, N * BASE}},
	};
	struct dw_call_lines s = {0};
	struct dw_skid l = {0};

	CHECK_INT(fill(&s, lies), 0);
	CHECK_INT(dw_skid_read(&l, &s), 0);
	CHECK(l.base == BASE);
	CHECK(dw_skid_of(&l, PUNCTUAL, DWELL_SKID_BEGIN) == 0);
	CHECK(dw_skid_of(&l, PUNCTUAL, DWELL_SKID_END) == 0);
	release(&s, &l);
}

/* A root, a caller, and two callees of it that move 300 and -250 to themselves. */
TEST(nothing_is_added_or_lost)
{
	static const double spare[] = {50, 100, 10, 500}, want[] = {0, -50, 300, -250};
	struct dw_skid_moves m = {0};
	double moved[4], sum = 0;

	for (int i = 0; i < 4; i++)
		moved[i] = dw_skid_bound(&m, want[i], spare[i]);
	for (int i = 0; i < 4; i++) {
		moved[i] = dw_skid_share(&m, moved[i]);
		CHECK(spare[i] + moved[i] >= 0);
		sum += moved[i];
	}
	CHECK(sum == 0);
	CHECK(moved[2] == 300);
	CHECK(moved[3] == -250);
}

TEST(nobody_gives_what_he_has_not)
{
	static const double spare[] = {20, 0, 0}, want[] = {-80, 60, 20};
	struct dw_skid_moves m = {0};
	double moved[3];

	for (int i = 0; i < 3; i++)
		moved[i] = dw_skid_bound(&m, want[i], spare[i]);
	CHECK(dw_skid_share(&m, moved[0]) == -20);
	CHECK(dw_skid_share(&m, moved[1]) == 15);
	CHECK(dw_skid_share(&m, moved[2]) == 5);
}

TEST(cells_share_what_calls_take_of_their_function)
{
	struct dw_cell_costs c = {0};

	CHECK_INT(dw_cell_costs_add(&c, 5, 100, 0), 0);
	CHECK_INT(dw_cell_costs_add(&c, 9, 50, 0), 0);
	CHECK_INT(dw_cell_costs_add(&c, 5, 300, 0), 0);
	CHECK_INT(dw_cell_costs_add(&c, 5, 0, 40), 0);
	CHECK_INT(dw_cell_costs_add(&c, 7, 0, 30), 0);
	CHECK_INT((int)dw_cell_costs_share(&c, 5, 100), 10);
	CHECK_INT((int)dw_cell_costs_share(&c, 5, 300), 30);
	CHECK_INT((int)dw_cell_costs_share(&c, 9, 50), 0);
	CHECK(dw_cell_costs_share(&c, 5, -1) == 0);
	CHECK(dw_cell_costs_share(&c, 7, 10) == 0); /* it has no time at all */
	CHECK(dw_cell_costs_share(&c, 8, 10) == 0);
	dw_cell_costs_clear(&c);
	CHECK_INT(dw_cell_costs_add(&c, 5, 100, 20), 0);
	CHECK_INT((int)dw_cell_costs_share(&c, 5, 100), 20);
	dw_cell_costs_release(&c);
}

TEST_MAIN()
