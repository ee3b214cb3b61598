/*
 * Whose rights a process has over files, and opening files with them instead of our own.
 *
 * A profiler that root runs must never put into a session what the target's user could not read, so
 * every file that a target names is opened between dw_rights_take() and dw_rights_restore(). Only
 * the calling thread is affected.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
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
