/*
 * What a recording of calls notes of itself (docs/session-format.md lists the keys): how events of
 * the system were seen, what probes cost, and what cannot be explained.
 */
#pragma once

#include "base/vec.h"
#include "collect/calls/calls.h"
#include "model/facts.h"
#include "record/call-methods.h"
#include "record/instrument.h"

#include <stdint.h>

/* Sums over the programs that a process has executed. */
struct dw_call_process {
	uint64_t cpu_ns;  /* of its clock, when that was last read */
	uint64_t rows_ns; /* of that in rows, and in probes */
	bool is_unseen;	  /* nobody knows when a thread was switched: application times are upper
			     bounds */
};

/* Sums over all processes. Zero-initialised. */
struct dw_call_sums {
	DW_VEC(struct dw_call_process) of; /* by process id, as far as any has calls */
	struct dw_region_calls_stats calls;
	uint64_t agent_start_ns;
	uint64_t threads[DWELL_OS_SOURCES]; /* by enum dw_os_source */
	uint64_t processes, unseen; /* with calls; of these without probes of system calls */
	uint64_t left_out;	    /* that began when there were too many nodes */
	uint64_t methods, methods_small, methods_left; /* of .NET's: with probes, too small for
							  these, left as they are */
};

/* Add a program that has ended, of the process @process, whose CPU clock said @cpu_ns when it was
 * last read from outside, 0 = it was not. 0 or -ENOMEM. */
int dw_call_sums_add(struct dw_call_sums *s, uint32_t process, uint64_t cpu_ns,
		     const struct dw_region_head *head, const struct dw_region_calls_stats *calls);

/* Add what the agent of a .NET process says of its methods, if it has any. */
void dw_call_sums_add_methods(struct dw_call_sums *s, const struct dw_call_methods *m);

/* Note @s. 0 or -ENOMEM. */
int dw_note_calls(struct dw_facts *facts, const struct dw_call_sums *s);

/* Free the memory. */
void dw_call_sums_release(struct dw_call_sums *s);

/* Note what became of processes, modules and functions. 0 or -ENOMEM. */
int dw_note_instrumented(struct dw_facts *facts, const struct dw_instrument_result *r);

/* Note what was switched off for the limit @overhead (a part of 1) of @calls, whether it went on
 * counting (@counts), of which @pending had not lost all of their probes at the end. 0 or -ENOMEM.
 */
int dw_note_disabled(struct dw_facts *facts, double overhead, bool counts, uint64_t pending,
		     const struct dw_calls *calls);
