/*
 * Native code between managed functions, where somebody wants to know which it is: what leads from
 * its return addresses to their callers, by the unwind tables of the module that they lie in, and
 * what they are called in the region's tables.
 *
 * The loader says which module that is without a lock (_dl_find_object, glibc 2.35). Where that is
 * not known native code stays one nameless frame. May be called where no collection is allowed.
 * [any-thread]
 */
#pragma once

#include "wire/allocations.h"

#include <stdbool.h>
#include <stdint.h>

/* Look for the loader's help. False: there is none. */
bool dw_natives_start(void);

/* Whether @ip lies in a module of the loader's. */
bool dw_natives_has(uint64_t ip);

/* The frame rule (frame-rules-x86-64.h) of the return address @ip. False: no table says one that is
 * simple enough. */
bool dw_natives_frame_rule(uint64_t ip, uint32_t *ret);

/* The row of the frame at the return address @ip, DWELL_CLR_FRAME_NATIVE = it has no name. */
uint32_t dw_natives_frame(uint64_t ip);

/* Remember which module the return address @ip lies in, as dw_natives_frame() does. False: none, or
 * no room. */
bool dw_natives_note(uint64_t ip);

/* Whether @row is a frame that dw_natives_frame() gives. */
bool dw_natives_is(uint32_t row);

/* Whether @ip lies in the module that it lay in when it was noted, or in none as then. */
bool dw_natives_is_current(uint64_t ip);

/* A module has gone. Inside dw_agent_enter(). */
void dw_natives_forget(void);

/*
 * Rules of unwind tables (.eh_frame) as frame rules (frame-rules-x86-64.h): where a frame's return
 * address and its caller's frame pointer stand. Those that no frame rule can say are refused, and
 * so is whatever is not as compilers for Linux write it. Reads this process's memory so that bad
 * addresses do no harm. [any-thread]
 */

/* Addresses of one module. */
struct dw_cfi_range {
	uint64_t start, end;
	uint64_t index; /* its table of contents, the segment PT_GNU_EH_FRAME */
};

/* The frame rule of the return address @ip in @module. False: none. */
bool dw_cfi_frame_rule(const struct dw_cfi_range *module, uint64_t ip, uint32_t *ret);
