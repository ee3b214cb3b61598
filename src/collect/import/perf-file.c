/*
 * Opening perf.data; see perf-file.h. Streams and compressed records are made plain in plain.c.
 */
#include "collect/import/perf-file.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "collect/import/plain.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * What perf.data says of the recording. The same things stand in sections of files and in records
 * of streams: perf.data-file-format.txt in the kernel's documentation of perf.
 */

enum { FEATURE_BUILD_ID = 2, FEATURE_HOST = 3, FEATURE_RELEASE = 4, FEATURE_ARCH = 6 };
enum { FEATURE_COMMAND = 11, FEATURE_EVENTS = 12 };
enum { EVENTS_MAX = 4096, BUILD_IDS_MAX = 1 << 20, WORDS_MAX = 65536 };
enum { HEADER_BYTES = 8, UPDATE_NAME = 2, ID_BYTES = 20, ID_FIELD_BYTES = 24 };

#define MISC_BUILD_ID_SIZE (1 << 15) /* its length is told; older perf always had 20 bytes */

/* A text of known room, which need not be filled. NULL = no memory, or a failed cursor. */
static char *take_text(struct dw_cursor *c)
{
	uint32_t n = dw_cursor_u32(c);
	const uint8_t *p = dw_cursor_bytes(c, n);

	return p ? strndup((const char *)p, n) : NULL;
}

static int set_text(struct dw_cursor *c, char **text)
{
	char *s = take_text(c);

	if (!s)
		return c->failed ? DWELL_ERR_FORMAT : -ENOMEM;
	free(*text);
	*text = s;
	return 0;
}

/* Add the event of the record or entry @p: its attributes, then @ids_n ids at @ids. 0,
 * DWELL_ERR_FORMAT or -ENOMEM. For the folder itself. */
static int perf_file_event(struct dw_perf_file *f, const void *attr, size_t attr_bytes,
			   const void *ids, size_t ids_n)
{
	struct dw_perf_event e = {.name = NULL};

	if (f->events.n >= EVENTS_MAX || attr_bytes < PERF_ATTR_SIZE_VER0)
		return DWELL_ERR_FORMAT;
	memcpy(&e.attr, attr, attr_bytes < sizeof e.attr ? attr_bytes : sizeof e.attr);
	if (dw_vec_reserve(&e.ids, ids_n + 1) || dw_vec_reserve(&f->events, 1)) {
		dw_vec_release(&e.ids);
		return -ENOMEM;
	}
	if (ids_n)
		memcpy(e.ids.v, ids, ids_n * sizeof *e.ids.v);
	e.ids.n = ids_n;
	f->events.v[f->events.n++] = e;
	return 0;
}

/* The event with the id @id, NULL = none. */
static struct dw_perf_event *find_event(struct dw_perf_file *f, uint64_t id)
{
	dw_vec_each(e, &f->events) {
		dw_vec_each(other, &e->ids) {
			if (*other == id)
				return e;
		}
	}
	return NULL;
}

/* One of the events that the feature lists. Its attributes and ids are known already. @number: its
 * place, for events without ids. */
static int take_event_name(struct dw_perf_file *f, struct dw_cursor *c, uint32_t number,
			   uint32_t attr_bytes)
{
	struct dw_perf_event *e = number < f->events.n ? &f->events.v[number] : NULL;
	uint32_t ids_n;
	char *name;

	dw_cursor_skip(c, attr_bytes);
	ids_n = dw_cursor_u32(c);
	name = take_text(c);
	if (!name)
		return c->failed ? DWELL_ERR_FORMAT : -ENOMEM;
	if (ids_n) {
		e = find_event(f, dw_cursor_u64(c));
		dw_cursor_skip(c, (size_t)(ids_n - 1) * 8);
	}
	if (!e) {
		free(name);
		return 0;
	}
	free(e->name);
	e->name = name;
	return 0;
}

static int take_event_names(struct dw_perf_file *f, struct dw_cursor *c)
{
	uint32_t n = dw_cursor_u32(c), attr_bytes = dw_cursor_u32(c);
	int rc = 0;

	for (uint32_t i = 0; i < n && i < EVENTS_MAX && !rc; i++)
		rc = take_event_name(f, c, i, attr_bytes);
	return rc;
}

static int take_command(struct dw_perf_file *f, struct dw_cursor *c)
{
	uint32_t n = dw_cursor_u32(c);

	dw_buf_clear(&f->command);
	for (uint32_t i = 0; i < n && i < WORDS_MAX; i++) {
		char *word = take_text(c);

		if (!word)
			return c->failed ? DWELL_ERR_FORMAT : -ENOMEM;
		dw_buf_puts(&f->command, i ? " " : "");
		dw_buf_puts(&f->command, word);
		free(word);
	}
	return f->command.failed ? -ENOMEM : 0;
}

/* The body of a record that tells the build-id of one file. */
static int take_build_id(struct dw_perf_file *f, struct dw_cursor *c, uint16_t misc)
{
	struct dw_perf_build_id row = {.bytes = ID_BYTES};
	const uint8_t *id;
	size_t n;

	dw_cursor_skip(c, 4); /* pid */
	id = dw_cursor_bytes(c, ID_FIELD_BYTES);
	n = dw_cursor_left(c);
	if (!id || f->build_ids.n >= BUILD_IDS_MAX)
		return DWELL_ERR_FORMAT;
	memcpy(row.id, id, ID_BYTES);
	if (misc & MISC_BUILD_ID_SIZE)
		row.bytes = id[ID_BYTES] < ID_BYTES ? id[ID_BYTES] : ID_BYTES;
	row.path = strndup((const char *)dw_cursor_bytes(c, n), n);
	if (!row.path || dw_vec_push(&f->build_ids, row)) {
		free(row.path);
		return -ENOMEM;
	}
	return 0;
}

static int take_build_ids(struct dw_perf_file *f, struct dw_cursor *c)
{
	int rc = 0;

	while (dw_cursor_left(c) && !rc) {
		uint32_t type = dw_cursor_u32(c);
		uint16_t misc = dw_cursor_u16(c), size = dw_cursor_u16(c);
		struct dw_cursor body;
		const uint8_t *p;

		(void)type; /* the header of a record, but not all versions fill it in */
		p = size >= HEADER_BYTES ? dw_cursor_bytes(c, (size_t)size - HEADER_BYTES) : NULL;
		if (!p)
			return DWELL_ERR_FORMAT;
		dw_cursor_init(&body, p, (size_t)size - HEADER_BYTES);
		rc = take_build_id(f, &body, misc);
	}
	return rc;
}

/* What a part of @file (features and records that describe) says. Parts of no interest are fine. 0,
 * DWELL_ERR_FORMAT or -ENOMEM. For the folder itself. */
static int perf_file_feature(struct dw_perf_file *f, uint64_t feature, const void *p, size_t n)
{
	struct dw_cursor c;

	dw_cursor_init(&c, p, n);
	switch (feature) {
	case FEATURE_BUILD_ID:
		return take_build_ids(f, &c);
	case FEATURE_HOST:
		return set_text(&c, &f->host);
	case FEATURE_RELEASE:
		return set_text(&c, &f->release);
	case FEATURE_ARCH:
		return set_text(&c, &f->arch);
	case FEATURE_COMMAND:
		return take_command(f, &c);
	case FEATURE_EVENTS:
		return take_event_names(f, &c);
	default:
		return 0;
	}
}

/* A record that names an event. */
static int take_update(struct dw_perf_file *f, struct dw_cursor *c)
{
	uint64_t what = dw_cursor_u64(c), id = dw_cursor_u64(c);
	struct dw_perf_event *e = what == UPDATE_NAME ? find_event(f, id) : NULL;
	size_t n = dw_cursor_left(c);
	char *name;

	if (!e || !n)
		return 0;
	name = strndup((const char *)dw_cursor_bytes(c, n), n);
	if (!name)
		return -ENOMEM;
	free(e->name);
	e->name = name;
	return 0;
}

int dw_perf_file_describe(struct dw_perf_file *f, const void *p, size_t n)
{
	struct perf_event_header h;
	struct perf_event_attr attr;
	struct dw_cursor c;
	uint64_t feature;
	size_t attr_bytes;

	memcpy(&h, p, sizeof h);
	dw_cursor_init(&c, (const uint8_t *)p + sizeof h, n - sizeof h);
	switch (h.type) {
	case DWELL_PERF_HEADER_ATTR:
		if (dw_cursor_left(&c) < PERF_ATTR_SIZE_VER0)
			return DWELL_ERR_FORMAT;
		memcpy(&attr, c.pos, PERF_ATTR_SIZE_VER0);
		attr_bytes = attr.size ? attr.size : PERF_ATTR_SIZE_VER0;
		if (attr_bytes > dw_cursor_left(&c))
			return DWELL_ERR_FORMAT;
		return perf_file_event(f, c.pos, attr_bytes, c.pos + attr_bytes,
				       (dw_cursor_left(&c) - attr_bytes) / 8);
	case DWELL_PERF_BUILD_ID:
		return take_build_id(f, &c, h.misc);
	case DWELL_PERF_EVENT_UPDATE:
		return take_update(f, &c);
	case DWELL_PERF_FEATURE:
		feature = dw_cursor_u64(&c);
		return c.failed ? DWELL_ERR_FORMAT
				: perf_file_feature(f, feature, c.pos, dw_cursor_left(&c));
	default:
		return 0;
	}
}

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

	return rc ? rc : perf_file_event(f, attr, n, p, ids.bytes / 8);
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
			rc = perf_file_feature(f, i, feature, s.bytes);
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
