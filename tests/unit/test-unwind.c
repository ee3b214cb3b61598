/*
 * The unwinder on this process's own stack, against the C runtime's _Unwind_Backtrace(), and on
 * stacks made by hand for what goes wrong.
 */
#include "check.h"

#include "base/cleanup.h"
#include "code/elf/elf.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>

DW_DEFINE_FREEP(dw_elf)

enum { MODULES = 32, FRAMES = 512, RDI = 5 };

/* This process as the unwinder sees it, and where its stack ends. */
struct self {
	struct dw_space space;
	struct dw_cfi_table *tables[MODULES];
	size_t tables_n;
	uint64_t stack_end;
};

/* Load the table of the file at @path, or of the vdso, for a mapping. */
static struct dw_cfi_table *load_table(const char *path, struct dw_avma start, struct dw_foff pgoff,
				       uint64_t *bias)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	struct dw_cfi_table *table = NULL;

	if (!strcmp(path, "[vdso]")) {
		if (dw_elf_open_bytes((void *)getauxval(AT_SYSINFO_EHDR), 4096, true, &elf, NULL))
			return NULL;
	} else {
		dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || dw_elf_open(fd, &elf, NULL))
			return NULL;
	}
	if (dw_elf_bias(elf, start, pgoff, bias) || dw_cfi_table_load(elf, NULL, &table, NULL))
		return NULL;
	return table;
}

static void self_init(struct self *s)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	/* Sanitizers may keep what is local elsewhere, but not frames. */
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	char line[512];

	memset(s, 0, sizeof *s);
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long start, end, offset;
		char perms[8], path[256] = "";
		struct dw_space_range r = {0};

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, perms, &offset,
			   path) < 4)
			continue;
		if (frame >= start && frame < end)
			s->stack_end = end;
		if (perms[2] != 'x' || s->tables_n == MODULES)
			continue;
		r.start = start;
		r.end = end;
		r.cfi = load_table(path, (struct dw_avma){start}, (struct dw_foff){offset},
				   &r.bias);
		if (r.cfi)
			s->tables[s->tables_n++] = (struct dw_cfi_table *)(uintptr_t)r.cfi;
		dw_space_map(&s->space, &r);
	}
	if (maps)
		fclose(maps);
}

static void self_release(struct self *s)
{
	for (size_t i = 0; i < s->tables_n; i++)
		dw_cfi_table_free(s->tables[i]);
	dw_space_release(&s->space);
}

/* What one walk found, by us and by the runtime. */
struct walk {
	struct dw_unwind_frame frames[FRAMES];
	size_t n;
	enum dw_unwind_end end;
	uint64_t want[FRAMES];
	size_t want_n;
};

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *c, void *arg)
{
	struct walk *w = arg;
	int exact = 0;
	uint64_t pc = _Unwind_GetIPInfo(c, &exact);

	if (pc && w->want_n < FRAMES)
		w->want[w->want_n++] = pc - !exact;
	return _URC_NO_REASON;
}

/* Registers of @c in the order of DWARF. */
static struct dw_unwind_regs from_context(const ucontext_t *c)
{
	static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_R8,  REG_R9,	REG_R10, REG_R11,
				    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct dw_unwind_regs regs = {0};

	for (int i = 0; i < DWELL_REG_COUNT; i++)
		regs.r[i] = (uint64_t)c->uc_mcontext.gregs[order[i]];
	return regs;
}

/* Walk from the caller of this function, with both unwinders. */
static __attribute__((noinline)) void walk_here(struct self *s, struct walk *w)
{
	struct dw_unwind_memory memory = {0};
	struct dw_unwind_regs regs;
	ucontext_t c;

	getcontext(&c);
	regs = from_context(&c);
	memory.base = regs.r[DWELL_REG_SP];
	memory.bytes = (const uint8_t *)memory.base;
	memory.n = s->stack_end - memory.base;
	w->end = dw_unwind(&s->space, &regs, &memory, w->frames, FRAMES, &w->n);
	w->want_n = 0;
	_Unwind_Backtrace(note_frame, w);
}

/* Number of frames in which the two lists differ, the innermost one, this file's, left out. */
static int differences(const struct walk *w)
{
	int bad = w->n != w->want_n;

	for (size_t i = 1; i < w->n && i < w->want_n; i++) {
		bad += w->frames[i].pc.v != w->want[i];
		if (w->frames[i].pc.v != w->want[i])
			printf("# frame %zu: %#lx, want %#lx\n", i, w->frames[i].pc.v, w->want[i]);
	}
	return bad;
}

TEST(own_stack)
{
	struct self s;
	struct walk w;

	self_init(&s);
	walk_here(&s, &w);
	CHECK_INT(w.end, DWELL_UNWIND_COMPLETE);
	CHECK(w.n > 4);
	CHECK_INT(differences(&w), 0);
	for (size_t i = 1; i + 1 < w.n; i++)
		CHECK(w.frames[i].cfa > w.frames[i - 1].cfa &&
		      w.frames[i].sp == w.frames[i - 1].cfa);
	self_release(&s);
}

static struct self *in_callback;
static struct walk *callback_walk;

static int compare_and_walk(const void *a, const void *b)
{
	if (!callback_walk->n)
		walk_here(in_callback, callback_walk);
	return *(const int *)a - *(const int *)b;
}

/* Frames of the C library between ours, and a stack that is aligned anew. */
static __attribute__((noinline)) void sort_aligned(int n)
{
	_Alignas(64) volatile int v[16] = {3, 1, 2};
	volatile char *room = __builtin_alloca((size_t)n);

	room[0] = 1;
	qsort((int *)(uintptr_t)v, 3, sizeof v[0], compare_and_walk);
}

TEST(callback_over_a_realigned_stack)
{
	struct self s;
	struct walk w = {0};

	self_init(&s);
	in_callback = &s;
	callback_walk = &w;
	sort_aligned(100);
	CHECK_INT(w.end, DWELL_UNWIND_COMPLETE);
	CHECK_INT(differences(&w), 0);
	self_release(&s);
}

static void on_signal(int number)
{
	(void)number;
	walk_here(in_callback, callback_walk);
}

TEST(signal_frame)
{
	struct self s;
	struct walk w = {0};

	self_init(&s);
	in_callback = &s;
	callback_walk = &w;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	CHECK_INT(w.end, DWELL_UNWIND_COMPLETE);
	CHECK_INT(differences(&w), 0);
	self_release(&s);
}

/* The handler's stack is an object in the middle of the other one's memory: reading spans both. */
TEST(signal_on_a_stack_of_its_own)
{
	static uint8_t lower[1 << 17];
	stack_t alt = {.ss_sp = lower, .ss_size = sizeof lower}, old;
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	struct self s;
	struct walk w = {0};

	self_init(&s);
	in_callback = &s;
	callback_walk = &w;
	sigaltstack(&alt, &old);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	sigaltstack(&old, NULL);
	CHECK_INT(w.end, DWELL_UNWIND_COMPLETE);
	CHECK_INT(differences(&w), 0);
	self_release(&s);
}

static void *thread_main(void *arg)
{
	walk_here(arg, callback_walk);
	return NULL;
}

TEST(thread_start_is_the_end)
{
	static uint8_t stack[1 << 20] __attribute__((aligned(4096)));
	struct self s;
	struct walk w = {0};
	pthread_attr_t attr;
	pthread_t thread;

	self_init(&s);
	s.stack_end = (uintptr_t)stack + sizeof stack;
	callback_walk = &w;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof stack);
	CHECK_INT(pthread_create(&thread, &attr, thread_main, &s), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	CHECK_INT(w.end, DWELL_UNWIND_COMPLETE);
	CHECK_INT(differences(&w), 0);
	self_release(&s);
}

/* A function that popped rbp without saying so in its unwind information, as compilers' epilogues
 * do. */
__asm__(".text\n"
	".type popped_frame, @function\n"
	"popped_frame:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"popped_frame_ret: ret\n"
	".cfi_endproc\n"
	".size popped_frame, .-popped_frame\n");
extern char popped_frame_ret[];

TEST(popped_register_is_not_read_below_the_stack)
{
	struct self self;
	uint64_t stack[2] = {(uint64_t)(uintptr_t)note_frame + 4, 0};
	struct dw_unwind_memory memory = {
		.base = (uintptr_t)stack, .bytes = (uint8_t *)stack, .n = sizeof stack};
	struct dw_unwind_frame frames[4];
	struct dw_unwind_regs regs = {0};
	size_t n;

	self_init(&self);
	regs.r[DWELL_REG_PC] = (uintptr_t)popped_frame_ret;
	regs.r[DWELL_REG_SP] = (uintptr_t)stack;
	regs.r[DWELL_REG_FP] = 0x1234;
	dw_unwind(&self.space, &regs, &memory, frames, 4, &n);
	CHECK(n >= 2);
	CHECK_INT(frames[1].pc.v, stack[0] - 1);
	CHECK_INT(frames[1].fp, 0x1234);
	self_release(&self);
}

/* A function that holds its return address in a register, as the C library's vfork() does. */
__asm__(".text\n"
	".type register_frame, @function\n"
	"register_frame:\n"
	".cfi_startproc\n"
	"pop %rdi\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_register 16, 5\n"
	"register_frame_inside: jmp *%rdi\n"
	".cfi_endproc\n"
	".size register_frame, .-register_frame\n");
extern char register_frame_inside[];

/* Walk from inside register_frame, which returns to @to. */
static enum dw_unwind_end walk_register_frame(const char *to, struct dw_unwind_frame *frames,
					      size_t max, size_t *n)
{
	struct self self;
	uint64_t stack[2] = {0, 0};
	struct dw_unwind_memory memory = {
		.base = (uintptr_t)stack, .bytes = (uint8_t *)stack, .n = sizeof stack};
	struct dw_unwind_regs regs = {0};
	enum dw_unwind_end end;

	self_init(&self);
	regs.r[DWELL_REG_PC] = (uintptr_t)register_frame_inside;
	regs.r[DWELL_REG_SP] = (uintptr_t)stack;
	regs.r[RDI] = (uintptr_t)to;
	end = dw_unwind(&self.space, &regs, &memory, frames, max, n);
	self_release(&self);
	return end;
}

TEST(return_address_in_a_register)
{
	struct dw_unwind_frame frames[64];
	size_t n;

	CHECK_INT(walk_register_frame(popped_frame_ret, frames, 64, &n), DWELL_UNWIND_COMPLETE);
	CHECK_INT(n, 2);
	CHECK_INT(frames[1].pc.v, (uintptr_t)popped_frame_ret - 1);
	/* To itself, again and again: the walk ends. */
	CHECK_INT(walk_register_frame(register_frame_inside + 1, frames, 64, &n),
		  DWELL_UNWIND_BROKEN);
}

TEST_MAIN()
