/*
 * Writing pieces of clones: bytes, distances, relocations, and indirect jumps.
 *
 * The layout has given every clone its room; a writer moves through one of them. The first error
 * stays in @rc. One writer belongs to one thread.
 */
#pragma once

#include "clone/emit/emit.h"
#include "clone/plan/jumps.h"

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

/* Note that the field at area offset @at depends on where module and area are. */
void dw_add_relocation(struct dw_writer *w, enum dw_clone_relocation kind, uint32_t at);

/* Set the 32-bit field at area offset @at to @to - @from, which must fit. */
void dw_set_distance(struct dw_writer *w, uint32_t at, int64_t to, int64_t from);

/* Set the 32-bit field at area offset @at to the distance of the module's @svma from the area
 * offset @from. */
void dw_set_module_distance(struct dw_writer *w, uint32_t at, uint64_t svma, uint32_t from);

/* Put a jump to the module's @svma. */
void dw_put_module_jump(struct dw_writer *w, uint64_t svma);

/* Make the bytes at area offset @at, behind all such calls so far, a call of @trampoline. */
void dw_set_trampoline_call(struct dw_writer *w, uint32_t at, enum dw_trampoline trampoline);

/* Put the instruction @insn, @bytes at @at, its rip operand leading to the module. */
void dw_put_copy(struct dw_writer *w, const uint8_t *bytes, const struct dw_insn *insn,
		 uint64_t at);

/* A 32-bit distance in emitted code. */
struct dw_jump_fixup {
	uint8_t at; /* in the bytes written */
	uint8_t to; /* enum dw_jump_target; the field counts from at + 4 + @after */
	uint8_t after;
	uint64_t svma; /* DWELL_JUMP_TO_MODULE, DWELL_JUMP_TO_CLONE */
};

enum { DWELL_JUMP_BYTES_MAX = 240, DWELL_JUMP_FIXUPS_MAX = 6 };

struct dw_jump_code {
	uint8_t bytes[DWELL_JUMP_BYTES_MAX];
	uint8_t n;
	uint8_t fixups_n;
	struct dw_jump_fixup fixups[DWELL_JUMP_FIXUPS_MAX];
};

/* Write mov OPERAND, %rax for the operand of the indirect call @insn, @bytes at @svma. */
void dw_jump_write_callee(const struct dw_insn *insn, const uint8_t *bytes, uint64_t svma,
			  struct dw_jump_code *ret);

/* Bytes of the clone of the indirect jump @i, of @f at svma @at. */
uint32_t dw_emit_jump_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			     uint32_t i, uint64_t at);

/* Bytes of the clone of the instruction @i, which reads a table (DWELL_INSN_READS_TABLE). */
uint32_t dw_emit_load_length(const struct dw_clone_module *m, uint32_t i);

/* Put @code, its fields filled in. */
void dw_emit_put_code(struct dw_writer *w, const struct dw_jump_code *code);

/* Write the clone of the indirect jump @i, @bytes at @at. */
void dw_emit_jump(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes);

/* Write the clone of the instruction @i at @at, which reads a table. */
void dw_emit_load(struct dw_writer *w, uint32_t i, uint64_t at);
