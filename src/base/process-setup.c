/* Signals and memory of this process; see process-setup.h. */
#include "base/process-setup.h"

#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SIGNALS = 3 };

static const struct {
	int number;
	void (*action)(int);
} ours[SIGNALS] = {{SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}, {SIGCHLD, SIG_DFL}};

static struct sigaction before[SIGNALS];
static bool is_taken;

void dw_dispositions_take(void)
{
	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction action = {.sa_handler = ours[i].action};

		sigaction(ours[i].number, &action, &before[i]);
	}
	is_taken = true;
}

void dw_dispositions_restore(void)
{
	for (size_t i = 0; i < SIGNALS && is_taken; i++)
		sigaction(ours[i].number, &before[i], NULL);
}

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
