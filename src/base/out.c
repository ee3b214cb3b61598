/* The output sink; see out.h. */
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
