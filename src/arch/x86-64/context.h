/* Of x86-64: gregs of <ucontext.h>; see arch/context.h. */
#pragma once

#include <stdint.h>
#include <ucontext.h>

/* The address at which the task goes on. */
static inline uint64_t dw_context_pc(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

/* Let the task go on at @pc. */
static inline void dw_context_set_pc(ucontext_t *context, uint64_t pc)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

/* The top of its stack. */
static inline const uint64_t *dw_context_stack(const ucontext_t *context)
{
	return (const uint64_t *)context->uc_mcontext.gregs[REG_RSP];
}
