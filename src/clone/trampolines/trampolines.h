/*
 * The gates (trampolines of probes): code that stands once at the start of an image's code and is
 * called by its probes.
 *
 * Each kind of probes has a set of its own. Gates keep every register, flag and the vector state,
 * use at most the red zone below the stack pointer of their caller, and are unwindable at each
 * instruction. [any-thread]
 */
#pragma once

#include "wire/clone-image.h"

#include <stddef.h>
#include <stdint.h>

/* Where the parts that gates refer to stand, as area offsets. */
struct dw_gates {
	uint32_t probes; /* enum dw_clone_probes: which set */
	uint32_t at;	 /* of the gates */
	uint32_t constants_at;
	uint32_t wiped_at;
};

/* An FDE of code that is in the area but no clone. */
struct dw_clone_gate_range {
	uint32_t at; /* area offset */
	uint32_t bytes;
	const uint8_t *program; /* call frame instructions after "CFA = rsp + 8, return address at
				   CFA - 8" */
	uint32_t program_n;
};

/* Bytes of all gates of the set for @probes (enum dw_clone_probes). */
uint32_t dw_gates_bytes(uint32_t probes);

/* The gate that a function's entry calls in images with @probes. */
enum dw_gate dw_gate_of_entry(uint32_t probes);

/* The gate that is called where a function is left. */
enum dw_gate dw_gate_of_leaving(uint32_t probes);

/* The area offset of @gate, which is of the set. */
uint32_t dw_gate_at(const struct dw_gates *g, enum dw_gate gate);

/* Write all gates to their place in the image @area. */
void dw_gates_write(const struct dw_gates *g, uint8_t *area);

/*
 * The fields of the set that hold the offset of the agent's thread word, for DWELL_RELOC_THREAD:
 * @i counts from 0. Area offset; 0 = there are no more.
 */
uint32_t dw_gates_thread_field(const struct dw_gates *g, uint32_t i);

/* The area offsets of the set's gates, for the image's header. */
void dw_gates_places(const struct dw_gates *g, uint32_t table[DWELL_GATES_N]);

/* Where a signal may find them half-way, for the header too. */
void dw_gates_half_way(const struct dw_gates *g, struct dw_clone_gate table[DWELL_CLONE_GATES]);

/* The places of the slow path that signals may find: signals_at, moves_at, moved_at of @h. */
void dw_gates_slow_path(const struct dw_gates *g, struct dw_clone_header *h);

/* How to unwind through the gates. */
struct dw_clone_gate_range dw_gates_range(const struct dw_gates *g);
