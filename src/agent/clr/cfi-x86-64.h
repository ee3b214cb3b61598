/*
 * Rules of unwind tables (.eh_frame) as kinds (kinds-x86-64.h): where a frame's return address and
 * its caller's frame pointer stand. Rules that no kind can say are refused, and so is whatever is
 * not as compilers for Linux write it. Reads this process's memory so that bad addresses do no
 * harm. [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Addresses of one module. */
struct dw_cfi_range {
	uint64_t start, end;
	uint64_t index; /* its table of contents, the segment PT_GNU_EH_FRAME */
};

/* The kind of the return address @ip in @module. False: none. */
bool dw_cfi_kind(const struct dw_cfi_range *module, uint64_t ip, uint32_t *ret);
