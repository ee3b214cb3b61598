/*
 * Making records plain; see plain.h.
 *
 * The pieces of compressed records are one stream of zstd, and the records in that are one stream,
 * too: one that began in a piece may end in the next.
 */
#include "collect/import/plain.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { BLOCK_BYTES = 1 << 20, HEADER_BYTES = 8, AUX_BYTES_AT = 8, TRACING_BYTES_AT = 8 };

#define PLAIN_MAX_BYTES (1ull << 40) /* a few bytes of zstd can become as many as they like */

struct plain {
	struct dw_perf_file *file;
	struct dw_plain_input *in;
	struct dw_buf input; /* bytes read, of which @taken are done with */
	size_t taken;
	struct dw_buf nested; /* unpacked, up to an incomplete record */
	struct dw_buf output; /* to be written */
	int fd;
	uint64_t written;
	bool has_several; /* inputs */
	ZSTD_DStream *zstd;
};

static int flush(struct plain *p, size_t above)
{
	size_t done = 0;

	if (p->output.len <= above)
		return 0;
	while (done < p->output.len) {
		ssize_t n = write(p->fd, p->output.data + done, p->output.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	p->written += done;
	dw_buf_clear(&p->output);
	return p->written > PLAIN_MAX_BYTES ? DWELL_ERR_LIMIT : 0;
}

/* Read on. Returns the bytes, 0 at the end, or -errno. */
static ssize_t read_more(struct plain *p)
{
	struct dw_plain_input *in = p->in;
	uint64_t left = in->end - in->offset;
	size_t want = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
	ssize_t n;

	if (p->taken) {
		memmove(p->input.data, p->input.data + p->taken, p->input.len - p->taken);
		p->input.len -= p->taken;
		p->taken = 0;
	}
	if (dw_buf_reserve(&p->input, want + 1))
		return -ENOMEM;
	do
		n = in->is_stream
			    ? read(in->fd, p->input.data + p->input.len, want)
			    : pread(in->fd, p->input.data + p->input.len, want, (off_t)in->offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	p->input.len += (size_t)n;
	in->offset += (uint64_t)n;
	return n;
}

/* Have @n bytes ready. 1; 0 when they end before; or -errno. */
static int want(struct plain *p, size_t n)
{
	while (p->input.len - p->taken < n) {
		ssize_t got = read_more(p);

		if (got <= 0)
			return (int)got;
	}
	return 1;
}

static const uint8_t *at(const struct plain *p)
{
	return (const uint8_t *)p->input.data + p->taken;
}

/* Pass over @n bytes behind the record at hand. */
static int skip(struct plain *p, uint64_t n)
{
	while (n) {
		size_t step = n < BLOCK_BYTES ? (size_t)n : BLOCK_BYTES;
		int rc = want(p, step);

		if (rc <= 0)
			return rc;
		p->taken += step;
		n -= step;
	}
	return 1;
}

/* Hand on a plain record. */
static int put(struct plain *p, const void *record, size_t n)
{
	int rc = dw_perf_file_describe(p->file, record, n);
	struct perf_event_header h;

	memcpy(&h, record, sizeof h);
	if (p->has_several && h.type == DWELL_PERF_FINISHED_ROUND)
		return rc;
	if (!rc && dw_buf_put(&p->output, record, n))
		rc = -ENOMEM;
	return rc ? rc : flush(p, BLOCK_BYTES);
}

/* Hand on all complete records that were unpacked. */
static int put_nested(struct plain *p)
{
	size_t from = 0;
	int rc = 0;

	while (!rc && p->nested.len - from >= HEADER_BYTES) {
		struct perf_event_header h;

		memcpy(&h, p->nested.data + from, sizeof h);
		if (h.size < HEADER_BYTES)
			return DWELL_ERR_FORMAT;
		if (p->nested.len - from < h.size)
			break;
		rc = put(p, p->nested.data + from, h.size);
		from += h.size;
	}
	memmove(p->nested.data, p->nested.data + from, p->nested.len - from);
	p->nested.len -= from;
	return rc;
}

static int unpack(struct plain *p, const uint8_t *packed, size_t n)
{
	ZSTD_inBuffer in = {packed, n, 0};
	bool full = false;
	int rc = 0;

	if (!p->zstd)
		p->zstd = ZSTD_createDStream();
	if (!p->zstd)
		return -ENOMEM;
	while (!rc && (in.pos < in.size || full)) {
		ZSTD_outBuffer out = {0};
		size_t left;

		if (dw_buf_reserve(&p->nested, BLOCK_BYTES))
			return -ENOMEM;
		out.dst = p->nested.data + p->nested.len;
		out.size = BLOCK_BYTES;
		left = ZSTD_decompressStream(p->zstd, &out, &in);
		if (ZSTD_isError(left))
			return DWELL_ERR_FORMAT;
		p->nested.len += out.pos;
		full = out.pos == out.size;
		rc = put_nested(p);
	}
	return rc;
}

/* A record of compressed ones: the newer kind tells how many of its bytes they are. */
static int take_compressed(struct plain *p, const struct perf_event_header *h)
{
	size_t head = sizeof *h, n = h->size - head;
	uint64_t bytes;

	if (h->type == DWELL_PERF_COMPRESSED_2) {
		if (n < sizeof bytes)
			return DWELL_ERR_FORMAT;
		memcpy(&bytes, at(p) + head, sizeof bytes);
		head += sizeof bytes;
		n -= sizeof bytes;
		if (bytes > n)
			return DWELL_ERR_FORMAT;
		n = bytes;
	}
	return unpack(p, at(p) + head, n);
}

/* How many bytes stand behind the record at hand that are no records. */
static uint64_t bytes_behind(const struct plain *p, const struct perf_event_header *h)
{
	uint64_t aux = 0;
	uint32_t tracing = 0;

	if (h->type == DWELL_PERF_AUXTRACE && h->size >= AUX_BYTES_AT + sizeof aux)
		memcpy(&aux, at(p) + AUX_BYTES_AT, sizeof aux);
	if (h->type == DWELL_PERF_TRACING_DATA && h->size >= TRACING_BYTES_AT + sizeof tracing)
		memcpy(&tracing, at(p) + TRACING_BYTES_AT, sizeof tracing);
	return aux + ((tracing + 7ull) & ~7ull);
}

/* One record. 1; 0 at the end; or a negative code. */
static int step(struct plain *p)
{
	struct perf_event_header h;
	uint64_t behind;
	int rc = want(p, sizeof h);

	if (rc <= 0)
		return rc;
	memcpy(&h, at(p), sizeof h);
	if (h.size < sizeof h)
		return DWELL_ERR_FORMAT;
	rc = want(p, h.size);
	if (rc <= 0)
		return rc;
	behind = bytes_behind(p, &h);
	if (h.type == DWELL_PERF_COMPRESSED || h.type == DWELL_PERF_COMPRESSED_2)
		rc = take_compressed(p, &h);
	else if (!behind)
		rc = put(p, at(p), h.size);
	else
		rc = 0;
	p->taken += h.size;
	return rc < 0 ? rc : skip(p, behind);
}

/* A file without a name. */
static int open_output(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

static int write_input(struct plain *p, struct dw_plain_input *in)
{
	int rc = 1;

	p->in = in;
	while (rc > 0)
		rc = step(p);
	if (!rc)
		rc = flush(p, 0);
	dw_buf_release(&p->input);
	dw_buf_release(&p->nested);
	dw_buf_release(&p->output);
	ZSTD_freeDStream(p->zstd);
	p->zstd = NULL;
	p->taken = 0;
	return rc;
}

int dw_plain_write(struct dw_perf_file *f, struct dw_plain_input *in, size_t n,
		   struct dw_error *err)
{
	struct plain p = {.file = f, .fd = open_output(), .has_several = n > 1};
	int rc = 0;

	if (p.fd < 0)
		return dw_error_set_errno(err, -p.fd, "no temporary file in $TMPDIR, nor in /tmp");
	for (size_t i = 0; i < n && !rc; i++)
		rc = write_input(&p, &in[i]);
	if (rc) {
		close(p.fd);
		return rc;
	}
	f->fd = p.fd;
	f->begin = 0;
	f->end = p.written;
	return 0;
}

enum { FILES_MAX = 4096 };

int dw_perf_folder_open(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int dw_perf_folder_write(struct dw_perf_file *f, const struct dw_plain_input *first, int folder,
			 struct dw_error *err)
{
	DW_VEC(struct dw_plain_input) inputs = {0};
	int rc = dw_vec_push(&inputs, *first), fd = 0;

	for (int i = 0; i < FILES_MAX && !rc && fd >= 0; i++) {
		struct dw_plain_input in = {.end = INT64_MAX};
		char name[24];

		snprintf(name, sizeof name, "data.%d", i);
		fd = in.fd = dw_perf_folder_open(folder, name);
		if (fd >= 0)
			rc = dw_vec_push(&inputs, in);
		else if (fd != -ENOENT)
			rc = dw_error_set_errno(err, -fd, "cannot open '%s' in it", name);
		if (rc && fd >= 0)
			close(fd);
	}
	if (!rc)
		rc = dw_plain_write(f, inputs.v, inputs.n, err);
	for (size_t i = 1; i < inputs.n; i++)
		close(inputs.v[i].fd);
	dw_vec_release(&inputs);
	return rc;
}
