/*
 * Signals: handlers at a high rate that look at the interrupted instruction, change registers and
 * the place to continue, and the state around them that a program can ask for.
 *
 * How many signals come is up to the machine, so cases run until enough came and print no counts.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { ENOUGH = 300, ROUNDS = 100 };

/* Defined in signals-x86-64.S: loops that only a handler ends, and where they begin and end. */
extern int spin_flag(volatile int *flag);
extern int spin_register(void);
extern int spin_forever(void);
extern int step_here(int number);
extern long wait_here(long call, long first, void *second);
extern char wait_here_call[], wait_here_behind[], wait_here_end[];
extern char spin_flag_end[], spin_register_end[], spin_forever_loop[], spin_forever_out[];

static volatile sig_atomic_t count, outside, inside, flag;
static volatile uintptr_t strange;

static uintptr_t interrupted_at(void *context)
{
	return (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	sigaction(number, &action, NULL);
}

static void set_timer(long microseconds)
{
	struct itimerval every = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &every, NULL);
}

NOINLINE static long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static long mixed(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		switch ((i * 7 + sum) & 7) {
		case 0:
			sum += fib(i & 7);
			break;
		case 1:
			sum ^= i;
			break;
		case 2:
			sum -= 3;
			break;
		case 3:
			sum += i << 1;
			break;
		case 4:
			sum = -sum;
			break;
		case 5:
			sum |= 1;
			break;
		default:
			sum++;
		}
	}
	return sum;
}

/* The interrupted instruction is the program's own or one of a library that has a name. */
static void on_timer_look(int number, siginfo_t *info, void *context)
{
	uintptr_t at = interrupted_at(context);
	Dl_info where;

	(void)number;
	(void)info;
	count++;
	if (hostile_is_own_code(at))
		inside++;
	else if (!dladdr((void *)at, &where) || !where.dli_fname) {
		outside++;
		strange = at;
	}
	fib(4);
}

static void run_rate(void)
{
	long first = mixed(20000), again = first;

	set_handler(SIGALRM, on_timer_look, SA_RESTART);
	set_timer(200);
	while (count < ENOUGH && again == first)
		again = mixed(20000);
	set_timer(0);
	printf("mixed %ld, again %ld\n", first, again);
	/* The few instructions around a slow path have no other address than their own. */
	CHECK(outside <= count / 50);
	CHECK(inside > 0);
}

static void on_timer_inside(int number, siginfo_t *info, void *context)
{
	uintptr_t at = interrupted_at(context);

	(void)number;
	(void)info;
	if (at >= (uintptr_t)spin_flag && at < (uintptr_t)spin_flag_end)
		inside++;
	else if (!hostile_is_own_code(at))
		outside++;
	flag = 1;
}

/* A profiler in the program: the interrupted address lies in the function that was running. */
static void run_own_function(void)
{
	set_handler(SIGALRM, on_timer_inside, SA_RESTART);
	set_timer(500);
	for (int i = 0; i < ROUNDS; i++) {
		flag = 0;
		CHECK(spin_flag((volatile int *)&flag) == 5);
	}
	set_timer(0);
	CHECK(inside >= ROUNDS / 10);
}

static void on_timer_change_register(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t at = interrupted_at(context);

	(void)number;
	(void)info;
	if (at < (uintptr_t)spin_register || at >= (uintptr_t)spin_register_end)
		return;
	registers[REG_RAX] = 1234;
	inside++;
}

static void run_change_register(void)
{
	set_handler(SIGALRM, on_timer_change_register, SA_RESTART);
	set_timer(500);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(spin_register() == 1234);
	set_timer(0);
	CHECK(inside >= ROUNDS);
}

static void on_timer_move_on(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t at = interrupted_at(context);

	(void)number;
	(void)info;
	if (at < (uintptr_t)spin_forever_loop || at >= (uintptr_t)spin_forever_out)
		return;
	registers[REG_RIP] = (greg_t)spin_forever_out;
}

/* The handler knows a label inside a function and continues there. */
static void run_continue_elsewhere(void)
{
	set_handler(SIGALRM, on_timer_move_on, SA_RESTART);
	set_timer(500);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(spin_forever() == 42);
	set_timer(0);
	puts("left every loop");
}

static void on_nested(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	count++;
	if (count % 20)
		raise(number);
	inside += (int)fib(5);
}

static void run_nested(void)
{
	set_handler(SIGUSR1, on_nested, SA_NODEFER);
	for (int i = 0; i < 500; i++)
		raise(SIGUSR1);
	printf("handled %d, sum %d\n", (int)count, (int)inside);
}

static void on_raise(int number)
{
	count += number;
	inside += (int)mixed(5);
}

static void run_raise(void)
{
	signal(SIGUSR1, on_raise);
	signal(SIGUSR2, on_raise);
	for (int i = 0; i < 20000; i++)
		raise(i & 1 ? SIGUSR1 : SIGUSR2);
	printf("count %d, sum %d\n", (int)count, (int)inside);
}

static char alternate[65536];

static void on_alternate(int number, siginfo_t *info, void *context)
{
	char here;
	stack_t now, *saved = &((ucontext_t *)context)->uc_stack;

	(void)number;
	(void)info;
	CHECK(&here >= alternate && &here < alternate + sizeof(alternate));
	sigaltstack(NULL, &now);
	CHECK(now.ss_sp == alternate && (now.ss_flags & SS_ONSTACK));
	CHECK(saved->ss_sp == alternate);
	count += (int)fib(10);
}

static void run_altstack(void)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)}, before, after;

	sigaltstack(NULL, &before);
	printf("at start: flags %d, size %zu\n", before.ss_flags, before.ss_size);
	sigaltstack(&stack, NULL);
	set_handler(SIGUSR1, on_alternate, SA_ONSTACK);
	for (int i = 0; i < 1000; i++)
		raise(SIGUSR1);
	sigaltstack(NULL, &after);
	printf("count %d, flags %d, same %d\n", (int)count, after.ss_flags,
	       after.ss_sp == (void *)alternate);
}

/* What a program sees when it asks for handlers: none but its own. */
static void run_query(void)
{
	struct sigaction action, old;

	for (int number = 1; number < 65; number++) {
		if (sigaction(number, NULL, &old))
			printf("%d: %s\n", number, strerror(errno));
		else if (old.sa_handler != SIG_DFL)
			printf("%d: %s flags %x\n", number,
			       old.sa_handler == SIG_IGN ? "ignored" : "handled", old.sa_flags);
	}
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_nested;
	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
	sigaddset(&action.sa_mask, SIGHUP);
	CHECK(!sigaction(SIGUSR1, &action, NULL) && !sigaction(SIGUSR1, NULL, &old));
	CHECK(old.sa_sigaction == on_nested);
	CHECK((old.sa_flags & ~0x04000000) == action.sa_flags);
	CHECK(sigismember(&old.sa_mask, SIGHUP) && !sigismember(&old.sa_mask, SIGINT));
	CHECK((void *)signal(SIGUSR1, on_raise) == (void *)on_nested);
	CHECK(signal(SIGUSR1, SIG_IGN) == on_raise);
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
}

static void print_status_lines(const char *prefix)
{
	char line[512];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, prefix, strlen(prefix)))
			fputs(line, stdout);
	if (file)
		fclose(file);
}

/* Masks, pending and caught signals as a process starts with them. */
static void run_at_start(void)
{
	sigset_t mask, pending;
	struct itimerval timer;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigpending(&pending);
	for (int number = 1; number < 65; number++)
		if (sigismember(&mask, number) || sigismember(&pending, number))
			printf("%d: blocked %d, pending %d\n", number, sigismember(&mask, number),
			       sigismember(&pending, number));
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		getitimer(which, &timer);
		printf("timer %d: %ld\n", which, timer.it_value.tv_usec + timer.it_value.tv_sec);
	}
	print_status_lines("SigP");
	print_status_lines("SigB");
	print_status_lines("SigI");
	print_status_lines("SigC");
	print_status_lines("Shd");
}

static void run_reset(void)
{
	struct sigaction old;
	int status;
	pid_t child;

	set_handler(SIGUSR1, on_nested, SA_RESETHAND);
	count = 19;
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	CHECK(old.sa_handler == SIG_DFL);
	fflush(stdout);
	child = fork();
	if (!child) {
		raise(SIGUSR1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("second one ends the child: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void run_wait(void)
{
	sigset_t set;
	siginfo_t info;
	struct timespec soon = {0, 1000000};
	struct signalfd_siginfo read_info = {0};
	union sigval value = {.sival_int = 77};
	int number = 0, descriptor;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	CHECK(!sigwait(&set, &number) && number == SIGUSR1);
	sigqueue(getpid(), SIGRTMIN, value);
	CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 77);
	CHECK(sigtimedwait(&set, &info, &soon) == -1 && errno == EAGAIN);
	descriptor = signalfd(-1, &set, 0);
	sigqueue(getpid(), SIGRTMIN, value);
	CHECK(read(descriptor, &read_info, sizeof(read_info)) == sizeof(read_info));
	printf("descriptor %d, signal %u, value %d\n", descriptor, read_info.ssi_signo,
	       read_info.ssi_int);
	sigemptyset(&set);
	signal(SIGUSR1, on_raise);
	raise(SIGUSR1);
	CHECK(sigsuspend(&set) == -1 && errno == EINTR && count == SIGUSR1);
}

static void on_info(int number, siginfo_t *info, void *context)
{
	CHECK(number == SIGRTMIN + 1 && info->si_signo == number && info->si_code == SI_QUEUE);
	CHECK(info->si_pid == getpid() && info->si_uid == getuid());
	CHECK(sigismember(&((ucontext_t *)context)->uc_sigmask, SIGHUP));
	count += info->si_value.sival_int;
}

static void run_queue(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	set_handler(SIGRTMIN + 1, on_info, 0);
	for (int i = 1; i <= 100; i++)
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
	printf("sum %d\n", (int)count);
}

static void run_interrupted(void)
{
	int pipes[2];
	char byte;
	struct timespec left = {0, 0}, hour = {3600, 0};

	CHECK(!pipe(pipes));
	set_handler(SIGALRM, on_timer_look, 0);
	set_timer(20000);
	CHECK(read(pipes[0], &byte, 1) == -1 && errno == EINTR);
	CHECK(nanosleep(&hour, &left) == -1 && errno == EINTR && left.tv_sec >= 3500);
	CHECK(pause() == -1 && errno == EINTR);
	set_timer(0);
	CHECK(outside == 0);
	puts("three calls were interrupted");
}

struct pinged {
	sem_t ping;
	volatile sig_atomic_t is_done;
	volatile long sum;
};

static struct pinged shared;

/* A thread that is pinged again before it has gone on is found at the same place: it counts once.
 */
static void on_ping(int number, siginfo_t *info, void *context)
{
	static __thread uintptr_t last;
	uintptr_t at = interrupted_at(context);

	(void)number;
	(void)info;
	if (at != last && !hostile_is_own_code(at))
		outside++;
	last = at;
	sem_post(&shared.ping);
}

static void *be_pinged(void *argument)
{
	(void)argument;
	while (!shared.is_done)
		shared.sum = fib(12);
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[2];

	sem_init(&shared.ping, 0, 0);
	set_handler(SIGUSR1, on_ping, SA_RESTART);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, be_pinged, NULL);
	while (!shared.sum)
		usleep(100);
	usleep(20000);
	outside = 0;
	for (int i = 0; i < 200; i++) {
		pthread_kill(threads[i & 1], SIGUSR1);
		while (sem_wait(&shared.ping))
			;
	}
	shared.is_done = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* A few may come before a thread's own code runs. */
	printf("fib %ld, outside %s\n", shared.sum, outside < 20 ? "few" : "often");
}

static void on_step(int number, siginfo_t *info, void *context)
{
	uintptr_t at = interrupted_at(context);
	Dl_info where;

	(void)number;
	(void)info;
	count++;
	if (!hostile_is_own_code(at) && (!dladdr((void *)at, &where) || !where.dli_fname))
		outside++;
}

/* The program steps itself: each stop is at an address that it knows. */
static void run_single_step(void)
{
	set_handler(SIGTRAP, on_step, 0);
	for (int i = 0; i < 10; i++)
		CHECK(step_here(i) == 3 * i + 1);
	CHECK(count >= 50);
	CHECK(outside == 0);
}

static void on_timer_in_call(int number, siginfo_t *info, void *context)
{
	uintptr_t at = interrupted_at(context);

	(void)number;
	(void)info;
	if (at >= (uintptr_t)wait_here && at < (uintptr_t)wait_here_end)
		strange = at;
	inside += at == (uintptr_t)wait_here_call;
	if (++count % 2 == 0 && write(flag, "x", 1) != 1)
		count = -1;
}

/* Whether a system call begins again or is over is told by the interrupted address. */
static void run_system_call(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return;
	flag = ends[1];
	set_handler(SIGALRM, on_timer_in_call, 0);
	set_timer(1000);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(wait_here(SYS_pause, 0, NULL) == -EINTR);
		CHECK(strange == (uintptr_t)wait_here_behind);
	}
	set_timer(0);
	while (count % 2)
		raise(SIGALRM);
	set_handler(SIGALRM, on_timer_in_call, SA_RESTART);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	while (read(ends[0], &byte, 1) == 1)
		;
	fcntl(ends[0], F_SETFL, 0);
	set_timer(1000);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(wait_here(SYS_read, ends[0], &byte) == 1);
	set_timer(0);
	CHECK(inside > 0);
	CHECK(count > 0);
}

static void run_unwind(void);

/* The stack below a frame of run_unwind(), of all that the walk comes by. */
static _Unwind_Reason_Code on_frame(struct _Unwind_Context *frame, void *found)
{
	int is_exact;
	uintptr_t at = _Unwind_GetIPInfo(frame, &is_exact);

	if (_Unwind_FindEnclosingFunction((void *)at) == (void *)run_unwind)
		*(uintptr_t *)found = _Unwind_GetCFA(frame);
	return _URC_NO_REASON;
}

NOINLINE static uintptr_t find_frame(void)
{
	uintptr_t found = 0;

	_Unwind_Backtrace(on_frame, &found);
	return found;
}

static uintptr_t frame;

static void on_timer_unwind(int number)
{
	(void)number;
	outside += find_frame() != frame;
	count++;
}

/* Saves registers, so that rules of its end find them below the stack pointer. */
NOINLINE static long saves(long n)
{
	long one = fib(n & 3), two = fib(one), three = fib(two);

	return one * two + three;
}

NOINLINE static long goes_on(long n)
{
	return saves(n + 1);
}

static int by_size(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Handlers find their way back from any instruction. */
static void run_unwind(void)
{
	long (*volatile through)(long) = goes_on;
	int numbers[16];

	frame = find_frame();
	signal(SIGALRM, on_timer_unwind);
	set_timer(100);
	for (long i = 0; count < 2000; i++) {
		for (int k = 0; k < 16; k++)
			numbers[k] = k * 7919 & 15;
		qsort(numbers, 16, sizeof(*numbers), by_size);
		CHECK(numbers[15] == 15);
		CHECK(through(i & 1) == saves((i & 1) + 1));
	}
	set_timer(0);
	CHECK(outside == 0);
}

static const struct hostile_case cases[] = {
	{"rate", run_rate},
	{"own-function", run_own_function},
	{"change-register", run_change_register},
	{"continue-elsewhere", run_continue_elsewhere},
	{"nested", run_nested},
	{"raise", run_raise},
	{"altstack", run_altstack},
	{"query", run_query},
	{"at-start", run_at_start},
	{"reset", run_reset},
	{"wait", run_wait},
	{"queue", run_queue},
	{"interrupted", run_interrupted},
	{"threads", run_threads},
	{"single-step", run_single_step},
	{"system-call", run_system_call},
	{"unwind", run_unwind},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
