/*
 * Allocations: what the memory method measured, by who allocated what.
 *
 * A group is all objects of one type that one thread allocated with one stack. Its values come in
 * slices of time, as those of calls (model/calls.h): a row for each (slice, group) in which
 * something happened, their sum is the group's value. An object is collected in the generation in
 * which it was when a collection found it dead. Alive at the end = allocated less collected.
 * Frames of managed code: module = the assembly, svma = its method's token (24 bits) << 32 | offset
 * in the IL.
 */
#pragma once

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

struct dw_alloc_count {
	uint64_t objects, bytes;
};

struct dw_alloc_delta {
	uint32_t slice; /* index in dw_calls.slices, rising */
	uint32_t group; /* group id */
	struct dw_alloc_count allocated;
	struct dw_alloc_count collected[DWELL_GENERATIONS];
};

/* A garbage collection. */
struct dw_gc {
	uint32_t process;
	uint32_t number; /* from 1, as the runtime counts */
	uint32_t generation;
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
	DW_VEC(struct dw_alloc_type) types;   /* by id - 1 */
	DW_VEC(struct dw_alloc_group) groups; /* by id - 1 */
	DW_VEC(struct dw_alloc_delta)
	deltas; /* those not written to a session yet, while recording */
	DW_VEC(struct dw_gc) gcs;
};
