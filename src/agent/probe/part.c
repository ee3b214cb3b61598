/*
 * The probing agent's own part: what happens at the start of a program, in a fork's child and at
 * the end.
 */
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/os-events.h"
#include "agent/probe/calibrate.h"
#include "agent/probe/count.h"
#include "agent/probe/counted.h"
#include "agent/probe/keys.h"
#include "agent/probe/modules.h"
#include "agent/probe/mute.h"
#include "agent/probe/probe.h"
#include "agent/probe/state.h"
#include "agent/probe/timing.h"

static void start(const char *mode)
{
	dw_timing_start(mode);
	dw_probe.is_calibrated = dw_calibrate_from(mode);
	dw_modules_start();
}

static void forked(void)
{
	dw_count_forked();
	dw_counted_forked();
	dw_mute_forked();
	dw_timing_forked();
}

const struct dw_agent_part dw_agent_part = {.start = start,
					    .forked = forked,
					    .end = dw_timing_end,
					    .running = dw_clone_of,
					    .module_of = dw_module_of_key};
