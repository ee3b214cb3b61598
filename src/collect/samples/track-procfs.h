/*
 * What /proc tells of tracked processes: which threads one has, where no record tells that they
 * begin, end or have another name, and its mappings.
 */
#pragma once

#include "collect/samples/track.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Take in one new executable mapping of @p. 0 or -ENOMEM. */
int dw_track_map(struct dw_track *t, struct dw_tracked_process *p,
		 const struct dw_perf_mapping *mapping);

struct dw_track_look {
	uint64_t now_ns;   /* CLOCK_MONOTONIC; no two looks at a process at the same time */
	uint64_t begin_ns; /* of what is new; where that is the recording's, it runs since before */
	uint64_t told_ns;  /* what was told by then was taken in: who was gone before, ends */
	uint64_t untold;   /* added to: threads seen often, of which their process did not tell */
	bool names;	   /* also of threads that are known */
};

/* Look at the threads of @pid. 0, -ENOMEM, or when it is gone, whose threads have not ended yet,
 * -ENOENT or -ESRCH. */
int dw_track_look(struct dw_track *t, pid_t pid, struct dw_track_look *look);

/* End thread @tid of @pid if a look found it gone, and what happened at @time_ns was done by
 * another one of its number. */
void dw_track_end_gone(struct dw_track *t, pid_t pid, pid_t tid, uint64_t time_ns);

/* All threads of @pid have ended. */
void dw_track_end_process(struct dw_track *t, pid_t pid, uint64_t time_ns);
