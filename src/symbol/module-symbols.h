/*
 * What is to be had of one module alone: from its own file, without any helper, ranges and machine
 * code of functions, and those that it offers to others; from one helper with the rights of the
 * module's user (symbolize.h says why) the names of all functions and all statements.
 *
 * One thread per object.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "base/vec.h"
#include "code/cfi/fdes.h"
#include "code/elf/elf.h"
#include "model/symbol.h"
#include "symbol/question.h"
#include "target/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_CODE_MAX_BYTES = 1 << 20 }; /* of one function; the rest is left out */

/* A module's file as far as our own readers go. All NULL when it cannot be read. */
struct dw_module_code {
	struct dw_elf *elf;
	const struct dw_cfi_table *cfi; /* borrowed; when NULL, @ranges are listed instead */
	struct dw_cfi_range *ranges;
	size_t ranges_n;
};

/* A stretch of code that belongs to a function. */
struct dw_code_range {
	uint32_t function;
	uint64_t svma;
	uint64_t bytes;
};

/* Open the module behind @source. Cannot fail: what is not there stays empty. */
void dw_module_code_open(struct dw_module_code *m, const struct dw_module_source *source);

/* What the unwind information at @svma describes. 0 or DWELL_ERR_NOT_FOUND. */
int dw_module_code_unwind_range(const struct dw_module_code *m, uint64_t svma,
				struct dw_cfi_range *ret);

/* The stretch of function @id = @f around the frame at @svma: its own range, else that of the
 * unwind table. 0 bytes when neither holds it. */
struct dw_code_range dw_module_code_range(const struct dw_module_code *m, uint32_t id,
					  const struct dw_function *f, uint64_t svma);

/* Copy the code of @ranges, @n of them, each once, to @codes. Sorts @ranges. 0 or -ENOMEM. */
int dw_module_code_copy(const struct dw_module_code *m, struct dw_code_range *ranges, size_t n,
			struct dw_codes *codes);

/* Free everything. */
void dw_module_code_release(struct dw_module_code *m);

/* A function that the module offers to others by its dynamic symbols, which are foreign. Of several
 * versions the default one comes first. */
struct dw_export {
	const char *name; /* borrowed from the table */
	uint64_t svma;
	bool is_hidden; /* an old version */
};

struct dw_exports {
	DW_VEC(struct dw_export) rows; /* by name */
	char *names;		       /* owned */
};

/* Read those of @elf into the empty @t. 0 (also with none) or -ENOMEM. */
int dw_exports_load(struct dw_exports *t, const struct dw_elf *elf);

/* The svma of the function @name. 0 or DWELL_ERR_NOT_FOUND. */
int dw_exports_find(const struct dw_exports *t, const char *name, uint64_t *ret);

/* Free everything. */
void dw_exports_release(struct dw_exports *t);

struct dw_function_names {
	struct dw_strings strings;
	uint32_t *ids; /* by index of the address, 0 = no symbol */
	size_t n;
};

/*
 * Name, by symbol tables alone, the functions that begin at @svmas (sorted, no two equal) in the
 * module behind @source, called @path. What cannot be named has no name: only -ENOMEM is an error,
 * or -errno when no helper can be started. dw_function_names_release() in any case.
 */
int dw_function_names_read(const struct dw_module_source *source, const char *path,
			   const uint64_t *svmas, size_t n, struct dw_function_names *ret,
			   struct dw_error *err);

/* The name of function @i, borrowed. NULL = it has none. */
const char *dw_function_names_get(const struct dw_function_names *names, size_t i);

/* Free everything. */
void dw_function_names_release(struct dw_function_names *names);

struct dw_statements {
	DW_VEC(struct dw_statement) list; /* rising svmas */
};

/*
 * Read the statements of the module behind @source, called @path. None without debug information:
 * only -ENOMEM is an error, or -errno when no helper can be started. dw_statements_release() in any
 * case.
 */
int dw_statements_read(const struct dw_module_source *source, const char *path,
		       struct dw_statements *ret, struct dw_error *err);

/* Free everything. */
void dw_statements_release(struct dw_statements *s);
