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

/* The registers and flags of the program that a gate keeps below @gate, its stack pointer, r11 too
 * (DWELL_GATE_LINE). [async-signal-safe] */
void dw_gate_restore(ucontext_t *context, const uint64_t *gate);
