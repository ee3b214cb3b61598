/*
 * What is known of functions beside sums; see call-extras.h.
 *
 * A sum is known of all activations, a range of those that have ended and were not cut out of the
 * tree, with a probe cost of its own measuring. Some activation took as much as the mean, and some
 * as little, and none more than the sum: so ranges reach to the one and not beyond the other.
 *
 * A module's range is that of all calls to its functions. Its outermost activations are among
 * these.
 *
 * Where all calls of a function were switched off, that says more than that those of some callers
 * were before; of equals the first counts.
 */
#include "analysis/call-extras.h"

#include "base/map.h"

#include <errno.h>

/* Where the rows are: process << 32 | id -> index + 1 */
struct rows {
	struct dw_map functions, modules;
};

static uint64_t key(uint32_t process, uint32_t id)
{
	return (uint64_t)process << 32 | id;
}

static int find_rows(const struct dw_totals *t, struct rows *rows)
{
	uint32_t at = 0;
	int rc = 0;

	dw_vec_each(f, &t->functions)
		rc = rc ? rc : dw_map_put(&rows->functions, key(f->process, f->function), ++at);
	at = 0;
	dw_vec_each(m, &t->modules)
		rc = rc ? rc : dw_map_put(&rows->modules, key(m->process, m->module), ++at);
	return rc;
}

/* Let the ranges of a row, whose member is *@extremes, have all that @more has. */
static int widen(struct dw_totals *t, uint32_t *extremes, const struct dw_call_ranges *more)
{
	static const struct dw_call_ranges none = DWELL_RANGES_NONE;

	if (!*extremes) {
		if (dw_vec_push(&t->extremes, none))
			return -ENOMEM;
		*extremes = (uint32_t)t->extremes.n;
	}
	dw_call_ranges_widen(&t->extremes.v[*extremes - 1], more);
	return 0;
}

/* Make @r fit the sum of @calls, if these are its activations. */
static void fit(struct dw_range_ns *r, uint64_t sum_ns, uint64_t calls)
{
	uint64_t mean = calls ? (sum_ns + calls / 2) / calls : 0;

	if (!calls || !dw_range_known(r))
		return;
	if (r->max_ns > sum_ns || calls == 1)
		r->max_ns = sum_ns;
	if (r->min_ns > mean || calls == 1)
		r->min_ns = mean;
	if (r->max_ns < mean)
		r->max_ns = mean;
}

/* Make the ranges of a row, number @extremes - 1, fit its sums. */
static void fit_sums(struct dw_totals *t, uint32_t extremes, uint32_t amounts)
{
	struct dw_call_ranges *r = extremes ? &t->extremes.v[extremes - 1] : NULL;
	struct dw_measured m = dw_totals_measured(t, amounts);
	uint64_t outer, calls;

	if (!r)
		return;
	outer = dw_measured_get(&m, DWELL_MEASURE_OUTER_CALLS, false);
	calls = dw_measured_get(&m, DWELL_MEASURE_MEASURED, false);
	fit(&r->elapsed_inclusive, dw_measured_get(&m, DWELL_MEASURE_ELAPSED, false), outer);
	fit(&r->elapsed_exclusive, dw_measured_get(&m, DWELL_MEASURE_ELAPSED, true), calls);
	fit(&r->application_inclusive, dw_measured_get(&m, DWELL_MEASURE_APPLICATION, false),
	    outer);
	fit(&r->application_exclusive, dw_measured_get(&m, DWELL_MEASURE_APPLICATION, true), calls);
}

/* The row + 1 of @function, 0 = none. */
static uint32_t row_of(const struct rows *rows, uint32_t process, uint32_t function)
{
	return dw_map_get(&rows->functions,
			  key(process, function ? function : (uint32_t)DWELL_FUNCTION_UNKNOWN));
}

/* The activations of one function in one thread. */
static int add_extremes(const struct dw_call_nodes *t, const struct rows *rows,
			const struct dw_call_extremes *e, struct dw_totals *ret)
{
	uint32_t process = e->thread < t->threads_n ? t->process[e->thread] : UINT32_MAX;
	static const struct dw_range_ns none = DWELL_RANGE_NONE;
	struct dw_call_ranges ranges = e->ranges;
	uint32_t row;
	int rc;

	if (process == UINT32_MAX)
		return 0;
	if (t->filter->whole_intervals)
		ranges.application_inclusive = ranges.application_exclusive = none;
	row = row_of(rows, process, dw_call_function_at(t, e->entry));
	rc = row ? widen(ret, &ret->functions.v[row - 1].extremes, &ranges) : 0;
	if (rc)
		return rc;
	row = dw_map_get(&rows->modules, key(process, dw_call_module_at(t, e->entry)));
	return row ? widen(ret, &ret->modules.v[row - 1].extremes, &ranges) : 0;
}

static int add_all_extremes(const struct dw_call_nodes *t, const struct rows *rows,
			    struct dw_totals *ret)
{
	int rc = 0;

	dw_vec_each(e, &t->profile->calls.extremes)
		rc = rc ? rc : add_extremes(t, rows, e, ret);
	dw_vec_each(f, &ret->functions)
		fit_sums(ret, f->extremes, f->amounts);
	dw_vec_each(m, &ret->modules)
		fit_sums(ret, m->extremes, m->amounts);
	return rc;
}

/* Whether @more says more than @known, NULL = nothing. */
static bool says_more(const struct dw_call_mute *more, const struct dw_call_mute *known)
{
	return !known || (known->flags & DWELL_MUTE_IN_PART && !(more->flags & DWELL_MUTE_IN_PART));
}

static void add_mutes(const struct dw_call_nodes *t, const struct rows *rows, struct dw_totals *ret)
{
	__auto_type mutes = &t->profile->calls.mutes;

	dw_vec_each(m, mutes) {
		uint32_t function = dw_call_function_at(t, m->entry);
		uint32_t row = function ? row_of(rows, m->process, function) : 0;
		uint32_t *mute = row ? &ret->functions.v[row - 1].mute : NULL;

		if (mute && says_more(m, *mute ? &mutes->v[*mute - 1] : NULL))
			*mute = (uint32_t)(m - mutes->v) + 1;
	}
}

int dw_call_extras_add(const struct dw_call_nodes *t, struct dw_totals *ret)
{
	const struct dw_calls *calls = &t->profile->calls;
	bool has_extremes = calls->extremes.n && !t->slices.to_ns && !t->filter->modules;
	struct rows rows = {0};
	int rc;

	if (!has_extremes && !calls->mutes.n)
		return 0;
	rc = find_rows(ret, &rows);
	if (!rc)
		add_mutes(t, &rows, ret);
	if (!rc && has_extremes)
		rc = add_all_extremes(t, &rows, ret);
	dw_map_release(&rows.functions);
	dw_map_release(&rows.modules);
	return rc;
}
