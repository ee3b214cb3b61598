/*
 * What probes cost, measured in a loop before they count anything: in the first process of those
 * that execute each other. The others are told with their mode (DWELL_ENV_MODE).
 */
#pragma once

#include "agent/clones/clones.h"

/*
 * Let the trampolines of @area, which measure time, run some thousand times on a thread's line and
 * nodes of their own, and tell the region what they cost (dw_region_header.probe_cost and what
 * follows). Takes some 3 milliseconds. Inside dw_agent_enter(), when no other thread is in the
 * area.
 */
void dw_calibrate(const struct dw_area *area);

/* Tell the region the costs in @mode, DWELL_ENV_MODE's text, as an earlier process has measured
 * them. False: there are none. At the start. */
bool dw_calibrate_from(const char *mode);

/* Let the programs that this process executes have the region's costs. Inside dw_agent_enter(). */
void dw_calibrate_tell_children(void);
