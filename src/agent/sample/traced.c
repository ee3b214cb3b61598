/*
 * Programs that ask to be traced: their tracer would see each of the sampler's signals before they
 * do, which a plain run does not have, so they are sampled no more. What a traced process executes
 * has no agent at all (agent/core/exec-program.c); who is attached to later is not protected.
 * The child of a vfork() has no timer and runs on its parent's memory: there is nothing to stop.
 * Source: ptrace(2).
 */
#include "agent/core/agent.h"
#include "agent/sample/reals.h"
#include "agent/sample/sampling.h"

#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/types.h>

static void stop_sampling(void)
{
	if (!dw_sampling_is_on())
		return;
	dw_agent_after_fork();
	if (dw_agent_is_on() && dw_agent_is_self())
		dw_sampling_stop(DWELL_SAMPLE_OFF_TRACED);
}

__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...)
{
	va_list more;
	void *address, *data;
	pid_t pid;

	va_start(more, request);
	pid = va_arg(more, pid_t);
	address = va_arg(more, void *);
	data = va_arg(more, void *);
	va_end(more);
	if (request == PTRACE_TRACEME)
		stop_sampling();
	return DW_SAMPLE_REAL(ptrace)(request, pid, address, data);
}
