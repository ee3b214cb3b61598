/*
 * Contexts for handlers; see shown.h.
 *
 * Between the gate EXIT or TAIL and the return or jump behind it the words below the stack pointer
 * are the gate's. Unwind rules of that place may still find registers there, which compilers take
 * for untouched. So the handler is shown the next instruction, as if the return or jump were done:
 * there all is in its place. Jumps through pointers are shown themselves.
 */
#include "agent/probe/shown.h"

#include "agent/core/bytes.h"
#include "agent/probe/context-x86-64.h"
#include "agent/probe/half-way.h"

enum {
	RETURN = 0xc3,
	RETURN_AND_POP = 0xc2,
	JUMP = 0xe9,
	JUMP_BYTES = 5,
	REPEAT = 0xf3, /* as in rep ret */
	BOUND = 0xf2,
};

/* The original address that a return to @pc goes to. */
static uint64_t behind_call(uint64_t pc)
{
	uint64_t original = dw_original(pc, true);

	return original == pc ? dw_original(pc, false) : original;
}

/*
 * The original address of @pc, in a clone's area. Behind a call the gate there still belongs to it,
 * but the call is over. Where a gate has moved the stack it stays what it is, so that unwinding
 * from there is exact; in another gate, that of the function whose probe called it.
 */
static uint64_t original_of(const struct dw_area *area, uint64_t pc, const uint64_t *sp)
{
	const struct dw_clone_header *h = area->header;
	uint32_t at = (uint32_t)(pc - area->area);
	enum dw_gate gate;

	if (dw_function_of_clone(area, at) < h->functions.n) {
		gate = dw_gate_called(area, pc);
		if (gate == DWELL_GATE_BACK || gate == DWELL_GATE_CALL_END)
			pc += DWELL_PROBE_CALL_BYTES;
		return dw_original(pc, false);
	}
	if (at > h->moves_at && at < h->moved_at)
		return pc;
	return dw_area_of_clone(*sp) == area ? dw_original(*sp, false) : pc;
}

/* The slow path of such a gate may have switched it off. */
static bool is_leaving(const struct dw_area *area, uint64_t call)
{
	return dw_gate_called(area, call) == DWELL_GATE_LEAVE ||
	       dw_gate_stood(area, DWELL_GATE_EXIT, call) ||
	       dw_gate_stood(area, DWELL_GATE_TAIL, call);
}

/* Do the return or jump behind the gate EXIT or TAIL for the handler to see. */
static void look_through(const struct dw_area *area, struct dw_shown *s)
{
	const uint8_t *code;
	int32_t distance;
	uint16_t pop = 0;

	if (is_leaving(area, s->pc))
		code = (const uint8_t *)s->pc + DWELL_PROBE_CALL_BYTES;
	else if (is_leaving(area, s->pc - DWELL_PROBE_CALL_BYTES))
		code = (const uint8_t *)s->pc;
	else
		return;
	if (*code == JUMP) {
		memcpy(&distance, code + 1, sizeof(distance));
		s->shown_pc = dw_original((uint64_t)code + JUMP_BYTES + (uint64_t)(int64_t)distance,
					  false);
		return;
	}
	code += *code == REPEAT || *code == BOUND;
	if (*code == RETURN_AND_POP)
		memcpy(&pop, code + 1, sizeof(pop));
	else if (*code != RETURN)
		return;
	s->shown_pc = behind_call(*(const uint64_t *)s->sp);
	s->shown_sp = s->sp + sizeof(uint64_t) + pop;
}

static void set(ucontext_t *context, uint64_t pc, uint64_t sp)
{
	dw_context_set_pc(context, pc);
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
}

struct dw_shown dw_context_show(const struct dw_area *area, ucontext_t *context, bool is_fault)
{
	uint64_t pc = dw_context_pc(context), sp = (uint64_t)dw_context_stack(context);
	struct dw_shown s = {pc, sp, original_of(area, pc, (const uint64_t *)sp), sp};

	if (!is_fault)
		look_through(area, &s);
	set(context, s.shown_pc, s.shown_sp);
	return s;
}

void dw_context_put_back(ucontext_t *context, const struct dw_shown *s)
{
	uint64_t pc = dw_context_pc(context), sp = (uint64_t)dw_context_stack(context);

	if (pc != s->shown_pc || (s->sp != s->shown_sp && sp != s->shown_sp))
		set(context, dw_clone_of(pc), sp);
	else
		set(context, s->pc, sp - s->shown_sp + s->sp);
}
