/*
 * From samples to totals, under a filter. See model/totals.h for the rules of counting.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"

#include <stdint.h>

/* Which samples count. Zero-initialised = all of them (with to_ns = 0 meaning no end). */
struct dw_filter {
	const uint32_t *processes; /* process ids, NULL = all */
	size_t processes_n;
	const uint32_t *threads; /* thread ids, NULL = all */
	size_t threads_n;
	uint64_t from_ns;	/* inclusive */
	uint64_t to_ns;		/* exclusive, 0 = no end */
	const uint8_t *modules; /* by module id: 1 = keep samples whose innermost frame lies in it;
				   NULL = all */
	size_t modules_n;
	uint32_t root; /* not a filter on samples: the call tree starts at the outermost activations
			  of this function; 0 = at the process */
};

/* What to compute. The rest stays empty. */
enum dw_totals_part {
	DWELL_TOTALS_FUNCTIONS = 1,
	DWELL_TOTALS_MODULES = 2,
	DWELL_TOTALS_NODES = 4,
	DWELL_TOTALS_EDGES = 8,
	DWELL_TOTALS_LINES = 16,
	DWELL_TOTALS_INSTRUCTIONS = 32,
	DWELL_TOTALS_TASKS = 64, /* processes and threads */
	DWELL_TOTALS_ALL = 127,
};

/*
 * Compute @parts of the samples of @p that pass @filter (NULL = all) into @ret, which is released
 * first.
 * @p must be symbolized. 0 or -ENOMEM; DWELL_ERR_LIMIT for 2^32 samples and more.
 */
int dw_totals_compute(const struct dw_profile *p, const struct dw_filter *filter, unsigned parts,
		      struct dw_totals *ret);
