/*
 * The way out of the trampolines that measure time, and what they stand on.
 */
#pragma once

#include "agent/calls/file-io.h"
#include "wire/clone-image.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What the trampolines could not do: @trampoline (enum dw_trampoline), with stack pointer @sp in
 * it and @what in rax, of the area that starts at @area; EXIT and RETURN: @what = the time that
 * they have read, or 0. Trampolines call it with all registers saved. The signals that were put off
 * meanwhile, by bits: the trampoline lets them come. [async-signal-safe] [any-thread]
 */
uint64_t dw_timing_slow(uint64_t trampoline, uint64_t sp, uint64_t what, uint64_t area);

/* A handler begins. Whether it has interrupted a system call that counts: its time is no part of
 * that, and dw_timing_resume_call() follows with *@ret if it returns. [async-signal-safe] */
bool dw_timing_interrupt_call(struct dw_io_call *ret);

/* Go on with what was interrupted. [async-signal-safe] */
void dw_timing_resume_call(const struct dw_io_call *call);

/* The key of function 0 of the image @h of the region's module @region_module. Inside
 * dw_agent_enter(). */
uint32_t dw_timing_first_id(uint32_t region_module, const struct dw_clone_header *h);
