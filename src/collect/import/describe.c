/*
 * What perf.data says of the recording; see perf-file.h. The same things stand in sections of files
 * and in records of streams: perf.data-file-format.txt in the kernel's documentation of perf.
 */
#include "collect/import/perf-file.h"

#include "base/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int dw_perf_file_event(struct dw_perf_file *f, const void *attr, size_t attr_bytes, const void *ids,
		       size_t ids_n)
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

int dw_perf_file_feature(struct dw_perf_file *f, uint64_t feature, const void *p, size_t n)
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
		return dw_perf_file_event(f, c.pos, attr_bytes, c.pos + attr_bytes,
					  (dw_cursor_left(&c) - attr_bytes) / 8);
	case DWELL_PERF_BUILD_ID:
		return take_build_id(f, &c, h.misc);
	case DWELL_PERF_EVENT_UPDATE:
		return take_update(f, &c);
	case DWELL_PERF_FEATURE:
		feature = dw_cursor_u64(&c);
		return c.failed ? DWELL_ERR_FORMAT
				: dw_perf_file_feature(f, feature, c.pos, dw_cursor_left(&c));
	default:
		return 0;
	}
}
