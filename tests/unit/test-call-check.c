/* Calls and where they lead: code of this very program, read as that of any other process. */
#include "check.h"

#include "base/cleanup.h"
#include "collect/samples/call-check.h"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

/* clang-format off */
__asm__(
	".pushsection .text\n"
	"cc_target: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	"cc_jump: .cfi_startproc\n jmp cc_target\n .cfi_endproc\n"
	"cc_pointer_jump: .cfi_startproc\n endbr64\n jmp *cc_pointer(%rip)\n .cfi_endproc\n"
	"cc_tail: .cfi_startproc\n push %rax\n test %eax, %eax\n js 1f\n call cc_other\n pop %rax\n"
	" jmp cc_jump\n 1: pop %rax\n ret\n .cfi_endproc\n"
	"cc_branch: .cfi_startproc\n push %rax\n pop %rax\n push %rax\n pop %rax\n jne cc_target + 1\n"
	" ret\n .cfi_endproc\n"
	"cc_virtual: .cfi_startproc\n mov (%rdi), %rax\n jmp *16(%rax)\n .cfi_endproc\n"
	"cc_loop: .cfi_startproc\n 1: dec %eax\n jne 1b\n call cc_target\n jmp cc_loop_other\n"
	" .cfi_endproc\n"
	"cc_loop_other: .cfi_startproc\n push %rax\n pop %rax\n push %rax\n pop %rax\n jmp cc_loop\n"
	" .cfi_endproc\n"
	"cc_other: .cfi_startproc\n ret\n .cfi_endproc\n"
	"cc_calls: .cfi_startproc\n"
	" call cc_target\n cc_from_direct:\n call cc_jump\n cc_from_jump:\n"
	" call cc_pointer_jump\n cc_from_pointer_jump:\n call cc_tail\n cc_from_tail:\n"
	" call cc_branch\n cc_from_branch:\n call cc_virtual\n cc_from_virtual:\n"
	" call cc_loop\n cc_from_loop:\n call cc_other\n cc_from_other:\n"
	" call *%rax\n cc_from_register:\n call *(%r12, %r13, 8)\n cc_from_memory:\n"
	" call *cc_pointer(%rip)\n cc_from_slot:\n nop\n cc_from_nothing:\n ret\n"
	" .cfi_endproc\n"
	".popsection\n"
	".pushsection .data.rel\n .balign 8\n cc_pointer: .quad cc_target\n .popsection\n");
/* clang-format on */

extern const char cc_target[], cc_other[], cc_from_direct[], cc_from_jump[], cc_from_pointer_jump[],
	cc_from_tail[], cc_from_branch[], cc_from_virtual[], cc_from_loop[], cc_from_other[],
	cc_from_register[], cc_from_memory[], cc_from_slot[], cc_from_nothing[];

struct self {
	struct dw_space space;
	struct dw_cfi_table *table;
};

static int map_program(struct dl_phdr_info *info, size_t n, void *ctx)
{
	struct self *s = ctx;

	(void)n;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct dw_space_range r = {.start = info->dlpi_addr + p->p_vaddr,
					   .end = info->dlpi_addr + p->p_vaddr + p->p_memsz,
					   .bias = info->dlpi_addr,
					   .cfi = s->table};

		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			dw_space_map(&s->space, &r);
	}
	return 1; /* the first one is the program */
}

static int self_init(struct self *s)
{
	dw_auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct dw_elf *elf = NULL;
	int rc = dw_elf_open(fd, &elf, NULL);

	*s = (struct self){0};
	if (!rc)
		rc = dw_cfi_table_load(elf, NULL, &s->table, NULL);
	dw_elf_free(elf);
	dl_iterate_phdr(map_program, s);
	return rc;
}

static void self_release(struct self *s)
{
	dw_space_release(&s->space);
	dw_cfi_table_free(s->table);
}

TEST(calls_lead_where_they_lead)
{
	static const struct {
		const char *from;
		enum dw_call_check want;
	} calls[] = {
		{cc_from_direct, DWELL_CALL_LEADS},	  {cc_from_jump, DWELL_CALL_LEADS},
		{cc_from_pointer_jump, DWELL_CALL_LEADS}, {cc_from_tail, DWELL_CALL_LEADS},
		{cc_from_branch, DWELL_CALL_LEADS},	  {cc_from_virtual, DWELL_CALL_ANY},
		{cc_from_loop, DWELL_CALL_OTHER},	  {cc_from_other, DWELL_CALL_OTHER},
		{cc_from_register, DWELL_CALL_ANY},	  {cc_from_memory, DWELL_CALL_ANY},
		{cc_from_slot, DWELL_CALL_LEADS},	  {cc_from_nothing, DWELL_CALL_OTHER},
	};
	struct dw_call_checks checks = {0};
	struct self s;

	CHECK_INT(self_init(&s), 0);
	for (int round = 0; round < 2; round++) /* the second time from memory */
		for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
			CHECK_INT(dw_call_check(&checks, getpid(), &s.space,
						(uintptr_t)calls[i].from, (uintptr_t)cc_target + 1),
				  calls[i].want);
	self_release(&s);
}

/* Frames inside of the gap stay, and beyond it only what calls them. */
TEST(strangers_beyond_a_gap_are_dropped)
{
	struct dw_unwind_frame frames[] = {
		{.pc = {(uintptr_t)cc_target}, .sp = 0x1000, .cfa = 0x9000},
		{.pc = {(uintptr_t)cc_from_direct - 1}, .sp = 0x9000, .cfa = 0x9100},
		{.pc = {(uintptr_t)cc_from_nothing - 1}, .sp = 0x9100},
	};
	struct dw_call_checks checks = {0};
	struct self s;
	size_t n = 3;

	CHECK_INT(self_init(&s), 0);
	CHECK(!dw_calls_lead(&checks, getpid(), &s.space, frames, &n, false, 0x8000));
	CHECK_INT(n, 2);
	n = 2;
	CHECK(dw_calls_lead(&checks, getpid(), &s.space, frames, &n, true, 0x8000));
	frames[1].pc.v = (uintptr_t)cc_from_other - 1;
	CHECK(!dw_calls_lead(&checks, getpid(), &s.space, frames, &n, true, 0x8000));
	CHECK_INT(n, 1);
	/* A return to nothing that was read late is no beginning. */
	CHECK(!dw_calls_lead(&checks, getpid(), &s.space, frames, &n, true, 0x8000));
	CHECK_INT(n, 1);
	self_release(&s);
}

TEST_MAIN()
