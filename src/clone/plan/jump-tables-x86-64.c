/*
 * Jumps by tables: the forms in which compilers write them, and what their tables say; see
 * flow.h.
 *
 * Load, addition and jump must follow each other in one straight line, with no use of the loaded
 * value beside: then the value that the clone loads instead shows nowhere but in the registers
 * behind the jump. Known forms, b = register with the table's address:
 *
 *	jmp *T(,%i,8)	jmp *(%b,%i,8)	mov T(,%i,8), %r ; jmp *%r	mov (%b,%i,8), %r ; jmp *%r
 *	movslq (%b,%i,4), %r ; add %b, %r ; jmp *%r	(also added to %b, and by mov and cltq)
 *
 * Without a bounds check a table is taken to reach as far as its words are plausible: real entries
 * always are, so the run can only be too long. Tables must be memory that nobody can have changed:
 * read-only, or read-only after relocation.
 */
#include "clone/plan/flow-x86-64.h"

#include "clone/plan/jumps.h"
#include "code/decode/insn-x86-64.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { LINE_MAX = 24 };

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
	uint32_t touched = 0, written = 0;
	struct dw_insn insn;

	*ret = (struct dw_jump_form){
		.jump = jump, .add = UINT32_MAX, .sets_flags = true, .adds_again = true};
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
		written |= fact->writes;
		if ((fact->writes & DWELL_FLOW_FLAGS) == DWELL_FLOW_FLAGS)
			ret->sets_flags = false;
	}
	if (written & DWELL_FLOW_FLAGS ||
	    (ret->adds != DWELL_NO_REGISTER && written >> ret->adds & 1))
		ret->adds_again = false;
	if (ret->entry_bytes && (touched >> ret->jumps_by & 1 || touched >> ret->loads & 1))
		ret->entry_bytes = 0;
}

enum { PATHS_MAX = 48 };

/*
 * The value that is the index, in front of instruction @at: the low @width bits of register @reg,
 * or, when that is none, of the memory operand @memory.
 */
struct tracked {
	uint32_t at;
	uint8_t reg;
	uint8_t width;
	uint32_t registers; /* bits: those whose change would change what is tracked */
	struct dw_insn_memory memory;
	uint64_t address;     /* of a rip operand */
	uint64_t max;	      /* by its width or a mask */
	uint64_t narrow_max;  /* of the low narrow_width bits, by a comparison of no more */
	uint8_t narrow_width; /* 0 = none */
};

/* All paths along which the index is tracked. */
struct paths {
	struct dw_flow *w;
	struct tracked v[PATHS_MAX];
	uint32_t n;
	struct dw_jump_bound found;
};

static void end_path(struct paths *p, uint64_t max, bool is_tight)
{
	if (max > p->found.max)
		p->found.max = max;
	p->found.is_tight &= is_tight;
}

static void add_path(struct paths *p, const struct tracked *t)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->v[i].at == t->at && p->v[i].reg == t->reg && p->v[i].width == t->width &&
		    p->v[i].registers == t->registers && p->v[i].max == t->max)
			return;
	if (p->n == PATHS_MAX)
		end_path(p, t->max, false);
	else
		p->v[p->n++] = *t;
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

static bool compares_tracked(const struct dw_insn_detail *d, uint64_t address,
			     const struct tracked *t)
{
	const struct dw_insn_memory *x = &d->memory, *y = &t->memory;

	if (d->op != DWELL_OP_CMP || !d->has_immediate)
		return false;
	if (t->reg != DWELL_NO_REGISTER)
		return !x->is_there && d->from == t->reg;
	return x->is_there && x->base == y->base && x->index == y->index && x->scale == y->scale &&
	       x->is_rip == y->is_rip && x->has_segment == y->has_segment &&
	       (x->is_rip ? address == t->address : x->disp == y->disp);
}

/*
 * The bounds check that ends in the branch @branch. 1: it bounds what is tracked, by *@max; 0: it
 * does not, or *@t has been told of a narrower comparison.
 */
static bool checked(struct dw_flow *w, uint32_t branch, bool taken, struct tracked *t,
		    uint64_t *max)
{
	const struct dw_insn *insn = &w->m->insns.v[w->f->first + branch];
	uint8_t cc;

	if (insn->kind != DWELL_INSN_BRANCH)
		return false;
	cc = w->bytes[w->at[branch] + insn->field_at - 1] & 0xf;
	for (uint32_t i = branch; i > 0 && branch - i < LINE_MAX; i--) {
		const struct dw_flow_fact *fact = dw_flow_fact(w, i - 1);
		struct dw_insn_detail d;
		struct dw_insn compare;
		uint64_t mask;

		if (w->marks[i] || w->m->insns.v[w->f->first + i - 1].kind != DWELL_INSN_PLAIN ||
		    fact->writes & t->registers || !dw_flow_detail(w, i - 1, &compare, &d))
			return false;
		if (!(fact->writes & DWELL_FLOW_FLAGS))
			continue;
		if (!compares_tracked(&d, dw_insn_target(&compare, w->f->start + w->at[i - 1]),
				      t) ||
		    (d.bytes == 1 && compare.length > 2 &&
		     is_high_byte(w->bytes + w->at[i - 1], 1)))
			return false;
		mask = d.bytes == 8 ? UINT64_MAX : (1ull << d.bytes * 8) - 1;
		*max = passed(cc, taken, (uint64_t)d.immediate & mask);
		if (*max == UINT64_MAX)
			return false;
		/* An index with more than 32 bits would lie in no table. */
		if (d.bytes >= 4 || d.bytes * 8 >= t->width)
			return true;
		if (!t->narrow_width || *max < t->narrow_max) {
			t->narrow_width = (uint8_t)(d.bytes * 8);
			t->narrow_max = *max;
		}
		return false;
	}
	return false;
}

static bool is_and(const uint8_t *op)
{
	return op[0] == 0x25 || ((op[0] == 0x81 || op[0] == 0x83) && (op[1] >> 3 & 7) == 4);
}

static void track_register(struct tracked *t, uint8_t reg)
{
	t->reg = reg;
	t->registers = 1u << reg;
}

static void track_memory(struct tracked *t, const struct dw_insn_memory *o, uint64_t address)
{
	t->reg = DWELL_NO_REGISTER;
	t->memory = *o;
	t->address = address;
	t->registers = (o->base == DWELL_NO_REGISTER ? 0 : 1u << o->base) |
		       (o->index == DWELL_NO_REGISTER ? 0 : 1u << o->index);
}

/* The bits that a zero-extending move at @bytes takes over, 0 = it is none; its opcode ends before
 * *@modrm_at. */
static uint8_t zero_extended(const uint8_t *bytes, uint8_t length, uint8_t *modrm_at)
{
	uint8_t op = (bytes[0] & 0xf0) == 0x40;

	*modrm_at = op + 2;
	if (length <= op + 2 || bytes[op] != 0x0f || (bytes[op + 1] & 0xfe) != 0xb6)
		return 0;
	return bytes[op + 1] & 1 ? 16 : 8;
}

/* Go on with what instruction @i, which writes the tracked register, made it from. False: that
 * cannot be followed. */
static bool track_source(struct dw_flow *w, uint32_t i, struct tracked *t)
{
	const uint8_t *bytes = w->bytes + w->at[i];
	struct dw_insn_detail d;
	struct dw_insn insn;
	uint8_t modrm_at, width;

	if (t->reg == DWELL_NO_REGISTER || !dw_flow_detail(w, i, &insn, &d) || d.to != t->reg)
		return false;
	width = zero_extended(bytes, insn.length, &modrm_at);
	if (!width && d.has_immediate && d.bytes >= 4 && d.immediate >= 0 &&
	    is_and(bytes + modrm_at - 2)) {
		t->max = (uint64_t)d.immediate < t->max ? (uint64_t)d.immediate : t->max;
		return false;
	}
	if (!width && (d.op != DWELL_OP_MOV || d.bytes < 4 || d.has_immediate))
		return false;
	width = width ? width : d.bytes * 8;
	if (width < t->width)
		t->width = width;
	if (width < 32 && (1ull << width) - 1 < t->max)
		t->max = (1ull << width) - 1;
	if (width == 8 && is_high_byte(bytes, modrm_at))
		return false;
	if (d.memory.is_there)
		track_memory(t, &d.memory, dw_insn_target(&insn, w->f->start + w->at[i]));
	else if (d.from != DWELL_NO_REGISTER)
		track_register(t, d.from);
	else
		return false;
	return true;
}

/* Go from @t to the instruction @i that runs right before. */
static void track_back(struct paths *p, struct tracked t, uint32_t i, bool taken)
{
	struct dw_flow *w = p->w;
	uint8_t kind = w->m->insns.v[w->f->first + i].kind;
	uint64_t max;

	if (checked(w, i, taken, &t, &max)) {
		end_path(p, max < t.max ? max : t.max, true);
		return;
	}
	t.at = i;
	if (kind == DWELL_INSN_CALL || kind == DWELL_INSN_CALL_INDIRECT ||
	    (dw_flow_fact(w, i)->writes & t.registers && !track_source(w, i, &t))) {
		end_path(p, t.max, false);
	} else if (t.narrow_width >= t.width) {
		end_path(p, t.narrow_max < t.max ? t.narrow_max : t.max, true);
	} else {
		add_path(p, &t);
	}
}

void dw_jump_bound_find(struct dw_flow *w, const struct dw_jump_form *form,
			struct dw_jump_bound *ret)
{
	struct paths p = {.w = w, .found = {0, true}};
	struct tracked index = {.at = form->load, .width = 64, .max = UINT64_MAX};

	track_register(&index, form->index);
	add_path(&p, &index);
	for (uint32_t next = 0; next < p.n; next++) {
		struct tracked t = p.v[next];

		if (!dw_flow_charge(w, 1 + w->first[t.at + 1] - w->first[t.at])) {
			end_path(&p, UINT64_MAX, false);
			break;
		}
		if (w->marks[t.at] & (DWELL_FLOW_ENTRY | DWELL_FLOW_LABEL))
			end_path(&p, t.max, false);
		if (t.at > 0 && dw_flow_falls_through(w, t.at - 1))
			track_back(&p, t, t.at - 1, false);
		for (uint32_t e = w->first[t.at]; e < w->first[t.at + 1]; e++)
			track_back(&p, t, w->into[e], true);
	}
	*ret = p.found;
}

enum { ENTRIES_MAX = 16384 };

static bool is_constant_memory(const struct dw_clone_module *m, uint64_t svma)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(m->elf, &n);
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		if (svma - s[i].svma.v >= s[i].memory_bytes)
			continue;
		if (s[i].type == PT_GNU_RELRO)
			return true;
		found |= s[i].type == PT_LOAD && !(s[i].flags & PF_W);
	}
	return found;
}

static int index_words(const struct dw_clone_module *m, struct dw_jump_words *words)
{
	for (uint32_t i = 0; i < m->pointers.n; i++)
		if (m->pointers.v[i].is_sure &&
		    dw_map_put(&words->by_at, m->pointers.v[i].at, i + 1))
			return -ENOMEM;
	return 0;
}

/* The address that the entry at @svma leads to. False: it cannot be told. */
static bool read_entry(const struct dw_clone_module *m, const struct dw_jump_words *words,
		       const struct dw_jump_table_ask *ask, uint64_t svma, uint64_t *to)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, ask->entry_bytes);
	int32_t distance;
	uint32_t i;

	if (!bytes)
		return false;
	if (ask->entry_bytes == 4) {
		memcpy(&distance, bytes, sizeof distance);
		*to = ask->base + (uint64_t)(int64_t)distance;
		return true;
	}
	if (m->is_fixed) {
		memcpy(to, bytes, sizeof *to);
		return true;
	}
	i = dw_map_get(&words->by_at, svma);
	*to = i ? m->pointers.v[i - 1].to : 0;
	return i;
}

/* Whether a table may have an entry that leads to @to: some compilers let cases that cannot be
 * point behind the function. */
static bool is_plausible(const struct dw_clone_module *m, uint64_t to)
{
	return dw_clone_function_at(m, to) || dw_clone_function_at(m, to - 1);
}

static int read_tight(const struct dw_clone_module *m, const struct dw_jump_table_ask *ask,
		      const struct dw_jump_words *words, struct dw_jump_table_read *ret)
{
	uint64_t to;

	for (uint64_t i = 0; i <= ask->max; i++) {
		if (!read_entry(m, words, ask, ask->start + i * ask->entry_bytes, &to))
			return DWELL_ERR_NOT_FOUND;
		if (dw_vec_push(&ret->to, to))
			return -ENOMEM;
	}
	return 0;
}

static int read_run(const struct dw_clone_module *m, const struct dw_jump_table_ask *ask,
		    const struct dw_jump_words *words, struct dw_jump_table_read *ret)
{
	uint64_t to;

	if (ask->max == UINT64_MAX) {
		while (read_entry(m, words, ask, ret->start - ask->entry_bytes, &to) &&
		       is_plausible(m, to) && ask->start - ret->start < ENTRIES_MAX)
			ret->start -= ask->entry_bytes;
	}
	for (uint64_t at = ret->start;; at += ask->entry_bytes) {
		if (at >= ask->start && (at - ask->start) / ask->entry_bytes > ask->max)
			return 0;
		if (!read_entry(m, words, ask, at, &to) || !is_plausible(m, to))
			return 0;
		if (ret->to.n == ENTRIES_MAX)
			return DWELL_ERR_LIMIT;
		if (dw_vec_push(&ret->to, to))
			return -ENOMEM;
	}
}

/* Whether some entry leads into @f itself: else it is a table of functions. */
static bool leads_into(const struct dw_clone_function *f, const struct dw_jump_table_read *t)
{
	dw_vec_each(to, &t->to)
		if (*to - f->start < f->end - f->start)
			return true;
	return false;
}

int dw_jump_table_read(const struct dw_clone_module *m, const struct dw_clone_function *f,
		       const struct dw_jump_table_ask *ask, struct dw_jump_words *words,
		       struct dw_jump_table_read *ret)
{
	int rc;

	ret->start = ask->start;
	ret->to.n = 0;
	if (!is_constant_memory(m, ask->start))
		return DWELL_ERR_NOT_FOUND;
	if (ask->entry_bytes == 8 && !m->is_fixed && !words->by_at.used && index_words(m, words))
		return -ENOMEM;
	if (ask->is_tight && ask->max >= ENTRIES_MAX)
		return DWELL_ERR_LIMIT;
	rc = (ask->is_tight ? read_tight : read_run)(m, ask, words, ret);
	if (!rc && !leads_into(f, ret))
		rc = DWELL_ERR_NOT_FOUND;
	return rc;
}

static bool is_legacy_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
					   0x36, 0x3e, 0x26, 0x64, 0x65};

	return memchr(prefixes, byte, sizeof prefixes) != NULL;
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

/* A REX prefix that does not stand right before the opcode is ignored. Intel SDM, vol. 2, 2.2.1. */
struct dw_jump_parts dw_jump_take_apart(const uint8_t *bytes, uint8_t n)
{
	struct dw_jump_parts ret = {.bytes = bytes, .n = n};
	const uint8_t *p = bytes;

	while (is_legacy_prefix(*p) || (is_rex(*p) && (is_legacy_prefix(p[1]) || is_rex(p[1]))))
		p++;
	ret.rex_at = (uint8_t)(p - bytes);
	if (is_rex(*p))
		ret.rex = *p;
	ret.modrm_at = (uint8_t)(ret.rex_at + (ret.rex != 0) + 1);
	return ret;
}
