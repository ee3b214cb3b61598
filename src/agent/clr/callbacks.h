/*
 * What the runtime calls: the class factory that it looks for in a profiler's file, and an object
 * with the callbacks of the agent that the file is. The runtime asks for both once, as it starts.
 */
#pragma once

#include "agent/clr/runtime.h"

/* The callbacks by slot: what the agent listens to, filled in by it. The rest is filled in before
 * the runtime sees them: who they are, and nothing to be done. Defined once in each agent. */
extern void *dw_clr_callbacks[DWELL_CB_SLOTS];
