/* Facts of totals; see total-facts.h. */
#include "session/total-facts.h"

#include "session/fact-table.h"

#include <stddef.h>

int dw_total_facts_write(struct dw_database *db, const struct dw_profile *p,
			 const struct dw_totals *totals, const struct dw_row_shares *least,
			 struct dw_error *err)
{
	const uint64_t *all = totals->all;
	bool has_waits = dw_totals_has_waits(totals);
	const struct dw_fact_number of_samples[] = {
		{"samples_kept", all[DWELL_MEASURE_SAMPLES]},
		{"stacks_cut", totals->stacks_cut},
		{"calltree_inclusive_samples_min", least->node},
		{"sql_rows_samples_min", least->row},
		{has_waits ? "inclusive_blocked_time" : NULL, all[DWELL_MEASURE_BLOCKED]},
		{0},
	};
	const struct dw_fact_number of_calls[] = {
		{"number_of_calls", all[DWELL_MEASURE_CALLS]},
		{"elapsed_inclusive_time", all[DWELL_MEASURE_ELAPSED]},
		{"application_inclusive_time", all[DWELL_MEASURE_APPLICATION]},
		{"inclusive_blocked_time", all[DWELL_MEASURE_BLOCKED]},
		{"time_inclusive_probe_overhead", all[DWELL_MEASURE_OVERHEAD]},
		{"calltree_elapsed_ns_min", least->node},
		{"sql_rows_elapsed_ns_min", least->row},
		{0},
	};
	const struct dw_fact_number of_allocs[] = {
		{"inclusive_allocations", all[DWELL_MEASURE_OBJECTS]},
		{"inclusive_bytes", all[DWELL_MEASURE_BYTES]},
		{"stacks_cut", totals->stacks_cut},
		{"calltree_inclusive_bytes_min", least->node},
		{"sql_rows_bytes_min", least->row},
		{0},
	};

	switch (dw_profile_method(p)) {
	case DWELL_METHOD_INSTRUMENTATION:
		return dw_fact_table_write(db, &p->facts, of_calls, err);
	case DWELL_METHOD_MEMORY:
		return dw_fact_table_write(db, &p->facts, of_allocs, err);
	default:
		return dw_fact_table_write(db, &p->facts, of_samples, err);
	}
}
