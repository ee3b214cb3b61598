/*
 * The agent's own memory; see memory.h.
 *
 * Pieces are powers of two of pages, at multiples of their size up to that of a huge page. They are
 * cut off the range one after the other; free ones of a size form a stack, linked by a word for
 * each page at the beginning of the range. All is done by single atomic words, so that a handler or
 * another thread may come in anywhere. Pages have rights only while they are in use, since limits
 * of data count those.
 */
#include "agent/core/memory.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/syscall-x86-64.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	PAGE_SHIFT = 12,
	PAGE_BYTES = 1 << PAGE_SHIFT,
	CLASSES = 22,	  /* sizes: 1 << class pages */
	ALIGN_CLASS = 9,  /* pieces lie at multiples of this size at most */
	SPACE_SHARE = 32, /* of a limit of address space, for one reservation */
	UNIT = 256 << 10,
	LINKS_A_PAGE = PAGE_BYTES / sizeof(uint32_t),
	NO_ACCESS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
};

#define RESERVE_BYTES ((uint64_t)8 << 30)

/* What compilers raise the stack's limit to, what unlimited ones come to here, and what the kernel
 * keeps free below a stack. */
#define STACK_RAISED ((uint64_t)64 << 20)
#define STACK_MOST   ((uint64_t)1 << 30)
#define STACK_GAP    ((uint64_t)1 << 20)

struct memory {
	uint64_t base;
	uint64_t room;		/* pages reserved << 32 | pages cut off; atomic */
	uint64_t free[CLASSES]; /* count << 32 | page, 0 = none; atomic */
	uint64_t links_n;	/* pages of links that have rights, atomic */
	int64_t left;		/* bytes that may come into use, atomic */
};

static struct memory memory = {.left = INT64_MAX};

/* Pages for the links of @pages; page 0 is among them, so it is none. */
static uint64_t links_of(uint64_t pages)
{
	return pages / LINKS_A_PAGE + 1;
}

void *dw_memory_reserve(uint64_t bytes)
{
	void *at = dw_sys_mmap(NULL, bytes, PROT_NONE, NO_ACCESS, -1, 0);

	return dw_is_mapped(at) ? at : NULL;
}

static uint64_t stack;

void dw_memory_know_stack(uint64_t address)
{
	stack = address;
}

bool dw_memory_is_stack(uint64_t at, uint64_t bytes, bool is_raised)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	uint64_t room;

	dw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit);
	room = is_raised && limit.rlim_cur < STACK_RAISED ? STACK_RAISED : limit.rlim_cur;
	room = (room < STACK_MOST ? room : STACK_MOST) + STACK_GAP;
	return at < stack && at + bytes + room > stack;
}

uint64_t dw_memory_share(uint64_t bytes)
{
	struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY};

	dw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, &space);
	if (space.rlim_cur / SPACE_SHARE < bytes)
		bytes = space.rlim_cur / SPACE_SHARE;
	return bytes & -(uint64_t)UNIT;
}

void dw_memory_start(void)
{
	uint64_t bytes = memory.base ? 0 : dw_memory_share(RESERVE_BYTES);

	while (bytes && !(memory.base = (uint64_t)dw_memory_reserve(bytes)))
		bytes = bytes / 2 & -(uint64_t)UNIT;
	if (bytes)
		memory.room = bytes >> PAGE_SHIFT << 32 | links_of(bytes >> PAGE_SHIFT);
}

void dw_memory_give_back(uint64_t keep)
{
	uint64_t room = __atomic_load_n(&memory.room, __ATOMIC_RELAXED), end, links;

	do {
		end = (uint32_t)room + (keep >> PAGE_SHIFT);
		if (end >= room >> 32)
			return;
	} while (!__atomic_compare_exchange_n(&memory.room, &room, end << 32 | (uint32_t)room,
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	dw_sys_munmap((void *)(memory.base + (end << PAGE_SHIFT)), ((room >> 32) - end)
									   << PAGE_SHIFT);
	links = links_of(end);
	dw_sys_munmap((void *)(memory.base + (links << PAGE_SHIFT)), (links_of(room >> 32) - links)
									     << PAGE_SHIFT);
}

uint64_t dw_memory_top(void)
{
	return memory.base + (__atomic_load_n(&memory.room, __ATOMIC_RELAXED) >> 32 << PAGE_SHIFT);
}

void *dw_memory_take_top(uint64_t bytes)
{
	uint64_t room = __atomic_load_n(&memory.room, __ATOMIC_RELAXED);
	uint64_t pages = (bytes + PAGE_BYTES - 1) >> PAGE_SHIFT, end;

	do {
		end = (room >> 32) - pages;
		if (pages > room >> 32 || end < (uint32_t)room)
			return NULL;
	} while (!__atomic_compare_exchange_n(&memory.room, &room, end << 32 | (uint32_t)room,
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (void *)(memory.base + (end << PAGE_SHIFT));
}

/* The smallest class of pieces with @bytes; CLASSES = there is none. */
static uint32_t class_of(size_t bytes)
{
	uint32_t class = 0;

	while (class < CLASSES && (uint64_t)PAGE_BYTES << class < bytes)
		class ++;
	return class;
}

static uint32_t *link_of(uint32_t page)
{
	return (uint32_t *)memory.base + page;
}

/* Take a free piece. Its page, 0 = there is none. */
static uint32_t pop(uint32_t class)
{
	uint64_t head = __atomic_load_n(&memory.free[class], __ATOMIC_ACQUIRE), next;

	while ((uint32_t)head) {
		next = ((head >> 32) + 1) << 32 |
		       __atomic_load_n(link_of((uint32_t)head), __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&memory.free[class], &head, next, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	return 0;
}

/* Let the links of all pages up to @page be used. */
static bool open_links(uint32_t page)
{
	uint64_t n = links_of(page);

	if (n <= __atomic_load_n(&memory.links_n, __ATOMIC_RELAXED))
		return true;
	if (dw_sys_mprotect((void *)memory.base, n << PAGE_SHIFT, PROT_READ | PROT_WRITE))
		return false;
	__atomic_store_n(&memory.links_n, n, __ATOMIC_RELAXED); /* fewer than others: once more */
	return true;
}

static void push(uint32_t page, uint32_t class)
{
	uint64_t head = __atomic_load_n(&memory.free[class], __ATOMIC_RELAXED), next;

	do {
		__atomic_store_n(link_of(page), (uint32_t)head, __ATOMIC_RELAXED);
		next = head >> 32 << 32 | page;
	} while (!__atomic_compare_exchange_n(&memory.free[class], &head, next, false,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Cut a piece off the range. Its page, 0 = there is no room. */
static uint32_t cut(uint32_t class)
{
	uint64_t room = __atomic_load_n(&memory.room, __ATOMIC_RELAXED);
	uint64_t pages = (uint64_t)1 << class, at;
	uint64_t align = class < ALIGN_CLASS ? pages : (uint64_t)1 << ALIGN_CLASS;

	do {
		at = ((uint32_t)room + align - 1) & -align;
		if (at + pages > room >> 32)
			return 0;
	} while (!__atomic_compare_exchange_n(&memory.room, &room,
					      (room >> 32) << 32 | (at + pages), false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (uint32_t)at;
}

void *dw_agent_addresses(size_t bytes)
{
	uint32_t class = class_of(bytes), page;

	if (class == CLASSES || !dw_agent_may_call())
		return NULL;
	page = pop(class);
	if (!page)
		page = cut(class);
	return page ? (void *)(memory.base + ((uint64_t)page << PAGE_SHIFT)) : NULL;
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & -(size_t)PAGE_BYTES;
}

void dw_memory_limit(uint64_t bytes)
{
	if (__atomic_load_n(&memory.left, __ATOMIC_RELAXED) > (int64_t)bytes)
		__atomic_store_n(&memory.left, (int64_t)bytes, __ATOMIC_RELAXED);
}

/* Count @bytes that come into use or, negative, are so no more. False: they are too many. */
static bool count(int64_t bytes)
{
	if (__atomic_load_n(&memory.left, __ATOMIC_RELAXED) < bytes)
		return false;
	__atomic_fetch_sub(&memory.left, bytes, __ATOMIC_RELAXED);
	return true;
}

static bool open_pages(void *at, size_t bytes)
{
	return !dw_sys_mprotect(at, whole_pages(bytes), PROT_READ | PROT_WRITE);
}

static bool share_pages(void *at, size_t bytes)
{
	return dw_is_mapped(dw_sys_mmap(at, whole_pages(bytes), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

/* @bytes that @open has made usable. */
static void *allocate(size_t bytes, bool (*open)(void *at, size_t bytes))
{
	void *at;

	if (!count((int64_t)whole_pages(bytes)))
		return NULL;
	at = dw_agent_addresses(bytes);
	if (at && open(at, bytes))
		return at;
	/* Addresses that may not be used now are lost: that is rare, and later they may not either.
	 */
	count(-(int64_t)whole_pages(bytes));
	return NULL;
}

void *dw_agent_memory(size_t bytes)
{
	return allocate(bytes, open_pages);
}

void *dw_agent_memory_shared(size_t bytes)
{
	return allocate(bytes, share_pages);
}

void dw_agent_addresses_free(void *at, size_t bytes)
{
	uint32_t page = (uint32_t)(((uint64_t)at - memory.base) >> PAGE_SHIFT);

	if (!at || !dw_agent_may_call())
		return;
	if (dw_is_mapped(
		    dw_sys_mmap(at, whole_pages(bytes), PROT_NONE, NO_ACCESS | MAP_FIXED, -1, 0)) &&
	    open_links(page))
		push(page, class_of(bytes));
}

void dw_agent_memory_free(void *at, size_t bytes)
{
	if (at)
		count(-(int64_t)whole_pages(bytes));
	dw_agent_addresses_free(at, bytes);
}

bool dw_agent_addresses_take_back(void *at, size_t bytes)
{
	void *got = dw_sys_mmap(at, whole_pages(bytes), PROT_NONE, NO_ACCESS | MAP_FIXED_NOREPLACE,
				-1, 0);

	if (dw_is_mapped(got) && got != at) /* before Linux 4.17 */
		dw_sys_munmap(got, whole_pages(bytes));
	return got == at;
}

void *dw_agent_memory_more(void *old, size_t old_bytes, size_t bytes)
{
	const int64_t pages = (int64_t)whole_pages(bytes);
	void *at, *got = NULL;

	if (!old)
		return dw_agent_memory(bytes);
	if (!count(pages))
		return NULL;
	at = dw_agent_addresses(bytes);
	if (at)
		got = (void *)dw_syscall(SYS_mremap, old, whole_pages(old_bytes), pages,
					 MREMAP_MAYMOVE | MREMAP_FIXED, at);
	if (at && got == at) {
		count(-(int64_t)whole_pages(old_bytes));
		if (dw_agent_addresses_take_back(old, old_bytes))
			dw_agent_addresses_free(old, old_bytes);
		return at;
	}
	/* It is no single mapping, perhaps; what was at the new place may be gone by then. */
	if (at && dw_agent_addresses_take_back(at, bytes) && open_pages(at, bytes)) {
		memcpy(at, old, old_bytes);
		dw_agent_memory_free(old, old_bytes);
		return at;
	}
	count(-pages);
	return NULL;
}
