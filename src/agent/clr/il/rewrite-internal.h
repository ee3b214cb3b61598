/*
 * What the scan notes for the writer: one mark for each byte of the old code, and one for its end.
 * The low bits say where an instruction comes to lie with the probes that belong to it, in this
 * order: that of a landing (at the first instruction: of the entry), a ret of its own for a tail
 * call, that of leaving.
 */
#pragma once

#include "agent/clr/il/opcodes.h"
#include "agent/clr/il/rewrite.h"

enum {
	DWELL_MARK_PLACE = (1u << 26) - 1,
	DWELL_MARK_START = 1u << 26,   /* an instruction, or the first prefix of one */
	DWELL_MARK_TARGET = 1u << 27,  /* of a branch, or a clause's border */
	DWELL_MARK_LANDING = 1u << 28, /* a filter or handler begins, or the method */
	DWELL_MARK_LEAVE = 1u << 29,   /* is left here */
	DWELL_MARK_TAIL = 1u << 30,    /* the ret behind a tail call */
};

enum { DWELL_IL_HEADER_BYTES = 12, DWELL_IL_CLAUSE_BYTES = 24, DWELL_IL_SECTION_BYTES = 4 };

/* Each byte of code becomes at most a ret, two probes and a ret of its own. */
_Static_assert(DWELL_IL_CODE_MAX *(2ull * DWELL_IL_PROBE_BYTES + 5) <= DWELL_MARK_PLACE,
	       "places have room in marks");

/* Bytes between the place of @mark and where branches to it lead. */
static inline uint32_t dw_mark_branch_skip(uint32_t mark)
{
	uint32_t both = DWELL_MARK_TAIL | DWELL_MARK_TARGET;

	return (mark & DWELL_MARK_LANDING ? DWELL_IL_PROBE_BYTES : 0) + ((mark & both) == both);
}

/* Whether a probe of leaving stands before the instruction; the ret behind a tail call needs one
 * only for those who do not come from there. */
static inline bool dw_mark_has_leave(uint32_t mark)
{
	return mark & DWELL_MARK_LEAVE && (!(mark & DWELL_MARK_TAIL) || mark & DWELL_MARK_TARGET);
}

/* Bytes between the place of @mark and its instruction. */
static inline uint32_t dw_mark_skip(uint32_t mark)
{
	return dw_mark_branch_skip(mark) + (dw_mark_has_leave(mark) ? DWELL_IL_PROBE_BYTES : 0);
}

/* Bytes of @ins in the new code. */
static inline uint32_t dw_il_new_bytes(const struct dw_il_instruction *ins)
{
	return ins->operand == DWELL_IL_NEAR ? 5 : ins->bytes;
}
