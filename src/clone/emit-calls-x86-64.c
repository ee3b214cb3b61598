/*
 * Writing calls; see emit-calls-x86-64.h.
 *
 *	mov %rax, -16(%rsp)		what the gates OUT and OUT_POINTER expect
 *	mov $import, %eax		or: mov CALLEE, %rax
 *	call gate
 *	the call, or a jump to the module's own that keeps its return address
 *	call BACK			also behind calls without gates in front, of what may end
 *					in a jump out
 *
 * The call stays in its place between the gates: its return address is in the clone's code, and
 * call sites of exceptions hold all of it.
 */
#include "clone/emit-calls-x86-64.h"

#include "clone/calls-out.h"
#include "clone/emit-jumps-x86-64.h"
#include "clone/jumps.h"

enum {
	CALL = 0xe8,
	JUMP_BYTES = DWELL_JUMP_BYTES,
	GATE_BYTES = DWELL_GATE_CALL_BYTES,
	SAVE_BYTES = 5,
	MOV_BYTES = 5,
	WORD_BYTES = 8,
	LAST_START = WORD_BYTES - 4, /* of a distance within a word */
	OUT_MARKS = DWELL_MARK_OUT | DWELL_MARK_OUT_POINTER,
};

/* Whether a gate stands behind the call @i. */
static bool has_back(const struct dw_clone_module *m, uint32_t i)
{
	uint8_t marks = m->marks.v[i];

	return marks & OUT_MARKS ||
	       (m->insns.v[i].kind == DWELL_INSN_CALL && marks & DWELL_MARK_BACK);
}

/* Bytes in front of a call at @pos that keep its distance within a word. */
static uint32_t padding(const struct dw_clone_module *m, uint32_t pos)
{
	uint32_t field = (pos + 1) % WORD_BYTES;

	return m->probes == DWELL_PROBES_TIME && field > LAST_START ? WORD_BYTES - field : 0;
}

/* Write the load of the address that the indirect call @i at @at calls. */
static void write_callee(const struct dw_clone_module *m, uint32_t i, uint64_t at,
			 struct dw_jump_code *code)
{
	const struct dw_insn *insn = &m->insns.v[i];

	dw_jump_write_callee(insn, dw_clone_module_bytes(m, at, insn->length), at, code);
}

uint32_t dw_emit_call_length(const struct dw_clone_module *m, uint32_t i, uint64_t at, uint32_t pos)
{
	const struct dw_insn *insn = &m->insns.v[i];
	uint8_t marks = m->marks.v[i];
	uint32_t own = insn->kind == DWELL_INSN_CALL || marks & DWELL_MARK_KEEP_RETURN
			       ? JUMP_BYTES
			       : insn->length;
	struct dw_jump_code code;

	if (marks & DWELL_MARK_SYSTEM_CALL)
		return own + 2 * GATE_BYTES;
	if (marks & DWELL_MARK_OUT)
		return SAVE_BYTES + MOV_BYTES + own + 2 * GATE_BYTES;
	if (marks & DWELL_MARK_OUT_POINTER) {
		write_callee(m, i, at, &code);
		return SAVE_BYTES + code.n + own + 2 * GATE_BYTES;
	}
	if (insn->kind == DWELL_INSN_CALL && !(marks & DWELL_MARK_KEEP_RETURN))
		own += padding(m, pos);
	return own + (has_back(m, i) ? GATE_BYTES : 0);
}

/* Put what stands in front of a call that leaves the instrumented code. */
static void put_out(struct dw_writer *w, uint32_t i, uint64_t at)
{
	static const uint8_t save_rax[SAVE_BYTES] = {0x48, 0x89, 0x44, 0x24, 0xf0};
	struct dw_jump_code code;
	uint32_t id;

	dw_put(w, save_rax, sizeof save_rax);
	if (w->m->marks.v[i] & DWELL_MARK_OUT_POINTER) {
		write_callee(w->m, i, at, &code);
		dw_emit_put_code(w, &code);
		dw_put_gate_call(w, DWELL_GATE_OUT_POINTER);
		return;
	}
	id = (uint32_t)w->m->functions.n + dw_calls_out_import(w->m, &w->m->insns.v[i], at);
	dw_put_byte(w, 0xb8); /* mov $id, %eax */
	dw_put(w, &id, sizeof id);
	dw_put_gate_call(w, DWELL_GATE_OUT);
}

/* Put the call itself. */
static void put_call(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	static const uint8_t nops[WORD_BYTES - LAST_START][3] = {
		[1] = {0x90}, [2] = {0x66, 0x90}, [3] = {0x0f, 0x1f, 0x00}};
	const struct dw_insn *insn = &w->m->insns.v[i];
	uint32_t n;

	if (w->m->marks.v[i] & DWELL_MARK_KEEP_RETURN) {
		dw_put_module_jump(w, at);
		return;
	}
	if (insn->kind == DWELL_INSN_CALL_INDIRECT) {
		dw_put_copy(w, bytes, insn, at);
		return;
	}
	n = w->m->marks.v[i] & OUT_MARKS ? 0 : padding(w->m, w->pos);
	dw_put(w, nops[n], n);
	dw_put_byte(w, CALL);
	dw_put_call_field(w, dw_insn_target(insn, at));
}

void dw_emit_call(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	if (w->m->marks.v[i] & DWELL_MARK_SYSTEM_CALL) {
		dw_put_gate_call(w, DWELL_GATE_CALL_BEGIN);
		dw_put(w, bytes, w->m->insns.v[i].length);
		dw_put_gate_call(w, DWELL_GATE_CALL_END);
		return;
	}
	if (w->m->marks.v[i] & OUT_MARKS)
		put_out(w, i, at);
	put_call(w, i, at, bytes);
	if (has_back(w->m, i))
		dw_put_gate_call(w, DWELL_GATE_BACK);
}

uint32_t dw_emit_return_place(const struct dw_clone_module *m, uint32_t i)
{
	return dw_clone_front(m, i + 1) - (has_back(m, i) ? GATE_BYTES : 0);
}
