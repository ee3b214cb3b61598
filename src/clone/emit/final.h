/*
 * Final code: what of an image runs when nothing is measured any more (wire/clone-image.h).
 */
#pragma once

#include "clone/emit/image-elf.h"

/* Append it to the image @b, which is whole but for its headers, and say so in @h. Errors as
 * dw_image_append(). */
int dw_image_append_final(struct dw_image_bytes *b, struct dw_clone_header *h);
