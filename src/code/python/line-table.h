/*
 * The tables by which CPython's code objects say which line an instruction comes from, and its
 * texts. Hostile input: nothing is believed, and what makes no sense ends the table.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reader of the table of @version (0x309 = 3.9, and up). */
struct dw_python_line_table {
	const uint8_t *at, *end; /* borrowed */
	uint32_t version;
	uint32_t position; /* bytes into the instructions */
	uint32_t code_bytes;
	int64_t line;
	bool is_over;
};

/* Instructions [@start, @end) come from @line, 0 = from none. */
struct dw_python_lines {
	uint32_t start, end;
	uint32_t line;
};

/* Begin with the @n bytes at @bytes, of a code object of @code_bytes whose first line is
 * @first_line. */
void dw_python_line_table_init(struct dw_python_line_table *t, uint32_t version,
			       const uint8_t *bytes, size_t n, uint32_t code_bytes,
			       uint32_t first_line);

/* The next piece, none empty, in order and within the code. False: there are no more. */
bool dw_python_line_table_next(struct dw_python_line_table *t, struct dw_python_lines *ret);

/* Append the text of @n bytes at @bytes, @width (1, 2 or 4, else nothing) for a character, in
 * UTF-8. '?' stands for characters that cannot be shown. */
void dw_python_text_put(struct dw_buf *to, const uint8_t *bytes, size_t n, size_t width);
