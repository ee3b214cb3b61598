/*
 * What viewers with tables of frames need: inline frames, rows by thread, columns of JSON.
 *
 * Such viewers want one frame for each function of each location that is used, the outermost one of
 * a location first.
 */
#pragma once

#include "base/out.h"
#include "export/paths.h"
#include "export/sample-values.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

/* Frames by location. */
struct dw_inline_frames {
	uint32_t *first;    /* by location */
	uint32_t locations; /* of the paths */
	uint32_t n;	    /* frames are below this */
	uint8_t *used;	    /* by path: 1 = it or one below it has values */
};

/* Number what @w uses of @p. 0 or -ENOMEM (also for 2^32 frames), to be released in either case. */
int dw_inline_frames_init(struct dw_inline_frames *s, const struct dw_paths *p,
			  const struct dw_sample_values *w);

/* Free everything. */
void dw_inline_frames_release(struct dw_inline_frames *s);

/* Call @fn for each frame in their order: function @i of @location, innermost 0. */
void dw_inline_frames_each(const struct dw_inline_frames *s,
			   void (*fn)(void *ctx, uint32_t location, uint32_t i), void *ctx);

/* Rows by thread, for formats that have threads apart. */

#define DWELL_NO_ROW UINT32_MAX

struct dw_export_threads {
	uint32_t n;	 /* thread ids are below this */
	uint32_t *first; /* by thread id: its first row, DWELL_NO_ROW = none */
	uint32_t *next;	 /* by row */
};

/* List the rows of @w, those of a thread in their order. 0 or -ENOMEM, to be released in either
 * case. */
int dw_export_threads_init(struct dw_export_threads *t, const struct dw_paths *p,
			   const struct dw_sample_values *w);

/* What people call @thread and its process, with their ids. Made in @scratch. */
const char *dw_export_thread_title(const struct dw_paths *p, uint32_t thread,
				   struct dw_buf *scratch);

/* Free everything. */
void dw_export_threads_release(struct dw_export_threads *t);

/* The row behind @row in its thread, DWELL_NO_ROW = none. */
static inline uint32_t dw_export_threads_next(const struct dw_export_threads *t, uint32_t row)
{
	return t->next[row];
}

/* The next element of an array of which @n are written: a comma where one must be. */
static inline void dw_json_next(struct dw_out *out, size_t n)
{
	if (n)
		dw_out_write(out, ",", 1);
}

/* The same with the number @v. */
static inline void dw_json_number(struct dw_out *out, size_t n, uint64_t v)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	dw_json_next(out, n);
	dw_out_puts(out, dw_digits_decimal(v, digits));
}

/* The same with @v or null. */
static inline void dw_json_number_or_null(struct dw_out *out, size_t n, bool known, uint64_t v)
{
	if (known)
		return dw_json_number(out, n, v);
	dw_json_next(out, n);
	dw_out_puts(out, "null");
}

/* The same with @ns nanoseconds as milliseconds. */
static inline void dw_json_ms(struct dw_out *out, size_t n, uint64_t ns)
{
	char digits[DWELL_DIGITS_MAX_BYTES];
	uint64_t rest = ns % 1000000;

	dw_json_number(out, n, ns / 1000000);
	if (!rest)
		return;
	digits[0] = '.';
	for (int i = 6; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	dw_out_write(out, digits, 7);
}
