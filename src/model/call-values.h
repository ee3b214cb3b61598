/*
 * What instrumentation measures of a call, or of many together. Times are nanoseconds.
 */
#pragma once

#include <stdint.h>

/* What is measured, exclusive unless said otherwise. */
struct dw_call_values {
	uint64_t calls;
	uint64_t elapsed_ns;
	uint64_t application_ns; /* OS transitions end intervals */
	uint64_t whole_ns;	 /* the classic rule: only probes end intervals, and one OS event
				    drops all of one */
	uint64_t overhead_ns;	 /* what the probes cost, subtracted from the others */
	uint64_t blocked_ns;	 /* off the processor */
	uint64_t os_cpu_ns;	 /* on the processor, inside system calls that count */
	uint64_t switches;
	uint64_t io_calls;
	uint64_t blocking_calls;
};

/* Add @more to @sum. */
static inline void dw_call_values_add(struct dw_call_values *sum, const struct dw_call_values *more)
{
	sum->calls += more->calls;
	sum->elapsed_ns += more->elapsed_ns;
	sum->application_ns += more->application_ns;
	sum->whole_ns += more->whole_ns;
	sum->overhead_ns += more->overhead_ns;
	sum->blocked_ns += more->blocked_ns;
	sum->os_cpu_ns += more->os_cpu_ns;
	sum->switches += more->switches;
	sum->io_calls += more->io_calls;
	sum->blocking_calls += more->blocking_calls;
}
