/* The unwinder on stacks and code made by hand: where walks end, and what must not mislead them. */
#include "check.h"

#include "base/cleanup.h"
#include "code/cfi/table-format.h"
#include "code/cfi/table.h"
#include "elf-image.h"
#include "unwind/unwind.h"

#include <dwarf.h>
#include <elf.h>

#define BYTES ELF_IMAGE_BYTES

enum { STACK = 0x7000, WORDS = 64, FRAMES = 40, JIT = 0x200000 };

/* Code: some functions, each with a frame of its own kind. */
enum {
	LEAF = 0x1000,	    /* CFA = rsp + 8 */
	FRAME = 0x1100,	    /* CFA = rsp + 32, rbp saved at CFA - 16 */
	END = 0x1200,	    /* return address undefined */
	RBX = 0x1300,	    /* CFA = rbx + 16 */
	SAVES_RBX = 0x1400, /* CFA = rsp + 24, rbx saved at CFA - 16 */
	SIGNAL = 0x1500,    /* rip at rsp + 0, rsp at rsp + 8, rbp and rbx at rsp + 16, 24 */
	BAD = 0x1600,	    /* a rule that cannot be evaluated */
	RBP = 0x1700,	    /* CFA = rbp + 16, rbp saved at CFA - 16 */
	VALUE = 0x1800,	    /* the return address is the value of rax */
	GAP = 0x1900,	    /* no rule */
};

struct scene {
	uint8_t *image;
	struct dw_elf *elf;
	struct dw_cfi_table *table;
	struct dw_space space;
	uint64_t stack[WORDS];
	struct dw_unwind_regs regs;
	struct dw_unwind_frame frames[FRAMES];
	size_t n;
};

static void make_code(struct dw_buf *b)
{
	size_t cie = elf_image_cie(b, "zR", "\3", NULL, 0);
	size_t signal = elf_image_cie(b, "zRS", "\3", NULL, 0);

	elf_image_fde(b, cie, LEAF, LEAF + 0x100, NULL, 0);
	elf_image_fde(b, cie, FRAME, FRAME + 0x100,
		      BYTES(DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 6, 2));
	elf_image_fde(b, cie, END, END + 0x100, BYTES(DW_CFA_undefined, 16));
	elf_image_fde(b, cie, RBX, RBX + 0x100, BYTES(DW_CFA_def_cfa, 3, 16));
	elf_image_fde(b, cie, SAVES_RBX, SAVES_RBX + 0x100,
		      BYTES(DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 3, 2));
	elf_image_fde(b, signal, SIGNAL, SIGNAL + 0x100,
		      BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_deref,
			    DW_CFA_expression, 16, 2, DW_OP_breg7, 0, DW_CFA_expression, 7, 2,
			    DW_OP_breg7, 8, DW_CFA_expression, 6, 2, DW_OP_breg7, 16,
			    DW_CFA_expression, 3, 2, DW_OP_breg7, 24));
	elf_image_fde(b, cie, BAD, BAD + 0x100,
		      BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_drop, DW_OP_drop));
	elf_image_fde(b, cie, RBP, RBP + 0x100, BYTES(DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2));
	elf_image_fde(b, cie, VALUE, VALUE + 0x100, BYTES(DW_CFA_register, 16, 0));
}

/* All of a scene, whose module the kernel enters at @entry, 0 = it does not. */
static void scene_init_entered(struct scene *s, uint64_t entry)
{
	struct dw_buf eh = DW_BUF_INIT;
	struct dw_space_range code = {.start = 0, .end = ELF_IMAGE_TEXT_BYTES, .module = 1};
	struct dw_space_range jit = {.start = JIT, .end = JIT + 0x1000};
	size_t n;

	memset(s, 0, sizeof *s);
	make_code(&eh);
	s->image = elf_image_make(eh.data, eh.len, NULL, 0, &n);
	((Elf64_Ehdr *)(void *)s->image)->e_entry = entry;
	dw_elf_open_bytes(s->image, n, false, &s->elf, NULL);
	dw_cfi_table_load(s->elf, NULL, &s->table, NULL);
	dw_buf_release(&eh);
	code.cfi = s->table;
	dw_space_map(&s->space, &code);
	dw_space_map(&s->space, &jit);
	s->regs.r[DWELL_REG_SP] = STACK;
}

static void scene_init(struct scene *s)
{
	scene_init_entered(s, 0);
}

static void scene_release(struct scene *s)
{
	dw_space_release(&s->space);
	dw_cfi_table_free(s->table);
	dw_elf_free(s->elf);
	free(s->image);
}

/* Walk from @pc over the first @words of the stack. */
static enum dw_unwind_end walk(struct scene *s, uint64_t pc, size_t words)
{
	struct dw_unwind_memory memory = {
		.base = STACK, .bytes = (const uint8_t *)s->stack, .n = words * 8};

	s->regs.r[DWELL_REG_PC] = pc;
	return dw_unwind(&s->space, &s->regs, &memory, s->frames, FRAMES, &s->n);
}

TEST(plain_frames_to_the_end)
{
	struct scene s;

	scene_init(&s);
	s.stack[0] = FRAME + 5;
	s.stack[3] = 0x1234; /* the saved rbp: 32 bytes above, less 16 */
	s.stack[4] = END + 1;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 3);
	CHECK_INT(s.frames[0].pc.v, LEAF);
	CHECK_INT(s.frames[0].cfa, STACK + 8);
	CHECK_INT(s.frames[1].pc.v, FRAME + 4);
	CHECK_INT(s.frames[1].sp, STACK + 8);
	CHECK_INT(s.frames[2].pc.v, END);
	CHECK_INT(s.frames[2].fp, 0x1234);
	CHECK_INT(s.frames[2].cfa, 0);
	CHECK_INT(s.frames[2].range->module, 1);
	s.stack[4] = 0; /* a return address of zero is the end too */
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 2);
	scene_release(&s);
}

TEST(cut_stack)
{
	struct scene s;

	scene_init(&s);
	s.stack[0] = FRAME + 5;
	s.stack[4] = END + 1;
	CHECK_INT(walk(&s, LEAF, 4), DWELL_UNWIND_CUT);
	CHECK_INT(s.n, 2);
	CHECK_INT(walk(&s, LEAF, 0), DWELL_UNWIND_CUT);
	CHECK_INT(s.n, 1);
	scene_release(&s);
}

struct extender {
	const uint64_t *stack;
	int calls;
};

/* Provide one word at a time. */
static int extend(void *ctx, struct dw_unwind_memory *m, uint64_t addr)
{
	struct extender *e = ctx;

	e->calls++;
	m->base = addr;
	m->bytes = (const uint8_t *)e->stack + (addr - STACK);
	m->n = 8;
	return 0;
}

TEST(cut_stack_is_extended)
{
	struct scene s;
	struct extender e = {.stack = s.stack};
	struct dw_unwind_memory memory = {.extend = extend, .ctx = &e};

	scene_init(&s);
	s.stack[0] = FRAME + 5;
	s.stack[4] = END + 1;
	s.regs.r[DWELL_REG_PC] = LEAF;
	CHECK_INT(dw_unwind(&s.space, &s.regs, &memory, s.frames, FRAMES, &s.n),
		  DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 3);
	CHECK_INT(e.calls, 3); /* two return addresses and a saved rbp */
	scene_release(&s);
}

TEST(more_frames_than_room)
{
	struct scene s;

	scene_init(&s);
	for (int i = 0; i < WORDS; i++)
		s.stack[i] = LEAF + 1;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_LIMIT);
	CHECK_INT(s.n, FRAMES);
	CHECK_INT(s.frames[FRAMES - 1].pc.v, LEAF);
	scene_release(&s);
}

TEST(addresses_in_no_code)
{
	struct scene s;

	scene_init(&s);
	CHECK_INT(walk(&s, 0x999999, WORDS), DWELL_UNWIND_NO_RULE);
	CHECK_INT(s.n, 1);
	CHECK(!s.frames[0].range);
	s.stack[0] = 0x999999;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_NO_RULE);
	CHECK_INT(s.n, 2);
	scene_release(&s);
}

TEST(inward_chains_are_broken)
{
	struct scene s;

	scene_init(&s);
	s.stack[0] = RBP + 1;
	s.regs.r[DWELL_REG_FP] = STACK - 8; /* CFA = the stack pointer: not outward */
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_BROKEN);
	CHECK_INT(s.n, 2);
	CHECK_INT(walk(&s, BAD, WORDS), DWELL_UNWIND_BROKEN);
	scene_release(&s);
}

TEST(frame_pointers_without_a_table)
{
	struct scene s;

	scene_init(&s);
	s.regs.r[DWELL_REG_FP] = STACK + 16;
	s.stack[2] = STACK + 48; /* saved rbp, return address */
	s.stack[3] = JIT + 0x50;
	s.stack[6] = 0;
	s.stack[7] = GAP + 1; /* a table, but not for this address: frame pointers again */
	CHECK_INT(walk(&s, JIT, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 3);
	CHECK_INT(s.frames[1].pc.v, JIT + 0x4f);
	CHECK_INT(s.frames[0].cfa, STACK + 32);
	CHECK_INT(s.frames[2].pc.v, GAP);
	/* what looks wrong is not believed */
	s.regs.r[DWELL_REG_FP] = STACK + 17;
	CHECK_INT(walk(&s, JIT, WORDS), DWELL_UNWIND_NO_RULE);
	CHECK_INT(s.n, 1);
	s.regs.r[DWELL_REG_FP] = STACK - 16;
	CHECK_INT(walk(&s, JIT, WORDS), DWELL_UNWIND_NO_RULE);
	s.regs.r[DWELL_REG_FP] = STACK + 32; /* a return address in no code */
	s.stack[5] = 0x999999;
	CHECK_INT(walk(&s, JIT, WORDS), DWELL_UNWIND_NO_RULE);
	scene_release(&s);
}

/* Where the module has a table code without rules is written by hand, and may count in rbp. */
TEST(a_frame_pointer_of_0_without_a_chain)
{
	struct scene s;

	scene_init(&s);
	s.stack[0] = GAP + 1;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_NO_RULE);
	CHECK_INT(s.n, 2);
	CHECK_INT(walk(&s, GAP, WORDS), DWELL_UNWIND_NO_RULE);
	CHECK_INT(s.table->entry.end, 0);
	s.stack[0] = JIT + 1; /* no table: may be where a program begins */
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_COMPLETE);
	scene_release(&s);
}

/* The loader of glibc begins so. */
TEST(a_frame_pointer_of_0_where_the_kernel_enters)
{
	struct scene s;

	scene_init_entered(&s, GAP);
	CHECK_INT(s.table->entry.start, GAP);
	s.stack[0] = GAP + 1;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(walk(&s, GAP + 255, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(walk(&s, GAP + 256, WORDS), DWELL_UNWIND_NO_RULE);
	scene_release(&s);
	scene_init_entered(&s, LEAF - 8); /* up to the first rule behind it */
	CHECK_INT(s.table->entry.end, LEAF);
	scene_release(&s);
	scene_init_entered(&s, FRAME + 8); /* has rules */
	CHECK_INT(s.table->entry.end, 0);
	scene_release(&s);
}

TEST(registers_of_frame_0_serve_at_once)
{
	struct scene s;

	scene_init(&s);
	s.regs.r[3] = STACK + 80; /* CFA = rbx + 16 */
	s.stack[11] = END + 1;
	CHECK_INT(walk(&s, RBX, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 2);
	CHECK_INT(s.frames[0].cfa, STACK + 96);
	s.regs.r[0] = END + 7; /* returns through rax */
	CHECK_INT(walk(&s, VALUE, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.frames[1].pc.v, END + 6);
	scene_release(&s);
}

/* Two frames out, a rule wants rbx, which the frame between saved: the walk starts again. */
TEST(callee_saved_registers_are_followed)
{
	struct scene s;

	scene_init(&s);
	s.regs.r[3] = 0xbad;
	s.stack[0] = SAVES_RBX + 1;
	s.stack[2] = STACK + 80; /* rbx, as SAVES_RBX found it */
	s.stack[3] = RBX + 1;
	s.stack[11] = END + 1;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 4);
	CHECK_INT(s.frames[2].pc.v, RBX);
	CHECK_INT(s.frames[2].cfa, STACK + 96);
	scene_release(&s);
}

TEST(signal_frames_lead_anywhere_but_not_for_ever)
{
	struct scene s;

	scene_init(&s);
	s.stack[0] = SIGNAL + 1;
	s.stack[1] = LEAF;	  /* rip: exact */
	s.stack[2] = STACK + 160; /* rsp */
	s.stack[3] = 0x77;	  /* rbp */
	s.stack[20] = END + 1;
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_COMPLETE);
	CHECK_INT(s.n, 4);
	CHECK_INT(s.frames[1].pc.v, SIGNAL);
	CHECK_INT(s.frames[2].pc.v, LEAF);
	CHECK_INT(s.frames[2].sp, STACK + 160);
	CHECK_INT(s.frames[2].fp, 0x77);
	CHECK_INT(s.frames[3].pc.v, END);
	s.stack[2] = STACK; /* back to where it came from */
	CHECK_INT(walk(&s, LEAF, WORDS), DWELL_UNWIND_BROKEN);
	CHECK(s.n < FRAMES);
	scene_release(&s);
}

TEST_MAIN()
