/*
 * What addresses mean: modules, functions, and for each frame its chain of functions (inlined ones
 * included) with lines.
 *
 * A function is one row whatever number of places it was inlined into: equal (module, name,
 * declaration or start) is one id. Without a symbol it is "module+0xSTART" with its range from the
 * unwind table.
 *
 * A module is one piece of code with one address space of its own (svma): an ELF file by device and
 * inode, the vdso, the kernel, code without a file. The same file mapped by many processes is one
 * module.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum dw_module_kind {
	DWELL_MODULE_FILE = 1, /* an ELF file */
	DWELL_MODULE_VDSO,     /* the kernel's page of user code, read from memory */
	DWELL_MODULE_KERNEL,   /* kernel text, one module for all */
	DWELL_MODULE_ANON,     /* executable memory without a file. Svma = avma */
	DWELL_MODULE_MANAGED,  /* a .NET assembly. Svma as in model/allocations.h */
	DWELL_MODULE_JIT,      /* code that runtimes made, as they tell. Svma likewise */
};

enum { DWELL_BUILD_ID_MAX_BYTES = 64 };

struct dw_module {
	enum dw_module_kind kind;
	uint32_t path; /* string: as the target names it, "[vdso]" and the like without brackets'
			  meaning lost */
	uint32_t name; /* string: the last part of the path, for people */
	uint8_t build_id[DWELL_BUILD_ID_MAX_BYTES];
	uint8_t build_id_bytes; /* 0 = none known */
	uint32_t deleted;	/* 1 = the file was gone or replaced when it was mapped */
	uint64_t device;	/* st_dev, 0 = unknown */
	uint64_t inode;
};

/* Modules by id. Index 0 is never used. */
struct dw_modules {
	DW_VEC(struct dw_module) rows;
};

/* Append @m and give its id (1 and up). 0 or -ENOMEM. */
int dw_modules_add(struct dw_modules *t, const struct dw_module *m, uint32_t *ret);

/* The module of @id, borrowed until the next add. NULL for 0 and unknown ids. */
static inline struct dw_module *dw_modules_get(const struct dw_modules *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

/* Number of modules. Ids run from 1 to this. */
static inline uint32_t dw_modules_count(const struct dw_modules *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

/* Free everything. */
void dw_modules_release(struct dw_modules *t);

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
struct dw_jit_symbol {
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

/* An instruction that somebody has disassembled before, for who cannot. */
struct dw_listed {
	uint32_t at;   /* bytes from the first one of its code */
	uint32_t text; /* where that begins in the texts, a NUL behind it; 0 = not there */
};

/* Machine code of a function, as it was in the file when it was resolved. */
struct dw_code {
	uint32_t function;
	uint32_t bytes_n;
	uint64_t svma;
	uint8_t *bytes;		  /* owned; NULL where there is no more than a listing: */
	struct dw_listed *listed; /* owned, ascending, with one behind the last */
	uint32_t listed_n;
	char *texts; /* owned */
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
static inline struct dw_function *dw_functions_get(const struct dw_functions *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

/* Number of functions. Ids run from 1 to this. */
static inline uint32_t dw_functions_count(const struct dw_functions *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

/* The chain of @frame, innermost first, borrowed. *@n = 0 and NULL when nothing is known of it. */
const struct dw_location *dw_locations_get(const struct dw_locations *t, uint32_t frame,
					   uint32_t *n);

/* The innermost function at @frame, 0 = none is known. */
static inline uint32_t dw_locations_innermost(const struct dw_locations *t, uint32_t frame)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(t, frame, &n);

	return n ? chain[0].function : 0;
}

/* Free everything. */
void dw_functions_release(struct dw_functions *t);

/* Free everything. */
void dw_locations_release(struct dw_locations *t);

/* Free everything. */
void dw_codes_release(struct dw_codes *t);

/* Text of a source file, of a session that was asked to hold it. */
struct dw_source {
	uint32_t file; /* string: its path as the debug information names it */
	uint32_t bytes_n;
	char *text; /* owned; any bytes */
};

struct dw_sources {
	DW_VEC(struct dw_source) rows;
};

/* The text of @file, borrowed. NULL = the session has it not. */
const struct dw_source *dw_sources_get(const struct dw_sources *t, uint32_t file);

/* Free everything. */
void dw_sources_release(struct dw_sources *t);
