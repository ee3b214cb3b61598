/*
 * What takes long: totals, and loading a session once more. A job does one of these, in whichever
 * thread; until it is done nobody else changes the profile, which jobs read, or looks at where the
 * instructions of its frames begin, which they may find out.
 */
#pragma once

#include "analysis/totals.h"
#include "base/error.h"
#include "tui/selection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Load the session at @path into @p, which is empty, for one range of time (@to_ns 0 = no end). */
typedef int dw_load_fn(const char *path, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		       struct dw_error *err);

/* Which totals. */
struct dw_totals_wanted {
	unsigned parts;
	uint32_t root;
	bool hot_path;
};

/* Totals that were computed. */
struct dw_totals_kept {
	struct dw_totals_wanted are;
	struct dw_selection *selection; /* of this part of the session, a reference */
	struct dw_totals totals;
};

struct dw_totals_store {
	DW_VEC(struct dw_totals_kept *) kept; /* the oldest first */
};

/* Totals of @s that have all that is wanted, NULL = there are none. */
struct dw_totals_kept *dw_totals_store_find(const struct dw_totals_store *t,
					    const struct dw_selection *s,
					    const struct dw_totals_wanted *wanted);

/* Keep @kept, which is taken over unless that fails. Of other parts of the session than @s only the
 * last few are kept. 0 or -ENOMEM. */
int dw_totals_store_add(struct dw_totals_store *t, struct dw_totals_kept *kept,
			const struct dw_selection *s);

/* Free everything. */
void dw_totals_store_release(struct dw_totals_store *t);

struct dw_job {
	struct dw_profile *profile;  /* borrowed: what totals are of */
	bool tells;		     /* find out before where instructions begin */
	struct dw_totals_kept *kept; /* to be filled, owned; NULL = to load */

	dw_load_fn *load;
	const char *path; /* borrowed */
	uint64_t from_ns, to_ns;
	struct dw_profile loaded;

	bool is_given_up; /* nobody wants it any more */
	bool is_ahead;	  /* nobody waits for it yet */
	int rc;		  /* what became of it, with err where it was loading */
	struct dw_error err;
};

/* A job that computes what is @wanted of @s. NULL = no memory. */
struct dw_job *dw_job_compute(struct dw_profile *p, struct dw_selection *s,
			      const struct dw_totals_wanted *wanted);

/* A job that loads the session at @path. NULL = no memory. */
struct dw_job *dw_job_load(dw_load_fn *load, const char *path, uint64_t from_ns, uint64_t to_ns);

/* Do it: @job is a struct dw_job. [any-thread] */
void dw_job_run(void *job);

/* Free it and what it has made. NULL does nothing. */
void dw_job_free(struct dw_job *job);
