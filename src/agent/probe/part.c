/*
 * The probing agent's own part: what happens at the start of a program, in a fork's child and at
 * the end.
 */
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/os-events.h"
#include "agent/probe/count.h"
#include "agent/probe/modules.h"
#include "agent/probe/probe.h"

static void start(const char *mode)
{
	if (dw_text_after(mode, "time"))
		dw_os_start(dw_text_option(mode, "os-source"));
	dw_modules_start();
}

static void end(void)
{
}

const struct dw_agent_part dw_agent_part = {start, dw_count_forked, end, dw_clone_of};
