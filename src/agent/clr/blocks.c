/*
 * Blocks; see blocks.h. The stack of free ones has a count in its head, so that a thread that was
 * held up takes nothing wrong.
 */
#include "agent/clr/blocks.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

#include <stddef.h>

#define SPACE_BYTES ((uint64_t)256 << 30)

enum { OPEN_BLOCKS = 256 }; /* that get rights at a time */

struct blocks {
	uint64_t room;	 /* blocks << 32 | those ever taken, block 0 is none; atomic */
	uint32_t opened; /* atomic */
	uint64_t free;	 /* count << 32 | number; atomic */
};

static struct blocks blocks;

uint64_t dw_blocks_base;

bool dw_blocks_start(void)
{
	uint64_t bytes = dw_memory_share(SPACE_BYTES);

	while (bytes && !(dw_blocks_base = (uint64_t)dw_memory_reserve(bytes)))
		bytes = dw_memory_share(bytes / 2);
	blocks.room = bytes / DWELL_BLOCK_BYTES << 32 | 1;
	return dw_blocks_base;
}

void dw_blocks_give_back(uint64_t keep)
{
	uint64_t room = __atomic_load_n(&blocks.room, __ATOMIC_RELAXED), end;

	do { /* what another thread is just opening stays */
		end = (uint32_t)room + keep / DWELL_BLOCK_BYTES + OPEN_BLOCKS;
		end -= end % OPEN_BLOCKS;
		if (end >= room >> 32)
			return;
	} while (!__atomic_compare_exchange_n(&blocks.room, &room, end << 32 | (uint32_t)room,
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	dw_sys_munmap(dw_block_at((uint32_t)end), ((room >> 32) - end) * DWELL_BLOCK_BYTES);
}

/* Let blocks up to @number be used, of @room. False: they may not. */
static bool make_open(uint32_t number, uint32_t room)
{
	uint32_t opened = __atomic_load_n(&blocks.opened, __ATOMIC_ACQUIRE), end;

	while (number >= opened) {
		end = number / OPEN_BLOCKS * OPEN_BLOCKS + OPEN_BLOCKS;
		end = end < room ? end : room;
		if (!dw_agent_may_call() ||
		    dw_sys_mprotect(dw_block_at(opened),
				    (uint64_t)(end - opened) * DWELL_BLOCK_BYTES,
				    PROT_READ | PROT_WRITE))
			return false;
		if (__atomic_compare_exchange_n(&blocks.opened, &opened, end, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			break;
	}
	return true;
}

struct dw_clr_block *dw_block_take(void)
{
	uint64_t head = __atomic_load_n(&blocks.free, __ATOMIC_ACQUIRE), next;
	uint64_t room = __atomic_load_n(&blocks.room, __ATOMIC_RELAXED);
	uint32_t number;

	while ((uint32_t)head) {
		next = (head & ~(uint64_t)UINT32_MAX) | dw_block_at((uint32_t)head)->next;
		if (__atomic_compare_exchange_n(&blocks.free, &head, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			*dw_block_at((uint32_t)head) = (struct dw_clr_block){.next = 0};
			return dw_block_at((uint32_t)head);
		}
	}
	do {
		number = (uint32_t)room;
		if (number >= room >> 32 || !make_open(number, (uint32_t)(room >> 32)))
			return NULL;
	} while (!__atomic_compare_exchange_n(&blocks.room, &room, room + 1, false,
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
