/*
 * Gates that a signal has interrupted half-way (struct dw_clone_gate).
 */
#pragma once

#include "agent/probe/probe.h"

#include <ucontext.h>

/*
 * Let the interrupted task, which is at the address that @context says in the code of @area, go on
 * where the tables of its thread are whole: a gate that has changed nothing starts again behind its
 * saves, one that has begun to store is done with its stores. What is in no gate stays.
 * [async-signal-safe]
 */
void dw_gate_settle(const struct dw_area *area, ucontext_t *context);

/*
 * Let the task, interrupted where a gate lets handlers run (struct dw_clone_header, signals_at), go
 * on behind the gate: handlers see the program's own registers and stack. [async-signal-safe]
 */
void dw_gate_finish(ucontext_t *context);

/*
 * Let the task, interrupted in a gate of @area that has not moved the stack pointer, be where it is
 * without: in front of the probe, which then runs again, or behind it if it has done its work, with
 * the program's own registers, flags and stack pointer. The same between a probe's load of rax and
 * its call. Where the program steps through its instructions, probes running again would have no
 * end: there they are left out, as are those that have been switched off meanwhile. After
 * dw_gate_settle() or dw_gate_finish(). What is elsewhere stays. [async-signal-safe]
 */
void dw_gate_leave(const struct dw_area *area, ucontext_t *context);

enum { DWELL_PROBE_CALL_BYTES = 5 };

/* The gate that the instruction at @pc, a clone's, calls; DWELL_GATES_N = none.
 * [async-signal-safe] */
enum dw_gate dw_gate_called(const struct dw_area *area, uint64_t pc);

/* Whether the gate @gate is called at @pc, a clone's, or was until that was switched off (mute.h).
 * [async-signal-safe] */
bool dw_gate_stood(const struct dw_area *area, enum dw_gate gate, uint64_t pc);

/* Whether the task stops behind each instruction. [async-signal-safe] */
bool dw_is_stepped(const ucontext_t *context);
