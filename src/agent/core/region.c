/*
 * The region: the file through which this process and the collector talk.
 *
 * A file in the session's folder, made under a random name, filled by fallocate() before anything
 * is stored (a full tmpfs refuses then, instead of raising SIGBUS later), mapped shared; its
 * descriptor is closed at once. Of the header, most of which most processes never use, pages are
 * filled when they are wanted. The first close tells the collector that the header stands.
 * fallocate() past RLIMIT_FSIZE would raise SIGXFSZ, so the limit is asked first; a soft one is
 * lifted for the moment while the program has no other thread. Limits: chunks are never given back.
 *
 * It grows from a window, a part of the file that is mapped from the start and has holes there: a
 * piece is mapped a second time where it is wanted, and its pages are allocated by
 * MADV_POPULATE_WRITE, which fails where a full file system would raise SIGBUS later. So it grows
 * when its file cannot be opened any more: the program has become another user, has another root,
 * or no descriptors. Without a window (kernels before 5.14, a limit of address space) the file is
 * opened again by its name for each chunk.
 *
 * A fork's child goes on with its parent's mappings until its first slow path, which finds the
 * wiped page zeroed. Then it gets a file of its own, mapped over the parent's at the same
 * addresses, so that no pointer that is held anywhere changes; where that fails, zeroed memory that
 * nobody reads. What executes another program before that never makes a region.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <elf.h>
#include <errno.h>
#include <linux/kcmp.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	DWELL_CHUNK_BYTES_MAX = 64 << 20,
	DWELL_ALLOCATE_TRIES = 10, /* of what signals interrupt */
	REFUSALS_MAX = 16,
};

#define WINDOW_BYTES_MAX ((uint64_t)4 << 30)

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

/* The region's file, opened again, or -errno: also when the path leads elsewhere now. */
static int reopen(void)
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

/* Map the file's @bytes from @offset shared and writable; in the place of what is at @at, unless
 * that is NULL. dw_is_mapped() tells the result from -errno. */
static void *map_file(void *at, uint64_t bytes, int fd, uint64_t offset)
{
	return dw_sys_mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
			   offset);
}

static void *map_memory(void *at, uint64_t bytes)
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
	{offsetof(struct dw_region_header, disabled), offsetof(struct dw_region_disabled, keys)},
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
static bool populate_header(const char *header, size_t first, size_t end)
{
	const uint64_t from = first * DWELL_PAGE, to = end * DWELL_PAGE;
	bool is_done = !dw_syscall(SYS_madvise, header + from, to - from, MADV_POPULATE_WRITE);
	int fd = is_done ? -ENOENT : reopen();

	if (fd >= 0) {
		is_done = !fill(fd, from, to);
		dw_sys_close(fd);
	}
	if (is_done)
		note_pages(first, end);
	return is_done;
}

/* As dw_agent_have(), in the region's header that is mapped at @header. */
static bool have(const struct dw_region_header *header, const void *at, size_t bytes)
{
	size_t first, end;

	if (header == &idle)
		return !dw_agent_is_retired();
	pages_of((size_t)((const char *)at - (const char *)header), bytes, &first, &end);
	while (first < end && has_page(first))
		first++;
	return first == end || populate_header((const char *)header, first, end);
}

bool dw_agent_have(const void *at, size_t bytes)
{
	return have(dw_agent_region(), at, bytes);
}

/* Create the region's file, dw_agent.path, of @bytes, allocated but for parts of the header. Its
 * descriptor, or -errno and no file. */
static int create(uint64_t bytes)
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

/* Fill @header but for modules and chunks; its magic comes last. Also makes this process
 * dw_agent.pid. */
static void fill_header(struct dw_region_header *header, bool is_fork)
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
	wiped = map_memory(NULL, DWELL_PAGE);
	if (!dw_is_mapped(wiped))
		return false;
	dw_agent.wiped = wiped;
	if (dw_syscall(SYS_madvise, wiped, DWELL_PAGE, MADV_WIPEONFORK))
		return false;
	dw_agent.bytes = dw_whole_pages(sizeof(*header));
	fd = create(dw_agent.bytes);
	if (fd < 0)
		return false;
	header = map_file(NULL, dw_agent.bytes, fd, 0);
	if (dw_is_mapped(header)) {
		fill_header(header, false);
		dw_agent.region = header;
		dw_agent.wiped->is_same_process = 1;
		dw_agent.is_on = true;
	} else {
		dw_syscall(SYS_unlink, dw_agent.path);
	}
	dw_sys_close(fd);
	return dw_agent.is_on;
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

static int populate(void *at, uint64_t bytes)
{
	int error, tries = DWELL_ALLOCATE_TRIES;

	do
		error = (int)dw_syscall(SYS_madvise, at, bytes, MADV_POPULATE_WRITE);
	while (error == -EINTR && --tries);
	return error;
}

/* Map @bytes of the file behind what is in use, without rights: at @at, unless that is NULL. */
static void *map_window(void *at, int fd, uint64_t bytes)
{
	return dw_sys_mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0),
			   fd, dw_agent.bytes);
}

/* Whether addresses may be had freely. */
static bool has_space(void)
{
	struct rlimit space = {0, 0};

	return !dw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, &space) &&
	       space.rlim_cur == RLIM_INFINITY;
}

/* Let the file @fd have @bytes, with a hole at its end. 0 or -errno, no signal. */
static int resize(int fd, uint64_t bytes)
{
	return allocate(fd, bytes, bytes, !dw_agent.is_started);
}

void dw_agent_window(uint64_t bytes)
{
	void *at = NULL;
	int fd;

	bytes = bytes < WINDOW_BYTES_MAX ? dw_whole_pages(bytes) : WINDOW_BYTES_MAX;
	if (dw_agent.window.bytes || !has_space() || populate(dw_agent.region, DWELL_PAGE))
		return;
	fd = reopen();
	if (fd < 0)
		return;
	if (!resize(fd, dw_agent.bytes + bytes))
		at = map_window(NULL, fd, bytes);
	dw_sys_close(fd);
	if (at && dw_is_mapped(at))
		dw_agent.window = (struct dw_agent_window){at, dw_agent.bytes, bytes};
}

void dw_region_window_close(void)
{
	if (dw_agent.window.bytes)
		dw_sys_munmap(dw_agent.window.at, dw_agent.window.bytes);
	dw_agent.window.bytes = 0;
}

/* In a fork's child: let the window be one of its own file @fd, behind what is in use. */
static void remake_window(int fd)
{
	struct dw_agent_window *w = &dw_agent.window;

	if (!w->bytes)
		return;
	if (resize(fd, dw_agent.bytes + w->bytes) || !dw_is_mapped(map_window(w->at, fd, w->bytes)))
		dw_region_window_close();
	w->from = dw_agent.bytes;
}

/* Map @chunk from the window, allocated, in the place of what is at @to. False: it is not in the
 * window, or there is no room. */
static bool map_from_window(const struct dw_region_chunk *chunk, void *to)
{
	const struct dw_agent_window *w = &dw_agent.window;
	uint64_t offset = chunk->at - w->from;
	void *got;

	if (offset >= w->bytes || chunk->bytes > w->bytes - offset)
		return false;
	got = (void *)dw_syscall(SYS_mremap, (uint64_t)w->at + offset, 0, chunk->bytes,
				 MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (!dw_is_mapped(got))
		return false;
	if (!dw_sys_mprotect(to, chunk->bytes, PROT_READ | PROT_WRITE) &&
	    !populate(to, chunk->bytes))
		return true;
	dw_sys_mmap(to, chunk->bytes, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	return false;
}

/* Make the file larger by @chunk and map that in the place of what is at @to; its pages as well,
 * where *@ret_is_populated becomes true. */
static bool extend(const struct dw_region_chunk *chunk, void *to, bool *ret_is_populated)
{
	bool is_mapped;
	int fd;

	*ret_is_populated = map_from_window(chunk, to);
	if (*ret_is_populated)
		return true;
	fd = reopen();
	if (fd < 0)
		return false;
	is_mapped = !allocate(fd, chunk->at, chunk->at + chunk->bytes, !dw_agent.is_started) &&
		    dw_is_mapped(map_file(to, chunk->bytes, fd, chunk->at));
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

static void inherit_chunk(struct dw_region_header *header, uint32_t i)
{
	const struct dw_region_chunk *chunk = &dw_agent.chunks[i].chunk;

	header->chunks[i] = *chunk;
	if (chunk->kind == DWELL_REGION_CHUNK_COUNTS && header->modules[chunk->module].counts)
		header->modules[chunk->module].counts = chunk->at;
}

/* Copy the parent's modules and chunks, as they were at the fork, to the child's @header. */
static void inherit(struct dw_region_header *header)
{
	const struct dw_region_header *parent = dw_agent.region;

	for (uint32_t i = 0; i < dw_agent.module_n; i++) {
		header->modules[i] = parent->modules[i];
		if (header->modules[i].state == DWELL_MODULE_ASKED) /* by a thread left behind */
			header->modules[i].state = DWELL_MODULE_LATE;
	}
	header->module_n = dw_agent.module_n;
	header->system_calls_seen = parent->system_calls_seen;
	memcpy(header->probe_cost, parent->probe_cost, sizeof(header->probe_cost));
	header->pass_cost = parent->pass_cost;
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++)
		inherit_chunk(header, i);
	header->chunk_n = dw_agent.chunk_n;
}

/* Whether the child's @header has memory for what it gets of the parent. */
static bool has_room(const struct dw_region_header *header)
{
	return have(header, header->modules, dw_agent.module_n * sizeof(*header->modules)) &&
	       have(header, header->answers, dw_agent.module_n * sizeof(*header->answers)) &&
	       have(header, header->chunks, dw_agent.chunk_n * sizeof(*header->chunks));
}

/* Put the file's header and chunks in the place of the parent's. */
static bool replace(int fd)
{
	uint64_t bytes = dw_whole_pages(sizeof(struct dw_region_header));
	void *room = dw_agent_addresses(bytes);
	struct dw_region_header *header = room ? map_file(room, bytes, fd, 0) : NULL;
	bool is_whole = header && dw_is_mapped(header) && has_room(header);
	const struct dw_agent_chunk *chunk;

	if (is_whole) {
		inherit(header);
		fill_header(header, true);
		is_whole = dw_is_mapped(map_file(dw_agent.region, bytes, fd, 0));
	}
	/* Not before: the collector takes who has it not mapped for another process. */
	dw_agent_addresses_free(room, bytes);
	for (uint32_t i = 0; i < dw_agent.chunk_n && is_whole; i++) {
		chunk = &dw_agent.chunks[i];
		is_whole = dw_is_mapped(
			map_file(chunk->mapped, chunk->chunk.bytes, fd, chunk->chunk.at));
	}
	return is_whole;
}

/* Let go of the parent's region: this process is not measured. */
static void forsake(void)
{
	dw_agent.is_on = false;
	dw_region_window_close();
	map_memory(dw_agent.region, dw_whole_pages(sizeof(*dw_agent.region)));
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++)
		map_memory(dw_agent.chunks[i].mapped, dw_agent.chunks[i].chunk.bytes);
}

/*
 * Whether this task shares its memory with its parent: the child of a vfork() that a fork's child
 * called before its own first slow path.
 */
static bool is_borrower(void)
{
	long parent = dw_syscall(SYS_getppid);

	return parent != (long)dw_agent.pid &&
	       dw_syscall(SYS_kcmp, dw_sys_getpid(), parent, KCMP_VM, 0, 0) == 0;
}

/* The child's region has no arena yet: what follows its chunks moves up. */
static void leave_arena(void)
{
	uint32_t n = 0;

	dw_agent.bytes = dw_whole_pages(sizeof(*dw_agent.region));
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++) {
		if (dw_agent.chunks[i].chunk.kind == DWELL_REGION_CHUNK_ARENA)
			continue;
		dw_agent.chunks[n] = dw_agent.chunks[i];
		dw_agent.chunks[n++].chunk.at = dw_agent.bytes;
		dw_agent.bytes += dw_agent.chunks[i].chunk.bytes;
	}
	dw_agent.chunk_n = n;
}

/* This process is one of its own. */
static void become(void)
{
	dw_agent.pid = dw_sys_getpid();
	dw_agent.wiped->is_same_process = 1;
}

static void remake(void)
{
	int fd;
	bool is_whole;

	leave_arena();
	fd = dw_agent.is_on ? create(dw_agent.bytes) : -EPERM;
	is_whole = fd >= 0 && replace(fd);
	if (is_whole)
		remake_window(fd);

	if (!is_whole) {
		dw_agent_drop(DWELL_DROP_CHILDREN); /* in the parent's region */
		if (!dw_agent_is_over())
			dw_agent_drop(DWELL_DROP_CHILD_APART);
		forsake();
	}
	if (fd >= 0)
		dw_sys_close(fd);
	if (fd >= 0 && !is_whole)
		dw_syscall(SYS_unlink, dw_agent.path);
	become();
	if (is_whole)
		dw_agent_part.forked();
	else if (dw_agent_part.stranded)
		dw_agent_part.stranded();
}

void dw_agent_after_fork(void)
{
	if (!dw_agent.wiped || dw_agent.wiped->is_same_process)
		return;
	if (!dw_agent_may_call())
		dw_agent.is_on = false;
	if (!dw_agent_enter())
		return;
	if (!dw_agent.wiped->is_same_process && !is_borrower()) {
		if (dw_agent_is_retired()) /* as its parent, of which it has nothing to replace */
			become();
		else
			remake();
	}
	dw_agent_leave();
}
