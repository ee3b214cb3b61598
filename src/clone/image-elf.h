/*
 * The image as an ELF file: what debuggers and unwinders read that open the clones' "module".
 */
#pragma once

#include "clone/image.h"

/* An image that grows at its end. */
struct dw_image_bytes {
	DW_VEC(uint8_t) bytes;
};

/* Append @n bytes. 0, -ENOMEM, DWELL_ERR_LIMIT past 2 GB. */
int dw_image_append(struct dw_image_bytes *b, const void *bytes, size_t n);

/* Append zeros up to a multiple of @to. Errors as dw_image_append(). */
int dw_image_align(struct dw_image_bytes *b, size_t to);

/*
 * Append symbols and section headers, pad to whole pages, and write the ELF header, the program
 * headers and @h, completed by its size, to the start. Errors as dw_image_append().
 */
int dw_image_add_elf(struct dw_image_bytes *b, const struct dw_image_parts *parts,
		     struct dw_clone_header *h);
