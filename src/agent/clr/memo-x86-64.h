/*
 * The steps of a thread's last walk, so that the next one walks only as far as its stack is
 * another: what lies further out takes a look at two words a frame, and no look-up.
 *
 * A step is a frame as a walk came to it, and where the words stand that led there. As long as
 * these say the same, and nothing else was inferred of any return address, all walks from that
 * frame go the same way. A memo is its thread's own.
 *
 * Where the runtime's own code is outermost but for what has called it (the host, a thread's
 * start), steps end behind the first frame of that: no managed code lies further out, and what
 * calls the runtime from one place at one depth of the stack goes on to do so.
 */
#pragma once

#include "agent/clr/frame-rules-x86-64.h"
#include "agent/clr/thread.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_step {
	struct dw_regs regs;
	uint64_t rbp_at;     /* where regs.rbp was read */
	uint32_t frames;     /* of the stack from here outwards, 0 = this is none of it */
	uint32_t is_foreign; /* native code, but none of the runtime's */
};

struct dw_memo {
	uint64_t epoch; /* of dw_frame_rules */
	uint32_t n;	/* kept, outermost first */
	uint32_t at;	/* kept ones that the walk has not passed */
	uint32_t fresh_n;
	struct dw_step kept[DWELL_STACK_FRAMES], fresh[DWELL_STACK_FRAMES];
};

/* The memo of @t for a walk that begins, NULL = no memory. */
struct dw_memo *dw_memo_begin(struct dw_clr_self *t);

/* Whether @m has a step at @s, if all from there outwards is as it was: it ends the walk. */
const struct dw_step *dw_memo_check(struct dw_memo *m, const struct dw_regs *s, uint64_t rbp_at);

/* The walk has ended, at @end or, NULL, where there was nothing further out. The stack has @frames
 * in all. */
void dw_memo_end(struct dw_memo *m, const struct dw_step *end, uint32_t frames);

/* Forget the last walk. */
void dw_memo_drop(struct dw_memo *m);

/* Whether the walk has come to @s, where the last one was: dw_memo_check(). */
static inline const struct dw_step *dw_memo_find(struct dw_memo *m, const struct dw_regs *s,
						 uint64_t rbp_at)
{
	while (m->at && m->kept[m->at - 1].regs.rsp < s->rsp)
		m->at--;
	return m->at && m->kept[m->at - 1].regs.rsp == s->rsp ? dw_memo_check(m, s, rbp_at) : NULL;
}

/* The walk is at @s, of whose stack @n frames are further in, UINT32_MAX = it is none itself. */
static inline void dw_memo_step(struct dw_memo *m, const struct dw_regs *s, uint64_t rbp_at,
				uint32_t n, bool is_foreign)
{
	if (m->fresh_n < DWELL_STACK_FRAMES)
		m->fresh[m->fresh_n] = (struct dw_step){*s, rbp_at, n, is_foreign};
	m->fresh_n++;
}
