/* Unit tests of src/session: sessions that hold allocations. */
#include "check.h"
#include "scratch.h"

#include "recorded.h"
#include "reload.h"
#include "session/read.h"

static const struct synthetic allocs = SYNTHETIC_ALLOCS;

TEST(partial_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&allocs, "a.dwell", 3, false, &err), 0);
	CHECK_INT(dw_session_load("a.dwell.partial", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&allocs, false, &want), 0);
	CHECK(want.allocations.deltas.n > want.allocations.groups.n);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(dw_profile_method(&got), DWELL_METHOD_MEMORY);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(finished_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&allocs, "b.dwell", 6, true, &err), 0);
	CHECK_INT(dw_session_load("b.dwell", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&allocs, true, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(
		recorded_query("b.dwell", "SELECT count(*) FROM chunk WHERE kind = 'alloc_deltas'"),
		1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

/* The first group whose sum in @summed is not that of its rows in @all; 0 = none. */
static uint32_t wrong_sum(const struct dw_allocations *all, const struct dw_allocations *summed)
{
	struct dw_alloc_values *sums = calloc(all->groups.n, sizeof *sums);
	uint32_t wrong = 0;

	dw_vec_each(d, &all->deltas)
		dw_alloc_values_add(&sums[d->group - 1], &d->values);
	for (uint32_t i = 0; i < all->groups.n && !wrong; i++) {
		struct dw_alloc_values sum = dw_alloc_store_get(&summed->sums, i);

		if (memcmp(&sum, &sums[i], sizeof sum))
			wrong = i + 1;
	}
	free(sums);
	return wrong;
}

TEST(slices_are_added_up_for_who_wants_no_ranges)
{
	struct dw_profile all = DW_PROFILE_INIT, summed = DW_PROFILE_INIT;
	const struct dw_session_range whole = {0};

	CHECK_INT(recorded_session(&allocs, "sum.dwell", 4, false, NULL), 0);
	CHECK_INT(dw_session_load("sum.dwell.partial", &all, NULL, NULL), 0);
	CHECK_INT(dw_session_load_summed("sum.dwell.partial", &whole, &summed, NULL, NULL), 0);
	CHECK_INT(summed.allocations.groups.n, all.allocations.groups.n);
	CHECK(dw_allocations_summed(&summed.allocations) && !summed.allocations.deltas.n);
	CHECK_INT(summed.calls.slices.n, 1);
	CHECK_INT(wrong_sum(&all.allocations, &summed.allocations), 0);
	dw_profile_release(&all);
	dw_profile_release(&summed);
}

TEST(such_sessions_have_a_version_that_older_readers_refuse)
{
	CHECK_INT(recorded_session(&allocs, "v3.dwell", 1, false, NULL), 0);
	CHECK_INT(recorded_query("v3.dwell.partial", "PRAGMA user_version"), 3);
	CHECK_INT(recorded_finish(&allocs, "v3.dwell.partial", "v3.dwell", NULL), 0);
	CHECK_INT(recorded_query("v3.dwell", "PRAGMA user_version"), 3);
}

TEST(any_value_is_kept)
{
	struct dw_profile p = DW_PROFILE_INIT, again = DW_PROFILE_INIT;
	struct dw_alloc_values odd = {{UINT64_MAX, 0}, {{0, UINT64_MAX}, {1, 2}, {0, 0}}};

	CHECK_INT(recorded_expect(&allocs, false, &p), 0);
	dw_facts_release(&p.facts); /* they are encoded apart */
	p.allocations.deltas.v[5].values = odd;
	p.allocations.gcs.v[0].pause_ns = UINT64_MAX;
	p.allocations.gcs.v[1].start_ns = 0;
	CHECK_INT(reload_into(&p, &again), 0);
	CHECK_STR(recorded_difference(&p, &again), "none");
	dw_profile_release(&again);
	dw_profile_release(&p);
}

TEST(what_links_rows_is_checked)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_alloc_delta *last;
	struct dw_alloc_group *group;

	CHECK_INT(recorded_expect(&allocs, false, &p), 0);
	last = &p.allocations.deltas.v[p.allocations.deltas.n - 1];
	group = &p.allocations.groups.v[3];
	CHECK_REFUSED(&p, p.allocations.types.v[0].name, p.strings.n);
	CHECK_REFUSED(&p, p.allocations.types.v[0].module, 6);
	CHECK_REFUSED(&p, p.allocations.types.v[0].process, 0);
	CHECK_REFUSED(&p, p.allocations.types.v[0].process, 3);
	CHECK_REFUSED(&p, group->thread, 0);
	CHECK_REFUSED(&p, group->thread, 5);
	CHECK_REFUSED(&p, group->stack, dw_stacks_count(&p.stacks) + 1);
	CHECK_REFUSED(&p, group->type, 0);
	CHECK_REFUSED(&p, group->type, 41);
	CHECK_REFUSED(&p, p.allocations.methods.v[2].module, 0);
	CHECK_REFUSED(&p, p.allocations.methods.v[2].module, 6);
	CHECK_REFUSED(&p, p.allocations.methods.v[2].token, 1 << 24);
	CHECK_REFUSED(&p, p.allocations.methods.v[2].name, p.strings.n);
	CHECK_REFUSED(&p, last->slice, 6);
	CHECK_REFUSED(&p, last->slice, 4);
	CHECK_REFUSED(&p, last->group, 0);
	CHECK_REFUSED(&p, last->group, 1001);
	CHECK_REFUSED(&p, p.calls.slices.n, 0);
	CHECK_REFUSED(&p, p.allocations.gcs.v[1].process, 0);
	CHECK_REFUSED(&p, p.allocations.gcs.v[1].process, 3);
	CHECK_REFUSED(&p, p.allocations.gcs.v[1].generation, 3);
	CHECK_REFUSED(&p, p.allocations.gcs.v[1].reason, p.strings.n);
	CHECK_REFUSED(&p, p.allocations.gcs.v[1].thread, 5);
	CHECK_REFUSED(&p, p.allocations.gcs.v[1].stack, dw_stacks_count(&p.stacks) + 1);
	dw_profile_release(&p);
}

/* A chunk of deltas cut or lengthened anywhere is refused, added up or not. */
TEST(columns_that_are_cut_are_refused)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_alloc_values v = {{3, 300}, {{1, 100}}};
	uint8_t bytes[] = {0, 2, 1, 3, 1, 3, 2, 0xac, 2, 1, 1, 1, 100, 0, 0, 0, 0, 0, 0, 0, 0};
	struct dw_raw_chunk chunk = {.kind = DWELL_CHUNK_ALLOC_DELTAS, .items = 1};
	const struct dw_call_sums sums = {0};

	CHECK_INT(recorded_expect(&allocs, false, &p), 0);
	p.allocations.deltas.n = 0;
	dw_buf_put(&chunk.raw, bytes, sizeof bytes);
	CHECK_INT(dw_decode_chunk(&chunk, NULL, &p, NULL), 0);
	CHECK_INT(p.allocations.deltas.n, 1);
	CHECK_INT(memcmp(&p.allocations.deltas.v[0].values, &v, sizeof v), 0);
	for (size_t n = 0; n < sizeof bytes; n++) {
		p.allocations.deltas.n = 0;
		chunk.raw.len = n;
		CHECK_INT(dw_decode_chunk(&chunk, n % 2 ? &sums : NULL, &p, NULL),
			  DWELL_ERR_FORMAT);
	}
	dw_buf_release(&chunk.raw);
	dw_profile_release(&p);
}

TEST_MAIN()
