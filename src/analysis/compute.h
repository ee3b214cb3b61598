/*
 * What takes long: totals, and loading a session once more. A job does one of these, in whichever
 * thread; until it is done nobody else changes the profile, which jobs read, or looks at where the
 * instructions of its frames begin, which they may find out.
 */
#pragma once

#include "analysis/just-my-code.h"
#include "analysis/selection.h"
#include "analysis/totals.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How it is with the recording of a session. */
enum dw_recording_state {
	DWELL_RECORDING_ENDED = 0,
	DWELL_RECORDING_RUNS,
	DWELL_RECORDING_LEFT, /* nobody goes on with it, and nobody has finished it */
};

/* Load the session of @ctx into @p, which is empty, for one range of time (@to_ns 0 = no end). In
 * any thread, also in two at a time. 0, or why not: @err has one line. */
typedef int dw_load_fn(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		       enum dw_recording_state *ret, struct dw_error *err);

/* Which totals. */
struct dw_totals_wanted {
	unsigned parts;
	uint32_t root;
	bool hot_path;
	bool folds;	 /* the system's code, */
	uint32_t opened; /* but for this function, 0 = none */
	enum dw_by by;	 /* these three as in struct dw_filter */
	bool splits_lines;
	bool delimited_intervals;
	bool latency; /* as in struct dw_filter; not wanted is not refused */
};

/* Totals that were computed. */
struct dw_totals_kept {
	struct dw_totals_wanted are;
	struct dw_selection *selection; /* of this part of the session, a reference */
	struct dw_totals totals;
};

/* The profile without the system's code. */
struct dw_folded_kept {
	uint32_t opened;
	struct dw_folded folded;
};

struct dw_totals_store {
	DW_VEC(struct dw_totals_kept *) kept;	/* the oldest first */
	DW_VEC(struct dw_folded_kept *) folded; /* what some of these were computed of */
};

/* The folded profile that what is wanted is computed of, NULL = there is none. */
struct dw_folded_kept *dw_totals_store_folded(const struct dw_totals_store *t,
					      const struct dw_totals_wanted *wanted);

/* Totals of @s that have all that is wanted, NULL = there are none. */
struct dw_totals_kept *dw_totals_store_find(const struct dw_totals_store *t,
					    const struct dw_selection *s,
					    const struct dw_totals_wanted *wanted);

/* Keep @kept, which is taken over unless that fails. Of other parts of the session than @s only the
 * last few are kept. 0 or -ENOMEM. */
int dw_totals_store_add(struct dw_totals_store *t, struct dw_totals_kept *kept,
			const struct dw_selection *s);

/* Free the totals computed first until there are at most @max, and profiles of which there are no
 * totals any more. */
void dw_totals_store_limit(struct dw_totals_store *t, size_t max);

/* Keep @f, which is taken over unless that fails. 0 or -ENOMEM. */
int dw_totals_store_add_folded(struct dw_totals_store *t, struct dw_folded_kept *f);

/* Free everything. */
void dw_totals_store_release(struct dw_totals_store *t);

struct dw_job {
	struct dw_profile *profile;    /* borrowed: what totals are of */
	bool tells;		       /* find out before where instructions begin */
	struct dw_totals_kept *kept;   /* to be filled, owned; NULL = to load */
	struct dw_folded_kept *folded; /* of which they are computed; NULL = of the profile, */
	bool folds;		       /* and it is to be made first, owned */

	dw_load_fn *load;
	void *load_ctx; /* borrowed */
	uint64_t from_ns, to_ns;
	struct dw_profile loaded;
	enum dw_recording_state state;

	bool is_given_up; /* nobody wants it any more */
	bool is_ahead;	  /* nobody waits for it yet */
	uint64_t took_ns;
	int rc; /* what became of it, with err where it was loading */
	struct dw_error err;
};

/* A job that computes what is @wanted of @s, of a folded profile that @t has if it has that. NULL =
 * no memory. */
struct dw_job *dw_job_compute(struct dw_profile *p, struct dw_selection *s,
			      const struct dw_totals_store *t,
			      const struct dw_totals_wanted *wanted);

/* A job that loads the session of @ctx. NULL = no memory. */
struct dw_job *dw_job_load(dw_load_fn *load, void *ctx, uint64_t from_ns, uint64_t to_ns);

/* Let @t, of what @s is of, have what @job, which is done, has computed. 0, or why there is
 * nothing. */
int dw_job_keep(struct dw_job *job, struct dw_totals_store *t, const struct dw_selection *s);

/* Do it: @job is a struct dw_job. [any-thread] */
void dw_job_run(void *job);

/* Free it and what it has made. NULL does nothing. */
void dw_job_free(struct dw_job *job);
