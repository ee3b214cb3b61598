/*
 * The life of an agent that the program itself loads, when it runs already: what start.c is to
 * those that the loader starts. It has no struct dw_agent_part.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Make the region in the session's @folder (borrowed), if a collector lives there and the program
 * runs under no more than @filters system-call filters. False: nothing was done.
 */
bool dw_late_start(const char *folder, uint64_t filters);

/* The agent measures from now on. Its start began at @begin_ns. */
void dw_late_started(uint64_t begin_ns);

/* The program ends. */
void dw_late_end(void);
