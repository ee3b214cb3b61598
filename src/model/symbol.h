/*
 * What addresses mean: functions, and for each frame its chain of functions (inlined ones included)
 * with lines.
 *
 * A function is one row whatever number of places it was inlined into: equal (module, name,
 * declaration or start) is one id. Without a symbol it is "module+0xSTART" with its range from the
 * unwind table.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

enum dw_function_flag {
	DWELL_FUNCTION_NO_SYMBOL = 1, /* name made from the module and the unwind table's range */
	DWELL_FUNCTION_INLINED =
		2, /* seen inlined only: address is that of the first inlined copy seen */
};

struct dw_function {
	uint32_t module;       /* module id */
	uint32_t name;	       /* string: demangled, as shown */
	uint32_t linkage_name; /* string: mangled name as in the file, 0 = same as name or none */
	uint32_t file;	       /* string: source file, 0 = not known */
	uint32_t line;	       /* declaration line, 0 = not known */
	uint32_t flags;	       /* enum dw_function_flag bits */
	uint64_t svma;	       /* entry */
	uint64_t bytes;	       /* length of the contiguous range at svma, 0 = not known */
};

struct dw_functions {
	DW_VEC(struct dw_function) rows; /* index 0 unused */
	struct dw_idset set;
};

/* One function at one frame. The end of the statement is that of the line table's row: exclusive, 0
 * = not known. */
struct dw_location {
	uint32_t function; /* function id */
	uint32_t file;	   /* string: source file of the line, 0 = not known */
	uint32_t line;	   /* for an outer function of an inline chain: the line of the call */
	uint32_t column;
	uint32_t line_end;
	uint32_t column_end;
};

/* Chains by frame id: first[frame] .. first[frame + 1] index rows, innermost function first. */
struct dw_locations {
	DW_VEC(struct dw_location) rows;
	DW_VEC(uint32_t) first; /* frames + 2 entries once built; empty = nothing resolved */
};

/* What a runtime says of code that it made. Texts are borrowed until the next question. */
struct dw_made_meaning {
	uint32_t module; /* that the function belongs to, 0 = that of the address */
	const char *name;
	const char *file; /* of the declaration, "" = not told */
	uint32_t line;
	uint64_t svma; /* [svma, svma + bytes) is the function */
	uint64_t bytes;
	const char *at_file; /* of the line at the address; at_line 0 = not told */
	uint32_t at_line, at_column;
	uint64_t il;	    /* what it comes from, as the svma of managed code (allocations.h) */
	uint32_t il_module; /* in this module, 0 = not told */
};

/* Machine code of a function, as it was in the file when it was resolved. */
struct dw_code {
	uint32_t function;
	uint32_t bytes_n;
	uint64_t svma;
	uint8_t *bytes; /* owned */
};

struct dw_codes {
	DW_VEC(struct dw_code) rows;
};

/*
 * The id of the function equal to @f, added when new. Equal: same module and name, and either the
 * same declaration (file and line, when both have one) or the same svma. 0 or -ENOMEM.
 */
int dw_functions_add(struct dw_functions *t, const struct dw_function *f, uint32_t *ret);

/* The function of @id, borrowed until the next add. NULL for 0 and unknown ids. */
struct dw_function *dw_functions_get(const struct dw_functions *t, uint32_t id);

/* Number of functions. Ids run from 1 to this. */
uint32_t dw_functions_count(const struct dw_functions *t);

/* The chain of @frame, innermost first, borrowed. *@n = 0 and NULL when nothing is known of it. */
const struct dw_location *dw_locations_get(const struct dw_locations *t, uint32_t frame,
					   uint32_t *n);

/* Free everything. */
void dw_functions_release(struct dw_functions *t);

/* Free everything. */
void dw_locations_release(struct dw_locations *t);

/* Free everything. */
void dw_codes_release(struct dw_codes *t);
