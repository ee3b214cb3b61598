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

static const uint8_t mark[MARK_BYTES] = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38,
					 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
					 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18,
					 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

bool dw_bundle_list_at(const void *bytes, size_t n, uint64_t *ret)
{
	const uint8_t *at = n > DWELL_BUNDLE_MARK_BYTES
				    ? memmem((const uint8_t *)bytes + PLACE_BYTES, n - PLACE_BYTES,
					     mark, MARK_BYTES)
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
