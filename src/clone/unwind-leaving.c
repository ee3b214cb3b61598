/* Rows where a probed clone leaves; see unwind-leaving.h. */
#include "clone/unwind-leaving.h"

#include "clone/emit.h"
#include "clone/statements-x86-64.h"

uint32_t dw_leaving_below(const struct dw_cfi_rules *rules)
{
	const struct dw_cfi_rule *cfa = &rules->cfa;
	uint32_t below = 0;

	if (cfa->how != DWELL_CFI_OFFSET || cfa->reg != DWELL_REG_SP)
		return 0;
	for (unsigned i = 0; i < DWELL_REG_PC; i++)
		if (i != DWELL_REG_SP && rules->r[i].how == DWELL_CFI_OFFSET &&
		    rules->r[i].offset + cfa->offset < 0)
			below |= 1u << i;
	return below;
}

void dw_leaving_start(struct dw_leaving_walk *w, const struct dw_clone_module *m,
		      const struct dw_clone_function *f, const struct dw_cfi_cie *cie,
		      const struct dw_cfi_fde *fde)
{
	w->m = m;
	w->f = f;
	w->next = dw_clone_is_measured(m, f) ? f->first : f->first + f->n;
	w->at = w->row_end = f->start;
	dw_cfi_machine_init(&w->machine, cie, fde->start, fde->program, fde->program_n);
}

/* Bring the machine to the row of @svma. False: it has none. */
static bool go_to(struct dw_leaving_walk *w, uint64_t svma)
{
	uint64_t from;

	while (w->row_end <= svma)
		if (dw_cfi_machine_next(&w->machine, &from, &w->row_end) < 0)
			return false;
	return true;
}

/* Tell of the probe of the instruction at which @w is, that moves rsp. False: it need not. */
static bool tell_moved(struct dw_leaving_walk *w, struct dw_leaving *ret)
{
	const struct dw_cfi_rule *cfa = &w->machine.rules.cfa;
	uint32_t start = w->m->places.v[w->next];

	if (w->has_moved || !(w->m->marks.v[w->next] & DWELL_MARK_LINE_BELOW) || !go_to(w, w->at) ||
	    cfa->reg != DWELL_REG_SP)
		return false;
	w->has_moved = true;
	*ret = (struct dw_leaving){
		.from = start + DWELL_LINE_DOWN_BYTES,
		.to = start + dw_line_probe_bytes(w->m->marks.v[w->next]),
		.moved = (uint32_t)cfa->offset + DWELL_RED_ZONE_BYTES,
		.back = (uint32_t)cfa->offset,
	};
	return true;
}

bool dw_leaving_next(struct dw_leaving_walk *w, struct dw_leaving *ret)
{
	uint32_t end = w->f->first + w->f->n;

	while (w->next < end) {
		uint32_t i = w->next;
		uint64_t at = w->at;

		if (tell_moved(w, ret))
			return true;
		w->next++;
		w->has_moved = false;
		w->at += w->m->insns.v[i].length;
		if (!dw_emit_leaves(w->m, w->f, i, at))
			continue;
		if (!go_to(w, at))
			return false;
		ret->moved = 0;
		ret->registers = dw_leaving_below(&w->machine.rules);
		if (!ret->registers)
			continue;
		ret->from = dw_clone_front(w->m, i);
		ret->to = w->next < end ? dw_clone_front(w->m, w->next)
					: w->f->clone_at + w->f->clone_bytes;
		return true;
	}
	return false;
}
