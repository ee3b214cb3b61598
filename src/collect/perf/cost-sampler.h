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

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * When samples are taken: always, or in windows where threads are switched often.
 *
 * The kernel sets a timer of the processor each time that it gives one to a thread that is sampled,
 * and again when it takes it away. On a virtual machine both leave it: some 10 us, as much as a
 * sample takes. So no more switches than half as many as samples are to come in windows, as long as
 * these are a tenth of all time at least. A sample then stands for more, by the time that windows
 * were not open. Pure functions, moments are of CLOCK_MONOTONIC. [any-thread]
 */

struct dw_sample_windows {
	bool is_open;
	uint64_t since_ns;   /* when that began */
	uint64_t open_ns;    /* how long windows were open before */
	uint64_t next_ns;    /* when to turn again, UINT64_MAX = never */
	double part;	     /* of all time that they are to be open */
	uint32_t turns_seed; /* so that they come in step with nothing */
};

/* When somebody took samples last, and how long windows were open by then. Zero-initialised. */
struct dw_samples_seen {
	uint64_t at_ns, open_ns;
};

/* Samples are taken from @now on. */
void dw_sample_windows_begin(struct dw_sample_windows *w, uint64_t now);

/* Of threads that were given a processor @runs times and have run @ran_ns since the last time. */
void dw_sample_windows_update(struct dw_sample_windows *w, uint64_t runs, uint64_t ran_ns);

/* What shall be done at next_ns, @now: whether w->is_open has changed. What looking and turning
 * take, @cost_ns the last time, is a small part of the time until the next. */
bool dw_sample_windows_turn(struct dw_sample_windows *w, uint64_t now, uint64_t cost_ns);

/* The part of the time since *@seen that windows were open, 1 where that was none; @now becomes
 * *@seen. */
double dw_sample_windows_part(const struct dw_sample_windows *w, struct dw_samples_seen *seen,
			      uint64_t now);

/* How long samples were taken until @now, nanoseconds. */
uint64_t dw_sample_windows_open_ns(const struct dw_sample_windows *w, uint64_t now);

enum { DWELL_COST_SAMPLE_PERIOD_NS = 499979 }; /* in step with nothing */

/* Zero-initialised: nothing is watched. */
struct dw_cost_sampler {
	DW_VEC(int) fds; /* owned; an event for each processor */
	struct dw_rings rings;
};

struct dw_cost_sample {
	pid_t pid;	/* as we see it */
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint64_t ip;
	uint64_t top; /* what lay at its stack pointer, 0 = not known: in functions that use no
			 stack, where they return to */
};

/* What takes the samples, each borrowed. */
typedef void dw_cost_sampler_sink(void *ctx, const struct dw_cost_sample *sample);

/* Watch @pid from its next exec on. 0; -errno where the kernel refuses: nothing is left open then.
 */
int dw_cost_sampler_watch(struct dw_cost_sampler *w, pid_t pid);

/* Take samples from now on or none, of all that is watched by now. Those that have come stay. */
void dw_cost_sampler_turn(struct dw_cost_sampler *w, bool on);

/* Give all that has come to @sink. */
void dw_cost_sampler_read(struct dw_cost_sampler *w, dw_cost_sampler_sink *sink, void *ctx);

/* Close all. */
void dw_cost_sampler_release(struct dw_cost_sampler *w);
