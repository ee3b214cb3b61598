/* gzip; see gzip.h. The fastest level: profiles are large, and rarely kept. With a buffer of its
 * own deflate() cannot fail. */
#include "export/gzip.h"

#include <stdlib.h>
#include <zlib.h>

enum { BLOCK_BYTES = 64 * 1024, GZIP_WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8 };

struct dw_gzip {
	z_stream stream;
	struct dw_out *out;
	unsigned char block[BLOCK_BYTES];
};

struct dw_gzip *dw_gzip_new(struct dw_out *out)
{
	struct dw_gzip *z = calloc(1, sizeof *z);

	if (!z)
		return NULL;
	z->out = out;
	if (deflateInit2(&z->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

/* Compress what the stream has been given, to its end if @flush is Z_FINISH. */
static void drain(struct dw_gzip *z, int flush)
{
	do {
		z->stream.next_out = z->block;
		z->stream.avail_out = sizeof z->block;
		deflate(&z->stream, flush);
		dw_out_write(z->out, z->block, sizeof z->block - z->stream.avail_out);
	} while (!z->stream.avail_out);
}

void dw_gzip_put(struct dw_gzip *z, const void *p, size_t n)
{
	const unsigned char *at = p;

	while (n) {
		unsigned take = n < BLOCK_BYTES ? (unsigned)n : BLOCK_BYTES;

		z->stream.next_in = (unsigned char *)at;
		z->stream.avail_in = take;
		drain(z, Z_NO_FLUSH);
		at += take;
		n -= take;
	}
}

void dw_gzip_close(struct dw_gzip *z)
{
	if (!z)
		return;
	drain(z, Z_FINISH);
	deflateEnd(&z->stream);
	free(z);
}
