/*
 * Contexts for handlers; see signal-context-x86-64.h.
 *
 * A trampoline's stores are all of one form, 64 bits of a register at a short distance from
 * another, so they are read from its code and done with the interrupted registers. Anything else is
 * left to the trampoline. What a trampoline has saved is where src/clone/trampolines/time-x86-64.S
 * says; which trampoline it is tells the call that its return address lies behind. Not left: the
 * slow path while it has moved the stack pointer, which its unwind rows tell exactly, and the
 * trampoline that counts calls only.
 *
 * A probe of a statement (src/clone/plan/inner-probes-x86-64.c) is known by its bytes and runs
 * again. Where a program steps through its instructions that would have no end: there the probe is
 * left out.
 *
 * Between the trampoline EXIT or TAIL and the return or jump behind it the words below the stack
 * pointer are the trampoline's. Unwind rules of that place may still find registers there, which
 * compilers take for untouched. So the handler is shown the next instruction, as if the return or
 * jump were done: there all is in its place. Jumps through pointers are shown themselves.
 */
#include "agent/clones/signal-context.h"

#include "agent/clones/disable.h"
#include "agent/core/bytes.h"

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

/*
 * Let the interrupted task, which is at the address that @context says in the code of @area, go on
 * where the tables of its thread are whole: a trampoline that has changed nothing starts again
 * behind its saves, one that has begun to store is done with its stores. What is in no trampoline
 * stays.
 */
static void settle_trampoline(const struct dw_area *area, ucontext_t *context)
{
	uint32_t at = (uint32_t)(dw_context_pc(context) - area->area), length;

	for (const struct dw_clone_trampoline *g = area->header->trampolines;
	     g < area->header->trampolines + DWELL_CLONE_TRAMPOLINES && g->again; g++) {
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

/* Where a trampoline keeps the program's registers, below the stack pointer that it was called
 * with. */
static const struct {
	int8_t place;
	uint8_t words;
} kept[] = {
	{REG_RAX, 1}, {REG_RCX, 2}, {REG_RDX, 3}, {REG_RSI, 4},	 {REG_RDI, 5},
	{REG_R8, 6},  {REG_R9, 7},  {REG_R10, 8}, {REG_RBP, 12}, {REG_R11, 13},
};

enum {
	TRAMPOLINE_WORDS = 14, /* the trampoline's stack where it lets handlers run */
	FLAGS_WORDS = 10,      /* as lahf and seto tell */
	PUSHED_WORDS = 11,     /* as pushfq does, of which the direction counts; r11 in a trampoline
				  that saves it */
	ARITHMETIC = 0xd5,
	DIRECTION = 0x400,
	OVERFLOW = 0x800,
	TRAP_FLAG = 0x100,
	CALL = 0xe8,
	MOV_EDI = 0xbf,
	WAY_OUT_BYTES = 96,   /* of code, up to where the slow path moves the stack */
	PROBE_BYTES_MAX = 48, /* before its call */
	KEPT_R11_BYTES = 48,  /* of code */
	SAVES_MAX = 64,	      /* bytes of code before the last of a trampoline's saves */
};

/* The last that a trampoline saves: lahf; seto %al; mov %eax, -80(%rsp). */
static const uint8_t save_flags[] = {0x9f, 0x0f, 0x90, 0xc0, 0x89, 0x44, 0x24, 0xb0};

/* Take the arithmetic flags over into @flags that a trampoline keeps at @trampoline. */
static uint64_t with_kept(uint64_t flags, const uint64_t *trampoline)
{
	uint64_t told = trampoline[-FLAGS_WORDS];

	flags &= ~(uint64_t)(ARITHMETIC | OVERFLOW);
	return flags | (told >> 8 & ARITHMETIC) | (told & 1 ? OVERFLOW : 0);
}

/* Of these the first are kept by each trampoline, then some by those that count or pop. */
enum { KEPT_BY_COUNTING = 2, KEPT_BY_ALL = 6, KEPT_BY_MOST = 8 };

static void restore(ucontext_t *context, const uint64_t *trampoline, uint32_t n)
{
	greg_t *registers = context->uc_mcontext.gregs;

	for (uint32_t i = 0; i < n; i++)
		registers[kept[i].place] = (greg_t)trampoline[-(int64_t)kept[i].words];
	registers[REG_EFL] = (greg_t)with_kept((uint64_t)registers[REG_EFL], trampoline);
}

static bool is_equal(const uint8_t *code, const uint8_t *bytes, uint32_t n)
{
	while (n && code[n - 1] == bytes[n - 1])
		n--;
	return !n;
}

enum dw_trampoline dw_trampoline_called(const struct dw_area *area, uint64_t pc)
{
	const uint32_t *trampolines = area->header->trampoline_at;
	const uint8_t *code = (const uint8_t *)pc;
	int32_t distance;
	uint64_t to;

	if (dw_area_of_clone(pc) != area || *code != CALL)
		return DWELL_TRAMPOLINES_N;
	memcpy(&distance, code + 1, sizeof(distance));
	to = pc + DWELL_PROBE_CALL_BYTES + (uint64_t)(int64_t)distance - area->area;
	for (uint32_t i = 0; i < DWELL_TRAMPOLINES_N; i++)
		if (trampolines[i] && trampolines[i] == to)
			return (enum dw_trampoline)i;
	return DWELL_TRAMPOLINES_N;
}

bool dw_trampoline_stood(const struct dw_area *area, enum dw_trampoline trampoline, uint64_t pc)
{
	const struct dw_clone_part *list = &area->header->trampoline_calls[trampoline];
	const uint32_t *at = (const uint32_t *)(area->area + list->at), *end = at + list->n;
	uint64_t offset = pc - area->area;

	if (offset >= area->bytes)
		return false;
	at = dw_first_offset(at, end, (uint32_t)offset);
	return at < end && *at == offset;
}

/* Whether the task stops behind each instruction. */
static bool is_stepped(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG;
}

/* Whether @trampoline only counts: it saves what it changes itself, the rest on its way out. */
static bool only_counts(enum dw_trampoline trampoline)
{
	return trampoline == DWELL_TRAMPOLINE_COUNTED ||
	       trampoline == DWELL_TRAMPOLINE_COUNTED_TAIL ||
	       trampoline == DWELL_TRAMPOLINE_COUNTED_POINTER;
}

/* Whether the probe of @trampoline has a load of rax before its call. */
static bool takes_rax(enum dw_trampoline trampoline)
{
	return trampoline == DWELL_TRAMPOLINE_ENTER || trampoline == DWELL_TRAMPOLINE_OUT ||
	       trampoline == DWELL_TRAMPOLINE_TAIL || trampoline == DWELL_TRAMPOLINE_OUT_POINTER ||
	       trampoline == DWELL_TRAMPOLINE_LINE || only_counts(trampoline);
}

/* Where the probe begins whose call of @trampoline is at @call. 0 = not found. */
static uint64_t probe_of(enum dw_trampoline trampoline, uint64_t call)
{
	static const uint8_t save[] = {0x48, 0x89, 0x44, 0x24, 0xf0};

	if (!takes_rax(trampoline))
		return call;
	for (uint64_t n = sizeof(save) + 1; n < PROBE_BYTES_MAX; n++)
		if (is_equal((const uint8_t *)call - n, save, sizeof(save)))
			return call - n;
	return 0;
}

/* Whether the trampoline at @at has done its work and gives the registers back. */
static bool is_done(const struct dw_clone_header *h, uint32_t at)
{
	for (const struct dw_clone_trampoline *g = h->trampolines;
	     g < h->trampolines + DWELL_CLONE_TRAMPOLINES; g++)
		if (at >= g->end && at < g->over)
			return true;
	return h->moved_at && at >= h->moved_at;
}

/* Whether the trampoline has changed r11 at @code and keeps it: between its two movs of it. */
static bool keeps_r11(const uint8_t *code)
{
	static const uint8_t save[] = {0x4c, 0x89, 0x5c, 0x24, 0xa8};
	static const uint8_t load[] = {0x4c, 0x8b, 0x5c, 0x24, 0xa8};

	for (const uint8_t *p = code - sizeof(save); p > code - KEPT_R11_BYTES; p--)
		if (is_equal(p, save, sizeof(save)) || is_equal(p, load, sizeof(load)))
			return is_equal(p, save, sizeof(save));
	return false;
}

/* Whether @trampoline, which only counts, has saved everything at @at: behind its load of rdi. */
static bool is_on_way_out(const struct dw_area *area, enum dw_trampoline trampoline, uint32_t at)
{
	const uint8_t *code = (const uint8_t *)area->area + at;
	uint8_t load[] = {MOV_EDI, DWELL_TRAMPOLINE_COUNTED, 0, 0, 0};

	if (trampoline == DWELL_TRAMPOLINE_COUNTED_POINTER)
		load[1] = DWELL_TRAMPOLINE_COUNTED_POINTER;
	for (uint32_t back = sizeof(load); back < WAY_OUT_BYTES; back++)
		if (is_equal(code - back, load, sizeof(load)))
			return true;
	return false;
}

/* Where a trampoline that begins at @at has saved what it changes. */
static uint32_t saved_at(const struct dw_area *area, uint32_t at)
{
	const uint8_t *code = (const uint8_t *)area->area + at;

	for (uint32_t i = 0; i < SAVES_MAX; i++)
		if (is_equal(code + i, save_flags, sizeof(save_flags)))
			return at + i + (uint32_t)sizeof(save_flags);
	return at;
}

/* Give the program's registers back, of a task at @at in @trampoline. */
static void give_back(const struct dw_area *area, enum dw_trampoline trampoline, uint32_t at,
		      ucontext_t *context)
{
	const struct dw_clone_header *h = area->header;
	greg_t *registers = context->uc_mcontext.gregs;
	const uint64_t *top = dw_context_stack(context);
	uint32_t first = h->trampoline_at[trampoline], saved = saved_at(area, first);
	bool has_most = takes_rax(trampoline) || trampoline == DWELL_TRAMPOLINE_EXIT ||
			trampoline == DWELL_TRAMPOLINE_RETURN;

	if (at - first < saved - first) {
		if (takes_rax(trampoline) || at > saved - sizeof(save_flags))
			registers[REG_RAX] = (greg_t)top[-1];
		return;
	}
	if (at >= h->moved_at) {
		restore(context, top, KEPT_BY_MOST);
		return;
	}
	if (only_counts(trampoline)) {
		restore(context, top,
			is_on_way_out(area, trampoline, at) ? KEPT_BY_ALL : KEPT_BY_COUNTING);
		return;
	}
	if (trampoline == DWELL_TRAMPOLINE_LINE || keeps_r11((const uint8_t *)area->area + at))
		registers[REG_R11] = (greg_t)top[-PUSHED_WORDS];
	restore(context, top, has_most ? KEPT_BY_MOST : KEPT_BY_ALL);
}

/* The trampoline whose call is at @call, or was: it may have been switched off since, *@is_off.
 * DWELL_TRAMPOLINES_N = none. */
static enum dw_trampoline trampoline_at(const struct dw_area *area, uint64_t call, bool *is_off)
{
	enum dw_trampoline trampoline = dw_trampoline_called(area, call);

	*is_off = trampoline == DWELL_TRAMPOLINES_N;
	for (uint32_t i = 0; *is_off && i < DWELL_TRAMPOLINES_N; i++)
		if (dw_trampoline_stood(area, (enum dw_trampoline)i, call))
			return (enum dw_trampoline)i;
	return trampoline;
}

/* Between a probe's load of rax and its call. */
static void leave_load(const struct dw_area *area, ucontext_t *context)
{
	uint64_t pc = dw_context_pc(context), probe;
	enum dw_trampoline trampoline = dw_trampoline_called(area, pc);

	if (trampoline == DWELL_TRAMPOLINES_N || trampoline == DWELL_TRAMPOLINE_LINE ||
	    !takes_rax(trampoline))
		return;
	probe = probe_of(trampoline, pc);
	if (!probe)
		return;
	context->uc_mcontext.gregs[REG_RAX] = (greg_t)dw_context_stack(context)[-2];
	dw_context_set_pc(context, is_stepped(context) ? pc + DWELL_PROBE_CALL_BYTES : probe);
}

/*
 * Let the task, interrupted in a trampoline of @area that has not moved the stack pointer, be where
 * it is without: in front of the probe, which then runs again, or behind it if it has done its
 * work, with the program's own registers, flags and stack pointer. The same between a probe's load
 * of rax and its call. Where the program steps through its instructions, probes running again would
 * have no end: there they are left out, as are those that have been switched off meanwhile. After
 * settle_trampoline() or finish_trampoline(). What is elsewhere stays.
 */
static void leave_trampoline(const struct dw_area *area, ucontext_t *context)
{
	const struct dw_clone_header *h = area->header;
	uint32_t at = (uint32_t)(dw_context_pc(context) - area->area);
	const uint64_t *top = dw_context_stack(context);
	bool is_off, is_over;
	enum dw_trampoline trampoline;
	uint64_t to;

	if (dw_function_of_clone(area, at) < h->functions.n) {
		leave_load(area, context);
		return;
	}
	if (at > h->moves_at && at < h->moved_at)
		return;
	trampoline = trampoline_at(area, *top - DWELL_PROBE_CALL_BYTES, &is_off);
	if (trampoline == DWELL_TRAMPOLINES_N ||
	    (!h->moved_at && at != h->trampoline_at[DWELL_TRAMPOLINE_LEAVE]))
		return;
	/* RETURN may have a second activation to end; without one, running again does nothing. */
	is_over = is_off || is_stepped(context) ||
		  (is_done(h, at) && trampoline != DWELL_TRAMPOLINE_RETURN);
	to = is_over ? *top : probe_of(trampoline, *top - DWELL_PROBE_CALL_BYTES);
	if (!to)
		return;
	if (trampoline != DWELL_TRAMPOLINE_LEAVE)
		give_back(area, trampoline, at, context);
	context->uc_mcontext.gregs[REG_RSP] += (greg_t)sizeof(*top);
	dw_context_set_pc(context, to);
}

/*
 * Let the task, interrupted where a trampoline lets handlers run (struct dw_clone_header,
 * signals_at), go on behind the trampoline: handlers see the program's own registers and stack.
 */
static void finish_trampoline(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	const uint64_t *trampoline = dw_context_stack(context) + TRAMPOLINE_WORDS;
	uint64_t flags = with_kept((uint64_t)registers[REG_EFL], trampoline) & ~(uint64_t)DIRECTION;

	flags |= trampoline[-PUSHED_WORDS] & DIRECTION;
	for (uint32_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		registers[kept[i].place] = (greg_t)trampoline[-(int64_t)kept[i].words];
	registers[REG_EFL] = (greg_t)flags;
	registers[REG_RSP] = (greg_t)(trampoline + 1);
	dw_context_set_pc(context, *trampoline);
}

enum {
	LOAD_AT = 5,			  /* of the index, in a probe */
	CALL_AT = DWELL_PROBE_LOAD_BYTES, /* of the trampoline */
	RED_ZONE_BYTES = 128,
	SAVED_WORDS = 2, /* of rax, below the stack pointer */
};

static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
static const uint8_t head[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};

/* Whether a probe, which may be switched off, begins at @at, apart from what moves the stack
 * pointer. */
static bool is_probe(const struct dw_area *area, uint64_t at)
{
	int32_t distance;

	if (is_equal((const uint8_t *)at, dw_no_probe, sizeof(dw_no_probe)))
		return true;
	if (!is_equal((const uint8_t *)at, head, sizeof(head)) ||
	    *(const uint8_t *)(at + CALL_AT) != CALL)
		return false;
	memcpy(&distance, (const void *)(at + CALL_AT + 1), sizeof(distance));
	return at + CALL_AT + DWELL_PROBE_CALL_BYTES + (uint64_t)(int64_t)distance ==
	       area->area + area->header->trampoline_at[DWELL_TRAMPOLINE_LINE];
}

static bool is_moved(uint64_t probe)
{
	return is_equal((const uint8_t *)(probe - sizeof(down)), down, sizeof(down)) &&
	       is_equal((const uint8_t *)(probe + DWELL_PROBE_BYTES), up, sizeof(up));
}

static void go_on(ucontext_t *context, uint64_t pc, uint64_t pop)
{
	context->uc_mcontext.gregs[REG_RSP] += (greg_t)pop;
	dw_context_set_pc(context, pc);
}

/* Out of the probe at @probe, before its call: in front of it, or behind it. */
static void leave_probe(uint64_t probe, ucontext_t *context)
{
	uint64_t end = probe + DWELL_PROBE_BYTES;

	if (dw_context_pc(context) == probe + CALL_AT)
		context->uc_mcontext.gregs[REG_RAX] =
			(greg_t)dw_context_stack(context)[-SAVED_WORDS];
	if (is_moved(probe))
		go_on(context, is_stepped(context) ? end + sizeof(up) : probe - sizeof(down),
		      RED_ZONE_BYTES);
	else
		go_on(context, is_stepped(context) ? end : probe, 0);
}

void dw_context_leave_statement(const struct dw_area *area, ucontext_t *context)
{
	uint64_t pc = dw_context_pc(context), probe;

	if (!area->header->statements.n)
		return;
	for (uint32_t in = 0; in <= CALL_AT; in += LOAD_AT) {
		if (!is_probe(area, pc - in))
			continue;
		leave_probe(pc - in, context);
		return;
	}
	probe = pc + sizeof(down);
	if (is_probe(area, pc - DWELL_PROBE_BYTES) && is_moved(pc - DWELL_PROBE_BYTES))
		go_on(context, pc + sizeof(up), RED_ZONE_BYTES);
	else if (is_stepped(context) && is_probe(area, probe) && is_moved(probe))
		go_on(context, probe + DWELL_PROBE_BYTES + sizeof(up), 0);
}

void dw_context_settle(const struct dw_area *area, ucontext_t *context)
{
	if (dw_context_pc(context) - area->area == area->header->signals_at)
		finish_trampoline(context);
	else
		settle_trampoline(area, context);
	leave_trampoline(area, context);
	dw_context_leave_statement(area, context);
}

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
 * The original address of @pc, in a clone's area. Behind a call the trampoline there still belongs
 * to it, but the call is over. Where a trampoline has moved the stack it stays what it is, so that
 * unwinding from there is exact; in another trampoline, that of the function whose probe called it.
 */
static uint64_t original_of(const struct dw_area *area, uint64_t pc, const uint64_t *sp)
{
	const struct dw_clone_header *h = area->header;
	uint32_t at = (uint32_t)(pc - area->area);
	enum dw_trampoline trampoline;

	if (dw_function_of_clone(area, at) < h->functions.n) {
		trampoline = dw_trampoline_called(area, pc);
		if (trampoline == DWELL_TRAMPOLINE_RETURN ||
		    trampoline == DWELL_TRAMPOLINE_CALL_END)
			pc += DWELL_PROBE_CALL_BYTES;
		return dw_original(pc, false);
	}
	if (at > h->moves_at && at < h->moved_at)
		return pc;
	return dw_area_of_clone(*sp) == area ? dw_original(*sp, false) : pc;
}

/* The slow path of such a trampoline may have switched it off. */
static bool is_leaving(const struct dw_area *area, uint64_t call)
{
	return dw_trampoline_called(area, call) == DWELL_TRAMPOLINE_LEAVE ||
	       dw_trampoline_stood(area, DWELL_TRAMPOLINE_EXIT, call) ||
	       dw_trampoline_stood(area, DWELL_TRAMPOLINE_TAIL, call);
}

/* Do the return or jump behind the trampoline EXIT or TAIL for the handler to see. */
static void look_through(const struct dw_area *area, struct dw_translated *s)
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
		s->translated_pc = dw_original(
			(uint64_t)code + JUMP_BYTES + (uint64_t)(int64_t)distance, false);
		return;
	}
	code += *code == REPEAT || *code == BOUND;
	if (*code == RETURN_AND_POP)
		memcpy(&pop, code + 1, sizeof(pop));
	else if (*code != RETURN)
		return;
	s->translated_pc = behind_call(*(const uint64_t *)s->sp);
	s->translated_sp = s->sp + sizeof(uint64_t) + pop;
}

static void set(ucontext_t *context, uint64_t pc, uint64_t sp)
{
	dw_context_set_pc(context, pc);
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
}

struct dw_translated dw_context_translate(const struct dw_area *area, ucontext_t *context,
					  bool is_fault)
{
	uint64_t pc = dw_context_pc(context), sp = (uint64_t)dw_context_stack(context);
	struct dw_translated s = {pc, sp, original_of(area, pc, (const uint64_t *)sp), sp};

	if (!is_fault)
		look_through(area, &s);
	set(context, s.translated_pc, s.translated_sp);
	return s;
}

void dw_context_restore(ucontext_t *context, const struct dw_translated *s)
{
	uint64_t pc = dw_context_pc(context), sp = (uint64_t)dw_context_stack(context);

	if (pc != s->translated_pc || (s->sp != s->translated_sp && sp != s->translated_sp))
		set(context, dw_clone_of(pc), sp);
	else
		set(context, s->pc, sp - s->translated_sp + s->sp);
}
