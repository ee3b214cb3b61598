/* A growable byte buffer; see buf.h. Capacity doubles; one byte beyond len is always kept for the
 * NUL. */
#include "base/buf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dw_buf_reserve(struct dw_buf *b, size_t more)
{
	size_t need, cap;
	char *data;

	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need))
		goto fail;
	if (need <= b->cap)
		return 0;
	cap = b->cap < 32 ? 64 : b->cap * 2;
	if (cap < need)
		cap = need;
	data = realloc(b->data, cap);
	if (!data)
		goto fail;
	b->data = data;
	b->cap = cap;
	b->data[b->len] = 0;
	return 0;
fail:
	b->failed = true;
	return -ENOMEM;
}

int dw_buf_put(struct dw_buf *b, const void *p, size_t n)
{
	if (!n)
		return 0;
	if (dw_buf_reserve(b, n))
		return -ENOMEM;
	memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = 0;
	return 0;
}

int dw_buf_putc(struct dw_buf *b, char c)
{
	return dw_buf_put(b, &c, 1);
}

int dw_buf_puts(struct dw_buf *b, const char *s)
{
	return dw_buf_put(b, s, strlen(s));
}

int dw_buf_vprintf(struct dw_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || dw_buf_reserve(b, (size_t)n)) {
		b->failed = true;
		return -ENOMEM;
	}
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
	return 0;
}

int dw_buf_printf(struct dw_buf *b, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = dw_buf_vprintf(b, fmt, ap);
	va_end(ap);
	return rc;
}

int dw_buf_put_uleb(struct dw_buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (uint8_t)(v & 0x7f);
		v >>= 7;
		if (v)
			bytes[n] |= 0x80;
		n++;
	} while (v);
	return dw_buf_put(b, bytes, n);
}

int dw_buf_put_zigzag(struct dw_buf *b, int64_t v)
{
	return dw_buf_put_uleb(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static bool is_plain(const char *word)
{
	if (!*word)
		return false;
	for (; *word; word++)
		if (!isalnum((unsigned char)*word) && !strchr("_-+=:,./@%^", *word))
			return false;
	return true;
}

int dw_buf_put_shell_word(struct dw_buf *b, const char *word)
{
	if (is_plain(word))
		return dw_buf_puts(b, word);
	dw_buf_putc(b, '\'');
	for (; *word; word++)
		*word == '\'' ? dw_buf_puts(b, "'\\''") : dw_buf_putc(b, *word);
	return dw_buf_putc(b, '\'');
}

void dw_buf_clear(struct dw_buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = 0;
}

char *dw_buf_detach(struct dw_buf *b)
{
	char *data = b->data;

	*b = (struct dw_buf)DW_BUF_INIT;
	return data;
}

void dw_buf_release(struct dw_buf *b)
{
	if (b)
		free(dw_buf_detach(b));
}
