/*
 * Fork, hold, exec; see launch.h.
 *
 * Two close-on-exec pipes: one holds the child until a byte (go) or its end (give up; also when we
 * die) arrives, the other tells of exec: its end means success, an errno means failure. Perf events
 * opened meanwhile with enable_on_exec start counting at the exec that succeeds, so nothing of this
 * file is ever sampled.
 */
#include "collect/launch/launch.h"

#include "base/cleanup.h"
#include "base/process-setup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* read() that goes on after signals. */
static ssize_t read_all(int fd, void *buf, size_t n)
{
	ssize_t got;

	do
		got = read(fd, buf, n);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Whether the file @path is none that a shell could read: execvp() gives to /bin/sh what the kernel
 * cannot execute. */
static bool is_binary(const char *path)
{
	char bytes[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);

	return n > 0 && (memchr(bytes, 0, (size_t)n) || !strncmp(bytes, ELFMAG, SELFMAG));
}

/* As execvpe(), but what is no text is not given to a shell. -errno. */
static int execute(char *const *argv, char *const *environment)
{
	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, environment);
		if (errno != ENOEXEC)
			return -errno;
		if (is_binary(argv[0]))
			return -ENOEXEC;
	}
	execvpe(argv[0], argv, environment);
	return -errno;
}

/* The child: wait for the byte, execute, report. */
__attribute__((noreturn)) static void run_child(char *const *argv, char *const *environment,
						int hold_fd, int error_fd)
{
	char go;
	int code;

	if (read_all(hold_fd, &go, 1) != 1)
		_exit(125);
	dw_dispositions_restore();
	code = -execute(argv, environment);
	if (write(error_fd, &code, sizeof code) != sizeof code)
		_exit(125);
	_exit(dw_launch_exit_code(-code));
}

/* More descriptors for us: each module and each event costs one. Fewer is no failure. */
static void raise_own_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int dw_launch_prepare(struct dw_launch *l, char *const *argv, struct dw_error *err)
{
	int hold[2], report[2];
	pid_t pid;

	if (pipe2(hold, O_CLOEXEC))
		return dw_error_set_errno(err, errno, "cannot make a pipe");
	if (pipe2(report, O_CLOEXEC)) {
		int code = errno;

		close(hold[0]);
		close(hold[1]);
		return dw_error_set_errno(err, code, "cannot make a pipe");
	}
	pid = fork();
	if (!pid) {
		close(hold[1]);
		run_child(argv, l->environment ? l->environment : environ, hold[0], report[1]);
	}
	l->pid = pid;
	l->release_fd = hold[1];
	l->error_fd = report[0];
	close(hold[0]);
	close(report[1]);
	if (pid < 0) {
		int code = errno;

		l->pid = 0;
		dw_launch_close(l);
		return dw_error_set_errno(err, code, "cannot fork");
	}
	raise_own_limit();
	return 0;
}

int dw_launch_release(struct dw_launch *l, struct dw_error *err)
{
	int code = 0;
	ssize_t n;

	/* A child that was killed while it waited leaves no reader; SIGPIPE is ignored by the
	 * caller. */
	n = write(l->release_fd, "", 1);
	close(dw_take_fd(l->release_fd));
	n = read_all(l->error_fd, &code, sizeof code);
	close(dw_take_fd(l->error_fd));
	if (n != sizeof code)
		return 0; /* executed, or died before: waiting tells */
	dw_launch_wait(l, 0, NULL, NULL);
	return dw_error_set_errno(err, code, "cannot execute the command");
}

int dw_launch_wait(struct dw_launch *l, int flags, int *ret_status, struct rusage *ret_usage)
{
	struct rusage usage;
	int status;
	pid_t pid;

	do
		pid = wait4(l->pid, &status, flags, &usage);
	while (pid < 0 && errno == EINTR);
	if (pid <= 0)
		return pid ? -errno : 0;
	l->pid = 0;
	if (ret_status)
		*ret_status = status;
	if (ret_usage)
		*ret_usage = usage;
	return 1;
}

int dw_launch_exit_code(int code)
{
	return code == -ENOENT ? 127 : 126;
}

void dw_launch_close(struct dw_launch *l)
{
	bool held = l->release_fd >= 0;

	if (held)
		close(dw_take_fd(l->release_fd));
	if (l->error_fd >= 0)
		close(dw_take_fd(l->error_fd));
	if (held && l->pid > 0)
		dw_launch_wait(l, 0, NULL, NULL);
}
