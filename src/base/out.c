/* The output sink, and numbers as digits; see out.h. */
#include "base/out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 * 1024 };

void dw_out_init_buffer(struct dw_out *out)
{
	*out = (struct dw_out){.fd = -1};
}

void dw_out_init_fd(struct dw_out *out, int fd)
{
	*out = (struct dw_out){.fd = fd};
}

/* Write all pending bytes; what cannot be written is dropped and remembered. */
static void drain(struct dw_out *out)
{
	const char *p = out->buf.data;
	size_t left = out->buf.len;

	while (left && !out->failed) {
		ssize_t n = write(out->fd, p, left);

		if (n >= 0) {
			p += n;
			left -= (size_t)n;
		} else if (errno != EINTR) {
			out->failed = -errno;
		}
	}
	dw_buf_clear(&out->buf);
}

/* Note a lack of memory. */
static void settle(struct dw_out *out)
{
	if (out->buf.failed && !out->failed)
		out->failed = -ENOMEM;
}

/* Hand a full block on, so that most puts find room for their @n bytes without asking. */
static void make_room(struct dw_out *out, size_t n)
{
	if (out->fd < 0)
		return;
	if (out->buf.len + n >= BLOCK_BYTES)
		drain(out);
	dw_buf_reserve(&out->buf, n > BLOCK_BYTES ? n : BLOCK_BYTES);
	settle(out);
}

void dw_out_write_slowly(struct dw_out *out, const void *p, size_t n)
{
	if (!out->failed)
		make_room(out, n);
	if (out->failed)
		return;
	dw_buf_put(&out->buf, p, n);
	settle(out);
}

void dw_out_fill(struct dw_out *out, char c, size_t n)
{
	char run[64];

	memset(run, c, n < sizeof run ? n : sizeof run);
	for (size_t take; n; n -= take) {
		take = n < sizeof run ? n : sizeof run;
		dw_out_write(out, run, take);
	}
}

void dw_out_printf(struct dw_out *out, const char *fmt, ...)
{
	va_list ap;

	if (out->failed)
		return;
	va_start(ap, fmt);
	dw_buf_vprintf(&out->buf, fmt, ap);
	va_end(ap);
	settle(out);
	if (out->fd >= 0 && out->buf.len >= BLOCK_BYTES)
		drain(out);
}

int dw_out_flush(struct dw_out *out)
{
	if (out->fd >= 0)
		drain(out);
	return out->failed;
}

int dw_out_close(struct dw_out *out)
{
	int rc = dw_out_flush(out);

	dw_buf_release(&out->buf);
	return rc;
}

const char *dw_digits_decimal(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES])
{
	static const char pairs[] = "000102030405060708091011121314151617181920212223242526272829"
				    "303132333435363738394041424344454647484950515253545556575859"
				    "606162636465666768697071727374757677787980818283848586878889"
				    "90919293949596979899";
	char *at = ret + DWELL_DIGITS_MAX_BYTES - 1;

	*at = 0;
	for (; n >= 100; n /= 100)
		at = memcpy(at - 2, pairs + n % 100 * 2, 2);
	if (n >= 10)
		return memcpy(at - 2, pairs + n * 2, 2);
	*--at = (char)('0' + n);
	return at;
}

const char *dw_digits_hex(uint64_t n, char ret[DWELL_DIGITS_MAX_BYTES])
{
	char *at = ret + DWELL_DIGITS_MAX_BYTES - 1;

	*at = 0;
	do
		*--at = "0123456789abcdef"[n % 16];
	while (n /= 16);
	*--at = 'x';
	*--at = '0';
	return at;
}
