/*
 * Faults that a program handles itself: its handlers look at the failing instruction, skip it, jump
 * to a fix-up that a table names, repair the memory and try again, or leave by siglongjmp.
 */
#include "hostile.h"

#include <fcntl.h>
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Defined in faults-x86-64.S: functions with one instruction that fails, and where it is. */
extern long load_from(const int *address);
extern long load_again(const int *address);
extern long undefined_instruction(void);
extern long divide(long number, long by);
extern long breakpoint(void);
extern char load_from_insn[], undefined_insn[], divide_insn[], breakpoint_after[];

/* Pairs of failing instruction and where to go on, as kernels and virtual machines keep them. */
extern const struct fixup {
	uintptr_t instruction, go_on;
} fixups[];

static sigjmp_buf out;
static volatile sig_atomic_t count, wrong;
static char *page;
static size_t page_bytes;

static greg_t *registers_of(void *context)
{
	return ((ucontext_t *)context)->uc_mcontext.gregs;
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	sigaction(number, &action, NULL);
}

/* Skip an instruction that the handler knows by address and by bytes. */
static void skip(void *context, const char *where, const char *bytes, size_t length)
{
	greg_t *registers = registers_of(context);

	count++;
	if (registers[REG_RIP] != (greg_t)where ||
	    memcmp((const void *)registers[REG_RIP], bytes, length))
		wrong++;
	registers[REG_RIP] += (greg_t)length;
	registers[REG_RAX] = 77;
}

static void on_segv_skip(int number, siginfo_t *info, void *context)
{
	if (number != SIGSEGV || info->si_addr != (void *)16)
		wrong++;
	skip(context, load_from_insn, "\x8b\x07", 2);
}

static void run_segv_skip(void)
{
	int number = 5;

	set_handler(SIGSEGV, on_segv_skip, 0);
	CHECK(load_from(&number) == 5 + 1);
	for (int i = 0; i < 1000; i++)
		CHECK(load_from((const int *)16) == 77 + 1);
	printf("faults %d, wrong %d\n", (int)count, (int)wrong);
}

static void on_ill_skip(int number, siginfo_t *info, void *context)
{
	if (number != SIGILL || info->si_addr != (void *)undefined_insn)
		wrong++;
	skip(context, undefined_insn, "\x0f\x0b", 2);
}

static void run_ill_skip(void)
{
	set_handler(SIGILL, on_ill_skip, 0);
	for (int i = 0; i < 1000; i++)
		CHECK(undefined_instruction() == 77 + 2);
	printf("faults %d, wrong %d\n", (int)count, (int)wrong);
}

static void on_fpe_skip(int number, siginfo_t *info, void *context)
{
	if (number != SIGFPE || info->si_code != FPE_INTDIV || info->si_addr != (void *)divide_insn)
		wrong++;
	skip(context, divide_insn, "\x48\xf7\xfe", 3);
}

static void run_fpe_skip(void)
{
	set_handler(SIGFPE, on_fpe_skip, 0);
	CHECK(divide(42, 6) == 7);
	for (int i = 0; i < 1000; i++)
		CHECK(divide(i, 0) == 77);
	printf("faults %d, wrong %d\n", (int)count, (int)wrong);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	count++;
	if (registers_of(context)[REG_RIP] != (greg_t)breakpoint_after)
		wrong++;
	registers_of(context)[REG_RAX] += 5;
}

static void run_trap(void)
{
	set_handler(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 1000; i++)
		CHECK(breakpoint() == 15);
	raise(SIGTRAP);
	printf("traps %d, wrong %d\n", (int)count, (int)wrong);
}

static void on_segv_fixup(int number, siginfo_t *info, void *context)
{
	greg_t *registers = registers_of(context);
	const struct fixup *fixup = fixups;

	(void)number;
	(void)info;
	while (fixup->instruction && (greg_t)fixup->instruction != registers[REG_RIP])
		fixup++;
	if (!fixup->instruction)
		_exit(9);
	count++;
	registers[REG_RIP] = (greg_t)fixup->go_on;
}

static void run_fixup_table(void)
{
	int number = 5;

	set_handler(SIGSEGV, on_segv_fixup, 0);
	for (int i = 0; i < 1000; i++) {
		CHECK(load_again(&number) == 10);
		CHECK(load_again((const int *)16) == -14);
	}
	printf("fixed up %d\n", (int)count);
}

static void on_fault_leave(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	siglongjmp(out, number);
}

NOINLINE static int read_deep(const volatile int *address, int depth)
{
	return depth ? read_deep(address, depth - 1) + 1 : *address;
}

static void run_leave(void)
{
	volatile int left = 0;
	int number = 1;

	set_handler(SIGSEGV, on_fault_leave, 0);
	for (volatile int i = 0; i < 1000; i++) {
		if (sigsetjmp(out, 1) == 0)
			read_deep(i & 1 ? NULL : &number, i % 30);
		else
			left++;
	}
	printf("left %d\n", left);
}

static void run_bus(void)
{
	char name[] = "bus-XXXXXX";
	int file = mkstemp(name), signal_number;
	volatile char *map;

	unlink(name);
	CHECK(!ftruncate(file, 8192));
	map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
	CHECK(map[5000] == 0 && !ftruncate(file, 0));
	set_handler(SIGBUS, on_fault_leave, 0);
	signal_number = sigsetjmp(out, 1);
	if (!signal_number)
		signal_number = map[5000];
	printf("signal %d\n", signal_number);
}

/* A write barrier as garbage collectors have it: open the page and let the store happen. */
static void on_write_open(int number, siginfo_t *info, void *context)
{
	(void)number;
	if ((char *)info->si_addr < page || (char *)info->si_addr >= page + page_bytes ||
	    !hostile_is_own_code((uintptr_t)registers_of(context)[REG_RIP]))
		wrong++;
	count++;
	if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE))
		_exit(9);
}

NOINLINE static void store(volatile char *where, char what)
{
	*where = what;
}

static void run_write_barrier(void)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	page = mmap(NULL, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	set_handler(SIGSEGV, on_write_open, 0);
	for (int i = 0; i < 2000; i++) {
		store(page + i, (char)i);
		store(page + i + 1, (char)i);
		CHECK(page[i] == (char)i && !mprotect(page, page_bytes, PROT_READ));
	}
	printf("barriers %d, wrong %d\n", (int)count, (int)wrong);
}

static char alternate[65536];

NOINLINE static long bottomless(long n)
{
	volatile char frame[500];

	frame[n % 500] = (char)n;
	return n < 0 ? 0 : bottomless(n + 1) + frame[(n + 1) % 500];
}

static void run_stack_overflow(void)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct rlimit limit = {1 << 20, RLIM_INFINITY};
	volatile int left = 0;

	setrlimit(RLIMIT_STACK, &limit);
	sigaltstack(&stack, NULL);
	set_handler(SIGSEGV, on_fault_leave, SA_ONSTACK);
	for (volatile int i = 0; i < 20; i++)
		if (sigsetjmp(out, 1) == 0)
			bottomless(1);
		else
			left++;
	printf("left %d\n", left);
}

static void on_float(int number, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d, code %d, own code %d\n", number, info->si_code,
	       hostile_is_own_code((uintptr_t)info->si_addr));
	siglongjmp(out, 1);
}

static void run_float(void)
{
	volatile double zero = 0, one = 1;

	set_handler(SIGFPE, on_float, 0);
	feenableexcept(FE_DIVBYZERO);
	if (sigsetjmp(out, 1) == 0)
		printf("%f\n", one / zero);
	puts("after the division");
}

/* Faults without a handler end a child as they would anywhere. */
static void run_unhandled(void)
{
	static const char *const names[] = {"load", "undefined", "divide", "trap", "abort"};
	struct rlimit none = {0, 0};
	int status;

	setrlimit(RLIMIT_CORE, &none);
	for (int which = 0; which < 5; which++) {
		fflush(stdout);
		if (fork() == 0) {
			if (which == 0)
				load_from(NULL);
			else if (which == 1)
				undefined_instruction();
			else if (which == 2)
				divide(1, 0);
			else if (which == 3)
				breakpoint();
			abort();
		}
		wait(&status);
		printf("%s: signal %d\n", names[which], WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
}

static const struct hostile_case cases[] = {
	{"segv-skip", run_segv_skip},
	{"ill-skip", run_ill_skip},
	{"fpe-skip", run_fpe_skip},
	{"trap", run_trap},
	{"fixup-table", run_fixup_table},
	{"leave", run_leave},
	{"bus", run_bus},
	{"write-barrier", run_write_barrier},
	{"stack-overflow", run_stack_overflow},
	{"float", run_float},
	{"unhandled", run_unhandled},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
