/*
 * What a code object of CPython is: its name, its file, and its table of lines, by where they lie.
 * [async-signal-safe]
 */
#pragma once

#include "python/layout.h"
#include "python/memory.h"
#include "wire/python.h"

/* The texts of the record, in their order. */
enum dw_python_part_id {
	DWELL_PYTHON_NAME,
	DWELL_PYTHON_FILE,
	DWELL_PYTHON_LINES,
	DWELL_PYTHON_PARTS,
};

struct dw_python_part {
	uint64_t at;
	uint32_t bytes;
	uint32_t width; /* bytes of a character */
};

/* Describe the code object at @code, which can be read, with the seal @seal: the record that begins
 * with *@ret goes on with the bytes that lie at @parts. */
void dw_python_describe(const struct dw_python_layout *l, struct dw_python_memory *m, uint64_t code,
			uint32_t seal, struct dw_python_code *ret,
			struct dw_python_part parts[DWELL_PYTHON_PARTS]);
