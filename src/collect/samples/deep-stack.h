/*
 * Stacks deeper than their dump: the rest is read from the thread's memory while the walk goes on.
 *
 * By then the thread has run on for some milliseconds, but frames that far out rarely change. Each
 * piece is read together with the last bytes of what is known; only if these have not changed does
 * it count.
 *
 * A stack that was deep before is read in one go, as far as it reached then. From the highest
 * address down to the first difference it is the same memory as last time, so once the walk stands
 * on a frame above that address that was there last time, the rest is the same too (unwinding
 * depends on pc, sp, fp and the memory above sp alone) and the walk is spliced onto the old one:
 * 16,000 frames of recursion cost a copy and a comparison, not 16,000 steps.
 *
 * Of a stack of many megabytes only the part next to the dump is read and compared, for as long as
 * the last full copy is young.
 *
 * A walk may also leap: over a frame of megabytes, or out of a signal handler that has a stack of
 * its own. Then only what it leaps to is read. How much is read per second has a limit; stacks
 * beyond it are cut.
 */
#pragma once

#include "base/vec.h"
#include "collect/samples/call-check.h"
#include "unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The last stack of a thread, kept so that the next one need not be unwound and interned anew.
 *
 * Frames stand outermost first, so that what two stacks share is a prefix. A deep stack also keeps
 * the memory it was unwound from.
 */

struct dw_walk_frame {
	uint64_t pc; /* as struct dw_unwind_frame has it; DWELL_WALK_CUT for what is missing */
	uint64_t sp;
	uint64_t fp;
	uint32_t stack; /* stack id in the profile, of this frame and all outer ones; 0 = has_frames
			 */
	uint32_t frame; /* frame id; of has_frames only */
};

/* The pc of an outermost frame that stands for the rest of a cut stack. */
#define DWELL_WALK_CUT UINT64_MAX

struct dw_walk {
	DW_VEC(struct dw_walk_frame) frames; /* outermost first */
	uint32_t generation;		     /* of the process's space, for which stack ids hold */
	bool has_frames;      /* rows have frame ids: frames of Python come between them */
	uint8_t *memory;      /* owned; NULL = not kept */
	uint64_t memory_base; /* avma of memory[0] */
	size_t memory_bytes;
	uint64_t memory_from; /* avma; what is below is not what the frames were found in */
	size_t wanted_bytes;  /* of memory, more than could be read; 0 = not known */
	uint64_t memory_ns;   /* time of the sample for which it was read */
	size_t memory_cap;
};

/* Free @w. NULL is fine. */
void dw_walk_free(struct dw_walk *w);

enum { DWELL_GAPS_MAX = 16 };

struct dw_deep {
	uint64_t time_ns;	/* of the sample, set by the owner before each begin */
	uint64_t read_ns;	/* time of the sample for which memory was read from the thread */
	pid_t pid;		/* whose memory; 0 = nobody's, stacks end with their dump */
	struct dw_space *space; /* of the process, borrowed */
	const struct dw_walk *old; /* the thread's last stack, NULL = none */
	uint8_t *memory; /* owned: all that is known of the stack, once deeper than the dump */
	uint64_t base;	 /* avma of memory[0] */
	size_t bytes;
	size_t cap;
	uint64_t
		same_from; /* memory from here to its end is as it was, UINT64_MAX = not known so */
	uint64_t allowance_bytes; /* that may still be read */
	uint64_t allowance_ns;	  /* up to when that is counted */
	uint64_t interrupted_sp;  /* of what a signal interrupted, if the walk has leapt there */
	size_t wanted_bytes;	  /* what could not be read for want of allowance */
	bool vouched;		  /* the old memory stands for what is beyond the known */
	bool leapt;		  /* the memory is not all that lies from the dump on */
	uint64_t shown_to;	  /* the walk sees memory up to here */
	bool stopped;		  /* the walk was stopped at shown_to, to look for a splice */
	uint64_t urgent;	  /* reads so far that had to be soon, of all stacks */
	uint64_t gaps[DWELL_GAPS_MAX]; /* what lies above was read later than what lies below */
	size_t gaps_n;
	struct dw_call_checks checks;
};

/* Begin with the dump of one sample: makes @m ready for dw_unwind(). @d keeps its memory from
 * before. */
void dw_deep_begin(struct dw_deep *d, pid_t pid, struct dw_space *space, const struct dw_walk *old,
		   struct dw_unwind_memory *m);

/*
 * After dw_unwind() was cut: whether it was only stopped and @last, the last frame it found, is a
 * frame of the old walk from which on all is the same. Borrowed from the old walk. NULL = no.
 */
const struct dw_walk_frame *dw_deep_splice(const struct dw_deep *d,
					   const struct dw_unwind_frame *last);

/* After a stop without a splice: show the walk more. */
void dw_deep_resume(struct dw_deep *d, struct dw_unwind_memory *m);

/*
 * After dw_unwind(): whether its *@n frames may stand. Beyond what was dumped, and beyond a large
 * frame that the walk has leapt over, calls must lead from frame to frame. @is_whole: the last
 * frame is where the stack begins, or the walk was stopped there. False: *@n is now how many may.
 */
bool dw_deep_leads(struct dw_deep *d, const struct dw_unwind_frame *frames, size_t *n,
		   bool is_whole);

/* Give the memory to @walk, for the next stack, when there is any, else drop what @walk had. @top:
 * avma behind the last byte that the walk needed. */
void dw_deep_keep(struct dw_deep *d, struct dw_walk *walk, uint64_t top);

/* Free the memory. */
void dw_deep_release(struct dw_deep *d);
