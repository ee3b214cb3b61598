/*
 * An agent of the core alone, for tests: it counts events that the program reports.
 *
 * Mode "count" takes a chunk for the counter at the start; "ask" also asks for an image of module 0
 * and counts whether one came; "late" takes its chunk at the first event, "late-ask" asks then.
 */
#include "agent/core/agent.h"
#include "agent/core/bytes.h"

#define DWELL_EXPORTED __attribute__((visibility("default")))

/* Report one event. False when it was not counted. */
bool dwell_test_event(void);
/* What the program would get for @name without the agent. */
void *dwell_test_real(const char *name);

static uint64_t *counts;
static bool asks_late;

static void take_chunk(void)
{
	uint64_t at;

	counts = dw_agent_chunk(DWELL_REGION_CHUNK_COUNTS, 0, 2 * sizeof(*counts), &at);
}

static void ask(void)
{
	struct dw_region_module *module = &dw_agent_region()->modules[0];
	const char *path;

	module->is_main = 1;
	dw_text_append(module->path, sizeof(module->path), "/proc/self/exe");
	dw_agent_ask(0, 1);
	if (dw_agent_answer(0, &path) && counts)
		counts[1] += dw_text_length_max(path, DWELL_REGION_PATH);
}

static void start(const char *mode)
{
	asks_late = dw_text_equal(mode, "late-ask");
	if (!dw_text_after(mode, "late"))
		take_chunk();
	if (dw_text_equal(mode, "ask"))
		ask();
}

static void forked(void)
{
}

static void end(void)
{
}

const struct dw_agent_part dw_agent_part = {start, forked, end};

DWELL_EXPORTED bool dwell_test_event(void)
{
	dw_agent_after_fork();
	if (dw_agent_is_on() && !counts && dw_agent_enter()) {
		if (!counts)
			take_chunk();
		if (asks_late)
			ask();
		dw_agent_leave();
	}
	if (!dw_agent_is_on() || !counts || !dw_agent_is_self())
		return false;
	__atomic_fetch_add(counts, 1, __ATOMIC_RELAXED);
	return true;
}

DWELL_EXPORTED void *dwell_test_real(const char *name)
{
	return dw_real(name);
}
