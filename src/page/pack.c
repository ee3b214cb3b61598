/* Loading packed sessions; see pack.h. */
#include "page/pack.h"

#include "base/cursor.h"
#include "session/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 32, LISTINGS = DWELL_CHUNK_KINDS + 1 };

static const char magic[8] = "dwellpg1";

/* The next chunk; its bytes are borrowed, as nobody writes to them. */
static int take(struct dw_cursor *c, struct dw_raw_chunk *ret, struct dw_error *err)
{
	uint64_t name_n = dw_cursor_uleb(c), n;
	const uint8_t *name =
		dw_cursor_bytes(c, name_n <= NAME_MAX_BYTES ? (size_t)name_n : SIZE_MAX);
	char text[NAME_MAX_BYTES + 1] = "";

	*ret = (struct dw_raw_chunk){.items = dw_cursor_uleb(c)};
	n = dw_cursor_uleb(c);
	ret->raw.data = n <= dw_cursor_left(c) ? (char *)dw_cursor_bytes(c, (size_t)n) : NULL;
	ret->raw.len = (size_t)n;
	if (c->failed || !ret->raw.data || n > DWELL_CHUNK_RAW_BYTES_MAX)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: a chunk is cut");
	memcpy(text, name, name_n);
	ret->kind = strcmp(text, "listings") ? dw_chunk_kind_find(text) : LISTINGS;
	return 0;
}

/* The instructions of @code, @n of them. Their texts begin with a NUL, so that none is at 0. */
static int take_listing(struct dw_cursor *c, struct dw_code *code, uint64_t n)
{
	struct dw_buf texts = DW_BUF_INIT;
	uint64_t at = 0;

	if (n > dw_cursor_left(c) || n > UINT32_MAX / sizeof *code->listed)
		return DWELL_ERR_FORMAT;
	code->listed = calloc((size_t)n + 1, sizeof *code->listed);
	dw_buf_putc(&texts, 0);
	for (uint32_t i = 0; i < n && code->listed && !c->failed; i++) {
		uint64_t bytes = dw_cursor_uleb(c), text_n = dw_cursor_uleb(c);
		const uint8_t *text =
			text_n <= dw_cursor_left(c) ? dw_cursor_bytes(c, (size_t)text_n) : NULL;

		if (!text || !bytes || bytes > code->bytes_n - at)
			c->failed = true;
		if (c->failed)
			break;
		code->listed[i] =
			(struct dw_listed){(uint32_t)at, text_n ? (uint32_t)texts.len : 0};
		at += bytes;
		code->listed[i + 1].at = (uint32_t)at;
		code->listed_n = i + 1;
		dw_buf_put(&texts, text, (size_t)text_n);
		dw_buf_putc(&texts, 0);
	}
	/* Who goes through code takes a step for each of its bytes that is not listed. */
	if (at != code->bytes_n)
		c->failed = true;
	if (!code->listed || texts.failed) {
		dw_buf_release(&texts);
		return -ENOMEM;
	}
	code->texts = dw_buf_detach(&texts);
	return c->failed ? DWELL_ERR_FORMAT : 0;
}

/* Listings, once all functions are there. */
static int take_listings(const struct dw_raw_chunk *chunk, struct dw_profile *p,
			 struct dw_error *err)
{
	struct dw_cursor c;
	int rc = 0;

	dw_cursor_init(&c, chunk->raw.data, chunk->raw.len);
	for (uint64_t i = 0; i < chunk->items && !rc; i++) {
		uint64_t function = dw_cursor_uleb(&c), bytes = dw_cursor_uleb(&c);
		struct dw_code code = {.function = (uint32_t)function,
				       .bytes_n = (uint32_t)bytes,
				       .svma = dw_cursor_uleb(&c)};
		uint64_t n = dw_cursor_uleb(&c);

		if (c.failed || !function || function > dw_functions_count(&p->functions) ||
		    bytes > UINT32_MAX || code.svma > UINT64_MAX - bytes)
			rc = DWELL_ERR_FORMAT;
		else if (dw_vec_push(&p->codes.rows, code))
			rc = -ENOMEM;
		else
			rc = take_listing(&c, &p->codes.rows.v[p->codes.rows.n - 1], n);
	}
	if (rc == -ENOMEM)
		return dw_error_set(err, rc, "out of memory");
	return rc ? dw_error_set(err, rc, "damaged: a listing makes no sense") : 0;
}

/* Of a part of the time the slices are read before all else. */
static int find_slices(struct dw_loading *l, struct dw_cursor c, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_loading slices = {.p = &p};
	int rc = 0;

	while (!rc && dw_cursor_left(&c)) {
		struct dw_raw_chunk chunk;

		rc = take(&c, &chunk, err);
		if (!rc && chunk.kind == DWELL_CHUNK_CALL_SLICES)
			rc = dw_loading_take(&slices, &chunk, err);
	}
	rc = rc ? rc : dw_loading_select(l, &p.calls, err);
	dw_profile_release(&p);
	return rc;
}

int dw_pack_load(const uint8_t *data, size_t n, const struct dw_session_range *range,
		 struct dw_profile *p, struct dw_error *err)
{
	struct dw_loading l = {.p = p, .range = range, .items_max = n};
	struct dw_raw_chunk listings = {0};
	struct dw_cursor c;
	int rc = 0;

	if (n < sizeof magic || memcmp(data, magic, sizeof magic))
		return dw_error_set(err, DWELL_ERR_FORMAT, "no packed session");
	dw_cursor_init(&c, data + sizeof magic, n - sizeof magic);
	if (!dw_session_range_is_all(range))
		rc = find_slices(&l, c, err);
	while (!rc && dw_cursor_left(&c)) {
		struct dw_raw_chunk chunk;

		rc = take(&c, &chunk, err);
		if (!rc && chunk.kind < DWELL_CHUNK_KINDS)
			rc = dw_loading_take(&l, &chunk, err);
		else if (!rc && (unsigned)chunk.kind == LISTINGS)
			listings = chunk;
	}
	rc = rc ? rc : dw_loading_finish(&l, err);
	rc = rc ? rc : take_listings(&listings, p, err);
	dw_loading_release(&l);
	return rc;
}
