/*
 * What is exported: how much lies at which path, in which thread, of all that passes a filter.
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
struct dw_value_kind {
	const char *name;
	enum dw_unit unit;
	enum dw_measure measure;
	unsigned stored; /* its place among a row's values */
	bool is_cpu;	 /* of a sample the processor time that it stands for */
};

struct dw_sample_row {
	uint32_t thread; /* thread id, 0 = not known */
	uint32_t path;
};

struct dw_sample_values {
	const struct dw_value_kind *kinds;
	unsigned kinds_n, stored_n;
	DW_VEC(struct dw_sample_row) rows;
	DW_VEC(uint64_t) values; /* stored_n a row, empty = each is one sample */
	uint64_t period_ns;	 /* of samples, else 0 */
	/* Of samples in order, by row: since the start of the recording, rising. */
	DW_VEC(uint64_t) times_ns;
};

/* The *@n kinds that @p has under @filter. Static. */
const struct dw_value_kind *dw_sample_values_kinds(const struct dw_profile *p,
						   const struct dw_filter *filter, unsigned *n);

/*
 * Choose from the profile of @paths, which gets the paths of calls.
 * @in_order  samples one by one, as time goes; else those of one path and thread are one row.
 * 0; -ENOMEM; DWELL_ERR_LIMIT for 2^32 rows. To be released in either case.
 */
int dw_sample_values_init(struct dw_sample_values *w, struct dw_paths *paths,
			  const struct dw_filter *filter, bool in_order);

/* Free everything. */
void dw_sample_values_release(struct dw_sample_values *w);

/* What row @i has of @kind. */
static inline uint64_t dw_sample_value(const struct dw_sample_values *w, size_t i, unsigned kind)
{
	const struct dw_value_kind *k = &w->kinds[kind];
	uint64_t value = w->values.n ? w->values.v[i * w->stored_n + k->stored] : 1;

	return k->is_cpu ? value * w->period_ns : value;
}
