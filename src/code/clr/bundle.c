/*
 * Bundles; see bundle.h. The host has the place of the list before a mark of 32 bytes, 0 in a host
 * without files. The list is: versions, number of files, an id, from version 2 on places of two of
 * the files, then place, size and name of each, from version 6 on with the size when compressed.
 */
#include "code/clr/bundle.h"

#include "base/cursor.h"

#include <string.h>

enum {
	MARK_BYTES = 32,
	PLACE_BYTES = DWELL_BUNDLE_MARK_BYTES - MARK_BYTES,
	VERSION_WITH_PLACES = 2,
	PLACES_BYTES = 40,
	VERSION_WITH_PACKED = 6,
};

/* The mark (the SHA-256 of ".net core bundle"), each byte complemented, and so that compilers do
 * not undo it: dwell is no such host, nor may it look like one. */
static const volatile uint8_t complement[MARK_BYTES] = {
	0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c,
	0xfd, 0xeb, 0x28, 0x5f, 0xcd, 0xec, 0x0a, 0x46, 0x19, 0x10, 0x51,
	0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c, 0x95, 0x51};

static const uint8_t *find_mark(const void *bytes, size_t n)
{
	uint8_t mark[MARK_BYTES];

	for (int i = 0; i < MARK_BYTES; i++)
		mark[i] = (uint8_t)~complement[i];
	return memmem(bytes, n, mark, MARK_BYTES);
}

bool dw_bundle_is_host(const void *bytes, size_t n)
{
	return find_mark(bytes, n) != NULL;
}

bool dw_bundle_list_at(const void *bytes, size_t n, uint64_t *ret)
{
	const uint8_t *at =
		n > DWELL_BUNDLE_MARK_BYTES
			? find_mark((const uint8_t *)bytes + PLACE_BYTES, n - PLACE_BYTES)
			: NULL;
	struct dw_cursor c;

	if (!at)
		return false;
	dw_cursor_init(&c, at - PLACE_BYTES, PLACE_BYTES);
	*ret = dw_cursor_u64(&c);
	return *ret != 0;
}

/* The text at the cursor, which has its length before it; whether it is @name. */
static bool take_text(struct dw_cursor *c, const char *name)
{
	size_t bytes = dw_cursor_uleb(c);
	const uint8_t *text = dw_cursor_bytes(c, bytes);

	return text && strlen(name) == bytes && !memcmp(text, name, bytes);
}

bool dw_bundle_find(const void *list, size_t n, const char *name, struct dw_bundle_file *ret)
{
	struct dw_cursor c;
	uint32_t version, files;

	dw_cursor_init(&c, list, n);
	version = dw_cursor_u32(&c);
	dw_cursor_skip(&c, 4);
	files = dw_cursor_u32(&c);
	take_text(&c, "");
	if (version >= VERSION_WITH_PLACES)
		dw_cursor_skip(&c, PLACES_BYTES);
	for (uint32_t i = 0; i < files && !c.failed; i++) {
		ret->at = dw_cursor_u64(&c);
		ret->bytes = dw_cursor_u64(&c);
		ret->packed_bytes = version >= VERSION_WITH_PACKED ? dw_cursor_u64(&c) : 0;
		dw_cursor_skip(&c, 1);
		if (take_text(&c, name) && !c.failed)
			return true;
	}
	return false;
}
