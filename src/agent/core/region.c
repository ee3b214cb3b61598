/*
 * The region: the file through which this process and the collector talk.
 *
 * A file in the session's folder, made under a random name, filled by fallocate() before anything
 * is stored (a full tmpfs refuses then, instead of raising SIGBUS later), mapped shared; its
 * descriptor is closed at once, and opened again by name for each chunk. Of the header, most of
 * which most processes never use, pages are filled when they are wanted. The first close tells the
 * collector that the header stands. fallocate() past RLIMIT_FSIZE would raise SIGXFSZ, so the
 * limit is asked first; a soft one is lifted for the moment while the program has no other thread.
 * Limits: chunks are never given back.
 */
#include "agent/core/region-internal.h"

#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

#include <elf.h>
#include <errno.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { DWELL_CHUNK_BYTES_MAX = 64 << 20, DWELL_ALLOCATE_TRIES = 10, REFUSALS_MAX = 16 };

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden"))); /* by the linker */

struct dw_agent dw_agent;

static struct dw_region_header idle; /* where there is no region */

/* Give [from, to) of the file bytes by writing zeros, where nothing can be allocated otherwise. */
static int write_zeros(int fd, uint64_t from, uint64_t to)
{
	long n;

	for (; from < to; from += (uint64_t)n) {
		n = dw_syscall(SYS_pwrite64, fd, &idle,
			       to - from < sizeof(idle) ? to - from : sizeof(idle), from);
		if (n <= 0)
			return n ? (int)n : -ENOSPC;
	}
	return 0;
}

/* Allocate the file's bytes [from, to). 0 or -errno. */
static int fill(int fd, uint64_t from, uint64_t to)
{
	int error, tries = DWELL_ALLOCATE_TRIES;

	do
		error = (int)dw_syscall(SYS_fallocate, fd, 0, from, to - from);
	while (error == -EINTR && --tries);
	return error == -EOPNOTSUPP ? write_zeros(fd, from, to) : error;
}

/* Let the file be @to bytes long, what follows @from allocated; without that where @from is @to. 0
 * or -errno; no signal. */
static int allocate(int fd, uint64_t from, uint64_t to, bool may_lift)
{
	struct rlimit limit, lifted;
	bool lift;
	int error;

	if (dw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit))
		return -EFBIG;
	lift = limit.rlim_cur < to;
	if (lift && (!may_lift || limit.rlim_max < to))
		return -EFBIG;
	lifted = (struct rlimit){limit.rlim_max, limit.rlim_max};
	if (lift && dw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &lifted, 0))
		return -EFBIG;
	error = from < to ? fill(fd, from, to) : (int)dw_syscall(SYS_ftruncate, fd, to);
	if (lift)
		dw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &limit, 0);
	return error;
}

int dw_region_resize(int fd, uint64_t bytes)
{
	return allocate(fd, bytes, bytes, !dw_agent.is_started);
}

void *dw_map_file(void *at, uint64_t bytes, int fd, uint64_t offset)
{
	return dw_sys_mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
			   offset);
}

void *dw_map_memory(void *at, uint64_t bytes)
{
	return dw_sys_mmap(at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1,
			   0);
}

/* What of the header every process uses. */
static const struct part {
	size_t at, bytes;
} first_parts[] = {
	{0, offsetof(struct dw_region_header, chunks) + sizeof(struct dw_region_chunk)},
	{offsetof(struct dw_region_header, modules), sizeof(struct dw_region_module)},
	{offsetof(struct dw_region_header, answers), sizeof(struct dw_region_answer)},
	{offsetof(struct dw_region_header, mutes), offsetof(struct dw_region_mutes, keys)},
	{offsetof(struct dw_region_header, threads), 2 * sizeof(uint32_t)},
};

_Static_assert(sizeof(struct dw_region_header) <= DWELL_PAGE * 64 * DWELL_HEADER_WORDS,
	       "one bit for each page of the header");

/* The pages of the header that hold its bytes [@at, @at + @bytes). */
static void pages_of(size_t at, size_t bytes, size_t *first, size_t *end)
{
	*first = at / DWELL_PAGE;
	*end = (at + bytes + DWELL_PAGE - 1) / DWELL_PAGE;
}

static bool has_page(size_t page)
{
	return __atomic_load_n(&dw_agent.header_pages[page / 64], __ATOMIC_RELAXED) >> page % 64 &
	       1;
}

static void note_pages(size_t first, size_t end)
{
	for (; first < end; first++)
		__atomic_fetch_or(&dw_agent.header_pages[first / 64], 1ULL << first % 64,
				  __ATOMIC_RELAXED);
}

/* Allocate of a new file what every process uses of its header, and all that follows that. */
static int allocate_first(int fd, uint64_t bytes, bool may_lift)
{
	uint64_t header = dw_whole_pages(sizeof(struct dw_region_header));
	int error = allocate(fd, header, bytes, may_lift);
	size_t first, end;

	for (size_t i = 0; i < sizeof(dw_agent.header_pages) / sizeof(*dw_agent.header_pages); i++)
		dw_agent.header_pages[i] = 0;
	for (size_t i = 0; i < sizeof(first_parts) / sizeof(*first_parts) && !error; i++) {
		pages_of(first_parts[i].at, first_parts[i].bytes, &first, &end);
		error = fill(fd, first * DWELL_PAGE, end * DWELL_PAGE);
		note_pages(first, end);
	}
	return error;
}

/* Give pages [@first, @end) of the header at @header memory. */
static bool populate(const char *header, size_t first, size_t end)
{
	const uint64_t from = first * DWELL_PAGE, to = end * DWELL_PAGE;
	bool is_done = !dw_syscall(SYS_madvise, header + from, to - from, MADV_POPULATE_WRITE);
	int fd = is_done ? -ENOENT : dw_region_reopen();

	if (fd >= 0) {
		is_done = !fill(fd, from, to);
		dw_sys_close(fd);
	}
	if (is_done)
		note_pages(first, end);
	return is_done;
}

bool dw_region_have(const struct dw_region_header *header, const void *at, size_t bytes)
{
	size_t first, end;

	if (header == &idle)
		return !dw_agent_is_retired();
	pages_of((size_t)((const char *)at - (const char *)header), bytes, &first, &end);
	while (first < end && has_page(first))
		first++;
	return first == end || populate((const char *)header, first, end);
}

bool dw_agent_have(const void *at, size_t bytes)
{
	return dw_region_have(dw_agent_region(), at, bytes);
}

int dw_region_create(uint64_t bytes)
{
	uint64_t random = 0;
	struct stat st;
	int fd, error;

	if (dw_region_is_abandoned())
		return -EPIPE;
	if (dw_syscall(SYS_getrandom, &random, sizeof(random), 1 /* GRND_NONBLOCK */) < 0)
		random = dw_sys_now_ns() ^ (uint64_t)dw_sys_getpid() << 40;
	dw_agent.path[0] = '\0';
	if (!dw_text_append(dw_agent.path, sizeof(dw_agent.path), dw_agent.folder) ||
	    !dw_text_append(dw_agent.path, sizeof(dw_agent.path), "/") ||
	    !dw_text_append_number(dw_agent.path, sizeof(dw_agent.path), random, 16))
		return -ENAMETOOLONG;
	fd = dw_sys_open(dw_agent.path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	error = allocate_first(fd, bytes, true);
	if (!error)
		error = dw_sys_fstat(fd, &st);
	if (error) {
		dw_syscall(SYS_unlink, dw_agent.path);
		dw_sys_close(fd);
		return error;
	}
	dw_agent.device = st.st_dev;
	dw_agent.inode = st.st_ino;
	return fd;
}

/* The build-id among the notes of a segment. */
static void copy_build_id(const char *notes, size_t bytes, uint8_t maker[20])
{
	const Elf64_Nhdr *note = (const Elf64_Nhdr *)notes;

	if (bytes >= sizeof(*note) + 4 + 20 && note->n_type == NT_GNU_BUILD_ID &&
	    note->n_descsz == 20)
		memcpy(maker, notes + sizeof(*note) + 4, 20);
}

static void fill_maker(uint8_t maker[20])
{
	const char *base = (const char *)&__ehdr_start;
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(base + __ehdr_start.e_phoff);

	for (unsigned int i = 0; i < __ehdr_start.e_phnum; i++)
		if (segment[i].p_type == PT_NOTE)
			copy_build_id(base + segment[i].p_vaddr, segment[i].p_memsz, maker);
}

void dw_region_fill(struct dw_region_header *header, bool is_fork)
{
	fill_maker(header->maker);
	header->version = DWELL_REGION_VERSION;
	header->header_bytes = sizeof(*header);
	header->state = is_fork ? DWELL_REGION_RUNNING : DWELL_REGION_STARTING;
	header->pid = dw_agent.pid = dw_sys_getpid();
	header->parent_pid = (uint32_t)dw_syscall(SYS_getppid);
	header->is_fork = is_fork;
	header->start_ns = dw_sys_now_ns();
	header->bytes = dw_agent.bytes;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(header->magic, DWELL_REGION_MAGIC, sizeof(header->magic));
}

bool dw_region_start(void)
{
	struct dw_region_header *header;
	void *wiped;
	int fd;

	dw_agent.region = &idle;
	dw_memory_start();
	wiped = dw_map_memory(NULL, DWELL_PAGE);
	if (!dw_is_mapped(wiped))
		return false;
	dw_agent.wiped = wiped;
	if (dw_syscall(SYS_madvise, wiped, DWELL_PAGE, MADV_WIPEONFORK))
		return false;
	dw_agent.bytes = dw_whole_pages(sizeof(*header));
	fd = dw_region_create(dw_agent.bytes);
	if (fd < 0)
		return false;
	header = dw_map_file(NULL, dw_agent.bytes, fd, 0);
	if (dw_is_mapped(header)) {
		dw_region_fill(header, false);
		dw_agent.region = header;
		dw_agent.wiped->is_same_process = 1;
		dw_agent.is_on = true;
	} else {
		dw_syscall(SYS_unlink, dw_agent.path);
	}
	dw_sys_close(fd);
	return dw_agent.is_on;
}

int dw_region_reopen(void)
{
	struct stat st;
	int fd = dw_sys_open(dw_agent.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	if (!dw_sys_fstat(fd, &st) && st.st_dev == dw_agent.device && st.st_ino == dw_agent.inode)
		return fd;
	dw_sys_close(fd);
	return -ENOENT;
}

/* Make the file larger by @chunk and map that in the place of what is at @to; its pages as well,
 * where *@ret_is_populated becomes true. */
static bool extend(const struct dw_region_chunk *chunk, void *to, bool *ret_is_populated)
{
	bool is_mapped;
	int fd;

	*ret_is_populated = dw_region_window_map(chunk, to);
	if (*ret_is_populated)
		return true;
	fd = dw_region_reopen();
	if (fd < 0)
		return false;
	is_mapped = !allocate(fd, chunk->at, chunk->at + chunk->bytes, !dw_agent.is_started) &&
		    dw_is_mapped(dw_map_file(to, chunk->bytes, fd, chunk->at));
	dw_sys_close(fd);
	return is_mapped;
}

/* Add @chunk to the region and map it in the place of what is at @to, as extend() does. */
static bool add(const struct dw_region_chunk *chunk, void *to, bool *ret_is_populated)
{
	if (!dw_agent.is_on || dw_agent.chunk_n == DWELL_REGION_CHUNKS || !chunk->bytes ||
	    !dw_agent_have(&dw_agent.region->chunks[dw_agent.chunk_n], sizeof(*chunk)))
		return false;
	if (!extend(chunk, to, ret_is_populated)) {
		__atomic_fetch_add(&dw_agent.refusals, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&dw_agent.refusals, 0, __ATOMIC_RELAXED);
	dw_agent.chunks[dw_agent.chunk_n] = (struct dw_agent_chunk){to, *chunk};
	dw_agent.region->chunks[dw_agent.chunk_n] = *chunk;
	dw_agent.chunk_n++;
	dw_agent.bytes += chunk->bytes;
	dw_agent.region->bytes = dw_agent.bytes;
	__atomic_store_n(&dw_agent.region->chunk_n, dw_agent.chunk_n, __ATOMIC_RELEASE);
	return true;
}

bool dw_agent_may_grow(void)
{
	return __atomic_load_n(&dw_agent.refusals, __ATOMIC_RELAXED) < REFUSALS_MAX;
}

void *dw_agent_chunk(uint32_t kind, uint32_t module, size_t bytes, uint64_t *at)
{
	const struct dw_region_chunk chunk = {kind, module, dw_agent.bytes, dw_whole_pages(bytes)};
	bool is_populated;
	void *to = bytes > DWELL_CHUNK_BYTES_MAX ? NULL : dw_agent_addresses(chunk.bytes);

	*at = chunk.at;
	if (!to || add(&chunk, to, &is_populated))
		return to;
	dw_agent_addresses_free(to, chunk.bytes);
	return NULL;
}

bool dw_agent_chunk_at(uint32_t kind, size_t bytes, void *to)
{
	const struct dw_region_chunk chunk = {kind, 0, dw_agent.bytes, dw_whole_pages(bytes)};
	bool is_populated;

	if (!add(&chunk, to, &is_populated))
		return false;
	if (!is_populated)
		dw_syscall(SYS_madvise, to, chunk.bytes, MADV_POPULATE_WRITE);
	return true;
}

struct dw_region_header *dw_agent_region(void)
{
	return dw_agent.region && !dw_agent_is_retired() ? dw_agent.region : &idle;
}

bool dw_agent_is_on(void)
{
	return dw_agent.is_on;
}

void dw_agent_drop_n(uint32_t kind, int64_t n)
{
	__atomic_fetch_add(&dw_agent_region()->drops[kind], (uint64_t)n, __ATOMIC_RELAXED);
}

void dw_agent_drop(uint32_t kind)
{
	dw_agent_drop_n(kind, 1);
}

void dw_agent_off(uint32_t reason)
{
	dw_agent.is_on = false;
	dw_agent_region()->off_reason = reason;
	__atomic_store_n(&dw_agent_region()->state, DWELL_REGION_OFF, __ATOMIC_RELEASE);
}
