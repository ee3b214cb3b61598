/*
 * Emission of indirect jumps, the loads that read their tables, and the tables; by the plans of
 * jumps.h.
 */
#pragma once

#include "clone/jumps.h"
#include "clone/writer-x86-64.h"

/* Bytes of the clone of the indirect jump @i, of @f at svma @at. */
uint32_t dw_emit_jump_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			     uint32_t i, uint64_t at);

/* Bytes of the clone of the instruction @i, which reads a table (DWELL_INSN_READS_TABLE). */
uint32_t dw_emit_load_length(const struct dw_clone_module *m, uint32_t i);

/* Put what jumps.h wrote, its fields filled in. */
void dw_emit_put_code(struct dw_writer *w, const struct dw_jump_code *code);

/* Write the clone of the indirect jump @i, @bytes at @at. */
void dw_emit_jump(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes);

/* Write the clone of the instruction @i at @at, which reads a table. */
void dw_emit_load(struct dw_writer *w, uint32_t i, uint64_t at);
