/*
 * Clones, instruction by instruction; see verify.h.
 *
 * The bytes of a clone are consumed from left to right: each instruction's own, with what may stand
 * around it, and nothing else. An instruction that does not depend on its place must be the same
 * bytes; of one that does, all but the field, and the field must lead to the same place.
 */
#include "clone/verify/code-x86-64.h"

#include "clone/verify/probes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CALL = 0xe8 };

void dw_expect_fail(struct dw_verify_reader *r, const char *what)
{
	if (!r->wrong)
		r->wrong = what;
}

void dw_expect_skip(struct dw_verify_reader *r, uint32_t n)
{
	r->p += n;
	r->at += n;
	r->left -= n;
}

void dw_expect(struct dw_verify_reader *r, const void *want, uint32_t n, const char *what)
{
	if (r->left < n || memcmp(r->p, want, n)) {
		dw_expect_fail(r, what);
		return;
	}
	dw_expect_skip(r, n);
}

void dw_expect_byte(struct dw_verify_reader *r, uint8_t want, const char *what)
{
	dw_expect(r, &want, 1, what);
}

uint64_t dw_expect_any_target(struct dw_verify_reader *r)
{
	int32_t distance;

	if (r->left < sizeof distance) {
		dw_expect_fail(r, "a distance is missing");
		return 0;
	}
	memcpy(&distance, r->p, sizeof distance);
	dw_expect_skip(r, sizeof distance);
	return r->v->area_svma + r->at + (uint64_t)(int64_t)distance;
}

void dw_expect_trampoline(struct dw_verify_reader *r, enum dw_trampoline trampoline)
{
	struct dw_trampolines trampolines = {r->v->h.probes, r->v->h.code_at, r->v->h.constants_at,
					     r->v->h.wiped_at};

	if (!r->wrong && !dw_verify_trampoline_call(r->v, trampoline, r->at))
		dw_expect_fail(r, "a call of a trampoline is not listed");
	dw_expect_byte(r, CALL, "a trampoline is not called");
	if (dw_expect_any_target(r) != r->v->area_svma + dw_trampoline_at(&trampolines, trampoline))
		dw_expect_fail(r, "another trampoline is called");
}

void dw_expect_copy(struct dw_verify_reader *r)
{
	uint8_t at = r->insn.flags & DWELL_INSN_RELATIVE ? r->insn.field_at : r->insn.length;
	uint32_t end = r->at + r->insn.length;
	int32_t distance;

	dw_expect(r, r->bytes, at, "another instruction");
	if (!(r->insn.flags & DWELL_INSN_RELATIVE))
		return;
	if (r->left < sizeof distance) {
		dw_expect_fail(r, "a distance is missing");
		return;
	}
	memcpy(&distance, r->p, sizeof distance);
	if (r->v->area_svma + end + (uint64_t)(int64_t)distance !=
	    dw_insn_target(&r->insn, r->svma))
		dw_expect_fail(r, "another operand");
	dw_expect_skip(r, sizeof distance);
	dw_expect(r, r->bytes + at + sizeof distance, r->insn.length - at - sizeof distance,
		  "another instruction");
}

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
	dw_expect_trampoline(r, dw_trampoline_of_entry(r->v->h.probes));
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
		dw_expect_trampoline(r, dw_trampoline_of_leaving(r->v->h.probes));
	dw_expect_byte(r, OPCODE_JUMP, "no jump");
	expect_target(r, svma);
}

/* Whether the trampoline TAIL belongs before the jump. */
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
	dw_expect_import_trampoline(r, DWELL_TRAMPOLINE_TAIL);
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
	return r->left == n && (r->insn.flags & DWELL_INSN_RELATIVE || !memcmp(r->p, r->bytes, n));
}

/* Consume the clone of an indirect jump: all that is left. Where it may go is safe in any case: the
 * module's code runs on there. */
static void expect_jump_indirect(struct dw_verify_reader *r)
{
	struct dw_verify_pair pair = pair_of(r);

	if (has_tail(r) && r->left == r->insn.length + (uint32_t)PROBE_BYTES) {
		dw_expect_import_trampoline(r, DWELL_TRAMPOLINE_TAIL);
		dw_expect_copy(r);
		return;
	}
	if (is_leaving(r)) {
		if (r->left > r->insn.length)
			dw_expect_trampoline(r, dw_trampoline_of_leaving(r->v->h.probes));
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

	if (r->insn.flags & DWELL_INSN_RELATIVE) {
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
			dw_expect_trampoline(r, dw_trampoline_of_leaving(r->v->h.probes));
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
		dw_expect_trampoline(&r, DWELL_TRAMPOLINE_LANDING);
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

/* The trampolines and what stands between clones. */
static int check_between(struct dw_verify *v)
{
	struct dw_trampolines trampolines = {v->h.probes, v->h.code_at, v->h.constants_at,
					     v->h.wiped_at};
	uint32_t end = v->h.code_at + dw_trampolines_bytes(v->h.probes);
	uint8_t *want;

	if (v->h.code_bytes < dw_trampolines_bytes(v->h.probes)) {
		dw_verify_find(v, 0, v->h.code_at, "no room for trampolines");
		return 0;
	}
	want = calloc(1, v->area_n);
	if (!want)
		return -ENOMEM;
	dw_trampolines_write(&trampolines, want);
	if (memcmp(want + trampolines.at, v->area + trampolines.at,
		   dw_trampolines_bytes(v->h.probes)))
		dw_verify_find(v, 0, trampolines.at, "other trampolines");
	free(want);
	for (size_t i = 0; i <= v->functions.n; i++) {
		const struct dw_verify_function *f =
			i < v->functions.n ? &v->functions.v[i] : NULL; /* NULL: the end */
		uint32_t to = f ? f->clone_at : v->h.code_at + v->h.code_bytes;

		if (!to)
			continue;
		if (end > to)
			dw_verify_find(v, 0, to, "a clone in the trampolines");
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
	memset(v->trampoline_calls, 0, sizeof v->trampoline_calls);
	dw_vec_each(f, &v->functions) {
		for (uint32_t i = f->first; i < f->first + f->n; i++)
			check_insn(v, f, i);
		if (!f->clone_at)
			continue;
		if ((f->prefix_bytes != 0) != ((f->flags & DWELL_CLONE_PROBED) != 0) ||
		    (v->h.probes == DWELL_PROBES_NONE && f->prefix_bytes))
			dw_verify_find(v, f->start, f->clone_at, "probes where none belong");
	}
	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++)
		if (v->trampoline_calls[i] != v->h.trampoline_calls[i].n)
			dw_verify_find(v, 0, v->h.trampoline_calls[i].at,
				       "calls of trampolines that are none are listed");
	rc = dw_verify_tables(v);
	return rc ? rc : check_between(v);
}
