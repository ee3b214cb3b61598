/*
 * Running jumps by a map; see code-x86-64.h.
 *
 * A clone of a jump must change no flag and no register, write nothing but stack that is free, and
 * go to the clone of its target where the target is an instruction of the same function, else to
 * the target. So it is decoded once and run for targets of all kinds with arbitrary registers.
 * Free stack ends where a signal's frame may begin, 128 bytes below rsp.
 */
#include "clone/verify/code-x86-64.h"

#include "clone/verify/probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	RAX,
	RCX,
	RDX,
	RSP = 4,
	OPS_MAX = 64,
	STEPS_MAX = 100,
	RED_ZONE_BYTES = 128,
	SLOTS = RED_ZONE_BYTES / 8,
	SAMPLE_STEP = 61,
};

enum op_kind { LOAD, LOAD_INDEX, COPY, LEA, STORE, NOT, CQO, JRCXZ, JUMP, JUMP_SLOT, LEAVE, LAST };

struct op {
	uint8_t kind; /* enum op_kind */
	uint8_t to;
	uint8_t from;
	uint8_t bytes;
	bool is_operand; /* of the module's jump */
	struct dw_insn_memory memory;
	uint32_t end;	 /* area offset */
	uint32_t branch; /* index of the op it leads to */
};

/* A jump's clone, decoded. */
struct program {
	const struct dw_verify_pair *p;
	struct dw_insn_detail jump; /* the module's */
	struct op ops[OPS_MAX];
	uint32_t at[OPS_MAX + 1]; /* area offsets */
	uint32_t n;
	int64_t lowest; /* stack the function uses below rsp */
};

/* What running changes. */
struct state {
	uint64_t r[16];
	uint64_t slots[SLOTS]; /* below rsp */
	bool is_written[SLOTS];
	uint64_t target;  /* of the jump in the module */
	uint64_t read_at; /* svma of the map's entry */
};

static bool is_bytes(const uint8_t *p, size_t left, const char *want, size_t n)
{
	return left >= n && !memcmp(p, want, n);
}

static bool is_operand(const struct program *g, const struct dw_insn_memory *m, uint32_t end)
{
	const struct dw_insn_memory *o = &g->jump.memory;
	const struct dw_verify_pair *p = g->p;

	if (!o->is_there || o->is_rip != m->is_rip || o->has_segment != m->has_segment)
		return false;
	if (o->is_rip)
		return p->v->area_svma + end + (uint64_t)m->disp ==
		       dw_insn_target(&p->insn, p->svma);
	return o->base == m->base && o->index == m->index && o->scale == m->scale &&
	       o->disp == m->disp;
}

/* Whether the clone ends with the module's jump itself. */
static bool is_last(const struct program *g, const uint8_t *code, uint32_t at, uint32_t left)
{
	const struct dw_verify_pair *p = g->p;
	uint8_t field = p->insn.flags & DWELL_INSN_RELATIVE ? p->insn.field_at : p->insn.length;
	int32_t distance;

	if (left != p->insn.length || memcmp(code, p->bytes, field))
		return false;
	if (field == p->insn.length)
		return true;
	memcpy(&distance, code + field, sizeof distance);
	return p->v->area_svma + at + p->insn.length + (uint64_t)(int64_t)distance ==
		       dw_insn_target(&p->insn, p->svma) &&
	       !memcmp(code + field + 4, p->bytes + field + 4, p->insn.length - field - 4u);
}

static bool read_move(struct program *g, const struct dw_insn_detail *d, struct op *op)
{
	op->memory = d->memory;
	op->to = d->to;
	op->from = d->from;
	op->bytes = d->bytes;
	if (d->has_immediate || (op->bytes != 8 && d->memory.is_there && d->op == DWELL_OP_MOV))
		return false;
	if (d->op == DWELL_OP_LEA)
		op->kind = LEA;
	else if (d->op == DWELL_OP_MOVSXD)
		op->kind = LOAD_INDEX;
	else if (!d->memory.is_there)
		op->kind = COPY;
	else if (d->to == DWELL_NO_REGISTER)
		op->kind = STORE;
	else
		op->kind = LOAD;
	op->is_operand = op->kind == LOAD && is_operand(g, &d->memory, op->end);
	return op->kind == STORE ? op->from < 16 : op->to < 16;
}

/* Understand one instruction of the clone. False: it is none that may stand there. */
static bool read_op(struct program *g, const uint8_t *code, uint32_t at, uint32_t left,
		    struct op *op)
{
	const struct dw_verify *v = g->p->v;
	struct dw_trampolines trampolines = {v->h.probes, v->h.code_at, v->h.constants_at,
					     v->h.wiped_at};
	struct dw_insn_detail d;
	struct dw_insn insn;

	if (is_last(g, code, at, left)) {
		*op = (struct op){.kind = LAST, .end = at + left};
		return true;
	}
	if (!dw_insn_decode_detail(code, left, &insn, &d))
		return false;
	*op = (struct op){.end = at + insn.length};
	if (is_bytes(code, left, "\x48\xf7", 2) && (code[2] & 0xf8) == 0xd0) {
		op->kind = NOT;
		op->to = code[2] & 7;
	} else if (is_bytes(code, left, "\x48\x99", 2)) {
		op->kind = CQO;
	} else if (code[0] == 0xe3 || code[0] == 0xeb) {
		op->kind = code[0] == 0xe3 ? JRCXZ : JUMP;
		op->branch = op->end + (uint32_t)insn.value;
	} else if (insn.kind == DWELL_INSN_CALL) {
		op->kind = LEAVE;
		return at + 5 + (uint32_t)insn.value ==
			       dw_trampoline_at(&trampolines,
						dw_trampoline_of_leaving(trampolines.probes)) &&
		       dw_verify_is_measured(v, g->p->f);
	} else if (insn.kind == DWELL_INSN_JUMP_INDIRECT) {
		op->kind = JUMP_SLOT;
		op->memory = d.memory;
		return d.memory.is_there;
	} else if (insn.kind == DWELL_INSN_PLAIN &&
		   (d.op == DWELL_OP_MOV || d.op == DWELL_OP_MOVSXD || d.op == DWELL_OP_LEA)) {
		return read_move(g, &d, op);
	} else {
		return false;
	}
	return true;
}

/* Turn targets of branches from area offsets into indexes. */
static bool link_branches(struct program *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t k = 0;

		if (g->ops[i].kind != JRCXZ && g->ops[i].kind != JUMP)
			continue;
		while (k < g->n && g->at[k] != g->ops[i].branch)
			k++;
		if (k == g->n)
			return false;
		g->ops[i].branch = k;
	}
	return true;
}

static bool read_program(const struct dw_verify_pair *p, struct program *g)
{
	const uint8_t *code = p->v->area + p->at;
	struct dw_insn insn;
	uint32_t used = 0;

	g->p = p;
	g->n = 0;
	if (!dw_insn_decode_detail(p->bytes, p->insn.length, &insn, &g->jump))
		return false;
	while (used < p->n) {
		struct op *op = &g->ops[g->n];

		if (g->n == OPS_MAX || !read_op(g, code + used, p->at + used, p->n - used, op))
			return false;
		g->at[g->n++] = p->at + used;
		used = op->end - p->at;
	}
	return g->n && g->ops[g->n - 1].kind == LAST && link_branches(g);
}

/* The lowest stack that instructions of @f reach below rsp. */
static int64_t lowest_used(const struct dw_verify *v, const struct dw_verify_function *f)
{
	int64_t lowest = 0;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		struct dw_insn_detail d;
		struct dw_insn insn;
		size_t left;
		const uint8_t *bytes = dw_verify_bytes(v, v->insns.v[i].svma, &left);

		if (dw_insn_decode_detail(bytes, left, &insn, &d) && d.memory.is_there &&
		    d.memory.base == RSP && d.memory.disp < lowest)
			lowest = d.memory.disp;
	}
	return lowest;
}

static uint64_t address(const struct program *g, const struct op *op, const struct state *s)
{
	const struct dw_insn_memory *m = &op->memory;
	uint64_t a = (uint64_t)m->disp;

	if (m->is_rip)
		return g->p->v->area_svma + op->end + a;
	if (m->base != DWELL_NO_REGISTER)
		a += s->r[m->base];
	if (m->index != DWELL_NO_REGISTER)
		a += s->r[m->index] * m->scale;
	return a;
}

/* The slot at address @a; NULL: none that may be used. */
static uint64_t *slot(const struct program *g, struct state *s, uint64_t a, bool write)
{
	int64_t offset = (int64_t)(a - s->r[RSP]);
	uint64_t i = (uint64_t)(offset + RED_ZONE_BYTES) / 8;

	if (offset % 8 || offset < -RED_ZONE_BYTES || offset + 8 > g->lowest)
		return NULL;
	if (!write && !s->is_written[i])
		return NULL;
	s->is_written[i] = true;
	return &s->slots[i];
}

/* Whether the registers that the operand of the module's jump uses are as they were. */
static bool is_untouched(const struct op *op, const struct state *s, const struct state *before)
{
	uint8_t base = op->memory.base, index = op->memory.index;

	return (base == DWELL_NO_REGISTER || s->r[base] == before->r[base]) &&
	       (index == DWELL_NO_REGISTER || s->r[index] == before->r[index]);
}

/* Run @op unless it branches. False: it does what it must not. */
static bool run(const struct program *g, const struct op *op, struct state *s,
		const struct state *before)
{
	uint64_t a = address(g, op, s), *word;
	const uint8_t *bytes;
	int32_t entry;
	size_t left;

	switch (op->kind) {
	case LOAD:
		if (op->is_operand && !is_untouched(op, s, before))
			return false;
		word = op->is_operand ? &s->target : slot(g, s, a, false);
		if (word)
			s->r[op->to] = *word;
		return word;
	case LOAD_INDEX:
		bytes = dw_verify_bytes(g->p->v, a, &left);
		if (!bytes || left < sizeof entry)
			return false;
		memcpy(&entry, bytes, sizeof entry);
		s->r[op->to] = (uint64_t)(int64_t)entry;
		s->read_at = a;
		return true;
	case STORE:
		word = slot(g, s, a, true);
		if (word)
			*word = s->r[op->from];
		return word;
	case COPY:
		s->r[op->to] = op->bytes == 4 ? (uint32_t)s->r[op->from] : s->r[op->from];
		return op->bytes == 4 || op->bytes == 8;
	case LEA:
		s->r[op->to] = a;
		return op->bytes == 8;
	case NOT:
		s->r[op->to] = ~s->r[op->to];
		return true;
	case CQO:
		s->r[RDX] = (uint64_t)((int64_t)s->r[RAX] >> 63);
		return true;
	case LEAVE: /* pushes its return address */
		return g->lowest == 0;
	}
	return false;
}

/* Registers as they may be, and the jump's target among them or in memory. */
static struct state start(const struct program *g, uint64_t target)
{
	struct state s = {.target = target};
	uint64_t x = target * 0x9e3779b97f4a7c15u + 1;

	for (int i = 0; i < 16; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		s.r[i] = x;
	}
	s.r[RSP] = 0x7ffc00000000 + (x & 0xfff0);
	if (!g->jump.memory.is_there && g->jump.from < 16)
		s.r[g->jump.from] = target;
	return s;
}

/* Where the clone goes when the module's jump goes to @target; 0: somewhere bad. *@map = the svma
 * of the map's entry for it, if it was read. */
static uint64_t go(const struct program *g, uint64_t target, uint64_t *map)
{
	const struct state before = start(g, target);
	struct state s = before;
	uint32_t i = 0;

	for (int steps = 0; steps < STEPS_MAX && i < g->n; steps++) {
		const struct op *op = &g->ops[i];
		uint64_t *word;

		switch (op->kind) {
		case JRCXZ:
			i = s.r[RCX] ? i + 1 : op->branch;
			break;
		case JUMP:
			i = op->branch;
			break;
		case JUMP_SLOT:
			word = slot(g, &s, address(g, op, &s), false);
			*map = s.read_at;
			return word && !memcmp(s.r, before.r, sizeof s.r) ? *word : 0;
		case LAST:
			*map = s.read_at;
			return memcmp(s.r, before.r, sizeof s.r) ? 0 : target;
		default:
			if (!run(g, op, &s, &before))
				return 0;
			i++;
		}
	}
	return 0;
}

/* Whether the clone goes where it must for @target, and reads @map if any. */
static bool goes_right(const struct program *g, uint64_t target, uint64_t map)
{
	const struct dw_verify_function *f = g->p->f;
	bool inside = target - f->start < f->end - f->start;
	uint64_t clone = inside ? dw_verify_clone_of(g->p->v, target, true) : 0;
	uint64_t read = 0, to = go(g, target, &read);

	if (read && (!inside || read != map + (target - f->start) * sizeof(int32_t)))
		return false;
	return to && to == (clone ? clone : target);
}

static bool others_go_right(const struct program *g)
{
	const uint64_t start = g->p->f->start, end = g->p->f->end;
	const uint64_t others[] = {start - 1,
				   end,
				   end + 1,
				   1,
				   ~(uint64_t)0,
				   start + (1ull << 31),
				   start - (1ull << 31),
				   start + (1ull << 32),
				   start - (1ull << 32),
				   start + (1ull << 63),
				   end + (1ull << 33),
				   0x7f0000001000};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i] && !goes_right(g, others[i], 0))
			return false;
	return true;
}

const char *dw_verify_map_jump(const struct dw_verify_pair *p)
{
	const struct dw_verify_function *f = p->f;
	uint64_t n = f->end - f->start, map = 0, step = 1;
	struct dw_verify *v = p->v;
	struct program g;

	if (!read_program(p, &g))
		return "no translation of a jump";
	for (uint32_t i = 0; i < g.n; i++)
		if (g.ops[i].kind == LEAVE &&
		    !dw_verify_trampoline_call(v, dw_trampoline_of_leaving(v->h.probes), g.at[i]))
			return "a call of a trampoline is not listed";
	g.lowest = lowest_used(v, f);
	if (go(&g, f->start, &map) == 0 || map < v->area_svma ||
	    map + n * sizeof(int32_t) > v->area_svma + v->area_n)
		return "a jump has no map";
	if (v->map_svma == map) /* all of it was read by a jump before */
		step = SAMPLE_STEP;
	for (uint64_t at = 0; at < n; at += step)
		if (!goes_right(&g, f->start + at, map))
			return "a jump is translated wrongly";
	if (!others_go_right(&g))
		return "a jump elsewhere is translated wrongly";
	if (v->map_svma != map && dw_verify_note(v, map, n * sizeof(int32_t)))
		return "no memory";
	v->map_svma = map;
	return NULL;
}
