/*
 * The probing agent's own part: what happens at the start of a program, in a fork's child and at
 * the end.
 */
#include "agent/core/agent.h"

static void start(const char *mode)
{
	(void)mode;
}

static void forked(void)
{
}

static void end(void)
{
}

const struct dw_agent_part dw_agent_part = {start, forked, end};
