/*
 * Bodies of methods with probes: calls of helpers where a method is entered, where it is left, and
 * where it goes on after an exception (landing).
 *
 * A probe is `ldc.i4 KEY; conv.u; ldc.i8 HELPER; conv.i; calli SIGNATURE`, which needs nothing of
 * the method but two places on its stack, and may stand where that is not empty. Entered is at the
 * first instruction, where branches to it do not pass; left before each ret, jmp and call with
 * tail., where all branches to these do. Landing is where filters and handlers begin. Branches
 * become long ones. All else stays as it was, in the order that it had.
 *
 * What is refused is refused by the scan, before anything is written. Memory is the caller's:
 *
 *	if (!dw_il_open(bytes, n, &body) && !dw_il_scan(&body, marks, &scan))
 *		dw_il_rewrite(&body, marks, &scan, &probes, &output);
 *
 * No state, no system call, no C library. [async-signal-safe] [any-thread]
 */
#pragma once

#include "agent/clr/il/body.h"

enum { DWELL_IL_PROBE_BYTES = 21 };

/* What probes call, and with what. */
struct dw_il_probes {
	uint32_t key;
	uint32_t signature; /* token in the method's module: void of what takes a native unsigned
			       int */
	uint64_t enter, leave, landing;
};

/* One row of the map that debuggers and stack traces need: COR_IL_MAP. A row's new place is that of
 * the first probe that belongs to the instruction. */
struct dw_il_map_row {
	uint32_t was, is;
	int32_t is_accurate; /* 1 */
};

struct dw_il_scan {
	uint32_t body_bytes; /* of the new body */
	uint32_t map_rows;   /* instructions */
	bool has_tail_calls;
};

struct dw_il_output {
	uint8_t *body;
	size_t room; /* bytes */
	struct dw_il_map_row *map;
	size_t map_room; /* rows */
};

/* How many marks a scan needs. */
static inline size_t dw_il_marks(const struct dw_il_body *body)
{
	return (size_t)body->code_bytes + 1;
}

/* Check the code and its clauses and find where all comes to lie; @marks has room for
 * dw_il_marks(@body). Marks and *@ret are good when DWELL_IL_OK. */
enum dw_il_refusal dw_il_scan(const struct dw_il_body *body, uint32_t *marks,
			      struct dw_il_scan *ret);

/* Write the new body, which begins with a header of twelve bytes, and its map: scan->body_bytes and
 * scan->map_rows. DWELL_IL_NO_ROOM: nothing was written. */
enum dw_il_refusal dw_il_rewrite(const struct dw_il_body *body, const uint32_t *marks,
				 const struct dw_il_scan *scan, const struct dw_il_probes *probes,
				 const struct dw_il_output *output);
