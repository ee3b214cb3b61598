/*
 * Perf maps: lines "START SIZE NAME" by which a runtime says what JIT code it has, numbers in hex
 * with or without 0x; and the names that runtimes write there and in jitdumps, taken apart: V8
 * ("JS:*name file:line:col", "LazyCompile:*name file:line"), CPython ("py::name:file"), .NET ("type
 * [assembly] Type::Method(arguments)[tier]").
 *
 * Foreign bytes; nothing is copied. [any-thread]
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct dw_perf_map_line {
	uint64_t start; /* avma */
	uint64_t bytes; /* of code; start + bytes does not wrap */
	const char *name;
	size_t name_n;
};

/*
 * Read the next line that makes sense from the @n bytes at @text into *@ret, whose name is borrowed
 * from there. Returns the bytes that are done with; what remains is no whole line yet. A line that
 * was found has bytes, else ret->bytes is 0.
 */
size_t dw_perf_map_next(const char *text, size_t n, struct dw_perf_map_line *ret);

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
