/*
 * Single-steps a fork's child through the agent's ways in and out and writes stops for unwind-dump:
 * step-unwind FILE. The child's first call goes the slow way, later ones the trampoline's; then a
 * signal handler, dlsym() and dlopen(). A stop is written when an instruction is seen for the first
 * time, of the C library and the loader only every so often.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEN = 1 << 16, STACK = 32768, MAPS = 65536, VDSO = 8192, OTHERS = 16, STEPS = 5000000 };

static volatile int handled;
static uint64_t seen[SEEN];
static char maps[MAPS];
static unsigned char memory[STACK];

__attribute__((noinline)) static int counted(int n)
{
	for (volatile int i = 0; i < n; i++)
		handled += i;
	return handled;
}

static void handler(int number)
{
	handled += counted(number);
}

__attribute__((noinline)) static int run(void)
{
	void *library;

	raise(SIGSTOP);
	counted(2);
	counted(3);
	raise(SIGUSR1);
	handled += dlsym(RTLD_DEFAULT, "puts") != NULL;
	library = dlopen("libm.so.6", RTLD_NOW);
	handled += library && dlsym(library, "cos");
	if (library)
		dlclose(library);
	return counted(4);
}

/* Whether @pc is met for the first time. */
static int is_new(uint64_t pc)
{
	size_t i = pc * 0x9e3779b97f4a7c15u >> 48;

	while (seen[i] && seen[i] != pc)
		i = (i + 1) % SEEN;
	if (seen[i])
		return 0;
	seen[i] = pc;
	return 1;
}

static size_t read_maps(pid_t child)
{
	char path[64];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)child);
	file = fopen(path, "r");
	if (!file)
		return 0;
	n = fread(maps, 1, sizeof(maps) - 1, file);
	maps[n] = '\0';
	fclose(file);
	return n;
}

/* The line of maps that holds @pc. */
static const char *line_of(uint64_t pc)
{
	for (const char *line = maps; line && *line; line = strchr(line, '\n')) {
		unsigned long start, end;

		line += *line == '\n';
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && pc >= start && pc < end)
			return line;
	}
	return "";
}

static int is_others(uint64_t pc)
{
	const char *line = line_of(pc), *end = strchr(line, '\n');
	const char *libc = strstr(line, "/libc.so"), *loader = strstr(line, "/ld-linux");

	return (libc && libc < end) || (loader && loader < end);
}

static size_t read_child(pid_t child, uint64_t from, size_t n)
{
	struct iovec here = {memory, n}, there = {(void *)from, n};
	ssize_t got = 0;

	while (n && (got = process_vm_readv(child, &here, 1, &there, 1, 0)) <= 0)
		here.iov_len = there.iov_len = n /= 2;
	return got > 0 ? (size_t)got : 0;
}

static void write_area(FILE *out, pid_t child, uint64_t from, size_t n)
{
	uint64_t words[2] = {from, read_child(child, from, n)};

	fwrite(words, 8, 2, out);
	fwrite(memory, 1, words[1], out);
}

static void write_stop(FILE *out, pid_t child, const struct user_regs_struct *r)
{
	uint64_t numbers[17] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
				r->rbp, r->rsp, r->r8,	r->r9,	r->r10, r->r11,
				r->r12, r->r13, r->r14, r->r15, r->rip};
	uint32_t n = (uint32_t)strlen(maps), areas = 2;

	fwrite("DWSTOP1\n", 1, 8, out);
	fwrite(numbers, 8, 17, out);
	fwrite(&n, 4, 1, out);
	fwrite(maps, 1, n, out);
	fwrite(&areas, 4, 1, out);
	write_area(out, child, getauxval(AT_SYSINFO_EHDR), VDSO);
	write_area(out, child, r->rsp - 128, STACK);
}

static void step(FILE *out, pid_t child)
{
	struct user_regs_struct r;
	int status, others = 0, signal = 0;

	waitpid(child, &status, 0);
	for (int i = 0; i < STEPS && WIFSTOPPED(status); i++) {
		ptrace(PTRACE_GETREGS, child, 0, &r);
		if (is_new(r.rip)) {
			read_maps(child);
			if (!is_others(r.rip) || others++ % OTHERS == 0)
				write_stop(out, child, &r);
		}
		signal = WSTOPSIG(status) == SIGUSR1 ? SIGUSR1 : 0;
		ptrace(PTRACE_SINGLESTEP, child, 0, signal);
		waitpid(child, &status, 0);
	}
	printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv)
{
	FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
	pid_t child;

	if (!out)
		return 2;
	signal(SIGUSR1, handler);
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		_exit(run() & 127);
	}
	step(out, child);
	return fclose(out) != 0;
}
