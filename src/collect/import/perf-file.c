/*
 * Opening perf.data; see perf-file.h. Sections and records that describe are taken in describe.c,
 * streams and compressed records are made plain in plain.c.
 */
#include "collect/import/perf-file.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "collect/import/folder.h"
#include "collect/import/plain.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC 0x32454c4946524550ull /* "PERFILE2" */

enum {
	STREAM_HEADER_BYTES = 16,
	FILE_HEADER_BYTES = 104,
	SECTION_BYTES = 16,
	SECTION_MAX_BYTES = 256 << 20,
	ATTR_MAX_BYTES = 4096,
	FEATURES = 256,
	FEATURE_COMPRESSED = 27,
};

struct section {
	uint64_t offset, bytes;
};

/* What stands at the start of a file. */
struct head {
	uint64_t attr_bytes; /* of an event's entry: attributes and a section of ids */
	struct section events, data;
	uint64_t features[FEATURES / 64];
};

ssize_t dw_perf_file_read(int fd, void *p, size_t n, uint64_t offset)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = pread(fd, (char *)p + got, n - got, (off_t)(offset + got));

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (!k)
			break;
		got += (size_t)k;
	}
	return (ssize_t)got;
}

/* Read a section. *@ret is the caller's. */
static int read_section(int fd, struct section s, uint8_t **ret)
{
	struct stat st;
	uint8_t *p;

	if (fstat(fd, &st))
		return -errno;
	/* Before memory is taken for it. */
	if (s.bytes > SECTION_MAX_BYTES || s.offset > (uint64_t)st.st_size ||
	    s.bytes > (uint64_t)st.st_size - s.offset)
		return DWELL_ERR_FORMAT;
	p = malloc(s.bytes + 1);
	if (!p)
		return -ENOMEM;
	if (dw_perf_file_read(fd, p, s.bytes, s.offset) != (ssize_t)s.bytes) {
		free(p);
		return DWELL_ERR_FORMAT;
	}
	*ret = p;
	return 0;
}

static struct section take_section(struct dw_cursor *c)
{
	struct section s = {.offset = dw_cursor_u64(c)};

	s.bytes = dw_cursor_u64(c);
	return s;
}

static int read_event(struct dw_perf_file *f, int fd, struct dw_cursor *c, uint64_t attr_bytes)
{
	size_t n = attr_bytes - SECTION_BYTES;
	const uint8_t *attr = dw_cursor_bytes(c, n);
	struct section ids = take_section(c);
	dw_auto_free uint8_t *p = NULL;
	int rc = c->failed ? DWELL_ERR_FORMAT : read_section(fd, ids, &p);

	return rc ? rc : dw_perf_file_event(f, attr, n, p, ids.bytes / 8);
}

static int read_events(struct dw_perf_file *f, int fd, const struct head *h)
{
	dw_auto_free uint8_t *p = NULL;
	struct dw_cursor c;
	int rc;

	if (h->attr_bytes < PERF_ATTR_SIZE_VER0 + SECTION_BYTES || h->attr_bytes > ATTR_MAX_BYTES)
		return DWELL_ERR_FORMAT;
	rc = read_section(fd, h->events, &p);
	dw_cursor_init(&c, p, rc ? 0 : h->events.bytes);
	while (!rc && dw_cursor_left(&c) >= h->attr_bytes)
		rc = read_event(f, fd, &c, h->attr_bytes);
	return rc;
}

static bool has_feature(const struct head *h, unsigned feature)
{
	return h->features[feature / 64] >> feature % 64 & 1;
}

/* The features' sections are listed behind the records. Perf that was killed has written none. */
static int read_features(struct dw_perf_file *f, int fd, const struct head *h)
{
	struct section list = {.offset = h->data.offset + h->data.bytes};
	dw_auto_free uint8_t *p = NULL;
	struct dw_cursor c;
	int rc;

	for (unsigned i = 0; i < FEATURES; i++)
		list.bytes += has_feature(h, i) ? SECTION_BYTES : 0;
	rc = read_section(fd, list, &p);
	dw_cursor_init(&c, p, rc ? 0 : list.bytes);
	for (unsigned i = 0; i < FEATURES && !rc; i++) {
		dw_auto_free uint8_t *feature = NULL;
		struct section s;

		if (!has_feature(h, i))
			continue;
		s = take_section(&c);
		rc = read_section(fd, s, &feature);
		if (!rc)
			rc = dw_perf_file_feature(f, i, feature, s.bytes);
	}
	return rc;
}

static int check_magic(uint64_t magic, struct dw_error *err)
{
	if (magic == MAGIC)
		return 0;
	if (magic == __builtin_bswap64(MAGIC))
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				    "a perf.data file of the other byte order");
	return dw_error_set(err, DWELL_ERR_FORMAT, "no perf.data file");
}

/* @folder is the one in which the file lies, if it has more; -1 = it is alone. */
static int open_file(struct dw_perf_file *f, int fd, int folder, const uint8_t *header,
		     struct dw_error *err)
{
	struct head h;
	struct dw_cursor c;
	struct stat st;
	int rc;

	dw_cursor_init(&c, header + STREAM_HEADER_BYTES, FILE_HEADER_BYTES - STREAM_HEADER_BYTES);
	h.attr_bytes = dw_cursor_u64(&c);
	h.events = take_section(&c);
	h.data = take_section(&c);
	take_section(&c); /* of event types, not used any more */
	for (unsigned i = 0; i < FEATURES / 64; i++)
		h.features[i] = dw_cursor_u64(&c);
	rc = read_events(f, fd, &h);
	if (rc || fstat(fd, &st))
		return rc ? rc : -errno;
	f->begin = h.data.offset;
	f->end = h.data.bytes ? h.data.offset + h.data.bytes : (uint64_t)st.st_size;
	if (f->begin > (uint64_t)st.st_size || f->end < f->begin || f->end > (uint64_t)st.st_size)
		return DWELL_ERR_FORMAT;
	/* Without a length perf was killed. */
	rc = h.data.bytes ? read_features(f, fd, &h) : 0;
	if (!rc && (folder >= 0 || has_feature(&h, FEATURE_COMPRESSED))) {
		struct dw_plain_input in = {.fd = fd, .offset = f->begin, .end = f->end};

		return folder < 0 ? dw_plain_write(f, &in, 1, err)
				  : dw_perf_folder_write(f, &in, folder, err);
	}
	f->fd = rc ? -1 : dup(fd);
	return rc;
}

/* Read the first @n bytes of @fd, which may be no file. */
static int read_header(int fd, uint8_t *p, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t k = read(fd, p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (!k)
			return DWELL_ERR_FORMAT;
		got += (size_t)k;
	}
	return 0;
}

static int open_any(struct dw_perf_file *f, int fd, int folder, struct dw_error *err)
{
	struct dw_plain_input in = {.fd = fd, .end = UINT64_MAX, .is_stream = true};
	uint8_t header[FILE_HEADER_BYTES];
	uint64_t magic, bytes;
	int rc = read_header(fd, header, STREAM_HEADER_BYTES);

	if (rc == DWELL_ERR_FORMAT)
		return dw_error_set(err, rc, "no perf.data file");
	if (rc)
		return rc;
	memcpy(&magic, header, sizeof magic);
	memcpy(&bytes, header + sizeof magic, sizeof bytes);
	rc = check_magic(magic, err);
	if (rc)
		return rc;
	if (bytes == STREAM_HEADER_BYTES)
		return dw_plain_write(f, &in, 1, err);
	if (bytes != FILE_HEADER_BYTES)
		return DWELL_ERR_FORMAT;
	rc = read_header(fd, header + STREAM_HEADER_BYTES, FILE_HEADER_BYTES - STREAM_HEADER_BYTES);
	return rc ? rc : open_file(f, fd, folder, header, err);
}

static int check_processor(const struct dw_perf_file *f, struct dw_error *err)
{
	if (!f->arch || !strcmp(f->arch, "x86_64"))
		return 0;
	return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "recorded on '%s', not on x86_64", f->arch);
}

int dw_perf_file_open(struct dw_perf_file *f, const char *path, struct dw_error *err)
{
	dw_auto_close int fd = -1;
	dw_auto_close int folder = -1;
	struct stat st;
	int rc;

	*f = (struct dw_perf_file){.fd = -1};
	fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : dup(STDIN_FILENO);
	if (fd < 0 || fstat(fd, &st))
		return dw_error_set_errno(err, errno, "cannot open '%s'", path);
	if (S_ISDIR(st.st_mode)) {
		folder = fd;
		fd = dw_perf_folder_open(folder, "data");
		if (fd < 0)
			return dw_error_set_errno(err, -fd, "cannot open 'data' in the folder '%s'",
						  path);
	}
	rc = open_any(f, fd, folder, err);
	rc = rc ? rc : check_processor(f, err);
	if (!rc && !f->events.n)
		rc = dw_error_set(err, DWELL_ERR_FORMAT, "it names no event");
	if (rc && err && !err->code)
		dw_error_set(err, rc, "%s", rc == DWELL_ERR_FORMAT ? "damaged" : dw_err_string(rc));
	if (rc)
		dw_error_prefix(err, "'%s'", path);
	return rc;
}

void dw_perf_file_release(struct dw_perf_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	dw_vec_each(e, &f->events) {
		free(e->name);
		dw_vec_release(&e->ids);
	}
	dw_vec_each(row, &f->build_ids) {
		free(row->path);
	}
	dw_vec_release(&f->events);
	dw_vec_release(&f->build_ids);
	free(f->host);
	free(f->release);
	free(f->arch);
	dw_buf_release(&f->command);
	*f = (struct dw_perf_file){.fd = -1};
}
