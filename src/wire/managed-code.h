/*
 * Managed code: what the .NET agent tells of the machine code that a runtime runs, in tables of its
 * region (wire/allocations.h).
 *
 * A row is one piece of memory with code of one method, told before it runs for the first time.
 * Memory is used again: what lies at an address at some time is the last row that was there by
 * then.
 */
#pragma once

#include <stdint.h>

enum { DWELL_CLR_PROLOG_BYTES = 28 };

enum dw_clr_code_flag {
	DWELL_CLR_CODE_COLD =
		1, /* the method does not begin here: @prolog is that of its other part */
};

struct dw_clr_code {
	uint64_t start;	   /* address */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint32_t bytes;
	uint32_t function; /* row */
	uint32_t il;	   /* the first of @il_n rows of DWELL_CLR_IL */
	uint32_t il_n;
	uint32_t flags;				/* enum dw_clr_code_flag bits */
	uint8_t prolog[DWELL_CLR_PROLOG_BYTES]; /* the method's first bytes; 0 behind its end */
};

/* From @offset in the code on it comes from @il in the method's IL; -1 to -3 = from none. These
 * rows count when a row of code names them. In no order. */
struct dw_clr_il {
	uint32_t offset;
	uint32_t il;
};

/* Bytes that the tables of an agent that measures calls take at most: names. */
#define DWELL_CLR_PROBED_BUDGET ((uint64_t)64 << 20)

/* A method with probes, in regions with call trees (wire/call-tree.h). Rows are written in their
 * order; several may name one method, where it was compiled anew. */
struct dw_clr_probed {
	uint32_t key;	   /* never 0; below those of threads' roots */
	uint32_t function; /* row */
};

_Static_assert(sizeof(struct dw_clr_code) == 64, "one line");
_Static_assert(sizeof(struct dw_clr_il) == 8, "layout");
_Static_assert(sizeof(struct dw_clr_probed) == 8, "layout");
