/*
 * The trampolines of probes: code that stands once at the start of an image's code and
 * is called by its probes.
 *
 * Each kind of probes has a set of its own. Trampolines keep every register, flag and the vector
 * state, use at most the red zone below the stack pointer of their caller, and are unwindable at
 * each instruction. [any-thread]
 */
#pragma once

#include "wire/clone-image.h"

#include <stddef.h>
#include <stdint.h>

/* Where the parts that trampolines refer to stand, as area offsets. */
struct dw_trampolines {
	uint32_t probes; /* enum dw_clone_probes: which set */
	uint32_t at;	 /* of the trampolines */
	uint32_t constants_at;
	uint32_t wiped_at;
};

/* An FDE of code that is in the area but no clone. */
struct dw_clone_trampoline_range {
	uint32_t at; /* area offset */
	uint32_t bytes;
	const uint8_t *program; /* call frame instructions after "CFA = rsp + 8, return address at
				   CFA - 8" */
	uint32_t program_n;
};

/* Bytes of all trampolines of the set for @probes (enum dw_clone_probes). */
uint32_t dw_trampolines_bytes(uint32_t probes);

/* The trampoline that a function's entry calls in images with @probes. */
enum dw_trampoline dw_trampoline_of_entry(uint32_t probes);

/* The trampoline that is called where a function is left. */
enum dw_trampoline dw_trampoline_of_leaving(uint32_t probes);

/* The area offset of @trampoline, which is of the set. */
uint32_t dw_trampoline_at(const struct dw_trampolines *g, enum dw_trampoline trampoline);

/* Write all trampolines to their place in the image @area. */
void dw_trampolines_write(const struct dw_trampolines *g, uint8_t *area);

/*
 * The fields of the set that hold the offset of the agent's thread word, for DWELL_RELOC_THREAD:
 * @i counts from 0. Area offset; 0 = there are no more.
 */
uint32_t dw_trampolines_thread_field(const struct dw_trampolines *g, uint32_t i);

/* The area offsets of the set's trampolines, for the image's header. */
void dw_trampolines_places(const struct dw_trampolines *g, uint32_t table[DWELL_TRAMPOLINES_N]);

/* Where a signal may interrupt them, for the header too. */
void dw_trampolines_interrupted(const struct dw_trampolines *g,
				struct dw_clone_trampoline table[DWELL_CLONE_TRAMPOLINES]);

/* The places of the slow path that signals may find: signals_at, moves_at, moved_at of @h. */
void dw_trampolines_slow_path(const struct dw_trampolines *g, struct dw_clone_header *h);

/* How to unwind through the trampolines. */
struct dw_clone_trampoline_range dw_trampolines_range(const struct dw_trampolines *g);
