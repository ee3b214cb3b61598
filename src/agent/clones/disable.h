/*
 * Functions that are measured no more, while the program runs (struct dw_region_disabled).
 *
 * A probe whose argument is a number becomes dw_no_probe as a whole; of others the call of the
 * trampoline becomes an instruction of the same length that does what the trampoline leaves behind:
 * nothing, or rax from where the probe has put it. A task may be anywhere in the probe when that
 * happens. Pages change as a whole, in a copy (text.h), or in place where nobody else runs it. What
 * cannot be changed goes on being measured.
 */
#pragma once

#include "agent/calls/threads.h"
#include "agent/clones/clones.h"
#include "wire/no-probe.h"

/* Do what the region asks for, if that has changed, and let the calling thread's stacks agree: for
 * its slow path, after the interval was charged. */
void dw_disable_update(struct dw_thread *t);

/* Do it in a new area. Inside dw_agent_enter(). */
void dw_disable_area(struct dw_area *area);

/* What stands where the trampoline call at *@at of the image of @a was, whose probe brings rax back
 * with
 * @loads_rax: its length in bytes, with *@at where it begins. */
uint32_t dw_disable_code(const struct dw_area *a, bool loads_rax, uint32_t *at,
			 uint8_t ret[static DWELL_PROBE_BYTES]);

/* Give back what is kept of @area, whose module is gone. */
void dw_disable_forget(struct dw_area *area);

/* Tell the new region of a fork's child what its parent measures no more. Inside dw_agent_enter().
 */
void dw_disable_forked(void);
