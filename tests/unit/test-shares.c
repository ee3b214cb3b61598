/* Steps divided among threads: every function is worked on once, in shares of consecutive ones. */
#include "check.h"

#include "clone/module.h"

enum { FUNCTIONS = 5000, FUNCTION_BYTES = 100, STRIDE = 112 };

struct seen {
	struct dw_rank *starts;
	const struct dw_clone_module *m;
	uint32_t first[DWELL_SHARES];
	uint32_t end[DWELL_SHARES];
	uint8_t times[FUNCTIONS];
};

static void see(void *ctx, const struct dw_share *share)
{
	struct seen *s = ctx;

	s->first[share->k] = share->first;
	s->end[share->k] = share->end;
	for (uint32_t i = share->first; i < share->end; i++) {
		uint64_t at = s->m->functions.v[i].start - s->starts->base;

		s->times[i]++;
		dw_rank_add_word(s->starts, at / 64, 1ull << at % 64);
	}
}

/* Functions of one length, but for the last, which has @last_bytes. */
static void fill(struct dw_clone_module *m, uint32_t n, uint64_t last_bytes)
{
	m->functions.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t start = 0x1000 + (uint64_t)i * STRIDE;
		uint64_t bytes = i == n - 1 ? last_bytes : FUNCTION_BYTES;

		dw_vec_push(&m->functions,
			    (struct dw_clone_function){.start = start, .end = start + bytes});
	}
}

/* Whether all of @n functions are worked on once, in order. */
static bool divides(uint32_t n, uint64_t last_bytes)
{
	struct dw_clone_module m = {0};
	struct dw_rank starts;
	struct seen s = {.starts = &starts, .m = &m};
	uint32_t next = 0;
	bool ok;

	ok = !dw_rank_init(&starts, 0x1000, (uint64_t)n * STRIDE + 1);
	fill(&m, n, last_bytes);
	dw_shares_run(&m, see, &s);
	dw_rank_count(&starts);
	for (uint32_t i = 0; i < n; i++)
		ok &= s.times[i] == 1 && dw_rank_at(&starts, m.functions.v[i].start) == i + 1;
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		ok &= s.first[k] == next;
		next = s.end[k];
	}
	dw_rank_release(&starts);
	dw_vec_release(&m.functions);
	return ok && next == n;
}

TEST(every_function_has_one_share)
{
	CHECK(divides(0, 0));
	CHECK(divides(1, FUNCTION_BYTES));
	CHECK(divides(10, FUNCTION_BYTES));
	CHECK(divides(FUNCTIONS, FUNCTION_BYTES));
	CHECK(divides(FUNCTIONS, 1 << 30));
	CHECK(divides(2, 1 << 30));
}

TEST(shares_are_about_equal)
{
	struct dw_clone_module m = {0};
	struct dw_rank starts;
	struct seen s = {.starts = &starts, .m = &m};

	CHECK_INT(dw_rank_init(&starts, 0x1000, FUNCTIONS * STRIDE), 0);
	fill(&m, FUNCTIONS, FUNCTION_BYTES);
	dw_shares_run(&m, see, &s);
	dw_rank_release(&starts);
	dw_vec_release(&m.functions);
	for (unsigned k = 0; k < DWELL_SHARES; k++)
		CHECK_INT(s.end[k] - s.first[k], FUNCTIONS / DWELL_SHARES);
}

TEST_MAIN()
