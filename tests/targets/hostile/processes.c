/*
 * Children of all kinds, and programs that trace their children.
 */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int status_of(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void fork_times(int times)
{
	long sum = 0;

	fflush(stdout);
	for (int i = 0; i < times; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit((int)fib(10) + i % 7);
		sum += status_of(child);
	}
	printf("sum %ld\n", sum);
}

static void run_fork(void)
{
	fork_times(50);
}

/* Slow: for long runs. */
static void run_ten_thousand_forks(void)
{
	fork_times(10000);
}

/* Children that leave by exit and so run what every program runs at its end. */
static void run_fork_exit(void)
{
	fflush(stdout);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		if (child == 0) {
			printf("child %d of fib %ld\n", i, fib(10));
			exit(i);
		}
		printf("status %d\n", status_of(child));
		fflush(stdout);
	}
}

static void run_grandchildren(void)
{
	int pipes[2];
	char text[100] = "";
	ssize_t length, total = 0;

	fflush(stdout);
	CHECK(!pipe(pipes));
	for (int depth = 0; depth < 6; depth++) {
		pid_t child = fork();

		if (child) {
			close(pipes[1]);
			if (depth == 0)
				break;
			_exit(status_of(child) + 1);
		}
		dprintf(pipes[1], "%d%ld ", depth, fib(depth));
		if (depth == 5)
			_exit(1);
	}
	while ((length = read(pipes[0], text + total, sizeof(text) - 1 - (size_t)total)) > 0)
		total += length;
	printf("%s, status %d\n", text, status_of(-1));
}

NOINLINE static int vfork_once(int i)
{
	pid_t child = vfork();

	if (child == 0) {
		if (i & 1)
			execl("/bin/true", "true", NULL);
		_exit((int)(fib(5) + i) & 7);
	}
	return status_of(child);
}

static void run_vfork(void)
{
	int sum = 0;

	for (int i = 0; i < 60; i++)
		sum += vfork_once(i) + (int)fib(6);
	printf("sum %d\n", sum);
}

static void run_spawn(void)
{
	char *const words[] = {"sh", "-c", "echo spawned $0 >&4; exit 5", NULL};
	posix_spawn_file_actions_t actions;
	char line[100] = "", *got;
	pid_t child;
	FILE *pipe;

	fflush(stdout);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 1, 4);
	CHECK(!posix_spawn(&child, "/bin/sh", &actions, NULL, words, environ));
	printf("spawn %d\n", status_of(child));
	CHECK(!posix_spawnp(&child, "true", NULL, NULL, words, environ));
	printf("spawnp %d\n", status_of(child));
	CHECK(posix_spawnp(&child, "no-such-program", NULL, NULL, words, environ) == ENOENT);
	fflush(stdout);
	printf("system %d\n", WEXITSTATUS(system("exit 7")));
	pipe = popen("echo from a pipe", "r");
	got = fgets(line, sizeof(line), pipe);
	printf("popen %s, %d\n", got ? line : "nothing", pclose(pipe));
}

/* With an environment of its own, by name, by descriptor: the child runs and sees just that. */
static void run_exec(void)
{
	char *const words[] = {"env", NULL}, *const few[] = {"ONE=1", "TWO=2", NULL},
		    *const none[] = {NULL};

	for (int way = 0; way < 5; way++) {
		fflush(stdout);
		if (fork() == 0) {
			if (way == 0)
				execve("/usr/bin/env", words, few);
			if (way == 1)
				execve("/usr/bin/env", words, none);
			if (way == 2)
				execvpe("env", words, few);
			if (way == 3)
				fexecve(open("/usr/bin/env", O_RDONLY | O_CLOEXEC), words, few);
			if (way == 4)
				execle("/usr/bin/env", "env", NULL, few);
			_exit(99);
		}
		printf("way %d: %d\n", way, status_of(-1));
	}
}

/* The program becomes itself again, many times over. */
static void run_exec_chain(void)
{
	const char *left = getenv("LEFT");
	char next[20];

	snprintf(next, sizeof(next), "%d", left ? atoi(left) - 1 : 20);
	if (atoi(next) > 0) {
		setenv("LEFT", next, 1);
		execl("/proc/self/exe", hostile_self, "exec-chain", NULL);
	}
	printf("fib %ld at the end of the chain\n", fib(12));
}

static volatile int cloned_result;

static int cloned(void *argument)
{
	cloned_result = (int)fib((intptr_t)argument);
	return 3;
}

static char clone_stack[65536] __attribute__((aligned(16)));

/* Tasks that share memory but have no thread of the C library's: fs is the parent's. */
static void run_clone(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t child = clone(cloned, clone_stack + sizeof(clone_stack),
				    CLONE_VM | CLONE_FILES | SIGCHLD, (void *)(intptr_t)(i % 12));

		CHECK(child > 0 && status_of(child) == 3);
		CHECK(cloned_result == (int)fib(i % 12));
	}
	puts("50 tasks");
}

/* Both run at once, in the same functions. */
static void run_clone_beside(void)
{
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		pid_t child = clone(cloned, clone_stack + sizeof(clone_stack),
				    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_VFORK | SIGCHLD,
				    (void *)15);

		bad += fib(15) != 610 || status_of(child) != 3 || cloned_result != 610;
		child = clone(cloned, clone_stack + sizeof(clone_stack), CLONE_VM | SIGCHLD,
			      (void *)15);
		bad += fib(15) != 610;
		bad += status_of(child) != 3;
	}
	printf("bad %d\n", bad);
}

static void run_raw_fork(void)
{
	for (int i = 0; i < 20; i++) {
		struct clone_args arguments = {.exit_signal = SIGCHLD};
		long child = i & 1 ? syscall(SYS_clone3, &arguments, sizeof(arguments))
				   : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child == 0)
			_exit((int)fib(i));
		CHECK(status_of((pid_t)child) == (int)fib(i) % 256);
	}
	puts("20 children");
}

static int atfork_calls[3];

static void before_fork(void)
{
	atfork_calls[0]++;
}

static void after_fork(void)
{
	atfork_calls[1]++;
}

static void in_child(void)
{
	atfork_calls[2]++;
}

static void *fork_in_thread(void *argument)
{
	pid_t child = fork();

	if (child == 0)
		_exit((int)fib(9) + atfork_calls[2]);
	*(int *)argument = status_of(child);
	return NULL;
}

static void run_fork_in_threads(void)
{
	pthread_t threads[8];
	int results[8], sum = 0;

	pthread_atfork(before_fork, after_fork, in_child);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&threads[i], NULL, fork_in_thread, &results[i]);
		for (int i = 0; i < 8; i++) {
			pthread_join(threads[i], NULL);
			sum += results[i];
		}
	}
	printf("sum %d, calls %d %d %d\n", sum, atfork_calls[0], atfork_calls[1], atfork_calls[2]);
}

/* A debugger: stops its child at system calls, reads and changes it, steps it. */
static void run_trace(void)
{
	static volatile long number = 5;
	struct user_regs_struct registers;
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit((int)fib(number));
	}
	waitpid(child, &status, 0);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	CHECK(!ptrace(PTRACE_GETREGS, child, 0, &registers));
	CHECK(ptrace(PTRACE_PEEKDATA, child, &number, 0) == 5);
	CHECK(!ptrace(PTRACE_POKEDATA, child, &number, 10));
	for (int i = 0; i < 200; i++) {
		CHECK(!ptrace(PTRACE_SINGLESTEP, child, 0, 0));
		waitpid(child, &status, 0);
		CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	}
	CHECK(!ptrace(PTRACE_CONT, child, 0, 0));
	printf("status %d\n", status_of(child));
}

/* Every instruction of a computation is stepped: slow, but it ends. */
static void run_trace_all(void)
{
	int status;
	long steps = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit((int)fib(7));
	}
	waitpid(child, &status, 0);
	while (WIFSTOPPED(status) && steps < 400000) {
		steps++;
		ptrace(PTRACE_SINGLESTEP, child, 0, 0);
		waitpid(child, &status, 0);
	}
	printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void run_no_children(void)
{
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	puts("no children");
}

static const struct hostile_case cases[] = {
	{"fork", run_fork},
	{"ten-thousand-forks", run_ten_thousand_forks},
	{"fork-exit", run_fork_exit},
	{"grandchildren", run_grandchildren},
	{"vfork", run_vfork},
	{"spawn", run_spawn},
	{"exec", run_exec},
	{"exec-chain", run_exec_chain},
	{"clone", run_clone},
	{"clone-beside", run_clone_beside},
	{"raw-fork", run_raw_fork},
	{"fork-in-threads", run_fork_in_threads},
	{"trace", run_trace},
	{"trace-all", run_trace_all},
	{"no-children", run_no_children},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
