/*
 * The objects of one part of the heap in the order of their places, so that they are found.
 */
#pragma once

#include "agent/clr/blocks.h"

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
