/*
 * Perf maps: lines "START SIZE NAME" by which a runtime says what code it made, numbers in hex with
 * or without 0x. Foreign bytes; nothing is copied. [any-thread]
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
