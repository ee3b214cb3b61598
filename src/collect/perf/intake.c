/* Bytes to records; see intake.h. */
#include "collect/perf/intake.h"

#include "base/error.h"
#include "collect/perf/records.h"

int dw_intake_record(struct dw_intake *in, const void *p, size_t n, bool side)
{
	struct dw_perf_record r;
	int rc = dw_perf_record_decode(p, n, in->has_chains, &r);

	if (!rc)
		return dw_intake_take(in, &r, side);
	in->malformed += rc == DWELL_ERR_FORMAT;
	return 0;
}

void dw_intake_ahead(struct dw_intake *in, const void *p, size_t n)
{
	struct dw_perf_record r;

	if (!dw_perf_record_decode(p, n, in->has_chains, &r) && r.type == PERF_RECORD_SAMPLE)
		dw_sampler_ahead(&in->sampler, &r);
}
