/*
 * When samples of where processes are (collect/perf/where.h) are taken: always, or in windows where
 * threads are switched often.
 *
 * The kernel sets a timer of the processor each time that it gives one to a thread that is sampled,
 * and again when it takes it away. On a virtual machine both leave it: some 10 us, as much as a
 * sample takes. So no more switches than half as many as samples are to come in windows, as long as
 * these are a tenth of all time at least. A sample then stands for more, by the time that windows
 * were not open. Pure functions, moments are of CLOCK_MONOTONIC. [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
void dw_sample_windows_learn(struct dw_sample_windows *w, uint64_t runs, uint64_t ran_ns);

/* What shall be done at next_ns, @now: whether w->is_open has changed. What looking and turning
 * take, @cost_ns the last time, is a small part of the time until the next. */
bool dw_sample_windows_turn(struct dw_sample_windows *w, uint64_t now, uint64_t cost_ns);

/* The part of the time since *@seen that windows were open, 1 where that was none; @now becomes
 * *@seen. */
double dw_sample_windows_part(const struct dw_sample_windows *w, struct dw_samples_seen *seen,
			      uint64_t now);

/* How long samples were taken until @now, nanoseconds. */
uint64_t dw_sample_windows_open_ns(const struct dw_sample_windows *w, uint64_t now);
