/*
 * The events that `dwell sample --event` takes here, for people to read.
 */
#pragma once

/* Print them to stdout, with what stands in the way of the others. The exit code. */
int dw_event_list(void);
