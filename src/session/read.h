/*
 * Reading a session as a hostile file: nothing in it is trusted, nothing in it is executed.
 *
 * What a load guarantees, so that nobody after it checks again: every string, module, process,
 * thread, frame, stack and function id in every table is in range (a process's parent and a
 * thread's start included); sample.thread, stack.frame, location.function and code.function are
 * never 0; a stack's parent is smaller than its id; locations, when there are any, cover all
 * frames; what model/calls.h tells of nodes, slices and deltas holds. Not guaranteed: that times
 * ascend, that chains of parent processes end, that names are UTF-8.
 *
 * The sets behind dw_frames_add(), dw_stacks_add() and dw_functions_add() stay empty: a loaded
 * profile takes new strings, and functions when it had none, but no new frames or stacks.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "session/chunk.h"
#include "session/range.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_session_info {
	bool finished; /* symbols are inside; false: a .partial of a running or killed collector */
};

/*
 * Load the session at @path into @p (an empty profile; release it also after failure). The file may
 * be written meanwhile. Other threads may load the same file.
 * @info  may be NULL.
 * Returns 0; DWELL_ERR_FORMAT (no session, damaged, cut: @err says what and where);
 * DWELL_ERR_UNSUPPORTED (a newer version); -errno.
 */
int dw_session_load(const char *path, struct dw_profile *p, struct dw_session_info *info,
		    struct dw_error *err);

/* The same for who finishes it: nodes of calls, and groups of objects, have sums over all slices
 * instead of deltas, which dw_session_finish() takes from the file itself. Slices stay. */
int dw_session_load_to_finish(const char *path, struct dw_profile *p, struct dw_session_info *info,
			      struct dw_error *err);

/* Takes a chunk, borrowed. 0, or what ends the reading. */
typedef int dw_packed_sink_fn(void *ctx, const struct dw_packed_chunk *c, struct dw_error *err);

/* Give all chunks of @kind in the session at @path, whose checksums are right, to @sink, in their
 * order. 0, errors of dw_session_load(), or what @sink gave. */
int dw_session_each_chunk(const char *path, enum dw_chunk_kind kind, dw_packed_sink_fn *sink,
			  void *ctx, struct dw_error *err);

/*
 * As dw_session_load() for who asks for one range of time only: nodes of calls have no deltas, but
 * sums over the slices that dw_calls_select() gives; all of the time is one slice. Much less
 * memory.
 */
int dw_session_load_summed(const char *path, const struct dw_session_range *range,
			   struct dw_profile *p, struct dw_session_info *info,
			   struct dw_error *err);
