/* What wasi-libc lacks of the C library that all else is written for; included before all else. */
#pragma once

#include <stddef.h>

/* What the error @code means. Static. */
const char *strerrordesc_np(int code);

/* Sort @n elements of @size bytes at @base. */
void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
	     void *ctx);
