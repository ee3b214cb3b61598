/*
 * The sampling agent: each thread has a timer of its processor time, whose signal's handler copies
 * registers and stack into the region's ring (wire/samples.h).
 *
 * part.c starts it; timers.c has the timers, tick.c the handler, ring.c the ring; thread-begin.c
 * and part.c see threads and forks begin; signals.c keeps the signal from the program's sight,
 * traced.c from a tracer's. Where the program wants that signal for itself, another is taken.
 * Without one, or where it forbids itself system calls, the sampler goes away and says so in the
 * ring. Everything here is
 * [async-signal-safe] unless it says otherwise.
 */
#pragma once

#include "wire/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Signals that may be the sampler's, tried from the last on: real-time signals are for
	 * programs to choose, and they choose from the first on. Each has two neighbours. */
	DWELL_SAMPLE_SIGNAL_FIRST = 36,
	DWELL_SAMPLE_SIGNAL_LAST = 62,
	DWELL_SAMPLE_TIMERS = 8192,
	DWELL_SAMPLE_STARTS = 1024, /* threads that begin at the same time */
};

/* A thread to be: what it shall run. */
struct dw_sample_start {
	uint32_t is_taken;
	void *(*run)(void *);
	void *arg;
};

/* The agent's whole state; written at the start, but for what is atomic. */
struct dw_sampling {
	bool is_on;		     /* atomic */
	bool is_moving;		     /* to another signal, atomic */
	int signal;		     /* whose handler is the sampler's, 0 = none is; atomic */
	struct dw_sample_ring *ring; /* mapped, for good; NULL = never started */
	uint8_t *data;		     /* of the ring */
	uint64_t ring_bytes;
	uint64_t interval_ns;
	uint32_t stack_bytes;
	uint64_t main_top; /* above the main thread's first frame */
	uint64_t told;	   /* the ring's head when mappings were told last; atomic */
	uint64_t *timers;  /* DWELL_SAMPLE_TIMERS of them: tid << 32 | id + 1; atomic */
	uint32_t timers_n; /* that were ever used, atomic */
	uint32_t looked_at;
	uint32_t next_start;
	struct dw_sample_start starts[DWELL_SAMPLE_STARTS];
};

extern struct dw_sampling dw_sampling;

/* The address above the first frame of this thread, 0 = not known. */
extern __thread uint64_t dw_sample_top __attribute__((tls_model("initial-exec")));

/* @signal in a mask. */
static inline uint64_t dw_sample_bit(int signal)
{
	return (uint64_t)1 << (signal - 1);
}

/* Whether @mask has both neighbours of @signal. */
static inline bool dw_sample_is_between(uint64_t mask, int signal)
{
	uint64_t both = dw_sample_bit(signal - 1) | dw_sample_bit(signal + 1);

	return (mask & both) == both;
}

/* Whether samples are taken in this process. */
bool dw_sampling_is_on(void);

/* Stop for good, because of @off (enum dw_sample_off). */
void dw_sampling_stop(uint32_t off);
