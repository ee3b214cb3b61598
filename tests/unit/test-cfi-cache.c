/* The cache of unwind tables: what counts, and all that must not. */
#include "check.h"

#include "base/cleanup.h"
#include "code/cfi/table.h"
#include "code/cfi/table-format.h"
#include "elf-image.h"

#include <dirent.h>
#include <dwarf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

DW_DEFINE_FREEP(dw_elf)

#define BYTES ELF_IMAGE_BYTES

struct cache {
	char dir[80]; /* does not exist at first */
	char base[64];
	char file[400]; /* the cache file, "" = none */
	struct stat st; /* of the file */
};

static void cache_init(struct cache *c)
{
	memset(c, 0, sizeof *c);
	strcpy(c->base, "/tmp/dwell-test-XXXXXX");
	if (!mkdtemp(c->base))
		c->base[0] = 0;
	snprintf(c->dir, sizeof c->dir, "%s/x", c->base);
}

/* Find the one file in the cache. The number of files there. */
static int cache_look(struct cache *c)
{
	DIR *d = opendir(c->dir);
	struct dirent *e;
	int n = 0;

	c->file[0] = 0;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(c->file, sizeof c->file, "%s/%s", c->dir, e->d_name);
			n++;
		}
	if (d)
		closedir(d);
	if (n)
		stat(c->file, &c->st);
	return n;
}

static void cache_release(struct cache *c)
{
	while (cache_look(c))
		unlink(c->file);
	rmdir(c->dir);
	rmdir(c->base);
}

/*
 * Load the table of a module of one function with CFA = rsp + @offset. Whether it came from the
 * cache; -1 when its contents are wrong.
 */
static int load(struct cache *c, uint8_t offset)
{
	struct dw_buf eh = DW_BUF_INIT;
	size_t cie = elf_image_cie(&eh, "zR", "\3", NULL, 0), n;
	struct dw_cfi_table *t = NULL;
	dw_auto_ptr(dw_elf) elf = NULL;
	dw_auto_free uint8_t *image = NULL;
	struct dw_cfi_rules rules;
	int cached = -1;
	bool signal;

	elf_image_fde(&eh, cie, 0x1000, 0x1010, BYTES(DW_CFA_def_cfa_offset, offset));
	elf_image_fde(&eh, cie, 0x1010, 0x9000, BYTES(DW_CFA_def_cfa, 10, 0));
	image = elf_image_make(eh.data, eh.len, NULL, 0, &n);
	if (!dw_elf_open_bytes(image, n, false, &elf, NULL) &&
	    !dw_cfi_table_load(elf, c->dir, &t, NULL)) {
		dw_elf_free(dw_take_ptr(elf)); /* the table must not need it any more */
		memset(image, 0, n);
		if (dw_cfi_table_find(t, 0x1000)->cfa >> 2 == offset / 8 &&
		    !dw_cfi_table_rules(t, 0x1010, &rules, &signal) && rules.cfa.reg == 10)
			cached = t->mapped_bytes != 0;
	}
	dw_cfi_table_free(t);
	dw_buf_release(&eh);
	return cached;
}

/* Change the byte at @offset of the cache file. */
static void damage(struct cache *c, long offset)
{
	FILE *f = fopen(c->file, "r+be");
	int byte;

	if (!f)
		return;
	fseek(f, offset, SEEK_SET);
	byte = fgetc(f);
	fseek(f, offset, SEEK_SET);
	fputc(byte ^ 0x20, f);
	fclose(f);
}

TEST(second_time_comes_from_the_cache)
{
	struct cache c;

	cache_init(&c);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(cache_look(&c), 1);
	CHECK_INT(c.st.st_mode & 0777, 0600);
	CHECK_INT(load(&c, 16), 1);
	cache_release(&c);
}

/* Same build-id (none), same size, same layout: only the bytes differ. */
TEST(other_unwind_bytes_are_not_served)
{
	struct cache c;

	cache_init(&c);
	CHECK_INT(load(&c, 16), 0);
	cache_look(&c);
	/* under the name of another module: what a collision would look like */
	char old[400];

	strcpy(old, c.file);
	CHECK_INT(load(&c, 24), 0);
	CHECK_INT(cache_look(&c), 2);
	if (!strcmp(old, c.file)) { /* readdir's order: make old the other one */
		unlink(old);
		cache_look(&c);
		CHECK_INT(rename(c.file, old), 0);
	} else {
		CHECK_INT(rename(c.file, old), 0);
	}
	CHECK(load(&c, 16) >= 0);
	CHECK(load(&c, 24) >= 0);
	cache_release(&c);
}

TEST(every_damaged_byte_is_noticed)
{
	struct cache c;

	cache_init(&c);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(cache_look(&c), 1);
	for (long at = 0; at < c.st.st_size; at++) {
		damage(&c, at);
		CHECK_INT(load(&c, 16), 0); /* and is replaced */
		CHECK_INT(load(&c, 16), 1);
	}
	for (off_t cut = 0; cut < c.st.st_size; cut += 7) {
		CHECK_INT(truncate(c.file, cut), 0);
		CHECK_INT(load(&c, 16), 0);
	}
	cache_release(&c);
}

TEST(files_that_others_can_write_do_not_count)
{
	struct cache c;

	cache_init(&c);
	CHECK_INT(load(&c, 16), 0);
	cache_look(&c);
	CHECK_INT(chmod(c.file, 0620), 0);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(load(&c, 16), 1); /* it was replaced */
	CHECK_INT(chmod(c.dir, 0777), 0);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(load(&c, 16), 0); /* nothing is put into such a folder either */
	CHECK_INT(chmod(c.dir, 0700), 0);
	CHECK_INT(load(&c, 16), 1);
	if (!geteuid()) {
		CHECK_INT(chown(c.file, 12345, 12345), 0);
		CHECK_INT(load(&c, 16), 0);
		CHECK_INT(chown(c.dir, 12345, 12345), 0);
		CHECK_INT(load(&c, 16), 0);
		CHECK_INT(chown(c.dir, 0, 0), 0);
	}
	cache_release(&c);
}

TEST(links_and_special_files_do_not_count)
{
	struct cache c;
	char kept[400];

	cache_init(&c);
	CHECK_INT(load(&c, 16), 0);
	cache_look(&c);
	snprintf(kept, sizeof kept, "%s/kept", c.base);
	CHECK_INT(rename(c.file, kept), 0);
	CHECK_INT(symlink(kept, c.file), 0);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(unlink(c.file), 0);
	CHECK_INT(mkfifo(c.file, 0600), 0);
	CHECK_INT(load(&c, 16), 0); /* and does not hang */
	CHECK_INT(unlink(kept), 0);
	cache_release(&c);
}

TEST(folders_above_are_made)
{
	struct cache c;
	char above[80];

	cache_init(&c);
	snprintf(above, sizeof above, "%.60s/a", c.base);
	snprintf(c.dir, sizeof c.dir, "%.60s/a/b", c.base);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(load(&c, 16), 1);
	CHECK_INT(stat(above, &c.st), 0);
	CHECK_INT(c.st.st_mode & 0777, 0700);
	while (cache_look(&c))
		unlink(c.file);
	rmdir(c.dir);
	rmdir(above);
	rmdir(c.base);
}

/* Where a file stands in the way there is no cache, and tables work all the same. */
TEST(no_folder_no_cache)
{
	struct cache c;

	cache_init(&c);
	strcpy(c.dir, "/proc/self/status/x");
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(load(&c, 16), 0);
	rmdir(c.base);
}

TEST_MAIN()

/* Put a file of 1000 bytes, last used @age seconds ago, into the cache. */
static int put_file(const struct cache *c, const char *name, int age)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_nsec = UTIME_OMIT}};
	char path[200];
	dw_auto_close int fd = -1;

	snprintf(path, sizeof path, "%s/%s", c->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || ftruncate(fd, 1000) || futimens(fd, times);
}

static bool has_file(const struct cache *c, const char *name)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", c->dir, name);
	return !access(path, F_OK);
}

TEST(longest_unused_goes_first)
{
	static const char old[] = "00000000000000000000000000000001.cfi";
	static const char left[] = "00000000000000000000000000000002.cfi.17";
	static const char fresh[] = "00000000000000000000000000000003.cfi";
	static const char foreign[] = "00000000000000000000000000000004.txt";
	struct cache c;

	cache_init(&c);
	CHECK_INT(mkdir(c.dir, 0700), 0);
	CHECK(!put_file(&c, fresh, 100) && !put_file(&c, foreign, 90000) &&
	      !put_file(&c, left, 3000) && !put_file(&c, old, 7000));
	dw_cfi_cache_prune(c.dir, 3000);
	CHECK(has_file(&c, old));
	dw_cfi_cache_prune(c.dir, 2999);
	CHECK(!has_file(&c, old) && has_file(&c, left) && has_file(&c, fresh));
	dw_cfi_cache_prune(c.dir, 1000);
	CHECK(!has_file(&c, left) && has_file(&c, fresh));
	chmod(c.dir, 0770);
	dw_cfi_cache_prune(c.dir, 0);
	CHECK(has_file(&c, fresh));
	chmod(c.dir, 0700);
	dw_cfi_cache_prune(c.dir, 0);
	CHECK(!has_file(&c, fresh) && has_file(&c, foreign));
	cache_release(&c);
}

TEST(loading_counts_as_use)
{
	struct cache c;

	cache_init(&c);
	CHECK_INT(load(&c, 16), 0);
	CHECK_INT(cache_look(&c), 1);
	utimensat(AT_FDCWD, c.file, (struct timespec[]){{.tv_sec = 1}, {.tv_nsec = UTIME_OMIT}}, 0);
	CHECK_INT(load(&c, 16), 1);
	cache_look(&c);
	CHECK(c.st.st_atim.tv_sec > 1000000000);
	cache_release(&c);
}
