/*
 * What assemblies and bundles keep compressed: raw deflate, whose size is told beside it. Hostile
 * input. [any-thread]
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { DWELL_INFLATE_MAX = 64 << 20 }; /* bytes, more is refused */

/* The @n bytes that the @packed_n bytes at @packed stand for; the caller frees them. NULL = they
 * do not, or no memory. */
void *dw_inflate(const void *packed, size_t packed_n, uint64_t n);
