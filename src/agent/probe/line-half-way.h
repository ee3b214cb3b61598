/*
 * Probes of statements that a signal has interrupted. They stand in the middle of functions, where
 * handlers may look at all registers and the stack pointer, change them, and let the program go on
 * elsewhere.
 */
#pragma once

#include "agent/probe/probe.h"

#include <ucontext.h>

/*
 * Let the task, interrupted at the address that @context says in the code of @area, be where it is
 * without probes: in front of a probe that has stored nothing yet, or behind it, with the program's
 * own registers and stack pointer. After dw_gate_leave(). What is in no such
 * probe stays. [async-signal-safe]
 */
void dw_line_settle(const struct dw_area *area, ucontext_t *context);
