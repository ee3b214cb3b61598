/*
 * Careful opening; see file.h and openat2(2). O_NONBLOCK keeps a FIFO from hanging us; it has no
 * effect on a regular file. Before 5.6 there is no openat2: the open then fails with ENOSYS and the
 * module has no file, which costs names, not safety.
 */
#include "target/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

int dw_target_root_open(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* @fd if it is a regular file, else -ENXIO with it closed. */
static int only_regular(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -ENXIO;
}

int dw_target_file_open(int root_fd, const char *path, const struct dw_rights *wanted,
			const struct dw_rights *own)
{
	struct open_how how = {.flags = OPEN_FLAGS,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	dw_auto_close int root = -1;
	int fd, rc;

	if (root_fd < 0) {
		root_fd = root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			return -errno;
	}
	rc = dw_rights_take(wanted, own);
	if (rc)
		return rc;
	fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
	if (fd < 0)
		fd = -errno;
	dw_rights_restore(wanted, own);
	return fd < 0 ? fd : only_regular(fd);
}

int dw_target_link_open(pid_t pid, const char *name, const struct dw_rights *wanted,
			const struct dw_rights *own)
{
	char path[96];
	struct stat st;
	int fd, rc;

	/* What it leads to is looked at first: open() on the link of a device would reach its
	 * driver. */
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	rc = dw_rights_take(wanted, own);
	if (rc)
		return rc;
	fd = open(path, OPEN_FLAGS);
	if (fd < 0)
		fd = -errno;
	dw_rights_restore(wanted, own);
	return fd < 0 ? fd : only_regular(fd);
}
