/*
 * What probes cost, measured in a loop: once in each process, before they count anything.
 */
#pragma once

#include "agent/probe/probe.h"

/*
 * Let the gates of @area, which measure time, run some thousand times on a thread's line and nodes
 * of their own, and tell the region what they cost (dw_region_header.probe_cost and what follows).
 * Takes some 3 milliseconds. Inside dw_agent_enter(), when no other thread is in the area.
 */
void dw_calibrate(const struct dw_area *area);
