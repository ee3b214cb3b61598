/*
 * A small ELF file around unwind sections, for tests that make those by hand.
 */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes as the pointer and the number that the functions below take. */
#define ELF_IMAGE_BYTES(...) \
	((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

/* Code is said to lie at [0, ELF_IMAGE_TEXT_BYTES), .eh_frame at ELF_IMAGE_EH. */
enum { ELF_IMAGE_EH = 512, ELF_IMAGE_TEXT_BYTES = 1 << 18 };

/* An image with both sections (NULL, 0: without). *@n = its size. To be freed; NULL: no memory. */
uint8_t *elf_image_make(const void *eh, size_t eh_n, const void *debug, size_t debug_n, size_t *n);

/*
 * Append a CIE for .eh_frame to @b: version 1, code in bytes, data in -8, return address in 16.
 * @letters  augmentation, @data its bytes. @program comes behind CFA = rsp + 8, RA at CFA - 8.
 * The CIE's offset.
 */
size_t elf_image_cie(struct dw_buf *b, const char *letters, const char *data,
		     const uint8_t *program, size_t n);

/* Append an FDE for [@start, @end) whose CIE, at @cie, says "zR" with data 3 (4 bytes, absolute).
 */
void elf_image_fde(struct dw_buf *b, size_t cie, uint32_t start, uint32_t end,
		   const uint8_t *program, size_t n);

/* As elf_image_cie() for .debug_frame: version 4, no augmentation. */
size_t elf_image_debug_cie(struct dw_buf *b, const uint8_t *program, size_t n);

/* As elf_image_fde() for .debug_frame. */
void elf_image_debug_fde(struct dw_buf *b, size_t cie, uint32_t start, uint32_t end,
			 const uint8_t *program, size_t n);
