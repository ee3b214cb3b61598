/*
 * Executes a program by the road named: exec-roads ROAD PROGRAM [ARGUMENT...]. Ends with the
 * child's status, or with errno when it cannot be executed (posix_spawn and fork roads too).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **words; /* of the program */

static int wait_for(pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int by_execve(void)
{
	execve(words[0], words, environ);
	return errno;
}

static int by_execv(void)
{
	execv(words[0], words);
	return errno;
}

static int by_execvp(void)
{
	execvp(words[0], words);
	return errno;
}

static int by_execvpe(void)
{
	execvpe(words[0], words, environ);
	return errno;
}

static int by_execl(void)
{
	execl(words[0], words[0], words[1], (char *)NULL);
	return errno;
}

static int by_execlp(void)
{
	execlp(words[0], words[0], words[1], (char *)NULL);
	return errno;
}

static int by_execle(void)
{
	execle(words[0], words[0], words[1], (char *)NULL, environ);
	return errno;
}

static int by_fexecve(void)
{
	fexecve(open(words[0], O_RDONLY | O_CLOEXEC), words, environ);
	return errno;
}

static int by_fexecve_path(void)
{
	fexecve(open(words[0], O_PATH | O_CLOEXEC), words, environ);
	return errno;
}

static int by_execveat(void)
{
	execveat(AT_FDCWD, words[0], words, environ, 0);
	return errno;
}

static int by_null_environment(void)
{
	char **none = NULL;

	execve(words[0], words, none);
	return errno;
}

static int by_huge_environment(void)
{
	enum { N = 10000 };
	static char *huge[N + 1];

	for (int i = 0; i < N; i++)
		huge[i] = "HUGE=0123456789";
	execve(words[0], words, huge);
	return errno;
}

/* An environment that just fits: with anything more the kernel says E2BIG. */
static int by_full_environment(void)
{
	enum { WORD = 100000, N = 64 };
	static char *full[N], text[WORD];
	int n = 0;

	memset(text, 'x', WORD - 1);
	for (; n < 20; n++)
		full[n] = text;
	for (size_t length = WORD; length; length /= 2) {
		char *more = strdup(text);

		more[length - 1] = '\0';
		full[n] = more;
		pid_t pid = fork();
		if (!pid) {
			char *const nothing[] = {"/bin/true", NULL};

			execve("/bin/true", nothing, full);
			_exit(errno == E2BIG ? 1 : 2);
		}
		if (!wait_for(pid))
			n++;
		full[n] = NULL;
	}
	execve(words[0], words, full);
	return errno;
}

static int by_posix_spawn(void)
{
	pid_t pid;
	int error = posix_spawn(&pid, words[0], NULL, NULL, words, environ);

	return error ? error : wait_for(pid);
}

static int by_posix_spawnp(void)
{
	pid_t pid;
	int error = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);

	return error ? error : wait_for(pid);
}

static int by_system(void)
{
	char line[4096] = "exec";

	for (int i = 0; words[i]; i++) {
		strcat(line, " ");
		strcat(line, words[i]);
	}
	return WEXITSTATUS(system(line));
}

static int by_popen(void)
{
	char line[4096];
	FILE *pipe = popen(words[0], "r");

	while (fgets(line, sizeof(line), pipe))
		fputs(line, stdout);
	return WEXITSTATUS(pclose(pipe));
}

static int by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(by_execvp());
	return wait_for(pid);
}

static int by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execve(words[0], words, environ);
		_exit(errno);
	}
	return wait_for(pid);
}

static void *vfork_in_thread(void *result)
{
	*(int *)result = by_vfork();
	return NULL;
}

static int by_thread(void)
{
	pthread_t thread;
	int result = -1;

	pthread_create(&thread, NULL, vfork_in_thread, &result);
	pthread_join(thread, NULL);
	return result;
}

static int in_clone(void *unused)
{
	(void)unused;
	execve(words[0], words, environ);
	_exit(errno);
}

/* A child that shares memory, on a stack of 8 KB. */
static int by_clone(void)
{
	static char stack[8192] __attribute__((aligned(16)));

	return wait_for(
		clone(in_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
}

static void on_signal(int number)
{
	(void)number;
	_exit(by_execve());
}

/* From a signal handler on an alternate stack of 8 KB. */
static int by_handler(void)
{
	static char stack[8192];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return -1;
}

static int by_syscall(void)
{
	syscall(SYS_execve, words[0], words, environ);
	return errno;
}

static const struct road {
	const char *name;
	int (*run)(void);
} roads[] = {
	{"execve", by_execve},
	{"execv", by_execv},
	{"execvp", by_execvp},
	{"execvpe", by_execvpe},
	{"execl", by_execl},
	{"execlp", by_execlp},
	{"execle", by_execle},
	{"fexecve", by_fexecve},
	{"fexecve-path", by_fexecve_path},
	{"execveat", by_execveat},
	{"null-environment", by_null_environment},
	{"huge-environment", by_huge_environment},
	{"full-environment", by_full_environment},
	{"posix_spawn", by_posix_spawn},
	{"posix_spawnp", by_posix_spawnp},
	{"system", by_system},
	{"popen", by_popen},
	{"fork", by_fork},
	{"vfork", by_vfork},
	{"thread", by_thread},
	{"clone", by_clone},
	{"handler", by_handler},
	{"syscall", by_syscall},
};

int main(int argc, char **argv)
{
	words = argv + 2;
	for (size_t i = 0; argc > 2 && i < sizeof(roads) / sizeof(*roads); i++)
		if (!strcmp(argv[1], roads[i].name))
			return roads[i].run();
	for (size_t i = 0; i < sizeof(roads) / sizeof(*roads); i++)
		puts(roads[i].name);
	return 0;
}
