/*
 * The page of a perf event that counts nothing.
 *
 * PERF_COUNT_SW_DUMMY needs no privilege at perf_event_paranoid 2 and below. The kernel writes its
 * page whenever the thread comes to a processor: twice the sequence counter `lock`. The mapping
 * keeps the event alive after its descriptor is closed; it is not inherited by a fork's child, and
 * pays into the user's limit of locked memory (perf_event_mlock_kb, RLIMIT_MEMLOCK).
 * Source: perf_event_open(2), linux/perf_event.h.
 */
#include "agent/core/bytes.h"
#include "agent/core/os-sources.h"
#include "agent/core/syscall-x86-64.h"

#include <linux/perf_event.h>

enum { PAGE_BYTES = 4096 };

static long open_event(void)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.type = PERF_TYPE_SOFTWARE;
	a.size = sizeof(a);
	a.config = PERF_COUNT_SW_DUMMY;
	a.exclude_kernel = 1;
	a.exclude_hv = 1;
	return dw_syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void *dw_os_perf_open(void *at, int *ret_error)
{
	long fd = open_event();
	void *page;

	*ret_error = fd < 0 ? (int)-fd : 0;
	if (fd < 0)
		return NULL;
	page = dw_sys_mmap(at, PAGE_BYTES, PROT_READ, MAP_SHARED | (at ? MAP_FIXED : 0), (int)fd,
			   0);
	dw_sys_close((int)fd);
	if (dw_is_mapped(page))
		return page;
	*ret_error = (int)-(long)page;
	return NULL;
}

void dw_os_perf_close(void *page)
{
	dw_sys_munmap(page, PAGE_BYTES);
}

const uint32_t *dw_os_perf_word(const void *page)
{
	return &((const struct perf_event_mmap_page *)page)->lock;
}
