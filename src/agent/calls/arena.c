/*
 * Lines of trees; see arena.h.
 *
 * Addresses are reserved at the start, a part of what the limit of address space leaves where there
 * is one; chunks of the region are mapped over them in turn, each a quarter of what is there, so
 * that few are needed. Blocks are taken by one atomic addition.
 */
#include "agent/calls/arena.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

enum {
	BLOCK_LINES = 64,	      /* that a thread takes at a time: a page */
	CHUNK_BYTES_FIRST = 16 << 10, /* a process that does little has no other */
	CHUNK_BYTES_MIN = 64 << 10,   /* of later ones: their links are whole pages */
	CHUNK_BYTES_MAX = 32 << 20,
	PAGE_BYTES = 4096,
	WINDOW_MORE = 64 << 20, /* for lines of threads, beside the budget, and other chunks */
};

#define RESERVE_BYTES ((uint64_t)4 << 30)
#define GROW_TRIES    4

struct arena {
	uint64_t base;
	uint64_t links;	   /* address; one byte for DWELL_LINES_A_LINK */
	uint64_t reserved; /* bytes, as the next */
	uint64_t budget;   /* atomic */
	uint64_t threads;  /* beyond those that there was room for at the start, atomic */
	uint64_t mapped;   /* atomic; written inside dw_agent_enter() */
	uint32_t used;	   /* lines, atomic */
	uint32_t paths;	   /* among them, lines of drawn paths, atomic */
	uint32_t files;	   /* likewise of files */
};

static struct arena arena;

/* Of what is reserved nodes leave half of what is not in use yet. */
static void share_budget(void)
{
	uint64_t most = arena.mapped + (arena.reserved - arena.mapped) / 2;

	if (arena.budget > most)
		__atomic_store_n(&arena.budget, most, __ATOMIC_RELAXED);
}

/* Lines of @bytes and their links. */
static uint64_t with_links(uint64_t bytes)
{
	return bytes + bytes / DWELL_LINES_A_LINK;
}

bool dw_arena_start(uint64_t bytes)
{
	arena.reserved = dw_memory_share(bytes > RESERVE_BYTES / 2 ? bytes * 2 : RESERVE_BYTES);
	while (arena.reserved &&
	       !(arena.links = (uint64_t)dw_memory_reserve(with_links(arena.reserved))))
		arena.reserved = arena.reserved / 2 & -(uint64_t)CHUNK_BYTES_MIN;
	arena.base = arena.links + with_links(arena.reserved) - arena.reserved;
	arena.budget = bytes;
	share_budget();
	arena.used = 1; /* line 0 */
	dw_agent_region()->arena_base = arena.base;
	dw_agent_window(arena.budget + WINDOW_MORE);
	return arena.reserved;
}

void dw_arena_give_back(uint64_t keep)
{
	uint64_t end = (arena.mapped + keep + CHUNK_BYTES_MIN - 1) & -(uint64_t)CHUNK_BYTES_MIN;
	uint64_t links_end = arena.links + end / DWELL_LINES_A_LINK;

	if (end >= arena.reserved)
		return;
	dw_sys_munmap((void *)(arena.base + end), arena.reserved - end);
	if (links_end < arena.base)
		dw_sys_munmap((void *)links_end, arena.base - links_end);
	arena.reserved = end;
	share_budget();
}

void dw_arena_retire(void)
{
	dw_arena_give_back(0);
	if (dw_agent_is_alone()) { /* and in none of its lines */
		dw_sys_munmap((void *)arena.links, arena.reserved / DWELL_LINES_A_LINK);
		dw_sys_munmap((void *)arena.base, arena.reserved);
		arena.reserved = 0;
		return;
	}
	dw_syscall(SYS_madvise, arena.links, arena.reserved / DWELL_LINES_A_LINK, MADV_DONTFORK);
	dw_syscall(SYS_madvise, arena.base, arena.reserved, MADV_DONTFORK);
}

void dw_arena_extend(void)
{
	__atomic_fetch_add(&arena.threads, 1, __ATOMIC_RELAXED);
}

uint64_t dw_arena_base(void)
{
	return arena.base;
}

uint32_t *dw_arena_links(void)
{
	return (uint32_t *)arena.links;
}

/* Bytes of all lines after one is taken for @use, where drawn paths and files have @apart of them.
 */
static uint64_t room_for(enum dw_line_use use, uint64_t apart)
{
	static const uint64_t beside[] = {0, DWELL_ROOM_OTHER, DWELL_ROOM_OTHER, DWELL_ROOM_CELLS,
					  DWELL_ROOM_OTHER};
	static const uint64_t a_thread[] = {DWELL_ROOM_THREAD_NODES, DWELL_ROOM_THREAD,
					    DWELL_ROOM_THREAD, DWELL_ROOM_THREAD_CELLS,
					    DWELL_ROOM_THREAD};
	uint64_t more = __atomic_load_n(&arena.threads, __ATOMIC_RELAXED);
	uint64_t threads = more < DWELL_ROOM_THREADS ? more : DWELL_ROOM_THREADS;
	uint64_t budget = __atomic_load_n(&arena.budget, __ATOMIC_RELAXED);
	uint64_t told = __atomic_load_n(&dw_agent_region()->tree_room, __ATOMIC_RELAXED);
	uint64_t most = use == DWELL_LINE_NODE && told && told < budget ? told : budget;
	uint64_t bytes = most + beside[use] + threads * a_thread[use] + apart;
	uint64_t reserved = __atomic_load_n(&arena.reserved, __ATOMIC_RELAXED);

	if (use == DWELL_LINE_CELL) /* a share is kept even where there is little */
		reserved -= (reserved - budget) / 4;
	return bytes < reserved ? bytes : reserved;
}

/* Let the links of the first @bytes of lines be used. */
static bool open_links(uint64_t bytes)
{
	uint64_t end = (bytes / DWELL_LINES_A_LINK + PAGE_BYTES - 1) & -(uint64_t)PAGE_BYTES;

	return !dw_sys_mprotect((void *)arena.links, end, PROT_READ | PROT_WRITE);
}

/* Map one more chunk, at least to @end bytes. Inside dw_agent_enter(). */
static bool grow(uint64_t end)
{
	uint64_t mapped = arena.mapped, bytes = mapped / 4 & -(uint64_t)CHUNK_BYTES_MIN;
	uint64_t all = room_for(DWELL_LINE_OTHER, DWELL_ROOM_PATHS + DWELL_ROOM_FILES);

	bytes = !mapped			   ? CHUNK_BYTES_FIRST
		: mapped < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN - mapped
		: bytes < CHUNK_BYTES_MIN  ? CHUNK_BYTES_MIN
		: bytes > CHUNK_BYTES_MAX  ? CHUNK_BYTES_MAX
					   : bytes;
	if (mapped + bytes < end)
		bytes = (end - mapped + CHUNK_BYTES_MIN - 1) & -(uint64_t)CHUNK_BYTES_MIN;
	if (mapped + bytes > all)
		bytes = (all - mapped) & -(uint64_t)DWELL_LINE_BYTES * BLOCK_LINES;
	if (mapped + bytes < end || !open_links(mapped + bytes) ||
	    !dw_agent_chunk_at(DWELL_REGION_CHUNK_ARENA, bytes, (void *)(arena.base + mapped)))
		return false;
	__atomic_store_n(&arena.mapped, mapped + bytes, __ATOMIC_RELEASE);
	return true;
}

/* Map what lies below @end bytes. */
static bool make_room(uint64_t end)
{
	bool is_room;

	for (int i = 0; i < GROW_TRIES; i++) {
		if (__atomic_load_n(&arena.mapped, __ATOMIC_ACQUIRE) >= end)
			return true;
		if (!dw_agent_may_grow())
			return false;
		if (!dw_agent_is_self() || !dw_agent_enter())
			continue;
		is_room = arena.mapped >= end || grow(end);
		dw_agent_leave();
		if (!is_room)
			return false;
	}
	return false;
}

static uint64_t bytes_of(const uint32_t *lines)
{
	return (uint64_t)__atomic_load_n(lines, __ATOMIC_RELAXED) * DWELL_LINE_BYTES;
}

/* Whether lines before @end may be taken for @use. Paths and files have room of their own. */
static bool is_within(uint64_t end, enum dw_line_use use)
{
	uint64_t paths = bytes_of(&arena.paths), files = bytes_of(&arena.files);

	if ((use == DWELL_LINE_PATH && paths >= DWELL_ROOM_PATHS) ||
	    (use == DWELL_LINE_FILE && files >= DWELL_ROOM_FILES))
		return false;
	return end * DWELL_LINE_BYTES <= room_for(use, paths + files);
}

/* Take a block of @n lines from the arena. */
static bool take_block(struct dw_lines *lines, uint32_t n, enum dw_line_use use)
{
	uint32_t first = __atomic_load_n(&arena.used, __ATOMIC_RELAXED);

	do {
		uint64_t end = first + (uint64_t)n;

		if (!is_within(end, use) || !make_room(end * DWELL_LINE_BYTES))
			return false;
	} while (!__atomic_compare_exchange_n(&arena.used, &first, first + n, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*lines = (struct dw_lines){first, first + n};
	/* Published late by a thread that is overtaken: the next block says more. */
	if (dw_agent_region()->arena_lines < first + n)
		__atomic_store_n(&dw_agent_region()->arena_lines, first + n, __ATOMIC_RELEASE);
	return true;
}

uint32_t dw_arena_take(struct dw_lines *lines, uint32_t n, enum dw_line_use use)
{
	uint32_t line;

	if (lines->end - lines->next < n &&
	    !take_block(lines, n > BLOCK_LINES ? n : BLOCK_LINES, use))
		return 0;
	/* The block may have been taken for something that nodes must leave room for. */
	if (!is_within(lines->next + (uint64_t)n, use))
		return 0;
	line = lines->next;
	lines->next += n;
	if (use == DWELL_LINE_PATH)
		__atomic_fetch_add(&arena.paths, n, __ATOMIC_RELAXED);
	if (use == DWELL_LINE_FILE)
		__atomic_fetch_add(&arena.files, n, __ATOMIC_RELAXED);
	return line;
}

void dw_arena_forked(void)
{
	arena.mapped = 0;
	arena.used = 1;
	arena.paths = arena.files = 0;
	dw_agent_region()->arena_base = arena.base;
}
