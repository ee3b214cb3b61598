/* From clones to the module and back (src/agent/clones/lookup.c), on an image made by hand. */
#include "agent/clones/clones.h"
#include "check.h"

#include <string.h>

enum {
	MODULE = 0x400000,
	CODE_AT = 4096,
	FUNCTIONS_AT = 8192,
	LENGTHS_AT = 9000,
	TRAMPOLINE_BYTES = 64,
	A_AT = CODE_AT + TRAMPOLINE_BYTES,
	LEFT_FUNCTIONS = 1000,
	FUNCTIONS = LEFT_FUNCTIONS + 3,
	AREA_BYTES = FUNCTIONS_AT + FUNCTIONS * sizeof(struct dw_clone_function_entry) + 4096,
};

/*
 * The functions: "a" with a prefix of 9 bytes and an instruction whose clone is long; a thousand
 * that were left alone; "b" without a prefix; one that was left alone.
 */
static _Alignas(4096) uint8_t image[AREA_BYTES];

static const uint8_t lengths[] = {
	/* a: push (1), clone 9 + 1; jump (2), clone 300; call (5), clone 5 + 4; ret (1) */
	0x1a, 0x2f, 300 & 255, 300 >> 8, 0x59, 0x11,
	/* b: 3, 1 */
	0x33, 0x11};

static struct dw_area *area;

static uint64_t clone(uint32_t at)
{
	return area->area + at;
}

static void make(void)
{
	struct dw_clone_header *h = (void *)(image + DWELL_CLONE_HEADER_OFFSET);
	struct dw_clone_function_entry *f = (void *)(image + FUNCTIONS_AT);
	uint32_t lengths_at = AREA_BYTES - sizeof(lengths);

	f[0] = (struct dw_clone_function_entry){0x1000, 9, A_AT, 10 + 300 + 9 + 1, 0, 9, 0, 0};
	for (uint32_t i = 1; i <= LEFT_FUNCTIONS; i++)
		f[i] = (struct dw_clone_function_entry){
			.start = 0x1000 + 16 * i, .bytes = 16, .reason = DWELL_LEFT_UNDECODABLE};
	f[LEFT_FUNCTIONS + 1] =
		(struct dw_clone_function_entry){0x8000, 4, A_AT + 400, 4, 6, 0, 0, 0};
	f[LEFT_FUNCTIONS + 2] = (struct dw_clone_function_entry){
		.start = 0x8010, .bytes = 4, .reason = DWELL_LEFT_START};
	h->code_at = CODE_AT;
	h->code_bytes = 4096;
	h->functions = (struct dw_clone_part){FUNCTIONS_AT, FUNCTIONS};
	h->instructions = (struct dw_clone_part){lengths_at, sizeof(lengths)};
	memcpy(image + lengths_at, lengths, sizeof(lengths));
	area = &dw_probe.areas[0];
	*area = (struct dw_area){.module = MODULE,
				 .module_bytes = 0x10000,
				 .area = (uint64_t)image,
				 .bytes = sizeof(image),
				 .header = h};
	dw_probe.area_n = 1;
}

TEST(addresses_of_clones)
{
	make();
	CHECK(dw_original(clone(A_AT), false) == MODULE + 0x1000);
	CHECK(dw_original(clone(A_AT + 5), false) == MODULE + 0x1000);
	CHECK(dw_original(clone(A_AT + 10), false) == MODULE + 0x1001);
	CHECK(dw_original(clone(A_AT + 309), false) == MODULE + 0x1001);
	CHECK(dw_original(clone(A_AT + 310), false) == MODULE + 0x1003);
	CHECK(dw_original(clone(A_AT + 319), false) == MODULE + 0x1008);
	CHECK(dw_original(clone(A_AT + 400), false) == MODULE + 0x8000);
	CHECK(dw_original(clone(A_AT + 403), false) == MODULE + 0x8003);
}

TEST(return_addresses)
{
	make();
	/* In the middle of the call's clone and at its end: behind the call. */
	CHECK(dw_original(clone(A_AT + 315), true) == MODULE + 0x1008);
	CHECK(dw_original(clone(A_AT + 319), true) == MODULE + 0x1008);
	CHECK(dw_original(clone(A_AT + 404), true) == MODULE + 0x8004);
}

TEST(addresses_elsewhere_stay)
{
	make();
	uint64_t places[] = {0,
			     MODULE + 0x1000,
			     clone(CODE_AT),
			     clone(A_AT + 320),
			     clone(A_AT + 399),
			     clone(A_AT + 404),
			     clone(CODE_AT - 1),
			     clone(sizeof(image)),
			     UINT64_MAX};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		CHECK(dw_original(places[i], false) == places[i]);
	CHECK(dw_area_of_clone(clone(CODE_AT)) == area);
	CHECK(!dw_area_of_clone(clone(CODE_AT + 4096)));
	CHECK(!dw_area_of_clone(clone(0)));
	CHECK(dw_area_of_module(MODULE) == area);
	CHECK(!dw_area_of_module(MODULE + 0x10000));
}

TEST(clones_of_addresses)
{
	make();
	uint64_t inside[] = {MODULE,
			     MODULE + 0x1002,
			     MODULE + 0x1009,
			     MODULE + 0x1010,
			     MODULE + 0x8001,
			     MODULE + 0x8010,
			     0};

	CHECK(dw_clone_of(MODULE + 0x1000) == clone(A_AT + 9));
	CHECK(dw_clone_of(MODULE + 0x1001) == clone(A_AT + 10));
	CHECK(dw_clone_of(MODULE + 0x1003) == clone(A_AT + 310));
	CHECK(dw_clone_of(MODULE + 0x1008) == clone(A_AT + 319));
	CHECK(dw_clone_of(MODULE + 0x8000) == clone(A_AT + 400));
	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++)
		CHECK(dw_clone_of(inside[i]) == inside[i]);
}

TEST(functions_put_back_have_no_clone)
{
	make();
	uint8_t left[FUNCTIONS / 8 + 1] = {1};

	area->left = left;
	CHECK(dw_clone_of(MODULE + 0x1001) == MODULE + 0x1001);
	CHECK(dw_clone_of(MODULE + 0x8000) == clone(A_AT + 400));
	/* Who is still in the clone is told where that is. */
	CHECK(dw_original(clone(A_AT + 10), false) == MODULE + 0x1001);
}

TEST(closed_areas_match_nothing)
{
	make();
	area->is_closed = true;
	CHECK(!dw_area_of_clone(clone(A_AT)));
	CHECK(!dw_area_of_module(MODULE + 0x1000));
	CHECK(dw_original(clone(A_AT), false) == clone(A_AT));
	CHECK(dw_clone_of(MODULE + 0x1000) == MODULE + 0x1000);
}

/* A table that ends too early is not read behind its end. */
TEST(a_short_table_is_not_overrun)
{
	make();
	struct dw_clone_header *h = (void *)(image + DWELL_CLONE_HEADER_OFFSET);

	h->instructions.n = 2;
	CHECK(dw_original(clone(A_AT + 10), false) == MODULE + 0x1001);
	CHECK(dw_original(clone(A_AT + 319), false) == clone(A_AT + 319));
	CHECK(dw_clone_of(MODULE + 0x8000) == MODULE + 0x8000);
}

TEST_MAIN()
