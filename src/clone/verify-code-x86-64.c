/*
 * Clones, instruction by instruction; see verify.h.
 *
 * The bytes of a clone are consumed from left to right: each instruction's own, with what may stand
 * around it, and nothing else. An instruction that does not depend on its place must be the same
 * bytes; of one that does, all but the field, and the field must lead to the same place.
 */
#include "clone/gates.h"
#include "clone/verify-jumps.h"
#include "clone/verify-probes.h"
#include "clone/verify-reader-x86-64.h"
#include "clone/verify-statements-x86-64.h"
#include "code/decode/insn-x86-64.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPCODE_JUMP = 0xe9,
	OPCODE_SHORT_JUMP = 0xeb,
	OPCODE_SHORT_BRANCH = 0x70,
	OPCODE_TWO_BYTES = 0x0f,
	OPCODE_BRANCH = 0x80,
	JUMP_BYTES = 5,
	PROBE_BYTES = 15,
	SHORT_JUMP_BYTES = 2,
	CONDITION = 15,
	INT3 = 0xcc,
};

/* Consume a distance that leads where going to @svma in the module leads. */
static void expect_target(struct dw_verify_reader *r, uint64_t svma)
{
	bool inside = svma - r->f->start < r->f->end - r->f->start;
	uint64_t to = dw_expect_any_target(r);

	if (!dw_verify_same_place(r->v, svma, to, inside) &&
	    !(inside &&
	      dw_verify_same_place(r->v, svma, to - dw_verify_statement_bytes(r->v, svma), inside)))
		dw_expect_fail(r, "leads elsewhere");
}

static void expect_prefix(struct dw_verify_reader *r)
{
	static const uint8_t save_rax_mov_eax[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};

	dw_expect(r, save_rax_mov_eax, sizeof save_rax_mov_eax, "the entry probe is another");
	dw_expect(r, &r->f->index, sizeof r->f->index, "the entry probe counts another function");
	dw_expect_gate(r, dw_gate_of_entry(r->v->h.probes));
}

/* Whether going to @svma ends an activation that probes count: to the start of another function, or
 * out by the linkage table. */
static bool leaves(const struct dw_verify_reader *r, uint64_t svma)
{
	const struct dw_verify_function *g;

	if (!dw_verify_is_measured(r->v, r->f) || svma - r->f->start < r->f->end - r->f->start)
		return false;
	g = dw_verify_function_at(r->v, svma);
	return g ? svma == g->start && !(g->flags & DWELL_CLONE_COLD)
		 : dw_verify_is_linkage(r->v->elf, svma);
}

static void expect_jump(struct dw_verify_reader *r, uint64_t svma)
{
	if (leaves(r, svma))
		dw_expect_gate(r, dw_gate_of_leaving(r->v->h.probes));
	dw_expect_byte(r, OPCODE_JUMP, "no jump");
	expect_target(r, svma);
}

/* Whether the gate TAIL belongs before the jump. */
static bool has_tail(const struct dw_verify_reader *r)
{
	return r->v->h.probes == DWELL_PROBES_TIME && dw_verify_is_measured(r->v, r->f) &&
	       dw_verify_tails_out(r->v, r->f, &r->insn, r->svma);
}

/* Consume the instruction's own jump, conditional or not, to @svma. */
static void expect_own_jump(struct dw_verify_reader *r, uint64_t svma)
{
	if (!has_tail(r)) {
		expect_jump(r, svma);
		return;
	}
	dw_expect_import_gate(r, DWELL_GATE_TAIL);
	dw_expect_byte(r, OPCODE_JUMP, "no jump");
	expect_target(r, svma);
}

static void expect_branch(struct dw_verify_reader *r, uint64_t svma)
{
	uint8_t condition = r->bytes[r->insn.field_at - 1] & CONDITION;

	if (leaves(r, svma)) {
		dw_expect_byte(r, OPCODE_SHORT_BRANCH | (condition ^ 1), "another condition");
		dw_expect_byte(r, JUMP_BYTES + (has_tail(r) ? PROBE_BYTES : JUMP_BYTES),
			       "a hop of another length");
		expect_own_jump(r, svma);
		return;
	}
	dw_expect_byte(r, OPCODE_TWO_BYTES, "no branch");
	dw_expect_byte(r, OPCODE_BRANCH | condition, "another condition");
	expect_target(r, svma);
}

static void expect_loop(struct dw_verify_reader *r, uint64_t svma)
{
	dw_expect(r, r->bytes, r->insn.field_at, "another loop");
	dw_expect_byte(r, SHORT_JUMP_BYTES, "a hop of another length");
	dw_expect_byte(r, OPCODE_SHORT_JUMP, "no hop");
	dw_expect_byte(r, JUMP_BYTES, "a hop of another length");
	dw_expect_byte(r, OPCODE_JUMP, "no jump");
	expect_target(r, svma);
}

static struct dw_verify_pair pair_of(const struct dw_verify_reader *r)
{
	return (struct dw_verify_pair){r->v, r->f, r->insn, r->bytes, r->svma, r->at, r->left};
}

/* Whether the clone of an indirect jump is the jump itself, on its way out of the function. */
static bool is_leaving(const struct dw_verify_reader *r)
{
	uint32_t n = r->insn.length;

	if (dw_verify_is_measured(r->v, r->f) && r->left == n + JUMP_BYTES)
		return !has_tail(r);
	return r->left == n && (r->insn.flags & DWELL_INSN_RIP || !memcmp(r->p, r->bytes, n));
}

/* Consume the clone of an indirect jump: all that is left. Where it may go is safe in any case: the
 * module's code runs on there. */
static void expect_jump_indirect(struct dw_verify_reader *r)
{
	struct dw_verify_pair pair = pair_of(r);

	if (has_tail(r) && r->left == r->insn.length + (uint32_t)PROBE_BYTES) {
		dw_expect_import_gate(r, DWELL_GATE_TAIL);
		dw_expect_copy(r);
		return;
	}
	if (is_leaving(r)) {
		if (r->left > r->insn.length)
			dw_expect_gate(r, dw_gate_of_leaving(r->v->h.probes));
		dw_expect_copy(r);
		return;
	}
	if (dw_verify_table_jump(&pair))
		r->wrong = dw_verify_map_jump(&pair);
	dw_expect_skip(r, r->left);
}

/* Consume a copy that differs: by a relative operand, or as it reads a table. */
static void expect_other_copy(struct dw_verify_reader *r)
{
	struct dw_verify_pair pair = pair_of(r);
	uint32_t n = 0;

	if (r->insn.flags & DWELL_INSN_RIP) {
		dw_expect_copy(r);
		return;
	}
	r->wrong = dw_verify_table_load(&pair, &n);
	if (!r->wrong)
		dw_expect_skip(r, n);
}

static bool goes_on(uint8_t kind)
{
	return kind != DWELL_INSN_JUMP && kind != DWELL_INSN_JUMP_INDIRECT &&
	       kind != DWELL_INSN_RETURN && kind != DWELL_INSN_STOP;
}

static bool is_call(const struct dw_insn *insn)
{
	return insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT ||
	       insn->flags & DWELL_INSN_SYSCALL;
}

static void expect_insn(struct dw_verify_reader *r)
{
	uint64_t target = dw_insn_target(&r->insn, r->svma);

	if (is_call(&r->insn)) {
		dw_expect_call(r);
		return;
	}
	switch (r->insn.kind) {
	case DWELL_INSN_JUMP:
		expect_own_jump(r, target);
		break;
	case DWELL_INSN_BRANCH:
		expect_branch(r, target);
		break;
	case DWELL_INSN_LOOP:
		expect_loop(r, target);
		break;
	case DWELL_INSN_BEGIN:
		dw_expect(r, r->bytes, r->insn.field_at, "no transaction");
		expect_target(r, target);
		break;
	case DWELL_INSN_RETURN:
		if (dw_verify_is_measured(r->v, r->f))
			dw_expect_gate(r, dw_gate_of_leaving(r->v->h.probes));
		dw_expect_copy(r);
		break;
	case DWELL_INSN_JUMP_INDIRECT:
		expect_jump_indirect(r);
		break;
	case DWELL_INSN_OTHER:
		dw_expect_fail(r, "cannot be moved");
		break;
	case DWELL_INSN_PLAIN:
		if (r->left < r->insn.length || memcmp(r->p, r->bytes, r->insn.length))
			expect_other_copy(r);
		else
			dw_expect_copy(r);
		break;
	default:
		dw_expect_copy(r);
	}
}

/* Check instruction @i of @f. */
static void check_insn(struct dw_verify *v, const struct dw_verify_function *f, uint32_t i)
{
	bool is_last = i == f->first + f->n - 1;
	uint32_t from = v->insns.v[i].front;
	uint32_t to = is_last ? f->clone_end : v->insns.v[i + 1].front;
	struct dw_verify_reader r = {
		.v = v, .f = f, .svma = v->insns.v[i].svma, .is_last = is_last};
	size_t left;

	if (i == f->first && f->prefix_bytes)
		from -= f->prefix_bytes;
	r.p = v->area + from;
	r.at = from;
	r.left = to - from;
	r.bytes = dw_verify_bytes(v, r.svma, &left);
	dw_insn_decode(r.bytes, left, &r.insn);
	if (i == f->first && f->prefix_bytes)
		expect_prefix(&r);
	if (v->insns.v[i].clone_at != v->insns.v[i].front)
		dw_expect_gate(&r, DWELL_GATE_LANDING);
	dw_expect_statement(&r);
	if (!r.wrong)
		expect_insn(&r);
	if (!r.wrong && is_last && goes_on(r.insn.kind))
		expect_jump(&r, f->end);
	if (!r.wrong && r.left)
		dw_expect_fail(&r, "bytes of no instruction");
	if (r.wrong)
		dw_verify_find(v, r.svma, r.at, "%s", r.wrong);
}

/* The gates and what stands between clones. */
static int check_between(struct dw_verify *v)
{
	struct dw_gates gates = {v->h.probes, v->h.code_at, v->h.constants_at, v->h.wiped_at};
	uint32_t end = v->h.code_at + dw_gates_bytes(v->h.probes);
	uint8_t *want;

	if (v->h.code_bytes < dw_gates_bytes(v->h.probes)) {
		dw_verify_find(v, 0, v->h.code_at, "no room for gates");
		return 0;
	}
	want = calloc(1, v->area_n);
	if (!want)
		return -ENOMEM;
	dw_gates_write(&gates, want);
	if (memcmp(want + gates.at, v->area + gates.at, dw_gates_bytes(v->h.probes)))
		dw_verify_find(v, 0, gates.at, "other gates");
	free(want);
	for (size_t i = 0; i <= v->functions.n; i++) {
		const struct dw_verify_function *f =
			i < v->functions.n ? &v->functions.v[i] : NULL; /* NULL: the end */
		uint32_t to = f ? f->clone_at : v->h.code_at + v->h.code_bytes;

		if (!to)
			continue;
		if (end > to)
			dw_verify_find(v, 0, to, "a clone in the gates");
		for (; end < to; end++)
			if (v->area[end] != INT3)
				dw_verify_find(v, 0, end, "code between clones");
		if (f)
			end = f->clone_end;
	}
	return 0;
}

int dw_verify_code(struct dw_verify *v)
{
	int rc;

	v->loads.n = v->regions.n = 0;
	v->map_svma = 0;
	memset(v->gate_calls, 0, sizeof v->gate_calls);
	dw_vec_each(f, &v->functions) {
		for (uint32_t i = f->first; i < f->first + f->n; i++)
			check_insn(v, f, i);
		if (!f->clone_at)
			continue;
		if ((f->prefix_bytes != 0) != ((f->flags & DWELL_CLONE_PROBED) != 0) ||
		    (v->h.probes == DWELL_PROBES_NONE && f->prefix_bytes))
			dw_verify_find(v, f->start, f->clone_at, "probes where none belong");
	}
	for (int i = 0; i < DWELL_GATES_N; i++)
		if (v->gate_calls[i] != v->h.gate_calls[i].n)
			dw_verify_find(v, 0, v->h.gate_calls[i].at,
				       "calls of gates that are none are listed");
	rc = dw_verify_tables(v);
	return rc ? rc : check_between(v);
}
