/* Pieces of allocations; see alloc-pieces.h. One counting sort; pieces whose group is not there, as
 * only a profile made by hand has them, do not pass. */
#include "analysis/alloc-pieces.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* The process that the piece @d counts for, UINT32_MAX = it does not. */
static uint32_t process_of(const struct dw_alloc_pieces *t, const struct dw_filter *filter,
			   const struct dw_alloc_delta *d)
{
	const struct dw_profile *p = t->profile;
	const struct dw_alloc_group *g = dw_allocations_get_group(&p->allocations, d->group);

	if (!g || d->slice >= p->calls.slices.n || !t->slices.passes[d->slice])
		return UINT32_MAX;
	if (filter->types && (g->type > filter->types_n || !filter->types[g->type - 1]))
		return UINT32_MAX;
	if (filter->modules && !dw_select_stack(p, filter, g->stack))
		return UINT32_MAX;
	return t->process[g->thread < t->threads_n ? g->thread : 0];
}

static int sort_rows(struct dw_alloc_pieces *t, const struct dw_filter *filter)
{
	const __auto_type deltas = &t->profile->allocations.deltas;
	uint32_t *processes = malloc((deltas->n + 1) * sizeof *processes);
	size_t total = 0;

	t->rows = malloc((deltas->n + 1) * sizeof *t->rows);
	for (size_t i = 0; processes && t->rows && i < deltas->n; i++) {
		processes[i] = process_of(t, filter, &deltas->v[i]);
		if (processes[i] != UINT32_MAX)
			t->end[processes[i]]++;
	}
	for (uint32_t id = 0; id < t->processes_n; id++) {
		size_t n = t->end[id];

		t->end[id] = total;
		total += n;
	}
	for (size_t i = 0; processes && t->rows && i < deltas->n; i++)
		if (processes[i] != UINT32_MAX)
			t->rows[t->end[processes[i]]++] = (uint32_t)i;
	free(processes);
	return processes && t->rows ? 0 : -ENOMEM;
}

int dw_alloc_pieces_init(struct dw_alloc_pieces *t, const struct dw_profile *p,
			 const struct dw_filter *filter)
{
	*t = (struct dw_alloc_pieces){.profile = p};
	if (p->allocations.deltas.n > UINT32_MAX)
		return DWELL_ERR_LIMIT;
	t->threads_n = dw_threads_count(&p->threads) + 1;
	t->processes_n = dw_processes_count(&p->processes) + 1;
	t->process = calloc(t->threads_n, sizeof *t->process);
	t->end = calloc(t->processes_n, sizeof *t->end);
	if (!t->process || !t->end || dw_slices_init(&t->slices, &p->calls, filter))
		return -ENOMEM;
	dw_select_threads(p, filter, t->process);
	return sort_rows(t, filter);
}

void dw_alloc_pieces_release(struct dw_alloc_pieces *t)
{
	dw_slices_release(&t->slices);
	free(t->process);
	free(t->rows);
	free(t->end);
	*t = (struct dw_alloc_pieces){0};
}
