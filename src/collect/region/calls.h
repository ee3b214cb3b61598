/*
 * From the trees in a region to the calls of a profile: copies, checked, then differences.
 *
 * One reader for each region. Each reading makes a slice: what has come since the last one. What a
 * hostile target writes gives odd numbers, never a bad index: nodes that break the rules of
 * wire/call-tree.h are dropped and counted. One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/region/read.h"
#include "model/profile.h"

#include <stdint.h>

struct dw_region_calls;

/* How the reader learns what addresses and ids mean. */
struct dw_region_calls_names {
	/*
	 * The frames of a callee. Module @module (index in the region) has function or import
	 * @index; a @module of UINT32_MAX: the address @index. *@entry is the frame of its first
	 * instruction, 0 = nothing is known of it; *@outside tells that it is not instrumented. 0
	 * or -ENOMEM.
	 */
	int (*callee)(void *ctx, uint32_t module, uint64_t index, uint32_t *entry, bool *outside);
	/*
	 * The frame of a call site in the caller whose key is of @module: the low half @low of an
	 * address in a clone or elsewhere, a return address if @is_return. 0 or -ENOMEM.
	 */
	int (*site)(void *ctx, uint32_t module, uint32_t low, bool is_return, uint32_t *frame);
	void *ctx;
};

/* A reader for the process @process of @p (borrowed, as @names). 0 or -ENOMEM. */
int dw_region_calls_new(struct dw_profile *p, uint32_t process,
			const struct dw_region_calls_names *names, struct dw_region_calls **ret);

/*
 * Read the region @fd, whose head was just read, and add what is new to slice @slice of the
 * profile; @is_last closes all threads at their ends. 0; DWELL_ERR_FORMAT; -ENOMEM; -errno.
 */
int dw_region_calls_read(struct dw_region_calls *r, int fd, const struct dw_region_head *head,
			 uint32_t slice, bool is_last);

/* Free everything. NULL is fine. */
void dw_region_calls_free(struct dw_region_calls *r);
