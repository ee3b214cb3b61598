/*
 * What is so and what to do, where a report shows nothing or less than was hoped for.
 */
#pragma once

#include "analysis/filter.h"
#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"

#include <stdbool.h>

/* Warn when nothing of @p passes @filter, of which @t are the totals: because of its range of time,
 * or of the rest. */
void dw_hint_empty(const struct dw_profile *p, const struct dw_filter *filter,
		   const struct dw_totals *t);

/* The same for exports, which have no totals: they are made if there is a filter. 0 or -ENOMEM. */
int dw_hint_empty_export(const struct dw_profile *p, const struct dw_filter *filter);

/* Put a line below @err, which says that @p has no such function, about functions that nothing was
 * recorded of. */
void dw_hint_unmeasured(const struct dw_profile *p, struct dw_error *err);

/* The packages that have the names of functions without, commas between; the caller frees them.
 * NULL: there are none, or these are not known here. */
char *dw_hint_packages(const struct dw_profile *p, const struct dw_totals *t);
