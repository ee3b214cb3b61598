/*
 * Finding the real functions once each, by name; see reals.h. What several threads find at the
 * same time is the same.
 */
#include "agent/probe/reals.h"

#include "agent/core/agent.h"
#include "agent/probe/state.h"

#define DW_REAL_NAME(name) #name,
static const char *const names[] = {DWELL_REALS(DW_REAL_NAME)};

void *dw_real_of(enum dw_real id)
{
	void *real = __atomic_load_n(&dw_probe.reals[id], __ATOMIC_RELAXED);

	if (!real) {
		real = dw_real(names[id]);
		__atomic_store_n(&dw_probe.reals[id], real, __ATOMIC_RELAXED);
	}
	return real;
}
