/*
 * Rows, personalities and LSDAs of clones against those of their functions, instruction by
 * instruction, by running both programs; see verify.h.
 */
#include "clone/verify/state.h"

#include "clone/trampolines/trampolines.h"
#include "clone/verify/probes.h"
#include "code/cfi/entry.h"

#include <dwarf.h>
#include <string.h>

enum { BASE_MASK = 0x70, INDEX_HEAD_BYTES = 12, OPCODE_CALL = 0xe8, CALL_BYTES = 5 };

/* The rows of one range, one after the other. */
struct rows {
	struct dw_cfi_reading entry;
	struct dw_cfi_machine machine;
	uint64_t to; /* svma where the current row ends */
};

static bool open_rows(const struct dw_cfi_section *s, size_t offset, struct rows *r)
{
	const struct dw_cfi_fde *fde = &r->entry.fde;

	r->entry = (struct dw_cfi_reading){0};
	if (dw_cfi_read(&r->entry, s, offset))
		return false;
	dw_cfi_machine_init(&r->machine, &r->entry.cie, fde->start, fde->program, fde->program_n);
	r->to = fde->start;
	return true;
}

/* Go to the row of @svma, not below the last one. 1: it is another one; 0; negative: broken. */
static int go_to(struct rows *r, uint64_t svma)
{
	uint64_t from;
	int moved = 0;

	for (; r->to <= svma; moved = 1) {
		int rc = dw_cfi_machine_next(&r->machine, &from, &r->to);

		if (rc < 0)
			return rc;
	}
	return moved;
}

static bool same_rule(const struct dw_cfi_rule *a, const struct dw_cfi_rule *b)
{
	if (a->how != b->how || a->reg != b->reg || a->ops_n != b->ops_n)
		return false;
	if (a->how == DWELL_CFI_EXPRESSION || a->how == DWELL_CFI_VAL_EXPRESSION)
		return !memcmp(a->ops, b->ops, a->ops_n);
	return a->offset == b->offset;
}

/* Whether @rule of @rules finds its register below the stack pointer. */
static bool is_below(const struct dw_cfi_rules *rules, const struct dw_cfi_rule *rule)
{
	return rules->cfa.how == DWELL_CFI_OFFSET && rules->cfa.reg == DWELL_REG_SP &&
	       rule->how == DWELL_CFI_OFFSET && rules->cfa.offset + rule->offset < 0;
}

/* Whether row @b of a clone says what row @a says. @has_left: a trampoline has written below the
 * stack pointer, registers were given back before. @moved: that is so much lower than the function
 * has it. */
static bool same_rules(const struct dw_cfi_rules *a, const struct dw_cfi_rules *b, bool has_left,
		       int64_t moved)
{
	struct dw_cfi_rule cfa = a->cfa;

	if (cfa.how == DWELL_CFI_OFFSET && cfa.reg == DWELL_REG_SP)
		cfa.offset += moved;
	for (unsigned i = 0; i < DWELL_REG_COUNT; i++) {
		bool is_back =
			has_left && i < DWELL_REG_PC && i != DWELL_REG_SP && is_below(a, &a->r[i]);

		if (is_back ? b->r[i].how != DWELL_CFI_SAME : !same_rule(&a->r[i], &b->r[i]))
			return false;
	}
	return same_rule(&cfa, &b->cfa);
}

/* Whether the trampoline at @place of the area is one that is called where functions are left. */
static bool is_leaving_trampoline(const struct dw_verify *v, uint32_t place)
{
	const struct dw_trampolines trampolines = {v->h.probes, v->h.code_at, v->h.constants_at,
						   v->h.wiped_at};

	return place == dw_trampoline_at(&trampolines,
					 dw_trampoline_of_leaving(trampolines.probes)) ||
	       (trampolines.probes == DWELL_PROBES_TIME &&
		place == dw_trampoline_at(&trampolines, DWELL_TRAMPOLINE_TAIL));
}

/* Whether [@from, @to) of the area holds a call of a leaving trampoline. */
static bool calls_leaving_trampoline(const struct dw_verify *v, uint32_t from, uint32_t to)
{
	int32_t distance;

	for (uint32_t at = from; at + CALL_BYTES <= to && to <= v->area_n; at++) {
		memcpy(&distance, v->area + at + 1, sizeof distance);
		if (v->area[at] == OPCODE_CALL &&
		    is_leaving_trampoline(v, at + CALL_BYTES + (uint32_t)distance))
			return true;
	}
	return false;
}

/* Whether the instruction at @svma, with its clone at [@from, @to), ends an activation with a call
 * of a leaving trampoline, itself or by a jump behind it to the next function. */
static bool has_left(const struct dw_verify *v, const struct dw_verify_function *f, uint64_t svma,
		     uint32_t from, uint32_t to)
{
	struct dw_insn insn;
	const uint8_t *bytes;
	size_t left;

	if (!dw_verify_is_measured(v, f) || !calls_leaving_trampoline(v, from, to))
		return false;
	if (to == f->clone_end && calls_leaving_trampoline(v, to - 2 * CALL_BYTES, to - CALL_BYTES))
		return true;
	bytes = dw_verify_bytes(v, svma, &left);
	return bytes && dw_insn_decode(bytes, left, &insn) &&
	       (insn.kind == DWELL_INSN_RETURN || insn.kind == DWELL_INSN_JUMP ||
		insn.kind == DWELL_INSN_BRANCH || insn.kind == DWELL_INSN_JUMP_INDIRECT);
}

/* A part of the clone of an instruction. */
struct piece {
	uint32_t from, to; /* area offsets */
	bool has_left;	   /* for same_rules(), as the next */
	int64_t moved;
};

/* Whether the clone has one row for all of @p, which says what @a says. */
static bool same_piece(const struct dw_verify *v, const struct dw_cfi_rules *a, struct rows *new,
		       const struct piece *p)
{
	if (p->from == p->to)
		return true;
	if (go_to(new, v->area_svma + p->from) < 0 || new->to < v->area_svma + p->to)
		return false;
	return same_rules(a, &new->machine.rules, p->has_left, p->moved);
}

/* Compare the rows at instruction @i, whose clone may begin with a probe that moves the stack
 * pointer. */
static bool same_rows(const struct dw_verify *v, const struct dw_verify_function *f, uint32_t i,
		      struct rows *old, struct rows *new)
{
	bool is_last = i + 1 == f->first + f->n;
	uint32_t from = i == f->first ? f->clone_at : v->insns.v[i].front;
	uint32_t to = is_last ? f->clone_end : v->insns.v[i + 1].front;
	struct dw_verify_moved moved = dw_verify_statement_moves(v, i);
	uint64_t svma = v->insns.v[i].svma;
	bool left = has_left(v, f, svma, from, to);

	if (go_to(old, svma) < 0)
		return false;
	if (moved.from == moved.to)
		moved.from = moved.to = to;
	for (int k = 0; k < 3; k++) {
		const struct piece pieces[] = {{from, moved.from, left, 0},
					       {moved.from, moved.to, left, DWELL_VERIFY_MOVE},
					       {moved.to, to, left, 0}};

		if (!same_piece(v, &old->machine.rules, new, &pieces[k]))
			return false;
	}
	return true;
}

/* Compare the rows at each instruction of @f; those of a clone must not end within one. */
static void check_rows(struct dw_verify *v, const struct dw_verify_function *f, struct rows *old,
		       struct rows *new)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		if (same_rows(v, f, i, old, new))
			continue;
		dw_verify_find(v, v->insns.v[i].svma, v->insns.v[i].front,
			       "unwinds in another way");
		return;
	}
}

/* Where a personality is found, and whether that is a word with its address. */
static uint64_t personality(const struct dw_verify *v, const struct rows *r, bool *is_word)
{
	uint8_t encoding = r->entry.cie.personality_encoding;

	*is_word = encoding & DW_EH_PE_indirect;
	if (encoding == DW_EH_PE_omit)
		return 0;
	if ((encoding & BASE_MASK) == DW_EH_PE_absptr && !v->is_fixed &&
	    r->entry.s->svma < v->area_svma + v->area_n && r->entry.s->svma >= v->area_svma)
		return 0; /* an image must not rely on a loader */
	if ((encoding & BASE_MASK) == DW_EH_PE_absptr && !v->is_fixed) {
		*is_word = true;
		return r->entry.s->svma + r->entry.cie.personality_at;
	}
	return r->entry.cie.personality;
}

static bool same_personality(const struct dw_verify *v, const struct rows *a, const struct rows *b)
{
	bool a_word, b_word;

	return personality(v, a, &a_word) == personality(v, b, &b_word) && a_word == b_word &&
	       a->entry.cie.signal == b->entry.cie.signal;
}

/* Whether exceptions that land at @svma in the module land at @to instead. */
static bool same_pad(const struct dw_verify *v, uint64_t svma, uint64_t to)
{
	const struct dw_verify_function *f = dw_verify_function_at(v, svma);
	uint64_t front = f && f->clone_at && svma != f->start ? dw_verify_front_of(v, f, svma) : 0;

	return front ? to == front : dw_verify_same_place(v, svma, to, true);
}

static bool same_site(const struct dw_verify *v, const struct dw_verify_function *f,
		      const struct dw_verify_site *a, const struct dw_verify_site *b)
{
	if (b->start != dw_verify_front_of(v, f, a->start) ||
	    b->end != dw_verify_front_of(v, f, a->end) || !a->pad != !b->pad ||
	    !a->action != !b->action)
		return false;
	return !a->pad || same_pad(v, a->pad, b->pad);
}

/* Compare the call sites of @f with LSDA at @a and of its clone with LSDA at @b. */
static void check_lsda(struct dw_verify *v, const struct dw_verify_function *f, uint64_t a,
		       uint64_t b)
{
	struct dw_verify_lsda la, lb;
	struct dw_verify_site sa, sb;
	bool more_a, more_b;

	if (!dw_verify_lsda_open(v, a, f->start, &la) ||
	    !dw_verify_lsda_open(v, b, v->area_svma + f->clone_at, &lb)) {
		dw_verify_find(v, f->start, f->clone_at, "an LSDA cannot be read");
		return;
	}
	do {
		more_a = dw_verify_lsda_next(&la, &sa);
		more_b = dw_verify_lsda_next(&lb, &sb);
		if (more_a != more_b) {
			dw_verify_find(v, f->start, f->clone_at, "another number of call sites");
			return;
		}
		if (more_a && (!same_site(v, f, &sa, &sb) ||
			       !dw_verify_same_actions(&la, sa.action, &lb, sb.action))) {
			dw_verify_find(v, sa.start, (uint32_t)(sb.start - v->area_svma),
				       "exceptions lead elsewhere");
			return;
		}
	} while (more_a);
}

static void check_function(struct dw_verify *v, const struct dw_verify_function *f,
			   const struct dw_cfi_section *s, const struct dw_cfi_fdes *fdes)
{
	const struct dw_cfi_fde_ref *old_ref = dw_cfi_fdes_find(&v->fdes, f->start);
	const struct dw_cfi_fde_ref *new_ref = dw_cfi_fdes_find(fdes, v->area_svma + f->clone_at);
	struct rows old, new;

	if (!old_ref || !new_ref || new_ref->end != v->area_svma + f->clone_end ||
	    !open_rows(&v->sections[old_ref->kind], old_ref->offset, &old) ||
	    !open_rows(s, new_ref->offset, &new)) {
		dw_verify_find(v, f->start, f->clone_at, "no unwind entry");
		return;
	}
	check_rows(v, f, &old, &new);
	if (!same_personality(v, &old, &new))
		dw_verify_find(v, f->start, f->clone_at, "another personality");
	if (!old.entry.fde.lsda != !new.entry.fde.lsda)
		dw_verify_find(v, f->start, f->clone_at, "LSDA lost or won");
	else if (old.entry.fde.lsda)
		check_lsda(v, f, old.entry.fde.lsda, new.entry.fde.lsda);
}

/* The 32-bit number at area offset @at, of which 4 bytes are there. */
static uint32_t word(const struct dw_verify *v, uint64_t at)
{
	uint32_t value;

	memcpy(&value, v->area + at, sizeof value);
	return value;
}

/* The sorted index: one line for each FDE, as unwinders search it. */
static void check_index(struct dw_verify *v, const struct dw_cfi_section *s,
			const struct dw_cfi_fdes *fdes)
{
	static const uint8_t head[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
				       DW_EH_PE_datarel | DW_EH_PE_sdata4};
	uint32_t at = v->h.eh_frame_hdr_at;

	if (memcmp(v->area + at, head, sizeof head) ||
	    (uint32_t)(at + 4 + word(v, at + 4)) != v->h.eh_frame_at ||
	    word(v, at + 8) != fdes->list.n ||
	    at + INDEX_HEAD_BYTES + fdes->list.n * 8 > v->area_n) {
		dw_verify_find(v, 0, at, "the index of unwind entries makes no sense");
		return;
	}
	for (size_t i = 0; i < fdes->list.n; i++) {
		uint64_t line = at + INDEX_HEAD_BYTES + i * 8;
		const struct dw_cfi_fde_ref *fde = &fdes->list.v[i];

		if (v->area_svma + (uint32_t)(at + word(v, line)) != fde->start ||
		    v->area_svma + (uint32_t)(at + word(v, line + 4)) != s->svma + fde->offset) {
			dw_verify_find(v, 0, (uint32_t)line, "a line of the index is wrong");
			return;
		}
	}
}

/* The entry of the trampolines holds the program that belongs to them. */
static void check_trampolines(struct dw_verify *v, const struct dw_cfi_section *s,
			      const struct dw_cfi_fdes *fdes)
{
	struct dw_trampolines trampolines = {v->h.probes, v->h.code_at, v->h.constants_at,
					     v->h.wiped_at};
	struct dw_clone_trampoline_range range = dw_trampolines_range(&trampolines);
	const struct dw_cfi_fde_ref *ref = dw_cfi_fdes_find(fdes, v->area_svma + range.at);
	struct rows r;

	if (!ref || ref->end != v->area_svma + range.at + range.bytes ||
	    !open_rows(s, ref->offset, &r) || r.entry.fde.program_n < range.program_n ||
	    memcmp(r.entry.fde.program, range.program, range.program_n) ||
	    r.entry.cie.initial.cfa.reg != DWELL_REG_SP || r.entry.cie.initial.cfa.offset != 8 ||
	    r.entry.cie.initial.r[DWELL_REG_PC].how != DWELL_CFI_OFFSET ||
	    r.entry.cie.initial.r[DWELL_REG_PC].offset != -8 || r.entry.cie.data_align != -8 ||
	    r.entry.cie.code_align != 1)
		dw_verify_find(v, 0, range.at, "the trampolines unwind in another way");
}

int dw_verify_unwind(struct dw_verify *v)
{
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS] = {
		[DWELL_CFI_EH] = {.bytes = v->area + v->h.eh_frame_at,
				  .n = v->area_n - v->h.eh_frame_at,
				  .svma = v->area_svma + v->h.eh_frame_at,
				  .open_ended = true}};
	struct dw_cfi_spans spans = {0};
	struct dw_cfi_fdes fdes = {0};
	int rc = dw_cfi_fdes_read(sections, &spans, &fdes);

	if (!rc) {
		check_index(v, &sections[DWELL_CFI_EH], &fdes);
		check_trampolines(v, &sections[DWELL_CFI_EH], &fdes);
	}
	dw_vec_each(f, &v->functions) {
		if (!rc && f->clone_at)
			check_function(v, f, &sections[DWELL_CFI_EH], &fdes);
	}
	dw_cfi_fdes_release(&fdes);
	return rc;
}
