/*
 * The registers of an interrupted task, as handlers of signals get them, that neutral code asks
 * for: dw_context_pc(), dw_context_set_pc() and dw_context_stack(). [async-signal-safe]
 * [any-thread]
 */
#pragma once

#if defined(__x86_64__)
#include "arch/x86-64/context.h"
#else
#error "no folder in src/arch/ is about this processor"
#endif
