/*
 * Counts of calls: one table for each module, in the region, made when its first call comes.
 *
 * The gates read the table's address in a page that is wiped on fork, so a child, however it was
 * made, comes here first; one that shares memory with its parent counts in the parent's table, if
 * that is there. Without room in the region the counts go to memory of nobody, so that the
 * gates do not come here for ever.
 */
#include "agent/probe/count.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/probe/state.h"

static uint64_t **counts_word(const struct dw_area *a)
{
	return (uint64_t **)(a->area + a->header->wiped_at) + DWELL_WIPED_COUNTS;
}

/* Make the table of @a: of the region, else private. NULL = no memory at all. */
static uint64_t *make_table(const struct dw_area *a)
{
	struct dw_region_module *m = &dw_agent_region()->modules[a->region_module];
	size_t bytes = a->header->functions.n * sizeof(uint64_t);
	uint64_t at;
	uint64_t *table = dw_agent_chunk(DWELL_CHUNK_COUNTS, a->region_module, bytes, &at);

	if (table) {
		m->counts_n = a->header->functions.n;
		__atomic_store_n(&m->counts, at, __ATOMIC_RELEASE);
		return table;
	}
	dw_agent_drop(DWELL_DROP_COUNTS);
	return dw_agent_memory(bytes);
}

void dw_count_slow(uint64_t area, uint32_t function)
{
	struct dw_area *a = dw_area_at(area);
	uint64_t **word = a ? counts_word(a) : NULL;

	dw_agent_after_fork();
	if (!a || !dw_agent_is_self() || !dw_agent_enter()) {
		dw_agent_drop(DWELL_DROP_COUNTS);
		return;
	}
	if (!a->counts)
		a->counts = make_table(a);
	if (a->counts)
		__atomic_store_n(word, a->counts, __ATOMIC_RELEASE);
	dw_agent_leave();
	if (a->counts && function < a->header->functions.n)
		__atomic_fetch_add(&a->counts[function], 1, __ATOMIC_RELAXED);
	else
		dw_agent_drop(DWELL_DROP_COUNTS);
}

void dw_count_forked(void)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (!dw_probe.areas[i].is_closed && dw_probe.areas[i].counts)
			__atomic_store_n(counts_word(&dw_probe.areas[i]), dw_probe.areas[i].counts,
					 __ATOMIC_RELEASE);
}
