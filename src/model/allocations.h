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
#include "model/alloc-store.h"
#include "model/alloc-values.h"

#include <stdbool.h>
#include <stdint.h>

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
const struct dw_alloc_type *dw_allocations_get_type(const struct dw_allocations *t, uint32_t id);

/* The group of @id, borrowed until the next add. NULL for 0 and unknown ids. */
const struct dw_alloc_group *dw_allocations_get_group(const struct dw_allocations *t, uint32_t id);

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
