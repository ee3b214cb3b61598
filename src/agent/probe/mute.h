/*
 * Functions that are measured no more, while the program runs (struct dw_region_mutes).
 *
 * The calls of gates in their clones become instructions of the same length that do what the gate
 * leaves behind: nothing, or rax from where the probe has put it. So a task may be anywhere in the
 * probe when that happens. Pages change as a whole, in a copy (text.h), or in place where nobody
 * else runs it. What cannot be changed goes on being measured.
 */
#pragma once

#include "agent/core/thread.h"
#include "agent/probe/probe.h"

/* Do what the region asks for, if that has changed, and let the calling thread's stacks agree: for
 * its slow path, after the interval was charged. */
void dw_mute_look(struct dw_thread *t);

/* Do it in a new area. Inside dw_agent_enter(). */
void dw_mute_area(struct dw_area *area);

/* Give back what is kept of @area, whose module is gone. */
void dw_mute_forget(struct dw_area *area);

/* Tell the new region of a fork's child what its parent measures no more. Inside dw_agent_enter().
 */
void dw_mute_forked(void);
