/*
 * What a .NET runtime tells in a rundown of the methods that it has compiled: where the code lies,
 * which method of which assembly it is, and from which of its IL each part comes. Hostile input.
 * One thread.
 */
#pragma once

#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

enum {
	DWELL_DOTNET_METHODS_MAX = 1 << 20,
	DWELL_DOTNET_IL_MAX = 8 << 20,
};

/* From @offset in the code on it comes from @il; -1 to -3 = from none. */
struct dw_dotnet_il {
	uint32_t offset;
	uint32_t il;
};

/* The code of a method, compiled once. */
struct dw_dotnet_method {
	uint64_t start; /* address */
	uint64_t module;
	uint64_t bytes;
	uint32_t token; /* row, 0 = made at run time */
	uint32_t il;	/* the first of @il_n rows, in no order */
	uint32_t il_n;
};

struct dw_dotnet_methods {
	DW_VEC(struct dw_dotnet_method) rows; /* index 0 unused */
	DW_VEC(struct dw_dotnet_il) il;
	struct dw_strings texts;
	struct dw_map by_start; /* -> the newest row */
	struct dw_map paths;	/* of modules -> text */
	/* The last of @il have come for a method that is to follow. */
	uint64_t next_method;
	uint32_t next_il_n;
};

/* Take in the stream of events of @n bytes at @bytes (code/clr/nettrace.h) into @m, which is empty.
 * What makes no sense is left out. 0 or -ENOMEM. */
int dw_dotnet_methods_read(struct dw_dotnet_methods *m, const void *bytes, size_t n);

/* The newest code of @bytes that begins at @start, borrowed. NULL = none was told. */
const struct dw_dotnet_method *dw_dotnet_methods_find(const struct dw_dotnet_methods *m,
						      uint64_t start, uint64_t bytes);

/* The path of the assembly of @method, borrowed. NULL = not told. */
const char *dw_dotnet_methods_path(const struct dw_dotnet_methods *m,
				   const struct dw_dotnet_method *method);

/* Free everything. */
void dw_dotnet_methods_release(struct dw_dotnet_methods *m);
