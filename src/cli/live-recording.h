/*
 * A recording that somebody looks at while it goes on: the session that another dwell writes, or
 * that of a process, which is sampled as long as somebody looks.
 *
 * One thread, but for dw_live_load().
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct dw_session_range;

struct dw_live_recording {
	char *path;	     /* of the finished session */
	char *partial;	     /* of the one that is being written */
	char *folder;	     /* ours, with both; NULL = they are somebody else's */
	pid_t recorder;	     /* ours, 0 = none */
	int told_fd;	     /* what the recorder has to tell is kept here, -1 = it is not */
	bool has_told;	     /* the recorder has said what went wrong */
	struct stat seen[2]; /* the file and its journal, at the last look */
	unsigned unheld;     /* looks at which nobody wrote it */
	atomic_bool is_left; /* nobody does, and nobody has finished it */
};

/*
 * Find what @word means: a process id, to be sampled from now on, or a session's file, with or
 * without ".partial".
 * @keep      where the session of a process is to stay, NULL = nowhere
 * @is_quiet  what its recorder has to tell waits until dw_live_close()
 * 0 or a negative code, with @err as it was when s->has_told; dw_live_close() in any case.
 */
int dw_live_open(struct dw_live_recording *s, const char *word, const char *keep, bool is_quiet,
		 struct dw_error *err);

/* The file to read now, borrowed: the partial one as long as it is there. [any-thread] */
const char *dw_live_file(const struct dw_live_recording *s);

/*
 * Load what there is by now into @p, which is empty: with names from symbol tables alone as long as
 * the recording goes on, else as reports do. @range: nobody will ask for another one; NULL = for
 * all.
 * *@ret_runs = it goes on. As dw_open_profile(). [any-thread]
 */
int dw_live_load(const struct dw_live_recording *s, const struct dw_session_range *range,
		 struct dw_profile *p, bool *ret_runs, struct dw_error *err);

/* Whether there is something else to load than at the last look. */
bool dw_live_has_changed(struct dw_live_recording *s);

/* Whether this look finds that nobody goes on with the recording. */
bool dw_live_was_left(struct dw_live_recording *s);

/* End a recording that was started here, tell what it had to tell, and remove what is not to stay.
 * Its names stay in memory, for threads that still load. */
void dw_live_close(struct dw_live_recording *s);
