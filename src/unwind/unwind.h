/*
 * The unwinder: registers and stack bytes of one moment -> program counters, innermost first.
 *
 * A pure function of its inputs: it reads nothing but @memory and the space's tables, allocates
 * nothing in the common case and never follows a pointer of the target. 14 to 30 ns a frame for
 * rows that are plain; signal frames, expressions and registers other than the stack and frame
 * pointer take a slower, complete path. One thread at a time per space.
 */
#pragma once

#include "arch/registers.h"
#include "base/address.h"
#include "unwind/space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_unwind_regs {
	uint64_t r[DWELL_REG_COUNT];
	uint32_t unknown; /* bit n: r[n] does not hold; 0 = all do. Of the frame pointer full
			     rules alone ask that: where it is not known, make it what leads
			     nowhere */
};

/* What the unwinder may read: a copy of the stack's innermost part, then whatever the caller can
 * still provide. */
struct dw_unwind_memory {
	uint64_t base;	      /* avma of bytes[0], usually the stack pointer */
	const uint8_t *bytes; /* borrowed */
	size_t n;
	/*
	 * Called when the walk needs @addr outside the bytes: makes it readable and updates
	 * base/bytes/n of @m so that they hold [addr, addr + 8) (the earlier bytes need not stay).
	 * NULL, or a return value other than 0: the stack is cut there.
	 */
	int (*extend)(void *ctx, struct dw_unwind_memory *m, uint64_t addr);
	void *ctx;
	/* Set by the walk when it leaves a signal handler, for extend: stack pointers in the signal
	 * frame, where the kernel saved the registers (struct ucontext), and in what it
	 * interrupted. 0 = no handler left. */
	uint64_t signal_sp;
	uint64_t interrupted_sp;
};

enum dw_unwind_end {
	DWELL_UNWIND_COMPLETE, /* reached the outermost frame: undefined return address, or the end
				  of a frame-pointer chain */
	DWELL_UNWIND_CUT,      /* stack bytes ran out */
	DWELL_UNWIND_NO_RULE,  /* an address in no known code, or code without a usable rule */
	DWELL_UNWIND_BROKEN,   /* the chain does not go outward, or a rule cannot be evaluated */
	DWELL_UNWIND_LIMIT,    /* more frames than the caller has room for */
};

struct dw_unwind_frame {
	struct dw_avma pc; /* frame 0 and the frame above a signal frame: exact; else the return
			      address minus one */
	uint64_t cfa;	   /* canonical frame address of this frame, 0 = not known (last frame) */
	uint64_t sp;	   /* stack pointer in this frame; known for every frame, the last too */
	uint64_t fp; /* frame pointer in this frame, likewise. (pc, sp, fp) as registers resume a
			walk */
	const struct dw_space_range
		*range; /* where pc lies, borrowed until the space changes; NULL = unknown code */
};

/*
 * Walk from @regs outward.
 * @frames  receives at most @max frames; *@ret_n = their number (at least 1).
 * Returns why the walk ended. Never fails otherwise.
 */
enum dw_unwind_end dw_unwind(struct dw_space *space, const struct dw_unwind_regs *regs,
			     struct dw_unwind_memory *memory, struct dw_unwind_frame *frames,
			     size_t max, size_t *ret_n);
