/*
 * Live objects: where each is, how large, of which group; 16 bytes each.
 *
 * Threads add what they allocate; when a collection has ended, and the program's threads stand
 * still, objects that have gone or moved are found by the parts of the heap that it looked at.
 */
#pragma once

#include "agent/clr/spans.h"
#include "agent/clr/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* Reserve addresses. False: there are none. */
bool dw_objects_start(void);

/* The object of @bytes at @address belongs to @group. False: no memory. */
bool dw_objects_add(struct dw_clr_self *t, uint64_t address, uint64_t bytes, uint32_t group);

/* Bytes on the heap of @object, by its class's table: the runtime's own way, without asking it. */
static inline uint64_t dw_object_bytes(uint64_t object, uint64_t class)
{
	uint32_t flags = *(const uint32_t *)class;
	uint64_t bytes = *(const uint32_t *)(class + 4);

	if (flags & 0x80000000u)
		bytes += (uint64_t)(flags & 0xffff) * *(const uint32_t *)(object + 8);
	return (bytes + 7) & ~(uint64_t)7;
}

/* @fn for each object. The program's threads stand still. */
void dw_objects_each(void (*fn)(uint64_t address, uint64_t bytes, void *ctx), void *ctx);

/* A collection. */
struct dw_sweep {
	struct dw_spans *generations; /* the heap before; sorted */
	struct dw_spans *survivors;   /* sorted */
	bool is_condemned[8];	      /* by generation */
	/* An object of @group went in @generation. */
	void (*died)(uint32_t group, uint32_t generation, uint64_t bytes);
};

/* Bring all up to date. The program's threads stand still. */
void dw_objects_sweep(const struct dw_sweep *sweep);
