/* Facts of totals; see total-facts.h. */
#include "session/total-facts.h"

#include "session/fact-table.h"

#include <stddef.h>

int dw_total_facts_write(struct dw_database *db, const struct dw_profile *p,
			 const struct dw_totals *totals, const struct dw_row_shares *least,
			 struct dw_error *err)
{
	const struct dw_call_values *all = &totals->all.inclusive;
	const struct dw_fact_number of_samples[] = {
		{"samples_kept", totals->samples},
		{"stacks_cut", totals->stacks_cut},
		{"calltree_inclusive_samples_min", least->node},
		{"sql_rows_samples_min", least->row},
		{totals->has_blocked ? "inclusive_blocked_time" : NULL, totals->blocked_ns},
		{0},
	};
	const struct dw_fact_number of_calls[] = {
		{"number_of_calls", all->calls},
		{"elapsed_inclusive_time", all->elapsed_ns},
		{"application_inclusive_time", all->application_ns},
		{"inclusive_blocked_time", all->blocked_ns},
		{"time_inclusive_probe_overhead", all->overhead_ns},
		{"calltree_elapsed_ns_min", least->node},
		{"sql_rows_elapsed_ns_min", least->row},
		{0},
	};
	const struct dw_fact_number of_allocs[] = {
		{"inclusive_allocations", totals->all_allocs.allocated.objects},
		{"inclusive_bytes", totals->all_allocs.allocated.bytes},
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
