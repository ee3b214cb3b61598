/*
 * Emission of calls and system calls, with the gates around them in images that measure time.
 *
 * What leaves the instrumented code stands between two gates. A call of a clone has none; its
 * distance lies within 8 aligned bytes, so that one store can lead it elsewhere.
 */
#pragma once

#include "clone/writer-x86-64.h"

/* Bytes of the clone of instruction @i, a call or system call at svma @at, at @pos of its clone,
 * which counts from 8 aligned bytes. */
uint32_t dw_emit_call_length(const struct dw_clone_module *m, uint32_t i, uint64_t at,
			     uint32_t pos);

/* Write the clone of the call or system call @i, @bytes at @at. */
void dw_emit_call(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes);

/* Area offset of what a kept return of call @i, of @f, comes back to, after the layout: the gate
 * BACK, or what follows the call. */
uint32_t dw_emit_return_place(const struct dw_clone_module *m, uint32_t i);
