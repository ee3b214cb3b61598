/* Limits of rows of calls; see call-limits.h. */
#include "analysis/call-limits.h"

#include <errno.h>

enum { LIMITED = 4 };

/* The measures that are limited: the first two are at least what is a row's own. */
static const enum dw_measure measures[LIMITED] = {DWELL_MEASURE_ELAPSED, DWELL_MEASURE_APPLICATION,
						  DWELL_MEASURE_WHOLE, DWELL_MEASURE_BLOCKED};

static void limit(uint64_t v[LIMITED], const uint64_t most[LIMITED])
{
	for (int i = 0; i < LIMITED; i++)
		v[i] = v[i] < most[i] ? v[i] : most[i];
}

/* What is inclusive in @row. */
static void inclusive(const struct dw_amounts *a, uint32_t row, uint64_t ret[LIMITED])
{
	const struct dw_measured m = {.table = a, .row = row};

	for (int i = 0; i < LIMITED; i++)
		ret[i] = dw_measured_get(&m, measures[i], false);
}

/* Let @row have @v, or more where its own is. 0 or -ENOMEM. */
static int set(struct dw_amounts *a, uint32_t row, uint64_t v[LIMITED])
{
	const struct dw_measured m = {.table = a, .row = row};
	uint64_t old[LIMITED], own;
	struct dw_values *rare;
	bool differs = false;

	inclusive(a, row, old);
	for (int i = 0; i < 2; i++) {
		own = dw_measured_get(&m, measures[i], true);
		v[i] = v[i] < own ? own : v[i];
	}
	for (int i = 0; i < LIMITED; i++)
		differs |= v[i] != old[i];
	if (!differs)
		return 0;
	rare = dw_amounts_rare(a, row);
	if (!rare)
		return -ENOMEM;
	dw_amounts_common(a, row, DWELL_MEASURE_ELAPSED)->inclusive = v[0];
	rare -= a->common_n + 1u; /* so that places are indices */
	rare[a->place[DWELL_MEASURE_APPLICATION]].inclusive = v[0] - v[1];
	rare[a->place[DWELL_MEASURE_WHOLE]].inclusive = v[0] - v[2];
	rare[a->place[DWELL_MEASURE_BLOCKED]].inclusive = v[3];
	return 0;
}

/* Whether nothing of @row is limited, of which one look tells where all time was the program's. */
static bool is_within(const struct dw_amounts *a, uint32_t row, const uint64_t most[LIMITED])
{
	const struct dw_values *elapsed = dw_amounts_common(a, row, DWELL_MEASURE_ELAPSED);

	return !a->rare_of.v[row] && elapsed->inclusive >= elapsed->exclusive &&
	       elapsed->inclusive <= most[0] && elapsed->inclusive <= most[1] &&
	       elapsed->inclusive <= most[2];
}

static int limit_rows(const struct dw_flat *f, const struct dw_flat_rows *rows,
		      const uint64_t most[LIMITED])
{
	struct dw_amounts *a = &f->out->amounts;
	uint64_t v[LIMITED];
	int rc = 0;

	dw_vec_each(id, &rows->seen) {
		uint32_t row = rows->v[*id].amounts - 1;

		if (is_within(a, row, most))
			continue;
		inclusive(a, row, v);
		limit(v, most);
		rc |= set(a, row, v);
	}
	return rc;
}

/* Let @v be no more than what is inclusive in @function, if that has a row. */
static void limit_to(const struct dw_flat *f, uint32_t function, uint64_t v[LIMITED])
{
	uint64_t most[LIMITED];

	if (!f->functions.ids_n || !f->functions.v[function].amounts)
		return;
	inclusive(&f->out->amounts, f->functions.v[function].amounts - 1, most);
	limit(v, most);
}

static int limit_edges(const struct dw_flat *f)
{
	struct dw_amounts *a = &f->out->amounts;
	int rc = 0;

	dw_vec_each(id, &f->edges.seen) {
		uint32_t row = f->edges.v[*id].amounts - 1;
		struct dw_flat_edge key = f->keys.v[*id];
		uint64_t v[LIMITED];

		inclusive(a, row, v);
		limit_to(f, key.callee, v);
		if (key.caller && key.caller < f->subjects->functions_n)
			limit_to(f, key.caller, v);
		rc |= set(a, row, v);
	}
	return rc;
}

int dw_call_limits_apply(struct dw_flat *f, const struct dw_call_values *all)
{
	const uint64_t most[LIMITED] = {all->elapsed_ns, all->application_ns, all->whole_ns,
					all->blocked_ns};
	int rc = limit_rows(f, &f->functions, most);

	rc |= limit_rows(f, &f->modules, most);
	rc |= limit_rows(f, &f->lines, most);
	rc |= limit_rows(f, &f->instructions, most);
	rc |= limit_rows(f, &f->edges, most);
	rc |= limit_edges(f);
	return rc ? -ENOMEM : 0;
}
