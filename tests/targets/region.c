/*
 * A program that talks to the collector behind its agent's back, honestly or not: region MODE
 *[ARG].
 *
 * It finds the session's folder in its own mappings. Prints one line of what came of it.
 *
 *	ask N		asks for its own executable N times, by N regions; prints the slowest answer
 *	steal FILE	claims that FILE is a library of it, then its executable, and that it is
 *process 1 forge		files that are no regions, and regions whose numbers are nonsense
 *	rewrite S	changes its region at random for S seconds while it asks
 *	trees S		changes a call tree of its own at random for S seconds
 *	flood S		makes regions and wake-up files for S seconds, FLOOD at most
 *	folder		prints the folder
 *	sleep		prints the folder and stays
 *	links		puts links, pipes and folders in place of its region and of other files
 */
#include "region-file.h"
#include "wire/identity.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum { WAIT_MS = 20000, FLOOD = 10000 };

/* Publish module @path and ask for it. */
static uint32_t ask(struct region *r, const char *path, int is_main, uint64_t hash)
{
	uint32_t i = r->h->module_n;
	struct dw_region_module *m = &r->h->modules[i];

	snprintf(m->path, sizeof m->path, "%s", path);
	m->is_main = (uint32_t)is_main;
	m->headers_hash = hash;
	m->state = DWELL_MODULE_ASKED;
	__atomic_store_n(&r->h->module_n, i + 1, __ATOMIC_RELEASE);
	ring(r);
	return i;
}

/* Wait for the answer. Its state; the image's path in @path. */
static uint32_t wait_for(const struct region *r, uint32_t i, char *path, size_t n)
{
	const struct dw_region_answer *a = &r->h->answers[i];
	double end = now_ms() + WAIT_MS;
	uint32_t state = 0;

	while (state < DWELL_ANSWER_IMAGE && now_ms() < end) {
		usleep(20);
		state = __atomic_load_n(&a->state, __ATOMIC_ACQUIRE);
	}
	snprintf(path, n, "%s", a->image);
	return state;
}

static void print_answer(const char *what, uint32_t state)
{
	printf("%s:%s\n", what,
	       state == DWELL_ANSWER_IMAGE  ? "image"
	       : state == DWELL_ANSWER_NONE ? "none"
					    : "no answer");
}

/* The identity of our executable, as an agent states it. */
static uint64_t own_hash(void)
{
	return dw_identity_hash(DWELL_HASH_INIT, (const void *)getauxval(AT_PHDR),
				getauxval(AT_PHNUM) * sizeof(Elf64_Phdr));
}

static void ask_often(int n)
{
	double slowest = 0;

	for (int i = 0; i < n; i++) {
		char name[32], path[256];
		struct region r;
		double start, took;
		uint32_t state;

		snprintf(name, sizeof name, "asker%d-%d", (int)getpid(), i);
		r = make_region(name, 0);
		start = now_ms();
		state = wait_for(&r, ask(&r, "/no/matter", 1, own_hash()), path, sizeof path);
		took = now_ms() - start;
		slowest = i && took > slowest ? took
					      : slowest; /* the first may wait for the making */
		munmap(r.h, sizeof *r.h);
		if (state != DWELL_ANSWER_IMAGE || access(path, R_OK))
			print_answer(path, state);
	}
	printf("slowest %.3f ms\n", slowest);
}

/* What the collector may read and we may not must not come back. */
static void steal(const char *file)
{
	char path[256];
	struct region r = make_region("thief", 0), liar = make_region("liar", 0);
	uint32_t i = ask(&r, file, 0, own_hash());

	print_answer("library", wait_for(&r, i, path, sizeof path));
	r.h->pid = 1;
	i = ask(&r, file, 1, own_hash());
	print_answer("process", wait_for(&r, i, path, sizeof path));
	liar.h->pid = (uint32_t)getppid();
	i = ask(&liar, file, 1, own_hash());
	print_answer("parent", wait_for(&liar, i, path, sizeof path));
}

static void forge(void)
{
	struct region r = make_region("counts", 0), n = make_region("many", 0),
		      v = make_region("old", 0);
	char noise[4096];

	memset(noise, 0xff, sizeof noise);
	make_file("noise", noise, sizeof noise);
	make_file("short", DWELL_REGION_MAGIC, 8);
	n.h->module_n = UINT32_MAX;
	n.h->chunk_n = UINT32_MAX;
	ring(&n);
	v.h->version = 99;
	ring(&v);
	r.h->module_n = 3;
	for (uint32_t i = 0; i < 3; i++) {
		r.h->modules[i].state = i == 2 ? 4000000000u : DWELL_MODULE_CLONED;
		r.h->modules[i].headers_hash = own_hash();
		r.h->modules[i].counts = i ? UINT64_MAX - 8 : sizeof *r.h;
		r.h->modules[i].counts_n = UINT32_MAX;
		memset(r.h->modules[i].path, 'x', sizeof r.h->modules[i].path);
	}
	ring(&r);
	puts("forged");
}

static void rewrite(double end)
{
	struct region r = make_region("changing", 0);
	unsigned seed = 1;

	for (int i = 0; now_ms() < end; i++) {
		char *at = (char *)r.h + (unsigned)rand_r(&seed) % sizeof *r.h;

		if (i % 64 == 0) { /* valid for a moment */
			r.h->version = DWELL_REGION_VERSION;
			r.h->header_bytes = sizeof *r.h;
			memcpy(r.h->magic, DWELL_REGION_MAGIC, sizeof r.h->magic);
			r.h->module_n = (uint32_t)i / 64 % DWELL_REGION_MODULES;
			for (uint32_t m = 0; m < r.h->module_n; m++)
				r.h->modules[m].state = DWELL_MODULE_ASKED;
			ring(&r);
		}
		*at = (char)rand_r(&seed);
		if (i % 1000 == 0 && (truncate(r.name, 100) || truncate(r.name, sizeof *r.h)))
			break; /* it has been removed */
	}
	puts("rewrote");
}

/* Anything into words of @all lines; parents and marks now and then as they may be. */
static void scribble(uint64_t *lines, uint32_t all, unsigned *seed)
{
	for (int i = 0; i < 256; i++) {
		uint32_t line = (unsigned)rand_r(seed) % all;
		uint64_t *words = lines + line * 8ul;

		words[(unsigned)rand_r(seed) % 8] = (uint64_t)rand_r(seed) << (rand_r(seed) % 34);
		words[2] = (unsigned)rand_r(seed) % 3 ? (unsigned)rand_r(seed) % 400 : words[2];
		words[7] = (unsigned)rand_r(seed) % (line + 1);
		if (rand_r(seed) % 8 == 0)
			words[7] = DWELL_MARK_FILE_IO + (unsigned)rand_r(seed) % 12;
		if (rand_r(seed) % 4 == 0) { /* lines of cells, of records' threads */
			words[6] = (uint64_t)((unsigned)rand_r(seed) % all) << 32 |
				   (unsigned)rand_r(seed) % all;
			words[3] = 1ull << 32;
		}
		if (rand_r(seed) % 8 == 0) /* of files and of what was read of them */
			words[5] = (uint64_t)((unsigned)rand_r(seed) % all) << 32 |
				   (unsigned)rand_r(seed) % 2000;
		if (rand_r(seed) % 8 == 0)
			words[0] = (unsigned)rand_r(seed) % 2000;
		if (rand_r(seed) % 8 == 0)
			words[7] |= (uint64_t)((unsigned)rand_r(seed) % all) << 32;
	}
}

/* Lies about everything that the reader of trees goes by. */
static void lie(struct dw_region_header *h, uint32_t lines, unsigned *seed)
{
	h->threads_n = (unsigned)rand_r(seed) % 16;
	for (uint32_t i = 0; i < h->threads_n; i++)
		h->threads[i] = (unsigned)rand_r(seed) % (lines + 8);
	h->threads[0] = 1;
	h->arena_lines = rand_r(seed) % 8 ? lines : (uint32_t)rand_r(seed);
	h->arena_base = rand_r(seed) % 4 ? 0 : (uint64_t)rand_r(seed) << 32;
	h->system_calls_seen = rand_r(seed) % 2;
	h->probe_cost[rand_r(seed) % DWELL_PROBE_KINDS] = (uint32_t)rand_r(seed);
	h->os_sources[rand_r(seed) % DWELL_OS_SOURCES] = (uint32_t)rand_r(seed);
	h->modules[0].first_id = (uint32_t)rand_r(seed) % 200;
	h->modules[0].ids_n = (uint32_t)rand_r(seed) % 400;
	h->modules[0].area = (uint64_t)rand_r(seed);
	h->modules[0].start = (uint64_t)rand_r(seed);
	h->modules[0].bytes = (uint64_t)rand_r(seed);
	h->start.ticks = (uint64_t)rand_r(seed) << 32;
	h->end.ticks = rand_r(seed) % 2 ? UINT64_MAX : 0;
}

static void grow_trees(double end)
{
	enum { LINES = 1 << 14 };
	struct region r = make_region("trees", 0);
	size_t bytes = sizeof *r.h + LINES * DWELL_LINE_BYTES;
	int fd = open(r.name, O_RDWR);
	unsigned seed = 1;
	char path[256];
	void *all;

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		exit(2);
	all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (all == MAP_FAILED)
		exit(2);
	r.h->chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_ARENA, 0, sizeof *r.h,
						  bytes - sizeof *r.h};
	r.h->chunk_n = 1;
	wait_for(&r, ask(&r, "/no/matter", 1, own_hash()), path, sizeof path);
	while (now_ms() < end) {
		scribble((uint64_t *)((struct dw_region_header *)all + 1), LINES, &seed);
		lie(r.h, LINES, &seed);
		usleep(100);
	}
	puts("grew");
}

static void flood(double end)
{
	char name[64];

	for (int i = 0; i < FLOOD && now_ms() < end; i++) {
		snprintf(name, sizeof name, "flood%d%s", i, i % 3 ? ".1" : "");
		make_file(name, "", 0);
		if (i % 100 == 0) {
			struct region r;

			snprintf(name, sizeof name, "valid%d", i);
			r = make_region(name, 0);
			for (int m = 0; m < 100; m++)
				ask(&r, "/usr/lib/anything.so", m == 0, own_hash());
			munmap(r.h, sizeof *r.h);
		}
	}
	puts("flooded");
}

static void links(void)
{
	struct region r = make_region("linked", 0);

	ask(&r, "/no/matter", 1, own_hash());
	if (unlink("linked") || symlink("/etc/passwd", "linked") || link("/etc/passwd", "twin"))
		fputs("not all links could be made\n", stderr);
	if (mkfifo("pipe", 0600) || mkdir("pipe.1", 0700) || mkdir("nest", 0700) ||
	    mkdir("nest/inner", 0700))
		fputs("not all files could be made\n", stderr);
	make_file("nest/inner/file", "x", 1);
	if (symlink("/etc/passwd", ".image-0") || symlink("/", "root"))
		fputs("not all links could be made\n", stderr);
	if (!unlink(".lock") || !rename(".lock", "lock"))
		puts("the lock could be removed");
	rename("root", "moved");
	ring(&r);
	puts("linked");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *word = argc > 2 ? argv[2] : "1";

	/* Tests look at what came of it while the folder still stands. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (find_folder() || chdir(folder)) {
		puts("no folder");
		return 1;
	}
	if (!strcmp(mode, "ask"))
		ask_often(atoi(word));
	else if (!strcmp(mode, "steal"))
		steal(word);
	else if (!strcmp(mode, "forge"))
		forge();
	else if (!strcmp(mode, "rewrite"))
		rewrite(now_ms() + 1000 * atof(word));
	else if (!strcmp(mode, "trees"))
		grow_trees(now_ms() + 1000 * atof(word));
	else if (!strcmp(mode, "flood"))
		flood(now_ms() + 1000 * atof(word));
	else if (!strcmp(mode, "links"))
		links();
	else if (!strcmp(mode, "folder"))
		puts(folder);
	else if (!strcmp(mode, "sleep"))
		puts(folder), sleep(60);
	else
		return 2;
	return 0;
}
