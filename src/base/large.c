/*
 * Huge pages for large memory; see large.h. Whole ones only: what stands beside @p is not touched.
 */
#include "base/large.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUGE_BYTES ((uintptr_t)2 << 20)
#define HEAP_BYTES (256 << 20) /* of addresses, at once */
#define MMAP_BYTES (32 << 20)  /* the most that malloc() takes from its heap */

void dw_large_advise(void *p, size_t n)
{
	uintptr_t from = ((uintptr_t)p + HUGE_BYTES - 1) & -HUGE_BYTES;
	uintptr_t to = ((uintptr_t)p + n) & -HUGE_BYTES;

	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Whether this process may have as many addresses as it likes. */
static bool is_unlimited(void)
{
	struct rlimit space, data;

	return !getrlimit(RLIMIT_AS, &space) && !getrlimit(RLIMIT_DATA, &data) &&
	       space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY;
}

void dw_large_heap(void)
{
	char *volatile p;
	char *end;

	if (!is_unlimited())
		return;
	mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_BYTES);
	mallopt(M_TOP_PAD, HEAP_BYTES);
	p = malloc(HUGE_BYTES); /* volatile: it is not left out for being of no use */
	if (!p) {		/* nor is there so much for anything else */
		mallopt(M_TOP_PAD, 0);
		return;
	}
	free(p);
	end = sbrk(0);
	dw_large_advise(end - HEAP_BYTES, HEAP_BYTES);
}
