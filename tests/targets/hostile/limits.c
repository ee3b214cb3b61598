/*
 * Resource limits and sandboxes. Each case takes a limit while it runs and works on, then starts
 * itself again under it, so that a whole start-up happens there too.
 */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE		 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *compute(void *argument)
{
	*(long *)argument = fib(15);
	return NULL;
}

static void work(const char *when)
{
	pthread_attr_t attributes;
	pthread_t thread;
	long in_thread = 0;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	error = pthread_create(&thread, &attributes, compute, &in_thread);
	if (!error)
		pthread_join(thread, NULL);
	printf("%s: fib %ld, in a thread %ld, %d\n", when, fib(20), in_thread, error);
	fflush(stdout);
}

static bool is_second(void)
{
	return getenv("SECOND") != NULL;
}

static void start_again(const char *name)
{
	if (is_second())
		return;
	setenv("SECOND", "1", 1);
	execl("/proc/self/exe", hostile_self, name, NULL);
	printf("cannot start again: %s\n", strerror(errno));
}

static void under(const char *name, int which, rlim_t limit)
{
	struct rlimit both = {limit, limit};

	if (!is_second()) {
		work("without");
		CHECK(!setrlimit(which, &both));
	}
	work(is_second() ? "started so" : "with");
	start_again(name);
}

static void run_address_space(void)
{
	under("address-space", RLIMIT_AS, 96u << 20);
	if (is_second())
		printf("too much: %d\n", malloc(512u << 20) == NULL);
}

static void run_data(void)
{
	under("data", RLIMIT_DATA, 24u << 20);
	if (is_second())
		printf("too much: %d\n", malloc(512u << 20) == NULL);
}

static void run_file_size(void)
{
	under("file-size", RLIMIT_FSIZE, 0);
}

static void run_file_size_written(void)
{
	int file = open("limited", O_RDWR | O_CREAT | O_TRUNC, 0600);

	signal(SIGXFSZ, SIG_IGN);
	under("file-size-written", RLIMIT_FSIZE, 4096);
	if (is_second())
		printf("written %zd\n", write(file, clone, 8192) > 0 ? (ssize_t)4096 : (ssize_t)-1);
}

static void run_few_descriptors(void)
{
	under("few-descriptors", RLIMIT_NOFILE, 4);
	if (is_second())
		printf("next %d\n", open("/dev/null", O_RDONLY));
}

static void run_small_stack(void)
{
	under("small-stack", RLIMIT_STACK, 128 << 10);
}

static void run_no_locked_memory(void)
{
	under("no-locked-memory", RLIMIT_MEMLOCK, 0);
}

static void run_no_queued_signals(void)
{
	under("no-queued-signals", RLIMIT_SIGPENDING, 0);
}

/* Everything, now and later, is locked into memory. */
static void run_locked(void)
{
	printf("locked %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
	work("locked");
	munlockall();
	start_again("locked");
}

static void run_no_new_privileges(void)
{
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	work("no new privileges");
	start_again("no-new-privileges");
}

/* Memory that becomes executable is refused from here on, also to what is started. */
static void run_no_new_code(void)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		CHECK(errno == EINVAL || is_second());
	work("no new code");
	start_again("no-new-code");
}

/* Nothing but reading, writing and leaving is allowed any more. */
static void run_strict(void)
{
	char text[100];
	int length;

	work("before");
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	length = snprintf(text, sizeof(text), "fib %ld\n", fib(22));
	syscall(SYS_write, 1, text, length);
	syscall(SYS_exit, 0);
}

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW(name)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL(name)                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void filter(const struct sock_filter *rules, size_t count)
{
	struct sock_fprog program = {(unsigned short)count, (struct sock_filter *)(uintptr_t)rules};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* What computing, threads and printing need, and nothing else. */
static void run_filter(void)
{
	static const struct sock_filter rules[] = {
		LOAD_NUMBER,
		ALLOW(write),
		ALLOW(exit_group),
		ALLOW(exit),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(futex),
		ALLOW(clone),
		ALLOW(clone3),
		ALLOW(rseq),
		ALLOW(set_robust_list),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mprotect),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(newfstatat),
		ALLOW(getrandom),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};

	work("before");
	filter(rules, sizeof(rules) / sizeof(rules[0]));
	work("after");
	for (int i = 0; i < 5; i++)
		work("again");
}

/* The usual way of services: rare calls kill, and that holds for programs started later. */
static void run_filter_start(void)
{
	static const struct sock_filter rules[] = {
		LOAD_NUMBER,
		KILL(memfd_create),
		KILL(perf_event_open),
		KILL(process_vm_readv),
		KILL(process_vm_writev),
		KILL(ptrace),
		KILL(fallocate),
		KILL(socket),
		KILL(bpf),
		KILL(userfaultfd),
		KILL(membarrier),
		KILL(seccomp),
		KILL(timer_create),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (!is_second())
		filter(rules, sizeof(rules) / sizeof(rules[0]));
	work("filtered");
	start_again("filter-start");
}

/* A program that started as somebody gives its rights away. */
static void run_other_user(void)
{
	if (!is_second() &&
	    (getuid() || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		puts("cannot become another user");
	work("other user");
	printf("user %d\n", getuid() ? 1 : 0);
	start_again("other-user");
}

static void run_other_root(void)
{
	int status;

	CHECK(!mkdir("root", 0700) || errno == EEXIST); /* it cannot be removed from inside */
	if (chroot("root") || chdir("/"))
		puts("cannot change the root");
	work("other root");
	if (fork() == 0) {
		work("child");
		_exit(0);
	}
	wait(&status);
	printf("child %d\n", status);
}

static const struct hostile_case cases[] = {
	{"address-space", run_address_space},
	{"data", run_data},
	{"file-size", run_file_size},
	{"file-size-written", run_file_size_written},
	{"few-descriptors", run_few_descriptors},
	{"small-stack", run_small_stack},
	{"no-locked-memory", run_no_locked_memory},
	{"no-queued-signals", run_no_queued_signals},
	{"locked", run_locked},
	{"no-new-privileges", run_no_new_privileges},
	{"no-new-code", run_no_new_code},
	{"strict", run_strict},
	{"filter", run_filter},
	{"filter-start", run_filter_start},
	{"other-user", run_other_user},
	{"other-root", run_other_root},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
