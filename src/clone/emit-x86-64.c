/*
 * Writing clones; see emit.h.
 *
 * Instructions are copied; what depends on where they stand is written anew: rip operands as
 * distances to the module, branches with 32-bit distances to clones where the target has one, else
 * to the module. Where a probed function is left for good (return, tail jump) a call of the leaving
 * gate comes first, or, where that jump goes to an import, the gate TAIL; a conditional tail jump
 * becomes a jump around such a pair. Indirect jumps and
 * their loads are jumps.h's to write, calls those of emit-calls-x86-64.h.
 */
#include "clone/emit.h"

#include "clone/calls-out.h"
#include "clone/emit-calls-x86-64.h"
#include "clone/emit-jumps-x86-64.h"
#include "clone/jumps.h"
#include "clone/statements-x86-64.h"
#include "clone/writer-x86-64.h"

#include <errno.h>
#include <string.h>

enum {
	JUMP = 0xe9,
	SHORT_JUMP = 0xeb,
	TWO_BYTES = 0x0f,
	BRANCH = 0x80,
	JUMP_BYTES = DWELL_JUMP_BYTES,
	BRANCH_BYTES = 6,
	HOP_BYTES = 2,
	PROBE_BYTES = DWELL_PREFIX_BYTES,
};

static const struct dw_insn *insn_of(const struct dw_clone_module *m, uint32_t i)
{
	return &m->insns.v[i];
}

/* Whether going from the measured @f to @to ends its activation: to the start of another function,
 * or to another module. Elsewhere the red zone may be in use, and a part of @f may go on. */
static bool leaves(const struct dw_clone_module *m, const struct dw_clone_function *f, uint64_t to)
{
	const struct dw_clone_function *g;

	if (!dw_clone_is_measured(m, f) || to - f->start < f->end - f->start)
		return false;
	g = dw_clone_function_at(m, to);
	return g ? g->start == to && !(g->flags & DWELL_CLONE_COLD)
		 : dw_clone_is_linkers(m->elf, to);
}

/* Bytes of the probe before jump @i of @f to @to. */
static uint32_t leaving_bytes(const struct dw_clone_module *m, const struct dw_clone_function *f,
			      uint32_t i, uint64_t to)
{
	if (!leaves(m, f, to))
		return 0;
	return m->marks.v[i] & DWELL_MARK_OUT ? PROBE_BYTES : JUMP_BYTES;
}

/* Whether the instruction of @kind may go on with the one behind it. */
static bool goes_on(uint8_t kind)
{
	return kind != DWELL_INSN_JUMP && kind != DWELL_INSN_JUMP_INDIRECT &&
	       kind != DWELL_INSN_RETURN && kind != DWELL_INSN_STOP;
}

/* Whether instruction @i is the last one of @f and may go on behind it. */
static bool goes_on_behind(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   uint32_t i)
{
	return i == f->first + f->n - 1 && goes_on(insn_of(m, i)->kind);
}

/* Whether instruction @i is written by emit-calls. */
static bool is_call(const struct dw_clone_module *m, uint32_t i)
{
	const struct dw_insn *insn = insn_of(m, i);

	return insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT ||
	       m->marks.v[i] & DWELL_MARK_SYSTEM_CALL;
}

static uint32_t own_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   uint32_t i, uint64_t at, uint32_t pos)
{
	const struct dw_insn *insn = insn_of(m, i);
	uint32_t probe;

	if (is_call(m, i))
		return dw_emit_call_length(m, i, at, pos);
	switch (insn->kind) {
	case DWELL_INSN_JUMP_INDIRECT:
		probe = m->marks.v[i] & DWELL_MARK_OUT ? PROBE_BYTES - JUMP_BYTES : 0;
		return probe + dw_emit_jump_length(m, f, i, at);
	case DWELL_INSN_JUMP:
		return leaving_bytes(m, f, i, dw_insn_target(insn, at)) + JUMP_BYTES;
	case DWELL_INSN_BRANCH:
		probe = leaving_bytes(m, f, i, dw_insn_target(insn, at));
		return probe ? HOP_BYTES + probe + JUMP_BYTES : BRANCH_BYTES;
	case DWELL_INSN_LOOP:
		return insn->length + HOP_BYTES + JUMP_BYTES;
	case DWELL_INSN_RETURN:
		return insn->length + (dw_clone_is_measured(m, f) ? JUMP_BYTES : 0);
	default:
		return insn->flags & DWELL_INSN_READS_TABLE ? dw_emit_load_length(m, i)
							    : insn->length;
	}
}

uint32_t dw_emit_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint32_t i, uint64_t at, uint32_t pos)
{
	uint32_t length = dw_line_probe_bytes(m->marks.v[i]);

	length += own_length(m, f, i, at, pos + length);
	if (goes_on_behind(m, f, i))
		length += JUMP_BYTES + (leaves(m, f, f->end) ? JUMP_BYTES : 0);
	return length;
}

bool dw_emit_leaves(const struct dw_clone_module *m, const struct dw_clone_function *f, uint32_t i,
		    uint64_t at)
{
	const struct dw_insn *insn = insn_of(m, i);
	const struct dw_jump_plan *plan;

	if (goes_on_behind(m, f, i) && leaves(m, f, f->end))
		return true;
	switch (insn->kind) {
	case DWELL_INSN_RETURN:
		return dw_clone_is_measured(m, f);
	case DWELL_INSN_JUMP:
	case DWELL_INSN_BRANCH:
		return leaves(m, f, dw_insn_target(insn, at));
	case DWELL_INSN_JUMP_INDIRECT:
		plan = dw_jumps_find(m, i);
		return dw_clone_is_measured(m, f) && plan && plan->how != DWELL_JUMP_TABLE &&
		       !plan->free_below;
	default:
		return false;
	}
}

/* Put a call of @gate with @id in eax and rax saved. */
static void put_probe(struct dw_writer *w, uint32_t id, enum dw_gate gate)
{
	static const uint8_t save_rax_mov_eax[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};

	dw_put(w, save_rax_mov_eax, sizeof save_rax_mov_eax);
	dw_put(w, &id, sizeof id);
	dw_put_gate_call(w, gate);
}

/* Put the probe of the statement that instruction @i at @at begins. */
static void put_line_probe(struct dw_writer *w, uint32_t i, uint64_t at)
{
	static const uint8_t down[DWELL_LINE_DOWN_BYTES] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[DWELL_LINE_UP_BYTES] = {0x48, 0x8d, 0xa4, 0x24, 0x80};
	bool is_below = w->m->marks.v[i] & DWELL_MARK_LINE_BELOW;

	dw_put(w, down, is_below ? sizeof down : 0);
	put_probe(w, (uint32_t)(w->m->functions.n + w->m->imports.n) + dw_statement_index(w->m, at),
		  DWELL_GATE_LINE);
	dw_put(w, up, is_below ? sizeof up : 0);
}

static void put_leaving_jump(struct dw_writer *w, uint64_t to)
{
	if (leaves(w->m, w->f, to))
		dw_put_gate_call(w, dw_gate_of_leaving(w->m->probes));
	dw_put_jump(w, to);
}

/* Put the probe of the jump @insn at @at to an import. */
static void put_tail(struct dw_writer *w, const struct dw_insn *insn, uint64_t at)
{
	put_probe(w, (uint32_t)w->m->functions.n + dw_calls_out_import(w->m, insn, at),
		  DWELL_GATE_TAIL);
}

/* Put the jump @i at @at. */
static void put_own_jump(struct dw_writer *w, uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	uint64_t to = dw_insn_target(insn, at);

	if (w->m->marks.v[i] & DWELL_MARK_OUT) {
		put_tail(w, insn, at);
		dw_put_jump(w, to);
	} else {
		put_leaving_jump(w, to);
	}
}

static void put_conditional(struct dw_writer *w, const uint8_t *bytes, uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	uint64_t to = dw_insn_target(insn, at);
	uint32_t probe = leaving_bytes(w->m, w->f, i, to);
	uint8_t condition = bytes[insn->field_at - 1] & 15;

	if (probe) {
		dw_put_byte(w, 0x70 | (condition ^ 1));
		dw_put_byte(w, (uint8_t)(probe + JUMP_BYTES));
		put_own_jump(w, i, at);
		return;
	}
	dw_put_byte(w, TWO_BYTES);
	dw_put_byte(w, BRANCH | condition);
	dw_put_branch_field(w, to);
}

/* loop and jrcxz reach 127 bytes: they hop over a jump around a jump. */
static void put_loop(struct dw_writer *w, const uint8_t *bytes, const struct dw_insn *insn,
		     uint64_t to)
{
	dw_put(w, bytes, insn->field_at);
	dw_put_byte(w, HOP_BYTES);
	dw_put_byte(w, SHORT_JUMP);
	dw_put_byte(w, JUMP_BYTES);
	dw_put_jump(w, to);
}

/* Whether the clone of instruction @i is the same bytes. */
static bool is_same(const struct dw_clone_module *m, uint32_t i)
{
	const struct dw_insn *insn = insn_of(m, i);

	return insn->kind == DWELL_INSN_PLAIN && !m->marks.v[i] &&
	       !(insn->flags & (DWELL_INSN_RIP | DWELL_INSN_READS_TABLE));
}

/* What branch @i to @to goes behind. */
static uint32_t skip_of(const struct dw_writer *w, uint32_t i, uint64_t to)
{
	if (!(w->m->marks.v[i] & DWELL_MARK_SAME_LINE) || is_call(w->m, i))
		return 0;
	return dw_line_probe_bytes(w->m->marks.v[dw_clone_insn_at(w->m, w->f, to)]);
}

/* Write the clone of instruction @i at @at, whose code is @bytes. */
static void put_insn(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	uint64_t to = dw_insn_target(insn, at);

	if (w->m->marks.v[i] & DWELL_MARK_LINE)
		put_line_probe(w, i, at);
	w->skip = skip_of(w, i, to);
	if (is_call(w->m, i)) {
		dw_emit_call(w, i, at, bytes);
		return;
	}
	switch (insn->kind) {
	case DWELL_INSN_JUMP:
		put_own_jump(w, i, at);
		break;
	case DWELL_INSN_BRANCH:
		put_conditional(w, bytes, i, at);
		break;
	case DWELL_INSN_LOOP:
		put_loop(w, bytes, insn, to);
		break;
	case DWELL_INSN_BEGIN:
		dw_put(w, bytes, insn->field_at);
		dw_put_branch_field(w, to);
		break;
	case DWELL_INSN_RETURN:
		if (dw_clone_is_measured(w->m, w->f))
			dw_put_gate_call(w, dw_gate_of_leaving(w->m->probes));
		dw_put(w, bytes, insn->length);
		break;
	case DWELL_INSN_JUMP_INDIRECT:
		if (w->m->marks.v[i] & DWELL_MARK_OUT) {
			put_tail(w, insn, at);
			dw_put_copy(w, bytes, insn, at);
		} else {
			dw_emit_jump(w, i, at, bytes);
		}
		break;
	default:
		if (insn->flags & DWELL_INSN_READS_TABLE)
			dw_emit_load(w, i, at);
		else
			dw_put_copy(w, bytes, insn, at);
	}
}

int dw_emit_function(const struct dw_emit_target *t, const struct dw_clone_function *f,
		     struct dw_emit_result *ret)
{
	struct dw_writer w = {.t = t, .m = t->m, .f = f, .ret = ret, .pos = f->clone_at};
	const uint8_t *bytes = dw_clone_module_bytes(t->m, f->start, f->end - f->start);
	uint32_t end = f->first + f->n;
	uint64_t at = f->start, from;

	if (f->prefix_bytes)
		put_probe(&w, (uint32_t)(f - t->m->functions.v), dw_gate_of_entry(t->m->probes));
	for (uint32_t i = f->first; i < end && !w.rc;) {
		if (t->m->marks.v[i] & DWELL_MARK_LANDING)
			dw_put_gate_call(&w, DWELL_GATE_LANDING);
		if (w.pos != t->m->places.v[i])
			return DWELL_ERR_LIMIT;
		from = at;
		while (i < end && is_same(t->m, i))
			at += insn_of(t->m, i++)->length;
		if (at > from) {
			dw_put(&w, bytes + (from - f->start), at - from);
			continue;
		}
		put_insn(&w, i, at, bytes + (at - f->start));
		at += insn_of(t->m, i++)->length;
	}
	w.skip = 0;
	if (!w.rc && goes_on_behind(t->m, f, end - 1))
		put_leaving_jump(&w, f->end);
	return w.rc ? w.rc : w.pos == f->clone_at + f->clone_bytes ? 0 : DWELL_ERR_LIMIT;
}

void dw_emit_result_release(struct dw_emit_result *r)
{
	for (int i = 0; i < DWELL_RELOCATIONS; i++)
		dw_vec_release(&r->relocations[i]);
	for (int i = 0; i < DWELL_GATES_N; i++)
		dw_vec_release(&r->gate_calls[i]);
}
