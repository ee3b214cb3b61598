/*
 * Blocks of objects, and how they are put in order; see blocks.h. The stack of free ones has a
 * count in its head, so that a thread that was held up takes nothing wrong.
 *
 * What one thread has allocated is in order already. What several have is sorted in two rounds,
 * first by the lower bits of places, then by the higher ones.
 */
#include "agent/clr/blocks.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <stddef.h>

#define SPACE_BYTES ((uint64_t)256 << 30)

enum { OPEN_BLOCKS = 256 }; /* that get rights at a time */

struct blocks {
	uint64_t room;	 /* blocks << 32 | those ever taken, block 0 is none; atomic */
	uint32_t opened; /* atomic */
	uint64_t free;	 /* count << 32 | number; atomic */
};

static struct blocks all;

uint64_t dw_blocks_base;

bool dw_blocks_start(void)
{
	uint64_t bytes = dw_memory_share(SPACE_BYTES);

	while (bytes && !(dw_blocks_base = (uint64_t)dw_memory_reserve(bytes)))
		bytes = dw_memory_share(bytes / 2);
	all.room = bytes / DWELL_BLOCK_BYTES << 32 | 1;
	return dw_blocks_base;
}

void dw_blocks_give_back(uint64_t keep)
{
	uint64_t room = __atomic_load_n(&all.room, __ATOMIC_RELAXED), end;

	do { /* what another thread is just opening stays */
		end = (uint32_t)room + keep / DWELL_BLOCK_BYTES + OPEN_BLOCKS;
		end -= end % OPEN_BLOCKS;
		if (end >= room >> 32)
			return;
	} while (!__atomic_compare_exchange_n(&all.room, &room, end << 32 | (uint32_t)room, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	dw_sys_munmap(dw_block_at((uint32_t)end), ((room >> 32) - end) * DWELL_BLOCK_BYTES);
}

/* Let blocks up to @number be used, of @room. False: they may not. */
static bool make_open(uint32_t number, uint32_t room)
{
	uint32_t opened = __atomic_load_n(&all.opened, __ATOMIC_ACQUIRE), end;

	while (number >= opened) {
		end = number / OPEN_BLOCKS * OPEN_BLOCKS + OPEN_BLOCKS;
		end = end < room ? end : room;
		if (!dw_agent_may_call() ||
		    dw_sys_mprotect(dw_block_at(opened),
				    (uint64_t)(end - opened) * DWELL_BLOCK_BYTES,
				    PROT_READ | PROT_WRITE))
			return false;
		if (__atomic_compare_exchange_n(&all.opened, &opened, end, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			break;
	}
	return true;
}

struct dw_clr_block *dw_block_take(void)
{
	uint64_t head = __atomic_load_n(&all.free, __ATOMIC_ACQUIRE), next;
	uint64_t room = __atomic_load_n(&all.room, __ATOMIC_RELAXED);
	uint32_t number;

	while ((uint32_t)head) {
		next = (head & ~(uint64_t)UINT32_MAX) | dw_block_at((uint32_t)head)->next;
		if (__atomic_compare_exchange_n(&all.free, &head, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			*dw_block_at((uint32_t)head) = (struct dw_clr_block){.next = 0};
			return dw_block_at((uint32_t)head);
		}
	}
	do {
		number = (uint32_t)room;
		if (number >= room >> 32 || !make_open(number, (uint32_t)(room >> 32)))
			return NULL;
	} while (!__atomic_compare_exchange_n(&all.room, &room, room + 1, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return dw_block_at(number);
}

void dw_block_free(struct dw_clr_block *block)
{
	uint64_t head = __atomic_load_n(&all.free, __ATOMIC_ACQUIRE), next;

	do {
		block->next = (uint32_t)head;
		next = ((head >> 32) + 1) << 32 | dw_block_number(block);
	} while (!__atomic_compare_exchange_n(&all.free, &head, next, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}

enum {
	LOW_BITS = 10,
	LOW = 1 << LOW_BITS,
	HIGH = 1 << (DWELL_PLACE_BITS - LOW_BITS),
	ROOM = DWELL_ORDER_BLOCKS * DWELL_BLOCK_OBJECTS,
};

struct sorting {
	struct dw_object *spare;       /* room for ROOM */
	uint32_t low[LOW], high[HIGH]; /* by bits: how many objects, then where the next goes */
};

static struct sorting sorting;

bool dw_order_start(void)
{
	sorting.spare = dw_agent_memory(ROOM * sizeof(*sorting.spare));
	return sorting.spare;
}

static uint32_t offset_of(const struct dw_object *o)
{
	return (uint32_t)(o->place >> DWELL_PLACE_SHIFT);
}

static bool is_sorted(const uint32_t *blocks, uint32_t n)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct dw_clr_block *block = dw_block_at(blocks[i]);

		for (uint32_t k = 0; k < block->n; k++) {
			if (block->objects[k].place < last)
				return false;
			last = block->objects[k].place;
		}
	}
	return true;
}

/* Make numbers of objects places of the first ones. The number of all. */
static uint32_t sum_up(uint32_t *counts, uint32_t n)
{
	uint32_t sum = 0, count;

	for (uint32_t i = 0; i < n; i++) {
		count = counts[i];
		counts[i] = sum;
		sum += count;
	}
	return sum;
}

/* The number of objects. */
static uint32_t count_objects(const uint32_t *blocks, uint32_t n)
{
	for (uint32_t i = 0; i < LOW; i++)
		sorting.low[i] = 0;
	for (uint32_t i = 0; i < HIGH; i++)
		sorting.high[i] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct dw_clr_block *block = dw_block_at(blocks[i]);

		for (uint32_t k = 0; k < block->n; k++) {
			sorting.low[offset_of(&block->objects[k]) % LOW]++;
			sorting.high[offset_of(&block->objects[k]) / LOW]++;
		}
	}
	sum_up(sorting.low, LOW);
	return sum_up(sorting.high, HIGH);
}

static void sort(const uint32_t *blocks, uint32_t n, uint32_t objects_n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct dw_clr_block *block = dw_block_at(blocks[i]);

		for (uint32_t k = 0; k < block->n; k++) {
			uint32_t low = offset_of(&block->objects[k]) % LOW;

			sorting.spare[sorting.low[low]++] = block->objects[k];
		}
	}
	for (uint32_t i = 0; i < objects_n; i++) {
		uint32_t to = sorting.high[offset_of(&sorting.spare[i]) / LOW]++;
		uint32_t block = blocks[to / DWELL_BLOCK_OBJECTS];

		dw_block_at(block)->objects[to % DWELL_BLOCK_OBJECTS] = sorting.spare[i];
	}
}

uint32_t dw_order_sort(uint32_t *blocks, uint32_t n)
{
	uint32_t objects_n, left;

	if (is_sorted(blocks, n))
		return n;
	objects_n = left = count_objects(blocks, n);
	sort(blocks, n, objects_n);
	for (uint32_t i = 0; i < n; i++) {
		struct dw_clr_block *block = dw_block_at(blocks[i]);

		block->n = left < DWELL_BLOCK_OBJECTS ? left : DWELL_BLOCK_OBJECTS;
		left -= block->n;
		if (!block->n)
			dw_block_free(block);
	}
	return (objects_n + DWELL_BLOCK_OBJECTS - 1) / DWELL_BLOCK_OBJECTS;
}

/* The first of @n objects in order that is at @offset or behind it. */
static uint32_t find_slot(const struct dw_object *objects, uint32_t n, uint64_t offset)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (offset_of(&objects[middle]) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct dw_position dw_order_find(const uint32_t *blocks, uint32_t n, struct dw_position from,
				 uint64_t offset)
{
	uint32_t low = from.block, high = n;
	const struct dw_clr_block *block;

	while (low < high) { /* the first with anything at the offset or behind it */
		uint32_t middle = low == from.block ? low : low + (high - low) / 2;

		block = dw_block_at(blocks[middle]);
		if (!block->n || offset_of(&block->objects[block->n - 1]) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n)
		return (struct dw_position){n, 0};
	block = dw_block_at(blocks[low]);
	return (struct dw_position){low, find_slot(block->objects, block->n, offset)};
}
