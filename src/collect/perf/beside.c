/* The table of events beside samples; see beside.h. To record one more is to add a row. */
#include "collect/perf/beside.h"

#include <linux/perf_event.h>

static const struct dw_perf_beside besides[] = {
	{DWELL_MEASURE_BLOCKED, PERF_COUNT_SW_DUMMY, false},
};

enum { BESIDES = sizeof besides / sizeof *besides };

_Static_assert((size_t)BESIDES <= DWELL_PERF_BESIDES_MAX, "a watch has room for all");

const struct dw_perf_beside *dw_perf_beside(size_t i)
{
	return i < BESIDES ? &besides[i] : NULL;
}

bool dw_perf_besides_sample(dw_measures set)
{
	bool samples = false;

	for (size_t i = 0; i < BESIDES; i++)
		samples |= besides[i].samples && dw_measures_has(set, besides[i].measure);
	return samples;
}
