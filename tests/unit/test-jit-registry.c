/* Registries of JIT code, with the map of this very process: what is read of it, and when it
 * counts. */
#include "check.h"

#include "base/clock.h"
#include "collect/jit/jit.h"
#include "collect/jit/lines.h"
#include "collect/samples/owners.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[48];

struct bench {
	struct dw_profile p;
	struct dw_owners owners;
	struct dw_jit jit;
	struct dw_jit_process *registry;
};

static bool setup(struct bench *b)
{
	const struct dw_owner *own;

	*b = (struct bench){.registry = NULL};
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	own = dw_owners_self(&b->owners);
	dw_jit_init(&b->jit, &b->p);
	b->registry = dw_jit_begin(&b->jit, getpid(), own, own);
	return own && b->registry;
}

static void teardown(struct bench *b)
{
	dw_jit_end(b->registry);
	dw_jit_release(&b->jit);
	dw_owners_release(&b->owners);
	dw_profile_release(&b->p);
	unlink(path);
}

static void put(const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	fputs(text, f);
	fclose(f);
}

/* Look at the file, and give the time after that. */
static uint64_t look(struct bench *b)
{
	bool is_other;
	int rc;

	/* What was not found is searched for at once. */
	b->registry->search_at_ns = 0;
	dw_jit_look(&b->jit);
	rc = dw_jit_update(b->registry, 0, dw_clock_ns(CLOCK_MONOTONIC), &is_other);
	return rc ? 0 : dw_clock_ns(CLOCK_MONOTONIC);
}

/* What lies at @avma at @time_ns. "" = nothing. */
static const char *name_at(struct bench *b, uint64_t avma, uint64_t time_ns)
{
	struct dw_jit_symbol m;
	struct dw_frame f;

	if (dw_jit_frame(b->registry, avma, time_ns, &f) ||
	    !dw_jit_symbolize(&b->jit, f.module, f.svma, &m) || f.svma < m.svma ||
	    f.svma >= m.svma + m.bytes)
		return "";
	return m.name;
}

TEST(names_at_times)
{
	struct bench b;
	uint64_t first, second;

	CHECK(setup(&b));
	put("w", "1000 100 JS:*a /x.js:1:1\n2000 10 b\n");
	first = look(&b);
	CHECK_STR(name_at(&b, 0x10ff, first), "a");
	CHECK_STR(name_at(&b, 0x1100, first), "");
	/* What is first told of some memory counts before as well. */
	CHECK_STR(name_at(&b, 0x1000, 1), "a");
	put("a", "1080 10 c\n3000 10 JS:~a /x.js:1:1\n400");
	second = look(&b);
	CHECK_STR(name_at(&b, 0x1080, second), "c");
	CHECK_STR(name_at(&b, 0x1080, first - 1000000000), "a");
	CHECK_STR(name_at(&b, 0x1000, second), "a");
	CHECK_STR(name_at(&b, 0x4000, second), "");
	put("a", "0 10 d\n");
	CHECK_STR(name_at(&b, 0x4008, look(&b)), "d");
	/* Two pieces of one function are one. */
	CHECK_STR(name_at(&b, 0x3000, second), "a");
	CHECK_INT(b.jit.functions.rows.n, 3);
	teardown(&b);
}

TEST(maps_that_are_written_again)
{
	struct bench b;
	uint64_t now;
	size_t pieces;

	CHECK(setup(&b));
	put("w", "1000 100 a\n2000 10 b\n3000 10 c\n");
	now = look(&b);
	pieces = b.registry->pieces.n;
	/* Shorter, the same line again, another one. */
	put("w", "1000 100 a\n2000 10 x\n");
	now = look(&b);
	CHECK_STR(name_at(&b, 0x1000, now), "a");
	CHECK_STR(name_at(&b, 0x2000, now), "x");
	CHECK_STR(name_at(&b, 0x3000, now), "c");
	CHECK_INT(b.registry->pieces.n, pieces + 1);
	/* Longer at once. */
	put("w", "5000 100 aa\n6000 10 bbbbbb\n7000 10 ccccc\n");
	now = look(&b);
	CHECK_STR(name_at(&b, 0x5000, now), "aa");
	/* Another file. */
	unlink(path);
	put("w", "8000 10 d\n");
	CHECK_STR(name_at(&b, 0x8000, now), "");
	CHECK_STR(name_at(&b, 0x8000, look(&b)), "d");
	teardown(&b);
}

TEST(maps_that_are_none)
{
	struct bench b;
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	CHECK(setup(&b));
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_STR(name_at(&b, 0x1000, look(&b)), "");
	unlink(path);
	CHECK_INT(symlink("/dev/zero", path), 0);
	CHECK_STR(name_at(&b, 0x1000, look(&b)), "");
	unlink(path);
	/* Left by a process that had the number before. */
	put("w", "1000 100 a\n");
	CHECK_INT(utimensat(AT_FDCWD, path, old, 0), 0);
	CHECK_STR(name_at(&b, 0x1000, look(&b)), "");
	put("a", "2000 100 a\n");
	look(&b);
	CHECK_STR(name_at(&b, 0x1000, look(&b)), "a");
	/* Cut while it is read. */
	CHECK_INT(truncate(path, 3), 0);
	look(&b);
	CHECK_STR(name_at(&b, 0x2000, look(&b)), "a");
	teardown(&b);
}

TEST(names_that_come_late)
{
	struct bench b;
	struct dw_jit_symbol m;
	bool is_other;

	CHECK(setup(&b));
	CHECK_STR(name_at(&b, 0x1004, look(&b)), "");
	CHECK_INT(dw_jit_update(b.registry, 77, 1, &is_other), 0);
	put("w", "1000 100 JS:*a /x.js:5:1\n");
	dw_jit_end(b.registry);
	b.registry = NULL;
	dw_jit_close(&b.jit);
	CHECK(dw_jit_symbolize(&b.jit, 77, 0x1004, &m));
	CHECK_STR(m.name, "a");
	CHECK_STR(m.file, "/x.js");
	CHECK_INT(m.line, 5);
	CHECK(!dw_jit_symbolize(&b.jit, 77, 0x1100, &m));
	CHECK(!dw_jit_symbolize(&b.jit, 76, 0x1004, &m));
	teardown(&b);
}

/* A record of two lines of code at 0x1000: those files stand in it. */
static void put_lines(int fd, const char *first, const char *second)
{
	const char *const files[] = {first, second};
	uint64_t head[4] = {2, 0, 0x1000, 2};
	FILE *f = fdopen(dup(fd), "w");

	fwrite(head, sizeof head, 1, f);
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t at = 0x1000 + 16 * i;
		const uint32_t place[2] = {7, 1};

		fwrite(&at, sizeof at, 1, f);
		fwrite(place, sizeof place, 1, f);
		fwrite(files[i], strlen(files[i]) + 1, 1, f);
	}
	fclose(f);
}

/* V8 has freed some names of files by the time it writes them: their end is left, or nothing. */
TEST(files_that_were_freed)
{
	const struct dw_jitdump_header header = {.bytes = DWELL_JITDUMP_HEADER_BYTES};
	struct dw_jit_lines_source from = {.header = &header, .start = 0x1000, .end = 0x1100};
	struct dw_jit_lines lines = {0};
	struct dw_strings texts = {0};
	struct stat info;

	from.fd = memfd_create("lines", 0);
	put_lines(from.fd, "its/shares.js", "/other.js");
	CHECK_INT(fstat(from.fd, &info), 0);
	from.bytes = (uint64_t)info.st_size;
	CHECK_INT(dw_strings_adds(&texts, "/home/scripts/shares.js", &from.file), 0);
	CHECK_INT(dw_jit_lines_read(&lines, &texts, &from), 0);
	dw_jit_lines_sort(&lines);
	CHECK_STR(dw_strings_get(&texts, dw_jit_lines_find(&lines, 0)->file), "its/shares.js");
	CHECK_STR(dw_strings_get(&texts, dw_jit_lines_find(&lines, 16)->file), "/other.js");
	close(from.fd);
	from.fd = memfd_create("lines", 0);
	put_lines(from.fd, "ipts/shares.js", "\x9e.js");
	CHECK_INT(fstat(from.fd, &info), 0);
	from.bytes = (uint64_t)info.st_size;
	from.svma = 0x2000;
	CHECK_INT(dw_jit_lines_read(&lines, &texts, &from), 0);
	dw_jit_lines_sort(&lines);
	for (uint64_t svma = 0x2000; svma <= 0x2010; svma += 16)
		CHECK_INT(dw_jit_lines_find(&lines, svma)->file, from.file);
	close(from.fd);
	dw_jit_lines_release(&lines);
	dw_strings_release(&texts);
}

TEST_MAIN()
