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

/* Which objects of a group a collection finds dead. */
enum victims { OLDEST, NEWEST, ANY, VICTIMS };

enum { SLICES = 6, BEGIN = 2, END = 5, BORN_MAX = 20, EACH_BYTES = 24 };

/* The objects of a group that are alive: how many were born in each slice. */
struct living {
	uint64_t born_in[SLICES];
};

static uint64_t sum_born(const struct living *l, int end)
{
	uint64_t n = 0;

	for (int i = 0; i < end; i++)
		n += l->born_in[i];
	return n;
}

/* One object of @l, which has some, goes. */
static void bury_one(struct living *l, enum victims victims, unsigned *seed)
{
	int at = victims == NEWEST ? SLICES - 1 : 0;

	if (victims == ANY)
		at = rand_r(seed) % SLICES;
	while (!l->born_in[at])
		at = (at + (victims == NEWEST ? SLICES - 1 : 1)) % SLICES;
	l->born_in[at]--;
}

/* What happens to @l in @slice: some are born, then some go. */
static struct dw_alloc_values live_on(struct living *l, int slice, enum victims victims,
				      unsigned *seed)
{
	uint64_t born = (uint64_t)rand_r(seed) % BORN_MAX, dead;
	struct dw_alloc_values v = {.allocated = {born, born * EACH_BYTES}};

	l->born_in[slice] = born;
	dead = (uint64_t)rand_r(seed) % (sum_born(l, SLICES) + 1);
	for (uint64_t i = 0; i < dead; i++)
		bury_one(l, victims, seed);
	v.collected[slice % DWELL_GENERATIONS] = (struct dw_alloc_count){dead, dead * EACH_BYTES};
	return v;
}

static const uint8_t in_range[SLICES] = {[BEGIN] = 1, 1, 1};
static const struct dw_call_sums range_sums = {in_range, SLICES, BEGIN};

static int sum_chunk(void *ctx, struct dw_raw_chunk *c)
{
	int rc = dw_decode_chunk(c, &range_sums, ctx, NULL);

	dw_buf_release(&c->raw);
	return rc;
}

/* Lives of objects that are known one by one, of a group each for all kinds of victims. */
static void check_survivors(bool *check_failed, struct dw_profile *p, unsigned seed)
{
	struct living living[VICTIMS] = {0};
	uint64_t before[VICTIMS], after[VICTIMS], size = p->allocations.deltas.n = 0;

	for (int slice = 0; slice < SLICES; slice++)
		for (int k = 0; k < VICTIMS; k++) {
			struct dw_alloc_delta d = {
				(uint32_t)slice, (uint32_t)k + 1,
				live_on(&living[k], slice, (enum victims)k, &seed)};

			CHECK_INT(dw_vec_push(&p->allocations.deltas, d), 0);
			if (slice == BEGIN - 1)
				before[k] = sum_born(&living[k], BEGIN);
			if (slice == END - 1)
				after[k] = sum_born(&living[k], BEGIN);
		}
	p->allocations.ranges.n = p->allocations.news.n = 0;
	dw_alloc_store_release(&p->allocations.sums);
	p->allocations.sums = (struct dw_alloc_store){0};
	for (; size < p->allocations.deltas.n; size += 5) /* in several chunks */
		CHECK_INT(dw_encode_rows(p, DWELL_CHUNK_ALLOC_DELTAS, size,
					 size + 5 < p->allocations.deltas.n
						 ? size + 5
						 : p->allocations.deltas.n,
					 sum_chunk, p),
			  0);
	for (int k = 0; k < VICTIMS; k++) {
		const struct dw_alloc_range *r = &p->allocations.ranges.v[k];

		CHECK_INT(r->before.objects, before[k]);
		CHECK(r->least.objects <= after[k] && after[k] <= r->most.objects);
		CHECK_INT(r->least.bytes, r->least.objects * EACH_BYTES);
		CHECK_INT(r->most.bytes, r->most.objects * EACH_BYTES);
		CHECK(k != OLDEST || r->least.objects == after[k]);
		CHECK(k != NEWEST || r->most.objects == after[k]);
	}
}

TEST(what_was_alive_lives_on_within_its_bounds)
{
	struct dw_profile p = DW_PROFILE_INIT;

	CHECK_INT(recorded_expect(&allocs, false, &p), 0);
	for (unsigned seed = 1; seed <= 500; seed++)
		check_survivors(check_failed, &p, seed);
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
