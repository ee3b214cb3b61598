/*
 * The stack of a thread that waits, read from outside without stopping it.
 *
 * The kernel tells where the thread entered it and its stack pointer, no other register. Where
 * unwinding needs the frame pointer, it is looked for on the stack: each word above which a return
 * address stands may be what the register points to. One that leads to a whole chain, out to the
 * thread's beginning, is believed, none else; without one the stack is cut. One thread.
 */
#pragma once

#include "collect/interpreter/waits.h"
#include "collect/samples/call-check.h"
#include "collect/samples/sample.h"
#include "target/proc.h"

#include <stdint.h>

struct dw_remote_stack {
	uint8_t *bytes; /* owned: of the stack at hand */
	size_t n, cap;
	uint64_t read_ns; /* CLOCK_MONOTONIC, when it was all read; it is unwound after that */
	uint64_t whole;	  /* stacks read to their end */
	uint64_t cut;	  /* others */
	uint64_t refused; /* we may not read */
	struct dw_call_checks calls;
	struct dw_interpreter_waits interpreter;
};

/*
 * Copy the stack of a thread of @pid, which waits at @place: the sooner, the likelier that it still
 * does. 0; -EPERM when its memory may not be read; -ESRCH or -EFAULT when it is gone; -ENOMEM.
 */
int dw_remote_stack_copy(struct dw_remote_stack *o, pid_t pid, const struct dw_task_place *place);

/* Read the interpreter's frames of @th, which waits, if it has any. 0 or -ENOMEM. */
int dw_remote_stack_interpreter(struct dw_remote_stack *o, struct dw_sample_unwinder *s,
				const struct dw_tracked_thread *th);

/*
 * What was copied last, of @th at @place, as a stack id of its profile. What lies deeper
 * than the copy is read now, @time_ns. 0 or -ENOMEM.
 */
int dw_remote_stack_unwind(struct dw_remote_stack *o, struct dw_sample_unwinder *s,
			   struct dw_tracked_thread *th, const struct dw_task_place *place,
			   uint64_t time_ns, uint32_t *ret);

/* Free the memory. */
void dw_remote_stack_release(struct dw_remote_stack *o);
