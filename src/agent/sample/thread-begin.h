/*
 * Threads that the program starts.
 */
#pragma once

#include <stdint.h>

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

/* Give the calling thread its timer, and tell the collector of it. */
void dw_thread_sampled(void);
