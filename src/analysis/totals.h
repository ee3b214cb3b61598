/*
 * From samples, calls or allocations to totals, under a filter. See model/totals.h for the rules of
 * counting.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What nobody will look at need not be computed. Not a filter: what remains keeps its values.
 * Zero-initialised = all of it.
 */
struct dw_focus {
	uint32_t root;	   /* nodes: start at the outermost activations of this function */
	double min_pct;	   /* nodes: leave out those below this share of all samples */
	bool hot_path;	   /* nodes: of all children the heaviest only */
	bool work;	   /* calls: what was waited for is found out; else work is elapsed time */
	size_t rows;	   /* nodes: of each tree only so many, and their siblings, in the order of
			    * trees by inclusive, then exclusive values; 0 = all */
	uint32_t function; /* edges: only those from and to this function; slowest, files: of it */
};

/* Which samples count, and what of calls and allocations: their range snaps to slices, see
 * dw_totals.from_ns. Zero-initialised = all of them (with to_ns = 0 meaning no end). */
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
	const uint8_t *types; /* allocations, by type id - 1: 1 = keep; NULL = all */
	size_t types_n;
	dw_wait_kinds waits_left_out; /* waits of these kinds do not count */
	bool delimited_intervals; /* calls: the classic rule, by which only probes end intervals */
	bool latency;	   /* no filter: rows have DWELL_MEASURE_LATENCY, of samples of time */
	enum dw_by by;	   /* likewise: what rows are split by */
	bool splits_lines; /* likewise: statements of one line are apart, by their columns */
	struct dw_focus focus;
};

/* What to compute. The rest stays empty. */
enum dw_totals_part {
	DWELL_TOTALS_FUNCTIONS = 1,
	DWELL_TOTALS_MODULES = 2,
	DWELL_TOTALS_NODES = 4,
	DWELL_TOTALS_EDGES = 8,
	DWELL_TOTALS_LINES = 16,
	DWELL_TOTALS_INSTRUCTIONS = 32,
	DWELL_TOTALS_TASKS = 64,    /* processes and threads */
	DWELL_TOTALS_SLOWEST = 128, /* of calls */
	DWELL_TOTALS_TYPES = 256,   /* of allocations */
	DWELL_TOTALS_GCS = 512,	    /* likewise */
	DWELL_TOTALS_FILES = 1024,  /* of calls: read and written */
	DWELL_TOTALS_ALL = 2047,
	DWELL_TOTALS_PATHS = 2048,    /* of allocations: nodes by type, not together with NODES */
	DWELL_TOTALS_EXTERNAL = 4096, /* of calls: the heaviest module without probes */
	DWELL_TOTALS_HOT = 8192,      /* the hot rows of what else is asked for, not split */
	DWELL_TOTALS_WAITS = 16384, /* where waits of each kind are; their sums always are there */
};

/*
 * Compute @parts of the samples (calls, allocations) of @p that pass @filter (NULL = all)
 * into @ret, which is released first.
 * @p must be symbolized. 0 or -ENOMEM; DWELL_ERR_LIMIT for 2^32 samples, or deltas of calls, and
 * more.
 */
int dw_totals_compute(const struct dw_profile *p, const struct dw_filter *filter, unsigned parts,
		      struct dw_totals *ret);
