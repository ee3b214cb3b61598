/*
 * Names in too little room: what says least goes first, and a function's own name stays. Names may
 * be chains, "outer > inner", as folded rows have them. std::string is called so.
 */
#pragma once

#include "base/out.h"

#include <stddef.h>

/*
 * Write @name in at most @columns columns: without return types, then with (…) for parameters, then
 * with <…> for template arguments, then without these, then without scopes, of which a single name
 * keeps as many as fit, and a chain its ends. What does not fit even so gives way to an ellipsis in
 * the middle. Controls
 * are escaped as by dw_text_put(). Returns the columns written.
 */
size_t dw_function_name_put_fitted(struct dw_out *out, const char *name, size_t columns);

/* Write @path in at most @columns columns, without its first folders if it is longer. Controls are
 * escaped. Returns the columns written. */
size_t dw_path_put_fitted(struct dw_out *out, const char *path, size_t columns);
