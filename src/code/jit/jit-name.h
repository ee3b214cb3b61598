/*
 * What runtimes write as names of code that they made, taken apart: V8 ("JS:*name file:line:col",
 * "LazyCompile:*name file:line"),
 * CPython ("py::name:file"), .NET ("type [assembly] Type::Method(arguments)[tier]"). Foreign bytes;
 * nothing is copied. [any-thread]
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dw_jit_text {
	const char *at; /* borrowed */
	size_t n;
};

struct dw_jit_name {
	struct dw_jit_text name;     /* for people, without what the runtime thinks of the code */
	struct dw_jit_text file;     /* where it is declared, n 0 = not told */
	struct dw_jit_text assembly; /* of .NET, n 0 = none */
	uint32_t line;		     /* of the declaration, 0 = not told */
};

/* Take the @n bytes at @text apart. What has no known form is the name as it is. */
struct dw_jit_name dw_jit_name_read(const char *text, size_t n);
