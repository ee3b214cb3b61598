/*
 * Names that mean the same code in two builds. [any-thread]
 */
#pragma once

#include "base/buf.h"

/* Append to @ret what the module file @name is called in every version: "libz.so.1.2.13" and
 * "libz-1.3.so" are "libz.so". 0 or -ENOMEM. */
int dw_name_put_module(struct dw_buf *ret, const char *name);

/*
 * Append the function name @name without what compilers and runtimes number anew with every build:
 * ".constprop.0", ".part.1", ".isra.2", ".cold", "[clone ...]", numbers of lambdas and closures, of
 * .NET's generated classes and methods, hashes of Rust's symbols. 0 or -ENOMEM.
 */
int dw_name_put_loose(struct dw_buf *ret, const char *name);
