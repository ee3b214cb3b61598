/* Mappings of a process as mmap, munmap, fork and exec change them. */
#include "check.h"

#include "unwind/space.h"

/* Map [@start, @end) as module @module. */
static int map(struct dw_space *s, uint64_t start, uint64_t end, uint32_t module)
{
	struct dw_space_range r = {.start = start, .end = end, .module = module};

	return dw_space_map(s, &r);
}

/* The module at @addr, 0 = nothing there. */
static uint32_t at(struct dw_space *s, uint64_t addr)
{
	const struct dw_space_range *r = dw_space_find(s, (struct dw_avma){addr});

	return r ? r->module : 0;
}

TEST(find_respects_both_ends)
{
	struct dw_space s = {0};

	CHECK_INT(at(&s, 5), 0);
	CHECK_INT(map(&s, 0x3000, 0x4000, 2), 0);
	CHECK_INT(map(&s, 0x1000, 0x2000, 1), 0);
	CHECK_INT(at(&s, 0xfff), 0);
	CHECK_INT(at(&s, 0x1000), 1);
	CHECK_INT(at(&s, 0x1fff), 1);
	CHECK_INT(at(&s, 0x2000), 0);
	CHECK_INT(at(&s, 0x3000), 2);
	CHECK_INT(at(&s, ~0ull), 0);
	dw_space_release(&s);
}

TEST(map_replaces_what_it_overlaps)
{
	struct dw_space s = {0};

	CHECK_INT(map(&s, 0x1000, 0x9000, 1), 0);
	CHECK_INT(map(&s, 0x3000, 0x4000, 2), 0); /* a hole in the middle */
	CHECK_INT(s.ranges.n, 3);
	CHECK_INT(at(&s, 0x2fff), 1);
	CHECK_INT(at(&s, 0x3000), 2);
	CHECK_INT(at(&s, 0x4000), 1);
	CHECK_INT(map(&s, 0x2000, 0x5000, 3), 0); /* over several */
	CHECK_INT(s.ranges.n, 3);
	CHECK_INT(at(&s, 0x3000), 3);
	CHECK_INT(at(&s, 0x5000), 1);
	CHECK_INT(map(&s, 0, 0x10000, 4), 0); /* over all */
	CHECK_INT(s.ranges.n, 1);
	CHECK_INT(map(&s, 7, 7, 5), 0); /* empty: nothing happens */
	CHECK_INT(s.ranges.n, 1);
	dw_space_release(&s);
}

TEST(unmap_splits_and_cuts)
{
	struct dw_space s = {0};

	CHECK_INT(dw_space_unmap(&s, 0, ~0ull), 0);
	CHECK_INT(map(&s, 0x1000, 0x5000, 1), 0);
	CHECK_INT(map(&s, 0x5000, 0x6000, 2), 0);
	CHECK_INT(dw_space_unmap(&s, 0x2000, 0x3000), 0);
	CHECK_INT(s.ranges.n, 3);
	CHECK_INT(at(&s, 0x1fff), 1);
	CHECK_INT(at(&s, 0x2000), 0);
	CHECK_INT(at(&s, 0x3000), 1);
	CHECK_INT(dw_space_unmap(&s, 0x4000, 0x5800), 0);
	CHECK_INT(at(&s, 0x4000), 0);
	CHECK_INT(at(&s, 0x57ff), 0);
	CHECK_INT(at(&s, 0x5800), 2);
	CHECK_INT(dw_space_unmap(&s, 0, ~0ull), 0);
	CHECK_INT(s.ranges.n, 0);
	dw_space_release(&s);
}

TEST(split_keeps_the_bias)
{
	struct dw_space s = {0};
	struct dw_space_range r = {.start = 0x1000, .end = 0x4000, .bias = 0x700, .module = 1};

	CHECK_INT(dw_space_map(&s, &r), 0);
	CHECK_INT(dw_space_unmap(&s, 0x2000, 0x3000), 0);
	CHECK_INT(dw_space_find(&s, (struct dw_avma){0x3000})->bias, 0x700);
	dw_space_release(&s);
}

TEST(copy_is_independent)
{
	struct dw_space s = {0}, child = {0};

	CHECK_INT(map(&s, 0x1000, 0x2000, 1), 0);
	CHECK_INT(dw_space_copy(&child, &s), 0);
	dw_space_clear(&s);
	CHECK_INT(at(&s, 0x1000), 0);
	CHECK_INT(at(&child, 0x1000), 1);
	dw_space_release(&s);
	dw_space_release(&child);
}

/* Random changes against a model that keeps one module per page. */
TEST(random_changes_match_a_page_model)
{
	struct dw_space s = {0};
	uint32_t model[64] = {0}, seed = 1;

	for (int i = 0; i < 5000; i++) {
		seed = seed * 1664525 + 1013904223;
		uint64_t a = seed >> 8 & 63, b = a + (seed >> 16 & 15);
		uint32_t module = seed >> 28;

		if (b > 64)
			b = 64;
		CHECK_INT(module ? map(&s, a, b, module) : dw_space_unmap(&s, a, b), 0);
		for (uint64_t p = a; p < b; p++)
			model[p] = module;
		for (uint64_t p = 0; p < 64; p++)
			CHECK_INT(at(&s, p), model[p]);
	}
	dw_space_release(&s);
}

TEST_MAIN()
