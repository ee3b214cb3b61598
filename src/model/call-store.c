/* Rows of values; see call-store.h. */
#include "model/call-store.h"

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
	return v->application_ns != v->elapsed_ns || v->whole_ns != v->elapsed_ns ||
	       v->blocked_ns || v->os_cpu_ns || v->switches || v->io_calls || v->blocking_calls;
}

int dw_call_store_add(struct dw_call_store *s, size_t row, const struct dw_call_values *more)
{
	struct dw_call_plain *p = &s->plain.v[row];
	struct dw_call_system *system;

	if (!s->system_of.v[row] && has_system(more)) {
		if (dw_vec_push(&s->system, (struct dw_call_system){
						    .application_ns = p->elapsed_ns,
						    .whole_ns = p->elapsed_ns,
					    }))
			return -ENOMEM;
		s->system_of.v[row] = (uint32_t)s->system.n;
	}
	p->calls += more->calls;
	p->elapsed_ns += more->elapsed_ns;
	p->overhead_ns += more->overhead_ns;
	if (!s->system_of.v[row])
		return 0;
	system = &s->system.v[s->system_of.v[row] - 1];
	system->application_ns += more->application_ns;
	system->whole_ns += more->whole_ns;
	system->blocked_ns += more->blocked_ns;
	system->os_cpu_ns += more->os_cpu_ns;
	system->switches += more->switches;
	system->io_calls += more->io_calls;
	system->blocking_calls += more->blocking_calls;
	return 0;
}

void dw_call_store_release(struct dw_call_store *s)
{
	dw_vec_release(&s->plain);
	dw_vec_release(&s->system_of);
	dw_vec_release(&s->system);
}
