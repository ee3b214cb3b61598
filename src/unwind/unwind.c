/*
 * The unwinder; see unwind.h. Source of full rules: DWARF 5, 6.4.1.
 *
 * The fast path follows pc, sp and fp through plain rows. Anything else goes through
 * slow_step(): rows for realigned stacks and PLT stubs, full rules, frame pointers where
 * there is no table. Full rules mostly need those three registers only; when one wants another, the
 * walk starts again from frame 0 and takes full rules everywhere, so that every callee-saved
 * register is followed: one without a rule keeps its value, as debuggers assume, and one that
 * cannot be found is marked as not known, so that only a later rule that wants it fails. Every step
 * must go outward, but out of a signal handler, which may run on a stack of its own, and out of
 * what has its return address in a register, as vfork() does: of those at most SWITCHES_MAX may go
 * inward, or nowhere. So a walk ends.
 */
#include "unwind/unwind.h"

#include "base/error.h"
#include "code/cfi/program.h"
#include "code/cfi/table-format.h"

#include <errno.h>
#include <string.h>

enum {
	SWITCHES_MAX = 16,
	FRAME_MAX_BYTES = 1 << 20, /* larger frames are not believed without a table */
	FAST_REGS = 1u << DWELL_REG_FP | 1u << DWELL_REG_SP | 1u << DWELL_REG_PC,
	ALL_REGS = (1u << DWELL_REG_COUNT) - 1,
};

/* Registers of the frame that a walk stands in. */
struct state {
	uint64_t r[DWELL_REG_COUNT]; /* pc: where the frame executes, or its return address */
	uint32_t known;		     /* bit n: r[n] holds */
	bool exact;		     /* pc is no return address */
};

enum {
	STEP_OK = -1,		   /* went one frame outward; else an enum dw_unwind_end */
	STEP_NEEDS_REGISTERS = -2, /* a rule wants a register that is not known */
	CUT = -ENODATA,		   /* what read_word() returns when the stack is cut */
};

/* Make [@addr, @addr + 8) part of @m's bytes. False: cut. */
static __attribute__((noinline)) bool extend(struct dw_unwind_memory *m, uint64_t addr)
{
	return m->extend && !m->extend(m->ctx, m, addr) && m->n >= 8 && addr - m->base <= m->n - 8;
}

/* Read the word at @addr. False: cut. */
static inline bool read_stack(struct dw_unwind_memory *m, uint64_t addr, uint64_t *ret)
{
	if (__builtin_expect(m->n < 8 || addr - m->base > m->n - 8, 0) && !extend(m, addr))
		return false;
	memcpy(ret, m->bytes + (addr - m->base), 8);
	return true;
}

static int read_word(void *ctx, uint64_t addr, uint64_t *ret)
{
	return read_stack(ctx, addr, ret) ? 0 : CUT;
}

/* The end that a failed evaluation means. */
static int end_of(int rc)
{
	if (rc == CUT)
		return DWELL_UNWIND_CUT;
	return rc == DWELL_ERR_NOT_FOUND ? STEP_NEEDS_REGISTERS : DWELL_UNWIND_BROKEN;
}

static int find_cfa(const struct dw_cfi_rule *rule, const struct dw_cfi_context *context,
		    uint64_t *ret)
{
	if (rule->how == DWELL_CFI_VAL_EXPRESSION)
		return dw_cfi_eval(rule->ops, rule->ops_n, context, NULL, ret);
	if (rule->how != DWELL_CFI_OFFSET || rule->reg >= DWELL_REG_COUNT)
		return DWELL_ERR_FORMAT;
	if (!(context->known >> rule->reg & 1))
		return DWELL_ERR_NOT_FOUND;
	*ret = context->r[rule->reg] + (uint64_t)rule->offset;
	return 0;
}

/* The caller's value of register @reg, whose rule is @rule. */
static int find_register(const struct dw_cfi_rule *rule, unsigned reg,
			 const struct dw_cfi_context *context, uint64_t cfa, uint64_t *ret)
{
	uint64_t addr = cfa + (uint64_t)rule->offset;
	int rc;

	switch (rule->how) {
	case DWELL_CFI_OFFSET:
		/* A slot below sp has been popped, as in an epilogue: the register holds. */
		if (addr < context->r[DWELL_REG_SP] && cfa > context->r[DWELL_REG_SP])
			break;
		return context->read(context->ctx, addr, ret);
	case DWELL_CFI_VAL_OFFSET:
		*ret = addr;
		return 0;
	case DWELL_CFI_EXPRESSION:
		rc = dw_cfi_eval(rule->ops, rule->ops_n, context, &cfa, &addr);
		return rc ? rc : context->read(context->ctx, addr, ret);
	case DWELL_CFI_VAL_EXPRESSION:
		return dw_cfi_eval(rule->ops, rule->ops_n, context, &cfa, ret);
	case DWELL_CFI_UNDEFINED:
		return DWELL_ERR_NOT_FOUND;
	case DWELL_CFI_REGISTER:
		reg = rule->reg;
		break;
	}
	if (reg == DWELL_REG_SP && rule->how == DWELL_CFI_UNSPECIFIED) {
		*ret = cfa;
		return 0;
	}
	*ret = context->r[reg];
	return context->known >> reg & 1 ? 0 : DWELL_ERR_NOT_FOUND;
}

/*
 * Step by the rules of @table for @svma from @state, which becomes the caller's. *@cfa = the CFA
 * that was found. STEP_OK, STEP_NEEDS_REGISTERS or an enum dw_unwind_end: not OK leaves @state as
 * it was.
 */
static int apply_rules(const struct dw_cfi_table *table, uint64_t svma,
		       struct dw_unwind_memory *memory, struct state *state, uint64_t *cfa)
{
	struct dw_cfi_context context = {state->r, state->known, read_word, memory};
	struct state caller = {.known = 0};
	struct dw_cfi_rules rules;
	bool signal;
	int rc;

	if (dw_cfi_table_rules(table, svma, &rules, &signal))
		return DWELL_UNWIND_NO_RULE;
	if (rules.r[DWELL_REG_PC].how == DWELL_CFI_UNDEFINED)
		return DWELL_UNWIND_COMPLETE;
	if (rules.r[DWELL_REG_PC].how <= DWELL_CFI_SAME)
		return DWELL_UNWIND_NO_RULE;
	rc = find_cfa(&rules.cfa, &context, cfa);
	if (rc)
		return end_of(rc);
	for (unsigned reg = 0; reg < DWELL_REG_COUNT; reg++) {
		rc = find_register(&rules.r[reg], reg, &context, *cfa, &caller.r[reg]);
		if (!rc)
			caller.known |= 1u << reg;
		else if (reg == DWELL_REG_PC || reg == DWELL_REG_SP ||
			 (reg == DWELL_REG_FP && rc == CUT))
			return end_of(rc);
		else
			caller.r[reg] = 0;
	}
	caller.exact = signal;
	*state = caller;
	return STEP_OK;
}

struct walk {
	struct dw_space *space;
	struct dw_unwind_memory *memory;
	struct dw_unwind_frame *frames;
	size_t max;
	size_t n;
	struct state state; /* of the last frame */
	unsigned switches;
	bool full;    /* no fast path */
	bool chained; /* a frame pointer has led from one frame to the next; rows do not end that,
			 as they follow fp exactly */
};

/* Move @s to the caller whose frame starts at @cfa. */
static int return_to(struct walk *w, struct dw_unwind_frame *f, uint64_t cfa, uint64_t fp)
{
	struct state *s = &w->state;
	uint64_t ra;

	if (cfa <= s->r[DWELL_REG_SP])
		return DWELL_UNWIND_BROKEN;
	if (!read_stack(w->memory, cfa + DWELL_RETURN_AT, &ra))
		return DWELL_UNWIND_CUT;
	f->cfa = cfa;
	s->r[DWELL_REG_PC] = ra;
	s->r[DWELL_REG_SP] = cfa;
	s->r[DWELL_REG_FP] = fp;
	s->known = FAST_REGS;
	s->exact = false;
	return ra ? STEP_OK : DWELL_UNWIND_COMPLETE;
}

/*
 * Whether a frame pointer of 0 at @f says that nobody called: at the end of a chain, where the
 * kernel begins programs, and in modules that have no table at all, whose beginning nobody knows.
 * Elsewhere it is a register that code written by hand uses for something else.
 */
static bool is_outermost(const struct walk *w, const struct dw_unwind_frame *f)
{
	const struct dw_cfi_table *t = f->range->cfi;
	uint64_t svma = f->pc.v - f->range->bias;

	return w->chained || !t || (svma >= t->entry.start && svma < t->entry.end);
}

/*
 * Follow a frame pointer in code without a table. Believed only when it points outward to a return
 * address in known code; what it leads to may again be anything.
 */
static int frame_pointer_step(struct walk *w, struct dw_unwind_frame *f)
{
	uint64_t fp = w->state.r[DWELL_REG_FP], saved, ra;

	if (!fp)
		return is_outermost(w, f) ? DWELL_UNWIND_COMPLETE : DWELL_UNWIND_NO_RULE;
	if (fp & 7 || fp - w->state.r[DWELL_REG_SP] > FRAME_MAX_BYTES)
		return DWELL_UNWIND_NO_RULE;
	if (!read_stack(w->memory, fp, &saved) || !read_stack(w->memory, fp + 8, &ra))
		return DWELL_UNWIND_CUT;
	if (ra && !dw_space_find(w->space, (struct dw_avma){ra - 1}))
		return DWELL_UNWIND_NO_RULE;
	w->chained = true;
	return return_to(w, f, fp + 16, saved);
}

static int plain_step(struct walk *w, struct dw_unwind_frame *f, struct dw_cfi_row row)
{
	uint64_t sp = w->state.r[DWELL_REG_SP], fp = w->state.r[DWELL_REG_FP];
	uint64_t cfa =
		((row.cfa & 3) == DWELL_ROW_SP ? sp : fp) + (uint64_t)((int64_t)(row.cfa >> 2) * 8);

	if (row.fp && !read_stack(w->memory, cfa + (uint64_t)((int64_t)row.fp * 8), &fp))
		return DWELL_UNWIND_CUT;
	return return_to(w, f, cfa, fp);
}

/* A step out of code that stands on the frame of what it returns to, and has fp as usual: both
 * are left at once. */
static int standing_step(struct walk *w, struct dw_unwind_frame *f)
{
	const struct dw_space_rules *rules = w->space->rules;
	uint64_t fp = w->state.r[DWELL_REG_FP], cfa = fp + 16, ra;
	struct dw_cfi_row row;

	if (!read_stack(w->memory, fp + 8, &ra))
		return DWELL_UNWIND_CUT;
	if (cfa <= w->state.r[DWELL_REG_SP])
		return DWELL_UNWIND_BROKEN;
	if (!rules->find(rules->ctx, ra - 1, DWELL_PLACE_LEFT, &row) ||
	    (row.cfa & 3) != DWELL_ROW_SP)
		return frame_pointer_step(w, f);
	w->state.r[DWELL_REG_SP] = cfa;
	return plain_step(w, f, row);
}

/*
 * A step out of code without a table: by its rules where there are some. What has none then, and
 * was just entered, is one of the few instructions that a runtime puts between its methods, which
 * leave the stack as they find it.
 */
static int ruleless_step(struct walk *w, struct dw_unwind_frame *f)
{
	const struct dw_space_rules *rules = w->space->rules;
	struct dw_cfi_row row;
	uint64_t ra;

	if (!rules)
		return frame_pointer_step(w, f);
	if (rules->find(rules->ctx, f->pc.v, w->state.exact ? DWELL_PLACE_NEXT : DWELL_PLACE_CALL,
			&row)) {
		if ((row.cfa & 3) != DWELL_ROW_SPECIAL)
			return plain_step(w, f, row);
		return row.cfa >> 2 == DWELL_ROW_NONE ? frame_pointer_step(w, f)
						      : standing_step(w, f);
	}
	if (w->state.exact && read_stack(w->memory, w->state.r[DWELL_REG_SP], &ra) &&
	    dw_space_find(w->space, (struct dw_avma){ra - 1}))
		return return_to(w, f, w->state.r[DWELL_REG_SP] - DWELL_RETURN_AT,
				 w->state.r[DWELL_REG_FP]);
	return frame_pointer_step(w, f);
}

/* A step by full rules, with what must hold of it. */
static int rules_step(struct walk *w, struct dw_unwind_frame *f)
{
	uint64_t sp = w->state.r[DWELL_REG_SP], cfa = 0;
	int rc = apply_rules(f->range->cfi, f->pc.v - f->range->bias, w->memory, &w->state, &cfa);

	if (rc == STEP_NEEDS_REGISTERS && w->full)
		return DWELL_UNWIND_BROKEN;
	if (rc != STEP_OK)
		return rc;
	if (w->state.r[DWELL_REG_SP] <= sp &&
	    ((w->state.r[DWELL_REG_SP] < sp && !w->state.exact) || ++w->switches > SWITCHES_MAX))
		return DWELL_UNWIND_BROKEN;
	f->cfa = cfa;
	if (w->state.exact) {
		w->memory->signal_sp = sp;
		w->memory->interrupted_sp = w->state.r[DWELL_REG_SP];
	}
	return w->state.r[DWELL_REG_PC] ? STEP_OK : DWELL_UNWIND_COMPLETE;
}

/* A step out of a realigned stack. */
static int deref_step(struct walk *w, struct dw_unwind_frame *f, const struct dw_cfi_row *row)
{
	uint64_t fp = w->state.r[DWELL_REG_FP], cfa, saved;

	if (!read_stack(w->memory, fp + (uint64_t)((int64_t)(row->cfa >> 2) * 8), &cfa) ||
	    !read_stack(w->memory, fp + (uint64_t)((int64_t)row->fp * 8), &saved))
		return DWELL_UNWIND_CUT;
	return return_to(w, f, cfa, saved);
}

/* One step outward from frame @f by whatever there is but plain rows. */
static __attribute__((noinline)) int slow_step(struct walk *w, struct dw_unwind_frame *f)
{
	const struct dw_cfi_row *row;
	uint64_t *r = w->state.r;

	if (!f->range)
		return DWELL_UNWIND_NO_RULE;
	if (!f->range->cfi)
		return ruleless_step(w, f);
	row = dw_cfi_table_find(f->range->cfi, f->pc.v - f->range->bias);
	if ((row->cfa & 3) == DWELL_ROW_SPECIAL && row->cfa >> 2 == DWELL_ROW_NONE)
		return ruleless_step(w, f);
	if ((row->cfa & 3) == DWELL_ROW_SPECIAL && row->cfa >> 2 == DWELL_ROW_END)
		return DWELL_UNWIND_COMPLETE;
	if (w->full)
		return rules_step(w, f);
	if ((row->cfa & 3) == DWELL_ROW_DEREF)
		return deref_step(w, f, row);
	if (row->cfa >> 2 == DWELL_ROW_PLT)
		return return_to(w, f,
				 r[DWELL_REG_SP] + 8 +
					 ((int)(r[DWELL_REG_PC] & 15) >= row->fp ? 8 : 0),
				 r[DWELL_REG_FP]);
	return rules_step(w, f);
}

static struct dw_unwind_frame *add_frame(struct walk *w)
{
	struct dw_unwind_frame *f = &w->frames[w->n++];
	const struct state *s = &w->state;

	f->pc.v = s->r[DWELL_REG_PC] - !s->exact;
	f->cfa = 0;
	f->sp = s->r[DWELL_REG_SP];
	f->fp = s->r[DWELL_REG_FP];
	f->range = dw_space_find(w->space, f->pc);
	return f;
}

/* The row for @svma in @t, from the space's memory of rows if it is there. */
static inline struct dw_cfi_row find_row(struct dw_space *s, const struct dw_cfi_table *t,
					 uint64_t svma)
{
	struct dw_space_memo *memo;

	if (!s->memos)
		return *dw_cfi_table_find(t, svma);
	memo = &s->memos[(svma ^ svma >> 11) % DWELL_SPACE_MEMOS];
	if (memo->cfi != t || memo->svma != svma)
		*memo = (struct dw_space_memo){t, svma, *dw_cfi_table_find(t, svma)};
	return memo->row;
}

/*
 * Follow plain rows outward from frame @f, the last one, and add the frames. STEP_OK: the
 * last frame needs a slow step.
 */
static int fast_steps(struct walk *w, struct dw_unwind_frame *f)
{
	struct dw_unwind_frame *end = w->frames + w->max;
	struct dw_unwind_memory *memory = w->memory;
	const struct dw_space_range *range = f->range;
	uint64_t sp = f->sp, fp = f->fp, ra = 0;
	int rc = STEP_OK;

	for (;;) {
		struct dw_cfi_row row;
		uint64_t cfa, slot;

		if (!range || !range->cfi)
			break;
		row = find_row(w->space, range->cfi, f->pc.v - range->bias);
		if ((row.cfa & 3) > DWELL_ROW_FP)
			break;
		cfa = ((row.cfa & 3) == DWELL_ROW_SP ? sp : fp) +
		      (uint64_t)((int64_t)(row.cfa >> 2) * 8);
		rc = DWELL_UNWIND_BROKEN;
		if (cfa <= sp)
			break;
		rc = DWELL_UNWIND_CUT;
		if (!read_stack(memory, cfa + DWELL_RETURN_AT, &ra))
			break;
		slot = cfa + (uint64_t)((int64_t)row.fp * 8);
		/* A slot below sp has been popped, as in an epilogue: the register holds. */
		if (row.fp && slot >= sp && !read_stack(memory, slot, &fp))
			break;
		f->cfa = sp = cfa;
		rc = ra ? DWELL_UNWIND_LIMIT : DWELL_UNWIND_COMPLETE;
		if (!ra || f + 1 == end)
			break;
		rc = STEP_OK;
		f++;
		f->pc.v = ra - 1;
		f->cfa = 0;
		f->sp = sp;
		f->fp = fp;
		if (f->pc.v - range->start >= range->end - range->start)
			range = dw_space_find(w->space, f->pc);
		f->range = range;
	}
	if (f != &w->frames[w->n - 1]) {
		w->n = (size_t)(f - w->frames) + 1;
		w->state.r[DWELL_REG_PC] = f->pc.v + 1;
		w->state.r[DWELL_REG_SP] = f->sp;
		w->state.r[DWELL_REG_FP] = f->fp;
		w->state.known = FAST_REGS;
		w->state.exact = false;
	}
	return rc;
}

static int run(struct walk *w)
{
	int rc;

	do {
		struct dw_unwind_frame *f;

		if (w->n == w->max)
			return DWELL_UNWIND_LIMIT;
		f = add_frame(w);
		rc = w->full ? STEP_OK : fast_steps(w, f);
		if (rc == STEP_OK)
			rc = slow_step(w, &w->frames[w->n - 1]);
	} while (rc == STEP_OK);
	return rc;
}

enum dw_unwind_end dw_unwind(struct dw_space *space, const struct dw_unwind_regs *regs,
			     struct dw_unwind_memory *memory, struct dw_unwind_frame *frames,
			     size_t max, size_t *ret_n)
{
	struct walk w = {.space = space, .memory = memory, .frames = frames, .max = max};
	int rc;

	if (!space->memos)
		space->memos = calloc(DWELL_SPACE_MEMOS, sizeof *space->memos);
	for (int pass = 0; pass < 2; pass++) {
		w.n = 0;
		w.switches = 0;
		w.full = pass;
		w.chained = false;
		memcpy(w.state.r, regs->r, sizeof w.state.r);
		w.state.known = ALL_REGS & ~regs->unknown;
		w.state.exact = true;
		rc = run(&w);
		if (rc != STEP_NEEDS_REGISTERS)
			break;
	}
	*ret_n = w.n;
	return (enum dw_unwind_end)rc;
}
