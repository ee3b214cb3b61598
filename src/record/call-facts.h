/*
 * What a recording of calls notes of itself (docs/session-format.md lists the keys): how events of
 * the system were seen, what probes cost, and what cannot be explained.
 */
#pragma once

#include "collect/region/calls.h"
#include "model/facts.h"
#include "record/instrument.h"

#include <stdint.h>

/* Sums over all processes. */
struct dw_call_sums {
	struct dw_region_calls_stats calls;
	uint64_t agent_start_ns;
	uint64_t threads[DWELL_OS_SOURCES]; /* by enum dw_os_source */
	uint64_t processes, unseen; /* with calls; of these without probes of system calls */
};

/* Add a process that has ended. */
void dw_call_sums_add(struct dw_call_sums *s, const struct dw_region_head *head,
		      const struct dw_region_calls_stats *calls);

/* Note @s; with @has_cpu the facts have the command's CPU time, with which it is compared. 0 or
 * -ENOMEM. */
int dw_note_calls(struct dw_facts *facts, const struct dw_call_sums *s, bool has_cpu);

/* Note what became of processes, modules and functions. 0 or -ENOMEM. */
int dw_note_instrumented(struct dw_facts *facts, const struct dw_instrument_result *r);

/* Note what was switched off for the limit @overhead (a part of 1) of @calls, of which @pending had
 * not lost all of their probes at the end. 0 or -ENOMEM. */
int dw_note_mutes(struct dw_facts *facts, double overhead, uint64_t pending,
		  const struct dw_calls *calls);
