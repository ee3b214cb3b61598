/*
 * The region: the file through which this process and the collector talk.
 *
 * A file in the session's folder, made under a random name, filled by fallocate() before anything
 * is stored (a full tmpfs refuses then, instead of raising SIGBUS later), mapped shared; its
 * descriptor is closed at once, and opened again by name for each chunk. The first close tells the
 * collector that the header stands. fallocate() past RLIMIT_FSIZE would raise SIGXFSZ, so the
 * limit is asked first; a soft one is lifted for the moment while the program has no other thread.
 *
 * A fork's child goes on with its parent's mappings until its first slow path. Then it
 * gets a file of its own at the same addresses, so that no pointer that is held anywhere changes;
 * where that fails, zeroed memory of nobody. Limits: chunks are never given back.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/syscall-x86-64.h"

#include <errno.h>
#include <linux/kcmp.h>

enum {
	DWELL_PAGE = 4096,
	DWELL_REGION_BYTES_MAX = 64 << 20,
	DWELL_ALLOCATE_TRIES = 10,
	DWELL_ASK_NAME = 16, /* bytes that an ask's file name adds */
};

static const uint64_t quiet_limit_ns = 2000000000, whole_limit_ns = 30000000000;

static struct dw_region_header idle; /* where there is no region */

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + DWELL_PAGE - 1) & ~(uint64_t)(DWELL_PAGE - 1);
}

/* Allocate the file's bytes [from, to). 0 or -errno; no signal. */
static int allocate(int fd, uint64_t from, uint64_t to, bool may_lift)
{
	struct rlimit limit, lifted;
	bool lift;
	int error, tries = DWELL_ALLOCATE_TRIES;

	if (dw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit))
		return -EFBIG;
	lift = limit.rlim_cur < to;
	if (lift && (!may_lift || limit.rlim_max < to))
		return -EFBIG;
	lifted = (struct rlimit){limit.rlim_max, limit.rlim_max};
	if (lift && dw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &lifted, 0))
		return -EFBIG;
	do
		error = (int)dw_syscall(SYS_fallocate, fd, 0, from, to - from);
	while (error == -EINTR && --tries);
	if (lift)
		dw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &limit, 0);
	return error;
}

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

/* Create the region's file with @bytes allocated. Its descriptor, or -errno and no file. */
static int create(uint64_t bytes)
{
	uint64_t random = 0;
	struct stat st;
	int fd, error;

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
	error = allocate(fd, 0, bytes, true);
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

/* Fill @header but for what a fork's child copies; its magic comes last. */
static void fill_header(struct dw_region_header *header, bool is_fork)
{
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
	wiped = map_memory(NULL, DWELL_PAGE);
	if (!dw_is_mapped(wiped))
		return false;
	dw_agent.wiped = wiped;
	if (dw_syscall(SYS_madvise, wiped, DWELL_PAGE, MADV_WIPEONFORK))
		return false;
	dw_agent.bytes = whole_pages(sizeof(*header));
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

/* The region's file, opened again; -errno when the path leads elsewhere now. */
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

void *dw_agent_chunk(uint32_t kind, uint32_t module, size_t bytes, uint64_t *at)
{
	uint64_t from = dw_agent.bytes, size = whole_pages(bytes);
	struct dw_agent_chunk *chunk = &dw_agent.chunks[dw_agent.chunk_n];
	void *mapped = NULL;
	int fd;

	if (!dw_agent.is_on || dw_agent.chunk_n == DWELL_REGION_CHUNKS || !bytes ||
	    bytes > DWELL_REGION_BYTES_MAX || from + size > DWELL_REGION_BYTES_MAX)
		return NULL;
	fd = reopen();
	if (fd < 0)
		return NULL;
	if (!allocate(fd, from, from + size, !dw_agent.is_started))
		mapped = map_file(NULL, size, fd, from);
	dw_sys_close(fd);
	if (!mapped || !dw_is_mapped(mapped))
		return NULL;
	*chunk = (struct dw_agent_chunk){mapped, {kind, module, from, size}};
	dw_agent.chunk_n++;
	dw_agent.bytes += size;
	dw_agent.region->chunks[dw_agent.chunk_n - 1] = chunk->chunk;
	dw_agent.region->bytes = dw_agent.bytes;
	__atomic_store_n(&dw_agent.region->chunk_n, dw_agent.chunk_n, __ATOMIC_RELEASE);
	*at = from;
	return mapped;
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
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++)
		header->chunks[i] = dw_agent.chunks[i].chunk;
	header->chunk_n = dw_agent.chunk_n;
}

/* Put the file's header and chunks in the place of the parent's. */
static bool replace(int fd)
{
	struct dw_region_header *header = map_file(NULL, whole_pages(sizeof(*header)), fd, 0);
	bool is_whole = dw_is_mapped(header);
	const struct dw_agent_chunk *chunk;

	if (!is_whole)
		return false;
	inherit(header);
	fill_header(header, true);
	dw_sys_munmap(header, whole_pages(sizeof(*header)));
	is_whole = dw_is_mapped(map_file(dw_agent.region, whole_pages(sizeof(*header)), fd, 0));
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
	map_memory(dw_agent.region, whole_pages(sizeof(*dw_agent.region)));
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

static void remake(void)
{
	int fd = dw_agent.is_on ? create(dw_agent.bytes) : -EPERM;
	bool is_whole = fd >= 0 && replace(fd);

	if (!is_whole)
		forsake();
	if (fd >= 0)
		dw_sys_close(fd);
	if (fd >= 0 && !is_whole)
		dw_syscall(SYS_unlink, dw_agent.path);
	dw_agent.pid = dw_sys_getpid();
	dw_agent.wiped->is_same_process = 1;
	if (is_whole)
		dw_agent_part.forked();
}

void dw_agent_after_fork(void)
{
	if (dw_agent.is_filtered) {
		dw_agent.is_on = false;
		return;
	}
	if (!dw_agent_enter())
		return;
	if (!dw_agent.wiped->is_same_process && !is_borrower())
		remake();
	dw_agent_leave();
}

struct dw_region_header *dw_agent_region(void)
{
	return dw_agent.region ? dw_agent.region : &idle;
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

/* Wake the collector: a new file beside the region. */
static void ring(uint32_t i)
{
	char path[sizeof(dw_agent.path) + DWELL_ASK_NAME] = "";
	int fd;

	dw_text_append(path, sizeof(path), dw_agent.path);
	dw_text_append(path, sizeof(path), ".");
	dw_text_append_number(path, sizeof(path), i, 10);
	fd = dw_sys_open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		dw_sys_close(fd);
}

/* Wait until answers[@i] is final. Its state, as far as it has come. */
static uint32_t wait_for(uint32_t i)
{
	struct dw_region_answer *answer = &dw_agent.region->answers[i];
	uint64_t start = dw_sys_now_ns(), heard = start, now = start;
	uint32_t state, heartbeat = 0, beat;

	for (;;) {
		state = __atomic_load_n(&answer->state, __ATOMIC_ACQUIRE);
		beat = __atomic_load_n(&answer->heartbeat, __ATOMIC_RELAXED);
		if (beat != heartbeat)
			heard = now;
		heartbeat = beat;
		if (state >= DWELL_ANSWER_IMAGE || now - heard > quiet_limit_ns ||
		    now - start > whole_limit_ns)
			return state;
		dw_sys_sleep_ns(now - start < 5000000 ? 100000 : 1000000);
		now = dw_sys_now_ns();
	}
}

bool dw_agent_ask(uint32_t i, const char **path)
{
	struct dw_region_header *region = dw_agent.region;
	uint32_t answer;

	if (!dw_agent.is_on || i >= DWELL_REGION_MODULES)
		return false;
	__atomic_store_n(&region->modules[i].state, DWELL_MODULE_ASKED, __ATOMIC_RELEASE);
	if (dw_agent.module_n <= i)
		dw_agent.module_n = i + 1;
	__atomic_store_n(&region->module_n, dw_agent.module_n, __ATOMIC_RELEASE);
	ring(i);
	answer = wait_for(i);
	*path = region->answers[i].image;
	if (answer == DWELL_ANSWER_IMAGE)
		return true;
	region->modules[i].state =
		answer == DWELL_ANSWER_NONE ? DWELL_MODULE_NONE : DWELL_MODULE_LATE;
	return false;
}
