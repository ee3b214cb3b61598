/*
 * The session's folder; see folder.h.
 *
 * The lock file is locked under another name and then renamed, so that a lock that can be taken
 * means a dead collector. A folder without one may still be in the making: it counts as left behind
 * when it is a minute old. flock() belongs to the open file: it goes with the last process that has
 * it, which a forked helper outlives by moments only. What others made inside (they may, even
 * folders) is removed as far as our rights go; loops are bounded, since its owner may add to it.
 */
#include "collect/region/folder.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * The kernel finds a task's robust futexes by a list, in which each lies at the same distance from
 * its entry. The entry must not be in the page, which others map: it stands in one of our own,
 * directly before. The C library has a list of its own for each thread, for robust mutexes, of
 * which we have none; ours takes its place.
 */

enum { PAGE = 4096, LABEL_BYTES = 128 };

/* Two pages. */
struct dw_alive {
	struct robust_list entry;
	_Alignas(PAGE) struct dw_region_alive told;
};

static struct robust_list_head list = {.list = {&list.list},
				       .futex_offset = offsetof(struct dw_alive, told.owner)};

/* A file of one page, whatever the mask says. */
static int make_file(int folder)
{
	int fd = openat(folder, DWELL_REGION_ALIVE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int code;

	if (fd >= 0 && !fchmod(fd, 0644) && !(errno = posix_fallocate(fd, 0, PAGE)))
		return fd;
	code = errno;
	if (fd >= 0)
		close(fd);
	return -code;
}

/* Whether a security module may decide for each file by its label: SELinux's have colons. */
static bool has_labels(void)
{
	dw_auto_close int fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC);
	char label[LABEL_BYTES];
	ssize_t n = fd < 0 ? -1 : read(fd, label, sizeof label);

	/* Without any module the kernel says EINVAL, and where there is no /proc nobody tells. */
	return n < 0 ? fd < 0 || errno != EINVAL : memchr(label, ':', (size_t)n) != NULL;
}

/*
 * Make the page as file DWELL_REGION_ALIVE in the folder @folder. It lives as long as the calling
 * thread, which is the collector's main one, and uses no robust mutexes of the C library. *@ret or
 * -errno. dw_alive_free() when nobody opens it any more.
 */
static int alive_make(int folder, struct dw_alive **ret)
{
	dw_auto_close int fd = make_file(folder);
	struct dw_alive *alive;

	if (fd < 0)
		return fd;
	alive = mmap(NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (alive == MAP_FAILED)
		return -errno;
	if (mmap(&alive->told, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		int code = errno;

		munmap(alive, sizeof *alive);
		return -code;
	}
	alive->told.files_are_alike = !has_labels();
	alive->told.owner = (uint32_t)gettid();
	alive->entry.next = list.list.next;
	list.list.next = &alive->entry;
	syscall(SYS_set_robust_list, &list, sizeof list); /* without it a death is not seen */
	*ret = alive;
	return 0;
}

void dw_alive_end(struct dw_alive *alive)
{
	if (alive)
		__atomic_store_n(&alive->told.is_over, 1, __ATOMIC_RELEASE);
}

void dw_alive_free(struct dw_alive *alive)
{
	struct robust_list *before = &list.list;

	if (!alive)
		return;
	dw_alive_end(alive);
	while (before->next != &list.list && before->next != &alive->entry)
		before = before->next;
	if (before->next == &alive->entry)
		before->next = alive->entry.next;
	munmap(alive, sizeof *alive);
}

#define LOCK_NAME   DWELL_REGION_LOCK
#define LOCK_MAKING ".lock-new"

enum {
	LEFT_BEHIND_S = 60,
	SWEPT_MAX = 1000,      /* entries of the base that are looked at */
	REMOVED_MAX = 1 << 20, /* entries of one folder */
	DEPTH_MAX = 4,
	FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* A stream over the folder @fd, which stays the caller's. */
static DIR *list_folder(int fd)
{
	int copy = openat(fd, ".", FOLDER_FLAGS);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	if (!dir && copy >= 0)
		close(copy);
	return dir;
}

/* Remove what is in @fd, folders down to @depth too. */
static void empty_folder(int fd, int depth)
{
	DIR *dir = list_folder(fd);
	struct dirent *e;

	for (int n = 0; dir && n < REMOVED_MAX && (e = readdir(dir)); n++) {
		dw_auto_close int inner = -1;

		if (is_dot(e->d_name) || !unlinkat(fd, e->d_name, 0))
			continue;
		inner = depth ? openat(fd, e->d_name, FOLDER_FLAGS) : -1;
		if (inner >= 0)
			empty_folder(inner, depth - 1);
		unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

/* Whether the collector of the folder @fd is dead, as its lock says. */
static bool is_left_behind(int fd)
{
	dw_auto_close int lock = -1;
	struct stat st;

	if (fstat(fd, &st) || st.st_uid != geteuid())
		return false;
	lock = openat(fd, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (lock < 0)
		return errno == ENOENT && time(NULL) - st.st_ctime > LEFT_BEHIND_S;
	return !fstat(lock, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !flock(lock, LOCK_EX | LOCK_NB);
}

static void sweep_one(int base, const char *name)
{
	dw_auto_close int fd = openat(base, name, FOLDER_FLAGS);

	if (fd < 0 || !is_left_behind(fd))
		return;
	fchmod(fd, 0700);
	empty_folder(fd, DEPTH_MAX);
	unlinkat(base, name, AT_REMOVEDIR);
}

void dw_region_folder_sweep(const char *base)
{
	dw_auto_close int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : list_folder(fd);
	struct dirent *e;
	int n = 0;

	while (dir && n < SWEPT_MAX && (e = readdir(dir))) {
		if (strncmp(e->d_name, DWELL_FOLDER_PREFIX, strlen(DWELL_FOLDER_PREFIX)))
			continue;
		sweep_one(fd, e->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
}

static int make_below(struct dw_region_folder *f, const char *base)
{
	dw_auto_free char *real = realpath(base, NULL);
	char *path;

	if (!real)
		return -errno;
	if (asprintf(&path, "%s/" DWELL_FOLDER_PREFIX "XXXXXX", real) < 0)
		return -ENOMEM;
	if (!mkdtemp(path)) {
		int code = errno;

		free(path);
		return -code;
	}
	f->path = path;
	return 0;
}

/* A file is not closed before the last of its mappings goes: its creation tells of it. */
#define WATCHED (IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR)

/* Lock, watch, and only then let others in. */
static int open_doors(struct dw_region_folder *f)
{
	int rc;

	f->fd = open(f->path, FOLDER_FLAGS);
	if (f->fd < 0)
		return -errno;
	f->lock_fd = openat(f->fd, LOCK_MAKING, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (f->lock_fd < 0 || flock(f->lock_fd, LOCK_EX | LOCK_NB) ||
	    renameat(f->fd, LOCK_MAKING, f->fd, LOCK_NAME))
		return -errno;
	rc = alive_make(f->fd, &f->alive);
	if (rc)
		return rc;
	if (mkdirat(f->fd, DWELL_FOLDER_PRIVATE, 0700) ||
	    mkdirat(f->fd, DWELL_FOLDER_PUBLIC, 0700) ||
	    fchmodat(f->fd, DWELL_FOLDER_PUBLIC, 0711, 0))
		return -errno;
	f->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (f->watch_fd < 0 || inotify_add_watch(f->watch_fd, f->path, WATCHED) < 0)
		return -errno;
	return fchmod(f->fd, 01733) ? -errno : 0;
}

int dw_region_folder_make(struct dw_region_folder *f, const char *fallback, struct dw_error *err)
{
	const char *bases[] = {"/dev/shm", fallback};
	int rc = -ENOENT;

	for (size_t i = 0; i < 2 && rc; i++) {
		dw_region_folder_sweep(bases[i]);
		rc = make_below(f, bases[i]);
		if (!rc)
			rc = open_doors(f);
		if (rc)
			dw_region_folder_remove(f);
	}
	return rc ? dw_error_set_errno(err, -rc, "cannot make a folder for the session in %s",
				       fallback)
		  : 0;
}

/* Read more events. False = there are none. */
static bool read_events(struct dw_region_folder *f)
{
	ssize_t n = read(f->watch_fd, f->events, sizeof f->events);

	f->event_at = 0;
	f->event_end = n > 0 ? (size_t)n : 0;
	return n > 0;
}

enum dw_folder_event dw_region_folder_next(struct dw_region_folder *f, char name[NAME_MAX + 1])
{
	while (f->event_at < f->event_end || read_events(f)) {
		struct inotify_event *e = (void *)(f->events + f->event_at);

		f->event_at += sizeof *e + e->len;
		if (e->mask & IN_Q_OVERFLOW)
			return DWELL_FOLDER_LOST;
		if (!e->len || e->name[0] == '.' || (e->mask & IN_ISDIR))
			continue;
		snprintf(name, NAME_MAX + 1, "%s", e->name);
		return DWELL_FOLDER_FILE;
	}
	return DWELL_FOLDER_NOTHING;
}

void dw_region_folder_list(const struct dw_region_folder *f, size_t max,
			   void (*fn)(void *ctx, const char *name), void *ctx)
{
	DIR *dir = list_folder(f->fd);
	struct dirent *e;

	while (dir && max && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		fn(ctx, e->d_name);
		max--;
	}
	if (dir)
		closedir(dir);
}

static void *close_watch(void *ctx)
{
	close(((struct dw_region_folder *)ctx)->old_watch_fd);
	return NULL;
}

void dw_region_folder_unwatch(struct dw_region_folder *f)
{
	if (f->watch_fd < 0 || f->old_watch_fd >= 0)
		return;
	f->old_watch_fd = f->watch_fd;
	if (pthread_create(&f->closer, NULL, close_watch, f))
		f->old_watch_fd = -1;
	else
		f->watch_fd = -1;
}

void dw_region_folder_remove(struct dw_region_folder *f)
{
	dw_alive_free(f->alive);
	if (f->old_watch_fd >= 0)
		pthread_join(f->closer, NULL);
	if (f->fd >= 0) {
		fchmod(f->fd, 0700); /* nobody adds any more */
		empty_folder(f->fd, DEPTH_MAX);
	}
	if (f->path)
		rmdir(f->path);
	dw_cleanup_close(&f->fd);
	dw_cleanup_close(&f->watch_fd);
	dw_cleanup_close(&f->lock_fd);
	free(f->path);
	*f = (struct dw_region_folder)DW_REGION_FOLDER_INIT;
}
