/*
 * Whether code reads what a jump by a table of clone addresses leaves behind; see verify-jumps.h.
 *
 * Only sure reads count: calls, returns and what leaves the function are taken to read nothing, as
 * what they read is a matter of their callers' and callees' conventions.
 */
#include "clone/verify-jumps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 4000, XOR_TO_MEMORY = 0x31, XOR_FROM_MEMORY = 0x33, MODE_REGISTERS = 3 };

/* Places still to be looked at. */
struct work {
	DW_VEC(struct dw_verify_left) list;
	uint32_t *seen; /* by instruction of the function: what was left behind there */
};

/* Whether the instruction makes its register zero, whatever was in it. */
static bool is_zeroing(const uint8_t *bytes, const struct dw_insn *insn)
{
	const uint8_t *p = bytes + ((*bytes & 0xf0) == 0x40);
	uint8_t modrm = p[1];
	bool extended = p > bytes && (*bytes & 4) >> 2 != (*bytes & 1);

	return insn->length == 2 + (p - bytes) && (*p == XOR_TO_MEMORY || *p == XOR_FROM_MEMORY) &&
	       modrm >> 6 == MODE_REGISTERS && (modrm >> 3 & 7) == (modrm & 7) && !extended;
}

/* Pass over one instruction: what of @left it reads, and what is left behind it. */
static uint32_t pass(const struct dw_insn_detail *d, bool zeroing, uint32_t *left)
{
	uint32_t reads = (zeroing ? 0 : d->reads) | d->flags_read << DWELL_VERIFY_FLAGS_SHIFT;
	uint32_t writes = d->writes | d->flags_written << DWELL_VERIFY_FLAGS_SHIFT;
	uint32_t read = *left & reads;

	*left &= ~writes;
	return read;
}

static int push(const struct dw_verify *v, const struct dw_verify_function *f, struct work *w,
		uint64_t svma, uint32_t left)
{
	size_t lo = f->first, hi = f->first + f->n;

	if (!left || svma - f->start >= f->end - f->start)
		return 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->insns.v[mid].svma < svma)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == f->first + f->n || v->insns.v[lo].svma != svma ||
	    !(left & ~w->seen[lo - f->first]))
		return 0;
	w->seen[lo - f->first] |= left;
	return dw_vec_push(&w->list, (struct dw_verify_left){svma, left});
}

/* Look at one place. 1: what is left is read; 0; -ENOMEM. */
static int step(const struct dw_verify *v, const struct dw_verify_function *f, struct work *w)
{
	struct dw_verify_left at = w->list.v[--w->list.n];
	struct dw_insn_detail d;
	struct dw_insn insn;
	size_t n;
	const uint8_t *bytes = dw_verify_bytes(v, at.svma, &n);
	uint64_t next;
	int rc = 0;

	if (!bytes || !dw_insn_decode_detail(bytes, n, &insn, &d))
		return 0;
	next = at.svma + insn.length;
	switch (insn.kind) {
	case DWELL_INSN_PLAIN:
		if (pass(&d, is_zeroing(bytes, &insn), &at.left))
			return 1;
		return push(v, f, w, next, at.left);
	case DWELL_INSN_BRANCH:
	case DWELL_INSN_LOOP:
	case DWELL_INSN_JUMP:
		if (pass(&d, false, &at.left))
			return 1;
		rc = push(v, f, w, dw_insn_target(&insn, at.svma), at.left);
		if (!rc && insn.kind != DWELL_INSN_JUMP)
			rc = push(v, f, w, next, at.left);
		return rc;
	case DWELL_INSN_CALL_INDIRECT:
	case DWELL_INSN_JUMP_INDIRECT:
		return pass(&d, false, &at.left) != 0;
	}
	return 0;
}

int dw_verify_is_read(const struct dw_verify *v, const struct dw_verify_function *f, uint64_t svma,
		      uint32_t left)
{
	struct work w = {.seen = calloc(f->n, sizeof *w.seen)};
	int rc = w.seen ? push(v, f, &w, svma, left) : -ENOMEM;

	for (int steps = 0; !rc && w.list.n && steps < STEPS_MAX; steps++)
		rc = step(v, f, &w);
	free(w.seen);
	dw_vec_release(&w.list);
	return rc;
}
