/*
 * Live objects: where each is, how large, of which group; 16 bytes each.
 *
 * Threads add what they allocate. When a collection begins, objects that may go are put in order,
 * so that they are found when it tells what has survived; those that it has not told of have gone
 * when it ends. It takes no memory but for a page or two for each 4 MB of the heap that are in use.
 */
#pragma once

#include "agent/clr/thread.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Pieces of the managed heap, sorted by where they start.
 */

struct dw_span {
	uint64_t start, bytes;
	uint64_t value; /* where it has gone, or its generation */
};

struct dw_spans {
	struct dw_span *v, *spare; /* room for @room each */
	uint32_t room;
	uint32_t n;    /* atomic while they are added; may be more than @room: then some are lost */
	uint32_t hint; /* of the last that was found */
};

/* Get room for @room spans, or less where addresses are limited. False: there is none. */
bool dw_spans_start(struct dw_spans *s, uint32_t room);

/* Add @n: the places to fill, NULL = no room, which s->n tells. [any-thread] */
struct dw_span *dw_spans_add(struct dw_spans *s, uint32_t n);

/* Sort by start. */
void dw_spans_sort(struct dw_spans *s);

/* The span that @address lies in, NULL = none. Sorted. */
const struct dw_span *dw_spans_find(struct dw_spans *s, uint64_t address);

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
	bool is_condemned[8];	      /* by generation */
	/* An object of @group went in @generation. */
	void (*died)(uint32_t group, uint32_t generation, uint64_t bytes);
};

/* A collection begins. False: no memory, it cannot be followed, nor can any later one. The
 * program's threads stand still, here and below. */
bool dw_objects_begin(const struct dw_sweep *sweep);

/* @n pieces of the heap have survived, and are at @to now. [any-thread], each a piece of its own */
void dw_objects_survive(uint32_t n, const uint64_t *from, const uint64_t *to,
			const uint64_t *bytes);

/* It has ended: bring all up to date. */
void dw_objects_end(const struct dw_sweep *sweep);

/* Add no more. */
void dw_objects_stop(void);
