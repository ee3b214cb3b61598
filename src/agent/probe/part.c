/*
 * The probing agent's own part: what happens at the start of a program, in a fork's child and at
 * the end.
 */
#include "agent/core/agent.h"
#include "agent/probe/count.h"
#include "agent/probe/modules.h"
#include "agent/probe/probe.h"

static void start(const char *mode)
{
	(void)mode; /* the images hold the probes: the agent does the same for all */
	dw_modules_start();
}

static void end(void)
{
}

const struct dw_agent_part dw_agent_part = {start, dw_count_forked, end, dw_clone_of};
