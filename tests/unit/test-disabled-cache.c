/* What runs with a limit leave for the next one: kept, measured again in turn, forgotten, and never
 * believed blindly. */
#include "check.h"
#include "scratch.h"

#include "record/disabled-cache.h"
#include "wire/region.h"

#include <fcntl.h>
#include <sys/stat.h>

#define IMAGE "cache/0123456789abcdef0123456789abcdef.clone"

enum { N = 64, AGAIN = 16, MAX = 1000 };

/* Leave N keys behind for the image called @path. */
static void leave(bool *check_failed, const char *path)
{
	struct dw_disabled_cache l = {0};

	for (uint32_t i = 0; i < N; i++)
		CHECK_INT(dw_disabled_cache_add(&l, i), 0);
	CHECK_INT(dw_disabled_cache_add(&l, 0), 0);
	CHECK_INT(dw_disabled_cache_write(&l, path, .3), 0);
	dw_disabled_cache_release(&l);
}

/* How many keys are known, -1 = reading fails. */
static int rows_of(const char *path, double limit, uint32_t max)
{
	struct dw_disabled_cache l = {0};
	int rc = dw_disabled_cache_read(&l, path, limit, max);
	int n = rc ? -1 : (int)l.rows.n;

	dw_disabled_cache_release(&l);
	return n;
}

TEST(it_is_kept_for_image_and_limit)
{
	leave(check_failed, IMAGE);
	CHECK_INT(rows_of(IMAGE, .3, MAX), N);
	CHECK_INT(rows_of(IMAGE, .2, MAX), 0);
	CHECK_INT(rows_of("cache/fedcba98.clone", .3, MAX), 0);
	CHECK_INT(rows_of("cache/none/0.clone", .3, MAX), 0);
	CHECK_INT(rows_of(IMAGE, .3, 10), 10);
}

TEST(all_are_measured_again_in_turn)
{
	bool seen[N] = {0};
	size_t n = 0;

	leave(check_failed, IMAGE);
	for (int run = 0; run < AGAIN; run++) {
		struct dw_disabled_cache l = {0};

		CHECK_INT(dw_disabled_cache_read(&l, IMAGE, .3, MAX), 0);
		CHECK_INT(l.rows.n, N);
		CHECK_INT(l.off_n, N - N / AGAIN);
		for (size_t i = l.off_n; i < l.rows.n; i++) {
			n += !seen[l.rows.v[i].disable_key];
			seen[l.rows.v[i].disable_key] = true;
		}
		CHECK_INT(dw_disabled_cache_write(&l, IMAGE, .3), 0);
		dw_disabled_cache_release(&l);
	}
	CHECK_INT(n, N);
}

TEST(what_is_worth_it_is_forgotten)
{
	struct dw_disabled_cache l = {0};

	leave(check_failed, IMAGE);
	CHECK_INT(dw_disabled_cache_read(&l, IMAGE, .3, MAX), 0);
	dw_disabled_cache_forget(&l.rows.v[0]); /* was not measured */
	dw_disabled_cache_forget(&l.rows.v[l.off_n]);
	dw_disabled_cache_forget(&l.rows.v[l.off_n + 1]);
	CHECK_INT(dw_disabled_cache_add(&l, l.rows.v[l.off_n + 1].disable_key),
		  0); /* but in another process */
	CHECK_INT(dw_disabled_cache_add(&l, 500 | DWELL_DISABLE_POINTERS), 0);
	CHECK_INT(dw_disabled_cache_write(&l, IMAGE, .3), 0);
	dw_disabled_cache_release(&l);
	CHECK_INT(rows_of(IMAGE, .3, MAX), N);
	CHECK_INT(rows_of(IMAGE, .3, 500), N - 1);
}

TEST(foreign_and_broken_files_count_for_nothing)
{
	const char *path;
	char byte = 0x55;
	int fd;

	leave(check_failed, IMAGE);
	path = scratch_only_file("cache");
	CHECK_INT(chmod(path, 0622), 0);
	CHECK_INT(rows_of(IMAGE, .3, MAX), 0);
	CHECK_INT(chmod(path, 0600), 0);
	CHECK_INT(rows_of(IMAGE, .3, MAX), N);
	fd = open(path, O_RDWR);
	for (off_t at = 0; at < 24 + 4 * N; at += 4) {
		char was;

		CHECK_INT(pread(fd, &was, 1, at), 1);
		byte = (char)(was ^ 0x55);
		CHECK_INT(pwrite(fd, &byte, 1, at), 1);
		CHECK_INT(rows_of(IMAGE, .3, MAX), 0);
		CHECK_INT(pwrite(fd, &was, 1, at), 1);
	}
	CHECK_INT(rows_of(IMAGE, .3, MAX), N);
	CHECK_INT(ftruncate(fd, 24 + 4 * N - 1), 0);
	CHECK_INT(rows_of(IMAGE, .3, MAX), 0);
	CHECK_INT(ftruncate(fd, 23), 0);
	CHECK_INT(rows_of(IMAGE, .3, MAX), 0);
	close(fd);
}

TEST_MAIN()
