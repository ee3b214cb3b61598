/*
 * Final code: what runs in the place of clones when nothing is measured any more. It is their code
 * with nops of the same length for probes, and with jumps to the module at entries with probes.
 * Where probes are is known by then to be what the lists of the image say.
 */
#include "clone/verify/state.h"
#include "wire/no-probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { JUMP = 0xe9, JUMP_BYTES = 5, MOV_EAX = 0xb8 };

/* What the image has as final code is compared with @code, of @n bytes, which are made from its
 * clones. */
struct final {
	struct dw_verify *v;
	uint8_t *code;
	uint32_t n;
};

static bool leaves_rax(int trampoline)
{
	switch (trampoline) {
	case DWELL_TRAMPOLINE_ENTER:
	case DWELL_TRAMPOLINE_OUT:
	case DWELL_TRAMPOLINE_OUT_POINTER:
	case DWELL_TRAMPOLINE_TAIL:
	case DWELL_TRAMPOLINE_LINE:
		return false;
	default:
		return true;
	}
}

/* The probe that calls @trampoline at the area offset @at becomes a nop. False: it is in no clone.
 */
static bool expect_nop(const struct final *f, int trampoline, uint32_t at)
{
	uint32_t to = at - f->v->h.final_from;
	uint8_t *call = f->code + to;

	if (at < f->v->h.final_from || to > f->n || f->n - to < DWELL_PROBE_CALL_BYTES ||
	    (to < DWELL_PROBE_LOAD_BYTES && !leaves_rax(trampoline)))
		return false;
	if (leaves_rax(trampoline))
		memcpy(call, dw_no_call, sizeof dw_no_call);
	else if (call[-DWELL_PROBE_CALL_BYTES] == MOV_EAX &&
		 trampoline != DWELL_TRAMPOLINE_OUT_POINTER)
		memcpy(call - DWELL_PROBE_LOAD_BYTES, dw_no_probe, sizeof dw_no_probe);
	else
		memcpy(call, dw_no_probe + DWELL_PROBE_LOAD_BYTES, DWELL_PROBE_CALL_BYTES);
	return true;
}

/* The clone of @f begins with a jump to where the function does. */
static bool expect_jump(const struct final *x, const struct dw_verify_function *f)
{
	const struct dw_clone_header *h = &x->v->h;
	uint32_t to = f->clone_at - h->final_from;
	uint32_t by = (uint32_t)(f->start - x->v->start - (uint64_t)h->distance) -
		      (f->clone_at + JUMP_BYTES);

	if (f->clone_at < h->final_from || to > x->n || x->n - to < JUMP_BYTES)
		return false;
	x->code[to] = JUMP;
	memcpy(x->code + to + 1, &by, sizeof by);
	return true;
}

static bool is_expected(const struct final *x)
{
	const struct dw_verify *v = x->v;

	for (int i = DWELL_TRAMPOLINE_ENTER; i < DWELL_TRAMPOLINES_N; i++) {
		for (uint32_t k = 0; k < v->h.trampoline_calls[i].n; k++) {
			uint32_t at;

			memcpy(&at, v->image + v->h.trampoline_calls[i].at + k * sizeof at,
			       sizeof at);
			if (!expect_nop(x, i, at))
				return false;
		}
	}
	dw_vec_each(f, &v->functions) {
		if (f->clone_at && f->prefix_bytes == DWELL_PROBE_BYTES && !expect_jump(x, f))
			return false;
	}
	return !memcmp(x->code, v->image + v->h.bytes, x->n);
}

/* Whether an image has final code. */
static bool is_wanted(const struct dw_verify *v)
{
	dw_vec_each(f, &v->functions) {
		if (f->clone_at)
			return v->h.probes >= DWELL_PROBES_SYSTEM_CALLS;
	}
	return false;
}

int dw_verify_final(struct dw_verify *v)
{
	struct final x = {v, NULL, v->h.final_bytes};

	if (is_wanted(v) != (x.n > 0))
		dw_verify_find(v, 0, v->h.final_from, "final code is missing, or of no use");
	if (!x.n)
		return 0;
	x.code = malloc(x.n);
	if (!x.code)
		return -ENOMEM;
	memcpy(x.code, v->image + v->h.final_from, x.n);
	if (!is_expected(&x))
		dw_verify_find(v, 0, v->h.final_from, "final code is not that of the clones");
	free(x.code);
	return 0;
}
