/*
 * Blocks; see blocks.h. The stack of free ones has a count in its head, so that a thread that was
 * held up takes nothing wrong.
 */
#include "agent/clr/blocks.h"

#include "agent/core/memory.h"

#include <stddef.h>

#define SPACE_BYTES ((uint64_t)256 << 30)
#define SPACE_MIN   ((uint64_t)64 << 20)

struct blocks {
	uint32_t room; /* blocks */
	uint32_t used; /* that were ever taken, block 0 is none; atomic */
	uint64_t free; /* count << 32 | number; atomic */
};

static struct blocks blocks;

uint64_t dw_blocks_base;

bool dw_blocks_start(void)
{
	uint64_t bytes = SPACE_BYTES;

	for (; bytes >= SPACE_MIN && !dw_blocks_base; bytes /= 2) {
		dw_blocks_base = (uint64_t)dw_agent_memory(bytes);
		blocks.room = (uint32_t)(bytes / DWELL_BLOCK_BYTES);
	}
	blocks.used = 1;
	return dw_blocks_base;
}

struct dw_clr_block *dw_block_take(void)
{
	uint64_t head = __atomic_load_n(&blocks.free, __ATOMIC_ACQUIRE), next;
	uint32_t number;

	while ((uint32_t)head) {
		next = (head & ~(uint64_t)UINT32_MAX) | dw_block_at((uint32_t)head)->next;
		if (__atomic_compare_exchange_n(&blocks.free, &head, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			*dw_block_at((uint32_t)head) = (struct dw_clr_block){.next = 0};
			return dw_block_at((uint32_t)head);
		}
	}
	number = __atomic_load_n(&blocks.used, __ATOMIC_RELAXED);
	do {
		if (number >= blocks.room)
			return NULL;
	} while (!__atomic_compare_exchange_n(&blocks.used, &number, number + 1, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return dw_block_at(number);
}

void dw_block_free(struct dw_clr_block *block)
{
	uint64_t head = __atomic_load_n(&blocks.free, __ATOMIC_ACQUIRE), next;

	do {
		block->next = (uint32_t)head;
		next = ((head >> 32) + 1) << 32 | dw_block_number(block);
	} while (!__atomic_compare_exchange_n(&blocks.free, &head, next, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}
