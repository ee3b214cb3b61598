/*
 * The gates: code that stands once at the start of an image's code and is called by its probes.
 *
 * Keeps every register, flag and the vector state, and is unwindable at each instruction.
 * [any-thread]
 */
#pragma once

#include "clone/unwind-info.h"

#include <stddef.h>
#include <stdint.h>

/* Where the parts that gates refer to stand, as area offsets. */
struct dw_gates {
	uint32_t at; /* of the gates */
	uint32_t constants_at;
	uint32_t wiped_at;
};

/* A gate, by what its callers have just done. */
enum dw_gate {
	DWELL_GATE_COUNT, /* rax saved at -16(%rsp), the function's index in eax */
	DWELL_GATE_LEAVE, /* nothing */
};

/* Bytes of all gates. */
uint32_t dw_gates_bytes(void);

/* The area offset of @gate. */
uint32_t dw_gate_at(const struct dw_gates *g, enum dw_gate gate);

/* Write all gates to their place in the image @area. */
void dw_gates_write(const struct dw_gates *g, uint8_t *area);

/* How to unwind through the gates. */
struct dw_clone_gate_range dw_gates_range(const struct dw_gates *g);
