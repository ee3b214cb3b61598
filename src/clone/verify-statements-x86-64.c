/*
 * Checking probes of statements; see verify-statements-x86-64.h. Two forms may stand there: one
 * that writes below the stack pointer, where the verifier's own rules say that this is free, and
 * one that goes below the red zone first.
 */
#include "clone/verify-statements-x86-64.h"

#include "clone/verify-probes.h"

#include <string.h>

enum { LOCK = 0xf0, MOV_EAX = 0xb8 };

static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
static const uint8_t save_rax[] = {0x48, 0x89, 0x44, 0x24, 0xf0};

enum { CALL_BYTES = 5, PROBE_BYTES = sizeof save_rax + 5 + CALL_BYTES };

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
	dw_expect_gate(r, DWELL_GATE_LINE);
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

/* Whether statement @i may stand where it says. */
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
