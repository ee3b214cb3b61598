/*
 * A sampled session beside an instrumented one of the same program: what share of the time each
 * function has without probes, and what it has as the probes measured it.
 *
 * Measured is application time; where the kernel was sampled, too, with the processor time in
 * system calls. What instrumentation has no row of is its caller's there (functions without probes,
 * and what functions of libraries do inside), so the samples are counted likewise: a sample belongs
 * to the innermost function on its stack that was measured, and if that is a library's, to the one
 * that measured code has called there. One thread.
 */
#pragma once

#include "base/error.h"
#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_across_side { DWELL_PLAIN, DWELL_MEASURED, DWELL_ACROSS_SIDES };

struct dw_across_row {
	uint32_t text, module; /* strings; 0 and 0 = outside of functions, of modules no text */
	uint64_t ns[DWELL_ACROSS_SIDES];
	double share_pct[DWELL_ACROSS_SIDES];
	double points;	/* by how much the measured share is larger */
	double allowed; /* what sampling alone may make of that: two standard deviations */
};

struct dw_across {
	struct dw_strings strings;
	DW_VEC(struct dw_across_row) rows; /* those whose shares differ most first */
	struct dw_pairs row_of;		   /* module, text: id - 1 */
	uint64_t all_ns[DWELL_ACROSS_SIDES];
	uint64_t samples;
	bool with_kernel;
	bool by_module;
	int64_t switched_off; /* functions, in part or for the whole run */
};

/*
 * Compare @plain, of samples of time, with @measured, of calls, by functions or @by_module. Release
 * in any case. 0, -ENOMEM, or with a line in @err DWELL_ERR_REFUSED: samples are not of time, one
 * has nothing, or they have no function in common.
 */
int dw_across_compare(const struct dw_profile *plain, const struct dw_profile *measured,
		      bool by_module, struct dw_across *ret, struct dw_error *err);

/* Whether the shares of @row differ by more than sampling alone makes. */
static inline bool dw_across_is_beyond(const struct dw_across_row *row)
{
	return row->points > row->allowed || -row->points > row->allowed;
}

/* Free everything. */
void dw_across_release(struct dw_across *a);
