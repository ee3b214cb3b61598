/*
 * Inflating; see inflate.h. The size is a claim: it is held against what deflate can do at best
 * before memory is taken, and the output must have exactly that many bytes.
 */
#include "code/clr/inflate.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

enum { MAX_RATIO = 1032, RAW_WINDOW = -15 };

static bool expand(const void *packed, size_t packed_n, void *out, size_t n)
{
	z_stream z = {.next_in = (Bytef *)packed,
		      .avail_in = (uInt)packed_n,
		      .next_out = out,
		      .avail_out = (uInt)n};
	int rc;

	if (inflateInit2(&z, RAW_WINDOW) != Z_OK)
		return false;
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.total_out == n;
}

void *dw_inflate(const void *packed, size_t packed_n, uint64_t n)
{
	dw_auto_free void *out = NULL;

	if (!n || n > DWELL_INFLATE_MAX || packed_n > DWELL_INFLATE_MAX || n / MAX_RATIO > packed_n)
		return NULL;
	out = malloc(n);
	return out && expand(packed, packed_n, out, n) ? dw_take_ptr(out) : NULL;
}
