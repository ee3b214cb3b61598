/*
 * The handler of the sampler's signal.
 */
#pragma once

#include <stdbool.h>

/* Let the kernel call it. False: something else is set for the signal, or the kernel refuses.
 * Inside the constructor. */
bool dw_tick_start(void);

/* Give the signal back to the kernel's default. */
void dw_tick_end(void);
