/*
 * Reads and writes whose numbers test-file-io.py knows: each function does one kind of thing, to
 * files in the working folder, pipes and sockets: files [exec|confined|spin N]. "exec" is what it
 * does when it is executed again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { MANY = 300, THREADS = 4, TEMPORARIES = 20 };

static char buffer[1 << 14];
static int handler_fd;

static void must(int is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	_exit(1);
}

static int open_file(const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC, 0600);

	must(fd >= 0, name);
	return fd;
}

/* 10,000 bytes in 10 calls. */
NOINLINE static void make(const char *name)
{
	int fd = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);

	for (int i = 0; i < 10; i++)
		must(write(fd, buffer, 1000) == 1000, "write");
	close(fd);
}

NOINLINE static void read_small(void)
{
	int fd = open_file("data", O_RDONLY);

	for (int i = 0; i < 100; i++)
		must(read(fd, buffer, 70) == 70, "read");
	close(fd);
}

/* 4096, 4096, 1808 and 0 bytes. */
NOINLINE static void read_to_end(void)
{
	int fd = open_file("data", O_RDONLY);

	while (read(fd, buffer, 4096) > 0)
		;
	close(fd);
}

NOINLINE static void use_vectors(void)
{
	struct iovec v[] = {{buffer, 50}, {buffer + 50, 50}};
	int in = open_file("data", O_RDONLY);
	int out = open_file("vectors", O_WRONLY | O_CREAT | O_TRUNC);

	must(readv(in, v, 2) == 100 && preadv(in, v, 2, 10) == 100 &&
		     preadv2(in, v, 1, 20, 0) == 50 && pread(in, buffer, 10, 9995) == 5,
	     "readv");
	must(writev(out, v, 2) == 100 && pwritev(out, v, 2, 10) == 100 &&
		     pwritev2(out, v, 1, 20, 0) == 50 && pwrite(out, buffer, 10, 0) == 10,
	     "writev");
	close(in);
	close(out);
}

NOINLINE static void append(void)
{
	int fd = open_file("log", O_WRONLY | O_CREAT | O_APPEND);

	for (int i = 0; i < 50; i++)
		must(write(fd, "abc", 3) == 3, "append");
	close(fd);
}

NOINLINE static void read_one(const char *name, int bytes)
{
	int fd = open_file(name, O_RDONLY);

	must(read(fd, buffer, (size_t)bytes) == bytes, "read");
	close(fd);
}

/* One descriptor, two files in turns. */
NOINLINE static void reuse(void)
{
	for (int i = 0; i < 20; i++)
		read_one(i % 2 ? "two" : "one", 1);
}

NOINLINE static void duplicate(void)
{
	int one = open_file("one", O_RDONLY), two = open_file("two", O_RDONLY), third;

	must(read(two, buffer, 5) == 5, "read");
	must(dup2(one, two) == two, "dup2");
	must(read(two, buffer, 7) == 7, "read");
	third = dup(one);
	must(read(third, buffer, 3) == 3, "read");
	close(third);
	must(dup3(open_file("two", O_RDONLY), two, O_CLOEXEC) == two, "dup3");
	must(read(two, buffer, 11) == 11, "read");
	close(one);
	close(two);
	close(two + 1);
}

NOINLINE static void move(void)
{
	int in = open_file("data", O_RDONLY), ends[2];
	int out = open_file("copy", O_WRONLY | O_CREAT | O_TRUNC);

	must(!pipe2(ends, O_CLOEXEC), "pipe");
	must(sendfile(out, in, NULL, 1000) == 1000, "sendfile");
	must(copy_file_range(in, NULL, out, NULL, 500, 0) == 500, "copy_file_range");
	must(splice(in, NULL, ends[1], NULL, 200, 0) == 200, "splice");
	must(splice(ends[0], NULL, out, NULL, 200, 0) == 200, "splice");
	close(in);
	close(out);
	close(ends[0]);
	close(ends[1]);
}

NOINLINE static void fail(void)
{
	int fd = open_file("one", O_RDONLY), ends[2];

	must(!pipe2(ends, O_CLOEXEC | O_NONBLOCK), "pipe");
	for (int i = 0; i < 3; i++)
		must(read(-1, buffer, 1) < 0 && errno == EBADF, "read of nothing");
	for (int i = 0; i < 4; i++)
		must(read(ends[0], buffer, 1) < 0 && errno == EAGAIN, "read of an empty pipe");
	must(write(fd, "x", 1) < 0 && errno == EBADF, "write");
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

NOINLINE static void use_pipe(void)
{
	int ends[2];

	must(!pipe2(ends, O_CLOEXEC), "pipe");
	for (int i = 0; i < 5; i++)
		must(write(ends[1], buffer, 100) == 100 && read(ends[0], buffer, 200) == 100,
		     "pipe");
	close(ends[0]);
	close(ends[1]);
}

NOINLINE static void use_sockets(void)
{
	struct iovec v[] = {{buffer, 20}, {buffer, 5}, {buffer, 6}};
	struct mmsghdr two[] = {{{.msg_iov = v + 1, .msg_iovlen = 1}, 0},
				{{.msg_iov = v + 2, .msg_iovlen = 1}, 0}};
	struct msghdr one = {.msg_iov = v, .msg_iovlen = 1};
	int ends[2];

	must(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), "socketpair");
	for (int i = 0; i < 3; i++)
		must(send(ends[1], buffer, 11, 0) == 11 && recv(ends[0], buffer, 20, 0) == 11,
		     "send");
	must(sendmsg(ends[1], &one, 0) == 20 && recvmsg(ends[0], &one, 0) == 20, "sendmsg");
	must(sendmmsg(ends[1], two, 2, 0) == 2 && recvmmsg(ends[0], two, 2, 0, NULL) == 2,
	     "sendmmsg");
	close(ends[0]);
	close(ends[1]);
}

/* Files whose inodes may be the same, one after the other. */
NOINLINE static void use_temporaries(void)
{
	char name[16];

	for (int i = 0; i < TEMPORARIES; i++) {
		int fd;

		snprintf(name, sizeof name, "temp-%d", i);
		fd = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);
		must(write(fd, buffer, 3) == 3, "write");
		close(fd);
		unlink(name);
	}
}

/* A file that has not changed for long. */
NOINLINE static void read_steady(void)
{
	for (int i = 0; i < 10; i++)
		read_one("/proc/self/exe", 4);
}

NOINLINE static void use_event(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	uint64_t n = 1;

	must(write(fd, &n, sizeof n) == sizeof n && read(fd, &n, sizeof n) == sizeof n, "eventfd");
	close(fd);
}

NOINLINE static void *read_in_thread(void *fd)
{
	char own[16];

	for (int i = 0; i < 25; i++)
		must(pread(*(int *)fd, own, 10, i) == 10, "pread");
	return NULL;
}

NOINLINE static void use_threads(void)
{
	pthread_t threads[THREADS];
	int fd = open_file("data", O_RDONLY);

	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, read_in_thread, &fd), "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	close(fd);
}

NOINLINE static void write_family(int fd)
{
	must(write(fd, "ab", 2) == 2, "write");
}

static void wait_for(pid_t pid)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "child");
}

/* The parent's descriptor, and in the child another file behind its number. */
NOINLINE static void use_fork(void)
{
	int fd = open_file("family", O_WRONLY | O_CREAT | O_TRUNC);
	pid_t pid;

	write_family(fd);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 7; i++)
			write_family(fd);
		close(fd);
		must(open_file("one", O_RDONLY) == fd && read(fd, buffer, 9) == 9, "child's");
		_exit(0);
	}
	wait_for(pid);
	write_family(fd);
	close(fd);
}

NOINLINE static void use_vfork(void)
{
	int fd = open_file("two", O_RDONLY);
	pid_t pid;

	must(read(fd, buffer, 2) == 2, "read");
	pid = vfork();
	if (!pid) {
		close(fd);
		_exit(0);
	}
	wait_for(pid);
	must(read(fd, buffer, 2) == 2, "read");
	close(fd);
}

NOINLINE static void use_exec(const char *self)
{
	pid_t pid = fork();

	if (!pid) {
		execl(self, self, "exec", NULL);
		_exit(1);
	}
	wait_for(pid);
}

NOINLINE static void read_many(void)
{
	int fds[MANY];
	char name[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "many-%d", i);
		fds[i] = open_file(name, O_RDWR | O_CREAT | O_TRUNC);
		must(write(fds[i], "ab", 2) == 2, "write");
	}
	for (int n = 0; n < 2; n++)
		for (int i = 0; i < MANY; i++)
			must(pread(fds[i], buffer, 1, n) == 1, "pread");
	must(!close_range((unsigned)fds[0], (unsigned)fds[MANY - 1], 0), "close_range");
	must(open_file("one", O_RDONLY) == fds[0] && read(fds[0], buffer, 13) == 13, "read");
	close(fds[0]);
}

NOINLINE static void on_alarm(int number)
{
	(void)number;
	must(write(handler_fd, "!", 1) == 1, "write");
}

NOINLINE static void be_interrupted(void)
{
	const struct itimerval soon = {{0, 0}, {0, 50000}};
	struct sigaction action = {.sa_handler = on_alarm};
	int ends[2];

	must(!pipe2(ends, O_CLOEXEC), "pipe");
	handler_fd = open_file("handled", O_WRONLY | O_CREAT | O_TRUNC);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	must(read(ends[0], buffer, 1) < 0 && errno == EINTR, "read");
	close(handler_fd);
	close(ends[0]);
	close(ends[1]);
}

NOINLINE static void do_executed(void)
{
	int fd = open_file("data", O_RDONLY);

	for (int i = 0; i < 6; i++)
		must(read(fd, buffer, 1) == 1, "read");
	close(fd);
}

NOINLINE static void forbid_nothing(void)
{
	struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog filter = {1, all};

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		     !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter),
	     "seccomp");
}

/* What it has used before, and what comes after, while the agent may make no system calls. */
NOINLINE static void read_confined(void)
{
	int one = open_file("one", O_RDONLY), two;

	must(read(one, buffer, 2) == 2, "read");
	forbid_nothing();
	must(read(one, buffer, 3) == 3, "read");
	two = open_file("two", O_RDONLY);
	must(read(two, buffer, 5) == 5 && read(one, buffer, 4) == 4, "read");
	close(one);
	must(dup(two) == one && read(one, buffer, 6) == 6, "read");
	close(one);
	close(two);
}

/* The time of a call: @n reads of a byte. */
NOINLINE static void spin(long n)
{
	int fd = open_file("/dev/zero", O_RDONLY);

	while (n--)
		must(read(fd, buffer, 1) == 1, "read");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		spin(atol(argv[2]));
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		do_executed();
		return 0;
	}
	if (argc > 1) {
		make("one");
		make("two");
		read_confined();
		return 0;
	}
	make("data");
	make("one");
	make("two");
	read_small();
	read_to_end();
	use_vectors();
	append();
	reuse();
	duplicate();
	move();
	fail();
	use_pipe();
	use_sockets();
	use_temporaries();
	read_steady();
	use_event();
	use_threads();
	use_fork();
	use_vfork();
	use_exec("/proc/self/exe");
	read_many();
	be_interrupted();
	return 0;
}
