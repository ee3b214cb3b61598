/* Consuming clones; see verify-reader-x86-64.h. */
#include "clone/verify-reader-x86-64.h"

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

void dw_expect_gate(struct dw_verify_reader *r, enum dw_gate gate)
{
	struct dw_gates gates = {r->v->h.probes, r->v->h.code_at, r->v->h.constants_at,
				 r->v->h.wiped_at};

	if (!r->wrong && !dw_verify_gate_call(r->v, gate, r->at))
		dw_expect_fail(r, "a call of a gate is not listed");
	dw_expect_byte(r, CALL, "a gate is not called");
	if (dw_expect_any_target(r) != r->v->area_svma + dw_gate_at(&gates, gate))
		dw_expect_fail(r, "another gate is called");
}

void dw_expect_copy(struct dw_verify_reader *r)
{
	uint8_t at = r->insn.flags & DWELL_INSN_RIP ? r->insn.field_at : r->insn.length;
	uint32_t end = r->at + r->insn.length;
	int32_t distance;

	dw_expect(r, r->bytes, at, "another instruction");
	if (!(r->insn.flags & DWELL_INSN_RIP))
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
