/*
 * Cache folders; see cache.h. A file is written under a name of its own and renamed, so readers see
 * all of it or none; what a killed writer left is in nobody's way and goes with the next pruning.
 */
#include "base/cache.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	TEMPORARY_BYTES = DWELL_CACHE_NAME + 32,
	USED_SECONDS = 3600, /* how exactly a file tells when it was used last */
};

static bool ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Open the folder @dir, if it is ours. -1 with errno. */
static int open_dir(const char *dir)
{
	dw_auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (!ours(&st)) {
		errno = EPERM;
		return -1;
	}
	return dw_take_fd(fd);
}

/* Make the folder @dir and those above it that are not there, for us alone. 0 or -errno. */
static int make_dir(const char *dir)
{
	char path[PATH_MAX];
	size_t n = strlen(dir);

	if (n >= sizeof path)
		return -ENAMETOOLONG;
	memcpy(path, dir, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (dir[i] && dir[i] != '/')
			continue;
		path[i] = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		path[i] = dir[i];
	}
	return 0;
}

int dw_cache_open(const char *dir, const char *name, size_t *bytes)
{
	dw_auto_close int dir_fd = open_dir(dir), fd = -1;
	struct stat st;

	if (dir_fd < 0)
		return -1;
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !ours(&st))
		return -1;
	*bytes = (size_t)st.st_size;
	return dw_take_fd(fd);
}

void dw_cache_note_use(int fd)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!fstat(fd, &st) && now.tv_sec - st.st_atim.tv_sec > USED_SECONDS)
		futimens(fd, (struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}});
}

/* Write all of @part to @fd. 0 or -errno. */
static int write_parts(int fd, struct iovec *part, int n)
{
	while (n) {
		ssize_t put = writev(fd, part, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		while (n && (size_t)put >= part->iov_len) {
			put -= (ssize_t)part->iov_len;
			part++;
			n--;
		}
		if (n) {
			part->iov_base = (char *)part->iov_base + put;
			part->iov_len -= (size_t)put;
		}
	}
	return 0;
}

int dw_cache_store(const char *dir, const char *name, struct iovec *parts, int n)
{
	dw_auto_close int dir_fd = -1, fd = -1;
	char temporary[TEMPORARY_BYTES];
	int rc;

	rc = make_dir(dir);
	if (rc)
		return rc;
	dir_fd = open_dir(dir);
	if (dir_fd < 0)
		return errno == EPERM ? DWELL_ERR_REFUSED : -errno;
	snprintf(temporary, sizeof temporary, "%s.%d", name, (int)gettid());
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		rc = -errno;
		if (rc == -EEXIST) /* left by one that was killed: out of the way for next time */
			unlinkat(dir_fd, temporary, 0);
		return rc;
	}
	rc = write_parts(fd, parts, n);
	if (!rc && renameat(dir_fd, temporary, dir_fd, name))
		rc = -errno;
	if (rc)
		unlinkat(dir_fd, temporary, 0);
	return rc;
}

struct cached {
	char name[TEMPORARY_BYTES];
	struct timespec used;
	uint64_t bytes;
};

static int compare_use(const void *pa, const void *pb)
{
	const struct timespec *a = &((const struct cached *)pa)->used;
	const struct timespec *b = &((const struct cached *)pb)->used;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Whether the folder's entry @name is a file of ours, or what a killed writer left of one. */
static bool is_cached(int dir_fd, const char *name, const char *suffix, struct cached *ret)
{
	size_t n = strspn(name, "0123456789abcdef");
	struct stat st;

	if (n != 32 || strncmp(name + n, suffix, strlen(suffix)) ||
	    strlen(name) >= sizeof ret->name || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || !ours(&st))
		return false;
	*ret = (struct cached){.used = st.st_atim, .bytes = (uint64_t)st.st_size};
	memcpy(ret->name, name, strlen(name) + 1);
	return true;
}

void dw_cache_prune(const char *dir, const char *suffix, uint64_t max_bytes)
{
	int dir_fd = open_dir(dir);
	DIR *folder = dir_fd < 0 ? NULL : fdopendir(dir_fd);
	DW_VEC(struct cached) files = {0};
	const struct dirent *entry;
	uint64_t bytes = 0;

	if (dir_fd >= 0 && !folder)
		close(dir_fd);
	while (folder && (entry = readdir(folder))) {
		struct cached file;

		if (is_cached(dir_fd, entry->d_name, suffix, &file) && !dw_vec_push(&files, file))
			bytes += file.bytes;
	}
	if (files.n)
		qsort(files.v, files.n, sizeof *files.v, compare_use);
	for (size_t i = 0; i < files.n && bytes > max_bytes; i++) {
		unlinkat(dir_fd, files.v[i].name, 0);
		bytes -= files.v[i].bytes;
	}
	dw_vec_release(&files);
	if (folder)
		closedir(folder);
}

enum { TEXT_BYTES = 4096 }; /* of a group with few members */

/* Whether the group @gid has nobody in it but its user, who is us. */
static bool is_own_group(gid_t gid)
{
	char user_text[TEXT_BYTES], group_text[TEXT_BYTES];
	struct passwd user, *u = NULL;
	struct group group, *g = NULL;

	if (gid != getegid() || getpwuid_r(geteuid(), &user, user_text, sizeof user_text, &u) ||
	    getgrgid_r(gid, &group, group_text, sizeof group_text, &g) || !u || !g ||
	    strcmp(u->pw_name, g->gr_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, u->pw_name) != 0)
			return false;
	return true;
}

bool dw_file_is_trusted(const struct stat *st)
{
	if ((st->st_uid && st->st_uid != geteuid()) || st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) || is_own_group(st->st_gid);
}
