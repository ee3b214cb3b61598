/*
 * The waits that pass a filter: how long each was within it, sorted into processes.
 */
#pragma once

#include "analysis/totals.h"
#include "model/profile.h"

#include <stddef.h>
#include <stdint.h>

struct dw_chosen_wait {
	uint32_t stack;
	uint64_t ns;
};

struct dw_chosen_waits {
	struct dw_chosen_wait *v;
	size_t *end;	      /* by process id: where its waits end */
	uint64_t *by_thread;  /* ns, by thread id */
	uint64_t *by_process; /* likewise */
	uint64_t ns;	      /* all of them */
};

/* How much of @w, in ns, passes @filter, 0 = nothing. @process as below. */
uint64_t dw_wait_passing(const struct dw_profile *p, const struct dw_filter *filter,
			 const uint32_t *process, const struct dw_wait *w);

/*
 * Choose from @p. @process: by thread id, as dw_select_threads() gives it. 0 or -ENOMEM, to be
 * released in either case.
 */
int dw_waits_choose(struct dw_chosen_waits *w, const struct dw_profile *p,
		    const struct dw_filter *filter, const uint32_t *process);

/* Free everything. */
void dw_chosen_waits_release(struct dw_chosen_waits *w);
