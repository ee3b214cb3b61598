/* Pieces of allocations; see alloc-pieces.h. One counting sort; pieces whose group is not there, as
 * only a profile made by hand has them, do not pass. */
#include "analysis/alloc-pieces.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

/* The process that objects of @g count for, UINT32_MAX = they do not. */
static uint32_t process_of(const struct dw_alloc_pieces *t, const struct dw_filter *filter,
			   const struct dw_alloc_group *g)
{
	if (filter->types && (g->type > filter->types_n || !filter->types[g->type - 1]))
		return UINT32_MAX;
	if (filter->modules && !dw_select_stack(t->profile, filter, g->stack))
		return UINT32_MAX;
	return t->process[g->thread < t->threads_n ? g->thread : 0];
}

/* The group of piece @i if its time passes; of sums, if there is anything. NULL = it does not. */
static const struct dw_alloc_group *timely_group(const struct dw_alloc_pieces *t, uint32_t i)
{
	const struct dw_allocations *a = &t->profile->allocations;
	const struct dw_alloc_delta *d;

	if (dw_allocations_summed(a)) {
		struct dw_alloc_values sum = dw_alloc_store_get(&a->sums, i);

		if (dw_allocations_ranged(a))
			sum.range = a->ranges.v[i];
		return dw_alloc_values_none(&sum) ? NULL : &a->groups.v[i];
	}
	d = &a->deltas.v[i];
	if (d->slice >= t->profile->calls.slices.n || !t->slices.passes[d->slice])
		return NULL;
	return dw_allocations_get_group(a, d->group);
}

/* In which list @g comes, UINT32_MAX = in none. Which modules are on the rest of a part's stack is
 * not known. */
static uint32_t list_of(const struct dw_alloc_pieces *t, const struct dw_filter *filter,
			const struct dw_alloc_group *g)
{
	const struct dw_profile *p = t->profile;
	uint32_t process = process_of(t, filter, g);
	unsigned part;

	if (process == UINT32_MAX)
		return process;
	part = dw_stacks_part(&p->stacks, &p->frames, g->stack);
	if (!part || part & DWELL_PART_LEAF)
		return process;
	return filter->modules ? UINT32_MAX : t->processes_n + process;
}

unsigned dw_alloc_piece_part(const struct dw_alloc_pieces *t, size_t i)
{
	return dw_stacks_part(&t->profile->stacks, &t->profile->frames,
			      dw_alloc_piece_group(t, i)->stack);
}

static int sort_rows(struct dw_alloc_pieces *t, const struct dw_filter *filter, size_t n)
{
	uint32_t *processes = malloc((n + 1) * sizeof *processes);
	size_t total = 0;

	t->rows = malloc((n + 1) * sizeof *t->rows);
	for (size_t i = 0; processes && t->rows && i < n; i++) {
		const struct dw_alloc_group *g = timely_group(t, (uint32_t)i);

		processes[i] = g ? list_of(t, filter, g) : UINT32_MAX;
		if (processes[i] != UINT32_MAX)
			t->end[processes[i]]++;
	}
	for (uint32_t id = 0; id < 2 * t->processes_n; id++) {
		size_t process_n = t->end[id];

		t->end[id] = total;
		total += process_n;
	}
	for (size_t i = 0; processes && t->rows && i < n; i++)
		if (processes[i] != UINT32_MAX)
			t->rows[t->end[processes[i]]++] = (uint32_t)i;
	free(processes);
	return processes && t->rows ? 0 : -ENOMEM;
}

int dw_alloc_pieces_init(struct dw_alloc_pieces *t, const struct dw_profile *p,
			 const struct dw_filter *filter)
{
	size_t n = dw_allocations_summed(&p->allocations) ? p->allocations.groups.n
							  : p->allocations.deltas.n;

	*t = (struct dw_alloc_pieces){.profile = p};
	if (n > UINT32_MAX)
		return DWELL_ERR_LIMIT;
	t->threads_n = dw_threads_count(&p->threads) + 1;
	t->processes_n = dw_processes_count(&p->processes) + 1;
	t->process = calloc(t->threads_n, sizeof *t->process);
	t->end = calloc(2 * (size_t)t->processes_n, sizeof *t->end);
	if (!t->process || !t->end || dw_slices_init(&t->slices, &p->calls, filter))
		return -ENOMEM;
	dw_select_threads(p, filter, t->process);
	return sort_rows(t, filter, n);
}

void dw_alloc_pieces_release(struct dw_alloc_pieces *t)
{
	dw_slices_release(&t->slices);
	free(t->process);
	free(t->rows);
	free(t->end);
	*t = (struct dw_alloc_pieces){0};
}
