/*
 * Changes of the address space at random, by many threads at once: address-space SEED COUNT
 * LIBRARY...
 *
 * Each thread has three areas of its own. Two lie where the kernel puts what may lie anywhere. What
 * the thread unmaps in the first is the next place that others would get: its holes are smaller
 * than anything that the C library maps, and never neighbours. Those of the second are larger than
 * a library, and lie within 2 GB of those: for what the C library maps there is a gap above them,
 * made at the start, which is large enough for all of it at once and which the kernel therefore
 * prefers. The third area lies far below, and anything may happen there. Beside that they move the
 * program's break, set limits, fork, execute, open and close libraries, and start threads. A line
 * for each sequence and thread says what came of it, by hashes of results, errors, contents and
 * permissions: the same in each run with the same seed. With ADDRESS_SPACE_LOG set, stderr has all
 * of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#include <malloc.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	PAGE = 4096,
	THREADS = 8,
	STEPS = 150,
	SLOTS = 64,
	SLOT_PAGES = 8,	       /* of the area for holes, of which HOLE_PAGES may go */
	HOLE_PAGES = 4,	       /* less than a library or a stack */
	WIDE_SLOT_PAGES = 256, /* of the area for large holes, of which WIDE_PAGES may go */
	WIDE_PAGES = 192,
	FAR_PAGES = 512,      /* of a slot far below */
	GAP_BYTES = 32 << 20, /* for what the C library maps: some 14 MB */
	STACK_BYTES = 256 << 10,
	AREAS = 3,
	LINE = 256,
	MAPS = 1 << 20,
};

/* Of a small area and a wide one, with a page before each. */
#define NEAR_BYTES (PAGE + (size_t)SLOTS * SLOT_PAGES * PAGE)
#define ROOM_BYTES (NEAR_BYTES + PAGE + (size_t)SLOTS * WIDE_SLOT_PAGES * PAGE)

#define FAR_BASE  0x100000000000ull
#define FAR_EVERY 0x001000000000ull

struct area {
	char *base;
	unsigned int slot_pages, pages; /* of a slot, and what of it may change */
};

struct runner {
	pthread_t thread;
	int number;
	uint64_t random, hash;
	struct area areas[AREAS];
	char *maps;
	bool is_child; /* of fork(): no locks, no libraries */
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int file;
static bool has_log;
static char **libraries;
static int libraries_n;
static const char *self;
static char *room; /* for areas, by thread; one is of executed children */
static volatile unsigned int sink;

static unsigned int pick(struct runner *r, unsigned int n)
{
	uint64_t z = r->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (unsigned int)((z ^ z >> 31) >> 16) % n;
}

static void add(struct runner *r, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r->hash = (r->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

/* What has happened, the same in each run. */
__attribute__((format(printf, 2, 3))) static void tell(struct runner *r, const char *format, ...)
{
	char line[LINE];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	add(r, line, (size_t)n);
	if (has_log)
		dprintf(2, "%d%s %s\n", r->number, r->is_child ? "c" : "", line);
}

/* A range of pages in one slot, changed by what is done next. */
struct place {
	const struct area *area;
	char *at;
	size_t bytes;
	long offset; /* from the area's base */
};

static struct place choose(struct runner *r)
{
	struct place p = {.area = &r->areas[pick(r, AREAS)]};
	unsigned int first = pick(r, p.area->pages);
	unsigned int n = pick(r, p.area->pages - first) + 1;

	p.offset = ((long)pick(r, SLOTS) * p.area->slot_pages + first) * PAGE;
	p.at = p.area->base + p.offset;
	p.bytes = (size_t)n * PAGE;
	return p;
}

/* 0, or the error of the call that has had @result. */
static int error_of(long result)
{
	return result == -1 ? errno : 0;
}

static const int rights[] = {PROT_NONE,
			     PROT_READ,
			     PROT_READ | PROT_WRITE,
			     PROT_READ | PROT_WRITE,
			     PROT_READ | PROT_WRITE,
			     PROT_READ | PROT_EXEC};

static int pick_rights(struct runner *r)
{
	return rights[pick(r, sizeof rights / sizeof *rights)];
}

static void step_map(struct runner *r)
{
	struct place p = choose(r);
	int prot = pick_rights(r), way = (int)pick(r, 4);
	int flags = pick(r, 3) ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	off_t offset = (off_t)pick(r, 4) * PAGE;
	char *got;

	flags |= way == 3 ? MAP_SHARED : MAP_PRIVATE;
	got = mmap(p.at, p.bytes, prot, flags | (way < 2 ? MAP_ANONYMOUS : 0), way < 2 ? -1 : file,
		   way < 2 ? 0 : offset);
	tell(r, "mmap %d %lx %zx %d %x: %d", way, p.offset, p.bytes, prot, flags,
	     got == p.at ? 0 : error_of(-1));
	if (got == p.at && prot & PROT_WRITE && way < 3)
		memset(got, (int)pick(r, 255) + 1, p.bytes);
}

static void step_unmap(struct runner *r)
{
	struct place p = choose(r);

	tell(r, "munmap %lx %zx: %d", p.offset, p.bytes, error_of(munmap(p.at, p.bytes)));
}

static void step_protect(struct runner *r)
{
	struct place p = choose(r);
	int prot = pick_rights(r);

	tell(r, "mprotect %lx %zx %d: %d", p.offset, p.bytes, prot,
	     error_of(mprotect(p.at, p.bytes, prot)));
}

/* Map @bytes at @p, one mapping: others have been split and joined by the kernel as it likes. */
static void renew(struct runner *r, const struct place *p, size_t bytes)
{
	if (mmap(p->at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == p->at)
		memset(p->at, (int)pick(r, 255) + 1, bytes);
}

static void step_move(struct runner *r)
{
	struct place from = choose(r), to = choose(r);
	size_t bytes = from.bytes < to.bytes ? from.bytes : to.bytes;
	void *got;

	if (from.at < to.at + bytes && to.at < from.at + bytes)
		return;
	renew(r, &from, bytes);
	got = mremap(from.at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to.at);
	tell(r, "mremap %lx %zx %lx: %d", from.offset, bytes, to.offset,
	     error_of(got == MAP_FAILED ? -1 : 0));
}

static void step_resize(struct runner *r)
{
	struct place p = choose(r);
	size_t old = (pick(r, (unsigned int)(p.bytes / PAGE)) + 1) * PAGE;
	void *got;

	renew(r, &p, old);
	got = mremap(p.at, old, p.bytes, 0);
	tell(r, "mremap %lx %zx %zx: %d", p.offset, old, p.bytes,
	     error_of(got == MAP_FAILED ? -1 : 0));
}

static void step_advise(struct runner *r)
{
	static const int advice[] = {MADV_DONTNEED, MADV_NORMAL, MADV_WILLNEED};
	struct place p = choose(r);
	int what = advice[pick(r, 3)];

	tell(r, "madvise %lx %zx %d: %d", p.offset, p.bytes, what,
	     error_of(madvise(p.at, p.bytes, what)));
}

/* Contents, as far as they may be read. */
static void step_read(struct runner *r)
{
	struct place p = choose(r);
	char page[PAGE];
	uint64_t before = r->hash;

	for (size_t at = 0; at < p.bytes; at += PAGE) {
		struct iovec to = {page, PAGE}, from = {p.at + at, PAGE};
		long n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
		int error = error_of(n);

		add(r, &error, sizeof error);
		add(r, page, n > 0 ? (size_t)n : 0);
	}
	tell(r, "read %lx %zx: %d", p.offset, p.bytes, before != r->hash);
}

/* What is mapped where in area @i, and with which rights: neighbours are one, as the kernel may
 * have split them. */
static void tell_maps(struct runner *r, int i)
{
	unsigned long base = (unsigned long)r->areas[i].base, from, to, first = 0, last = 0;
	unsigned long all = base + (unsigned long)SLOTS * r->areas[i].slot_pages * PAGE;
	char mode[5], before[5] = "";

	for (char *line = r->maps, *end; (end = strchr(line, '\n')); line = end + 1) {
		if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) != 3 || to <= base || from >= all)
			continue;
		from = from > base ? from - base : 0;
		to = (to < all ? to : all) - base;
		if (*before && (from != last || strcmp(mode, before)))
			tell(r, "maps %d %lx-%lx %s", i, first, last, before);
		if (!*before || from != last || strcmp(mode, before))
			first = from;
		last = to;
		memcpy(before, mode, sizeof before);
	}
	tell(r, "maps %d %lx-%lx %s", i, first, last, before);
}

static void step_maps(struct runner *r)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), n = 0, more;

	while ((more = (int)read(fd, r->maps + n, (size_t)(MAPS - 1 - n))) > 0)
		n += more;
	close(fd);
	r->maps[n] = 0;
	for (int i = 0; i < AREAS; i++)
		tell_maps(r, i);
}

static void step_break(struct runner *r)
{
	long bytes = (long)(pick(r, 64) + 1) * PAGE;
	char *at;

	pthread_mutex_lock(&turn);
	at = sbrk(bytes);
	if (at != (char *)-1) {
		memset(at, 0x5a, (size_t)bytes);
		tell(r, "sbrk %ld: %d", bytes, at[bytes - 1]);
		sbrk(-bytes);
	} else {
		tell(r, "sbrk %ld: error %d", bytes, errno);
	}
	pthread_mutex_unlock(&turn);
}

static void step_limit(struct runner *r)
{
	static const int what[] = {RLIMIT_AS, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE};
	static const rlim_t to[] = {12ull << 30, 64ull << 30, 12ull << 30, 4 << 20, 200};
	unsigned int i = pick(r, sizeof what / sizeof *what), way = pick(r, 3);
	struct rlimit old, new, got = {0, 0};
	int error;

	pthread_mutex_lock(&turn);
	getrlimit(what[i], &old);
	new = (struct rlimit){to[i] < old.rlim_max ? to[i] : old.rlim_max, old.rlim_max};
	error = error_of(way == 0   ? setrlimit(what[i], &new)
			 : way == 1 ? prlimit(0, what[i], &new, NULL)
				    : syscall(SYS_prlimit64, 0, what[i], &new, NULL));
	getrlimit(what[i], &got);
	tell(r, "limit %d %llu: %d %llu", what[i], (unsigned long long)new.rlim_cur, error,
	     (unsigned long long)got.rlim_cur);
	setrlimit(what[i], &old);
	pthread_mutex_unlock(&turn);
}

static void step_some(struct runner *r, int n);

static void tell_status(struct runner *r, const char *what, int error, pid_t pid)
{
	int status = 0;

	if (!error)
		waitpid(pid, &status, 0);
	tell(r, "%s: %d %x", what, error, status);
}

static void step_fork(struct runner *r)
{
	unsigned int n = pick(r, 20);
	pid_t pid = fork();

	if (!pid) {
		r->is_child = true;
		step_some(r, (int)n);
		_exit((int)(r->hash & 0x7f));
	}
	tell_status(r, "fork", error_of(pid), pid);
}

/* Execute by vfork(). The child, -1 = there is none. */
__attribute__((noinline)) static pid_t execute(char *const *argv)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(self, argv);
		_exit(99);
	}
	return pid;
}

static void step_exec(struct runner *r)
{
	extern char **environ;
	char seed[24];
	char *argv[] = {(char *)self, (char *)"child", seed, NULL};
	int error = 0;
	pid_t pid;

	sprintf(seed, "%u", pick(r, 1000));
	if (pick(r, 2)) {
		error = posix_spawn(&pid, self, NULL, NULL, argv, environ);
	} else {
		pid = execute(argv);
		error = error_of(pid);
	}
	tell_status(r, "exec", error, pid);
}

static void step_library(struct runner *r)
{
	unsigned int i = pick(r, (unsigned int)libraries_n), n = pick(r, 9);
	void *library = dlopen(libraries[i], pick(r, 2) ? RTLD_NOW : RTLD_LAZY);
	int (*function)(int) = library ? (int (*)(int))dlsym(library, "library_work") : NULL;

	tell(r, "library %u: %d", i, function ? function((int)n) : -1);
	if (library)
		tell(r, "dlclose %d", dlclose(library));
}

__attribute__((noinline)) static int deep(int n)
{
	sink++;
	return n ? deep(n - 1) + 1 : 0;
}

static void *in_thread(void *ctx)
{
	deep(*(int *)ctx);
	return NULL;
}

static void step_thread(struct runner *r)
{
	int depth = (int)pick(r, 2000);
	pthread_t thread;
	pthread_attr_t attr;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	error = pthread_create(&thread, &attr, in_thread, &depth);
	if (!error)
		pthread_join(thread, NULL);
	tell(r, "thread %d: %d", depth, error);
}

static void step(struct runner *r)
{
	static void (*const often[])(struct runner *) = {
		step_map,    step_map,	  step_map,   step_map,	    step_unmap,
		step_unmap,  step_unmap,  step_unmap, step_protect, step_move,
		step_resize, step_advise, step_read,  step_read,
	};
	static void (*const seldom[])(struct runner *) = {
		step_break,  step_limit, step_library, step_library,
		step_thread, step_maps,	 step_fork,    step_exec,
	};
	bool is_often = r->is_child || pick(r, 8);

	(is_often ? often[pick(r, sizeof often / sizeof *often)]
		  : seldom[pick(r, sizeof seldom / sizeof *seldom)])(r);
}

static void step_some(struct runner *r, int n)
{
	for (int i = 0; i < n; i++)
		step(r);
}

/* Map @a at @at, behind a page that stays: what is free there would make the first hole larger. */
static bool open_near(struct area *a, char *at)
{
	a->base = at + PAGE;
	return mmap(a->base, (size_t)SLOTS * a->slot_pages * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == a->base;
}

/* The areas as they are at the beginning. */
static bool open_areas(struct runner *r)
{
	struct area *near = &r->areas[0], *wide = &r->areas[1], *far = &r->areas[2];
	size_t far_bytes = (size_t)SLOTS * FAR_PAGES * PAGE;
	char *at = room + (size_t)r->number * ROOM_BYTES;

	*near = (struct area){.slot_pages = SLOT_PAGES, .pages = HOLE_PAGES};
	*wide = (struct area){.slot_pages = WIDE_SLOT_PAGES, .pages = WIDE_PAGES};
	*far = (struct area){(char *)(FAR_BASE + (uint64_t)r->number * FAR_EVERY), FAR_PAGES,
			     FAR_PAGES};
	return open_near(near, at) && open_near(wide, at + NEAR_BYTES) &&
	       mmap(far->base, far_bytes, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
		    0) == far->base;
}

static void close_areas(struct runner *r)
{
	mmap(room + (size_t)r->number * ROOM_BYTES, ROOM_BYTES, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	munmap(r->areas[2].base, (size_t)SLOTS * FAR_PAGES * PAGE);
}

/* Make room for all areas but the far ones, and above it the gap. Threads get their memory from the
 * program's break: each would map 64 MB for it. */
static bool make_room(void)
{
	const size_t bytes = (THREADS + 1) * ROOM_BYTES + PAGE;

	mallopt(M_ARENA_MAX, 1);
	room = mmap(NULL, bytes + GAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	return room != MAP_FAILED && !munmap(room + bytes, GAP_BYTES);
}

static void *run(void *ctx)
{
	struct runner *r = ctx;

	step_some(r, STEPS);
	step_maps(r);
	return NULL;
}

static void start(struct runner *r, int number, uint64_t seed)
{
	r->number = number;
	r->random = seed * 1000 + (unsigned int)number;
	r->hash = 0xcbf29ce484222325u;
	if (!open_areas(r)) {
		fprintf(stderr, "no room for the areas\n");
		exit(3);
	}
}

static void sequence(uint64_t seed)
{
	static struct runner runners[THREADS];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 0; i < THREADS; i++) {
		if (!runners[i].maps)
			runners[i].maps = malloc(MAPS);
		start(&runners[i], i, seed);
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&runners[i].thread, &attr, run, &runners[i]))
			exit(4);
	for (int i = 0; i < THREADS; i++)
		pthread_join(runners[i].thread, NULL);
	for (int i = 0; i < THREADS; i++) {
		close_areas(&runners[i]);
		printf("seed %llu thread %d: %016llx\n", (unsigned long long)seed, i,
		       (unsigned long long)runners[i].hash);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct runner child = {.is_child = true};
	char bytes[8 * PAGE];

	has_log = getenv("ADDRESS_SPACE_LOG");
	self = "/proc/self/exe";
	file = memfd_create("contents", MFD_CLOEXEC);
	memset(bytes, 0x77, sizeof bytes);
	if (!make_room() || file < 0 || write(file, bytes, sizeof bytes) != sizeof bytes ||
	    ftruncate(file, 2 * FAR_PAGES * PAGE) || argc < 3)
		return 2;
	if (!strcmp(argv[1], "child")) {
		start(&child, THREADS, strtoull(argv[2], NULL, 0));
		step_some(&child, 40);
		return (int)(child.hash & 0x7f);
	}
	libraries = argv + 3;
	libraries_n = argc - 3;
	for (uint64_t seed = strtoull(argv[1], NULL, 0), end = seed + strtoull(argv[2], NULL, 0);
	     seed < end; seed++)
		sequence(seed);
	return 0;
}
