/* Packing sessions; see pack.h. */
#include "page/pack.h"

#include "analysis/disassembly.h"
#include "base/cleanup.h"
#include "session/decode.h"
#include "session/read.h"

#include <errno.h>
#include <string.h>

struct packer {
	struct dw_buf *to;
	struct dw_buf raw;
};

static void put_head(struct dw_buf *to, const char *kind, uint64_t items, uint64_t bytes)
{
	dw_buf_put_uleb(to, strlen(kind));
	dw_buf_puts(to, kind);
	dw_buf_put_uleb(to, items);
	dw_buf_put_uleb(to, bytes);
}

/* Unpack @c, whose checksum is right, to p->raw. */
static int unpack(struct packer *p, const struct dw_packed_chunk *c, struct dw_error *err)
{
	int rc = dw_chunk_unpack(c, &p->raw);

	return rc ? dw_error_set(err, rc, "damaged: a chunk does not unpack") : 0;
}

static int put_chunk(void *ctx, const struct dw_packed_chunk *c, struct dw_error *err)
{
	struct packer *p = ctx;
	int rc = unpack(p, c, err);

	if (rc)
		return rc;
	put_head(p->to, c->kind, c->items, p->raw.len);
	dw_buf_put(p->to, dw_buf_str(&p->raw), p->raw.len);
	return p->to->failed ? dw_error_set(err, -ENOMEM, "out of memory") : 0;
}

/* The index tells of what follows: not of codes. */
static int put_index(void *ctx, const struct dw_packed_chunk *c, struct dw_error *err)
{
	struct packer *p = ctx;
	struct dw_raw_chunk chunk = {.kind = DWELL_CHUNK_INDEX, .items = c->items};
	struct dw_session_index index;
	int rc = unpack(p, c, err);

	chunk.raw = p->raw;
	rc = rc ? rc : dw_decode_index(&chunk, &index, err);
	if (!rc && !index.finished)
		rc = dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				  "it is not finished: dwell recover does that");
	if (rc)
		return rc;
	index.kinds[DWELL_CHUNK_CODES].chunks = index.kinds[DWELL_CHUNK_CODES].items = 0;
	chunk = (struct dw_raw_chunk){0};
	rc = dw_encode_index(&index, &chunk);
	if (!rc) {
		put_head(p->to, dw_chunk_kind_name(DWELL_CHUNK_INDEX), chunk.items, chunk.raw.len);
		dw_buf_put(p->to, dw_buf_str(&chunk.raw), chunk.raw.len);
	}
	dw_buf_release(&chunk.raw);
	return rc || p->to->failed ? dw_error_set(err, -ENOMEM, "out of memory") : 0;
}

/* The instructions of @s, with texts as long as there is room for them. */
static void put_stretch(const struct dw_disassembly *d, const struct dw_code_stretch *s,
			size_t *room, struct dw_buf *text, struct dw_buf *to)
{
	uint64_t n = 0;

	for (uint64_t at = s->svma; at < s->end; at += dw_disassembly_step(s, at))
		n++;
	dw_buf_put_uleb(to, s->function);
	dw_buf_put_uleb(to, s->end - s->svma);
	dw_buf_put_uleb(to, s->svma);
	dw_buf_put_uleb(to, n);
	for (uint64_t at = s->svma; at < s->end; at += dw_disassembly_step(s, at)) {
		dw_buf_clear(text);
		if (*room)
			dw_disassembly_put(d, s->module, at, false, text);
		if (text->len > *room)
			*room = text->len = 0;
		*room -= text->len;
		dw_buf_put_uleb(to, dw_disassembly_step(s, at));
		dw_buf_put_uleb(to, text->len);
		dw_buf_put(to, dw_buf_str(text), text->len);
	}
}

static int put_listings(const struct dw_profile *p, size_t room, struct dw_buf *to,
			struct dw_error *err)
{
	dw_auto(dw_buf) listings = DW_BUF_INIT;
	dw_auto(dw_buf) text = DW_BUF_INIT;
	dw_auto(dw_disassembly) d = {0};
	int rc = dw_disassembly_init(&d, p);

	if (!rc)
		dw_vec_each(s, &d.codes)
			put_stretch(&d, s, &room, &text, &listings);
	put_head(to, "listings", d.codes.n, listings.len);
	dw_buf_put(to, dw_buf_str(&listings), listings.len);
	if (rc || listings.failed || text.failed || to->failed)
		return dw_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Code is known by functions, so these are loaded: a second time, as chunks are taken as they are.
 */
static int list(const char *path, size_t room, struct dw_buf *to, struct dw_error *err)
{
	static const struct dw_session_range all;
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = dw_session_load_summed(path, &all, &p, NULL, err);

	rc = rc ? rc : put_listings(&p, room, to, err);
	dw_profile_release(&p);
	return rc;
}

int dw_pack_session(const char *path, size_t text_bytes_max, struct dw_buf *ret,
		    struct dw_error *err)
{
	struct packer p = {.to = ret};
	int rc = 0;

	dw_buf_puts(ret, "dwellpg1");
	for (enum dw_chunk_kind kind = 0; kind < DWELL_CHUNK_KINDS && !rc; kind++)
		if (kind != DWELL_CHUNK_CODES)
			rc = dw_session_each_chunk(
				path, kind, kind == DWELL_CHUNK_INDEX ? put_index : put_chunk, &p,
				err);
	dw_buf_release(&p.raw);
	if (rc)
		return dw_error_prefix(err, "%s", path), rc;
	return list(path, text_bytes_max, ret, err);
}
