/*
 * The one sink for text that leaves dwell: a buffer or a descriptor, chosen by the caller, never a
 * global FILE.
 *
 * A failed write (a closed pipe, a full disk) is remembered as -errno and later writes are dropped,
 * so that views and formatters need not check each one; the command asks dw_out_close() once.
 * SIGPIPE must be ignored by the caller.
 */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dw_out {
	struct dw_buf buf; /* pending bytes; all bytes when fd is -1 */
	int fd;		   /* borrowed; -1 = keep everything in buf */
	int failed;	   /* first failure as a negative code, else 0 */
};

/* Collect into memory. Take out->buf at the end. */
void dw_out_init_buffer(struct dw_out *out);

/* Write to @fd (borrowed) in blocks. */
void dw_out_init_fd(struct dw_out *out, int fd);

/* As dw_out_write(), when the bytes do not simply fit. */
void dw_out_write_slowly(struct dw_out *out, const void *p, size_t n);

/* Append @n bytes. */
static inline void dw_out_write(struct dw_out *out, const void *p, size_t n)
{
	struct dw_buf *b = &out->buf;

	if (out->failed || n >= b->cap - b->len)
		return dw_out_write_slowly(out, p, n);
	memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = 0;
}

/* Append a NUL-terminated string. */
static inline void dw_out_puts(struct dw_out *out, const char *s)
{
	dw_out_write(out, s, strlen(s));
}

/* Append one byte @n times. */
void dw_out_fill(struct dw_out *out, char c, size_t n);

/* Append formatted text. */
void dw_out_printf(struct dw_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Hand pending bytes to the descriptor; nothing for a buffer. Returns the sink's state as
 * dw_out_close() does. */
int dw_out_flush(struct dw_out *out);

/* Flush and free; for a buffer the contents are lost too. 0, or the first failure (-EPIPE is the
 * reader's choice). */
int dw_out_close(struct dw_out *out);

/* Numbers as digits, without printf(), which is a third of the time of a large report otherwise. */
enum { DWELL_DIGITS_MAX_BYTES = 24 };

/* The decimal digits of @n in @ret, NUL-terminated. Returns where they start in it. */
const char *dw_digits_decimal(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES]);

/* "0x" and the hexadecimal digits of @n in @ret. Returns where that starts in it. */
const char *dw_digits_hex(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES]);
