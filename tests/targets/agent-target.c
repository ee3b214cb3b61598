/*
 * What a program can see and do when an agent is in it: agent-target MODE [N]. Prints what it sees;
 * events go to the agent, if there is one (tests/tools/agent-part.c).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

extern char **environ;
extern bool dwell_test_event(void) __attribute__((weak));
extern void *dwell_test_real(const char *name) __attribute__((weak));

static int number;

static bool event(void)
{
	return dwell_test_event && dwell_test_event();
}

static int wait_all(void)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad += status != 0;
	return bad;
}

/* Descriptors, environment, auxiliary words, signal mask, control words. */
static int see(void)
{
	DIR *folder = opendir("/proc/self/fd");
	char **word = environ;
	sigset_t mask;
	unsigned int mxcsr;
	unsigned short x87;

	for (struct dirent *entry; (entry = readdir(folder));)
		printf("descriptor %s\n", entry->d_name);
	closedir(folder);
	printf("next descriptor %d\n", dup(0));
	for (; *word; word++)
		printf("variable %s\n", *word);
	for (Elf64_auxv_t *aux = (Elf64_auxv_t *)(word + 1); aux->a_type; aux++)
		if (aux->a_type == AT_PAGESZ || aux->a_type == AT_PHENT || aux->a_type == AT_CLKTCK)
			printf("word %lu is %lu, by walking\n", aux->a_type, aux->a_un.a_val);
	printf("pages of %lu bytes\n", getauxval(AT_PAGESZ));
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < 65; i++)
		if (sigismember(&mask, i))
			printf("blocked %d\n", i);
	__asm__("stmxcsr %0" : "=m"(mxcsr));
	__asm__("fnstcw %0" : "=m"(x87));
	printf("mxcsr %x x87 %x errno %d\n", mxcsr, x87, errno);
	return 0;
}

/* What a failing execve() says. */
static int fail(void)
{
	static char *huge[100];
	static char text[130000];
	const char *const paths[] = {"/nowhere", "/dev/null", "/etc/passwd", "/proc/self/exe/x",
				     "",	 "/",	      NULL};
	char *const words[] = {"x", NULL};

	for (int i = 0; paths[i] || i < 7; i++) {
		errno = 0;
		printf("%d", execve(paths[i], words, environ));
		printf(" errno %d\n", errno);
		if (!paths[i])
			break;
	}
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 99; i++)
		huge[i] = text;
	printf("%d", execve("/bin/true", words, huge));
	printf(" errno %d\n", errno);
	printf("%d", fexecve(-1, words, environ));
	printf(" errno %d\n", errno);
	printf("%d", execveat(99, "", words, environ, AT_EMPTY_PATH));
	printf(" errno %d\n", errno);
	return 0;
}

/* @number children by fork(), each with one event. */
static int forks(void)
{
	int counted = event(), bad = 0;

	for (int i = 0; i < number; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(event() != counted);
		if (i % 20 == 19)
			bad += wait_all();
	}
	return bad + wait_all();
}

static int count_in_child(void *unused)
{
	(void)unused;
	return !event();
}

/* A child by clone() that shares no memory, one that does, and a grandchild by vfork(). */
static int clones(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int own, shared, by_vfork;
	pid_t pid;

	event();
	own = clone(count_in_child, stack + sizeof(stack), SIGCHLD, NULL);
	waitpid(own, &own, 0);
	shared = clone(count_in_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	waitpid(shared, &shared, 0);
	pid = fork();
	if (!pid) {
		pid = vfork();
		if (!pid)
			_exit(count_in_child(NULL));
		waitpid(pid, &by_vfork, 0);
		_exit(WEXITSTATUS(by_vfork) << 1 | count_in_child(NULL));
	}
	waitpid(pid, &by_vfork, 0);
	printf("not counted: own memory %d, shared memory %d, vfork and its parent %d\n",
	       WEXITSTATUS(own), WEXITSTATUS(shared), WEXITSTATUS(by_vfork));
	return 0;
}

/* All memory that comes from now on is locked, as far as the limit lets it. */
static int locked(void)
{
	pid_t pid;
	int status;

	if (mlockall(MCL_FUTURE) || mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 2;
	event();
	pid = fork();
	if (!pid)
		_exit(event() ? 0 : dwell_test_event != NULL); /* locks are not inherited */
	waitpid(pid, &status, 0);
	return status != 0;
}

static void *count_in_thread(void *unused)
{
	event();
	return unused;
}

/* @number threads, one after the other in batches. */
static int threads(void)
{
	enum { BATCH = 50 };
	pthread_t batch[BATCH];

	for (int i = 0; i < number; i += BATCH) {
		for (int j = 0; j < BATCH; j++)
			pthread_create(&batch[j], NULL, count_in_thread, NULL);
		for (int j = 0; j < BATCH; j++)
			pthread_join(batch[j], NULL);
	}
	return 0;
}

static void *fork_in_thread(void *result)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		count_in_thread(NULL);
		_exit(0);
	}
	event();
	waitpid(pid, &status, 0);
	return status ? result : NULL;
}

/* @number threads at once that fork. */
static int storm(void)
{
	pthread_t *all = calloc((size_t)number, sizeof(*all));
	pthread_attr_t small;
	void *bad;
	int bad_n = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < number; i++)
		pthread_create(&all[i], &small, fork_in_thread, all);
	for (int i = 0; i < number; i++) {
		pthread_join(all[i], &bad);
		bad_n += bad != NULL;
	}
	free(all);
	return bad_n;
}

static void on_alarm(int signal)
{
	(void)signal;
	event();
}

/* Signal handlers with events, forks between them. */
static int alarms(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {0};

	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < number; i++) {
		setitimer(ITIMER_REAL, &often, NULL);
		for (int j = 0; j < 1000; j++)
			event();
		pid_t pid = fork();
		if (!pid) {
			for (int j = 0; j < 100; j++)
				event();
			_exit(0);
		}
		setitimer(ITIMER_REAL, &never, NULL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* A filter that kills for every call but those that this program makes. */
static int filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_wait4, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	pid_t pid;
	int status;

	event();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (number ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
		   : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return 2;
	event();
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		event();
		syscall(SYS_exit_group, 0);
	}
	syscall(SYS_wait4, pid, &status, 0, NULL);
	syscall(SYS_write, 1, "filtered\n", 9);
	return status != 0;
}

/* Every symbol of the C library that is asked for is the one that dlsym() finds. */
static int real(void)
{
	const char *const names[] = {"malloc", "dlsym",	 "memcpy",  "pthread_create", "environ",
				     "cos",    "stdout", "execvpe", "nowhere_at_all", "_exit"};
	void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
	int bad = 0;

	if (!dwell_test_real)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *want = dlsym(i == 5 ? library : RTLD_NEXT, names[i]);

		if (dwell_test_real(names[i]) == want)
			continue;
		printf("%s: %p, want %p\n", names[i], dwell_test_real(names[i]), want);
		bad++;
	}
	return bad;
}

static const struct mode {
	const char *name;
	int (*run)(void);
} modes[] = {
	{"see", see},	      {"fail", fail},	  {"forks", forks},   {"clones", clones},
	{"threads", threads}, {"storm", storm},	  {"alarms", alarms}, {"filter", filter},
	{"real", real},	      {"locked", locked},
};

int main(int argc, char **argv)
{
	number = argc > 2 ? atoi(argv[2]) : 0;
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	return 1;
}
