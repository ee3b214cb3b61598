/*
 * How fast stacks are unwound: bench-unwind [LIBRARY...].
 *
 * Builds a stack of some hundred frames of distinct functions, unwinds it again and again with our
 * unwinder, libunwind and elfutils, all on the same live stack in this process, and prints
 * nanoseconds per frame. Then times the compiling of the unwind tables of the C library and of
 * LIBRARY, and their loading from the cache. Best of several runs each.
 */
#include "base/cleanup.h"
#include "code/cfi/table.h"
#include "code/elf/elf.h"
#include "unwind/unwind.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

DW_DEFINE_FREEP(dw_elf)

enum { DEPTH = 1000, FRAMES = 2048, MODULES = 32, RUNS = 7 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* This process as our unwinder sees it. */
static struct dw_space space;
static struct dw_cfi_table *tables[MODULES];
static size_t tables_n;
static uint64_t stack_end;

static struct dw_elf *open_elf(const char *path)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dw_elf *elf = NULL;

	return fd >= 0 && !dw_elf_open(fd, &elf, NULL) ? elf : NULL;
}

static void read_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long start, end, offset;
		char perms[8], path[256] = "";
		struct dw_space_range r = {0};

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, perms, &offset,
			   path) < 4)
			continue;
		if ((uintptr_t)&line >= start && (uintptr_t)&line < end)
			stack_end = end;
		dw_auto_ptr(dw_elf) elf = perms[2] == 'x' && path[0] == '/' ? open_elf(path) : NULL;
		if (!elf || tables_n == MODULES ||
		    dw_cfi_table_load(elf, NULL, &tables[tables_n], NULL))
			continue;
		r.start = start;
		r.end = end;
		r.cfi = tables[tables_n++];
		dw_elf_bias(elf, (struct dw_avma){start}, (struct dw_foff){offset}, &r.bias);
		dw_space_map(&space, &r);
	}
	if (maps)
		fclose(maps);
}

/* A way to unwind the stack of its caller: does it once, returns the number of frames. */
typedef size_t unwinder(void);

static struct dw_unwind_frame frames[FRAMES];

static size_t unwind_dwell(void)
{
	static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_R8,  REG_R9,	REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct dw_unwind_memory memory = {0};
	struct dw_unwind_regs regs = {0};
	ucontext_t c;
	size_t n;

	getcontext(&c);
	for (int i = 0; i < DWELL_REG_COUNT; i++)
		regs.r[i] = (uint64_t)c.uc_mcontext.gregs[order[i]];
	memory.base = regs.r[DWELL_REG_SP];
	memory.bytes = (const uint8_t *)memory.base;
	memory.n = stack_end - memory.base;
	return dw_unwind(&space, &regs, &memory, frames, FRAMES, &n) == DWELL_UNWIND_COMPLETE ? n
											      : 0;
}

#ifdef HAVE_LIBUNWIND
static size_t unwind_libunwind_step(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc, sum = 0;
	size_t n = 1;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (unw_step(&cursor) > 0) {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		sum += pc;
		n++;
	}
	return sum ? n : 0;
}

static size_t unwind_libunwind_backtrace(void)
{
	static void *pcs[FRAMES];

	return (size_t)unw_backtrace(pcs, FRAMES);
}
#endif

static Dwfl *dwfl;
static ucontext_t dwfl_context;
static size_t dwfl_frames;

static pid_t next_thread(Dwfl *d, void *arg, void **thread)
{
	(void)d;
	if (*thread)
		return 0;
	*thread = arg;
	return getpid();
}

static bool memory_read(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	(void)d;
	(void)arg;
	memcpy(ret, (const void *)addr, sizeof *ret);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_R8,  REG_R9,	REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	Dwarf_Word regs[17];

	(void)arg;
	for (int i = 0; i < 17; i++)
		regs[i] = (Dwarf_Word)dwfl_context.uc_mcontext.gregs[order[i]];
	return dwfl_thread_state_registers(thread, 0, 17, regs);
}

static int count_frame(Dwfl_Frame *frame, void *arg)
{
	Dwarf_Addr pc;
	bool exact;

	(void)arg;
	dwfl_frames += dwfl_frame_pc(frame, &pc, &exact);
	return DWARF_CB_OK;
}

static bool dwfl_start(void)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo};
	static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
						      .memory_read = memory_read,
						      .set_initial_registers = set_registers};

	dwfl = dwfl_begin(&callbacks);
	return dwfl && !dwfl_linux_proc_report(dwfl, getpid()) &&
	       !dwfl_report_end(dwfl, NULL, NULL) &&
	       dwfl_attach_state(dwfl, NULL, getpid(), &threads, &dwfl_context);
}

static size_t unwind_elfutils(void)
{
	dwfl_frames = 0;
	getcontext(&dwfl_context);
	dwfl_getthread_frames(dwfl, getpid(), count_frame, NULL);
	return dwfl_frames;
}

/* Print the row of one unwinder: warm, best of some runs of @times. */
static void measure(const char *name, unwinder *unwind, int times)
{
	double best = 1e18, cold = now_ns();
	size_t n = unwind();

	cold = (now_ns() - cold) / (double)(n ? n : 1);
	for (int run = 0; run < RUNS; run++) {
		double start = now_ns();

		for (int i = 0; i < times; i++)
			n = unwind();
		start = (now_ns() - start) / times;
		if (start < best)
			best = start;
	}
	if (n)
		printf("%-28s %8zu %12.1f %12.1f\n", name, n, best / (double)n, cold);
	else
		printf("%-28s failed\n", name);
}

static void measure_all(void)
{
	printf("%-28s %8s %12s %12s\n", "unwinder", "frames", "ns/frame", "first time");
	measure("dwell", unwind_dwell, 2000);
#ifdef HAVE_LIBUNWIND
	measure("libunwind, unw_step", unwind_libunwind_step, 20);
	measure("libunwind, unw_backtrace", unwind_libunwind_backtrace, 200);
#else
	printf("%-28s not built: libunwind-dev is missing\n", "libunwind");
#endif
	if (dwfl_start())
		measure("elfutils, dwfl", unwind_elfutils, 20);
	else
		printf("%-28s failed: %s\n", "elfutils, dwfl", dwfl_errmsg(-1));
}

/* 256 functions that differ in their frames, each calling the next one. */
typedef long step_fn(int left, long a, long b);
static step_fn *steps[256];

#define STEP(n)                                                                   \
	static __attribute__((noinline)) long step##n(int left, long a, long b)   \
	{                                                                         \
		volatile char room[(0x##n % 13) * 24 + 8];                        \
		long c = a * 0x##n + b, d = a ^ b;                                \
                                                                                  \
		room[0] = (char)c;                                                \
		if (!left)                                                        \
			measure_all();                                            \
		else if (0x##n % 3)                                               \
			c += steps[(0x##n + 7 * left) & 255](left - 1, c + 1, d); \
		else                                                              \
			c -= steps[(0x##n + 5 * left) & 255](left - 1, b, a);     \
		return c + d + room[0] + b;                                       \
	}
/* clang-format off */
#define ROW(each, h) \
	each(h##0) each(h##1) each(h##2) each(h##3) each(h##4) each(h##5) each(h##6) each(h##7) \
	each(h##8) each(h##9) each(h##a) each(h##b) each(h##c) each(h##d) each(h##e) each(h##f)
#define ALL(each) \
	ROW(each, 0) ROW(each, 1) ROW(each, 2) ROW(each, 3) ROW(each, 4) ROW(each, 5) ROW(each, 6) ROW(each, 7) \
	ROW(each, 8) ROW(each, 9) ROW(each, a) ROW(each, b) ROW(each, c) ROW(each, d) ROW(each, e) ROW(each, f)
/* clang-format on */
ALL(STEP)
#define ENTRY(n) step##n,
static step_fn *steps[256] = {ALL(ENTRY)};

/* Time one way to load the table of @elf, in ms. */
static double time_load(const struct dw_elf *elf, const char *cache, size_t *rows)
{
	double best = 1e18;

	for (int run = 0; run < RUNS; run++) {
		struct dw_cfi_table *t = NULL;
		double start = now_ns();

		if (dw_cfi_table_load(elf, cache, &t, NULL))
			return 0;
		start = now_ns() - start;
		if (start < best)
			best = start;
		*rows = dw_cfi_table_starts(t);
		dw_cfi_table_free(t);
	}
	return best / 1e6;
}

static void measure_library(const char *path)
{
	char cache[] = "/tmp/dwell-bench-XXXXXX", command[64];
	dw_auto_ptr(dw_elf) elf = open_elf(path);
	size_t rows = 0;
	double compile, load;

	if (!elf || !mkdtemp(cache)) {
		printf("%-60s cannot be opened\n", path);
		return;
	}
	compile = time_load(elf, NULL, &rows);
	load = time_load(elf, cache, &rows);
	printf("%-60s %9zu %9.2f %9.2f\n", path, rows, compile, load);
	snprintf(command, sizeof command, "rm -r %s", cache);
	if (system(command))
		printf("%s is left\n", cache);
}

int main(int argc, char **argv)
{
	read_maps();
	steps[17](DEPTH, 1, 2);
	printf("\n%-60s %9s %9s %9s\n", "table", "rows", "made, ms", "cached");
	measure_library("/lib/x86_64-linux-gnu/libc.so.6");
	for (int i = 1; i < argc; i++)
		measure_library(argv[i]);
	for (size_t i = 0; i < tables_n; i++)
		dw_cfi_table_free(tables[i]);
	dw_space_release(&space);
	dwfl_end(dwfl);
	return 0;
}
