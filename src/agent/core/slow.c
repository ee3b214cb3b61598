/*
 * Slow paths; see slow.h.
 */
#include "agent/core/slow.h"

#include "agent/core/agent.h"

static __thread uint64_t inside __attribute__((tls_model("initial-exec"))); /* stack pointer */

bool dw_slow_begin(uint64_t sp)
{
	if (sp < inside) {
		dw_agent_drop(DWELL_DROP_EVENTS);
		return false;
	}
	inside = sp;
	return true;
}

void dw_slow_end(void)
{
	inside = 0;
}

bool dw_slow_defer(int number, const siginfo_t *info, ucontext_t *context)
{
	(void)number;
	(void)info;
	(void)context;
	return false;
}
