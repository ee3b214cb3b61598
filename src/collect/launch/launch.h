/*
 * Starting the command to be recorded: forked and held before its exec, so that a backend can
 * attach.
 *
 * The command gets what it would get from the shell: environment (or one made for it), descriptors
 * (all of ours are close-on-exec), signal mask and dispositions, limits. prepare -> attach ->
 * release -> wait.
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

struct dw_launch {
	pid_t pid;	/* the child; 0 = none, or already waited for */
	int release_fd; /* writing a byte lets the child go; closing it unwritten ends it. -1 = done
			 */
	int error_fd;	/* errno of a failed exec comes here, or its end at success. -1 = done */
	char *const *environment; /* for the command, borrowed; NULL = ours */
};

#define DW_LAUNCH_INIT          \
	{                       \
		0, -1, -1, NULL \
	}

/*
 * Fork a child that waits to execute @argv (NULL-terminated, at least one word; searched as execvp
 * does) with the environment set in @l. The child keeps the calling thread's signal mask,
 * dispositions and limits: call before changing any but those of base/process-setup.h. Afterwards
 * our own soft limit of descriptors is raised to the hard one.
 */
int dw_launch_prepare(struct dw_launch *l, char *const *argv, struct dw_error *err);

/*
 * Let the child execute its command and wait until it has. 0, or the -errno with which exec failed,
 * the child then waited for: see dw_launch_exit_code().
 */
int dw_launch_release(struct dw_launch *l, struct dw_error *err);

/*
 * Wait for the command's end. @flags as for wait4() (WNOHANG).
 * 1 with *@ret_status and *@ret_usage (either may be NULL; its own and its waited-for descendants')
 * when it has ended; 0 when it has not (WNOHANG); -errno.
 */
int dw_launch_wait(struct dw_launch *l, int flags, int *ret_status, struct rusage *ret_usage);

/* What env(1) exits with when exec fails with -@code: 127 not found, else 126. */
int dw_launch_exit_code(int code);

/* End a child that was not released, and free everything. A running command is left alone. */
void dw_launch_close(struct dw_launch *l);
