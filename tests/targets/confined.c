/*
 * Processes that forbid themselves most system calls: confined BY [N].
 *
 * N children, one after the other, each install a filter that kills for every call but write, exit,
 * exit_group and what threads of the C library wait by, then compute on. BY is prctl, seccomp (by
 * syscall()), or threads (likewise, by another thread for all while the first one computes).
 *
 * A tracer stops them at each system call, so that all are taken off the processor while the kernel
 * installs the filter. Prints how many ended well.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3000, CALLS = 40 };

static volatile unsigned int sink;
static int is_confined; /* atomic */
static const char *by;

__attribute__((noinline)) static void leaf(unsigned int n)
{
	for (unsigned int i = 0; i < n % 7 + 1; i++)
		sink += i;
}

__attribute__((noinline)) static void work(unsigned int n)
{
	for (unsigned int i = 0; i < CALLS; i++)
		leaf(n + i);
}

#define ALLOW(name)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine(void)
{
	static struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(write),
		ALLOW(exit),
		ALLOW(exit_group),
		ALLOW(futex),
		ALLOW(madvise),
		ALLOW(rt_sigprocmask),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	if (!strcmp(by, "prctl")
		    ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
		    : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			      !strcmp(by, "threads") ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program))
		_exit(1);
	__atomic_store_n(&is_confined, 1, __ATOMIC_RELEASE);
}

static void *confine_all(void *arg)
{
	confine();
	return arg;
}

/* What a child does; it ends with _exit(). */
static void run_child(void)
{
	pthread_t thread;

	work(1);
	if (!strcmp(by, "threads")) {
		if (pthread_create(&thread, NULL, confine_all, NULL))
			_exit(1);
		while (!__atomic_load_n(&is_confined, __ATOMIC_ACQUIRE))
			work(2);
	} else {
		confine();
	}
	for (unsigned int i = 0; i < ROUNDS; i++)
		work(i);
	_exit(0);
}

/* Stop @child and its threads at all their system calls until it has ended. Its status. */
static int trace(pid_t child)
{
	int status, last = -1;
	pid_t task;

	while ((task = waitpid(-1, &status, __WALL)) > 0) {
		int number = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (!number) {
			last = task == child ? status : last;
			continue;
		}
		ptrace(PTRACE_SETOPTIONS, task, 0, PTRACE_O_TRACECLONE);
		ptrace(PTRACE_SYSCALL, task, 0,
		       number == SIGTRAP || number == SIGSTOP ? 0 : number);
	}
	return last;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 5, well = 0;

	by = argc > 1 ? argv[1] : "prctl";
	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (!child) {
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			run_child();
		}
		well += trace(child) == 0;
	}
	printf("%d of %d\n", well, n);
	return 0;
}
