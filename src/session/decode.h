/*
 * From raw chunks to the tables of a profile, with every number checked.
 *
 * What was decoded may be indexed without further checks: strings, modules, functions, frames and
 * stacks exist, the parent of a stack has a smaller id, the rows of a frame lie in the locations.
 * References to rows that may come later (a process's parent, a thread's start) count only after
 * dw_decode_finish().
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "session/chunk.h"
#include "session/encode.h"
#include "session/values.h"

/*
 * Append what @c holds to @p. 0; -ENOMEM; DWELL_ERR_FORMAT (@err names the column); on failure @p
 * is only good for release.
 * @sums  NULL, or which deltas of calls to add up instead, by node.
 */
int dw_decode_chunk(const struct dw_raw_chunk *c, const struct dw_call_sums *sums,
		    struct dw_profile *p, struct dw_error *err);

/* Read the chunk of the index. 0 or DWELL_ERR_FORMAT. */
int dw_decode_index(const struct dw_raw_chunk *c, struct dw_session_index *ret,
		    struct dw_error *err);

/* Make room in @p for what @index says is to come, of the largest tables, as far as it is believed:
 * up to @items_max of each. Growing them step by step would copy and touch twice the memory. 0 or
 * -ENOMEM. */
int dw_decode_expect(const struct dw_session_index *index, uint64_t items_max,
		     struct dw_profile *p);

/* Check the references between tables that only the whole can tell. 0 or DWELL_ERR_FORMAT. */
int dw_decode_finish(struct dw_profile *p, struct dw_error *err);
