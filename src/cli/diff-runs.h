/*
 * Recording two commands in turns, for a comparison: what drifts on a machine meanwhile then is the
 * same for both. One thread.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "compare/names.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum { DWELL_DIFF_SIGNALS = 4 }; /* that end recording, and remove what there is */

/* A recorded run. */
struct dw_diff_run {
	enum dw_side side;
	char *path; /* owned */
};

struct dw_diff_runs {
	char *folder; /* owned */
	bool is_temporary;
	int signal_number;	      /* that interrupted it, 0 = none did */
	DW_VEC(struct dw_diff_run) v; /* in the order of recording */
	bool is_watching;	      /* signals, whose actions were these: */
	struct sigaction before[DWELL_DIFF_SIGNALS];
};

struct dw_diff_recording {
	const char *commands[DWELL_SIDES]; /* words as a shell splits them */
	const char *method;		   /* "sample", "instrument", "memory" */
	const char *keep;		   /* folder to leave sessions in; NULL = a temporary one */
	size_t runs;			   /* a side */
	/* Is given each session when it is there, and may refuse it. */
	int (*take)(void *arg, const struct dw_diff_run *run, struct dw_error *err);
	void *arg;
};

/*
 * Record: base, new, new, base, base, ... Standard output of the commands is dropped. A line on
 * stderr tells the first run of a side that ends with another status than the base's first.
 * Returns 0; DWELL_ERR_USAGE (a command that no words come of); DWELL_ERR_INTERRUPTED (a signal);
 * what r->take() said; else a negative code with one line. Release @ret in any case: until then
 * signals end us only when what is temporary was removed.
 */
int dw_diff_runs_record(struct dw_diff_runs *ret, const struct dw_diff_recording *r,
			struct dw_error *err);

/* Remove a temporary folder, and free everything. */
void dw_diff_runs_release(struct dw_diff_runs *r);
