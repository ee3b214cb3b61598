/*
 * The names of all functions of one module at once, where nothing but names is wanted.
 *
 * From symbol tables alone, demangled, in a helper process with the rights of the module's user
 * (symbolize.h says why). One thread per object.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "target/source.h"

#include <stddef.h>
#include <stdint.h>

struct dw_function_names {
	struct dw_strings strings;
	uint32_t *ids; /* by index of the address, 0 = no symbol */
	size_t n;
};

/*
 * Name the functions that begin at @svmas (sorted, no two equal) in the module behind @source,
 * called @path. What cannot be named has no name: only -ENOMEM is an error, or -errno when no
 * helper can be started. dw_function_names_release() in any case.
 */
int dw_function_names_read(const struct dw_module_source *source, const char *path,
			   const uint64_t *svmas, size_t n, struct dw_function_names *ret,
			   struct dw_error *err);

/* The name of function @i, borrowed. NULL = it has none. */
const char *dw_function_names_get(const struct dw_function_names *names, size_t i);

/* Free everything. */
void dw_function_names_release(struct dw_function_names *names);
