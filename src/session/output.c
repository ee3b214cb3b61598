/*
 * Output files and their headers; see output.h. Offsets in these are those of
 * sqlite.org/fileformat.html, big-endian.
 *
 * The lock is one of an open file description (fcntl(2), F_OFD_SETLK): closing another descriptor
 * of the file does not drop it, and asking for it takes nothing, so that a reader's look never
 * makes a writer fail.
 */
#include "session/output.h"

#include "base/cleanup.h"
#include "session/chunk.h"
#include "session/read.h"
#include "session/write.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	AT_PAGE_BYTES = 16,
	AT_WRITE_VERSION = 18,
	AT_PAGES = 28,
	AT_USER_VERSION = 60,
	AT_APPLICATION_ID = 68,
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int check_size(const uint8_t *h, uint64_t file_bytes, struct dw_error *err)
{
	uint64_t page_bytes = (uint64_t)h[AT_PAGE_BYTES] << 8 | h[AT_PAGE_BYTES + 1];
	uint64_t want = be32(h + AT_PAGES) * (page_bytes == 1 ? 65536 : page_bytes);

	if (file_bytes >= want)
		return 0;
	return dw_error_set(err, DWELL_ERR_FORMAT, "cut short: it has %llu of %llu bytes",
			    (unsigned long long)file_bytes, (unsigned long long)want);
}

int dw_session_header_read(int fd, struct dw_session_header *ret, struct dw_error *err)
{
	uint8_t h[DWELL_SESSION_HEADER_BYTES];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return dw_error_set_errno(err, errno, "cannot stat");
	if (S_ISDIR(st.st_mode))
		return dw_error_set_errno(err, EISDIR, "not a dwell session");
	if (!S_ISREG(st.st_mode))
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "not a dwell session (not a regular file)");
	n = pread(fd, h, sizeof h, 0);
	if (n < 0)
		return dw_error_set_errno(err, errno, "cannot read");
	if (!n)
		return dw_error_set(err, DWELL_ERR_FORMAT, "not a dwell session (empty)");
	if (n < (ssize_t)sizeof h || memcmp(h, "SQLite format 3", 16))
		return dw_error_set(err, DWELL_ERR_FORMAT, "not a dwell session");
	if (be32(h + AT_APPLICATION_ID) != DWELL_SESSION_APPLICATION_ID)
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "not a dwell session (a SQLite database of something else)");
	if (be32(h + AT_USER_VERSION) > DWELL_SESSION_VERSION)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				    "written by a newer dwell (format %u, this one reads up to %d)",
				    be32(h + AT_USER_VERSION), DWELL_SESSION_VERSION);
	if (be32(h + AT_USER_VERSION) == 0)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: it has no version");
	ret->file_bytes = (uint64_t)st.st_size;
	ret->wal = h[AT_WRITE_VERSION] == 2;
	return check_size(h, ret->file_bytes, err);
}

char *dw_output_name(const char *path, const char *suffix)
{
	char *name;

	return asprintf(&name, "%s%s", path, suffix) < 0 ? NULL : name;
}

/* What kind of thing the header of a file says it is. */
enum kind {
	KIND_ABSENT,
	KIND_SESSION,
	KIND_OTHER, /* anything else that exists */
};

/* Look at @path without opening anything that is no regular file. */
static int find_kind(const char *path, enum kind *ret, struct dw_error *err)
{
	struct dw_session_header header;
	dw_auto_close int fd = -1;
	struct stat st;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return dw_error_set_errno(err, errno, "%s", path);
		*ret = KIND_ABSENT;
		return 0;
	}
	*ret = KIND_OTHER;
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return dw_error_set_errno(err, errno, "%s", path);
	if (!dw_session_header_read(fd, &header, NULL))
		*ret = KIND_SESSION;
	return 0;
}

/* The byte that a writer locks: the last one, far from those that SQLite locks. */
static struct flock lock_of(short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1};
}

bool dw_output_is_held(const char *path)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct flock lock = lock_of(F_WRLCK);

	return fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static int held_by_another(const char *path, struct dw_error *err)
{
	return dw_error_set(err, DWELL_ERR_REFUSED, "%s is being written by another recording",
			    path);
}

int dw_output_hold(int fd, const char *path, struct dw_error *err)
{
	struct flock lock = lock_of(F_WRLCK);

	if (!fcntl(fd, F_OFD_SETLK, &lock) || errno == ENOLCK || errno == EINVAL)
		return 0; /* a file system without locks: go on unprotected */
	if (errno == EAGAIN || errno == EACCES)
		return held_by_another(path, err);
	return dw_error_set_errno(err, errno, "cannot lock %s", path);
}

/* The number in the variable @name, which sudo(8) sets. False: there is none. */
static bool read_id(const char *name, uint32_t *ret)
{
	const char *text = getenv(name);
	char *end;
	unsigned long id;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	id = strtoul(text, &end, 10);
	*ret = (uint32_t)id;
	return !errno && !*end && id < UINT32_MAX;
}

/* Give the new file @fd to whom sudo has made root: he wants to read what he has recorded. */
static void give_to_caller(int fd)
{
	uint32_t uid, gid;

	if (!geteuid() && read_id("SUDO_UID", &uid) && read_id("SUDO_GID", &gid) &&
	    fchown(fd, uid, gid))
		return; /* a file system without owners: it stays as it was made */
}

int dw_output_create(const char *path, int *ret, struct dw_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return dw_error_set_errno(err, errno, "cannot create %s", path);
	give_to_caller(fd);
	*ret = fd;
	return 0;
}

static bool is_called(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Remove a leftover @path, which only its holder may. */
static int remove_leftover(const char *path, struct dw_error *err)
{
	dw_auto_close int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	int rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : dw_error_set_errno(err, errno, "%s", path);
	rc = dw_output_hold(fd, path, err);
	if (!rc && is_called(fd, path))
		unlink(path);
	return rc;
}

/* What SQLite may have left beside @path: a stale journal would be replayed into a new file. */
static void remove_journals(const char *path)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		dw_auto_free char *name = dw_output_name(path, suffixes[i]);

		if (name)
			unlink(name);
	}
}

/*
 * Between creating and holding another may hold the new file as a leftover and remove it, so it
 * counts only if it is still there once it is held.
 */
int dw_output_claim(const char *path, int *ret, struct dw_error *err)
{
	dw_auto_close int fd = -1;
	int rc = remove_leftover(path, err);

	if (!rc)
		rc = dw_output_create(path, &fd, err);
	if (rc == -EEXIST)
		return held_by_another(path, err);
	if (!rc)
		rc = dw_output_hold(fd, path, err);
	if (rc)
		return rc;
	if (!is_called(fd, path))
		return held_by_another(path, err);
	remove_journals(path); /* only now: before, they might have been another's */
	*ret = dw_take_fd(fd);
	return 0;
}

void dw_output_remove(const char *path)
{
	/* While the file is there and held no other recording makes journals of that name. */
	remove_journals(path);
	unlink(path);
}

static char *folder_of(const char *path)
{
	char *copy = strdup(path), *folder = copy ? strdup(dirname(copy)) : NULL;

	free(copy);
	return folder;
}

int dw_output_sync_folder(const char *path, struct dw_error *err)
{
	dw_auto_free char *folder = folder_of(path);
	dw_auto_close int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/* A folder that may be written but not read cannot be synced; the rename is done all the
	 * same. */
	if (fd >= 0 && fsync(fd) && errno != EINVAL)
		return dw_error_set_errno(err, errno, "cannot sync %s", folder);
	return 0;
}

/* A leftover FILE.partial: fine when nobody holds it and it has no samples, calls or allocations.
 */
static int check_leftover(const char *partial, const char *path, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct stat st;
	bool empty;

	if (lstat(partial, &st))
		return errno == ENOENT ? 0 : dw_error_set_errno(err, errno, "%s", partial);
	if (dw_output_is_held(partial))
		return held_by_another(path, err);
	empty = (S_ISREG(st.st_mode) && !st.st_size) ||
		(!dw_session_load(partial, &p, NULL, NULL) && !p.samples.n && !p.extras.rows.n &&
		 !p.calls.nodes.n && !p.allocations.groups.n);
	dw_profile_release(&p);
	if (empty)
		return 0;
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "%s holds an unfinished recording: finish it with 'dwell recover %s' "
			    "or remove it",
			    partial, partial);
}

int dw_session_check_target(const char *path, struct dw_error *err)
{
	dw_auto_free char *folder = folder_of(path);
	enum kind kind = KIND_ABSENT;
	int rc;

	if (!folder)
		return dw_error_set(err, -ENOMEM, "no memory");
	if (!*path)
		return dw_error_set(err, DWELL_ERR_USAGE, "the session's name is empty");
	rc = find_kind(path, &kind, err);
	if (rc)
		return rc;
	if (kind == KIND_OTHER)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "%s exists and is not a dwell session, not overwriting it",
				    path);
	if (eaccess(folder, W_OK | X_OK))
		return dw_error_set_errno(err, errno, "cannot write to the folder %s", folder);
	return 0;
}

int dw_session_check_output(const char *path, struct dw_error *err)
{
	dw_auto_free char *partial = dw_output_name(path, ".partial");
	int rc = dw_session_check_target(path, err);

	if (rc)
		return rc;
	if (!partial)
		return dw_error_set(err, -ENOMEM, "no memory");
	return check_leftover(partial, path, err);
}
