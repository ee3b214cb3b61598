/* Totals; see totals.h. */
#include "model/totals.h"

void dw_totals_release(struct dw_totals *t)
{
	dw_vec_release(&t->calls);
	dw_vec_release(&t->allocs);
	dw_vec_release(&t->node_allocs);
	dw_vec_release(&t->blocked);
	dw_vec_release(&t->node_blocked);
	dw_vec_release(&t->functions);
	dw_vec_release(&t->modules);
	dw_vec_release(&t->nodes);
	dw_vec_release(&t->edges);
	dw_vec_release(&t->lines);
	dw_vec_release(&t->instructions);
	dw_vec_release(&t->processes);
	dw_vec_release(&t->threads);
	dw_vec_release(&t->slow);
	dw_vec_release(&t->ranges);
	dw_vec_release(&t->types);
	dw_vec_release(&t->gcs);
	dw_call_store_release(&t->node_inclusive);
	dw_call_store_release(&t->node_exclusive);
	dw_vec_release(&t->node_threads);
	dw_vec_release(&t->node_firsts);
	*t = (struct dw_totals){0};
}
