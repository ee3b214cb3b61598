/*
 * Amounts in words for people.
 */
#pragma once

#include "base/out.h"

#include <stdint.h>

enum { DWELL_GROUPED_MAX_BYTES = 32 };

/* @n with a comma between thousands, in @ret, which is returned. */
const char *dw_words_grouped(uint64_t n, char ret[DWELL_GROUPED_MAX_BYTES]);

/* "1,234 things", @what in the singular, which takes "es" if it ends in "s" or "h". */
void dw_words_count(struct dw_out *out, uint64_t n, const char *what);

/* A time in the unit that suits it. */
void dw_words_time(struct dw_out *out, int64_t ns);

/* A number of bytes in the unit that suits it. */
void dw_words_bytes(struct dw_out *out, uint64_t n);

/* A word of a command line: quoted when the shell would not take it as it is. */
void dw_words_shell(struct dw_out *out, const char *s);

/* A line "  @n @what @meaning" about something missing, when @n is above 0. */
void dw_words_note(struct dw_out *out, int64_t n, const char *what, const char *meaning);
