/* Call nodes and their values; see calls.h. */
#include "model/calls.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int dw_call_store_extend(struct dw_call_store *s, size_t n)
{
	size_t more = n > s->plain.n ? n - s->plain.n : 0;

	if (!more)
		return 0;
	if (dw_vec_reserve(&s->plain, more) || dw_vec_reserve(&s->system_of, more))
		return -ENOMEM;
	memset(s->plain.v + s->plain.n, 0, more * sizeof *s->plain.v);
	memset(s->system_of.v + s->plain.n, 0, more * sizeof *s->system_of.v);
	s->plain.n = s->system_of.n = n;
	return 0;
}

static bool has_system(const struct dw_call_values *v)
{
	return v->application_ns != v->elapsed_ns || v->delimited_ns != v->elapsed_ns ||
	       v->blocked_ns || v->os_cpu_ns || v->switches || v->io_calls || v->blocking_calls;
}

int dw_call_store_add(struct dw_call_store *s, size_t row, const struct dw_call_values *more)
{
	struct dw_call_plain *p = &s->plain.v[row];
	uint32_t *system = &s->system_of.v[row];

	if (!*system && !has_system(more)) {
		p->calls += more->calls;
		p->elapsed_ns += more->elapsed_ns;
		p->overhead_ns += more->overhead_ns;
		return 0;
	}
	if (!*system) {
		if (dw_vec_push(&s->system, dw_call_store_get(s, row)))
			return -ENOMEM;
		*system = (uint32_t)s->system.n;
	}
	dw_call_values_add(&s->system.v[*system - 1], more);
	return 0;
}

int dw_calls_add(struct dw_calls *t, const struct dw_call_node *node, uint32_t *ret)
{
	if (dw_calls_count(t) >= UINT32_MAX - 1 || dw_vec_push(&t->nodes, *node))
		return -ENOMEM;
	*ret = dw_calls_count(t);
	return 0;
}

const struct dw_call_node *dw_calls_get(const struct dw_calls *t, uint32_t id)
{
	size_t i = (size_t)id - 1 - t->nodes_written;

	return i < t->nodes.n ? &t->nodes.v[i] : NULL;
}

void dw_calls_forget(struct dw_calls *t)
{
	t->nodes_written = dw_calls_count(t);
	t->nodes.n = 0;
}

/* The end of a slice that is nearest to @at_ns, among 0 and all ends. */
static uint64_t snap(const struct dw_calls *t, uint64_t at_ns)
{
	uint64_t best = 0;

	dw_vec_each(slice, &t->slices) {
		uint64_t a = slice->end_ns > at_ns ? slice->end_ns - at_ns : at_ns - slice->end_ns;
		uint64_t b = best > at_ns ? best - at_ns : at_ns - best;

		if (a < b)
			best = slice->end_ns;
	}
	return best;
}

void dw_calls_select(const struct dw_calls *t, uint64_t from_ns, uint64_t to_ns, uint8_t *selected,
		     struct dw_range_ns *range)
{
	uint64_t from = snap(t, from_ns), to = snap(t, to_ns ? to_ns : UINT64_MAX), begin = 0;

	*range = (struct dw_range_ns)DWELL_RANGE_NONE;
	for (size_t i = 0; i < t->slices.n; begin = t->slices.v[i++].end_ns) {
		uint64_t end = t->slices.v[i].end_ns;

		selected[i] =
			from < to ? begin >= from && end <= to : begin <= from_ns && end > from_ns;
		if (selected[i])
			dw_range_widen(range, &(struct dw_range_ns){begin, end});
	}
}

void dw_calls_release(struct dw_calls *t)
{
	dw_vec_release(&t->nodes);
	dw_vec_release(&t->slices);
	dw_vec_release(&t->deltas);
	dw_vec_release(&t->extremes);
	dw_vec_release(&t->disabled);
	dw_vec_release(&t->slow);
	dw_vec_release(&t->files);
	dw_vec_release(&t->sums.plain);
	dw_vec_release(&t->sums.system_of);
	dw_vec_release(&t->sums.system);
	dw_vec_release(&t->activity);
}
