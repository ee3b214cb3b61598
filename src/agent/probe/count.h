/*
 * The way out of the count gate.
 */
#pragma once

#include <stdint.h>

/*
 * Count a call of function @function of the area that starts at @area, whose table of counts is not
 * there: the first call of the module in this process. Gates call it with all registers saved.
 * [async-signal-safe] [any-thread]
 */
void dw_count_slow(uint64_t area, uint32_t function);

/* Let the gates of all areas find their tables again, in a fork's child that has a region. */
void dw_count_forked(void);
