/*
 * What the memory method measures of objects: how many, and what became of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Parts of the managed heap. */
enum dw_generation {
	DWELL_GENERATION_0,
	DWELL_GENERATION_1,
	DWELL_GENERATION_2,
	DWELL_GENERATION_LARGE,
	DWELL_GENERATION_PINNED,
	DWELL_GENERATIONS
};

struct dw_alloc_count {
	uint64_t objects, bytes;
};

/* What was alive when a range of time began, and how much of that was so at its end: objects are
 * counted, not told apart, so it lies between two bounds. They meet where nothing was allocated
 * before something was collected, and for what was collected altogether. */
struct dw_alloc_range {
	struct dw_alloc_count before;
	struct dw_alloc_count least, most;
};

struct dw_alloc_values {
	struct dw_alloc_count allocated;
	struct dw_alloc_count collected[DWELL_GENERATIONS];
	struct dw_alloc_range range; /* of a range of time */
};

/* Whether @v says of no object. */
static inline bool dw_alloc_values_none(const struct dw_alloc_values *v)
{
	const struct dw_alloc_count *before = &v->range.before, *allocated = &v->allocated;
	uint64_t any = before->objects | before->bytes | allocated->objects | allocated->bytes;

	for (int i = 0; i < DWELL_GENERATIONS; i++)
		any |= v->collected[i].objects | v->collected[i].bytes;
	return !any;
}

/* Add @more to @sum. */
static inline void dw_alloc_count_add(struct dw_alloc_count *sum, const struct dw_alloc_count *more)
{
	sum->objects += more->objects;
	sum->bytes += more->bytes;
}

/* Add @more to @sum. */
static inline void dw_alloc_values_add(struct dw_alloc_values *sum,
				       const struct dw_alloc_values *more)
{
	dw_alloc_count_add(&sum->range.before, &more->range.before);
	dw_alloc_count_add(&sum->range.least, &more->range.least);
	dw_alloc_count_add(&sum->range.most, &more->range.most);
	dw_alloc_count_add(&sum->allocated, &more->allocated);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_add(&sum->collected[i], &more->collected[i]);
}

/* Take @less off @from. */
static inline void dw_alloc_count_subtract(struct dw_alloc_count *from,
					   const struct dw_alloc_count *less)
{
	from->objects -= less->objects;
	from->bytes -= less->bytes;
}

/* Take @less off @from. */
static inline void dw_alloc_values_subtract(struct dw_alloc_values *from,
					    const struct dw_alloc_values *less)
{
	dw_alloc_count_subtract(&from->range.before, &less->range.before);
	dw_alloc_count_subtract(&from->range.least, &less->range.least);
	dw_alloc_count_subtract(&from->range.most, &less->range.most);
	dw_alloc_count_subtract(&from->allocated, &less->allocated);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_subtract(&from->collected[i], &less->collected[i]);
}

/* What is alive of @v: allocated less collected, with what was alive before. */
static inline struct dw_alloc_count dw_alloc_values_alive(const struct dw_alloc_values *v)
{
	struct dw_alloc_count alive = v->allocated;

	dw_alloc_count_add(&alive, &v->range.before);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_subtract(&alive, &v->collected[i]);
	return alive;
}
