/*
 * What dwell live looks at: the session of a recording that somebody else makes, or of one that it
 * starts itself to look at a running process.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_live_source {
	char *path;	/* of the finished session */
	char *partial;	/* of the one that is being written */
	char *folder;	/* ours, with both; NULL = they are somebody else's */
	pid_t recorder; /* ours, 0 = none */
	bool has_told;	/* the recorder has said what went wrong */
};

/*
 * Find what @word means: a process id, to be sampled from now on, or a session's file, with or
 * without ".partial". @keep: where the session of a process is to stay, NULL = nowhere.
 * 0 or a negative code, with @err as it was when s->has_told; dw_live_source_close() in any case.
 */
int dw_live_source_open(struct dw_live_source *s, const char *word, const char *keep,
			struct dw_error *err);

/* The file to read now, borrowed: the partial one as long as it is there. */
const char *dw_live_source_file(const struct dw_live_source *s);

/* End a recording that was started here, remove what is not to stay, and free everything. */
void dw_live_source_close(struct dw_live_source *s);
