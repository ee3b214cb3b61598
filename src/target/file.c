/*
 * Rights and careful opening; see file.h and openat2(2).
 *
 * setfsuid(2) changes what the kernel checks for files alone, and drops the file capabilities
 * (reading anything, above all) from the effective set while the fsuid is not 0. Supplementary
 * groups are set by the raw system call: the C library's setgroups() changes all threads. The
 * permitted set is left alone, so going back restores everything (capabilities(7), "Effect of user
 * ID changes").
 *
 * O_NONBLOCK keeps a FIFO from hanging us; it has no
 * effect on a regular file. Before 5.6 there is no openat2: the open then fails with ENOSYS and the
 * module has no file, which costs names, not safety.
 */
#include "target/file.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

int dw_rights_parse(const char *status, struct dw_rights *ret)
{
	const char *uid = field(status, "\nUid:"), *gid = field(status, "\nGid:");
	const char *groups = field(status, "\nGroups:");
	struct dw_rights r = {0};

	/* Real, effective, saved, file system: the last counts. */
	if (!uid || !gid || !groups || sscanf(uid, "%*u %*u %*u %u", &r.uid) != 1 ||
	    sscanf(gid, "%*u %*u %*u %u", &r.gid) != 1)
		return DWELL_ERR_FORMAT;
	for (;;) {
		char *end;
		unsigned long g;

		while (*groups == ' ' || *groups == '\t')
			groups++;
		if (*groups < '0' || *groups > '9')
			break;
		g = strtoul(groups, &end, 10);
		groups = end;
		if (dw_vec_push(&r.groups, (gid_t)g)) {
			dw_rights_release(&r);
			return -ENOMEM;
		}
	}
	*ret = r;
	return 0;
}

int dw_rights_read(pid_t pid, struct dw_rights *ret)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	int rc = dw_proc_read(pid, "status", &text);

	return rc ? rc : dw_rights_parse(dw_buf_str(&text), ret);
}

int dw_rights_copy(struct dw_rights *to, const struct dw_rights *from)
{
	struct dw_rights r = {.uid = from->uid, .gid = from->gid};

	if (dw_vec_reserve(&r.groups, from->groups.n))
		return -ENOMEM;
	if (from->groups.n)
		memcpy(r.groups.v, from->groups.v, from->groups.n * sizeof *r.groups.v);
	r.groups.n = from->groups.n;
	*to = r;
	return 0;
}

bool dw_rights_equal(const struct dw_rights *a, const struct dw_rights *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->groups.n == b->groups.n &&
	       (!a->groups.n ||
		!memcmp(a->groups.v, b->groups.v, a->groups.n * sizeof *a->groups.v));
}

/* Set all three. Groups may be set with any fsuid: CAP_SETGID is none of the file capabilities. */
static int set_rights(const struct dw_rights *r)
{
	if (syscall(SYS_setgroups, r->groups.n, r->groups.v))
		return -errno;
	setfsgid(r->gid);
	setfsuid(r->uid);
	/* Neither call reports failure; asking with an impossible id tells what holds. */
	if ((uid_t)setfsuid((uid_t)-1) != r->uid || (gid_t)setfsgid((gid_t)-1) != r->gid)
		return -EPERM;
	return 0;
}

int dw_rights_take(const struct dw_rights *wanted, const struct dw_rights *own)
{
	int rc;

	if (dw_rights_equal(wanted, own))
		return 0;
	rc = set_rights(wanted);
	if (rc)
		set_rights(own);
	return rc;
}

void dw_rights_restore(const struct dw_rights *wanted, const struct dw_rights *own)
{
	if (!dw_rights_equal(wanted, own))
		set_rights(own);
}

void dw_rights_release(struct dw_rights *r)
{
	dw_vec_release(&r->groups);
}

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
