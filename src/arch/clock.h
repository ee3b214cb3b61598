/*
 * What a thread reads of its processor without the kernel: a clock in ticks, dw_ticks() and
 * dw_ticks_in_order(), and its own thread pointer, dw_thread_pointer(). [async-signal-safe]
 * [any-thread]
 */
#pragma once

#if defined(__x86_64__)
#include "arch/x86-64/clock.h"
#else
#error "no folder in src/arch/ is about this processor"
#endif
