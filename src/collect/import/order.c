/*
 * Records in order; see order.h. A record is looked at twice: first for its time, which stands in a
 * sample's first words, so that of those with copied stacks most is read once only.
 */
#include "collect/import/order.h"

#include "collect/import/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK_BYTES = 1 << 20, /* read ahead, where records are short */
	SHORT_BYTES = 512,     /* likewise, where they are long */
	LONG_BYTES = 2048,     /* from here on a record is */
	HEADER_BYTES = 8,
	WORDS_BYTES = 128, /* of a sample, before what has no fixed length */
	RECORD_MAX_BYTES = 1 << 16,
};

/* The @n bytes at @offset, read ahead. NULL = they are not there: *@rc is 0, or -errno. */
static const uint8_t *look(struct dw_import_order *o, uint64_t offset, size_t n, int *rc)
{
	uint64_t left = o->file->end - offset;
	size_t ahead = o->is_long ? SHORT_BYTES : BLOCK_BYTES;
	ssize_t got;

	*rc = 0;
	if (offset > o->file->end || left < n)
		return NULL;
	if (offset >= o->block_offset && offset + n <= o->block_offset + o->block_bytes)
		return o->block + (offset - o->block_offset);
	ahead = ahead < n ? n : ahead;
	got = dw_perf_file_read(o->file->fd, o->block, left < ahead ? (size_t)left : ahead, offset);
	*rc = got < 0 ? (int)got : 0;
	o->block_offset = offset;
	o->block_bytes = got < 0 ? 0 : (size_t)got;
	return o->block_bytes >= n ? o->block : NULL;
}

/* Whether @a goes before @b: by time, then as they stand in the file. */
static bool is_before(const struct dw_import_waiting *a, const struct dw_import_waiting *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->offset < b->offset;
}

static int push(struct dw_import_order *o, struct dw_import_waiting w)
{
	size_t at = o->waiting.n;

	if (dw_vec_push(&o->waiting, w))
		return -ENOMEM;
	for (size_t above; at && is_before(&w, &o->waiting.v[above = (at - 1) / 2]); at = above)
		o->waiting.v[at] = o->waiting.v[above];
	o->waiting.v[at] = w;
	return 0;
}

static struct dw_import_waiting pop(struct dw_import_order *o)
{
	struct dw_import_waiting *v = o->waiting.v, oldest = v[0], last = v[--o->waiting.n];
	size_t at = 0, n = o->waiting.n;

	for (size_t below; (below = 2 * at + 1) < n; at = below) {
		if (below + 1 < n && is_before(&v[below + 1], &v[below]))
			below++;
		if (!is_before(&v[below], &last))
			break;
		v[at] = v[below];
	}
	v[at] = last;
	return oldest;
}

/* How many bytes that are no record stand behind the record @p. */
static uint64_t bytes_behind(const struct perf_event_header *h, const uint8_t *p)
{
	uint64_t bytes = 0;

	if (h->type == DWELL_PERF_AUXTRACE && h->size >= HEADER_BYTES + sizeof bytes)
		memcpy(&bytes, p + HEADER_BYTES, sizeof bytes);
	return bytes;
}

static int wait_for(struct dw_import_order *o, const uint8_t *p, size_t n)
{
	struct dw_import_waiting w = {.time_ns = dw_import_record_time(o->file, p, n),
				      .offset = o->offset,
				      .bytes = (uint32_t)n};

	if (w.time_ns > o->newest_ns)
		o->newest_ns = w.time_ns;
	return push(o, w);
}

/* How much of a record must be there to know its time. */
static size_t bytes_looked_at(const struct dw_import_order *o, const struct perf_event_header *h)
{
	bool is_whole = o->offset + h->size <= o->file->end;

	return h->type == PERF_RECORD_SAMPLE && h->size > WORDS_BYTES && is_whole ? WORDS_BYTES
										  : h->size;
}

/* Read on by one record. At the end all may go. */
static int read_one(struct dw_import_order *o)
{
	struct perf_event_header h = {.size = 0};
	const uint8_t *p;
	uint64_t behind;
	int rc;

	p = look(o, o->offset, sizeof h, &rc);
	if (p)
		memcpy(&h, p, sizeof h);
	if (p && h.size >= sizeof h)
		p = look(o, o->offset, bytes_looked_at(o, &h), &rc);
	if (rc)
		return rc;
	if (!p || h.size < sizeof h) {
		o->at_end = true;
		o->is_cut = o->offset != o->file->end;
		o->limit_ns = UINT64_MAX;
		return 0;
	}
	o->is_long = h.size >= LONG_BYTES;
	behind = bytes_behind(&h, p);
	if (h.type == DWELL_PERF_FINISHED_ROUND) {
		o->limit_ns = o->round_ns;
		o->round_ns = o->newest_ns;
	} else if (h.type < DWELL_PERF_HEADER_ATTR) {
		rc = wait_for(o, p, h.size);
	}
	o->offset = behind > o->file->end - o->offset ? o->file->end : o->offset + behind;
	o->offset += h.size;
	return rc;
}

static int prepare(struct dw_import_order *o)
{
	if (o->block)
		return 0;
	o->offset = o->file->begin;
	o->block = malloc(BLOCK_BYTES);
	o->record = malloc(RECORD_MAX_BYTES);
	return o->block && o->record ? 0 : -ENOMEM;
}

int dw_import_next(struct dw_import_order *o, const void **ret, size_t *n)
{
	struct dw_import_waiting w;
	ssize_t got;
	int rc = prepare(o);

	*n = 0;
	while (!rc && (!o->waiting.n || o->waiting.v[0].time_ns > o->limit_ns)) {
		if (o->at_end)
			return 0;
		rc = read_one(o);
	}
	if (rc)
		return rc;
	w = pop(o);
	got = dw_perf_file_read(o->file->fd, o->record, w.bytes, w.offset);
	if (got < 0)
		return (int)got;
	memset(o->record + got, 0, w.bytes - (size_t)got);
	*ret = o->record;
	*n = w.bytes;
	return 0;
}

void dw_import_order_release(struct dw_import_order *o)
{
	free(o->block);
	free(o->record);
	dw_vec_release(&o->waiting);
	*o = (struct dw_import_order){0};
}
