/*
 * Writing pieces of clones: bytes, distances, relocations. For the emitters of this folder.
 *
 * The layout has given every clone its room; a writer moves through one of them. The first error
 * stays in @rc. One writer belongs to one thread.
 */
#pragma once

#include "clone/emit.h"

#include <stddef.h>
#include <stdint.h>

/* A function being written. */
struct dw_writer {
	const struct dw_emit_target *t;
	const struct dw_clone_module *m;
	const struct dw_clone_function *f; /* NULL in tables */
	struct dw_emit_result *ret;
	uint32_t pos;  /* area offset */
	uint32_t skip; /* bytes of the target that the branch being put goes behind */
	int rc;
};

enum { DWELL_JUMP_BYTES = 5 };

/* Put @n bytes. */
void dw_put(struct dw_writer *w, const void *bytes, size_t n);

/* Put one byte. */
void dw_put_byte(struct dw_writer *w, uint8_t byte);

/* Note that the field at area offset @at depends on where module and area are. */
void dw_add_relocation(struct dw_writer *w, enum dw_clone_relocation kind, uint32_t at);

/* Set the 32-bit field at area offset @at to @to - @from, which must fit. */
void dw_set_distance(struct dw_writer *w, uint32_t at, int64_t to, int64_t from);

/* Set the 32-bit field at area offset @at to the distance of the module's @svma from the area
 * offset @from. */
void dw_set_module_distance(struct dw_writer *w, uint32_t at, uint64_t svma, uint32_t from);

/* Put the 32-bit distance, the last field of a call, to the clone of @svma, else to the module. A
 * call of oneself is an entry like all others. */
void dw_put_call_field(struct dw_writer *w, uint64_t svma);

/* The same of a branch, which goes behind the prefix of its own function. */
void dw_put_branch_field(struct dw_writer *w, uint64_t svma);

/* Put a jump to the clone of @svma, else to the module. */
void dw_put_jump(struct dw_writer *w, uint64_t svma);

/* Put a jump to the module's @svma. */
void dw_put_module_jump(struct dw_writer *w, uint64_t svma);

/* Make the bytes at area offset @at, behind all such calls so far, a call of @gate. */
void dw_set_gate_call(struct dw_writer *w, uint32_t at, enum dw_gate gate);

/* Put a call of @gate. */
void dw_put_gate_call(struct dw_writer *w, enum dw_gate gate);

/* Put the instruction @insn, @bytes at @at, its rip operand leading to the module. */
void dw_put_copy(struct dw_writer *w, const uint8_t *bytes, const struct dw_insn *insn,
		 uint64_t at);
