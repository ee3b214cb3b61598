/*
 * Emission: the bytes of clones.
 *
 * The layout asks how long each clone will be, emission writes exactly that. Both see the same
 * decisions, so a difference is a defect and reported as one.
 */
#pragma once

#include "base/error.h"
#include "clone/gates.h"
#include "clone/module.h"

#include <stddef.h>
#include <stdint.h>

/* What clones are written into, shared by the threads that write. */
struct dw_emit_target {
	const struct dw_clone_module *m; /* laid out */
	struct dw_gates gates;
	uint8_t *area; /* the image; each function's clone is written by one thread */
};

/* What writing adds to the image besides bytes. */
struct dw_emit_result {
	DW_VEC(uint32_t)
	relocations[DWELL_RELOCATIONS]; /* area offsets, by enum dw_clone_relocation */
	/* where gates are called: area offsets, by enum dw_gate, rising */
	DW_VEC(uint32_t)
	gate_calls[DWELL_GATES_N];
};

enum { DWELL_PREFIX_BYTES = 15 };

/*
 * Bytes of the clone of instruction @i, of @f at svma @at, without the prefix and the gate of a
 * landing pad, with the probe of a statement and what follows the last one. It stands at @pos of
 * the clone, which counts from 8 aligned bytes.
 */
uint32_t dw_emit_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint32_t i, uint64_t at, uint32_t pos);

/* Whether the clone of instruction @i, of @f at svma @at, or the jump behind the last one calls the
 * leaving gate and then goes from where the stack has nothing in use below rsp. */
bool dw_emit_leaves(const struct dw_clone_module *m, const struct dw_clone_function *f, uint32_t i,
		    uint64_t at);

/* Write the clone of @f. 0, -ENOMEM, DWELL_ERR_LIMIT (a distance that does not fit). */
int dw_emit_function(const struct dw_emit_target *t, const struct dw_clone_function *f,
		     struct dw_emit_result *ret);

/* Write the tables of all jumps. Errors as dw_emit_function(). */
int dw_emit_tables(const struct dw_emit_target *t, struct dw_emit_result *ret);

/* Free the memory. */
void dw_emit_result_release(struct dw_emit_result *r);
