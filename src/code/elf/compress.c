/*
 * Compressed sections; see compress.h. Sources: gABI chapter "Section Compression", zlib and zstd
 * manuals. The size in the header is only a claim: the output must have exactly that many bytes.
 */
#include "code/elf/compress.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* No method shrinks more than this, so a larger claim is a lie (deflate: 1,032; zstd: 128 KB from a
 * block of 4 bytes). */
enum { MAX_RATIO = 65536 };

static bool expand_zlib(const uint8_t *in, size_t in_n, uint8_t *out, size_t out_n)
{
	uLongf got = out_n;

	return uncompress(out, &got, in, in_n) == Z_OK && got == out_n;
}

static bool expand_zstd(const uint8_t *in, size_t in_n, uint8_t *out, size_t out_n)
{
	size_t got = ZSTD_decompress(out, out_n, in, in_n);

	return !ZSTD_isError(got) && got == out_n;
}

int dw_elf_expand(const uint8_t *raw, size_t raw_n, size_t max, uint8_t **ret, size_t *ret_n,
		  struct dw_error *err)
{
	dw_auto_free uint8_t *out = NULL;
	Elf64_Chdr head;
	bool ok;

	if (raw_n < sizeof head)
		return dw_error_set(err, DWELL_ERR_FORMAT, "compressed section without a header");
	memcpy(&head, raw, sizeof head);
	raw += sizeof head;
	raw_n -= sizeof head;
	if (head.ch_type != ELFCOMPRESS_ZLIB && head.ch_type != ELFCOMPRESS_ZSTD)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "section compressed by method %u",
				    head.ch_type);
	if (head.ch_size > max)
		return dw_error_set(err, DWELL_ERR_LIMIT, "compressed section claims %#lx bytes",
				    head.ch_size);
	if (head.ch_size / MAX_RATIO > raw_n)
		return dw_error_set(err, DWELL_ERR_FORMAT, "compressed section claims too much");
	out = malloc(head.ch_size + 1);
	if (!out)
		return dw_error_set_errno(err, ENOMEM, "cannot expand a section");
	ok = head.ch_type == ELFCOMPRESS_ZLIB ? expand_zlib(raw, raw_n, out, head.ch_size)
					      : expand_zstd(raw, raw_n, out, head.ch_size);
	if (!ok)
		return dw_error_set(err, DWELL_ERR_FORMAT, "compressed section is damaged");
	out[head.ch_size] = 0;
	*ret = dw_take_ptr(out);
	*ret_n = head.ch_size;
	return 0;
}
