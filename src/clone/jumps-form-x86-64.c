/*
 * Forms of jumps by tables; see jumps-form-x86-64.h.
 *
 * Load, addition and jump must follow each other in one straight line, with no use of the loaded
 * value beside: then the value that the clone loads instead shows nowhere but in the registers
 * behind the jump. Known forms, b = register with the table's address:
 *
 *	jmp *T(,%i,8)	jmp *(%b,%i,8)	mov T(,%i,8), %r ; jmp *%r	mov (%b,%i,8), %r ; jmp *%r
 *	movslq (%b,%i,4), %r ; add %b, %r ; jmp *%r	(also added to %b, and by mov and cltq)
 */
#include "clone/jumps-form-x86-64.h"

enum { LINE_MAX = 24, BOUND_STEPS = 32 };

/* Whether instruction @i runs only right behind @i - 1, which does nothing but go on. */
static bool follows(const struct dw_flow *w, uint32_t i)
{
	const struct dw_insn *before = &w->m->insns.v[w->f->first + i - 1];

	return i > 0 && !w->marks[i] && before->kind == DWELL_INSN_PLAIN;
}

/* Sign extension of eax to rax: no operand says so. */
static bool is_cltq(const struct dw_flow *w, uint32_t i)
{
	return w->at[i + 1] - w->at[i] == 2 && w->bytes[w->at[i]] == 0x48 &&
	       w->bytes[w->at[i] + 1] == 0x98;
}

static bool take_memory(const struct dw_flow *w, const struct dw_insn_memory *o, uint32_t load,
			uint8_t entry_bytes, struct dw_jump_form *ret)
{
	if (!o->is_there || o->is_rip || o->has_segment || o->scale != entry_bytes ||
	    o->index == DWELL_NO_REGISTER || (o->base == DWELL_NO_REGISTER && !w->m->is_fixed))
		return false;
	ret->load = load;
	ret->entry_bytes = entry_bytes;
	ret->holds = o->base;
	ret->index = o->index;
	ret->disp = o->disp;
	return true;
}

/* A sum of two registers, one the base and one the entry: their numbers. */
static bool is_sum(const struct dw_insn_detail *d, uint8_t *x, uint8_t *y)
{
	*x = d->to;
	if (d->op == DWELL_OP_ADD && d->bytes == 8 && !d->memory.is_there && !d->has_immediate) {
		*y = d->from;
		return *y != DWELL_NO_REGISTER;
	}
	if (d->op != DWELL_OP_LEA || d->bytes != 8 || d->memory.scale != 1 || d->memory.disp)
		return false;
	*y = d->memory.base == d->to ? d->memory.index : d->memory.base;
	return (d->memory.base == d->to || d->memory.index == d->to) && *y != DWELL_NO_REGISTER;
}

/* Whether @d sets a register to a constant. */
static bool is_constant(const struct dw_insn_detail *d)
{
	return (d->op == DWELL_OP_LEA && d->memory.is_rip) ||
	       (d->op == DWELL_OP_MOV && d->has_immediate);
}

/* The load of one of the registers @x and @y that instruction @add adds: nothing between the two
 * uses what was loaded. */
static void find_distance_load(struct dw_flow *w, uint32_t add, uint8_t x, uint8_t y,
			       struct dw_jump_form *ret)
{
	uint32_t either = 1u << x | 1u << y, touched = 0;
	bool is_extended = false;

	for (uint32_t i = add; follows(w, i) && add - i < LINE_MAX; i--) {
		const struct dw_flow_fact *fact = dw_flow_fact(w, i - 1);
		struct dw_insn_detail d;
		struct dw_insn insn;

		if (is_cltq(w, i - 1) && either & ~touched & 1) {
			is_extended = true;
			continue;
		}
		if (fact->writes & either & ~touched && dw_flow_detail(w, i - 1, &insn, &d) &&
		    !is_constant(&d)) {
			bool is_load = is_extended ? d.op == DWELL_OP_MOV && d.to == 0
						   : d.op == DWELL_OP_MOVSXD;

			if (!is_load || d.memory.bytes != 4 || (d.to != x && d.to != y) ||
			    !take_memory(w, &d.memory, i - 1, 4, ret))
				return;
			ret->loads = d.to;
			ret->adds = d.to == x ? y : x;
			ret->add = add;
			return;
		}
		touched |= fact->reads | fact->writes;
	}
}

/* Instruction @i writes the register of the jump: is that an entry, or the sum of one and a base?
 */
static void find_load(struct dw_flow *w, uint32_t i, struct dw_jump_form *ret)
{
	struct dw_insn_detail d;
	struct dw_insn insn;
	uint8_t x, y;

	if (!dw_flow_detail(w, i, &insn, &d) || d.to != ret->jumps_by)
		return;
	if (d.op == DWELL_OP_MOV && d.bytes == 8 && d.memory.is_read) {
		ret->loads = d.to;
		take_memory(w, &d.memory, i, 8, ret);
	} else if (is_sum(&d, &x, &y) && x != y) {
		find_distance_load(w, i, x, y, ret);
		ret->sets_flags &= d.op == DWELL_OP_ADD;
	}
}

void dw_jump_form_find(struct dw_flow *w, uint32_t jump, struct dw_jump_form *ret)
{
	struct dw_insn_detail d;
	uint32_t touched = 0;
	struct dw_insn insn;

	*ret = (struct dw_jump_form){.jump = jump, .add = UINT32_MAX, .sets_flags = true};
	ret->loads = ret->adds = ret->holds = DWELL_NO_REGISTER;
	if (!dw_flow_detail(w, jump, &insn, &d))
		return;
	ret->jumps_by = d.memory.is_there ? DWELL_NO_REGISTER : d.from;
	if (ret->jumps_by == DWELL_NO_REGISTER) {
		take_memory(w, &d.memory, jump, 8, ret);
		return;
	}
	for (uint32_t i = jump; follows(w, i) && jump - i < LINE_MAX; i--) {
		const struct dw_flow_fact *fact = dw_flow_fact(w, i - 1);

		if (fact->writes >> ret->jumps_by & 1) {
			find_load(w, i - 1, ret);
			break;
		}
		touched |= fact->reads | fact->writes;
		if ((fact->writes & DWELL_FLOW_FLAGS) == DWELL_FLOW_FLAGS)
			ret->sets_flags = false;
	}
	if (ret->entry_bytes && (touched >> ret->jumps_by & 1 || touched >> ret->loads & 1))
		ret->entry_bytes = 0;
}

/* The value that is the index: the low @width bits of register @reg, before instruction @at. */
struct tracked {
	uint32_t at;
	uint8_t reg;
	uint8_t width;
	uint64_t max;
};

/* The only instruction that runs right before @i; UINT32_MAX when there are several or none.
 * *@taken: it is a branch that leads here. */
static uint32_t only_predecessor(const struct dw_flow *w, uint32_t i, bool *taken)
{
	uint32_t branches = w->first[i + 1] - w->first[i];
	bool falls = i > 0 && dw_flow_falls_through(&w->m->insns.v[w->f->first + i - 1]);

	if (w->marks[i] & (DWELL_FLOW_ENTRY | DWELL_FLOW_LABEL) || branches + falls != 1)
		return UINT32_MAX;
	*taken = branches;
	return falls ? i - 1 : w->into[w->first[i]];
}

/* The largest value that the comparison with @limit lets pass along the branch with condition code
 * @cc; UINT64_MAX = that branch says nothing of it. */
static uint64_t passed(uint8_t cc, bool taken, uint64_t limit)
{
	enum { BELOW = 2, NOT_BELOW = 3, NOT_ABOVE = 6, ABOVE = 7 };

	if ((cc == ABOVE && !taken) || (cc == NOT_ABOVE && taken))
		return limit;
	if (((cc == NOT_BELOW && !taken) || (cc == BELOW && taken)) && limit)
		return limit - 1;
	return UINT64_MAX;
}

/* A byte register that is bits 8 to 15 of another one, as operand r/m. */
static bool is_high_byte(const uint8_t *bytes, uint8_t modrm_at)
{
	return (bytes[0] & 0xf0) != 0x40 && bytes[modrm_at] >> 6 == 3 && bytes[modrm_at] & 4;
}

/* The bounds check that ends in the branch @branch: does it compare what is tracked? */
static uint64_t checked(struct dw_flow *w, uint32_t branch, bool taken, const struct tracked *t)
{
	const struct dw_insn *insn = &w->m->insns.v[w->f->first + branch];
	const uint8_t *bytes = w->bytes + w->at[branch];
	uint8_t cc = bytes[insn->field_at - 1] & 0xf;

	if (insn->kind != DWELL_INSN_BRANCH)
		return UINT64_MAX;
	for (uint32_t i = branch; i > 0 && branch - i < LINE_MAX; i--) {
		const struct dw_flow_fact *fact = dw_flow_fact(w, i - 1);
		struct dw_insn_detail d;
		struct dw_insn compare;
		uint64_t mask;

		if (w->marks[i] || w->m->insns.v[w->f->first + i - 1].kind != DWELL_INSN_PLAIN ||
		    fact->writes >> t->reg & 1 || !dw_flow_detail(w, i - 1, &compare, &d))
			return UINT64_MAX;
		if (!(fact->writes & DWELL_FLOW_FLAGS))
			continue;
		/* Where more bits are used than were compared, the rest is zero in programs that
		 * stay within their table. */
		if (d.op != DWELL_OP_CMP || !d.has_immediate || d.memory.is_there ||
		    d.from != t->reg || (d.bytes < 4 && d.bytes * 8 < t->width) ||
		    (d.bytes == 1 && compare.length > 2 &&
		     is_high_byte(w->bytes + w->at[i - 1], 1)))
			return UINT64_MAX;
		mask = d.bytes == 8 ? UINT64_MAX : (1ull << d.bytes * 8) - 1;
		return passed(cc, taken, (uint64_t)d.immediate & mask);
	}
	return UINT64_MAX;
}

/* `and` of a register and an immediate, by its opcode. */
static bool is_and(const uint8_t *op)
{
	return op[0] == 0x25 || ((op[0] == 0x81 || op[0] == 0x83) && (op[1] >> 3 & 7) == 4);
}

/* Go on with what instruction @i, which writes the tracked register, made it from. */
static bool track_source(struct dw_flow *w, uint32_t i, struct tracked *t)
{
	const uint8_t *bytes = w->bytes + w->at[i];
	struct dw_insn_detail d;
	struct dw_insn insn;
	uint8_t op;

	if (!dw_flow_detail(w, i, &insn, &d) || d.to != t->reg)
		return false;
	op = (bytes[0] & 0xf0) == 0x40 ? 1 : 0;
	if (insn.length > op + 2 && bytes[op] == 0x0f && (bytes[op + 1] & 0xfe) == 0xb6) {
		uint8_t width = bytes[op + 1] & 1 ? 16 : 8;

		t->width = width < t->width ? width : t->width;
		t->max = (1ull << t->width) - 1;
		if (d.memory.is_there || (width == 8 && is_high_byte(bytes, op + 2)))
			return false;
		t->reg = d.from;
		return t->reg != DWELL_NO_REGISTER;
	}
	if (d.has_immediate && d.bytes >= 4 && d.immediate >= 0 && is_and(bytes + op)) {
		t->max = (uint64_t)d.immediate < t->max ? (uint64_t)d.immediate : t->max;
		return false;
	}
	if (d.op != DWELL_OP_MOV || d.memory.is_there || d.from == DWELL_NO_REGISTER || d.bytes < 4)
		return false;
	t->reg = d.from;
	t->width = d.bytes == 4 && t->width > 32 ? 32 : t->width;
	return true;
}

void dw_jump_bound_find(struct dw_flow *w, const struct dw_jump_form *form,
			struct dw_jump_bound *ret)
{
	struct tracked t = {.at = form->load, .reg = form->index, .width = 64, .max = UINT64_MAX};

	*ret = (struct dw_jump_bound){UINT64_MAX, false};
	for (unsigned steps = 0; steps < BOUND_STEPS; steps++) {
		bool taken = false;
		uint32_t i = only_predecessor(w, t.at, &taken);
		uint64_t max;

		if (i == UINT32_MAX)
			break;
		max = checked(w, i, taken, &t);
		if (max != UINT64_MAX) {
			*ret = (struct dw_jump_bound){max < t.max ? max : t.max, true};
			return;
		}
		if (dw_flow_fact(w, i)->writes >> t.reg & 1 && !track_source(w, i, &t))
			break;
		t.at = i;
	}
	ret->max = t.max;
}
