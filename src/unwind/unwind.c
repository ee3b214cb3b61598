/*
 * The unwinder; see unwind.h.
 *
 * The fast path follows rip, rsp and rbp through plain rows. Anything else goes through
 * slow_step(): rows for realigned stacks and PLT stubs, full rules (step.c), frame pointers where
 * there is no table. Full rules mostly need those three registers only; when one wants another, the
 * walk starts again from frame 0 and takes full rules everywhere, so that every callee-saved
 * register is followed. Every step must go outward, but out of a signal handler, which may run on a
 * stack of its own, and out of what has its return address in a register, as vfork() does: of those
 * at most SWITCHES_MAX may go inward, or nowhere. So a walk ends.
 */
#include "unwind/unwind.h"

#include "code/cfi/table-format.h"
#include "unwind/step.h"

enum {
	SWITCHES_MAX = 16,
	FRAME_MAX_BYTES = 1 << 20, /* larger frames are not believed without a table */
	FAST_REGS = 1u << DWELL_REG_RBP | 1u << DWELL_REG_RSP | 1u << DWELL_REG_RIP,
	ALL_REGS = (1u << DWELL_REG_COUNT) - 1,
};

struct walk {
	struct dw_space *space;
	struct dw_unwind_memory *memory;
	struct dw_unwind_frame *frames;
	size_t max;
	size_t n;
	struct dw_unwind_state state; /* of the last frame */
	unsigned switches;
	bool full;    /* no fast path */
	bool chained; /* a frame pointer has led from one frame to the next; rows do not end that,
			 as they follow rbp exactly */
};

/* Move @s to the caller whose frame starts at @cfa, with the return address below it. */
static int return_to(struct walk *w, struct dw_unwind_frame *f, uint64_t cfa, uint64_t rbp)
{
	struct dw_unwind_state *s = &w->state;
	uint64_t ra;

	if (cfa <= s->r[DWELL_REG_RSP])
		return DWELL_UNWIND_BROKEN;
	if (!dw_unwind_read(w->memory, cfa - 8, &ra))
		return DWELL_UNWIND_CUT;
	f->cfa = cfa;
	s->r[DWELL_REG_RIP] = ra;
	s->r[DWELL_REG_RSP] = cfa;
	s->r[DWELL_REG_RBP] = rbp;
	s->known = FAST_REGS;
	s->exact = false;
	return ra ? DWELL_STEP_OK : DWELL_UNWIND_COMPLETE;
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
	uint64_t rbp = w->state.r[DWELL_REG_RBP], saved, ra;

	if (!rbp)
		return is_outermost(w, f) ? DWELL_UNWIND_COMPLETE : DWELL_UNWIND_NO_RULE;
	if (rbp & 7 || rbp - w->state.r[DWELL_REG_RSP] > FRAME_MAX_BYTES)
		return DWELL_UNWIND_NO_RULE;
	if (!dw_unwind_read(w->memory, rbp, &saved) || !dw_unwind_read(w->memory, rbp + 8, &ra))
		return DWELL_UNWIND_CUT;
	if (ra && !dw_space_find(w->space, (struct dw_avma){ra - 1}))
		return DWELL_UNWIND_NO_RULE;
	w->chained = true;
	return return_to(w, f, rbp + 16, saved);
}

/* A step by a plain @row. */
static int plain_step(struct walk *w, struct dw_unwind_frame *f, struct dw_cfi_row row)
{
	uint64_t sp = w->state.r[DWELL_REG_RSP], rbp = w->state.r[DWELL_REG_RBP];
	uint64_t cfa = ((row.cfa & 3) == DWELL_ROW_RSP ? sp : rbp) +
		       (uint64_t)((int64_t)(row.cfa >> 2) * 8);

	if (row.rbp && !dw_unwind_read(w->memory, cfa + (uint64_t)((int64_t)row.rbp * 8), &rbp))
		return DWELL_UNWIND_CUT;
	return return_to(w, f, cfa, rbp);
}

/* A step out of code that stands on the frame of what it returns to, and has rbp as usual: both
 * are left at once. */
static int standing_step(struct walk *w, struct dw_unwind_frame *f)
{
	const struct dw_space_rules *rules = w->space->rules;
	uint64_t rbp = w->state.r[DWELL_REG_RBP], cfa = rbp + 16, ra;
	struct dw_cfi_row row;

	if (!dw_unwind_read(w->memory, rbp + 8, &ra))
		return DWELL_UNWIND_CUT;
	if (cfa <= w->state.r[DWELL_REG_RSP])
		return DWELL_UNWIND_BROKEN;
	if (!rules->find(rules->ctx, ra - 1, DWELL_PLACE_LEFT, &row) ||
	    (row.cfa & 3) != DWELL_ROW_RSP)
		return frame_pointer_step(w, f);
	w->state.r[DWELL_REG_RSP] = cfa;
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
	if (w->state.exact && dw_unwind_read(w->memory, w->state.r[DWELL_REG_RSP], &ra) &&
	    dw_space_find(w->space, (struct dw_avma){ra - 1}))
		return return_to(w, f, w->state.r[DWELL_REG_RSP] + 8, w->state.r[DWELL_REG_RBP]);
	return frame_pointer_step(w, f);
}

/* A step by full rules, with what must hold of it. */
static int rules_step(struct walk *w, struct dw_unwind_frame *f)
{
	uint64_t sp = w->state.r[DWELL_REG_RSP], cfa = 0;
	int rc =
		dw_unwind_step(f->range->cfi, f->pc.v - f->range->bias, w->memory, &w->state, &cfa);

	if (rc == DWELL_STEP_NEEDS_REGISTERS && w->full)
		return DWELL_UNWIND_BROKEN;
	if (rc != DWELL_STEP_OK)
		return rc;
	if (w->state.r[DWELL_REG_RSP] <= sp &&
	    ((w->state.r[DWELL_REG_RSP] < sp && !w->state.exact) || ++w->switches > SWITCHES_MAX))
		return DWELL_UNWIND_BROKEN;
	f->cfa = cfa;
	if (w->state.exact) {
		w->memory->signal_sp = sp;
		w->memory->interrupted_sp = w->state.r[DWELL_REG_RSP];
	}
	return w->state.r[DWELL_REG_RIP] ? DWELL_STEP_OK : DWELL_UNWIND_COMPLETE;
}

/* A step out of a realigned stack. */
static int deref_step(struct walk *w, struct dw_unwind_frame *f, const struct dw_cfi_row *row)
{
	uint64_t rbp = w->state.r[DWELL_REG_RBP], cfa, saved;

	if (!dw_unwind_read(w->memory, rbp + (uint64_t)((int64_t)(row->cfa >> 2) * 8), &cfa) ||
	    !dw_unwind_read(w->memory, rbp + (uint64_t)((int64_t)row->rbp * 8), &saved))
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
				 r[DWELL_REG_RSP] + 8 +
					 ((int)(r[DWELL_REG_RIP] & 15) >= row->rbp ? 8 : 0),
				 r[DWELL_REG_RBP]);
	return rules_step(w, f);
}

/* Add the frame that w->state stands in. */
static struct dw_unwind_frame *add_frame(struct walk *w)
{
	struct dw_unwind_frame *f = &w->frames[w->n++];
	const struct dw_unwind_state *s = &w->state;

	f->pc.v = s->r[DWELL_REG_RIP] - !s->exact;
	f->cfa = 0;
	f->sp = s->r[DWELL_REG_RSP];
	f->rbp = s->r[DWELL_REG_RBP];
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
 * Follow plain rows outward from frame @f, the last one, and add the frames. DWELL_STEP_OK: the
 * last frame needs a slow step.
 */
static int fast_steps(struct walk *w, struct dw_unwind_frame *f)
{
	struct dw_unwind_frame *end = w->frames + w->max;
	struct dw_unwind_memory *memory = w->memory;
	const struct dw_space_range *range = f->range;
	uint64_t sp = f->sp, rbp = f->rbp, ra = 0;
	int rc = DWELL_STEP_OK;

	for (;;) {
		struct dw_cfi_row row;
		uint64_t cfa, slot;

		if (!range || !range->cfi)
			break;
		row = find_row(w->space, range->cfi, f->pc.v - range->bias);
		if ((row.cfa & 3) > DWELL_ROW_RBP)
			break;
		cfa = ((row.cfa & 3) == DWELL_ROW_RSP ? sp : rbp) +
		      (uint64_t)((int64_t)(row.cfa >> 2) * 8);
		rc = DWELL_UNWIND_BROKEN;
		if (cfa <= sp)
			break;
		rc = DWELL_UNWIND_CUT;
		if (!dw_unwind_read(memory, cfa - 8, &ra))
			break;
		slot = cfa + (uint64_t)((int64_t)row.rbp * 8);
		/* A slot below sp has been popped, as in an epilogue: the register holds. */
		if (row.rbp && slot >= sp && !dw_unwind_read(memory, slot, &rbp))
			break;
		f->cfa = sp = cfa;
		rc = ra ? DWELL_UNWIND_LIMIT : DWELL_UNWIND_COMPLETE;
		if (!ra || f + 1 == end)
			break;
		rc = DWELL_STEP_OK;
		f++;
		f->pc.v = ra - 1;
		f->cfa = 0;
		f->sp = sp;
		f->rbp = rbp;
		if (f->pc.v - range->start >= range->end - range->start)
			range = dw_space_find(w->space, f->pc);
		f->range = range;
	}
	if (f != &w->frames[w->n - 1]) {
		w->n = (size_t)(f - w->frames) + 1;
		w->state.r[DWELL_REG_RIP] = f->pc.v + 1;
		w->state.r[DWELL_REG_RSP] = f->sp;
		w->state.r[DWELL_REG_RBP] = f->rbp;
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
		rc = w->full ? DWELL_STEP_OK : fast_steps(w, f);
		if (rc == DWELL_STEP_OK)
			rc = slow_step(w, &w->frames[w->n - 1]);
	} while (rc == DWELL_STEP_OK);
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
		if (rc != DWELL_STEP_NEEDS_REGISTERS)
			break;
	}
	*ret_n = w.n;
	return (enum dw_unwind_end)rc;
}
