/*
 * A growable byte buffer that always ends in a NUL (not counted), for text and for binary columns.
 *
 * Every function that grows returns 0 or -ENOMEM; a failed call leaves the contents as they were
 * and sets
 * @failed, so that a long chain of puts may be checked once at its end. Not for sharing between
 * threads.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_buf {
	char *data;  /* NULL while empty and never grown; else data[len] is 0 */
	size_t len;  /* bytes in use */
	size_t cap;  /* bytes allocated, 0 or > len */
	bool failed; /* some call since init had no memory */
};

#define DW_BUF_INIT \
	{           \
		0   \
	}

/* Make room for @more bytes behind the contents. */
int dw_buf_reserve(struct dw_buf *b, size_t more);

/* Append @n bytes from @p (may be NULL when @n is 0). */
int dw_buf_put(struct dw_buf *b, const void *p, size_t n);

/* Append one byte. */
int dw_buf_putc(struct dw_buf *b, char c);

/* Append the NUL-terminated @s. */
int dw_buf_puts(struct dw_buf *b, const char *s);

/* Append @word so that a shell reads it back as one word. */
int dw_buf_put_shell_word(struct dw_buf *b, const char *word);

/* Append formatted text. */
int dw_buf_printf(struct dw_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append formatted text. */
int dw_buf_vprintf(struct dw_buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Append @v as an unsigned LEB128 (1 to 10 bytes). */
int dw_buf_put_uleb(struct dw_buf *b, uint64_t v);

/* Append @v zigzag-coded as an unsigned LEB128: small magnitudes of both signs are short. */
int dw_buf_put_zigzag(struct dw_buf *b, int64_t v);

/* The text, borrowed until the buffer changes. "" when empty. */
static inline const char *dw_buf_str(const struct dw_buf *b)
{
	return b->data ? b->data : "";
}

/* Forget the contents, keep the memory. */
void dw_buf_clear(struct dw_buf *b);

/* Hand the memory to the caller (free() it; NULL if nothing was ever put) and leave the buffer
 * empty. */
char *dw_buf_detach(struct dw_buf *b);

/* Free the memory and leave the buffer empty. NULL is fine. */
void dw_buf_release(struct dw_buf *b);
