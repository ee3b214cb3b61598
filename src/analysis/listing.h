/*
 * Instructions of code that somebody has disassembled before, in AT&T's way.
 */
#pragma once

#include "analysis/disassembly.h"

#include <stddef.h>
#include <stdint.h>

/* The one that begins at @svma of @s, followed by where it ends. NULL: none does. */
const struct dw_listed *dw_listing_find(const struct dw_code_stretch *s, uint64_t svma);

/* Its bytes, 1 where there is none. */
size_t dw_listing_step(const struct dw_code_stretch *s, uint64_t svma);

/* Append its text, if that was listed. */
void dw_listing_put(const struct dw_code_stretch *s, uint64_t svma, struct dw_buf *to);
