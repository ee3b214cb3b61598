/*
 * What handlers of the program are shown of the task that they have interrupted in a clone, in a
 * trampoline or in a probe: its own registers and stack, original addresses, and a stack that can
 * be unwound from there.
 */
#pragma once

#include "agent/clones/clones.h"
#include "arch/context.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* The trampoline that the instruction at @pc, a clone's, calls; DWELL_TRAMPOLINES_N = none.
 * [async-signal-safe] */
enum dw_trampoline dw_trampoline_called(const struct dw_area *area, uint64_t pc);

/* Whether the trampoline @trampoline is called at @pc, a clone's, or was until that was switched
 * off (disable.h). [async-signal-safe] */
bool dw_trampoline_stood(const struct dw_area *area, enum dw_trampoline trampoline, uint64_t pc);

/*
 * Let the task, interrupted at the address that @context says in the code of @area, be where its
 * own state is known, with the tables of its thread whole: a trampoline that has changed nothing
 * starts again, one that has begun to store is done with its stores; then it is in front of the
 * probe, which runs again, or behind it if it has done its work, with the program's own registers,
 * flags and stack pointer. What is elsewhere stays. [async-signal-safe]
 */
void dw_context_settle(const struct dw_area *area, ucontext_t *context);

/*
 * Let the task, interrupted at the address that @context says in the code of @area, be where it is
 * without probes: in front of a probe that has stored nothing yet, or behind it, with the program's
 * own registers and stack pointer. For the task that is in no trampoline. What is
 * in no such probe stays. [async-signal-safe]
 */
void dw_context_leave_statement(const struct dw_area *area, ucontext_t *context);

/* Where the task is, and where the handler sees it. */
struct dw_translated {
	uint64_t pc, sp;
	uint64_t translated_pc, translated_sp;
};

/*
 * Let @context, whose task is in the code of @area, be what a handler may see. @is_fault: the
 * instruction that it is at may have failed: that very one is shown, and the stack is not looked at
 * for it. [async-signal-safe]
 */
struct dw_translated dw_context_translate(const struct dw_area *area, ucontext_t *context,
					  bool is_fault);

/* The handler is over: the task goes on where it was, or where the handler has sent it. */
void dw_context_restore(ucontext_t *context, const struct dw_translated *translated);
