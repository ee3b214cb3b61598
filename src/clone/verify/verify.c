/*
 * The verifier; see verify.h.
 *
 * Each function that the image claims must be one of the module's unwind table, each length that of
 * the instruction there, and nothing may overlap. Everything is checked twice: with the area where
 * the image wants it, and elsewhere, so that a field without its relocation, or with one too many,
 * leads astray.
 */
#include "clone/verify/verify.h"

#include "clone/verify/probes.h"
#include "clone/verify/state.h"
#include "wire/identity.h"

#include <errno.h>
#include <string.h>

enum {
	LONG_CLONE = 15,
	ALL_FLAGS = DWELL_CLONE_COLD | DWELL_CLONE_PROBED | DWELL_CLONE_REDIRECTED |
		    DWELL_CLONE_TAILS_OUT | DWELL_CLONE_SWITCHES | DWELL_CLONE_SLOWEST,
};

/* Reads the image's lengths of instructions. */
struct lengths {
	const uint8_t *p;
	size_t left;
};

/* The next instruction's length in the module and in the clone. False: there are no more. */
static bool next_lengths(struct lengths *s, uint32_t *module, uint32_t *clone)
{
	uint16_t wide;

	if (!s->left)
		return false;
	*module = *s->p >> 4;
	*clone = *s->p & 0xf;
	s->p++;
	s->left--;
	if (*clone != LONG_CLONE)
		return true;
	if (s->left < sizeof wide)
		return false;
	memcpy(&wide, s->p, sizeof wide);
	*clone = wide;
	s->p += sizeof wide;
	s->left -= sizeof wide;
	return true;
}

/* Whether the unwind table has a range [@start, @end). */
static bool is_range(const struct dw_verify *v, uint64_t start, uint64_t end)
{
	const struct dw_cfi_fde_ref *ref = dw_cfi_fdes_find(&v->fdes, start);

	return ref && ref->end == end;
}

/* Add the instructions of @f, whose lengths begin at @from. */
static int read_insns(struct dw_verify *v, struct dw_verify_function *f, uint32_t from)
{
	struct lengths s = {v->area + v->h.instructions.at + from, v->h.instructions.n - from};
	uint32_t at = f->clone_at, module, clone;
	uint64_t svma = f->start;
	struct dw_insn insn;
	size_t left = 0;

	f->first = (uint32_t)v->insns.n;
	while (svma < f->end) {
		const uint8_t *bytes = dw_verify_bytes(v, svma, &left);

		if (!next_lengths(&s, &module, &clone) || !bytes ||
		    !dw_insn_decode(bytes, left, &insn) || insn.length != module ||
		    module > f->end - svma || clone > f->clone_end - at ||
		    (svma == f->start && clone < f->prefix_bytes)) {
			dw_verify_find(v, svma, at, "no such instruction");
			break;
		}
		if (dw_vec_push(&v->insns, (struct dw_verify_insn){svma, at, at}))
			return -ENOMEM;
		svma += module;
		at += clone;
	}
	f->n = (uint32_t)v->insns.n - f->first;
	if (svma == f->end && at != f->clone_end)
		dw_verify_find(v, f->start, f->clone_at, "lengths of clones do not add up");
	if (svma != f->end || at != f->clone_end || !f->n) {
		v->insns.n = f->first;
		f->n = 0;
		f->clone_at = 0;
		return 0;
	}
	/* Branches from inside go behind the prefix, like all that looks there. */
	v->insns.v[f->first].clone_at += f->prefix_bytes;
	v->insns.v[f->first].front += f->prefix_bytes;
	return 0;
}

static int read_function(struct dw_verify *v, uint32_t i, uint64_t *end, uint32_t *clone_end)
{
	struct dw_clone_function_entry e;
	struct dw_verify_function f;

	memcpy(&e, v->area + v->h.functions.at + i * sizeof e, sizeof e);
	f = (struct dw_verify_function){.start = v->start + e.start,
					.end = v->start + e.start + e.bytes,
					.index = i,
					.clone_at = e.reason ? 0 : e.clone_at,
					.clone_end = e.clone_at + e.clone_bytes,
					.prefix_bytes = e.prefix_bytes,
					.flags = e.flags,
					.reason = e.reason};
	if (f.start < *end || !e.bytes || e.reason >= DWELL_LEFT_REASONS) {
		dw_verify_find(v, f.start, e.clone_at, "function %u makes no sense", i);
		return 0;
	}
	*end = f.end;
	if (e.reason)
		return dw_vec_push(&v->functions, f);
	if (e.clone_at < *clone_end ||
	    e.clone_at + (uint64_t)e.clone_bytes > v->h.code_at + v->h.code_bytes ||
	    e.instructions > v->h.instructions.n || e.flags & ~ALL_FLAGS ||
	    !is_range(v, f.start, f.end)) {
		dw_verify_find(v, f.start, e.clone_at, "the clone of function %u makes no sense",
			       i);
		return 0;
	}
	*clone_end = f.clone_end;
	if (read_insns(v, &f, e.instructions))
		return -ENOMEM;
	v->ret->functions += f.clone_at != 0;
	v->ret->instructions += f.n;
	return dw_vec_push(&v->functions, f);
}

/* What clones were made from is what the agent looks for in the module. */
static void check_hash(struct dw_verify *v)
{
	const struct dw_clone_function_entry *f = (const void *)(v->area + v->h.functions.at);
	uint64_t hash = DWELL_HASH_INIT;
	struct dw_identity_run run;
	const uint8_t *bytes;
	size_t left = 0;

	if (v->h.functions.at % _Alignof(struct dw_clone_function_entry)) {
		dw_verify_find(v, v->start, 0, "the functions stand between words");
		return;
	}
	for (uint32_t i = 0; i < v->h.functions.n;) {
		i = dw_identity_run(f, v->h.functions.n, i, &run);
		bytes = dw_verify_module_bytes(v, v->start + run.start, &left);
		if (bytes && run.end - run.start <= left)
			hash = dw_identity_hash(hash, bytes, run.end - run.start);
	}
	if (hash != v->h.cloned_hash)
		dw_verify_find(v, v->start, 0, "the hash of what was cloned is another");
}

static int read_functions(struct dw_verify *v)
{
	uint32_t clone_end = v->h.code_at;
	uint64_t end = v->start;
	int rc = 0;

	v->functions.n = v->insns.n = 0;
	v->ret->functions = v->ret->instructions = 0;
	for (uint32_t i = 0; i < v->h.functions.n && !rc; i++)
		rc = read_function(v, i, &end, &clone_end);
	if (!rc)
		check_hash(v);
	return rc;
}

enum { SHIFT = -0x123000 };

static int verify_at(struct dw_verify *v, int64_t shift)
{
	int rc = dw_verify_place(v, shift);

	if (!rc)
		rc = read_functions(v);
	if (!rc)
		rc = dw_verify_probes(v);
	if (!rc)
		rc = dw_verify_code(v);
	if (!rc)
		rc = dw_verify_unwind(v);
	if (!rc)
		rc = dw_verify_patches(v);
	if (!rc)
		rc = dw_verify_final(v);
	if (!rc) {
		dw_verify_probe_lists(v);
		dw_verify_object(v);
	}
	return rc;
}

int dw_clone_verify(const struct dw_elf *elf, const uint8_t *image, size_t n,
		    struct dw_verify_result *ret, struct dw_error *err)
{
	struct dw_verify v = {.ret = ret};
	int rc;

	memset(ret, 0, sizeof *ret);
	rc = dw_verify_open(&v, elf, image, n, err);
	if (!rc) {
		rc = verify_at(&v, 0);
		if (!rc)
			rc = verify_at(&v, SHIFT);
		if (rc)
			dw_error_set(err, rc, "cannot verify the image");
	}
	dw_verify_close(&v);
	return rc;
}
