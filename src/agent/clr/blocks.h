/*
 * Memory for live objects: blocks of a page, which are used again when they are free.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DWELL_BLOCK_BYTES = 4096, DWELL_BLOCK_OBJECTS = DWELL_BLOCK_BYTES / 16 - 1 };

struct dw_object {
	uint64_t place; /* its address; while a collection runs also another: objects.c */
	uint32_t units; /* 8 bytes each */
	uint32_t group;
};

struct dw_clr_block {
	uint32_t next; /* number; 0 = none */
	uint32_t n;
	uint64_t bucket; /* that all its objects are of, or DWELL_MIXED */
	struct dw_object objects[DWELL_BLOCK_OBJECTS];
};

#define DWELL_MIXED UINT64_MAX

/* Where blocks begin, constant after the start. */
extern uint64_t dw_blocks_base;

/* Reserve addresses. False: there are none. */
bool dw_blocks_start(void);

/* Give back addresses that no block has been taken at, but for @keep bytes. [any-thread] */
void dw_blocks_give_back(uint64_t keep);

/* An empty block, all 0. NULL = no memory. [any-thread] */
struct dw_clr_block *dw_block_take(void);

/* Give @block back. While threads stand still. */
void dw_block_free(struct dw_clr_block *block);

/* The block with @number, which is not 0. */
static inline struct dw_clr_block *dw_block_at(uint32_t number)
{
	return (struct dw_clr_block *)(dw_blocks_base + (uint64_t)number * DWELL_BLOCK_BYTES);
}

/* The number of @block. */
static inline uint32_t dw_block_number(const struct dw_clr_block *block)
{
	return (uint32_t)(((uint64_t)block - dw_blocks_base) / DWELL_BLOCK_BYTES);
}

/*
 * The objects of one part of the heap in the order of their places, so that they are found.
 */

enum {
	DWELL_PLACE_BITS = 19,			   /* of objects in a bucket */
	DWELL_PLACE_SHIFT = 64 - DWELL_PLACE_BITS, /* where these stand in struct dw_object */
	DWELL_ORDER_BLOCKS = DWELL_BLOCK_BYTES / 4,
};

/* Get memory to sort in. False: there is none. */
bool dw_order_start(void);

/*
 * Put the objects of @n blocks (by number, DWELL_ORDER_BLOCKS at most) into order, by the highest
 * DWELL_PLACE_BITS of their places; blocks that are empty then are given back. How many there are
 * then. While threads stand still.
 */
uint32_t dw_order_sort(uint32_t *blocks, uint32_t n);

/* Among @n blocks in order. */
struct dw_position {
	uint32_t block; /* index */
	uint32_t slot;
};

/* The first object at @offset or behind it, of those from @from's block on; .block = @n: there is
 * none. */
struct dw_position dw_order_find(const uint32_t *blocks, uint32_t n, struct dw_position from,
				 uint64_t offset);
