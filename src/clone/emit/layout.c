/*
 * The layout: where every clone, map and table stands in the area, and how far the area lies from
 * its module; see emit.h.
 *
 * Where areas go. A position-independent program has its heap behind it and libraries are packed
 * downwards, so their areas lie some 256 MB below them. A program at a fixed low address has its
 * heap behind it too, and nothing below: its area ends just below 2 GB, where absolute 32-bit
 * operands still reach. These are wishes: the agent moves what does not fit.
 */
#include "clone/emit/emit.h"

#include "base/process-setup.h"
#include "clone/plan/jumps.h"

#include <errno.h>
#include <stdlib.h>

#define GAP_BYTES ((uint64_t)256 << 20)
#define ROUND	  ((uint64_t)16 << 20)
#define TOP	  ((uint64_t)0x7ff00000)

enum { FUNCTION_ALIGNMENT = 16, WORD_BYTES = 8, MAX_AREA_BYTES = 1 << 30 };

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* Place the instructions of @f in its clone: from its start on, for the time being. */
static void measure_function(struct dw_clone_module *m, struct dw_clone_function *f)
{
	uint64_t at = f->start, pos;

	f->prefix_bytes = f->flags & DWELL_CLONE_PROBED ? DWELL_PREFIX_BYTES : 0;
	pos = f->prefix_bytes;
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		if (m->marks.v[i] & DWELL_MARK_LANDING)
			pos += DWELL_TRAMPOLINE_CALL_BYTES;
		m->places.v[i] = (uint32_t)pos;
		pos += dw_emit_length(m, f, i, at, (uint32_t)pos);
		at += m->insns.v[i].length;
	}
	f->clone_bytes = pos > MAX_AREA_BYTES ? MAX_AREA_BYTES : (uint32_t)pos;
}

static void measure_share(void *ctx, const struct dw_share *share)
{
	struct dw_clone_module *m = ctx;

	for (uint32_t i = share->first; i < share->end; i++)
		if (!m->functions.v[i].reason)
			measure_function(m, &m->functions.v[i]);
}

static void shift_share(void *ctx, const struct dw_share *share)
{
	struct dw_clone_module *m = ctx;

	for (uint32_t i = share->first; i < share->end; i++) {
		const struct dw_clone_function *f = &m->functions.v[i];

		for (uint32_t k = f->first; k < f->first + f->n; k++)
			m->places.v[k] += f->clone_at;
	}
}

static int place_functions(struct dw_clone_module *m, uint64_t *pos)
{
	dw_vec_each(i, &m->jump_loads)
		m->insns.v[m->jumps.v[*i].load].flags |= DWELL_INSN_READS_TABLE;
	m->places.v = calloc(m->insns.n + 1, sizeof *m->places.v);
	if (!m->places.v)
		return -ENOMEM;
	m->places.n = m->places.cap = m->insns.n;
	dw_large_advise(m->places.v, m->places.n * sizeof *m->places.v);
	dw_shares_run(m, measure_share, m);
	dw_vec_each(f, &m->functions) {
		if (f->reason)
			continue;
		if (!(f->start % FUNCTION_ALIGNMENT))
			*pos = round_up(*pos, FUNCTION_ALIGNMENT);
		else if (m->probes == DWELL_PROBES_TIME)
			*pos = round_up(*pos, WORD_BYTES);
		f->clone_at = (uint32_t)*pos;
		*pos += f->clone_bytes;
		if (*pos > MAX_AREA_BYTES)
			return DWELL_ERR_LIMIT;
	}
	dw_shares_run(m, shift_share, m);
	return 0;
}

static int place_tables(struct dw_clone_module *m, uint64_t *pos)
{
	dw_vec_each(f, &m->functions) {
		if (f->reason || !f->has_map)
			continue;
		f->map_at = (uint32_t)*pos;
		*pos += (f->end - f->start) * sizeof(int32_t);
		if (*pos > MAX_AREA_BYTES)
			return DWELL_ERR_LIMIT;
	}
	*pos = round_up(*pos, 8);
	dw_vec_each(t, &m->jump_tables) {
		if (dw_clone_function_of(m, m->jumps.v[t->plan].insn)->reason)
			continue;
		t->at = (uint32_t)*pos;
		*pos = round_up(*pos + (uint64_t)t->n * t->entry_bytes, 8);
		if (*pos > MAX_AREA_BYTES)
			return DWELL_ERR_LIMIT;
	}
	return 0;
}

/* The distance for an area that is certainly smaller than @bytes. */
static int choose_distance(struct dw_clone_module *m, uint64_t bytes)
{
	bytes = round_up(bytes, ROUND);
	if (bytes > MAX_AREA_BYTES || m->bytes > MAX_AREA_BYTES)
		return DWELL_ERR_LIMIT;
	if (!m->is_fixed || m->start >= TOP)
		m->distance = -(int64_t)(bytes + GAP_BYTES);
	else if (m->start + m->bytes + bytes <= TOP)
		m->distance = (int64_t)(TOP - bytes - m->start);
	else
		return DWELL_ERR_LIMIT;
	return 0;
}

int dw_clone_lay_out(struct dw_clone_module *m, struct dw_clone_layout *ret, struct dw_error *err)
{
	uint64_t pos = DWELL_AREA_PAGE;
	int rc;

	ret->code_at = (uint32_t)pos;
	ret->trampolines.probes = m->probes;
	ret->trampolines.at = (uint32_t)pos;
	pos += dw_trampolines_bytes(m->probes);
	rc = place_functions(m, &pos);
	if (!rc) {
		ret->code_bytes = (uint32_t)(round_up(pos, DWELL_AREA_PAGE) - ret->code_at);
		ret->trampolines.constants_at = ret->code_at + ret->code_bytes;
		ret->trampolines.wiped_at = ret->trampolines.constants_at + DWELL_AREA_PAGE;
		ret->tables_at = ret->trampolines.wiped_at + DWELL_AREA_PAGE;
		pos = ret->tables_at;
		rc = place_tables(m, &pos);
	}
	ret->end = (uint32_t)pos;
	/* What follows takes no more than the module and its records do. */
	if (!rc)
		rc = choose_distance(m, pos + m->bytes + 4 * (uint64_t)m->insns.n +
						128 * (uint64_t)m->functions.n);
	return rc ? dw_error_set(err, rc, "no area can hold its clones") : 0;
}

void dw_patches_link(const struct dw_clone_module *m, struct dw_patches *p)
{
	dw_vec_each(x, &p->list) {
		if (x->patch.kind == DWELL_PATCH_JUMP)
			x->patch.target = x->insn == UINT32_MAX
						  ? m->functions.v[x->patch.function].clone_at
						  : dw_emit_return_place(m, x->insn - 1);
	}
}
