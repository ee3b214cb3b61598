/*
 * What a process has from its start: descriptors, environment, limits, attributes, threads. A
 * program that looks sees what it sees in a plain run.
 */
#include "hostile.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *compute(void *argument)
{
	*(long *)argument = fib(20);
	return NULL;
}

/* Life goes on: computing, threads, children, libraries. */
static void go_on(void)
{
	pthread_t threads[4];
	long results[4];
	int status;
	void *math;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, compute, &results[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	fflush(stdout);
	if (fork() == 0)
		_exit((int)fib(10));
	wait(&status);
	math = dlopen("libm.so.6", RTLD_NOW);
	printf("fib %ld, child %d, library %d\n", results[0], WEXITSTATUS(status), math != NULL);
	fflush(stdout);
	if (fork() == 0) {
		execl("/bin/echo", "echo", "a child talks", NULL);
		_exit(1);
	}
	wait(&status);
	printf("echo %d\n", WEXITSTATUS(status));
}

static void list_descriptors(void)
{
	for (int i = 0; i < 1024; i++)
		if (fcntl(i, F_GETFD) >= 0)
			printf("descriptor %d, flags %d\n", i, fcntl(i, F_GETFD));
}

static void run_descriptors(void)
{
	list_descriptors();
	printf("next %d\n", open("/dev/null", O_RDONLY));
	printf("next %d\n", dup(0));
	printf("high %d\n", fcntl(0, F_DUPFD, 500));
	list_descriptors();
}

static int compare_numbers(const struct dirent **a, const struct dirent **b)
{
	return atoi((*a)->d_name) - atoi((*b)->d_name);
}

static void run_descriptor_folder(void)
{
	struct dirent **entries;
	int count = scandir("/proc/self/fd", &entries, NULL, compare_numbers);

	for (int i = 0; i < count; i++)
		printf("%s ", entries[i]->d_name);
	printf("\n%d entries\n", count);
}

static void run_closefrom(void)
{
	closefrom(3);
	go_on();
	list_descriptors();
}

static void run_close_range(void)
{
	CHECK(!close_range(3, ~0u, 0));
	go_on();
	CHECK(!close_range(3, ~0u, CLOSE_RANGE_UNSHARE));
	go_on();
}

static void run_close_all(void)
{
	for (int i = 3; i < 4096; i++)
		close(i);
	go_on();
	for (int i = 3; i < 100; i++)
		CHECK(dup2(1, i) == i);
	go_on();
}

static int compare_strings(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

extern char **environ;

static void run_environment(void)
{
	char *names[1000];
	size_t count = 0;

	for (; environ[count] && count < 1000; count++)
		names[count] = environ[count];
	qsort(names, count, sizeof(*names), compare_strings);
	for (size_t i = 0; i < count; i++)
		puts(names[i]);
	printf("LD_PRELOAD %s, LD_AUDIT %s\n", getenv("LD_PRELOAD"), getenv("LD_AUDIT"));
}

static void run_environment_file(void)
{
	static char text[65536];
	int file = open("/proc/self/environ", O_RDONLY);
	ssize_t length = read(file, text, sizeof(text) - 1);

	for (ssize_t i = 0; i < length; i += (ssize_t)strlen(text + i) + 1)
		puts(text + i);
}

static void run_environment_of_child(void)
{
	fflush(stdout);
	CHECK(!system("env | sort | grep -v ^_="));
	setenv("MARK", "1", 1);
	unsetenv("HOME");
	CHECK(!system("env | sort | grep -v ^_="));
	clearenv();
	CHECK(!system("env | sort | grep -v ^_="));
	setenv("LD_PRELOAD", "", 1);
	CHECK(!system("env | sort | grep -v ^_="));
}

static void print_file(const char *path)
{
	char text[4096];
	int file = open(path, O_RDONLY);
	ssize_t length = read(file, text, sizeof(text) - 1);

	close(file);
	for (ssize_t i = 0; i < length; i++)
		if (!text[i])
			text[i] = ' ';
	printf("%.*s\n", length < 0 ? 0 : (int)length, text);
}

static void print_status(const char *const *names)
{
	char line[512];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		for (const char *const *name = names; *name; name++)
			if (!strncmp(line, *name, strlen(*name)))
				fputs(line, stdout);
	if (file)
		fclose(file);
}

static void run_attributes(void)
{
	static const char *const names[] = {
		/* Not VmPin: where the user's memory for perf has run out, our event's page is in
		   it. */
		"Name", "Umask",     "Uid",	"Gid",		"Groups", "VmLck", "Threads",
		"Cap",	"NoNewPriv", "Seccomp", "Cpus_allowed", "THP",	  NULL};
	cpu_set_t processors;
	int deathsig = -1;

	print_status(names);
	print_file("/proc/self/comm");
	print_file("/proc/self/oom_score_adj");
	sched_getaffinity(0, sizeof(processors), &processors);
	prctl(PR_GET_PDEATHSIG, &deathsig);
	printf("nice %d, processors %d, policy %d\n", getpriority(PRIO_PROCESS, 0),
	       CPU_COUNT(&processors), sched_getscheduler(0));
	printf("dumpable %d, death signal %d, subreaper slack %d, keepcaps %d\n",
	       prctl(PR_GET_DUMPABLE), deathsig, prctl(PR_GET_TIMERSLACK), prctl(PR_GET_KEEPCAPS));
	printf("tsc %d, secure %lu, parent of 1 %d\n", prctl(PR_GET_SECCOMP), getauxval(AT_SECURE),
	       getppid() == 1);
}

static void run_name(void)
{
	extern char *program_invocation_name, *program_invocation_short_name;
	const char *executable = (const char *)getauxval(AT_EXECFN), *slash;
	char link[4096];
	ssize_t length = readlink("/proc/self/exe", link, sizeof(link));

	slash = strrchr(executable, '/');
	printf("%s %s %d\n", program_invocation_short_name, slash ? slash + 1 : executable,
	       !strcmp(program_invocation_name, hostile_self));
	printf("%.*s\n", (int)length, link);
	print_file("/proc/self/cmdline");
}

static void run_limits(void)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit limit;

		getrlimit(i, &limit);
		printf("%d: %lld %lld\n", i, (long long)limit.rlim_cur, (long long)limit.rlim_max);
	}
}

static int count_tasks(void)
{
	struct dirent *entry;
	DIR *folder = opendir("/proc/self/task");
	int count = 0;

	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void *count_in_thread(void *argument)
{
	*(int *)argument = count_tasks();
	return NULL;
}

static void run_tasks(void)
{
	pthread_t thread;
	int count = 0;

	printf("tasks %d\n", count_tasks());
	pthread_create(&thread, NULL, count_in_thread, &count);
	pthread_join(thread, NULL);
	printf("tasks in thread %d\n", count);
	CHECK(getpid() == gettid() && waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void run_errno(void)
{
	int lost = 0;

	for (int i = 0; i < 10000; i++) {
		errno = i % 100;
		fib(3);
		lost += errno != i % 100;
	}
	printf("errno lost %d\n", lost);
}

static const struct hostile_case cases[] = {
	{"descriptors", run_descriptors},
	{"descriptor-folder", run_descriptor_folder},
	{"closefrom", run_closefrom},
	{"close-range", run_close_range},
	{"close-all", run_close_all},
	{"environment", run_environment},
	{"environment-file", run_environment_file},
	{"environment-of-child", run_environment_of_child},
	{"attributes", run_attributes},
	{"name", run_name},
	{"limits", run_limits},
	{"tasks", run_tasks},
	{"errno", run_errno},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
