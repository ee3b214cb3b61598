/* Deltas of a reading; see deltas.h. */
#include "collect/region/deltas.h"

#include <string.h>

enum { DELTAS_MAX = 1 << 18 }; /* in memory, where somebody takes them */

int dw_deltas_give(struct dw_profile *p, uint32_t id, const struct dw_call_values *values,
		   const struct dw_region_reading *now)
{
	static const struct dw_call_values nothing;
	__auto_type deltas = &p->calls.deltas;

	if (!memcmp(values, &nothing, sizeof nothing))
		return 0;
	if (now->full && deltas->n >= DELTAS_MAX)
		now->full(now->ctx);
	return dw_vec_push(deltas, ((struct dw_call_delta){now->slice, id, *values}));
}
