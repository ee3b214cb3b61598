/* Totals; see totals.h. */
#include "model/totals.h"

void dw_totals_init(struct dw_totals *t, dw_measures set, uint64_t sample_ns)
{
	dw_amounts_init(&t->amounts, set, sample_ns);
	dw_amounts_init(&t->node_amounts, set, sample_ns);
	t->main = dw_measures_has(set, DWELL_MEASURE_SAMPLES) ? DWELL_MEASURE_SAMPLES
							      : dw_measures_lead(set);
}

static const struct dw_extreme_values *extremes_at(const struct dw_totals *t, uint32_t index)
{
	return index ? &t->extremes.v[index - 1] : NULL;
}

struct dw_measured dw_totals_function_measured(const struct dw_totals *t,
					       const struct dw_function_total *f)
{
	return (struct dw_measured){.table = &t->amounts,
				    .row = f->amounts,
				    .extremes = extremes_at(t, f->extremes),
				    .disabled_at = f->disabled_at};
}

struct dw_measured dw_totals_module_measured(const struct dw_totals *t,
					     const struct dw_module_total *m)
{
	return (struct dw_measured){
		.table = &t->amounts, .row = m->amounts, .extremes = extremes_at(t, m->extremes)};
}

struct dw_measured dw_totals_instruction_measured(const struct dw_totals *t,
						  const struct dw_instruction_total *i)
{
	return (struct dw_measured){.table = &t->amounts,
				    .row = i->amounts,
				    .is_site = dw_totals_has(t, DWELL_MEASURE_CALLS)};
}

void dw_totals_release(struct dw_totals *t)
{
	dw_amounts_release(&t->amounts);
	dw_amounts_release(&t->node_amounts);
	dw_vec_release(&t->lanes);
	dw_vec_release(&t->functions);
	dw_vec_release(&t->modules);
	dw_vec_release(&t->nodes);
	dw_vec_release(&t->edges);
	dw_vec_release(&t->lines);
	dw_vec_release(&t->instructions);
	dw_vec_release(&t->processes);
	dw_vec_release(&t->threads);
	dw_vec_release(&t->slow);
	dw_vec_release(&t->files);
	dw_vec_release(&t->extremes);
	dw_vec_release(&t->types);
	dw_vec_release(&t->gcs);
	dw_vec_release(&t->node_threads);
	dw_vec_release(&t->node_firsts);
	*t = (struct dw_totals){0};
}
