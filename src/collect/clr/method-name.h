/*
 * Names of methods as people write them, from those of the metadata. Pure. [any-thread]
 */
#pragma once

#include "base/buf.h"

#include <stddef.h>

/*
 * Append to @b the name of the method that the metadata calls the @n bytes at @name,
 * "Namespace.Type+Nested::Method". What compilers have made of lambdas, local functions, iterators
 * and async methods is named after the method that it stands in.
 */
void dw_method_name_put(struct dw_buf *b, const char *name, size_t n);
