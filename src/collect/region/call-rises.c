/* Rises of nodes; see call-rises.h. */
#include "collect/region/call-rises.h"

struct dw_call_rise dw_call_rises_get(const struct dw_call_rises *r, const struct dw_call_change *c)
{
	int64_t moved = (int64_t)c->moved;
	struct dw_call_rise rise = {
		.elapsed = (int64_t)c->elapsed,
		.application = (int64_t)c->elapsed,
		.whole = (int64_t)c->elapsed,
		.slow = (uint64_t)c->overhead * DWELL_OVERHEAD_TICKS,
		.calls = c->calls,
	};

	if (c->is_apart)
		rise = r->v.v[c->calls];
	rise.elapsed += moved;
	rise.application += moved;
	rise.whole += moved;
	return rise;
}

int dw_call_rises_set(struct dw_call_rises *r, struct dw_call_change *c,
		      const struct dw_call_rise *rise)
{
	if (c->is_apart) {
		r->v.v[c->calls] = *rise;
		return 0;
	}
	c->elapsed = (uint64_t)rise->elapsed;
	c->calls = rise->calls;
	c->overhead = (uint32_t)(rise->slow / DWELL_OVERHEAD_TICKS) & (UINT32_MAX >> 1);
	if (rise->application == rise->elapsed && rise->whole == rise->elapsed && !rise->blocked &&
	    !rise->os_cpu && !rise->switches && !rise->io_calls && !rise->blocking_calls)
		return 0;
	c->is_apart = 1;
	c->calls = r->v.n;
	return dw_vec_push(&r->v, *rise);
}

double dw_call_program_time(const struct dw_call_rise *rise)
{
	int64_t ticks = rise->application < rise->elapsed ? rise->application : rise->elapsed;

	return ticks > 0 ? (double)ticks : 0;
}
