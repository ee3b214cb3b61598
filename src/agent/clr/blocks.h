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
