/*
 * What is exported: how much lies at which path, in which thread, of the samples, calls or
 * allocations that pass a filter.
 *
 * All amounts are exclusive: those of a path are in none of its parents. Their sum is the total of
 * a report under the same filter.
 */
#pragma once

#include "analysis/totals.h"
#include "base/vec.h"
#include "export/paths.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_unit { DWELL_UNIT_COUNT, DWELL_UNIT_NS, DWELL_UNIT_BYTES };

/* What is measured. */
struct dw_weight_kind {
	const char *name;
	enum dw_unit unit;
};

struct dw_weight {
	uint32_t thread; /* thread id, 0 = not known */
	uint32_t path;
};

struct dw_weights {
	const struct dw_weight_kind *kinds;
	unsigned kinds_n;
	DW_VEC(struct dw_weight) rows;
	/* Of samples: how many a row stands for, empty = one; else kinds_n for each row. */
	DW_VEC(uint64_t) values;
	DW_VEC(uint64_t) blocked; /* of samples with waits: ns, by row; a wait's has no samples */
	uint64_t period_ns;	  /* of samples: the processor time that one stands for; else 0 */
	/* Of samples in order, by row: since the start of the recording, rising. */
	DW_VEC(uint64_t) times_ns;
};

/* The *@n kinds that @p has under @filter. Static. */
const struct dw_weight_kind *dw_weights_kinds(const struct dw_profile *p,
					      const struct dw_filter *filter, unsigned *n);

/*
 * Choose from the profile of @paths, which gets the paths of calls.
 * @in_order  samples one by one, as time goes; else those of one path and thread are one row.
 * 0; -ENOMEM; DWELL_ERR_LIMIT for 2^32 rows. To be released in either case.
 */
int dw_weights_init(struct dw_weights *w, struct dw_paths *paths, const struct dw_filter *filter,
		    bool in_order);

/* Free everything. */
void dw_weights_release(struct dw_weights *w);

/* What row @i has of @kind. */
static inline uint64_t dw_weights_value(const struct dw_weights *w, size_t i, unsigned kind)
{
	uint64_t samples;

	if (!w->period_ns)
		return w->values.v[i * w->kinds_n + kind];
	if (kind == 2)
		return w->blocked.v[i];
	samples = w->values.n ? w->values.v[i] : 1;
	return kind ? samples * w->period_ns : samples;
}
