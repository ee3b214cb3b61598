/* The page as one file; see file.h. */
#include "page/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
	GZIP_LEVEL = 7,
	GZIP_WINDOW = 15 + 16, /* that gzip has, with its header */
	GZIP_MEMORY = 9,
	READ_BYTES = 1 << 16,
};

int dw_page_read_file(const char *path, struct dw_buf *ret, struct dw_error *err)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	while (fd >= 0 && !dw_buf_reserve(ret, READ_BYTES)) {
		n = read(fd, ret->data + ret->len, READ_BYTES);
		if (n <= 0)
			break;
		ret->len += (size_t)n;
		ret->data[ret->len] = 0;
	}
	if (ret->failed)
		return dw_error_set(err, -ENOMEM, "out of memory");
	return n < 0 ? dw_error_set_errno(err, errno, "cannot read %s", path) : 0;
}

int dw_page_gzip(const struct dw_buf *from, struct dw_buf *ret)
{
	z_stream z = {.next_in = (Bytef *)dw_buf_str(from), .avail_in = (uInt)from->len};
	uLong room;
	int rc;

	if (from->len > UINT32_MAX || deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
						   GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, from->len);
	if (dw_buf_reserve(ret, room)) {
		deflateEnd(&z);
		return -ENOMEM;
	}
	z.next_out = (Bytef *)ret->data + ret->len;
	z.avail_out = (uInt)room;
	rc = deflate(&z, Z_FINISH);
	ret->len += z.total_out;
	ret->data[ret->len] = 0;
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -ENOMEM;
}

static void put_base64(const uint8_t *v, size_t n, struct dw_out *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = (uint32_t)v[i] << 16 | (i + 1 < n ? v[i + 1] : 0u) << 8 |
				(i + 2 < n ? v[i + 2] : 0u);
		char text[] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
			       digits[bits & 63]};

		if (i + 2 >= n)
			text[3] = '=';
		if (i + 1 >= n)
			text[2] = '=';
		dw_out_write(out, text, sizeof text);
	}
}

static int put_packed(const struct dw_buf *what, struct dw_out *out)
{
	dw_auto(dw_buf) packed = DW_BUF_INIT;
	int rc = dw_page_gzip(what, &packed);

	if (!rc)
		put_base64((const uint8_t *)dw_buf_str(&packed), packed.len, out);
	return rc;
}

/* The place that comes first in the text from @at to @end, NULL = there is none. */
static const char *find_place(const char *at, const char *end, size_t *ret)
{
	static const char *const places[] = {"@CONNECT@", "@ENGINE@", "@DATA@"};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *found = memmem(at, (size_t)(end - at), places[i], strlen(places[i]));

		if (found && (!first || found < first)) {
			first = found;
			*ret = i;
		}
	}
	return first;
}

int dw_page_write_file(const struct dw_buf *template, const struct dw_buf *engine,
		       const struct dw_buf *session, struct dw_out *out, struct dw_error *err)
{
	const struct dw_buf *const fill[] = {NULL, engine, session};
	const char *at = dw_buf_str(template), *end = at + template->len;
	unsigned filled = 0;
	int rc = 0;

	while (filled != 7 && !rc) {
		size_t i;
		const char *found = find_place(at, end, &i);

		if (!found || filled & 1u << i)
			return dw_error_set(err, DWELL_ERR_FORMAT,
					    "the page's template has no place for it");
		dw_out_write(out, at, (size_t)(found - at));
		if (!i)
			dw_out_puts(out, session ? "'none'" : "'self'");
		else if (fill[i])
			rc = put_packed(fill[i], out);
		filled |= 1u << i;
		at = strchr(found + 1, '@') + 1;
	}
	dw_out_write(out, at, (size_t)(end - at));
	return rc ? dw_error_set(err, rc, "out of memory") : 0;
}
