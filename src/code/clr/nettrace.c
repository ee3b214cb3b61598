/*
 * Streams of events; see nettrace.h. A stream is a row of objects, of which blocks of events and of
 * what the numbers of events mean are read. In a block each event says only what is other than in
 * the one before.
 */
#include "code/clr/nettrace.h"

#include "base/error.h"
#include "base/map.h"

#include <stdbool.h>
#include <string.h>

#define BEGINS "Nettrace\x14\0\0\0!FastSerialization.1"

enum {
	NULL_TAG = 1,
	BEGIN_TAG = 5,
	END_TAG = 6,
	VERSION = 4,	  /* a reader of this one reads it */
	TRACE_BYTES = 48, /* of the object that says what stream it is */
	GUID_BYTES = 16,
	CAPTURE_PARTS = 3, /* its number in its thread, that, the processor */
	ALIGNMENT = 4,
};

/* Flags of a block. */
enum { SHORT_HEADS = 1 };

/* What an event says of itself. */
enum {
	HAS_NUMBER = 1,
	HAS_CAPTURE = 2,
	HAS_THREAD = 4,
	HAS_STACK = 8,
	HAS_ACTIVITY = 16,
	HAS_RELATED = 32,
	HAS_BYTES = 128,
};

struct reader {
	struct dw_cursor c;
	struct dw_map ids; /* of the provider's events, by their number in the stream: id + 1 */
	const char *provider;
	dw_nettrace_fn *fn;
	void *ctx;
};

/* What holds for the next event, too, if that does not say otherwise. */
struct head {
	uint64_t number;
	uint64_t bytes;
};

static void put_character(struct dw_buf *b, uint32_t c)
{
	if (c < 0x80) {
		dw_buf_putc(b, (char)c);
		return;
	}
	if (c < 0x800) {
		dw_buf_putc(b, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		dw_buf_putc(b, (char)(0xe0 | c >> 12));
		dw_buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		dw_buf_putc(b, (char)(0xf0 | c >> 18));
		dw_buf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		dw_buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	dw_buf_putc(b, (char)(0x80 | (c & 0x3f)));
}

void dw_nettrace_text(struct dw_cursor *c, struct dw_buf *ret)
{
	uint32_t high = 0, unit;

	while ((unit = dw_cursor_u16(c)) != 0) {
		bool is_high = unit >= 0xd800 && unit < 0xdc00;
		bool is_low = unit >= 0xdc00 && unit < 0xe000;

		if (!ret)
			continue;
		if (high && !is_low)
			put_character(ret, 0xfffd);
		if (is_low)
			unit = high ? 0x10000 + ((high & 0x3ff) << 10) + (unit & 0x3ff) : 0xfffd;
		high = is_high ? unit : 0;
		if (!is_high)
			put_character(ret, unit);
	}
	if (high)
		put_character(ret, 0xfffd);
}

/* Whether the UTF-16 at @c is @name; it is passed over. */
static bool is_text(struct dw_cursor c, const char *name)
{
	for (; *name; name++)
		if (dw_cursor_u16(&c) != (uint8_t)*name)
			return false;
	return !dw_cursor_u16(&c) && !c.failed;
}

/* Take in what the number of an event means. */
static int take_number(struct reader *r, const uint8_t *payload, size_t n)
{
	struct dw_cursor c;
	uint32_t number, id;
	bool is_wanted;

	dw_cursor_init(&c, payload, n);
	number = dw_cursor_u32(&c);
	is_wanted = is_text(c, r->provider);
	dw_nettrace_text(&c, NULL);
	id = dw_cursor_u32(&c);
	if (c.failed)
		return DWELL_ERR_FORMAT;
	return is_wanted && id < UINT32_MAX ? dw_map_put(&r->ids, number, id + 1) : 0;
}

static int take_event(struct reader *r, const struct head *h, const uint8_t *payload)
{
	uint32_t id = dw_map_get(&r->ids, h->number);
	const struct dw_nettrace_event e = {id - 1, payload, h->bytes};

	return id ? r->fn(r->ctx, &e) : 0;
}

static void read_head(struct dw_cursor *c, struct head *h)
{
	uint8_t flags = dw_cursor_u8(c);

	if (flags & HAS_NUMBER)
		h->number = dw_cursor_uleb(c);
	if (flags & HAS_CAPTURE)
		for (size_t i = 0; i < CAPTURE_PARTS; i++)
			dw_cursor_uleb(c);
	if (flags & HAS_THREAD)
		dw_cursor_uleb(c);
	if (flags & HAS_STACK)
		dw_cursor_uleb(c);
	dw_cursor_uleb(c); /* time */
	if (flags & HAS_ACTIVITY)
		dw_cursor_skip(c, GUID_BYTES);
	if (flags & HAS_RELATED)
		dw_cursor_skip(c, GUID_BYTES);
	if (flags & HAS_BYTES)
		h->bytes = dw_cursor_uleb(c);
}

/* Read the block in @c. @is_metadata: its events say what those of other blocks mean. */
static int read_block(struct reader *r, struct dw_cursor *c, bool is_metadata)
{
	uint32_t head_bytes = dw_cursor_u16(c), flags = dw_cursor_u16(c);
	struct head h = {0};
	int rc = 0;

	dw_cursor_seek(c, head_bytes);
	if (!c->failed && !(flags & SHORT_HEADS))
		return DWELL_ERR_UNSUPPORTED;
	while (!rc && dw_cursor_left(c)) {
		const uint8_t *payload;

		read_head(c, &h);
		payload = dw_cursor_bytes(c, h.bytes);
		if (c->failed)
			break;
		rc = is_metadata ? take_number(r, payload, h.bytes) : take_event(r, &h, payload);
	}
	return rc ? rc : c->failed ? DWELL_ERR_FORMAT : 0;
}

/* What an object is. */
struct type {
	uint32_t reader; /* the oldest version whose readers read it */
	const uint8_t *name;
	size_t name_n;
};

static bool is_type(const struct type *t, const char *name)
{
	return t->name_n == strlen(name) && !memcmp(t->name, name, t->name_n);
}

static bool read_type(struct dw_cursor *c, struct type *ret)
{
	bool is_one = dw_cursor_u8(c) == BEGIN_TAG && dw_cursor_u8(c) == NULL_TAG;

	dw_cursor_skip(c, 4); /* version */
	ret->reader = dw_cursor_u32(c);
	ret->name_n = dw_cursor_u32(c);
	ret->name = dw_cursor_bytes(c, ret->name_n);
	return dw_cursor_u8(c) == END_TAG && is_one;
}

/* Read what an object that is no trace consists of: a block. */
static int read_content(struct reader *r, const struct type *t)
{
	uint32_t bytes = dw_cursor_u32(&r->c);
	struct dw_cursor block;
	const uint8_t *at;

	dw_cursor_skip(&r->c, -dw_cursor_offset(&r->c) % ALIGNMENT);
	at = dw_cursor_bytes(&r->c, bytes);
	if (r->c.failed)
		return 0;
	dw_cursor_init(&block, at, bytes);
	if (is_type(t, "MetadataBlock"))
		return read_block(r, &block, true);
	return is_type(t, "EventBlock") ? read_block(r, &block, false) : 0;
}

/* Read the next object, behind its first byte. */
static int read_object(struct reader *r)
{
	struct type type;
	bool is_one = read_type(&r->c, &type);
	int rc = 0;

	if (r->c.failed)
		return 0;
	if (!is_one)
		return DWELL_ERR_FORMAT;
	if (type.reader > VERSION)
		return DWELL_ERR_UNSUPPORTED;
	if (is_type(&type, "Trace"))
		dw_cursor_skip(&r->c, TRACE_BYTES);
	else
		rc = read_content(r, &type);
	if (!rc && dw_cursor_u8(&r->c) != END_TAG && !r->c.failed)
		rc = DWELL_ERR_FORMAT;
	return rc;
}

int dw_nettrace_read(const void *bytes, size_t n, const char *provider, dw_nettrace_fn *fn,
		     void *ctx)
{
	struct reader r = {.provider = provider, .fn = fn, .ctx = ctx};
	const uint8_t *begins;
	int rc = 0;

	dw_cursor_init(&r.c, bytes, n);
	begins = dw_cursor_bytes(&r.c, sizeof BEGINS - 1);
	if (begins && memcmp(begins, BEGINS, sizeof BEGINS - 1))
		return DWELL_ERR_UNSUPPORTED;
	while (!rc && dw_cursor_left(&r.c)) {
		uint8_t tag = dw_cursor_u8(&r.c);

		if (tag == NULL_TAG)
			break;
		rc = tag == BEGIN_TAG ? read_object(&r) : DWELL_ERR_FORMAT;
	}
	dw_map_release(&r.ids);
	return rc;
}
