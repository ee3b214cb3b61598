/*
 * What a handler of the program is shown of the task that it has interrupted in a clone: original
 * addresses, and a stack that can be unwound from there.
 */
#pragma once

#include "agent/probe/probe.h"

#include <ucontext.h>

/* Where the task is, and where the handler sees it. */
struct dw_shown {
	uint64_t pc, sp;
	uint64_t shown_pc, shown_sp;
};

/*
 * Let @context, whose task is in the code of @area, be what a handler may see. @is_fault: the
 * instruction that it is at may have failed: that very one is shown, and the stack is not looked at
 * for it. [async-signal-safe]
 */
struct dw_shown dw_context_show(const struct dw_area *area, ucontext_t *context, bool is_fault);

/* The handler is over: the task goes on where it was, or where the handler has sent it. */
void dw_context_put_back(ucontext_t *context, const struct dw_shown *shown);
