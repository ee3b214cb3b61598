/*
 * Bad pointers given to what agents stand in for, and to the system calls that they see: pointers
 * [MAPS]. Prints for each call its result and errno, or the signal that ended the child in which it
 * was made; the same on every run. Then calls functions for a while. MAPS is a file for what of
 * /proc/self/maps names an agent.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *const arguments[] = {"true", NULL};
static char *const none[] = {NULL};
static char *const odd_texts[] = {"NO_EQUALS", "", "LD_PRELOAD=", NULL};
static char *page; /* no text ends in it */
/* Lists of texts. */
static struct list {
	const char *name;
	char *const *texts;
} lists[12];
static size_t list_n;
static const int *const no_memory = (const int *)8;

static void add(const char *name, char *const *texts)
{
	lists[list_n++] = (struct list){name, texts};
}

/* A list whose second text is @text. */
static char *const *with(char *text)
{
	char **list = calloc(3, sizeof(*list));

	list[0] = "A=1";
	list[1] = text;
	return list;
}

/* A page filled with x before one that cannot be read. */
static char *make_page(void)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(pages + PAGE, PAGE, PROT_NONE);
	return memset(pages, 'x', PAGE);
}

static void make_lists(void)
{
	char **unended = (char **)(make_page() + PAGE - 2 * sizeof(*unended));

	page = make_page();
	unended[0] = unended[1] = "B=2";
	add("none", none);
	add("null", NULL);
	add("odd", odd_texts);
	add("one", (char *const *)1);
	add("closed", (char *const *)(page + PAGE));
	add("kernel", (char *const *)0xffff888000000000);
	add("no-address", (char *const *)0x8000000000000000);
	add("unended", unended);
	add("bad-text", with((char *)8));
	add("closed-text", with(page + PAGE));
	add("unended-text", with(page));
	add("kernel-text", with((char *)0xffffffffff600000));
}

/* Print what became of a call of @what. */
static void tell(const char *what, const char *how, long result)
{
	printf("%s %s: %ld %s\n", what, how, result, result == -1 ? strerrorname_np(errno) : "");
	fflush(stdout);
}

static void tell_status(const char *what, const char *how, int status)
{
	printf("%s %s: %s %d\n", what, how, WIFSIGNALED(status) ? "signal" : "exit",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
}

/* The ways to execute @path with @argv and @envp; they return when it fails. */
static void by_name(const char *path, char *const *argv, char *const *envp)
{
	execve(path, argv, envp);
}

static void by_number(const char *path, char *const *argv, char *const *envp)
{
	syscall(SYS_execve, path, argv, envp);
}

static void at(const char *path, char *const *argv, char *const *envp)
{
	execveat(AT_FDCWD, path, argv, envp, 0);
}

static void at_by_number(const char *path, char *const *argv, char *const *envp)
{
	syscall(SYS_execveat, -1, path, argv, envp, AT_EMPTY_PATH);
}

static void by_descriptor(const char *path, char *const *argv, char *const *envp)
{
	fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, envp);
}

static void along_path(const char *path, char *const *argv, char *const *envp)
{
	execvpe(path, argv, envp);
}

static const struct {
	const char *name;
	void (*run)(const char *path, char *const *argv, char *const *envp);
} ways[] = {{"execve", by_name},	{"syscall-execve", by_number},
	    {"execveat", at},		{"syscall-execveat", at_by_number},
	    {"fexecve", by_descriptor}, {"execvpe", along_path}};

/* Execute in a child of fork(). */
static void execute(size_t way, const char *how, const char *path, char *const *argv,
		    char *const *envp)
{
	int status;

	if (fork() == 0) {
		ways[way].run(path, argv, envp);
		tell(ways[way].name, how, -1);
		_exit(99);
	}
	wait(&status);
	tell_status(ways[way].name, how, status);
}

static void spawn(const char *how, const char *path, char *const *envp)
{
	pid_t pid;
	int error = posix_spawn(&pid, path, NULL, NULL, arguments, envp), status = 0;

	tell("posix_spawn", how, error);
	if (!error && wait(&status) == pid)
		tell_status("posix_spawn", how, status);
}

/* The program itself goes on after a failure, too. */
static void fail_here(const char *how, char *const *envp)
{
	tell("here", how, execve("/bin/true", arguments, envp));
}

static void execute_all(void)
{
	for (size_t i = 0; i < list_n; i++) {
		const struct list *l = &lists[i];

		for (size_t way = 0; way < sizeof(ways) / sizeof(*ways); way++) {
			execute(way, l->name, "/bin/true", arguments, l->texts);
			execute(way, l->name, "/no/such/file", arguments, l->texts);
			execute(way, l->name, "/etc/passwd", arguments, l->texts);
			execute(way, l->name, "/bin/true", l->texts, none);
		}
		spawn(l->name, "/bin/true", l->texts);
		spawn(l->name, "/no/such/file", l->texts);
		if (i > 2)
			fail_here(l->name, l->texts);
	}
	for (size_t way = 0; way < sizeof(ways) / sizeof(*ways) - 2; way++) {
		execute(way, "path null", NULL, arguments, none);
		execute(way, "path gone", page + PAGE, arguments, none);
		execute(way, "path unended", page + PAGE - 3, arguments, none);
	}
}

/* Run @call in a child, as a plain run may die of it. */
static void apart(const char *name, long (*call)(const void *bad), const void *bad)
{
	int status;

	if (fork() == 0) {
		tell(name, "result", call(bad));
		_exit(0);
	}
	wait(&status);
	tell_status(name, "end", status);
}

static long set_action(const void *bad)
{
	return sigaction(SIGUSR1, bad, NULL);
}
static long set_no_action(const void *bad)
{
	return sigaction(65, bad, NULL);
}
static long set_action_0(const void *bad)
{
	return sigaction(0, bad, NULL);
}
static long get_action(const void *bad)
{
	return sigaction(SIGUSR1, NULL, (void *)bad);
}
static long set_mask(const void *bad)
{
	return sigprocmask(SIG_BLOCK, bad, NULL);
}
static long set_thread_mask(const void *bad)
{
	return pthread_sigmask(SIG_SETMASK, bad, NULL);
}
static long get_mask(const void *bad)
{
	return sigprocmask(SIG_BLOCK, NULL, (void *)bad);
}
static long set_stack(const void *bad)
{
	return sigaltstack(bad, NULL);
}
static long get_stack(const void *bad)
{
	return sigaltstack(NULL, (void *)bad);
}
static long wait_signal(const void *bad)
{
	int number;

	return sigwait(bad, &number);
}
static long wait_info(const void *bad)
{
	return sigwaitinfo(bad, NULL);
}
static long wait_timed(const void *bad)
{
	const struct timespec soon = {0, 1000};

	return sigtimedwait(bad, NULL, &soon);
}
static long read_signals(const void *bad)
{
	return signalfd(-1, bad, 0);
}
static long name_thread(const void *bad)
{
	return prctl(PR_SET_NAME, bad, 0, 0, 0);
}
static long filter(const void *bad)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, 2, bad, 0, 0);
}
static long filter_by_number(const void *bad)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, 1, 0, bad);
}
static long make_timer(const void *bad)
{
	timer_t timer;

	return timer_create(CLOCK_MONOTONIC, (struct sigevent *)bad, &timer);
}
static long look_up(const void *bad)
{
	return getenv(bad) != NULL;
}
static long look_up_in_none(const void *bad)
{
	clearenv();
	return getenv(bad) != NULL;
}
static long protect(const void *bad)
{
	return mprotect((void *)((long)bad & -PAGE), PAGE, PROT_WRITE);
}

static void call_others(const char *name, const void *bad)
{
	static const struct {
		const char *name;
		long (*call)(const void *bad);
	} calls[] = {
		{"sigaction", set_action},
		{"sigaction 65", set_no_action},
		{"sigaction 0", set_action_0},
		{"sigaction old", get_action},
		{"sigprocmask", set_mask},
		{"pthread_sigmask", set_thread_mask},
		{"sigprocmask old", get_mask},
		{"sigaltstack", set_stack},
		{"sigaltstack old", get_stack},
		{"sigwait", wait_signal},
		{"sigwaitinfo", wait_info},
		{"sigtimedwait", wait_timed},
		{"signalfd", read_signals},
		{"prctl name", name_thread},
		{"prctl filter", filter},
		{"seccomp", filter_by_number},
		{"timer_create", make_timer},
		{"getenv", look_up},
		{"getenv, no environment", look_up_in_none},
		{"mprotect", protect},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		printf("%s ", name);
		fflush(stdout);
		apart(calls[i].name, calls[i].call, bad);
	}
}

/* A file, and two connected sockets that never wait. */
static int file, one, other;

/* Calls with the bad pointer @bad, and with @part, @message and @messages, which lead to it. */
#define TRANSFERS(MAKE)                                   \
	MAKE(read(file, bad, 10))                         \
	MAKE(write(one, bad, 10))                         \
	MAKE(readv(file, bad, 2))                         \
	MAKE(writev(one, bad, 2))                         \
	MAKE(readv(file, &part, 1))                       \
	MAKE(writev(one, &part, 1))                       \
	MAKE(preadv(file, bad, 2, 0))                     \
	MAKE(preadv2(file, bad, 1, 0, 0))                 \
	MAKE(pwritev2(one, bad, 2, -1, 0))                \
	MAKE(sendfile(one, file, bad, 10))                \
	MAKE(splice(file, bad, one, bad, 10, 0))          \
	MAKE(copy_file_range(file, bad, one, bad, 10, 0)) \
	MAKE(sendmsg(one, bad, 0))                        \
	MAKE(sendmsg(one, &message, 0))                   \
	MAKE(recvmsg(other, bad, 0))                      \
	MAKE(recvmsg(other, &message, 0))                 \
	MAKE(sendmmsg(one, bad, 2, 0))                    \
	MAKE(sendmmsg(one, &messages, 1, 0))              \
	MAKE(recvmmsg(other, bad, 2, 0, NULL))            \
	MAKE(recvmmsg(other, &messages, 1, 0, bad))       \
	MAKE(recvfrom(other, bad, 9, 0, bad, bad))        \
	MAKE(sendto(one, bad, 9, 0, bad, 16))             \
	MAKE(getdents64(file, bad, 100))                  \
	MAKE(process_vm_readv(getpid(), bad, 1, bad, 1, 0))
#define OPENINGS(MAKE)                                     \
	MAKE(open(bad, 0))                                 \
	MAKE(openat(AT_FDCWD, bad, 0))                     \
	MAKE(creat(bad, 0600))                             \
	MAKE(syscall(SYS_openat2, AT_FDCWD, bad, bad, 24)) \
	MAKE(memfd_create(bad, 0))                         \
	MAKE(pipe2(bad, 0))                                \
	MAKE(socketpair(AF_UNIX, SOCK_STREAM, 0, bad))     \
	MAKE(accept(one, bad, bad))                        \
	MAKE(connect(one, bad, 16))                        \
	MAKE(bind(one, bad, 16))                           \
	MAKE(stat(bad, bad))                               \
	MAKE(fstat(file, bad))                             \
	MAKE(chroot(bad))                                  \
	MAKE(chdir(bad))                                   \
	MAKE(dup2(file, -1))                               \
	MAKE(fcntl(file, F_GETLK, bad))                    \
	MAKE(ioctl(file, TCGETS, bad))                     \
	MAKE(syscall(SYS_getcwd, bad, 100))                \
	MAKE(readlink("/proc/self/exe", bad, 100))         \
	MAKE(rename(bad, bad))                             \
	MAKE(unlink(bad))                                  \
	MAKE(truncate(bad, 0))                             \
	MAKE(execveat(file, bad, bad, bad, 0))
#define WAITS(MAKE)                                \
	MAKE(poll(bad, 3, 0))                      \
	MAKE(ppoll(bad, 1, bad, bad))              \
	MAKE(select(3, bad, NULL, NULL, &no_time)) \
	MAKE(epoll_wait(file, bad, 1, 0))          \
	MAKE(nanosleep(bad, bad))                  \
	MAKE(clock_nanosleep(0, 0, bad, bad))      \
	MAKE(syscall(SYS_futex, bad, 0, 0, bad))   \
	MAKE(waitid(P_ALL, 0, bad, WNOHANG))       \
	MAKE(wait4(-1, bad, WNOHANG, bad))         \
	MAKE(getitimer(0, bad))                    \
	MAKE(setitimer(0, bad, NULL))              \
	MAKE(timer_create(0, bad, bad))            \
	MAKE(sigpending(bad))
#define LIMITS(MAKE)                                           \
	MAKE(getrlimit(RLIMIT_AS, bad))                        \
	MAKE(setrlimit(RLIMIT_AS, bad))                        \
	MAKE(syscall(SYS_prlimit64, 0, RLIMIT_AS, bad, NULL))  \
	MAKE(syscall(SYS_prlimit64, 0, RLIMIT_DATA, bad, bad)) \
	MAKE(madvise(bad, PAGE, MADV_DONTNEED))                \
	MAKE((long)mremap(bad, PAGE, 2 * PAGE, 0))             \
	MAKE(munmap(bad, PAGE))                                \
	MAKE(syscall(SYS_munmap, bad, PAGE))                   \
	MAKE(msync(bad, PAGE, 0))                              \
	MAKE(mincore(bad, PAGE, bad))

/* Make @call in a child, and tell of it. */
#define APART(call)                            \
	if (fork() == 0) {                     \
		errno = 0;                     \
		tell(#call, "result", (call)); \
		_exit(0);                      \
	}                                      \
	wait(&status);                         \
	tell_status(#call, "end", status);

static void call_system(const char *name, void *bad)
{
	struct iovec part = {bad, 100};
	struct msghdr message = {.msg_iov = bad, .msg_iovlen = 3};
	struct mmsghdr messages = {.msg_hdr = message};
	struct timeval no_time = {0, 0};
	int status;

	printf("system calls, %s\n", name);
	fflush(stdout);
	TRANSFERS(APART)
	OPENINGS(APART)
	WAITS(APART)
	LIMITS(APART)
}

static void call_system_all(void)
{
	int pair[2];

	signal(SIGPIPE, SIG_IGN);
	file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		return;
	one = pair[0];
	other = pair[1];
	call_system("1", (void *)1);
	call_system("closed", page + PAGE);
	call_system("kernel", (void *)0xffff888000000000);
	call_system("no address", (void *)0x8000000000000000);
}

__attribute__((noinline)) static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* Work until it can be seen by samples that come with the kernel's ticks. */
static void work(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 3;

	while (clock() < end)
		fib(20);
}

static void write_maps(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "r"), *to = fopen(path, "w");
	char line[1024];

	while (maps && to && fgets(line, sizeof(line), maps))
		if (strstr(line, "libdwell-"))
			fputs(line, to);
	if (maps)
		fclose(maps);
	if (to)
		fclose(to);
}

int main(int argc, char **argv)
{
	make_lists();
	execute_all();
	call_others("8", no_memory);
	call_others("closed", page + PAGE);
	call_others("null", NULL);
	call_system_all();
	work();
	if (argc > 1)
		write_maps(argv[1]);
	return 0;
}
