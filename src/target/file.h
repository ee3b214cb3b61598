/*
 * Files that a target names: whose rights it has over them, and opening them under its root, with
 * its rights, and never anything but a regular file.
 *
 * A profiler that root runs must never put into a session what the target's user could not read, so
 * every file that a target names is opened between dw_rights_take() and dw_rights_restore(). Only
 * the calling thread is affected. A path from a target may lead to a FIFO (open would hang), to a
 * device (open could do things) or out of its root through links; none of these is followed.
 * Descriptors are close-on-exec.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_rights {
	uid_t uid; /* for files (fsuid) */
	gid_t gid;
	DW_VEC(gid_t) groups; /* supplementary */
};

/* The rights of @pid. 0, -ENOENT or -ESRCH when it is gone, -ENOMEM, DWELL_ERR_FORMAT. */
int dw_rights_read(pid_t pid, struct dw_rights *ret);

/* Parse the contents of /proc/PID/status. 0, -ENOMEM, DWELL_ERR_FORMAT. */
int dw_rights_parse(const char *status, struct dw_rights *ret);

/* Make @to, which is empty, a copy of @from. 0 or -ENOMEM. */
int dw_rights_copy(struct dw_rights *to, const struct dw_rights *from);

/* Whether both allow the same. */
bool dw_rights_equal(const struct dw_rights *a, const struct dw_rights *b);

/*
 * Give the calling thread the rights @wanted over files; @own are those it has now. Nothing happens
 * when they are equal. 0; -EPERM when that is not ours to do: nothing has changed then.
 */
int dw_rights_take(const struct dw_rights *wanted, const struct dw_rights *own);

/* Undo dw_rights_take(). */
void dw_rights_restore(const struct dw_rights *wanted, const struct dw_rights *own);

/* Free the memory. */
void dw_rights_release(struct dw_rights *r);

/* O_PATH descriptor of the root of @pid. Or -errno. */
int dw_target_root_open(pid_t pid);

/*
 * Open @path for reading as if @root_fd (-1 = ours) were "/", with the rights @wanted instead of
 * @own. Links are followed within the root, magic links never. The descriptor; -EACCES, -ENOENT...;
 * -ENXIO when it is no regular file.
 */
int dw_target_file_open(int root_fd, const char *path, const struct dw_rights *wanted,
			const struct dw_rights *own);

/*
 * Open @name ("exe", "map_files/START-END") of /proc/@pid, a link that leads to the very file
 * however it is called now. The file's own permission bits are still checked against @wanted.
 * Errors as above.
 */
int dw_target_link_open(pid_t pid, const char *name, const struct dw_rights *wanted,
			const struct dw_rights *own);

struct dw_cfi_table;

/* Where the bytes of a module come from: filled by who saw it mapped, used by who reads symbols. */
struct dw_module_source {
	int fd;		      /* the module's file, borrowed; -1 = none */
	const uint8_t *image; /* an ELF image as loaded in memory (vdso, deleted file), borrowed;
				 NULL = none */
	size_t image_bytes;
	const struct dw_cfi_table *cfi; /* its unwind table, borrowed; NULL = none at hand */
	int root_fd; /* O_PATH of the target's root, borrowed, for files named by debug information;
			-1 = ours */
	uid_t uid;   /* whose rights those files are opened with */
	gid_t gid;
	const gid_t *groups; /* borrowed */
	size_t groups_n;
};
