/* What wasi-libc lacks; see wasm-libc.h. */
#include "page/wasm-libc.h"

#include <string.h>

const char *strerrordesc_np(int code)
{
	return strerror(code);
}

static void swap(char *a, char *b, size_t size)
{
	while (size--) {
		char c = *a;

		*a++ = *b;
		*b++ = c;
	}
}

/* Let @i of the heap of @n sink until it is not before what is below it. */
static void sink(char *v, size_t i, size_t n, size_t size,
		 int (*compare)(const void *, const void *, void *), void *ctx)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && compare(v + child * size, v + (child + 1) * size, ctx) < 0)
			child++;
		if (compare(v + i * size, v + child * size, ctx) >= 0)
			return;
		swap(v + i * size, v + child * size, size);
	}
}

/* By a heap, which needs no memory. */
void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
	     void *ctx)
{
	char *v = base;

	for (size_t i = n / 2; i--;)
		sink(v, i, n, size, compare, ctx);
	while (n > 1) {
		swap(v, v + --n * size, size);
		sink(v, 0, n, size, compare, ctx);
	}
}
