/* How far times of calls can be trusted; see call-bounds.h. */
#include "view/call-bounds.h"

#include <stdlib.h>
#include <string.h>

/* What loops said of its probes, which is two readings of the clock, and what samples made of that.
 */
double dw_call_uncertainty(const struct dw_profile *p)
{
	const struct dw_facts *f = &p->facts;
	double function = (double)dw_facts_get(f, "probes_function_ps", 0) / 1e3;
	double outside = (double)dw_facts_get(f, "probes_outside_ps", 0) / 1e3;
	double looped = (double)dw_facts_get(f, "probes_looped_ns", 0);
	double found = (double)dw_facts_get(f, "probes_found_ns", 0);
	double cost = function > outside ? function : outside, in_loops = cost;

	if (looped > 0 && found > 0)
		in_loops = cost * looped / found;
	return in_loops > cost ? 2 * in_loops - cost : cost;
}

uint64_t dw_call_at_most(double uncertain_ns, const struct dw_measured *m)
{
	double n = (double)dw_measured_get(m, DWELL_MEASURE_MEASURED, false);
	double own = (double)dw_measured_get(m, DWELL_MEASURE_APPLICATION, true);

	return !m->is_site && own < n * uncertain_ns ? (uint64_t)(own + n * uncertain_ns) : 0;
}

bool dw_call_is_upper_bound(const struct dw_profile *p, uint32_t process)
{
	const char *source = dw_facts_get_text(&p->facts, "os_source");
	const char *at = dw_facts_get_text(&p->facts, "switches_unseen_in");
	bool is_all = source && !strcmp(source, "none"), is_listed = false;

	for (char *end; at && *at && process && !is_listed; at = *end ? end + 1 : end)
		is_listed = strtoul(at, &end, 10) == process;
	return is_all || is_listed;
}
