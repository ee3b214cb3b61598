/*
 * Reading rings; see ring.h. What was written since the last time is copied in one piece, or two
 * where it wraps around; then records are looked at in the copy, up to the first that is not whole.
 */
#include "collect/inside/ring.h"

#include "base/error.h"
#include "collect/region/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Find the chunk of the region @fd. Whether it is ready. */
static bool find(struct dw_inside_ring *r, int fd)
{
	struct dw_region_head head;
	struct dw_region_chunk chunk;

	if (r->at || dw_region_read_head(fd, &head))
		return r->at;
	for (uint32_t i = 0; i < head.chunk_n; i++)
		if (!dw_region_read_chunk(fd, i, &chunk) && chunk.kind == DWELL_CHUNK_SAMPLES)
			r->at = chunk.at;
	return r->at;
}

/* Read the ring's page: *@ret_head. False: there is nothing to read. */
static bool read_page(struct dw_inside_ring *r, int fd, uint64_t *ret_head)
{
	struct dw_sample_ring page;

	if (r->is_bad || !find(r, fd) || dw_region_read_bytes(fd, &page, sizeof page, r->at))
		return false;
	if (!r->bytes)
		r->bytes = page.bytes;
	r->lost = page.lost;
	r->threads_refused = page.threads_refused;
	r->off = page.off;
	r->is_bad = r->bytes > DWELL_SAMPLE_RING_MAX || (r->bytes & (r->bytes - 1)) ||
		    page.head % DWELL_SAMPLE_ALIGN || page.head - r->position > r->bytes;
	*ret_head = page.head;
	r->is_read = page.head == r->position;
	return !r->is_bad && !r->is_read;
}

static bool make_room(struct dw_inside_buffer *buffer, size_t n)
{
	uint8_t *bytes = n > buffer->cap ? realloc(buffer->bytes, n) : buffer->bytes;

	if (!bytes)
		return false;
	buffer->bytes = bytes;
	buffer->cap = n > buffer->cap ? n : buffer->cap;
	return true;
}

/* Copy @n bytes from the position on. */
static int copy(const struct dw_inside_ring *r, int fd, uint8_t *to, size_t n)
{
	uint64_t at = r->position & (r->bytes - 1), data = r->at + DWELL_SAMPLE_PAGE;
	size_t first = n < r->bytes - at ? n : (size_t)(r->bytes - at);
	int rc = dw_region_read_bytes(fd, to, first, data + at);

	if (!rc && first < n)
		rc = dw_region_read_bytes(fd, to + first, n - first, data);
	return rc;
}

enum state { WHOLE, BEGUN, NONE };

/* The record at @position, at @bytes of which @n are known. */
static enum state look(uint64_t position, const uint8_t *bytes, size_t n,
		       struct dw_sample_record *ret)
{
	memcpy(ret, bytes, sizeof *ret);
	if (ret->seal != dw_sample_seal_end(position) &&
	    ret->seal != dw_sample_seal_begin(position))
		return NONE;
	if (ret->bytes < sizeof *ret || ret->bytes > n || ret->bytes % DWELL_SAMPLE_ALIGN ||
	    ret->content > ret->bytes - sizeof *ret)
		return NONE;
	return ret->seal == dw_sample_seal_end(position) ? WHOLE : BEGUN;
}

/* Tell the target how far we are. A file that it has truncated grows again, which harms nobody. */
static void give_back(const struct dw_inside_ring *r, int fd)
{
	ssize_t n = pwrite(fd, &r->position, sizeof r->position,
			   (off_t)(r->at + offsetof(struct dw_sample_ring, tail)));

	(void)n;
}

/* Records that were copied. */
struct batch {
	const uint8_t *bytes;
	size_t n;
	bool is_last;
	int (*take)(void *ctx, const struct dw_inside_record *record);
	void *ctx;
};

/* The record at @at of @b, which begins at @position of the ring. False: there is none that is
 * whole or can be left out. */
static bool find_next(const struct batch *b, uint64_t position, size_t at,
		      struct dw_sample_record *ret, enum state *ret_state)
{
	if (at >= b->n)
		return false;
	*ret_state = look(position + at, b->bytes + at, b->n - at, ret);
	return *ret_state == WHOLE || (*ret_state == BEGUN && b->is_last);
}

static int take_one(const struct batch *b, size_t at, const struct dw_sample_record *record)
{
	const struct dw_inside_record whole = {record->kind, record->tid, record->time_ns,
					       b->bytes + at + sizeof *record, record->content};

	return b->take(b->ctx, &whole);
}

/*
 * Take the mappings that are told next from @at on: of what was loaded and is gone again they are
 * the only ones that tell, and what samples before them need. *@ret: where that record is, or the
 * end.
 */
static int take_mappings(const struct batch *b, uint64_t begin, size_t at, size_t *ret)
{
	struct dw_sample_record record;
	enum state state;

	for (; find_next(b, begin, at, &record, &state); at += record.bytes) {
		if (state == WHOLE && record.kind == DWELL_SAMPLE_MAPS) {
			*ret = at;
			return take_one(b, at, &record);
		}
	}
	*ret = b->n;
	return 0;
}

/* Take the records of @b, and move the position behind them. */
static int take_all(struct dw_inside_ring *r, const struct batch *b)
{
	const uint64_t begin = r->position;
	struct dw_sample_record record;
	enum state state;
	size_t told;
	int rc = take_mappings(b, begin, 0, &told);

	for (size_t at = 0; !rc && find_next(b, begin, at, &record, &state);) {
		if (at == told)
			rc = take_mappings(b, begin, at + record.bytes, &told);
		else if (state == WHOLE)
			rc = take_one(b, at, &record);
		at += record.bytes;
		r->position = begin + at;
	}
	return rc;
}

int dw_inside_ring_read(struct dw_inside_ring *r, int fd, struct dw_inside_buffer *buffer,
			bool is_last, int (*take)(void *ctx, const struct dw_inside_record *record),
			void *ctx)
{
	struct batch batch = {.is_last = is_last, .take = take, .ctx = ctx};
	uint64_t head, before = r->position;
	int rc;

	if (!read_page(r, fd, &head))
		return 0;
	batch.n = (size_t)(head - r->position);
	if (!make_room(buffer, batch.n))
		return -ENOMEM;
	batch.bytes = buffer->bytes;
	if (copy(r, fd, buffer->bytes, batch.n)) {
		r->is_bad = true;
		return 0;
	}
	rc = take_all(r, &batch);
	r->is_read = r->position == head;
	if (r->position != before)
		give_back(r, fd);
	return rc;
}
