/*
 * Stacks from outside; see procfs-stack.h.
 *
 * Leftovers of earlier calls look like frames, too, and may lead to a whole chain past the real
 * one. So a candidate's return address must follow a call that leads to the function in which the
 * walk stands, or may lead there.
 */
#include "collect/samples/procfs-stack.h"

#include "base/clock.h"
#include "target/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_BYTES = 16 << 10,
	MORE_BYTES = 64 << 10,
	SCAN_BYTES = 32 << 10, /* how far the frame pointer is looked for */
	NEAR_BYTES = 4 << 10,  /* and beyond one that may be it */
	TRIES_MAX = 64,	       /* candidates that are walked */
	FRAMES_MAX = 1 << 16,
};

/* A value of the frame pointer that leads nowhere: nobody takes it for the end of a chain, nor for
 * an address. */
#define UNKNOWN_FP 1

struct reading {
	struct dw_remote_stack *o;
	struct dw_sample_unwinder *unwinder;
	struct dw_tracked_process *process;
	struct dw_unwind_memory memory;
	size_t n; /* frames */
};

static int reserve(struct dw_remote_stack *o, size_t n)
{
	uint8_t *bigger = n > o->cap ? realloc(o->bytes, n) : o->bytes;

	if (!bigger)
		return -ENOMEM;
	o->bytes = bigger;
	o->cap = n > o->cap ? n : o->cap;
	return 0;
}

/* Make @addr readable: what is at hand grows upward, or begins anew there. */
static int extend(void *ctx, struct dw_unwind_memory *m, uint64_t addr)
{
	struct reading *r = ctx;
	bool grows = addr >= m->base && addr - m->base < m->n + MORE_BYTES;
	size_t keep = grows ? m->n : 0;
	uint64_t from = grows ? m->base + keep : addr;
	ssize_t got;

	if (reserve(r->o, keep + MORE_BYTES))
		return -ENOMEM;
	got = dw_memory_read(r->process->pid, from, r->o->bytes + keep, MORE_BYTES);
	r->o->read_ns = dw_clock_ns(CLOCK_MONOTONIC);
	m->bytes = r->o->bytes;
	if (got <= 0)
		return -EFAULT;
	m->base = from - keep;
	m->n = keep + (size_t)got;
	return 0;
}

/* Whether @ra may be where a call of the function of @callee returns to. */
static enum dw_call_check check(struct reading *r, uint64_t ra,
				const struct dw_unwind_frame *callee)
{
	struct dw_space *space = &r->process->space;

	if (!dw_space_find(space, (struct dw_avma){ra - 1}))
		return DWELL_CALL_OTHER;
	return dw_call_check(&r->o->calls, r->process->pid, space, ra, callee->pc.v);
}

static enum dw_unwind_end walk(struct reading *r, const struct dw_unwind_regs *regs, size_t at,
			       size_t *ret_n)
{
	return dw_unwind(&r->process->space, regs, &r->memory, r->unwinder->frames + at,
			 FRAMES_MAX - at, ret_n);
}

/* The return address above @at. False: it cannot be read. */
static bool read_above(struct reading *r, uint64_t at, uint64_t *ret)
{
	struct dw_unwind_memory before = r->memory;

	if (at - before.base + 16 > before.n && extend(r, &r->memory, at))
		return false;
	if (at < r->memory.base || at - r->memory.base + 16 > r->memory.n)
		return false;
	memcpy(ret, r->memory.bytes + (at - r->memory.base) + 8, sizeof *ret);
	return true;
}

/*
 * Look for the the frame pointer that the last frame needs. Whether a whole chain was found; else
 * the frames stay as they are. A call through a pointer may lead anywhere, so one that leads here
 * and lies nearby is believed before it.
 */
static bool find_fp(struct reading *r)
{
	size_t last = r->n - 1, n;
	const struct dw_unwind_frame frame = r->unwinder->frames[last];
	uint64_t end = frame.sp + SCAN_BYTES, found = 0, ra;
	struct dw_unwind_regs regs = {0};
	int tries = 0;

	regs.unknown = ~(1u << DWELL_REG_FP | 1u << DWELL_REG_SP | 1u << DWELL_REG_PC);
	regs.r[DWELL_REG_PC] = frame.pc.v;
	regs.r[DWELL_REG_SP] = frame.sp;
	for (uint64_t at = frame.sp; at < end && tries < TRIES_MAX && read_above(r, at, &ra);
	     at += 8) {
		enum dw_call_check call = check(r, ra, &frame);

		if (call == DWELL_CALL_OTHER || (found && call != DWELL_CALL_LEADS))
			continue;
		tries++;
		regs.r[DWELL_REG_FP] = at;
		if (walk(r, &regs, last, &n) != DWELL_UNWIND_COMPLETE)
			continue;
		found = at;
		end = call == DWELL_CALL_LEADS ? at : at + NEAR_BYTES;
	}
	regs.r[DWELL_REG_FP] = found;
	if (found && walk(r, &regs, last, &n) == DWELL_UNWIND_COMPLETE) {
		r->n = last + n;
		return true;
	}
	r->unwinder->frames[last] = frame;
	return false;
}

/* Whether the whole stack was found. */
static bool unwind(struct reading *r, const struct dw_task_place *place)
{
	struct dw_unwind_regs regs = {0};
	enum dw_unwind_end end;

	regs.unknown = ~(1u << DWELL_REG_SP | 1u << DWELL_REG_PC);
	regs.r[DWELL_REG_PC] = place->pc;
	regs.r[DWELL_REG_SP] = place->sp;
	regs.r[DWELL_REG_FP] = UNKNOWN_FP;
	end = walk(r, &regs, 0, &r->n);
	if (end == DWELL_UNWIND_COMPLETE)
		return true;
	return r->unwinder->frames[r->n - 1].fp == UNKNOWN_FP && find_fp(r);
}

int dw_remote_stack_copy(struct dw_remote_stack *o, pid_t pid, const struct dw_task_place *place)
{
	int rc = reserve(o, FIRST_BYTES);
	ssize_t got;

	if (rc)
		return rc;
	got = dw_memory_read(pid, place->sp, o->bytes, FIRST_BYTES);
	o->read_ns = dw_clock_ns(CLOCK_MONOTONIC);
	o->n = got > 0 ? (size_t)got : 0;
	return got > 0 ? 0 : got ? (int)got : -EFAULT;
}

int dw_remote_stack_interpreter(struct dw_remote_stack *o, struct dw_sample_unwinder *s,
				const struct dw_tracked_thread *th)
{
	const struct dw_waiting_thread waiting = {th->process->pid, th->tid, th->pointer};
	struct dw_interpreter_process *p = th->process->interpreter;
	int rc;

	o->interpreter.is_told = false;
	if (!p)
		return 0;
	rc = dw_interpreter_waits_read(&o->interpreter, &s->interpreters, p, &waiting);
	o->read_ns = dw_clock_ns(CLOCK_MONOTONIC);
	return rc;
}

int dw_remote_stack_unwind(struct dw_remote_stack *o, struct dw_sample_unwinder *s,
			   struct dw_tracked_thread *th, const struct dw_task_place *place,
			   uint64_t time_ns, uint32_t *ret)
{
	const struct dw_interpreter_sample frames = {o->interpreter.frames, o->interpreter.n,
						     o->interpreter.state, o->interpreter.is_told};
	struct reading r = {o, s, th->process, {.base = place->sp}, 0};
	int rc = dw_sample_unwinder_begin(s, th, time_ns);
	bool whole;

	if (rc)
		return rc;
	r.memory.bytes = o->bytes;
	r.memory.n = o->n;
	r.memory.extend = extend;
	r.memory.ctx = &r;
	whole = unwind(&r, place);
	if (!whole && !s->frames[r.n - 1].range &&
	    dw_track_resync(s->track, th->process, time_ns)) {
		rc = dw_sample_unwinder_begin(s, th, time_ns);
		whole = !rc && unwind(&r, place);
	}
	if (!rc)
		rc = dw_sample_unwinder_intern(s, th, r.n, !whole, &frames, ret);
	*(whole ? &o->whole : &o->cut) += 1;
	return rc;
}

void dw_remote_stack_release(struct dw_remote_stack *o)
{
	free(o->bytes);
	o->bytes = NULL;
	dw_interpreter_waits_release(&o->interpreter);
}
