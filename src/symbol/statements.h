/*
 * All statements of one module: where the line tables of its debug information say that they begin.
 *
 * Read in a helper process with the rights of the module's user (symbolize.h says why). One thread
 * per object.
 */
#pragma once

#include "base/error.h"
#include "symbol/answer.h"
#include "target/source.h"

#include <stddef.h>
#include <stdint.h>

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
