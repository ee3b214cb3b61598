/*
 * Expanding section contents that were compressed with zlib or zstd. Bytes come from hostile files.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Expand @raw, the contents of a section with SHF_COMPRESSED, its Elf64_Chdr included.
 * *@ret is the caller's to free() and has one NUL behind @ret_n bytes. 0; DWELL_ERR_FORMAT;
 * DWELL_ERR_UNSUPPORTED (another method); DWELL_ERR_LIMIT when it says to grow past @max bytes;
 * -ENOMEM.
 */
int dw_elf_expand(const uint8_t *raw, size_t raw_n, size_t max, uint8_t **ret, size_t *ret_n,
		  struct dw_error *err);
