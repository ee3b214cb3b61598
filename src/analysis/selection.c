/* Filters applied; see selection.h. */
#include "analysis/selection.h"

#include <errno.h>
#include <stdlib.h>

bool dw_select_id(const uint32_t *ids, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return !ids;
}

void dw_select_threads(const struct dw_profile *p, const struct dw_filter *filter,
		       uint32_t *process)
{
	for (uint32_t id = 0; id <= dw_threads_count(&p->threads); id++) {
		const struct dw_thread *t = dw_threads_get(&p->threads, id);
		uint32_t of = t && dw_processes_get(&p->processes, t->process) ? t->process : 0;

		process[id] = dw_select_id(filter->processes, filter->processes_n, of) &&
					      dw_select_id(filter->threads, filter->threads_n, id)
				      ? of
				      : UINT32_MAX;
	}
}

bool dw_select_stack(const struct dw_profile *p, const struct dw_filter *filter, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&p->stacks, stack);
	const struct dw_frame *f = s ? dw_frames_get(&p->frames, s->frame) : NULL;

	return f && f->module < filter->modules_n && filter->modules[f->module];
}

uint64_t dw_wait_passing(const struct dw_profile *p, const struct dw_filter *filter,
			 const uint32_t *process, const struct dw_wait *w)
{
	if (w->thread > dw_threads_count(&p->threads) || process[w->thread] == UINT32_MAX ||
	    (filter->modules && !dw_select_stack(p, filter, w->stack)))
		return 0;
	return dw_wait_within(w, filter->from_ns, filter->to_ns);
}

int dw_slices_init(struct dw_slices *s, const struct dw_calls *calls,
		   const struct dw_filter *filter)
{
	struct dw_range_ns range;

	*s = (struct dw_slices){.passes = calloc(calls->slices.n + 1, 1)};
	if (!s->passes)
		return -ENOMEM;
	dw_calls_select(calls, filter->from_ns, filter->to_ns, s->passes, &range);
	if (range.max_ns && (filter->from_ns || filter->to_ns)) {
		s->from_ns = range.min_ns;
		s->to_ns = range.max_ns;
	}
	return 0;
}

void dw_slices_release(struct dw_slices *s)
{
	free(s->passes);
	*s = (struct dw_slices){0};
}
