/*
 * Running processes that a recording is attached to: who they are, and whether they still run.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct dw_target {
	pid_t pid;
	int fd; /* pidfd, owned; -1 = has ended */
};

struct dw_targets {
	DW_VEC(struct dw_target) v;
};

/* Take hold of @pid. 0; DWELL_ERR_NOT_FOUND or DWELL_ERR_USAGE (it is no process) with one line;
 * -ENOMEM. */
int dw_targets_add(struct dw_targets *t, pid_t pid, struct dw_error *err);

/* Whether all have ended. */
bool dw_targets_ended(struct dw_targets *t);

/* Descriptors to poll for POLLIN: a process has ended. At most @max are written, the number is
 * returned. */
size_t dw_targets_poll_fds(const struct dw_targets *t, struct pollfd *fds, size_t max);

/* Append the command lines of all, as a shell would take them, ", " in between. */
void dw_targets_commands(const struct dw_targets *t, struct dw_buf *ret);

/* Append the numbers of all, "," in between. */
void dw_targets_numbers(const struct dw_targets *t, struct dw_buf *ret);

/* Close all. */
void dw_targets_release(struct dw_targets *t);
