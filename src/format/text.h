/*
 * Foreign text at the edge: names come from targets and may hold any byte.
 *
 * Decoding replaces what is not UTF-8 by U+FFFD, one per byte that fits nothing. What would control
 * a terminal or reorder a line is escaped for people. All functions are [any-thread].
 */
#pragma once

#include "base/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_REPLACEMENT = 0xfffd };

/* The code point at *@s, which is moved behind it; U+FFFD for bytes that are not UTF-8. *@s must
 * not be at the end. */
uint32_t dw_text_next(const char **s);

/* Write @c as UTF-8 to @ret (at least 5 bytes, NUL-terminated). Returns its bytes. */
size_t dw_text_encode(uint32_t c, char *ret);

/* Whether @c controls: C0, C1, DEL, line and paragraph separators, bidirectional and other
 * invisible format characters. */
bool dw_text_is_control(uint32_t c);

/* Columns that @c takes in a terminal: 0, 1 or 2. */
unsigned dw_text_width(uint32_t c);

/* Columns of @s as dw_text_put() writes it. */
size_t dw_text_columns(const char *s);

/* Bytes at the start of @s that are printable ASCII and none of @special: to be copied as they are.
 */
size_t dw_text_plain_run(const char *s, const char *special);

/* Write @s for people: UTF-8, controls as \x1b or \u202e. */
void dw_text_put(struct dw_out *out, const char *s);

/* As dw_text_put() in at most @columns columns: the middle gives way to an ellipsis. Returns the
 * columns written. */
size_t dw_text_put_fitted(struct dw_out *out, const char *s, size_t columns);
