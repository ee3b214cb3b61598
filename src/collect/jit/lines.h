/*
 * Lines of JIT code, of those pieces that samples lie in, by their svma in the profile
 * (functions.h). One thread.
 */
#pragma once

#include "base/strings.h"
#include "base/vec.h"
#include "code/jit/jitdump.h"
#include "collect/jit/dotnet-trace.h"

#include <stdint.h>

struct dw_jit_line {
	uint64_t svma;
	uint32_t file; /* id among the texts */
	uint32_t line; /* 0 = none from here on */
	uint32_t column;
};

struct dw_jit_lines {
	DW_VEC(struct dw_jit_line) rows;
};

/* A record of lines, and the code that they are of. */
struct dw_jit_lines_source {
	int fd;
	const struct dw_jitdump_header *header;
	uint64_t at; /* where the record stands */
	uint64_t bytes;
	uint64_t start, end; /* of the code, avma */
	uint64_t svma;	     /* of its start */
	uint32_t file;	     /* of its declaration, id among the texts, 0 = not known */
};

/* Read the lines of @from; files go into @texts. Lines that make no sense are left out. 0 or
 * -ENOMEM. */
int dw_jit_lines_read(struct dw_jit_lines *t, struct dw_strings *texts,
		      const struct dw_jit_lines_source *from);

/* Add @row, unless there are too many. 0 or -ENOMEM. */
int dw_jit_lines_add(struct dw_jit_lines *t, const struct dw_jit_line *row);

/* Nothing is read any more: find from now on. */
void dw_jit_lines_sort(struct dw_jit_lines *t);

/* The line of the code at @svma, borrowed. NULL = not known. */
const struct dw_jit_line *dw_jit_lines_find(const struct dw_jit_lines *t, uint64_t svma);

/* Free everything. */
void dw_jit_lines_release(struct dw_jit_lines *t);

/*
 * Which IL JIT code comes from, of those pieces that samples lie in, by their svma in the profile
 * (functions.h).
 */

/* From @svma on code comes from @il of the assembly that is @module. */
struct dw_jit_il {
	uint64_t svma;
	uint64_t il; /* as svmas of managed code (model/allocations.h), 0 = not known */
	uint32_t module;
};

struct dw_jit_ils {
	DW_VEC(struct dw_jit_il) rows;
};

/* Add what is told of @method, whose code lies from @svma on, to @t; it is one of @m's, in module
 * @module. 0 or -ENOMEM. */
int dw_jit_ils_add(struct dw_jit_ils *t, const struct dw_dotnet_methods *m,
		   const struct dw_dotnet_method *method, uint32_t module, uint64_t svma);

/* Nothing is added any more: find from now on. */
void dw_jit_ils_sort(struct dw_jit_ils *t);

/* What the code at @svma comes from, borrowed. NULL = not known. */
const struct dw_jit_il *dw_jit_ils_find(const struct dw_jit_ils *t, uint64_t svma);

/* Free everything. */
void dw_jit_ils_release(struct dw_jit_ils *t);
