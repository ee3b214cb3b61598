/*
 * Huge pages for large memory; see large.h. Whole ones only: what stands beside @p is not touched.
 */
#include "base/large.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_BYTES ((uintptr_t)2 << 20)

void dw_large_advise(void *p, size_t n)
{
	uintptr_t from = ((uintptr_t)p + HUGE_BYTES - 1) & -HUGE_BYTES;
	uintptr_t to = ((uintptr_t)p + n) & -HUGE_BYTES;

	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}
