/*
 * The sampling agent: each thread has a timer of its processor time, whose signal's handler copies
 * registers and stack into the region's ring (wire/samples.h).
 *
 * sampling.c starts it, and goes with forks and tracers; threads.c has the timers and sees threads
 * begin, tick-x86-64.c the handler, ring.c the ring; signals.c keeps the signal from the program's
 * sight. Where the program wants that signal for itself, another is taken. Without one, or where it
 * forbids itself system calls, the sampler goes away and says so in the ring. Everything here is
 * [async-signal-safe] unless it says otherwise.
 */
#pragma once

#include "wire/samples.h"

#include <signal.h>
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

/*
 * Writing records into the ring: take a place, fill it, end it. Any number of threads at a time,
 * none waits for another. [async-signal-safe] [any-thread]
 */

/* A record that is being written. */
struct dw_ring_place {
	uint64_t position;
	struct dw_sample_record *record;
};

/* Take a place for a record of @kind with room for @room bytes of content. False: there is none. */
bool dw_ring_begin(struct dw_ring_place *place, uint32_t kind, uint32_t room);

/* Write @n bytes of @from at @offset of the content, within its room. */
void dw_ring_write(const struct dw_ring_place *place, uint32_t offset, const void *from,
		   uint32_t n);

/* Copy @n bytes of this process's memory at @address, which may not be there, to @offset of the
 * content. How many could be copied, from the first on. */
uint32_t dw_ring_copy(const struct dw_ring_place *place, uint32_t offset, uint64_t address,
		      uint32_t n);

/* The record is whole, with @content bytes. */
void dw_ring_end(const struct dw_ring_place *place, uint32_t content);

/*
 * Telling the collector what code this process has mapped: it may be gone before it can be asked.
 * Samples look for names in what is told next after them, too, so libraries are told of when they
 * are about to go. [async-signal-safe]
 */

/* Tell it. Reads a file of /proc: some 50 us, more where a thousand things are mapped. */
void dw_maps_tell(void);

/* Tell it if anything was sampled since it was told last. */
void dw_maps_tell_of_samples(void);

/*
 * The timers of this process's threads. The kernel keeps a timer whose thread has ended, and counts
 * it against the user's limit of signals: so each new one looks at some old ones.
 * [async-signal-safe] [any-thread]
 */

/* What the signals of our timers carry, to tell them from those that others send. */
#define DWELL_TIMER_VALUE ((void *)0x64776c6c)

/* Memory for timers. False: none. */
bool dw_timers_start(void);

/* Give the thread @tid of this process its timer. False: the kernel refused. */
bool dw_timer_arm(uint32_t tid);

/* Delete all timers, but remember whose they were. */
void dw_timers_stop(void);

/* The same of the timer of @tid, if it has one. */
void dw_timer_stop(uint32_t tid);

/* After those: make them again. */
void dw_timers_resume(void);

/* In a fork's child, which has no timers: forget them. */
void dw_timers_forget(void);

/* What a new thread goes on with: returned in rax and rdx. */
struct dw_thread_run {
	void *(*run)(void *);
	void *arg;
};

/* The first function of a thread, in entries-x86-64.S. @start is a struct dw_sample_start. */
void *dw_thread_entry(void *start) __attribute__((visibility("hidden")));

/* The calling thread begins with @start (a struct dw_sample_start, given back); its first frame is
 * below @top. */
struct dw_thread_run dw_thread_begin(void *start, uint64_t top)
	__attribute__((visibility("hidden")));

/* Tell the collector of the calling thread. */
void dw_thread_tell(void);

/* Give the calling thread its timer, and tell the collector of it. */
void dw_thread_sampled(void);

/* Take a free signal, and let the kernel call the handler for it. False: there is none, or the
 * kernel refuses. Inside the constructor. */
bool dw_tick_start(void);

/* Let the program have the signal, whose effect is @to (SIG_DFL or SIG_IGN) until it sets another,
 * and take one that suits the mask @mask of this thread. Without one sampling stops. */
void dw_tick_move(uint64_t mask, sighandler_t to);

/* Let the effect of @signal be @to, SIG_DFL or SIG_IGN, and drop what is pending of it. */
void dw_tick_give(int signal, sighandler_t to);

/* After dw_tick_give(): let @signal call the handler again. */
void dw_tick_retake(int signal);

/* The mask of this thread. */
uint64_t dw_tick_mask(void);

/*
 * The sampler's signal as the program sees it: as if nobody used it.
 */

/* Somebody has sent the sampler's signal @signal, which has interrupted a thread whose mask is
 * @mask then: let it have its plain effect. [async-signal-safe] */
void dw_signal_from_others(int signal, siginfo_t *info, sigset_t *mask);

/* Sampling has ended: let the program have the signal. [async-signal-safe] */
void dw_signals_end(void);

/* The calling thread is about to execute a program, or (not @is_so) has failed to: that inherits
 * what this program has set. [async-signal-safe] */
void dw_signals_execute(bool is_so);
