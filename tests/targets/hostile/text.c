/*
 * Programs that write or read their own code.
 */
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Defined in text-x86-64.S, in pages of their own. */
extern long constant(void);
extern long calls_constant(void);
extern long switched(long number);
extern long counted(long number);
extern char constant_operand[], switch_place[], counted_place[];
extern long plain_add(long left, long right);
extern char plain_add_end[];

static size_t page_bytes;
static volatile sig_atomic_t stops;

static void set_writable(const void *where, int protection)
{
	uintptr_t first = (uintptr_t)where & ~(page_bytes - 1);

	CHECK(!mprotect((void *)first, 2 * page_bytes, protection));
}

/* By itself, so that who calls it has the address as an operand only. */
NOINLINE static void write_code(const void *where, const void *bytes, size_t length)
{
	set_writable(where, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy((void *)(uintptr_t)where, bytes, length);
	set_writable(where, PROT_READ | PROT_EXEC);
}

/* An operand in the code changes while the program runs. */
static void run_operand(void)
{
	long (*volatile pointer)(void) = constant;

	CHECK(constant() == 1 && calls_constant() == 101 && pointer() == 1);
	for (int value = 2; value < 100; value++) {
		write_code(constant_operand, &value, 4);
		CHECK(constant() == value);
		CHECK(calls_constant() == value + 100);
		CHECK(pointer() == value);
	}
	printf("constant is now %ld\n", constant());
}

/* A place that is no operation or a jump, as static keys are. */
static void run_static_key(void)
{
	unsigned char nop[5] = {0x0f, 0x1f, 0x44, 0, 0}, jump[5] = {0xe9, 4, 0, 0, 0};

	for (int i = 0; i < 50; i++) {
		CHECK(switched(i) == i + 1);
		write_code(switch_place, jump, 5);
		CHECK(switched(i) == i);
		write_code(switch_place, nop, 5);
	}
	puts("switched back and forth");
}

NOINLINE static long replaced(long a)
{
	return a + 5;
}

NOINLINE static long replacement(long a)
{
	return a * 100;
}

/* A function's entry becomes a jump to another function: what patchers of running programs do. */
static void run_redirect(void)
{
	unsigned char jump[14] = {0xff, 0x25, 0, 0, 0, 0};
	long (*target)(long) = replacement, (*volatile call)(long) = replaced;
	unsigned char saved[14];

	memcpy(jump + 6, &target, 8);
	CHECK(replaced(3) == 8 && call(3) == 8);
	set_writable(replaced, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(saved, replaced, 14);
	memcpy((void *)replaced, jump, 14);
	CHECK(call(3) == 300);
	CHECK(replaced(4) == 400);
	memcpy((void *)replaced, saved, 14);
	CHECK(call(3) == 8 && replaced(3) == 8);
	puts("redirected and back");
}

static void on_stop(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	stops++;
	if (registers[REG_RIP] != (greg_t)counted_place + 1)
		_exit(9);
	registers[REG_RDI] += 7; /* what the overwritten instruction did */
	registers[REG_RIP] += 3;
}

/* A breakpoint that the program sets in itself. */
static void run_breakpoint(void)
{
	struct sigaction action = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO};
	unsigned char stop = 0xcc, saved = (unsigned char)*counted_place;

	sigaction(SIGTRAP, &action, NULL);
	CHECK(counted(1) == 16);
	write_code(counted_place, &stop, 1);
	for (int i = 0; i < 100; i++)
		CHECK(counted(i) == 2 * (i + 7));
	write_code(counted_place, &saved, 1);
	CHECK(counted(1) == 16);
	printf("stops %d\n", (int)stops);
}

/* Written through a file that no page protection stops. */
static void run_through_file(void)
{
	int file = open("/proc/self/mem", O_RDWR), value = 4242;

	CHECK(constant() == 1);
	CHECK(pwrite(file, &value, 4, (off_t)(uintptr_t)constant_operand) == 4);
	printf("constant %ld, caller %ld\n", constant(), calls_constant());
}

static uint64_t hash_of(const unsigned char *from, const unsigned char *to)
{
	uint64_t hash = 14695981039346656037u;

	for (; from < to; from++)
		hash = (hash ^ *from) * 1099511628211u;
	return hash;
}

/* The bytes of a function behind its entry are those of the file. */
static void run_hash_body(void)
{
	printf("hash %llx\n", (unsigned long long)hash_of((const unsigned char *)plain_add + 8,
							  (const unsigned char *)plain_add_end));
}

/* All of its code: the entries are not as they were, which is a documented limit. */
static void run_hash_all(void)
{
	extern char __executable_start[], etext[];

	printf("hash %llx\n", (unsigned long long)hash_of((unsigned char *)__executable_start,
							  (unsigned char *)etext));
}

/* A function copied to another place: its entry with it, the same limit. */
static void run_copy(void)
{
	size_t length = (size_t)(plain_add_end - (char *)plain_add);
	void *map = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(map, (void *)plain_add, length);
	printf("copied: %ld\n", ((long (*)(long, long))map)(40, 2));
}

/* The program's file holds what it held. */
static void run_file(void)
{
	static unsigned char bytes[65536];
	int file = open("/proc/self/exe", O_RDONLY);
	ssize_t length;
	uint64_t sum = 0;

	while ((length = read(file, bytes, sizeof(bytes))) > 0)
		sum += hash_of(bytes, bytes + length);
	printf("hash %llx\n", (unsigned long long)sum);
}

/* Code made at run time that calls the program back. */
static long called_back(long number)
{
	return number * 2 + 1;
}

static void run_jit_code(void)
{
	/* push rbx; mov rdi, rbx; mov $called_back, rax; call *rax; add rbx, rax; pop rbx; ret */
	unsigned char code[] = {0x53, 0x48, 0x89, 0xfb, 0x48, 0xb8, 0,	  0,	0,    0,   0,
				0,    0,    0,	  0xff, 0xd0, 0x48, 0x01, 0xd8, 0x5b, 0xc3};
	long (*function)(long) = called_back, (*made)(long);
	long sum = 0;

	memcpy(code + 6, &function, 8);
	for (int i = 0; i < 200; i++) {
		void *map = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memcpy(map, code, sizeof(code));
		CHECK(!mprotect(map, page_bytes, PROT_READ | PROT_EXEC));
		made = (long (*)(long))map;
		sum += made(i);
		CHECK(!munmap(map, page_bytes));
	}
	printf("sum %ld\n", sum);
}

static const struct hostile_case cases[] = {
	{"operand", run_operand},
	{"static-key", run_static_key},
	{"redirect", run_redirect},
	{"breakpoint", run_breakpoint},
	{"through-file", run_through_file},
	{"hash-body", run_hash_body},
	{"hash-all", run_hash_all},
	{"copy", run_copy},
	{"file", run_file},
	{"jit-code", run_jit_code},
	{0},
};

int main(int argc, char **argv)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	return hostile_main(argc, argv, cases);
}
