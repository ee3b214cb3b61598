/*
 * A `ret` instruction of a module, to be taken for the return address of a call from there.
 *
 * Taken where unwinding through it is exact: behind the one instruction of a function that does
 * nothing else, where the frame is the return address alone. [async-signal-safe] [any-thread]
 */
#pragma once

#include "agent/probe/probe.h"

/* The avma of a `ret` in the module of @area, 0 = none. Where no function fits, behind or in front
 * of all functions, where no unwind table says anything. */
uint64_t dw_ret_site(const struct dw_area *area);

/* The avma of a `ret` in the module without clones that holds @pc, 0 = none. */
uint64_t dw_ret_site_elsewhere(uint64_t pc);
