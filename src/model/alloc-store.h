/*
 * Values of very many groups of objects: few have any in the heaps of large or pinned objects, so
 * these are kept apart.
 *
 * Rows are numbered from 0. One thread while rows are added.
 */
#pragma once

#include "base/vec.h"
#include "model/alloc-values.h"

#include <stddef.h>
#include <stdint.h>

enum { DWELL_ALLOC_PLAIN = DWELL_GENERATION_2 + 1 }; /* generations that all rows have */

struct dw_alloc_plain {
	struct dw_alloc_count allocated, collected[DWELL_ALLOC_PLAIN];
};

struct dw_alloc_apart {
	struct dw_alloc_count collected[DWELL_GENERATIONS - DWELL_ALLOC_PLAIN];
};

struct dw_alloc_store {
	DW_VEC(struct dw_alloc_plain) plain; /* by row */
	DW_VEC(uint32_t) apart_of;	     /* by row: index in apart + 1, 0 = none */
	DW_VEC(struct dw_alloc_apart) apart;
};

/* Make @n rows, new ones with nothing in them. 0 or -ENOMEM. */
int dw_alloc_store_extend(struct dw_alloc_store *s, size_t n);

/* Add @more to @row, which is there. 0 or -ENOMEM. */
int dw_alloc_store_add(struct dw_alloc_store *s, size_t row, const struct dw_alloc_values *more);

/* What @row has. */
static inline struct dw_alloc_values dw_alloc_store_get(const struct dw_alloc_store *s, size_t row)
{
	const struct dw_alloc_plain *p = &s->plain.v[row];
	struct dw_alloc_values v = {.allocated = p->allocated};

	for (int i = 0; i < DWELL_ALLOC_PLAIN; i++)
		v.collected[i] = p->collected[i];
	for (int i = DWELL_ALLOC_PLAIN; s->apart_of.v[row] && i < DWELL_GENERATIONS; i++)
		v.collected[i] =
			s->apart.v[s->apart_of.v[row] - 1].collected[i - DWELL_ALLOC_PLAIN];
	return v;
}

/* Free everything. */
void dw_alloc_store_release(struct dw_alloc_store *s);
