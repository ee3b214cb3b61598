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

/*
 * The same from the form of perf maps: nested types behind slashes, generic ones with the number of
 * their parameters and what they are made for, "Type`1/Nested`1[A,B]::Method[C]". What they are
 * made for is left out, as in the metadata's form, which has all code of a method under one name;
 * and parameters, whose names are not told, are T, or T1, T2.
 */
void dw_method_name_put_mapped(struct dw_buf *b, const char *name, size_t n);
