/*
 * Writing a session: FILE.partial while it runs, FILE when it is finished.
 *
 * The ring thread takes a delta (what is new in the profile) and queues it; a thread of the
 * writer's own compresses and commits. Every commit leaves FILE.partial complete by itself. Format
 * and rules of the names: docs/session-format.md.
 *
 * At a file-size limit the kernel sends SIGXFSZ, which the process must ignore: the write tells.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"

#include <stdbool.h>

struct dw_session_writer;
struct dw_session_finishing;

/*
 * Check @path as dw_session_check_output() does, create @path.partial with the schema and start the
 * writer thread. DWELL_ERR_REFUSED, -errno: nothing was changed. *@ret on success only.
 */
int dw_session_create(const char *path, struct dw_session_writer **ret, struct dw_error *err);

/*
 * Hand everything that is new in @p since the last call to the writer thread and clear
 * p->samples, p->waits, p->calls.deltas, .extremes, .slow and .files, and
 * p->allocations.deltas.
 * Never waits for the disk; rows with a dirty flag are written again. Returns 0; -ENOMEM; or the
 * first failure of the writer thread (disk full: -ENOSPC; DWELL_ERR_LIMIT: 256 MB wait for a slow
 * disk already), which repeats; what was committed before stays readable.
 */
int dw_session_flush(struct dw_session_writer *w, struct dw_profile *p, struct dw_error *err);

/* Wait until all that was flushed is committed: for who has more to write than the disk keeps up
 * with, and time. Returns the writer's state as flush does. */
int dw_session_wait(struct dw_session_writer *w, struct dw_error *err);

/* Wait until all that was flushed is committed and end the writer thread. FILE.partial stays, and
 * stays held until @w is freed. Returns its state as flush does. */
int dw_session_close_partial(struct dw_session_writer *w, struct dw_error *err);

/* Free @w, closed or not. NULL is fine. FILE.partial stays unless @discard. */
void dw_session_writer_free(struct dw_session_writer *w, bool discard);

/* Hold the @partial of a killed collector, so that no other command finishes or replaces it, until
 * *@ret is closed. 0, -errno, or DWELL_ERR_REFUSED when its writer lives. */
int dw_session_hold(const char *partial, int *ret, struct dw_error *err);

/*
 * Finish @partial: write the loaded and symbolized @p, its symbols, code and facts, and @totals
 * beside it, and rename that to @path, replacing a session there atomically. Works on the file of
 * an ended writer and on one that a killed collector left (`dwell recover`), which the caller holds
 * meanwhile. Frames and stacks that no sample names are kept. On failure @partial stays as it was.
 * Of a profile of dw_session_load_to_finish(), nodes and deltas are taken from @partial.
 */
int dw_session_finish(const char *partial, const char *path, const struct dw_profile *p,
		      const struct dw_totals *totals, struct dw_error *err);

/* The same in two steps: begin, and a thread writes @p, which the caller may read and leaves as it
 * is until the end. On success *@ret is to be ended. */
int dw_session_finish_begin(const char *partial, const char *path, const struct dw_profile *p,
			    struct dw_session_finishing **ret, struct dw_error *err);

/* End @f and free it: with @totals, or without (NULL), and everything stays as it was. */
int dw_session_finish_end(struct dw_session_finishing *f, const struct dw_totals *totals,
			  struct dw_error *err);

/* Whether a session may be put at @path: absent, or a session, in a folder that may be written. 0;
 * DWELL_ERR_REFUSED, DWELL_ERR_USAGE for no name, or -errno, with a message. */
int dw_session_check_target(const char *path, struct dw_error *err);

/*
 * Whether @path may be written by a recording: as dw_session_check_target(), and there is no
 * @path.partial that a living writer holds or that has samples of a killed one.
 */
int dw_session_check_output(const char *path, struct dw_error *err);
