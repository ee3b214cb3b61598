/* Objects of a part of the heap are put in order, and found there. */
#include "agent/clr/blocks.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"

#include "check.h"

const struct dw_agent_part dw_agent_part;

enum { BLOCKS = 300, OBJECTS = BLOCKS * DWELL_BLOCK_OBJECTS };

static uint32_t offset_at(const uint32_t *blocks, struct dw_position p)
{
	return (uint32_t)(dw_block_at(blocks[p.block])->objects[p.slot].place >> DWELL_PLACE_SHIFT);
}

/* The place of object @i of @n, turned round in runs of @run: no two are the same. */
static uint32_t place(uint32_t i, uint32_t n, uint32_t run)
{
	uint32_t start = i / run * run, end = start + run < n ? start + run : n;

	return 3 * (n - end + i - start);
}

/* Blocks with @n objects, some of them not full; numbers to @blocks. */
static uint32_t fill(uint32_t *blocks, uint32_t n, uint32_t run)
{
	struct dw_clr_block *block = NULL;
	uint32_t blocks_n = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!block || block->n == DWELL_BLOCK_OBJECTS - blocks_n % 3) {
			block = dw_block_take();
			blocks[blocks_n++] = dw_block_number(block);
		}
		block->objects[block->n++] = (struct dw_object){
			(uint64_t)place(i, n, run) << DWELL_PLACE_SHIFT | i, i, i + 1};
	}
	return blocks_n;
}

static void round_of(uint32_t n, uint32_t run, bool *check_failed)
{
	uint32_t blocks[DWELL_ORDER_BLOCKS], left, seen = 0;

	left = dw_order_sort(blocks, fill(blocks, n, run));
	for (uint32_t i = 0; i < left; i++) {
		const struct dw_clr_block *block = dw_block_at(blocks[i]);

		for (uint32_t k = 0; k < block->n; k++, seen++) {
			const struct dw_object *o = &block->objects[k];

			CHECK_INT(o->place >> DWELL_PLACE_SHIFT, 3 * seen);
			CHECK_INT(place(o->units, n, run), 3 * seen);
			CHECK_INT(o->group, o->units + 1);
		}
	}
	CHECK_INT(seen, n);
	for (uint32_t at = 0; at < 3 * n + 3; at += 7) {
		struct dw_position p = dw_order_find(blocks, left, (struct dw_position){0, 0}, at);
		uint32_t want = (at + 2) / 3 * 3;

		if (want >= 3 * n)
			CHECK_INT(p.block, left);
		else
			CHECK_INT(offset_at(blocks, p), want);
	}
	for (uint32_t i = 0; i < left; i++)
		dw_block_free(dw_block_at(blocks[i]));
}

TEST(objects_are_put_in_order_and_found)
{
	CHECK(dw_blocks_base || dw_blocks_start());
	CHECK(dw_order_start());
	round_of(1, 1, check_failed);
	round_of(1000, 1000, check_failed);   /* in order already */
	round_of(1000, 1, check_failed);      /* turned round */
	round_of(OBJECTS, 341, check_failed); /* as several threads leave them */
	round_of(OBJECTS - 1000, OBJECTS, check_failed);
}

TEST(blocks_are_used_again)
{
	struct dw_clr_block *block;
	uint32_t number;

	CHECK(dw_blocks_base || dw_blocks_start());
	block = dw_block_take();
	block->n = 7;
	number = dw_block_number(block);
	dw_block_free(block);
	block = dw_block_take();
	CHECK_INT(dw_block_number(block), number);
	CHECK_INT(block->n, 0);
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
