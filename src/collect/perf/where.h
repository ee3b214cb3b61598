/*
 * Where tasks spend their time on the processor: addresses alone, by the CPU clock, two thousand a
 * second of each. They cost a microsecond each, some ten on a virtual machine, and nothing but the
 * kernel's leave to sample.
 *
 * A task and whatever it starts is watched from its next exec on. User code only. One thread at a
 * time.
 */
#pragma once

#include "base/vec.h"
#include "collect/perf/ring.h"

#include <stdint.h>
#include <sys/types.h>

enum { DWELL_WHERE_PERIOD_NS = 499979 }; /* in step with nothing */

/* Zero-initialised: nothing is watched. */
struct dw_where {
	DW_VEC(int) fds; /* owned; an event for each processor */
	struct dw_rings rings;
};

struct dw_where_sample {
	pid_t pid;	/* as we see it */
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t ip;
	uint64_t top; /* what lay at its stack pointer, 0 = not known: in functions that use no
			 stack, where they return to */
};

/* What takes the samples, each borrowed. */
typedef void dw_where_sink(void *ctx, const struct dw_where_sample *sample);

/* Watch @pid from its next exec on. 0; -errno where the kernel refuses: nothing is left open then.
 */
int dw_where_watch(struct dw_where *w, pid_t pid);

/* Take samples from now on or none, of all that is watched by now. Those that have come stay. */
void dw_where_turn(struct dw_where *w, bool on);

/* Give all that has come to @sink. */
void dw_where_read(struct dw_where *w, dw_where_sink *sink, void *ctx);

/* Close all. */
void dw_where_release(struct dw_where *w);
