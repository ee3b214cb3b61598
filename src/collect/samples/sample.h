/*
 * A sample -> an unwound stack -> a row of the profile.
 */
#pragma once

#include "collect/jit/jit-code.h"
#include "collect/interpreter/interpreter.h"
#include "collect/samples/deep-stack.h"
#include "collect/samples/track.h"
#include "model/measure.h"
#include "unwind/unwind.h"

#include <stdint.h>

/* Whether @sample of @thread (id in the profile) counts. 1, 0 or a negative code. */
typedef int dw_sample_counts_fn(void *ctx, uint32_t thread, const struct dw_perf_sample *sample);

/* What @sample has one of: a measure beside samples, or a sample. */
typedef enum dw_measure dw_sample_measure_fn(void *ctx, const struct dw_perf_sample *sample);

struct dw_sample_unwinder {
	struct dw_profile *profile;	/* borrowed */
	struct dw_track *track;		/* borrowed */
	struct dw_unwind_frame *frames; /* owned: of one walk, innermost first; NULL until needed */
	struct dw_deep deep;
	dw_sample_counts_fn *counts;	  /* NULL = all do */
	dw_sample_measure_fn *measure_of; /* NULL = all are samples */
	void *ctx;			  /* of both */
	struct dw_jit_code jit_code;
	struct dw_interpreters interpreters;
	uint64_t kept;
	uint64_t discarded;    /* not taken in 64-bit code of the target */
	uint64_t discarded_32; /* those of them that were in 32-bit code */
	uint64_t cut;	       /* kept, but without their outermost frames */
	uint64_t uncopied;     /* those of them of whose stack the kernel could copy nothing */
};

/* Take in one decoded PERF_RECORD_SAMPLE. 0 or -ENOMEM. */
int dw_sample_unwinder_take(struct dw_sample_unwinder *s, const struct dw_perf_record *r);

/* Get ready to intern frames of @th as of @time_ns: s->frames has room for some. 0 or -ENOMEM. */
int dw_sample_unwinder_begin(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
			     uint64_t time_ns);

/* The stack id of the first @n of s->frames, innermost first, of @th, with its frames of Python;
 * @cut: their outermost ones are missing. 0 or -ENOMEM. */
int dw_sample_unwinder_intern(struct dw_sample_unwinder *s, const struct dw_tracked_thread *th,
			      size_t n, bool cut, const struct dw_interpreter_sample *frames,
			      uint32_t *ret);

/* Have the processor fetch what a walk of @r, a sample not taken in yet, will most likely read. */
void dw_sample_unwinder_ahead(const struct dw_sample_unwinder *s, const struct dw_perf_record *r);

/* Free the memory. */
void dw_sample_unwinder_release(struct dw_sample_unwinder *s);
