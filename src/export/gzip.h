/*
 * Bytes to a sink through gzip, in pieces. One thread.
 */
#pragma once

#include "base/out.h"

#include <stddef.h>

struct dw_gzip;

/* Begin a file in @out (borrowed). NULL = no memory. */
struct dw_gzip *dw_gzip_new(struct dw_out *out);

/* Append @n bytes. */
void dw_gzip_put(struct dw_gzip *z, const void *p, size_t n);

/* End the file and free @z. NULL is fine. */
void dw_gzip_close(struct dw_gzip *z);
