/*
 * Pieces of the managed heap, sorted by where they start.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/* Take all away, and give memory beyond a few MB back. */
void dw_spans_clear(struct dw_spans *s);

/* Sort by start. */
void dw_spans_sort(struct dw_spans *s);

/* The span that @address lies in, NULL = none. Sorted. */
const struct dw_span *dw_spans_find(struct dw_spans *s, uint64_t address);
