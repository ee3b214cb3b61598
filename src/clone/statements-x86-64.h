/*
 * Statements of the source: which of their first instructions get a probe in front, for images that
 * measure time, and how long such a probe is.
 *
 *	mov %rax, -16(%rsp)		what the gate LINE expects
 *	mov $statement, %eax
 *	call gate
 *
 * Where the stack below rsp may be in use (free-stack-x86-64.h) rsp is moved below the red zone
 * before and back behind it; then the clone's unwind rows tell of that. What jumps to the
 * instruction jumps to the probe, but branches of the same line go behind it: a loop in one line
 * costs one probe.
 */
#pragma once

#include "clone/clone.h"
#include "clone/module.h"

enum {
	DWELL_LINE_PROBE_BYTES = 15,
	DWELL_LINE_DOWN_BYTES = 5, /* of the move of rsp below the red zone */
	DWELL_LINE_UP_BYTES = 8,   /* and of that back */
	DWELL_RED_ZONE_BYTES = 128,
};

/* Bytes of the statement's probe in front of an instruction with @marks. */
static inline uint32_t dw_line_probe_bytes(uint8_t marks)
{
	if (marks & DWELL_MARK_LINE_BELOW)
		return DWELL_LINE_DOWN_BYTES + DWELL_LINE_PROBE_BYTES + DWELL_LINE_UP_BYTES;
	return marks & DWELL_MARK_LINE ? DWELL_LINE_PROBE_BYTES : 0;
}

/*
 * Set m->statements and their marks: of those that @options ask for what begins an instruction of a
 * function with probes, but not the function itself; of several in a row of one line the first,
 * where nothing jumps to the others from another line. After dw_calls_out_find(). 0 or -ENOMEM.
 */
int dw_statements_find(struct dw_clone_module *m, const struct dw_clone_options *options);

/* The index in m->statements of instruction @i at @svma, which is marked. */
uint32_t dw_statement_index(const struct dw_clone_module *m, uint64_t svma);
