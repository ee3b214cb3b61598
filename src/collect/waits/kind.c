/*
 * Kinds of waiting by system call; see kind.h. Numbers are the kernel's of this processor: those
 * that others lack stand behind #ifdef.
 */
#include "collect/waits/kind.h"

#include "target/memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH_BYTES = 128 };

/* What of the arguments tells the kind of a call. */
enum how {
	JUST,	 /* the call itself */
	BY_FD,	 /* its first argument, a descriptor */
	BY_POLL, /* pollfd structures and their number */
	BY_SELECT,
	BY_FUTEX,
	BY_TIMEOUT, /* the third argument, NULL = no end */
};

struct call {
	int number;
	enum how how;
	enum dw_wait_kind kind; /* JUST, or what it is if the arguments cannot be read */
};

#define CALL(name, how, kind)                      \
	{                                          \
		SYS_##name, how, DWELL_WAIT_##kind \
	}

static const struct call calls[] = {
	CALL(read, BY_FD, IO),
	CALL(write, BY_FD, IO),
	CALL(readv, BY_FD, IO),
	CALL(writev, BY_FD, IO),
	CALL(pread64, BY_FD, DISK),
	CALL(pwrite64, BY_FD, DISK),
	CALL(preadv, BY_FD, DISK),
	CALL(pwritev, BY_FD, DISK),
	CALL(preadv2, BY_FD, DISK),
	CALL(pwritev2, BY_FD, DISK),
	CALL(sendfile, BY_FD, IO),
	CALL(splice, BY_FD, IO),
	CALL(vmsplice, BY_FD, PIPE),
	CALL(tee, BY_FD, PIPE),
	CALL(ioctl, BY_FD, OTHER),
	CALL(copy_file_range, JUST, DISK),
	CALL(fsync, JUST, DISK),
	CALL(fdatasync, JUST, DISK),
	CALL(sync, JUST, DISK),
	CALL(syncfs, JUST, DISK),
	CALL(sync_file_range, JUST, DISK),
	CALL(msync, JUST, DISK),
	CALL(fallocate, JUST, DISK),
	CALL(ftruncate, JUST, DISK),
	CALL(truncate, JUST, DISK),
	CALL(getdents64, JUST, DISK),
	CALL(openat, JUST, DISK),
	CALL(openat2, JUST, DISK),
	CALL(close, JUST, DISK),
	CALL(newfstatat, JUST, DISK),
	CALL(statx, JUST, DISK),
	CALL(faccessat, JUST, DISK),
	CALL(readlinkat, JUST, DISK),
	CALL(unlinkat, JUST, DISK),
	CALL(mkdirat, JUST, DISK),
	CALL(renameat2, JUST, DISK),
	CALL(linkat, JUST, DISK),
	CALL(execve, JUST, DISK),
	CALL(io_getevents, JUST, DISK),
#ifdef SYS_open
	CALL(open, JUST, DISK),
	CALL(stat, JUST, DISK),
	CALL(lstat, JUST, DISK),
	CALL(access, JUST, DISK),
	CALL(readlink, JUST, DISK),
	CALL(unlink, JUST, DISK),
	CALL(mkdir, JUST, DISK),
	CALL(rmdir, JUST, DISK),
	CALL(rename, JUST, DISK),
	CALL(link, JUST, DISK),
	CALL(creat, JUST, DISK),
	CALL(getdents, JUST, DISK),
	CALL(poll, BY_POLL, IDLE),
	CALL(select, BY_SELECT, IDLE),
	CALL(epoll_wait, JUST, IDLE),
	CALL(pause, JUST, IDLE),
	CALL(vfork, JUST, CHILD),
#endif
	CALL(connect, JUST, SOCKET),
	CALL(sendto, JUST, SOCKET),
	CALL(sendmsg, JUST, SOCKET),
	CALL(sendmmsg, JUST, SOCKET),
	CALL(recvfrom, JUST, SOCKET),
	CALL(recvmsg, JUST, SOCKET),
	CALL(recvmmsg, JUST, SOCKET),
	CALL(shutdown, JUST, SOCKET),
	CALL(accept, JUST, IDLE),
	CALL(accept4, JUST, IDLE),
	CALL(ppoll, BY_POLL, IDLE),
	CALL(pselect6, BY_SELECT, IDLE),
	CALL(epoll_pwait, JUST, IDLE),
	CALL(epoll_pwait2, JUST, IDLE),
	CALL(io_uring_enter, JUST, IDLE),
	CALL(rt_sigsuspend, JUST, IDLE),
	CALL(rt_sigtimedwait, BY_TIMEOUT, IDLE),
	CALL(msgrcv, JUST, IDLE),
	CALL(mq_timedreceive, JUST, IDLE),
	CALL(msgsnd, JUST, CONDITION),
	CALL(mq_timedsend, JUST, CONDITION),
	CALL(nanosleep, JUST, SLEEP),
	CALL(clock_nanosleep, JUST, SLEEP),
	CALL(restart_syscall, JUST, SLEEP),
	CALL(wait4, JUST, CHILD),
	CALL(waitid, JUST, CHILD),
	CALL(clone, JUST, CHILD), /* with CLONE_VFORK, else nothing waits */
	CALL(clone3, JUST, CHILD),
	CALL(futex, BY_FUTEX, CONDITION),
	CALL(futex_waitv, JUST, CONDITION),
	CALL(flock, JUST, LOCK),
	CALL(fcntl, JUST, LOCK),
	CALL(semop, JUST, LOCK),
	CALL(semtimedop, JUST, LOCK),
};

/* Whether somebody sits there, who may type or not: devices by their numbers
 * (Documentation/admin-guide/devices.txt). */
static bool is_terminal(unsigned major)
{
	enum { TTY = 4, TTY_ITSELF = 5, PTS = 136, PTS_LAST = 143 };

	return major == TTY || major == TTY_ITSELF || (major >= PTS && major <= PTS_LAST);
}

/* What waiting for @target means, which a link of /proc/PID/fd names. */
static enum dw_wait_kind kind_of_target(const char *target, const char *link)
{
	static const struct {
		const char *prefix;
		enum dw_wait_kind kind;
	} known[] = {
		{"socket:", DWELL_WAIT_SOCKET},
		{"pipe:", DWELL_WAIT_PIPE},
		{"anon_inode:[eventfd]", DWELL_WAIT_CONDITION},
		{"anon_inode:[timerfd]", DWELL_WAIT_TIMER},
		{"anon_inode:[eventpoll]", DWELL_WAIT_IDLE},
		{"anon_inode:[signalfd]", DWELL_WAIT_IDLE},
		{"anon_inode:inotify", DWELL_WAIT_IDLE},
		{"anon_inode:[pidfd]", DWELL_WAIT_CHILD},
		{"anon_inode:", DWELL_WAIT_OTHER},
		{"pidfd:", DWELL_WAIT_CHILD},
	};
	struct stat st;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(target, known[i].prefix, strlen(known[i].prefix)))
			return known[i].kind;
	if (stat(link, &st))
		return DWELL_WAIT_DISK;
	if (S_ISFIFO(st.st_mode))
		return DWELL_WAIT_PIPE;
	if (!S_ISCHR(st.st_mode))
		return DWELL_WAIT_DISK;
	return is_terminal(major(st.st_rdev)) ? DWELL_WAIT_IDLE : DWELL_WAIT_OTHER;
}

static enum dw_wait_kind kind_of_fd(pid_t pid, uint64_t fd, enum dw_wait_kind otherwise)
{
	char link[64], target[PATH_BYTES];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, (int)fd);
	n = readlink(link, target, sizeof target - 1);
	if (n <= 0)
		return otherwise;
	target[n] = 0;
	return kind_of_target(target, link);
}

/* Of several descriptors that are waited for together nobody knows which is meant: that is how
 * event loops wait. None at all is a sleep. */
static enum dw_wait_kind kind_of_poll(pid_t pid, const struct dw_task_place *place)
{
	struct pollfd one;

	if (!place->argument[1])
		return DWELL_WAIT_SLEEP;
	if (place->argument[1] > 1 ||
	    dw_memory_read(pid, place->argument[0], &one, sizeof one) != sizeof one || one.fd < 0)
		return DWELL_WAIT_IDLE;
	return kind_of_fd(pid, (uint64_t)one.fd, DWELL_WAIT_IDLE);
}

static enum dw_wait_kind kind_of_select(pid_t pid, const struct dw_task_place *place)
{
	unsigned all = 0;
	int fd = -1;

	for (int set = 1; set <= 3; set++) {
		fd_set fds;

		FD_ZERO(&fds);
		if (place->argument[set] &&
		    dw_memory_read(pid, place->argument[set], &fds, sizeof fds) < 0)
			return DWELL_WAIT_IDLE;
		for (int i = 0; i < FD_SETSIZE && (uint64_t)i < place->argument[0]; i++)
			if (FD_ISSET(i, &fds) && i != fd) {
				fd = i;
				all++;
			}
	}
	if (!all)
		return DWELL_WAIT_SLEEP;
	return all > 1 ? DWELL_WAIT_IDLE : kind_of_fd(pid, (uint64_t)fd, DWELL_WAIT_IDLE);
}

/* The C library's locks wait while the word is 2, those with an owner let the kernel know him
 * (glibc's lowlevellock.h); who joins a thread waits for its number in memory that is not declared
 * as the process's own. */
static enum dw_wait_kind kind_of_futex(pid_t pid, const struct dw_task_place *place)
{
	unsigned op = place->argument[1] & FUTEX_CMD_MASK;
	char path[64];

	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ||
	    ((op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && place->argument[2] == 2))
		return DWELL_WAIT_LOCK;
	if (!(place->argument[1] & FUTEX_PRIVATE_FLAG) && place->argument[2]) {
		snprintf(path, sizeof path, "/proc/%d/task/%u", pid, (unsigned)place->argument[2]);
		if (!access(path, F_OK))
			return DWELL_WAIT_CHILD;
	}
	return DWELL_WAIT_CONDITION;
}

enum dw_wait_kind dw_wait_kind_at(pid_t pid, const struct dw_task_place *place)
{
	const struct call *c = calls, *end = calls + sizeof calls / sizeof *calls;

	if (place->call == -1)
		return DWELL_WAIT_DISK; /* a page, or it would not wait */
	while (c < end && c->number != place->call)
		c++;
	if (c == end)
		return DWELL_WAIT_OTHER;
	switch (c->how) {
	case BY_FD:
		return kind_of_fd(pid, place->argument[0], c->kind);
	case BY_POLL:
		return kind_of_poll(pid, place);
	case BY_SELECT:
		return kind_of_select(pid, place);
	case BY_FUTEX:
		return kind_of_futex(pid, place);
	case BY_TIMEOUT:
		return place->argument[2] ? DWELL_WAIT_TIMER : DWELL_WAIT_IDLE;
	default:
		return c->kind;
	}
}
