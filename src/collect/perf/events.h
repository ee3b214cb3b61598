/*
 * The kernel's side of sampling: two events per CPU that follow one process and all its
 * descendants.
 *
 * One samples registers and stack, the other (which counts nothing) tells of mappings, names, forks
 * and exits through a ring of its own, so that a flood of samples never costs a mapping.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "collect/perf/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_perf_cpu {
	int sample_fd; /* owned */
	int side_fd;   /* owned */
};

struct dw_perf_options {
	pid_t pid; /* events start at its next exec */
	uint32_t frequency_hz;
	uint32_t stack_bytes; /* copied with each sample, a multiple of 8, at most
				 DWELL_PERF_STACK_MAX */
};

enum { DWELL_PERF_STACK_MAX = 65000 };

struct dw_perf_events {
	DW_VEC(struct dw_perf_cpu) cpus; /* online ones */
	bool cycles;			 /* hardware cycles, else the CPU clock */
	bool counts_lost;		 /* reading an event tells how many records it lost */
};

/*
 * Open the events. 0; DWELL_ERR_REFUSED with one line that names cause and cure; -errno. @ret is
 * empty after a failure.
 */
int dw_perf_events_open(const struct dw_perf_options *o, struct dw_perf_events *ret,
			struct dw_error *err);

/*
 * Map a ring for each event, side-band rings first, as large as the limit of locked memory allows.
 * DWELL_ERR_REFUSED when not even small ones fit.
 */
int dw_perf_events_map(const struct dw_perf_events *e, const struct dw_perf_options *o,
		       struct dw_rings *ret, struct dw_error *err);

/* Stop counting. What is in the rings stays. */
void dw_perf_events_stop(const struct dw_perf_events *e);

/* Records lost so far, by events that sample and by those that do not. 0 where the kernel cannot
 * tell (counts_lost is false). */
void dw_perf_events_lost(const struct dw_perf_events *e, uint64_t *ret_samples, uint64_t *ret_side);

/* Close all. */
void dw_perf_events_release(struct dw_perf_events *e);
