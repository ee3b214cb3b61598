/*
 * Finishing interrupted gates; see half-way.h.
 *
 * A gate's stores are all of one form, 64 bits of a register at a short distance from another, so
 * they are read from its code and done with the interrupted registers. Anything else is left to the
 * gate.
 */
#include "agent/probe/half-way.h"

#include "agent/probe/context-x86-64.h"

/* Registers by their numbers in instructions. */
static const uint8_t places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				 REG_R12, REG_R13, REG_R14, REG_R15};

enum {
	REX_W = 0x48,
	REX_R = 4,
	REX_B = 1,
	MOV_STORE = 0x89,
	NEEDS_SIB = 4, /* of the register that is the base */
	RIP_RELATIVE = 5,
};

/* Do the store at @code. Its length, 0 = it is none. */
static uint32_t store(const uint8_t *code, const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	uint8_t mode = code[2] >> 6, from = code[2] >> 3 & 7, base = code[2] & 7;
	int64_t distance = mode == 1 ? (int8_t)code[3] : 0;
	uint64_t *to;

	if ((code[0] & ~(REX_R | REX_B)) != REX_W || code[1] != MOV_STORE || mode > 1 ||
	    base == NEEDS_SIB || (mode == 0 && base == RIP_RELATIVE))
		return 0;
	from |= code[0] & REX_R ? 8 : 0;
	base |= code[0] & REX_B ? 8 : 0;
	to = (uint64_t *)(registers[places[base]] + distance);
	*to = (uint64_t)registers[places[from]];
	return 3 + mode;
}

void dw_gate_settle(const struct dw_area *area, ucontext_t *context)
{
	uint32_t at = (uint32_t)(dw_context_pc(context) - area->area), length;

	for (const struct dw_clone_gate *g = area->header->gates;
	     g < area->header->gates + DWELL_CLONE_GATES && g->again; g++) {
		if (at < g->again || at >= g->end)
			continue;
		if (at < g->commit)
			at = g->again;
		while (at >= g->commit && at < g->end) {
			length = store((const uint8_t *)area->area + at, context);
			if (!length)
				break;
			at += length;
		}
	}
	dw_context_set_pc(context, area->area + at);
}

/* Where a gate keeps the program's registers, below the stack pointer that it was called with. */
static const struct {
	int8_t place;
	uint8_t words;
} kept[] = {
	{REG_RAX, 1}, {REG_RCX, 2}, {REG_RDX, 3}, {REG_RSI, 4},	 {REG_RDI, 5},
	{REG_R8, 6},  {REG_R9, 7},  {REG_R10, 8}, {REG_RBP, 12}, {REG_R11, 13},
};

enum { KEPT_BY_GATES = 8 }; /* of these; the rest the slow path keeps */

enum {
	GATE_WORDS = 14,  /* the gate's stack where it lets handlers run */
	FLAGS_WORDS = 10, /* as lahf and seto tell */
	PUSHED_WORDS =
		11, /* as pushfq does, of which the direction counts; r11 in a gate that saves it */
	ARITHMETIC = 0xd5,
	DIRECTION = 0x400,
	OVERFLOW = 0x800,
};

/* Take the arithmetic flags over into @flags that a gate keeps at @gate. */
static uint64_t with_kept(uint64_t flags, const uint64_t *gate)
{
	uint64_t told = gate[-FLAGS_WORDS];

	flags &= ~(uint64_t)(ARITHMETIC | OVERFLOW);
	return flags | (told >> 8 & ARITHMETIC) | (told & 1 ? OVERFLOW : 0);
}

void dw_gate_restore(ucontext_t *context, const uint64_t *gate)
{
	greg_t *registers = context->uc_mcontext.gregs;

	for (uint32_t i = 0; i < KEPT_BY_GATES; i++)
		registers[kept[i].place] = (greg_t)gate[-(int64_t)kept[i].words];
	registers[REG_R11] = (greg_t)gate[-PUSHED_WORDS];
	registers[REG_EFL] = (greg_t)with_kept((uint64_t)registers[REG_EFL], gate);
}

void dw_gate_finish(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	const uint64_t *gate = dw_context_stack(context) + GATE_WORDS;
	uint64_t flags = with_kept((uint64_t)registers[REG_EFL], gate) & ~(uint64_t)DIRECTION;

	flags |= gate[-PUSHED_WORDS] & DIRECTION;
	for (uint32_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		registers[kept[i].place] = (greg_t)gate[-(int64_t)kept[i].words];
	registers[REG_EFL] = (greg_t)flags;
	registers[REG_RSP] = (greg_t)(gate + 1);
	dw_context_set_pc(context, *gate);
}
