/*
 * Patches: each writes over the bytes that it says, in room that nothing else leads into, and leads
 * to the right clone; see verify.h.
 *
 * What may lead into the module's code once all entries are redirected: branches of functions
 * without clones and of code that belongs to no function, addresses that code computes, and
 * addresses that the loader writes.
 */
#include "clone/verify/state.h"

#include "base/vec.h"
#include "code/decode/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { JUMP_BYTES = 5, HOP_BYTES = 2, ENDBR_BYTES = 4 };

static int add_reached(struct dw_verify *v, uint64_t svma)
{
	return dw_vec_push(&v->reached, svma);
}

/* Add what the code in [@at, @end) leads to; of clones, only addresses that they compute. */
static int add_reached_of(struct dw_verify *v, uint64_t at, uint64_t end, bool is_cloned)
{
	struct dw_insn insn;
	int rc = 0;

	while (at < end && !rc) {
		size_t left;
		const uint8_t *bytes = dw_verify_bytes(v, at, &left);

		if (!bytes)
			return 0;
		if (!dw_insn_decode(bytes, left < end - at ? left : end - at, &insn))
			insn = (struct dw_insn){.length = 1};
		if (insn.field_at && (!is_cloned || insn.flags & DWELL_INSN_RELATIVE))
			rc = add_reached(v, dw_insn_target(&insn, at));
		at += insn.length;
	}
	return rc;
}

/* Likewise of code in [@at, @end) that no function has: all of it, where the file does not say
 * which parts are code. */
static int add_gap_reached(struct dw_verify *v, uint64_t at, uint64_t end)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(v->elf, &n);
	int rc = n ? 0 : add_reached_of(v, at, end, false);

	for (size_t i = 0; i < n && !rc; i++) {
		uint64_t from = s[i].svma.v < at ? at : s[i].svma.v;
		uint64_t to = s[i].svma.v + s[i].bytes < end ? s[i].svma.v + s[i].bytes : end;

		if (s[i].flags & SHF_EXECINSTR)
			rc = add_reached_of(v, from, to, false);
	}
	return rc;
}

static int add_code_reached(struct dw_verify *v)
{
	int rc = 0;

	dw_vec_each(s, &v->spans) {
		uint64_t at = s->svma, end = s->svma + s->n;

		if (!(s->flags & PF_X))
			continue;
		dw_vec_each(f, &v->functions) {
			if (f->start < at || f->end > end)
				continue;
			if (!rc)
				rc = add_gap_reached(v, at, f->start);
			if (!rc)
				rc = add_reached_of(v, f->start, f->end, f->clone_at);
			at = f->end;
		}
		if (!rc)
			rc = add_gap_reached(v, at, end);
	}
	return rc;
}

static int find_reached(struct dw_verify *v)
{
	int rc = add_code_reached(v);

	for (size_t i = 0; i < v->pointers.n && !rc; i++)
		rc = add_reached(v, v->pointers.v[i].to);
	if (v->reached.n)
		qsort(v->reached.v, v->reached.n, sizeof *v->reached.v, dw_verify_by_svma);
	return rc;
}

static bool is_reached(const struct dw_verify *v, uint64_t start, uint64_t end)
{
	size_t i = dw_sorted_count(v->reached.v, v->reached.n, e, *e < start);

	return i < v->reached.n && v->reached.v[i] < end;
}

static struct dw_clone_patch patch_at(const struct dw_verify *v, uint32_t i)
{
	struct dw_clone_patch p;

	memcpy(&p, v->area + v->h.patches.at + i * sizeof p, sizeof p);
	return p;
}

static uint32_t patch_bytes(const struct dw_clone_patch *p)
{
	return p->kind == DWELL_PATCH_HOP ? HOP_BYTES : JUMP_BYTES;
}

/* The index of the patch at module offset @at, or of the first one behind it. */
static uint32_t find_patch(const struct dw_verify *v, uint32_t at)
{
	uint32_t lo = 0, hi = v->h.patches.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (patch_at(v, mid).at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct dw_verify_function *function_of(const struct dw_verify *v, uint32_t index)
{
	size_t i = dw_sorted_count(v->functions.v, v->functions.n, f, f->index < index);

	return i < v->functions.n && v->functions.v[i].index == index ? &v->functions.v[i] : NULL;
}

/* Whether @svma is where the entry of @f may be patched: its start, or behind its endbr64. */
static bool is_entry(const struct dw_verify *v, const struct dw_verify_function *f, uint64_t svma)
{
	static const uint8_t endbr64[ENDBR_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t left;
	const uint8_t *bytes = dw_verify_bytes(v, f->start, &left);

	if (svma == f->start)
		return true;
	return svma == f->start + ENDBR_BYTES && bytes && left > ENDBR_BYTES &&
	       !memcmp(bytes, endbr64, sizeof endbr64);
}

/* Whether a hop of the same function leads to @p. */
static bool is_hopped_to(const struct dw_verify *v, const struct dw_clone_patch *p, uint32_t i)
{
	for (int32_t step = -1; step <= 1; step += 2)
		for (uint32_t k = i + (uint32_t)step; k < v->h.patches.n; k += (uint32_t)step) {
			struct dw_clone_patch hop = patch_at(v, k);

			if (hop.at - p->at + 256 > 512)
				break;
			if (hop.kind == DWELL_PATCH_HOP && hop.function == p->function &&
			    hop.at + HOP_BYTES + (uint32_t)(int32_t)(int8_t)hop.target == p->at)
				return true;
		}
	return false;
}

/* Whether [@start, @end) is no function's. */
static bool is_padding(const struct dw_verify *v, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end; at++) {
		size_t left;

		if (dw_verify_function_at(v, at) || !dw_verify_bytes(v, at, &left))
			return false;
	}
	return true;
}

/* The return that the patch at module offset @at serves. */
static bool find_return(const struct dw_verify *v, uint32_t at, struct dw_clone_return *ret)
{
	for (uint32_t i = 0; i < v->h.returns.n; i++) {
		memcpy(ret, v->area + v->h.returns.at + i * sizeof *ret, sizeof *ret);
		if (ret->at == at)
			return true;
	}
	return false;
}

/* What is wrong with where @p leads; NULL = nothing. */
static const char *check_target(const struct dw_verify *v, const struct dw_verify_function *f,
				const struct dw_clone_patch *p, uint32_t i)
{
	uint64_t svma = v->start + p->at;
	struct dw_clone_return back;

	if (p->kind == DWELL_PATCH_HOP) {
		uint32_t to = p->at + HOP_BYTES + (uint32_t)(int32_t)(int8_t)p->target;
		uint32_t k = find_patch(v, to);

		return is_entry(v, f, svma) && k < v->h.patches.n && patch_at(v, k).at == to &&
				       patch_at(v, k).kind == DWELL_PATCH_JUMP &&
				       patch_at(v, k).function == p->function
			       ? NULL
			       : "a hop to no jump";
	}
	if (find_return(v, p->at, &back))
		return back.clone_at == p->target /* the code of the call knows where that is */
			       ? NULL
			       : "a return to another place";
	if (!is_entry(v, f, svma) &&
	    !(is_hopped_to(v, p, i) && is_padding(v, svma, svma + JUMP_BYTES)))
		return "a patch at no entry";
	return p->target == f->clone_at ? NULL : "a patch to another clone";
}

/* What is wrong with the room of @p; NULL = nothing. */
static const char *check_room(const struct dw_verify *v, const struct dw_verify_function *f,
			      const struct dw_clone_patch *p)
{
	uint64_t svma = v->start + p->at, end = svma + patch_bytes(p);

	if (is_reached(v, svma + 1, end))
		return "something leads into a patch";
	if (svma < f->end && end > f->end && !is_padding(v, f->end, end))
		return "a patch reaches into other code";
	return NULL;
}

static void check_patch(struct dw_verify *v, uint32_t i)
{
	struct dw_clone_patch p = patch_at(v, i);
	const struct dw_verify_function *f = function_of(v, p.function);
	const char *wrong = NULL;
	size_t left;
	const uint8_t *bytes = dw_verify_bytes(v, v->start + p.at, &left);

	if (p.kind > DWELL_PATCH_HOP || !f || !f->clone_at || p.unused[0] || p.unused[1])
		wrong = "a patch of no clone";
	else if (!bytes || left < patch_bytes(&p) || memcmp(bytes, p.old, patch_bytes(&p)))
		wrong = "a patch of other bytes";
	else if (i + 1 < v->h.patches.n && patch_at(v, i + 1).at < p.at + patch_bytes(&p))
		wrong = "patches overlap";
	if (!wrong)
		wrong = check_target(v, f, &p, i);
	if (!wrong)
		wrong = check_room(v, f, &p);
	if (wrong)
		dw_verify_find(v, v->start + p.at, p.target, "%s", wrong);
}

static bool is_patched(const struct dw_verify *v, uint32_t start, uint32_t end)
{
	uint32_t i = find_patch(v, start > JUMP_BYTES ? start - JUMP_BYTES : 0);

	for (; i < v->h.patches.n; i++) {
		struct dw_clone_patch p = patch_at(v, i);

		if (p.at >= end)
			break;
		if (p.at + patch_bytes(&p) > start)
			return true;
	}
	return false;
}

/* Clones of whole functions are entered by a patch at their start; those without room for one are
 * entered by calls only, and must not be probed. */
static void check_entries(struct dw_verify *v)
{
	dw_vec_each(f, &v->functions) {
		uint32_t at = (uint32_t)(f->start - v->start);
		bool is_whole = f->clone_at && !(f->flags & DWELL_CLONE_COLD);
		bool is_redirected = f->flags & DWELL_CLONE_REDIRECTED;

		if (is_redirected ? !is_whole || !is_patched(v, at, at + ENDBR_BYTES + HOP_BYTES)
				  : is_whole && f->flags & DWELL_CLONE_PROBED)
			dw_verify_find(v, f->start, f->clone_at, "an entry is not redirected");
	}
}

/* Calls that keep their return address are still there: the bytes in front of the return. */
static void check_returns(struct dw_verify *v)
{
	for (uint32_t i = 0; i < v->h.returns.n; i++) {
		struct dw_clone_return back;
		uint32_t k;

		memcpy(&back, v->area + v->h.returns.at + i * sizeof back, sizeof back);
		k = find_patch(v, back.at);
		if (k == v->h.patches.n || patch_at(v, k).at != back.at ||
		    is_patched(v, back.at - 1, back.at))
			dw_verify_find(v, v->start + back.at, back.clone_at,
				       "a kept return has no way back");
	}
}

int dw_verify_patches(struct dw_verify *v)
{
	int rc = v->reached.n ? 0 : find_reached(v); /* the same wherever the area is */

	if (rc)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->h.patches.n; i++)
		check_patch(v, i);
	check_entries(v);
	check_returns(v);
	return 0;
}
