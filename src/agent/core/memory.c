/*
 * The agent's own memory; see memory.h.
 *
 * Pieces are powers of two of pages, at multiples of their size up to that of a huge page. They are
 * cut off the range one after the other; free ones of a size form a stack, linked by a word for
 * each page at the beginning of the range. All is done by single atomic words, so that a handler or
 * another thread may come in anywhere. Pages have rights only while they are in use, since limits
 * of data count those.
 *
 * A process that is measured no more goes over to a second range, what is left of the first: the
 * children of its forks get nothing of that one, which threads of its own may still use.
 */
#include "agent/core/memory.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"

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
	RANGES = 2,
	NO_ACCESS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
};

#define RESERVE_BYTES ((uint64_t)7 << 30)
#define SECOND_BYTES  ((uint64_t)64 << 20)

/* The link of a page in use that forks' children may lack: others may have mapped something there.
 */
#define APART UINT32_MAX

/* What compilers raise the stack's limit to, what unlimited ones come to here, and what the kernel
 * keeps free below a stack. */
#define STACK_RAISED ((uint64_t)64 << 20)
#define STACK_MOST   ((uint64_t)1 << 30)
#define STACK_GAP    ((uint64_t)1 << 20)

struct range {
	uint64_t base;
	uint64_t room;		/* pages reserved << 32 | pages cut off; atomic */
	uint64_t free[CLASSES]; /* count << 32 | page, 0 = none; atomic */
	uint64_t links_n;	/* pages of links that have rights, atomic */
	uint64_t links_end;	/* pages of links, atomic */
	uint32_t first;		/* page of the first piece */
};

static struct range ranges[RANGES];
static uint32_t in_use;		 /* index of the range that pieces are taken from, atomic */
static int64_t left = INT64_MAX; /* bytes that may come into use, atomic */
static bool is_unsure;		 /* something may be apart that has no link, atomic */

static struct range *now(void)
{
	return &ranges[__atomic_load_n(&in_use, __ATOMIC_ACQUIRE)];
}

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

/* Let @r have @bytes at @base. */
static void begin(struct range *r, uint64_t base, uint64_t bytes)
{
	uint64_t pages = bytes >> PAGE_SHIFT;

	r->base = base;
	r->links_end = r->first = (uint32_t)links_of(pages);
	r->room = pages << 32 | r->first;
}

void dw_memory_start(void)
{
	uint64_t bytes = ranges[0].base ? 0 : dw_memory_share(RESERVE_BYTES);
	void *base = NULL;

	while (bytes && !(base = dw_memory_reserve(bytes)))
		bytes = bytes / 2 & -(uint64_t)UNIT;
	if (bytes)
		begin(&ranges[0], (uint64_t)base, bytes);
}

static uint64_t address_of(const struct range *r, uint64_t page)
{
	return r->base + (page << PAGE_SHIFT);
}

/* Let @r end where it is in use, but for @keep pages, and give its links for more back. Where it
 * ended. */
static uint64_t shorten(struct range *r, uint64_t keep, uint64_t *ret_end)
{
	uint64_t room = __atomic_load_n(&r->room, __ATOMIC_RELAXED), links, links_end;

	do {
		*ret_end = (uint32_t)room + keep;
		if (*ret_end >= room >> 32)
			return *ret_end = room >> 32;
	} while (!__atomic_compare_exchange_n(&r->room, &room, *ret_end << 32 | (uint32_t)room,
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	links = links_of(*ret_end);
	links_end = __atomic_load_n(&r->links_end, __ATOMIC_RELAXED);
	while (links < links_end &&
	       !__atomic_compare_exchange_n(&r->links_end, &links_end, links, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (links < links_end)
		dw_sys_munmap((void *)address_of(r, links), (links_end - links) << PAGE_SHIFT);
	return room >> 32;
}

void dw_memory_give_back(uint64_t keep)
{
	struct range *r = now();
	uint64_t end, old = shorten(r, keep >> PAGE_SHIFT, &end);

	if (end < old)
		dw_sys_munmap((void *)address_of(r, end), (old - end) << PAGE_SHIFT);
}

uint64_t dw_memory_top(void)
{
	const struct range *r = now();

	return address_of(r, __atomic_load_n(&r->room, __ATOMIC_RELAXED) >> 32);
}

void *dw_memory_take_top(uint64_t bytes)
{
	struct range *r = now();
	uint64_t room = __atomic_load_n(&r->room, __ATOMIC_RELAXED);
	uint64_t pages = (bytes + PAGE_BYTES - 1) >> PAGE_SHIFT, end;

	do {
		end = (room >> 32) - pages;
		if (pages > room >> 32 || end < (uint32_t)room)
			return NULL;
	} while (!__atomic_compare_exchange_n(&r->room, &room, end << 32 | (uint32_t)room, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (void *)address_of(r, end);
}

void *dw_memory_take_at(uint64_t at, uint64_t bytes)
{
	struct range *r = now();
	uint64_t room = __atomic_load_n(&r->room, __ATOMIC_RELAXED);
	uint64_t page = (at - r->base) >> PAGE_SHIFT;
	uint64_t end = page + ((bytes + PAGE_BYTES - 1) >> PAGE_SHIFT);

	do {
		if (at < r->base || at % PAGE_BYTES || page < (uint32_t)room || end > room >> 32)
			return NULL;
	} while (!__atomic_compare_exchange_n(&r->room, &room, page << 32 | (uint32_t)room, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (end < room >> 32)
		dw_sys_munmap((void *)address_of(r, end), ((room >> 32) - end) << PAGE_SHIFT);
	return (void *)at;
}

/* The smallest class of pieces with @bytes; CLASSES = there is none. */
static uint32_t class_of(size_t bytes)
{
	uint32_t class = 0;

	while (class < CLASSES && (uint64_t)PAGE_BYTES << class < bytes)
		class ++;
	return class;
}

static uint32_t *link_of(const struct range *r, uint32_t page)
{
	return (uint32_t *)r->base + page;
}

/* Take a free piece. Its page, 0 = there is none. */
static uint32_t pop(struct range *r, uint32_t class)
{
	uint64_t head = __atomic_load_n(&r->free[class], __ATOMIC_ACQUIRE), next;

	while ((uint32_t)head) {
		next = ((head >> 32) + 1) << 32 |
		       __atomic_load_n(link_of(r, (uint32_t)head), __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(&r->free[class], &head, next, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	return 0;
}

/* Let the links of all pages up to @page be used. */
static bool open_links(struct range *r, uint32_t page)
{
	uint64_t n = links_of(page);

	if (n <= __atomic_load_n(&r->links_n, __ATOMIC_RELAXED))
		return true;
	if (dw_sys_mprotect((void *)r->base, n << PAGE_SHIFT, PROT_READ | PROT_WRITE))
		return false;
	__atomic_store_n(&r->links_n, n, __ATOMIC_RELAXED); /* fewer than others: once more */
	return true;
}

static void push(struct range *r, uint32_t page, uint32_t class)
{
	uint64_t head = __atomic_load_n(&r->free[class], __ATOMIC_RELAXED), next;

	do {
		__atomic_store_n(link_of(r, page), (uint32_t)head, __ATOMIC_RELAXED);
		next = head >> 32 << 32 | page;
	} while (!__atomic_compare_exchange_n(&r->free[class], &head, next, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

/* Cut a piece off the range. Its page, 0 = there is no room. */
static uint32_t cut(struct range *r, uint32_t class)
{
	uint64_t room = __atomic_load_n(&r->room, __ATOMIC_RELAXED);
	uint64_t pages = (uint64_t)1 << class, at;
	uint64_t align = class < ALIGN_CLASS ? pages : (uint64_t)1 << ALIGN_CLASS;

	do {
		at = ((uint32_t)room + align - 1) & -align;
		if (at + pages > room >> 32)
			return 0;
	} while (!__atomic_compare_exchange_n(&r->room, &room, (room >> 32) << 32 | (at + pages),
					      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (uint32_t)at;
}

void *dw_agent_addresses(size_t bytes)
{
	struct range *r = now();
	uint32_t class = class_of(bytes), page;

	if (class == CLASSES || !dw_agent_may_call())
		return NULL;
	page = pop(r, class);
	if (!page)
		page = cut(r, class);
	return page ? (void *)address_of(r, page) : NULL;
}

/* The page of a piece at @at in the range that pieces are taken from now, 0 = it is of another. */
static uint32_t page_of(const struct range *r, const void *at)
{
	uint64_t page = ((uint64_t)at - r->base) >> PAGE_SHIFT;

	return page < (uint32_t)__atomic_load_n(&r->room, __ATOMIC_RELAXED) ? (uint32_t)page : 0;
}

void dw_memory_apart(const void *at)
{
	struct range *r = now();
	uint32_t page = page_of(r, at);

	if (page && open_links(r, page))
		__atomic_store_n(link_of(r, page), APART, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&is_unsure, true, __ATOMIC_RELAXED);
}

/* Let forks' children have nothing of @r, which is all ours but for pieces that are apart. */
static void disinherit(const struct range *r)
{
	const uint32_t end = (uint32_t)r->room;
	uint32_t from = r->first;

	dw_syscall(SYS_madvise, r->base, r->links_end << PAGE_SHIFT, MADV_DONTFORK);
	for (uint32_t page = from; page <= end; page++) {
		if (page < end && (links_of(page) > r->links_n || *link_of(r, page) != APART))
			continue;
		if (page > from)
			dw_syscall(SYS_madvise, address_of(r, from),
				   (uint64_t)(page - from) << PAGE_SHIFT, MADV_DONTFORK);
		from = page + 1;
	}
}

void dw_memory_retire(void)
{
	struct range *r = now();
	uint64_t from, end;

	dw_memory_give_back(SECOND_BYTES);
	if (r != ranges || !r->base)
		return;
	end = shorten(r, 0, &from);
	begin(&ranges[1], address_of(r, from), (end - from) << PAGE_SHIFT);
	__atomic_store_n(&in_use, 1, __ATOMIC_RELEASE);
	if (!__atomic_load_n(&is_unsure, __ATOMIC_RELAXED))
		disinherit(r);
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & -(size_t)PAGE_BYTES;
}

void dw_memory_limit(uint64_t bytes)
{
	if (__atomic_load_n(&left, __ATOMIC_RELAXED) > (int64_t)bytes)
		__atomic_store_n(&left, (int64_t)bytes, __ATOMIC_RELAXED);
}

/* Count @bytes that come into use or, negative, are so no more. False: they are too many. */
static bool count(int64_t bytes)
{
	if (__atomic_load_n(&left, __ATOMIC_RELAXED) < bytes)
		return false;
	__atomic_fetch_sub(&left, bytes, __ATOMIC_RELAXED);
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
	struct range *r = now();
	uint32_t page = page_of(r, at);

	/* What was had before the second range began is kept: it may not be there, in a child. */
	if (!page || !dw_agent_may_call())
		return;
	if (dw_is_mapped(
		    dw_sys_mmap(at, whole_pages(bytes), PROT_NONE, NO_ACCESS | MAP_FIXED, -1, 0)) &&
	    open_links(r, page))
		push(r, page, class_of(bytes));
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
	if (got != at)
		__atomic_store_n(&is_unsure, true, __ATOMIC_RELAXED);
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
