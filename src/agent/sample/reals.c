/* Finding the real functions once each, by name; see reals.h. What several threads find at the same
 * time is the same. */
#include "agent/sample/reals.h"

#include "agent/core/agent.h"

#define DW_SAMPLE_REAL_NAME(name) #name,
static const char *const names[] = {DWELL_SAMPLE_REALS(DW_SAMPLE_REAL_NAME)};
static void *reals[DWELL_SAMPLE_REALS_N];

void *dw_sample_real_of(enum dw_sample_real id)
{
	void *real = __atomic_load_n(&reals[id], __ATOMIC_RELAXED);

	if (!real) {
		real = dw_real(names[id]);
		__atomic_store_n(&reals[id], real, __ATOMIC_RELAXED);
	}
	return real;
}
