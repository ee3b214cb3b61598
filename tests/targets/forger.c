/*
 * A program that lies about its samples and objects: forger MODE SECONDS [FILE...].
 *
 *	samples	rings of samples, whose mappings name the FILEs: records of any kind with numbers
 *that make sense or do not, in rings that are rewritten, cut off and overrun objects	tables of a
 *.NET agent with random rows sparse	a region with as much as any may have, of which nothing is
 *there
 *
 * Where root runs it, it does so as nobody. It works meanwhile, in work_on(). Prints one line at
 *the end.
 */
#include "region-file.h"
#include "wire/clr-tables.h"
#include "wire/samples.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { RING_BYTES = 1 << 20, RECORDS = 64, TEXT_MAX = 8192, NOBODY = 65534, LATE_MS = 500 };

static volatile unsigned long sum;

__attribute__((noinline)) static void work_on(void)
{
	for (int i = 0; i < 100000; i++)
		sum += (unsigned long)i;
}

static uint64_t any(unsigned *seed)
{
	uint64_t x = (uint64_t)rand_r(seed) << 33 ^ (uint64_t)rand_r(seed) << 11;

	return x >> rand_r(seed) % 64;
}

/* A list of mappings: all addresses, then each of @files at one of its own. */
static size_t list_maps(char *text, char **files)
{
	size_t n = (size_t)snprintf(text, TEXT_MAX,
				    "0-ffffffffffffffff r-xp 0 0:0 1 //\033[2J\n7000-6000 r-xp\n");

	for (uint64_t i = 0; files[i]; i++) {
		struct stat st = {0};

		stat(files[i], &st);
		n += (size_t)snprintf(text + n, TEXT_MAX - n,
				      "%lx-%lx r-xp 00000000 %02x:%02x %lu   %s\n",
				      0x10000000 * (i + 1), 0x10000000 * (i + 1) + 0x800000,
				      major(st.st_dev), minor(st.st_dev), st.st_ino, files[i]);
	}
	return n;
}

/* What a record holds. Its bytes. */
static uint32_t fill(uint8_t *content, uint32_t kind, char **files, unsigned *seed)
{
	uint64_t regs[DWELL_SAMPLE_REGS];
	uint32_t n = (unsigned)rand_r(seed) % 2048;

	if (kind == DWELL_SAMPLE_MAPS)
		return (uint32_t)list_maps((char *)content, files);
	for (int i = 0; i < DWELL_SAMPLE_REGS; i++)
		regs[i] = any(seed);
	if (rand_r(seed) % 2) /* where small programs have their first function */
		regs[16] = 0x10000000 + 0x1100 + (unsigned)rand_r(seed) % 0x60;
	else
		regs[16] = 0x10000000 * (1 + (unsigned)rand_r(seed) % 4) + any(seed) % 0x800000;
	regs[7] = 0x7ffc00000000;
	memcpy(content, regs, sizeof regs);
	for (uint32_t i = 0; i < n / 8; i++) {
		uint64_t word = rand_r(seed) % 2 ? regs[16] + i : any(seed);

		memcpy(content + sizeof regs + 8ul * i, &word, 8);
	}
	return rand_r(seed) % 16 ? (uint32_t)sizeof regs + n : n;
}

/* One record at @position. Where the next one is. */
static uint64_t put_record(uint8_t *data, uint64_t position, char **files, unsigned *seed)
{
	static uint8_t content[64 << 10];
	struct dw_sample_record r = {.kind = 1 + (unsigned)rand_r(seed) % 4,
				     .tid = rand_r(seed) % 8 ? getpid() : (int)any(seed)};
	uint64_t at = position % RING_BYTES;
	uint64_t whole = dw_sample_seal_end(position);

	r.content = fill(content, r.kind, files, seed);
	r.bytes = (uint32_t)(sizeof r + r.content + 31) & ~31u;
	r.time_ns = rand_r(seed) % 4 ? (uint64_t)(now_ms() * 1e6) : any(seed);
	r.seal = rand_r(seed) % 512 ? whole : rand_r(seed) % 2 ? whole ^ 1 : any(seed);
	if (at + r.bytes > RING_BYTES) {
		r.content = (uint32_t)(RING_BYTES - at - sizeof r);
		r.bytes = (uint32_t)(RING_BYTES - at);
	}
	position += r.bytes;
	if (rand_r(seed) % 256 == 0)
		r.content = (uint32_t)any(seed);
	memcpy(data + at + sizeof r, content, r.bytes - sizeof r);
	memcpy(data + at, &r, sizeof r);
	return position;
}

static void forge_ring(int number, double end, char **files, unsigned *seed)
{
	char name[32];
	struct region r;
	struct dw_sample_ring *page;
	uint64_t position = 0;

	snprintf(name, sizeof name, "rings%d", number);
	r = make_region(name, DWELL_SAMPLE_PAGE + RING_BYTES);
	page = (void *)(r.h + 1);
	page->bytes = RING_BYTES;
	r.h->chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_SAMPLES, 0, sizeof *r.h,
						  DWELL_SAMPLE_PAGE + RING_BYTES};
	__atomic_store_n(&r.h->chunk_n, 1, __ATOMIC_RELEASE);
	ring(&r);
	for (int i = 0; i < RECORDS && now_ms() < end; i++) {
		for (int k = 0; k < 16; k++)
			position = put_record((uint8_t *)page + DWELL_SAMPLE_PAGE, position, files,
					      seed);
		__atomic_store_n(&page->head, position, __ATOMIC_RELEASE);
		page->lost = any(seed);
		page->threads_refused = any(seed);
		work_on();
		usleep(1000);
	}
	if (number % 3 == 0 && (truncate(name, 100) || truncate(name, sizeof *r.h)))
		perror(name);
	else if (number % 3 == 1)
		page->head = any(seed), page->off = (uint32_t)any(seed);
	ring(&r);
}

/* Rows whose numbers name each other, more or less. */
static void scribble(uint32_t *words, size_t n, unsigned *seed)
{
	for (size_t i = 0; i < n; i++)
		words[i] = rand_r(seed) % 8 ? (unsigned)rand_r(seed) % 64 : (uint32_t)any(seed);
}

static void forge_tables(double end, unsigned *seed)
{
	enum { TABLE_BYTES = 64 << 10 };
	struct region r =
		make_region("objects", sizeof(struct dw_clr_head) + DWELL_CLR_TABLES * TABLE_BYTES);
	struct dw_clr_head *head = (void *)(r.h + 1);

	r.h->chunks[0] =
		(struct dw_region_chunk){DWELL_REGION_CHUNK_CLR, 0, sizeof *r.h, sizeof *head};
	for (uint32_t i = 0; i < DWELL_CLR_TABLES; i++)
		r.h->chunks[i + 1] = (struct dw_region_chunk){
			DWELL_REGION_CHUNK_CLR + 1 + i, 0,
			sizeof *r.h + sizeof *head + (uint64_t)i * TABLE_BYTES, TABLE_BYTES};
	r.h->chunk_n = DWELL_CLR_TABLES + 1;
	ring(&r);
	while (now_ms() < end) {
		/* One reading that refuses the tables is the last: that comes late. */
		int may_refuse = now_ms() > end - LATE_MS;

		scribble((uint32_t *)(head + 1) + (unsigned)rand_r(seed) % 200000, 4096, seed);
		for (int i = 0; i < DWELL_CLR_TABLES; i++)
			head->rows[i] = !may_refuse || rand_r(seed) % 64
						? (unsigned)rand_r(seed) % 1024
						: (uint32_t)any(seed);
		head->facts[rand_r(seed) % 32] = any(seed);
		work_on();
		usleep(1000);
	}
}

static void forge_sparse(double end)
{
	const uint64_t bytes = 1ull << 29; /* larger files are not looked at at all */
	const uint64_t lines = DWELL_ROOM_OTHER + DWELL_ROOM_PATHS + DWELL_ROOM_FILES +
			       (uint64_t)DWELL_ROOM_THREADS * DWELL_ROOM_THREAD; /* nor are more */
	struct region r = make_region("sparse", sizeof(struct dw_clr_head));
	struct dw_clr_head *head = (void *)(r.h + 1);

	if (truncate("sparse", (off_t)(bytes * (DWELL_CLR_TABLES + 1))))
		perror("sparse");
	r.h->chunks[0] =
		(struct dw_region_chunk){DWELL_REGION_CHUNK_CLR, 0, sizeof *r.h, sizeof *head};
	for (uint32_t i = 0; i < DWELL_CLR_TABLES; i++) {
		head->rows[i] = (uint32_t)(bytes / dw_clr_row_bytes(i));
		r.h->chunks[i + 1] = (struct dw_region_chunk){DWELL_REGION_CHUNK_CLR + 1 + i, 0,
							      4096 * 256 + i * bytes, bytes};
	}
	r.h->chunks[DWELL_CLR_TABLES + 1] =
		(struct dw_region_chunk){DWELL_REGION_CHUNK_ARENA, 0, 4096 * 256, lines};
	r.h->arena_lines = (uint32_t)(lines / DWELL_LINE_BYTES);
	r.h->bytes = bytes * (DWELL_CLR_TABLES + 1);
	r.h->chunk_n = DWELL_CLR_TABLES + 2;
	ring(&r);
	while (now_ms() < end)
		work_on();
}

int main(int argc, char **argv)
{
	double end = now_ms() + (argc > 2 ? 1000 * atof(argv[2]) : 0);
	unsigned seed = 1;

	if (argc < 3 || find_folder() || chdir(folder)) {
		puts("no folder");
		return 1;
	}
	if (!getuid() && (setgid(NOBODY) || setuid(NOBODY)))
		return 3;
	if (!strcmp(argv[1], "samples"))
		for (int i = 0; now_ms() < end; i++)
			forge_ring(i, end, argv + 3, &seed);
	else if (!strcmp(argv[1], "objects"))
		forge_tables(end, &seed);
	else if (!strcmp(argv[1], "sparse"))
		forge_sparse(end);
	else
		return 2;
	puts("forged");
	return 0;
}
