/* Facts of a recording of calls; see call-facts.h. */
#include "record/call-facts.h"

static const char *const sources[] = {
	[DWELL_OS_NONE] = "none", [DWELL_OS_PERF] = "perf", [DWELL_OS_RSEQ] = "rseq"};

void dw_call_sums_add(struct dw_call_sums *s, const struct dw_region_head *head,
		      const struct dw_region_calls_stats *calls)
{
	struct dw_region_calls_stats *sum = &s->calls;

	dw_call_values_add(&sum->sum, &calls->sum);
	sum->lifetime_ns += calls->lifetime_ns;
	sum->uncovered_ns += calls->uncovered_ns;
	sum->slow_ns += calls->slow_ns;
	sum->nodes += calls->nodes;
	sum->overflow_nodes += calls->overflow_nodes;
	sum->depth_lost += calls->depth_lost;
	sum->broken += calls->broken;
	sum->lookups += calls->lookups;
	sum->repairs += calls->repairs;
	sum->stacks += calls->stacks;
	if (sum->arena_bytes < calls->arena_bytes)
		sum->arena_bytes = calls->arena_bytes;
	s->agent_start_ns += head->agent_start_ns;
	for (int i = 0; i < DWELL_OS_SOURCES; i++)
		s->threads[i] += head->os_sources[i];
	s->without_calls += calls->nodes && !head->system_calls_seen;
}

/* The source that most threads had. */
static const char *main_source(const struct dw_call_sums *s)
{
	int most = DWELL_OS_NONE;

	for (int i = 0; i < DWELL_OS_SOURCES; i++)
		if (s->threads[i] > s->threads[most])
			most = i;
	return sources[most];
}

int dw_note_calls(struct dw_facts *facts, const struct dw_call_sums *s, bool has_cpu)
{
	const struct dw_region_calls_stats *c = &s->calls;
	const struct dw_call_values *v = &c->sum;
	uint64_t explained = v->application_ns + v->overhead_ns + v->os_cpu_ns;
	int64_t cpu =
		dw_facts_get(facts, "user_cpu_ns", 0) + dw_facts_get(facts, "kernel_cpu_ns", 0);
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"os_threads_none", s->threads[DWELL_OS_NONE]},
		{"os_threads_perf", s->threads[DWELL_OS_PERF]},
		{"os_threads_rseq", s->threads[DWELL_OS_RSEQ]},
		{"system_calls_unseen", s->without_calls},
		{"agent_start_ns", s->agent_start_ns},
		{"call_nodes", c->nodes},
		{"call_nodes_broken", c->broken},
		{"call_nodes_overflow", c->overflow_nodes},
		{"calls_without_node", c->depth_lost},
		{"tree_bytes_max", c->arena_bytes},
		{"slow_path_lookups", c->lookups},
		{"slow_path_repairs", c->repairs},
		{"stacks_seen", c->stacks},
		{"slow_path_ns", c->slow_ns},
		{"uncovered_overhead_ns", c->uncovered_ns},
		{"threads_lifetime_ns", c->lifetime_ns},
		{"residual_elapsed_ns", c->lifetime_ns - v->elapsed_ns - v->overhead_ns},
		{"residual_cpu_ns", (uint64_t)cpu - explained},
	};
	size_t n = sizeof rows / sizeof *rows - !has_cpu;
	int rc = dw_facts_set_text(facts, "os_source", main_source(s));

	for (size_t i = 0; i < n && !rc; i++)
		rc = dw_facts_set(facts, rows[i].key, (int64_t)rows[i].value);
	return rc;
}
