/*
 * Functions that were switched off; see call-mutes.h. Where all calls of a function were, that says
 * more than that those of some callers were before; of equals the first counts.
 */
#include "analysis/call-mutes.h"

#include "base/map.h"

static uint64_t key(uint32_t process, uint32_t function)
{
	return (uint64_t)process << 32 | function;
}

/* Whether @more says more than @known, NULL = nothing. */
static bool says_more(const struct dw_call_mute *more, const struct dw_call_mute *known)
{
	return !known || (known->flags & DWELL_MUTE_IN_PART && !(more->flags & DWELL_MUTE_IN_PART));
}

int dw_call_mutes_add(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	__auto_type mutes = &t->profile->calls.mutes;
	struct dw_map rows = {0}; /* index of the function's row + 1 */
	uint32_t at = 0;
	int rc = 0;

	dw_vec_each(f, &ret->functions)
		rc = rc || !mutes->n ? rc : dw_map_put(&rows, key(f->process, f->function), ++at);
	dw_vec_each(m, mutes) {
		uint32_t function = dw_call_function_at(t, m->entry);
		uint32_t row = function ? dw_map_get(&rows, key(m->process, function)) : 0;
		uint32_t *mute = row ? &ret->functions.v[row - 1].mute : NULL;

		if (mute && says_more(m, *mute ? &mutes->v[*mute - 1] : NULL))
			*mute = (uint32_t)(m - mutes->v) + 1;
	}
	dw_map_release(&rows);
	return rc;
}
