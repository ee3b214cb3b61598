/*
 * An image that grows at its end, and what makes it an ELF file in the end.
 */
#pragma once

#include "base/vec.h"
#include "clone/emit/emit.h"

#include <stddef.h>
#include <stdint.h>

struct dw_image_bytes {
	DW_VEC(uint8_t) bytes;
};

/* Append @n bytes. 0, -ENOMEM, DWELL_ERR_LIMIT past 2 GB. */
int dw_image_append(struct dw_image_bytes *b, const void *bytes, size_t n);

/* Append zeros up to a multiple of @to, a page at most. Errors as dw_image_append(). */
int dw_image_align(struct dw_image_bytes *b, size_t to);

/*
 * Append symbols and section headers, pad to whole pages, append final code, and write to the start
 * the ELF header, the program headers, @h, completed by its size, and the head of the debuggers'
 * object. Errors as dw_image_append().
 */
int dw_image_add_elf(struct dw_image_bytes *b, const struct dw_image_parts *parts,
		     struct dw_clone_header *h);
