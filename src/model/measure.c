/* Which measures a profile has; see measure.h. */
#include "model/measure.h"

#include "model/profile.h"

#define BIT(measure)	 ((dw_measures)1 << DWELL_MEASURE_##measure)
#define BITS(from, last) (2 * BIT(last) - BIT(from))

/* Those of allocations: of drawn objects nobody knows what became of them, and only a range of time
 * has a beginning. */
static dw_measures allocation_measures(const struct dw_profile *p)
{
	dw_measures set = BIT(OBJECTS) | BIT(BYTES);

	if (dw_facts_get(&p->facts, "sample_bytes", 0) > 0)
		return set | BIT(DRAWS);
	set |= BITS(OBJECTS_GEN0, OBJECTS_ALIVE) | BITS(BYTES_GEN0, BYTES_ALIVE);
	if (dw_allocations_ranged(&p->allocations))
		set |= BITS(OBJECTS_BEFORE, OBJECTS_MOST) | BITS(BYTES_BEFORE, BYTES_MOST);
	return set;
}

dw_measures dw_profile_measures(const struct dw_profile *p)
{
	switch (dw_profile_method(p)) {
	case DWELL_METHOD_INSTRUMENTATION:
		return BITS(CALLS, BLOCKING_CALLS) | BIT(BLOCKED);
	case DWELL_METHOD_MEMORY:
		return allocation_measures(p);
	default:
		return BIT(SAMPLES) | (dw_profile_has_waits(p) ? BIT(BLOCKED) : 0);
	}
}

enum dw_measure dw_measures_lead(dw_measures set, bool waited)
{
	if (dw_measures_has(set, DWELL_MEASURE_ELAPSED))
		return DWELL_MEASURE_ELAPSED;
	if (dw_measures_has(set, DWELL_MEASURE_BYTES))
		return DWELL_MEASURE_BYTES;
	return waited && dw_measures_has(set, DWELL_MEASURE_BLOCKED) ? DWELL_MEASURE_BLOCKED
								     : DWELL_MEASURE_SAMPLES;
}
