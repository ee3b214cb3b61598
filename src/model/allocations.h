/*
 * Allocations: what the memory method measured, by who allocated what.
 *
 * A group is all objects of one type that one thread allocated with one stack. Its values come in
 * slices of time, as those of calls (model/calls.h): a row for each (slice, group) in which
 * something happened, their sum is the group's value. An object is collected in the generation in
 * which it was when a collection found it dead. Alive at the end = allocated less collected.
 * Frames of managed code: module = the assembly (DWELL_MODULE_MANAGED), svma = its method's token
 * (24 bits) << 32 | offset in the IL. Only the runtime knows what such methods are called, so
 * their names are recorded, not looked up afterwards.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

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

struct dw_alloc_count {
	uint64_t objects, bytes;
};

struct dw_alloc_values {
	struct dw_alloc_count allocated;
	struct dw_alloc_count collected[DWELL_GENERATIONS];
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
	uint64_t pause_ns;
	uint64_t heap_before, heap_after, promoted; /* bytes */
};

struct dw_allocations {
	DW_VEC(struct dw_alloc_type) types;	/* by id - 1 */
	DW_VEC(struct dw_alloc_group) groups;	/* by id - 1 */
	DW_VEC(struct dw_alloc_method) methods; /* by id - 1 */
	DW_VEC(struct dw_alloc_delta)
	deltas; /* those not written to a session yet, while recording */
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
const struct dw_alloc_type *dw_allocations_get_type(const struct dw_allocations *t, uint32_t id);

/* The group of @id, borrowed until the next add. NULL for 0 and unknown ids. */
const struct dw_alloc_group *dw_allocations_get_group(const struct dw_allocations *t, uint32_t id);

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
	dw_alloc_count_subtract(&from->allocated, &less->allocated);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_subtract(&from->collected[i], &less->collected[i]);
}

/* What is alive of @v: allocated less collected. */
static inline struct dw_alloc_count dw_alloc_values_alive(const struct dw_alloc_values *v)
{
	struct dw_alloc_count alive = v->allocated;

	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_subtract(&alive, &v->collected[i]);
	return alive;
}

/* Free everything. */
void dw_allocations_release(struct dw_allocations *t);
