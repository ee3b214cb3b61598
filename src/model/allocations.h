/*
 * Allocations: what the memory method measured, by who allocated what.
 *
 * A group is all objects of one type that one thread allocated with one stack. Its values come in
 * slices of time, as those of calls (model/calls.h): a row for each (slice, group) in which
 * something happened, their sum is the group's value. An object is collected in the generation in
 * which it was when a collection found it dead. Alive at the end = allocated less collected, of a
 * range with what was alive when it began.
 * Frames of managed code: module = the assembly (DWELL_MODULE_MANAGED), svma = its method's token
 * (24 bits) << 32 | offset in the IL. Only the runtime knows what such methods are called, so
 * their names are recorded, not looked up afterwards. Code that other runtimes made is told
 * likewise (DWELL_MODULE_JIT): tokens are any numbers, offsets are in its machine code.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
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

/* What is measured of objects: how many, and what became of them. */
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

/* What is alive of @v: allocated less collected, with what was alive before. */
static inline struct dw_alloc_count dw_alloc_values_alive(const struct dw_alloc_values *v)
{
	struct dw_alloc_count alive = v->allocated;

	dw_alloc_count_add(&alive, &v->range.before);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_subtract(&alive, &v->collected[i]);
	return alive;
}

enum { DWELL_ALLOC_PLAIN = DWELL_GENERATION_2 + 1 }; /* generations that all rows have */

struct dw_alloc_plain {
	struct dw_alloc_count allocated, collected[DWELL_ALLOC_PLAIN];
};

/* Values of very many groups, numbered from 0: few have anything in the heaps of large or pinned
 * objects. One thread while rows are added. */
struct dw_alloc_store {
	DW_VEC(struct dw_alloc_plain) plain;  /* by row */
	DW_VEC(uint32_t) apart_of;	      /* by row: index in apart + 1, 0 = none */
	DW_VEC(struct dw_alloc_values) apart; /* in place of the plain ones */
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

	if (s->apart_of.v[row])
		return s->apart.v[s->apart_of.v[row] - 1];
	for (int i = 0; i < DWELL_ALLOC_PLAIN; i++)
		v.collected[i] = p->collected[i];
	return v;
}

/* Free everything. */
void dw_alloc_store_release(struct dw_alloc_store *s);

struct dw_alloc_type {
	uint32_t name;	 /* string id: readable, generics and arrays as in C# */
	uint32_t module; /* id of the assembly's module, 0 = the runtime's own */
	uint32_t process;
};

struct dw_alloc_group {
	uint32_t thread; /* thread id */
	uint32_t stack;	 /* stack id, 0 = not known */
	uint32_t type;	 /* type id */
};

/* A method of managed code. */
struct dw_alloc_method {
	uint32_t module; /* id of its assembly's module */
	uint32_t token;	 /* 24 bits, as in svma */
	uint32_t name;	 /* string id: readable, with its class */
};

struct dw_alloc_delta {
	uint32_t slice; /* index in dw_calls.slices, rising */
	uint32_t group; /* group id */
	struct dw_alloc_values values;
};

/* A garbage collection. */
struct dw_gc {
	uint32_t process;
	uint32_t number;      /* from 1, as the runtime counts */
	uint32_t generation;  /* 0 to 2 */
	uint32_t reason;      /* string id */
	uint32_t is_blocking; /* 0 = in the background */
	uint32_t is_compacting;
	uint32_t thread;   /* that triggered it, 0 = not known */
	uint32_t stack;	   /* where, 0 = not known */
	uint64_t start_ns; /* since the start of the recording */
	uint64_t pause_ns; /* that threads stood still, without the next */
	uint64_t added_ns; /* that they stood still longer because dwell is told of collections */
	uint64_t heap_before, heap_after, promoted; /* bytes */
};

struct dw_allocations {
	DW_VEC(struct dw_alloc_type) types;	/* by id - 1 */
	DW_VEC(struct dw_alloc_group) groups;	/* by id - 1 */
	DW_VEC(struct dw_alloc_method) methods; /* by id - 1 */
	/* While recording: those not written to a session yet. */
	DW_VEC(struct dw_alloc_delta) deltas;
	/* Of a session that was loaded for one range of time: by group id - 1, instead of deltas.
	 */
	struct dw_alloc_store sums;
	/* Likewise, where that range is not all: what was alive when it began. */
	DW_VEC(struct dw_alloc_range) ranges;
	/* While it is loaded: what was allocated in that range and may be alive. */
	DW_VEC(struct dw_alloc_count) news;
	DW_VEC(struct dw_gc) gcs;
	struct dw_idset type_set, group_set, method_set;
};

/* The id of the type equal to @type, added when new. 0 or -ENOMEM. */
int dw_allocations_type(struct dw_allocations *t, const struct dw_alloc_type *type, uint32_t *ret);

/* The id of the group equal to @group, added when new. 0 or -ENOMEM. */
int dw_allocations_group(struct dw_allocations *t, const struct dw_alloc_group *group,
			 uint32_t *ret);

/* The id of the method with @method's module and token, added when new. 0 or -ENOMEM. */
int dw_allocations_method(struct dw_allocations *t, const struct dw_alloc_method *method,
			  uint32_t *ret);

/* The type of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline const struct dw_alloc_type *dw_allocations_get_type(const struct dw_allocations *t,
								  uint32_t id)
{
	return id && id <= t->types.n ? &t->types.v[id - 1] : NULL;
}

/* The group of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline const struct dw_alloc_group *dw_allocations_get_group(const struct dw_allocations *t,
								    uint32_t id)
{
	return id && id <= t->groups.n ? &t->groups.v[id - 1] : NULL;
}

/* Whether groups have sums instead of deltas. */
static inline bool dw_allocations_summed(const struct dw_allocations *t)
{
	return t->groups.n && t->sums.plain.n == t->groups.n;
}

/* Whether they are of a range of time that is not all. */
static inline bool dw_allocations_ranged(const struct dw_allocations *t)
{
	return dw_allocations_summed(t) && t->ranges.n == t->groups.n;
}

/* Free everything. */
void dw_allocations_release(struct dw_allocations *t);
