/* Waits under a filter; see waits.h. One counting sort, as samples are sorted in totals.c. */
#include "analysis/waits.h"

#include "analysis/selection.h"

#include <errno.h>
#include <stdlib.h>

uint64_t dw_wait_passing(const struct dw_profile *p, const struct dw_filter *filter,
			 const uint32_t *process, const struct dw_wait *w)
{
	if (w->thread > dw_threads_count(&p->threads) || process[w->thread] == UINT32_MAX ||
	    (filter->modules && !dw_select_stack(p, filter, w->stack)))
		return 0;
	return dw_wait_within(w, filter->from_ns, filter->to_ns);
}

static int sort(struct dw_chosen_waits *w, const struct dw_profile *p,
		const struct dw_filter *filter, const uint32_t *process)
{
	size_t total = 0;

	dw_vec_each(row, &p->waits.rows)
		if (dw_wait_passing(p, filter, process, row))
			w->end[process[row->thread]]++;
	for (uint32_t id = 0; id <= dw_processes_count(&p->processes); id++) {
		size_t n = w->end[id];

		w->end[id] = total;
		total += n;
	}
	w->v = malloc((total ? total : 1) * sizeof *w->v);
	if (!w->v)
		return -ENOMEM;
	dw_vec_each(row, &p->waits.rows) {
		uint64_t ns = dw_wait_passing(p, filter, process, row);
		uint32_t of = process[row->thread];

		if (!ns)
			continue;
		w->v[w->end[of]++] = (struct dw_chosen_wait){row->stack, ns};
		w->by_thread[row->thread] += ns;
		w->by_process[of] += ns;
		w->ns += ns;
	}
	return 0;
}

int dw_waits_choose(struct dw_chosen_waits *w, const struct dw_profile *p,
		    const struct dw_filter *filter, const uint32_t *process)
{
	uint32_t processes = dw_processes_count(&p->processes) + 1;

	*w = (struct dw_chosen_waits){0};
	w->end = calloc(processes, sizeof *w->end);
	w->by_process = calloc(processes, sizeof *w->by_process);
	w->by_thread = calloc((size_t)dw_threads_count(&p->threads) + 1, sizeof *w->by_thread);
	return w->end && w->by_process && w->by_thread ? sort(w, p, filter, process) : -ENOMEM;
}

void dw_chosen_waits_release(struct dw_chosen_waits *w)
{
	free(w->v);
	free(w->end);
	free(w->by_thread);
	free(w->by_process);
	*w = (struct dw_chosen_waits){0};
}
