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
