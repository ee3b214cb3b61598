/*
 * Clones, instruction by instruction; see verify.h.
 *
 * The bytes of a clone are consumed from left to right: each instruction's own, with what may stand
 * around it, and nothing else. An instruction that does not depend on its place must be the same
 * bytes; of one that does, all but the field, and the field must lead to the same place.
 */
#include "clone/gates.h"
#include "clone/verify-jumps.h"
#include "clone/verify-state.h"
#include "code/decode/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPCODE_CALL = 0xe8,
	OPCODE_JUMP = 0xe9,
	OPCODE_SHORT_JUMP = 0xeb,
	OPCODE_SHORT_BRANCH = 0x70,
	OPCODE_TWO_BYTES = 0x0f,
	OPCODE_BRANCH = 0x80,
	JUMP_BYTES = 5,
	SHORT_JUMP_BYTES = 2,
	CONDITION = 15,
	INT3 = 0xcc,
};

/* One instruction and the part of its clone that was not yet looked at. */
struct reader {
	struct dw_verify *v;
	const struct dw_verify_function *f;
	struct dw_insn insn;
	const uint8_t *bytes; /* in the module */
	uint64_t svma;
	const uint8_t *p; /* in the clone */
	uint32_t at;	  /* area offset of p */
	uint32_t left;
	const char *wrong; /* what was found first */
};

static void fail(struct reader *r, const char *what)
{
	if (!r->wrong)
		r->wrong = what;
}

static void skip(struct reader *r, uint32_t n)
{
	r->p += n;
	r->at += n;
	r->left -= n;
}

/* Consume exactly the @n bytes at @want. */
static void expect(struct reader *r, const void *want, uint32_t n, const char *what)
{
	if (r->left < n || memcmp(r->p, want, n)) {
		fail(r, what);
		return;
	}
	skip(r, n);
}

static void expect_byte(struct reader *r, uint8_t want, const char *what)
{
	expect(r, &want, 1, what);
}

/* Consume a 32-bit distance that ends its instruction. The svma it leads to. */
static uint64_t read_target(struct reader *r)
{
	int32_t distance;

	if (r->left < sizeof distance) {
		fail(r, "a distance is missing");
		return 0;
	}
	memcpy(&distance, r->p, sizeof distance);
	skip(r, sizeof distance);
	return r->v->area_svma + r->at + (uint64_t)(int64_t)distance;
}

/* Consume a distance that leads where going to @svma in the module leads. */
static void expect_target(struct reader *r, uint64_t svma)
{
	bool inside = svma - r->f->start < r->f->end - r->f->start;

	if (!dw_verify_same_place(r->v, svma, read_target(r), inside))
		fail(r, "leads elsewhere");
}

/* Consume the distance of a call to @svma: of its own function too, it leads to the entry. */
static void expect_called(struct reader *r, uint64_t svma)
{
	if (!dw_verify_same_place(r->v, svma, read_target(r), false))
		fail(r, "calls elsewhere");
}

static void expect_gate(struct reader *r, enum dw_gate gate)
{
	struct dw_gates gates = {r->v->h.probes, r->v->h.code_at, r->v->h.constants_at,
				 r->v->h.wiped_at};

	expect_byte(r, OPCODE_CALL, "a gate is not called");
	if (read_target(r) != r->v->area_svma + dw_gate_at(&gates, gate))
		fail(r, "another gate is called");
}

static void expect_prefix(struct reader *r)
{
	static const uint8_t save_rax_mov_eax[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};

	expect(r, save_rax_mov_eax, sizeof save_rax_mov_eax, "the entry probe is another");
	expect(r, &r->f->index, sizeof r->f->index, "the entry probe counts another function");
	expect_gate(r, dw_gate_of_entry(r->v->h.probes));
}

static bool is_linkage(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(elf, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].flags & SHF_EXECINSTR && svma - s[i].svma.v < s[i].bytes)
			return !strncmp(s[i].name, ".plt", 4) || !strncmp(s[i].name, ".init", 5) ||
			       !strncmp(s[i].name, ".fini", 5);
	return false;
}

/* Whether going to @svma ends an activation that probes count: to the start of another function, or
 * out by the linkage table. */
static bool leaves(const struct reader *r, uint64_t svma)
{
	const struct dw_verify_function *g;

	if (!(r->f->flags & DWELL_CLONE_PROBED) || svma - r->f->start < r->f->end - r->f->start)
		return false;
	g = dw_verify_function_at(r->v, svma);
	return g ? svma == g->start && !(g->flags & DWELL_CLONE_COLD) : is_linkage(r->v->elf, svma);
}

static void expect_jump(struct reader *r, uint64_t svma)
{
	if (leaves(r, svma))
		expect_gate(r, dw_gate_of_leaving(r->v->h.probes));
	expect_byte(r, OPCODE_JUMP, "no jump");
	expect_target(r, svma);
}

static void expect_branch(struct reader *r, uint64_t svma)
{
	uint8_t condition = r->bytes[r->insn.field_at - 1] & CONDITION;

	if (leaves(r, svma)) {
		expect_byte(r, OPCODE_SHORT_BRANCH | (condition ^ 1), "another condition");
		expect_byte(r, 2 * JUMP_BYTES, "a hop of another length");
		expect_jump(r, svma);
		return;
	}
	expect_byte(r, OPCODE_TWO_BYTES, "no branch");
	expect_byte(r, OPCODE_BRANCH | condition, "another condition");
	expect_target(r, svma);
}

static void expect_loop(struct reader *r, uint64_t svma)
{
	expect(r, r->bytes, r->insn.field_at, "another loop");
	expect_byte(r, SHORT_JUMP_BYTES, "a hop of another length");
	expect_byte(r, OPCODE_SHORT_JUMP, "no hop");
	expect_byte(r, JUMP_BYTES, "a hop of another length");
	expect_byte(r, OPCODE_JUMP, "no jump");
	expect_target(r, svma);
}

static struct dw_verify_pair pair_of(const struct reader *r)
{
	return (struct dw_verify_pair){r->v, r->f, r->insn, r->bytes, r->svma, r->at, r->left};
}

/* Consume a copy whose operand, if it has one relative to its place, leads to the same address. */
static void expect_copy(struct reader *r)
{
	uint8_t at = r->insn.flags & DWELL_INSN_RIP ? r->insn.field_at : r->insn.length;
	uint32_t end = r->at + r->insn.length;
	int32_t distance;

	expect(r, r->bytes, at, "another instruction");
	if (!(r->insn.flags & DWELL_INSN_RIP))
		return;
	if (r->left < sizeof distance) {
		fail(r, "a distance is missing");
		return;
	}
	memcpy(&distance, r->p, sizeof distance);
	if (r->v->area_svma + end + (uint64_t)(int64_t)distance !=
	    dw_insn_target(&r->insn, r->svma))
		fail(r, "another operand");
	skip(r, sizeof distance);
	expect(r, r->bytes + at + sizeof distance, r->insn.length - at - sizeof distance,
	       "another instruction");
}

/* Whether the clone of an indirect jump is the jump itself, on its way out of the function. */
static bool is_leaving(const struct reader *r)
{
	uint32_t n = r->insn.length;

	if (r->f->flags & DWELL_CLONE_PROBED && r->left == n + JUMP_BYTES)
		return true;
	return r->left == n && (r->insn.flags & DWELL_INSN_RIP || !memcmp(r->p, r->bytes, n));
}

/* Consume the clone of an indirect jump: all that is left. Where it may go is safe in any case: the
 * module's code runs on there. */
static void expect_jump_indirect(struct reader *r)
{
	struct dw_verify_pair pair = pair_of(r);

	if (is_leaving(r)) {
		if (r->left > r->insn.length)
			expect_gate(r, dw_gate_of_leaving(r->v->h.probes));
		expect_copy(r);
		return;
	}
	if (dw_verify_table_jump(&pair))
		r->wrong = dw_verify_map_jump(&pair);
	skip(r, r->left);
}

/* Consume a copy that differs: by a relative operand, or as it reads a table. */
static void expect_other_copy(struct reader *r)
{
	struct dw_verify_pair pair = pair_of(r);
	uint32_t n = 0;

	if (r->insn.flags & DWELL_INSN_RIP) {
		expect_copy(r);
		return;
	}
	r->wrong = dw_verify_table_load(&pair, &n);
	if (!r->wrong)
		skip(r, n);
}

/* Consume a way back to the module's call, which leaves its own return address; the list of
 * returns must bring it back. */
static void expect_kept_call(struct reader *r)
{
	uint64_t svma = r->svma + r->insn.length;
	struct dw_clone_return back;

	expect_byte(r, OPCODE_JUMP, "no jump");
	if (read_target(r) != r->svma)
		fail(r, "leads to another call");
	if (svma == r->f->end) /* to what follows, as it always did */
		return;
	for (uint32_t i = 0; i < r->v->h.returns.n; i++) {
		memcpy(&back, r->v->area + r->v->h.returns.at + i * sizeof back, sizeof back);
		if (r->v->start + back.at == svma)
			return;
	}
	fail(r, "the kept return leads nowhere");
}

static bool goes_on(uint8_t kind)
{
	return kind != DWELL_INSN_JUMP && kind != DWELL_INSN_JUMP_INDIRECT &&
	       kind != DWELL_INSN_RETURN && kind != DWELL_INSN_STOP;
}

static bool is_call(uint8_t kind)
{
	return kind == DWELL_INSN_CALL || kind == DWELL_INSN_CALL_INDIRECT;
}

static void expect_insn(struct reader *r)
{
	uint64_t target = dw_insn_target(&r->insn, r->svma);

	if (is_call(r->insn.kind) && r->left && *r->p == OPCODE_JUMP) {
		expect_kept_call(r);
		return;
	}
	switch (r->insn.kind) {
	case DWELL_INSN_CALL:
		expect_byte(r, OPCODE_CALL, "no call");
		expect_called(r, target);
		break;
	case DWELL_INSN_JUMP:
		expect_jump(r, target);
		break;
	case DWELL_INSN_BRANCH:
		expect_branch(r, target);
		break;
	case DWELL_INSN_LOOP:
		expect_loop(r, target);
		break;
	case DWELL_INSN_BEGIN:
		expect(r, r->bytes, r->insn.field_at, "no transaction");
		expect_target(r, target);
		break;
	case DWELL_INSN_RETURN:
		if (r->f->flags & DWELL_CLONE_PROBED)
			expect_gate(r, dw_gate_of_leaving(r->v->h.probes));
		expect_copy(r);
		break;
	case DWELL_INSN_JUMP_INDIRECT:
		expect_jump_indirect(r);
		break;
	case DWELL_INSN_OTHER:
		fail(r, "cannot be moved");
		break;
	case DWELL_INSN_PLAIN:
		if (r->left < r->insn.length || memcmp(r->p, r->bytes, r->insn.length))
			expect_other_copy(r);
		else
			expect_copy(r);
		break;
	default:
		expect_copy(r);
	}
}

/* Check instruction @i of @f. */
static void check_insn(struct dw_verify *v, const struct dw_verify_function *f, uint32_t i)
{
	bool is_last = i == f->first + f->n - 1;
	uint32_t from = v->insns.v[i].clone_at;
	uint32_t to = is_last ? f->clone_end : v->insns.v[i + 1].clone_at;
	struct reader r = {.v = v, .f = f, .svma = v->insns.v[i].svma};
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
	if (!r.wrong)
		expect_insn(&r);
	if (!r.wrong && is_last && goes_on(r.insn.kind))
		expect_jump(&r, f->end);
	if (!r.wrong && r.left)
		fail(&r, "bytes of no instruction");
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
		const struct dw_verify_function *f = v->functions.v + i;
		uint32_t to = v->h.code_at + v->h.code_bytes;

		if (i < v->functions.n && !f->clone_at)
			continue;
		if (i < v->functions.n)
			to = f->clone_at;
		if (end > to)
			dw_verify_find(v, 0, to, "a clone in the gates");
		for (; end < to; end++)
			if (v->area[end] != INT3)
				dw_verify_find(v, 0, end, "code between clones");
		if (i < v->functions.n)
			end = f->clone_end;
	}
	return 0;
}

int dw_verify_code(struct dw_verify *v)
{
	int rc;

	v->loads.n = v->regions.n = 0;
	v->map_svma = 0;
	dw_vec_each(f, &v->functions) {
		for (uint32_t i = f->first; i < f->first + f->n; i++)
			check_insn(v, f, i);
		if (!f->clone_at)
			continue;
		if ((f->prefix_bytes != 0) != ((f->flags & DWELL_CLONE_PROBED) != 0) ||
		    (v->h.probes == DWELL_PROBES_NONE && f->prefix_bytes))
			dw_verify_find(v, f->start, f->clone_at, "probes where none belong");
	}
	rc = dw_verify_tables(v);
	return rc ? rc : check_between(v);
}
