/* Lanes; see lanes.h. Commands are told apart by the texts that processes go by. */
#include "analysis/lanes.h"

#include "analysis/filter.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

/* Number the commands: *@lane, by process id. */
static int find_commands(struct dw_lanes *l, uint32_t *lane, uint32_t processes_n)
{
	struct dw_map known = {0}; /* string + 1 -> lane + 1 */
	int rc = 0;

	for (uint32_t id = 0; id < processes_n && !rc; id++) {
		uint64_t key = dw_process_command(l->profile, id) + 1ul;
		uint32_t at = dw_map_get(&known, key);

		if (!at) {
			at = ++l->n;
			rc = dw_map_put(&known, key, at);
		}
		lane[id] = at - 1;
	}
	dw_map_release(&known);
	return rc;
}

static int sort_commands(struct dw_lanes *l)
{
	uint32_t processes_n = dw_processes_count(&l->profile->processes) + 1;
	uint32_t *lane = calloc(processes_n, sizeof *lane);
	int rc = lane ? find_commands(l, lane, processes_n) : -ENOMEM;

	for (uint32_t id = 0; id < l->threads_n && !rc; id++)
		if (l->process[id] != UINT32_MAX)
			l->of[id] = lane[l->process[id]];
	free(lane);
	return rc;
}

static int sort_threads(struct dw_lanes *l)
{
	for (uint32_t id = 0; id < l->threads_n; id++)
		if (l->process[id] == UINT32_MAX)
			l->of[id] = UINT32_MAX;
		else if (l->by == DWELL_BY_PROCESS)
			l->of[id] = l->process[id];
		else if (l->by == DWELL_BY_THREAD)
			l->of[id] = id;
	if (l->by == DWELL_BY_COMMAND)
		return sort_commands(l);
	l->n = l->by == DWELL_BY_PROCESS  ? dw_processes_count(&l->profile->processes) + 1
	       : l->by == DWELL_BY_THREAD ? l->threads_n
					  : 1;
	return 0;
}

static int find_types(struct dw_lanes *l)
{
	const __auto_type types = &l->profile->allocations.types;
	struct dw_map known = {0}; /* name << 32 | module -> type id */
	int rc = 0;

	l->type = calloc(types->n + 1, sizeof *l->type);
	if (!l->type)
		return -ENOMEM;
	for (uint32_t id = 1; id <= types->n && !rc; id++) {
		const struct dw_alloc_type *type = &types->v[id - 1];
		uint64_t key = (uint64_t)type->name << 32 | type->module;

		l->type[id] = dw_map_get(&known, key);
		if (l->type[id])
			continue;
		l->type[id] = id;
		rc = dw_map_put(&known, key, id);
	}
	dw_map_release(&known);
	return rc;
}

int dw_lanes_init(struct dw_lanes *l, const struct dw_profile *p, const struct dw_filter *filter)
{
	*l = (struct dw_lanes){
		.profile = p, .by = filter->by, .threads_n = dw_threads_count(&p->threads) + 1};
	l->process = calloc(l->threads_n, sizeof *l->process);
	l->of = calloc(l->threads_n, sizeof *l->of);
	if (!l->process || !l->of)
		return -ENOMEM;
	dw_select_threads(p, filter, l->process);
	return sort_threads(l) || find_types(l) ? -ENOMEM : 0;
}

/* Make @process, which may be unknown, the only one of @lane, unless it has another already:
 * *@several. @is_first: it has none yet. */
static void add_process(struct dw_lane *lane, bool is_first, bool *several, uint32_t process)
{
	if (!is_first && lane->process != process)
		*several = true;
	lane->process = process;
}

int dw_lanes_put(const struct dw_lanes *l, const bool *has, struct dw_totals *ret)
{
	uint32_t processes_n = dw_processes_count(&l->profile->processes) + 1;
	bool *several = calloc(2ul * l->n + processes_n, sizeof *several), *known, *seen;

	if (!several || dw_vec_reserve(&ret->lanes, l->n)) {
		free(several);
		return -ENOMEM;
	}
	known = several + l->n;
	seen = known + l->n;
	ret->by = l->by;
	ret->lanes.n = l->n;
	for (uint32_t i = 0; i < l->n; i++)
		ret->lanes.v[i] = (struct dw_lane){0};
	for (uint32_t id = 0; id < l->threads_n; id++) {
		struct dw_lane *lane = l->of[id] < l->n ? &ret->lanes.v[l->of[id]] : NULL;

		if (!lane)
			continue;
		if (l->by == DWELL_BY_COMMAND)
			lane->command = dw_process_command(l->profile, l->process[id]);
		if (l->by == DWELL_BY_THREAD)
			lane->thread = id;
		if (!has[id] && l->by != DWELL_BY_PROCESS && l->by != DWELL_BY_THREAD)
			continue;
		add_process(lane, !known[l->of[id]], &several[l->of[id]], l->process[id]);
		known[l->of[id]] = true;
		ret->processes_seen += has[id] && !seen[l->process[id]];
		seen[l->process[id]] |= has[id];
	}
	for (uint32_t i = 0; i < l->n; i++)
		if (several[i])
			ret->lanes.v[i].process = 0;
	free(several);
	return 0;
}

void dw_lanes_release(struct dw_lanes *l)
{
	free(l->process);
	free(l->of);
	free(l->type);
	*l = (struct dw_lanes){0};
}
