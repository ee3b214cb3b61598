/*
 * Writing clones; see emit.h.
 *
 * Instructions are copied; what depends on where they stand is written anew: rip operands as
 * distances to the module, branches with 32-bit distances to clones where the target has one, else
 * to the module. Where a probed function is left for good (return, tail jump) a call of the leaving
 * gate comes first; a conditional tail jump becomes a jump around such a pair.
 */
#include "clone/emit.h"

#include "clone/jumps.h"

#include <errno.h>
#include <string.h>

enum {
	CALL = 0xe8,
	JUMP = 0xe9,
	SHORT_JUMP = 0xeb,
	TWO_BYTES = 0x0f,
	BRANCH = 0x80,
	JUMP_BYTES = 5,
	BRANCH_BYTES = 6,
	HOP_BYTES = 2,
};

/* A function being written. */
struct writer {
	const struct dw_emit_target *t;
	const struct dw_clone_module *m;
	const struct dw_clone_function *f;
	struct dw_emit_result *ret;
	uint32_t pos; /* area offset */
	int rc;
};

static const struct dw_insn *insn_of(const struct dw_clone_module *m, uint32_t i)
{
	return &m->insns.v[i];
}

/* Whether going from the probed @f to @to ends its activation: not a jump within it, nor to a part
 * of a function. */
static bool leaves(const struct dw_clone_module *m, const struct dw_clone_function *f, uint64_t to)
{
	const struct dw_clone_function *g;

	if (!(f->flags & DWELL_CLONE_PROBED) || to - f->start < f->end - f->start)
		return false;
	g = dw_clone_function_at(m, to);
	return !g || g->reason || (g->start == to && !(g->flags & DWELL_CLONE_COLD));
}

/* Whether the instruction of @kind may go on with the one behind it. */
static bool goes_on(uint8_t kind)
{
	return kind != DWELL_INSN_JUMP && kind != DWELL_INSN_JUMP_INDIRECT &&
	       kind != DWELL_INSN_RETURN && kind != DWELL_INSN_STOP;
}

static uint32_t own_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = insn_of(m, i);
	bool is_probed = f->flags & DWELL_CLONE_PROBED;

	if (m->calls.v[i] == DWELL_CALL_KEEP_RETURN)
		return JUMP_BYTES;
	switch (insn->kind) {
	case DWELL_INSN_CALL:
		return JUMP_BYTES;
	case DWELL_INSN_JUMP:
		return leaves(m, f, dw_insn_target(insn, at)) ? 2 * JUMP_BYTES : JUMP_BYTES;
	case DWELL_INSN_BRANCH:
		return leaves(m, f, dw_insn_target(insn, at)) ? HOP_BYTES + 2 * JUMP_BYTES
							      : BRANCH_BYTES;
	case DWELL_INSN_LOOP:
		return insn->length + HOP_BYTES + JUMP_BYTES;
	case DWELL_INSN_RETURN:
		return insn->length + (is_probed ? JUMP_BYTES : 0);
	default:
		return insn->length;
	}
}

uint32_t dw_emit_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint32_t i, uint64_t at)
{
	uint32_t length = own_length(m, f, i, at);

	if (i == f->first + f->n - 1 && goes_on(insn_of(m, i)->kind))
		length += JUMP_BYTES + (leaves(m, f, f->end) ? JUMP_BYTES : 0);
	return length;
}

static void put(struct writer *w, const void *bytes, size_t n)
{
	memcpy(w->t->area + w->pos, bytes, n);
	w->pos += (uint32_t)n;
}

static void put_byte(struct writer *w, uint8_t byte)
{
	w->t->area[w->pos++] = byte;
}

static void add_relocation(struct writer *w, enum dw_clone_relocation kind, uint32_t at)
{
	if (dw_vec_push(&w->ret->relocations[kind], at))
		w->rc = -ENOMEM;
}

/* Set the 32-bit field at area offset @at to the distance of area offset @to from @from. */
static void set_distance(struct writer *w, uint32_t at, int64_t to, uint32_t from)
{
	int64_t distance = to - from;
	int32_t field = (int32_t)distance;

	if (field != distance)
		w->rc = DWELL_ERR_LIMIT;
	memcpy(w->t->area + at, &field, sizeof field);
}

/* The same for a distance to the module's @svma. */
static void set_module_distance(struct writer *w, uint32_t at, uint64_t svma, uint32_t from)
{
	set_distance(w, at, (int64_t)(svma - w->m->start) - w->m->distance, from);
	add_relocation(w, DWELL_RELOC_TO_MODULE, at);
}

static void put_field(struct writer *w, uint64_t svma, uint32_t place)
{
	w->pos += 4;
	if (place)
		set_distance(w, w->pos - 4, place, w->pos);
	else
		set_module_distance(w, w->pos - 4, svma, w->pos);
}

/* Put the 32-bit distance, the last field of a call, to the clone of @svma, else to the module. A
 * call of oneself is an entry like all others. */
static void put_call_field(struct writer *w, uint64_t svma)
{
	put_field(w, svma, dw_clone_place(w->m, svma, false));
}

/* The same of a branch, which goes behind the prefix of its own function. */
static void put_branch_field(struct writer *w, uint64_t svma)
{
	bool inside = svma - w->f->start < w->f->end - w->f->start;

	put_field(w, svma, dw_clone_place(w->m, svma, inside));
}

static void put_jump(struct writer *w, uint64_t svma)
{
	put_byte(w, JUMP);
	put_branch_field(w, svma);
}

static void put_gate_call(struct writer *w, enum dw_gate gate)
{
	put_byte(w, CALL);
	w->pos += 4;
	set_distance(w, w->pos - 4, dw_gate_at(&w->t->gates, gate), w->pos);
}

static void put_copy(struct writer *w, const uint8_t *bytes, const struct dw_insn *insn,
		     uint64_t at)
{
	put(w, bytes, insn->length);
	if (insn->flags & DWELL_INSN_RIP)
		set_module_distance(w, w->pos - insn->length + insn->field_at,
				    dw_insn_target(insn, at), w->pos);
}

static void put_prefix(struct writer *w)
{
	static const uint8_t save_rax_mov_eax[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};
	uint32_t id = (uint32_t)(w->f - w->m->functions.v);

	put(w, save_rax_mov_eax, sizeof save_rax_mov_eax);
	put(w, &id, sizeof id);
	put_gate_call(w, DWELL_GATE_COUNT);
}

static void put_leaving_jump(struct writer *w, uint64_t to)
{
	if (leaves(w->m, w->f, to))
		put_gate_call(w, DWELL_GATE_LEAVE);
	put_jump(w, to);
}

static void put_conditional(struct writer *w, const uint8_t *bytes, const struct dw_insn *insn,
			    uint64_t to)
{
	uint8_t condition = bytes[insn->field_at - 1] & 15;

	if (leaves(w->m, w->f, to)) {
		put_byte(w, 0x70 | (condition ^ 1));
		put_byte(w, 2 * JUMP_BYTES);
		put_leaving_jump(w, to);
		return;
	}
	put_byte(w, TWO_BYTES);
	put_byte(w, BRANCH | condition);
	put_branch_field(w, to);
}

/* loop and jrcxz reach 127 bytes: they hop over a jump around a jump. */
static void put_loop(struct writer *w, const uint8_t *bytes, const struct dw_insn *insn,
		     uint64_t to)
{
	put(w, bytes, insn->field_at);
	put_byte(w, HOP_BYTES);
	put_byte(w, SHORT_JUMP);
	put_byte(w, JUMP_BYTES);
	put_jump(w, to);
}

static void put_insn(struct writer *w, uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	const uint8_t *bytes = dw_clone_module_bytes(w->m, at, insn->length);
	uint64_t to = dw_insn_target(insn, at);

	if (w->m->calls.v[i] == DWELL_CALL_KEEP_RETURN) {
		put_byte(w, JUMP);
		w->pos += 4;
		set_module_distance(w, w->pos - 4, at, w->pos);
		return;
	}
	switch (insn->kind) {
	case DWELL_INSN_CALL:
		put_byte(w, CALL);
		put_call_field(w, to);
		break;
	case DWELL_INSN_JUMP:
		put_leaving_jump(w, to);
		break;
	case DWELL_INSN_BRANCH:
		put_conditional(w, bytes, insn, to);
		break;
	case DWELL_INSN_LOOP:
		put_loop(w, bytes, insn, to);
		break;
	case DWELL_INSN_BEGIN:
		put(w, bytes, insn->field_at);
		put_branch_field(w, to);
		break;
	case DWELL_INSN_RETURN:
		if (w->f->flags & DWELL_CLONE_PROBED)
			put_gate_call(w, DWELL_GATE_LEAVE);
		put(w, bytes, insn->length);
		break;
	default:
		put_copy(w, bytes, insn, at);
	}
}

int dw_emit_function(const struct dw_emit_target *t, const struct dw_clone_function *f,
		     struct dw_emit_result *ret)
{
	struct writer w = {.t = t, .m = t->m, .f = f, .ret = ret, .pos = f->clone_at};
	uint64_t at = f->start;

	if (f->prefix_bytes)
		put_prefix(&w);
	for (uint32_t i = f->first; i < f->first + f->n && !w.rc; i++) {
		if (w.pos != t->m->places.v[i])
			return DWELL_ERR_LIMIT;
		put_insn(&w, i, at);
		at += insn_of(t->m, i)->length;
	}
	if (!w.rc && goes_on(insn_of(t->m, f->first + f->n - 1)->kind))
		put_leaving_jump(&w, f->end);
	return w.rc ? w.rc : w.pos == f->clone_at + f->clone_bytes ? 0 : DWELL_ERR_LIMIT;
}

void dw_emit_result_release(struct dw_emit_result *r)
{
	for (int i = 0; i < 4; i++)
		dw_vec_release(&r->relocations[i]);
}
