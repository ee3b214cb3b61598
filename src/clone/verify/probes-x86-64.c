/*
 * Calls, system calls and statements in clones, with the probes that the verifier's own rules
 * (probes.h) ask for; see code-x86-64.h.
 *
 * Two forms of a statement's probe may stand there: one that writes below the stack pointer, where
 * these rules say that this is free, and one that goes below the red zone first.
 */
#include "clone/verify/code-x86-64.h"

#include "clone/verify/probes.h"

#include <string.h>

enum {
	CALL = 0xe8,
	JUMP = 0xe9,
	MOV_EAX = 0xb8,
	LOCK = 0xf0,
	RAX = 0,
	CALL_BYTES = 5,
	WORD_BYTES = 8,
	PADDING_MAX = 3,
};

static const uint8_t save_rax[] = {0x48, 0x89, 0x44, 0x24, 0xf0};

/* Consume the distance of a call to @svma: of its own function too, it leads to the entry. */
static void expect_called(struct dw_verify_reader *r, uint64_t svma)
{
	if (!dw_verify_same_place(r->v, svma, dw_expect_any_target(r), false))
		dw_expect_fail(r, "calls elsewhere");
}

/* Consume a way back to the module's call, which leaves its own return address; the list of
 * returns must bring it back. */
static void expect_kept_call(struct dw_verify_reader *r)
{
	uint64_t svma = r->svma + r->insn.length;
	struct dw_clone_return back;

	dw_expect_byte(r, JUMP, "no jump");
	if (dw_expect_any_target(r) != r->svma)
		dw_expect_fail(r, "leads to another call");
	if (svma == r->f->end) /* to what follows, as it always did */
		return;
	for (uint32_t i = 0; i < r->v->h.returns.n; i++) {
		memcpy(&back, r->v->area + r->v->h.returns.at + i * sizeof back, sizeof back);
		if (r->v->start + back.at != svma)
			continue;
		if (back.clone_at != r->at)
			dw_expect_fail(r, "the kept return leads to another place");
		return;
	}
	dw_expect_fail(r, "the kept return leads nowhere");
}

/* Consume as few bytes as bring the distance of the call behind them into one word. */
static void expect_padding(struct dw_verify_reader *r)
{
	static const char *const nops[PADDING_MAX + 1] = {"", "\x90", "\x66\x90", "\x0f\x1f"};
	uint32_t n = 0;

	if (r->v->h.probes != DWELL_PROBES_TIME)
		return;
	while ((r->at + n + 1) % WORD_BYTES + sizeof(int32_t) > WORD_BYTES)
		n++;
	dw_expect(r, nops[n], n, "another padding of a call");
}

static void expect_call(struct dw_verify_reader *r, bool has_trampolines)
{
	if (r->left && *r->p == JUMP) {
		expect_kept_call(r);
		return;
	}
	if (r->insn.kind == DWELL_INSN_CALL_INDIRECT) {
		dw_expect_copy(r);
		return;
	}
	if (!has_trampolines)
		expect_padding(r);
	dw_expect_byte(r, CALL, "no call");
	expect_called(r, dw_insn_target(&r->insn, r->svma));
}

static void expect_import(struct dw_verify_reader *r)
{
	uint32_t id;

	dw_expect_byte(r, MOV_EAX, "no import");
	if (r->left < sizeof id) {
		dw_expect_fail(r, "no import");
		return;
	}
	memcpy(&id, r->p, sizeof id);
	if (!dw_verify_is_import(r->v, id, &r->insn, r->svma))
		dw_expect_fail(r, "another import");
	dw_expect_skip(r, sizeof id);
}

void dw_expect_import_trampoline(struct dw_verify_reader *r, enum dw_trampoline trampoline)
{
	dw_expect(r, save_rax, sizeof save_rax, "no trampoline in front of an import");
	expect_import(r);
	dw_expect_trampoline(r, trampoline);
}

static bool same_operand(const struct dw_verify_reader *r, const struct dw_insn *insn,
			 const struct dw_insn_detail *old, const struct dw_insn_detail *new)
{
	const struct dw_insn_memory *a = &old->memory, *b = &new->memory;

	if (a->is_there != b->is_there)
		return false;
	if (!a->is_there)
		return old->from == new->from;
	if (a->is_rip != b->is_rip || a->has_segment != b->has_segment)
		return false;
	if (a->is_rip)
		return dw_insn_target(&r->insn, r->svma) ==
		       dw_insn_target(insn, r->v->area_svma + r->at);
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->disp == b->disp;
}

/* The last segment override among the prefixes of an instruction, 0 = none. */
static uint8_t segment(const uint8_t *bytes)
{
	uint8_t ret = 0;

	for (;
	     *bytes == 0x64 || *bytes == 0x65 || *bytes == 0x3e || *bytes == 0x67 || *bytes == 0xf2;
	     bytes++)
		ret = *bytes == 0x64 || *bytes == 0x65 ? *bytes : ret;
	return ret;
}

/* Whether addresses of the instruction have 32 bits. */
static bool is_narrow(const uint8_t *bytes, const struct dw_insn_detail *d)
{
	return d->memory.is_there && memchr(bytes, 0x67, 2);
}

static void expect_callee(struct dw_verify_reader *r)
{
	struct dw_insn_detail old, new;
	struct dw_insn insn;

	if (!dw_insn_decode_detail(r->bytes, r->insn.length, &insn, &old) ||
	    !dw_insn_decode_detail(r->p, r->left, &insn, &new) || new.op != DWELL_OP_MOV ||
	    new.to != RAX || new.bytes != WORD_BYTES || new.has_immediate ||
	    segment(r->bytes) != segment(r->p) ||
	    is_narrow(r->bytes, &old) != is_narrow(r->p, &new) ||
	    !same_operand(r, &insn, &old, &new)) {
		dw_expect_fail(r, "another callee is told");
		return;
	}
	dw_expect_skip(r, insn.length);
}

static void expect_system_call(struct dw_verify_reader *r)
{
	bool has_trampolines = dw_verify_has_system_trampolines(r->v, r->f, r->svma);

	if (has_trampolines)
		dw_expect_trampoline(r, DWELL_TRAMPOLINE_CALL_BEGIN);
	dw_expect_copy(r);
	if (has_trampolines)
		dw_expect_trampoline(r, DWELL_TRAMPOLINE_CALL_END);
}

void dw_expect_call(struct dw_verify_reader *r)
{
	enum dw_verify_call how;
	bool is_kept, has_return;

	if (r->insn.flags & DWELL_INSN_SYSCALL) {
		expect_system_call(r);
		return;
	}
	is_kept = r->is_last && r->left && *r->p == JUMP;
	how = is_kept ? DWELL_VERIFY_PLAIN : dw_verify_call_kind(r->v, r->f, &r->insn, r->svma);
	if (how == DWELL_VERIFY_OUT)
		dw_expect_import_trampoline(r, DWELL_TRAMPOLINE_OUT);
	else if (how == DWELL_VERIFY_OUT_POINTER) {
		dw_expect(r, save_rax, sizeof save_rax, "no trampoline in front of a call");
		expect_callee(r);
		dw_expect_trampoline(r, DWELL_TRAMPOLINE_OUT_POINTER);
	}
	has_return = how != DWELL_VERIFY_PLAIN ||
		     (!is_kept && dw_verify_has_return(r->v, r->f, &r->insn, r->svma));
	if (!r->wrong)
		expect_call(r, how != DWELL_VERIFY_PLAIN);
	if (!r->wrong && has_return)
		dw_expect_trampoline(r, DWELL_TRAMPOLINE_RETURN);
}

static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

enum { PROBE_BYTES = sizeof save_rax + 5 + CALL_BYTES };

static struct dw_clone_statement statement(const struct dw_verify *v, uint32_t i)
{
	struct dw_clone_statement s;

	memcpy(&s, v->area + v->h.statements.at + i * sizeof s, sizeof s);
	return s;
}

/* The index of the statement that begins at @svma; UINT32_MAX = none does. */
static uint32_t find(const struct dw_verify *v, uint64_t svma)
{
	uint32_t low = 0, high = v->h.statements.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v->start + statement(v, middle).at < svma)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->h.statements.n && v->start + statement(v, low).at == svma ? low
										  : UINT32_MAX;
}

void dw_expect_statement(struct dw_verify_reader *r)
{
	const struct dw_clone_header *h = &r->v->h;
	uint32_t i = find(r->v, r->svma), id = h->functions.n + h->imports.n + i;
	bool is_moved = r->left >= sizeof down && !memcmp(r->p, down, sizeof down);

	if (i == UINT32_MAX || r->svma == r->f->start)
		return;
	if (r->bytes[0] == LOCK)
		dw_expect_fail(r, "a statement that begins with a lock");
	if (is_moved)
		dw_expect_skip(r, sizeof down);
	else if (!dw_verify_is_free_below(r->v, r->f, r->svma))
		dw_expect_fail(r, "a statement's probe writes where it must not");
	dw_expect(r, save_rax, sizeof save_rax, "no probe of a statement");
	dw_expect_byte(r, MOV_EAX, "no statement");
	dw_expect(r, &id, sizeof id, "another statement");
	dw_expect_trampoline(r, DWELL_TRAMPOLINE_LINE);
	if (is_moved)
		dw_expect(r, up, sizeof up, "the stack pointer does not come back");
}

uint32_t dw_verify_statement_bytes(const struct dw_verify *v, uint64_t svma)
{
	uint64_t clone = find(v, svma) == UINT32_MAX ? 0 : dw_verify_clone_of(v, svma, true);
	size_t left;
	const uint8_t *bytes = clone ? dw_verify_bytes(v, clone, &left) : NULL;

	if (!bytes || left < sizeof down)
		return 0;
	return PROBE_BYTES + (memcmp(bytes, down, sizeof down) ? 0 : sizeof down + sizeof up);
}

struct dw_verify_moved dw_verify_statement_moves(const struct dw_verify *v, uint32_t i)
{
	const struct dw_verify_insn *insn = &v->insns.v[i];
	uint32_t from = insn->clone_at + (uint32_t)sizeof down;

	if (find(v, insn->svma) == UINT32_MAX ||
	    insn->clone_at > v->area_n - sizeof down - PROBE_BYTES - sizeof up ||
	    memcmp(v->area + insn->clone_at, down, sizeof down))
		return (struct dw_verify_moved){0, 0};
	return (struct dw_verify_moved){from, from + PROBE_BYTES + (uint32_t)sizeof up};
}

static bool is_right(const struct dw_verify *v, const struct dw_clone_statement *s)
{
	const struct dw_verify_function *f = dw_verify_function_at(v, v->start + s->at);

	return f && f->index == s->function && f->clone_at && v->start + s->at != f->start &&
	       v->h.probes == DWELL_PROBES_TIME && dw_verify_is_measured(v, f) &&
	       !(f->flags & DWELL_CLONE_SWITCHES) && dw_verify_front_of(v, f, v->start + s->at);
}

void dw_verify_statements(struct dw_verify *v)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < v->h.statements.n; i++) {
		struct dw_clone_statement s = statement(v, i);

		if (s.at <= last || !is_right(v, &s))
			dw_verify_find(v, v->start + s.at, 0, "statement %u is none", i);
		last = s.at;
	}
}
