/*
 * Reads and writes by file: from a region's lines to the rows of a profile.
 *
 * A row of struct dw_call_file is appended whenever its line has changed, the same id each time: it
 * replaces what was written before. One thread.
 */
#pragma once

#include "collect/calls/call-lines.h"
#include "collect/calls/clock.h"

#include <stdint.h>

/* Give @line, which is now @from, a meaning by @mark: of a file, of its name, or of what was read
 * and written. 0 or -ENOMEM. */
int dw_file_lines_add(struct dw_call_lines *s, uint32_t line, uint64_t mark,
		      const struct dw_arena_line *from);

/* Append what has changed in @s, which was just read, to its profile. 0 or -ENOMEM. */
int dw_file_io_read(struct dw_call_lines *s, const struct dw_region_clock *clock);
