/*
 * What a recording of calls leaves beside the session: what became of processes and of the images
 * of their modules.
 */
#pragma once

#include "collect/region/regions.h"
#include "record/images.h"
#include "record/scope.h"

#include <stdbool.h>
#include <stdint.h>

/* What became of the processes of an instrumented command. */
struct dw_instrument_stats {
	uint64_t processes;    /* programs that ran with an agent, forks' children counted apart */
	uint64_t instrumented; /* of these: some module ran from clones */
	uint64_t off[DWELL_OFF_MISMATCH +
		     1]; /* of these: the agent was off, by enum dw_region_off */
	uint64_t drops[DWELL_DROP_N];
	uint64_t runtimes;	 /* of .NET that were loaded */
	uint64_t java_runtimes;	 /* likewise */
	uint64_t images_refused; /* modules beyond DWELL_IMAGES_MAX, or that nobody may read */
	struct dw_regions_stats regions;
};

struct dw_instrument_result {
	bool is_untouched; /* the command itself could not take the agent */
	struct dw_instrument_stats stats;
	struct dw_images *images; /* freed by dw_instrument_release(), as the next */
	struct dw_scope scope;
};

/* Free what @r owns, plain values stay. */
void dw_instrument_release(struct dw_instrument_result *r);
