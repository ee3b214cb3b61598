/*
 * Cells of calls; see call-cell.h.
 *
 * The four groups of times have the same five columns each, so a column is a group and a place in
 * it. Elapsed times are shares of the session's elapsed time, application times of its application
 * time, exclusive ones too, all after the filter. Inclusive means divide by outermost activations,
 * because inclusive values count those only.
 */
#include "view/call-cell.h"

#include <stdlib.h>
#include <string.h>

enum place { TOTAL, PERCENT, AVG, MAX, MIN, PLACES };

enum group { EI, EE, AI, AE };

_Static_assert(DWELL_COLUMN_AE_MIN == DWELL_COLUMN_EI + 4 * PLACES - 1, "four groups of five");

static void set_number(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	*c = (struct dw_cell){.kind = kind, .number = n};
}

static void set_share(struct dw_cell *c, uint64_t n, uint64_t all)
{
	*c = (struct dw_cell){.kind = DWELL_CELL_PERCENT,
			      .percent = all ? 100.0 * (double)n / (double)all : 0};
}

static uint64_t time_of(const struct dw_call_total *t, enum group group)
{
	const struct dw_call_values *v = group == EI || group == AI ? &t->inclusive : &t->exclusive;

	return group == EI || group == EE ? v->elapsed_ns : v->application_ns;
}

static struct dw_range_ns range_of(const struct dw_call_ranges *r, enum group group)
{
	switch (group) {
	case EI:
		return r->elapsed_inclusive;
	case EE:
		return r->elapsed_exclusive;
	case AI:
		return r->application_inclusive;
	default:
		return r->application_exclusive;
	}
}

static void range_cell(const struct dw_row *row, enum group group, bool is_max, struct dw_cell *ret)
{
	struct dw_range_ns range = DWELL_RANGE_NONE;

	if (row->ranges)
		range = range_of(row->ranges, group);
	if (dw_range_known(&range))
		set_number(ret, DWELL_CELL_CALL_NS, is_max ? range.max_ns : range.min_ns);
}

static void time_cell(const struct dw_view *v, const struct dw_row *row, unsigned at,
		      struct dw_cell *ret)
{
	const struct dw_call_total *t = row->calls;
	enum group group = at / PLACES;
	bool inclusive = group == EI || group == AI;
	uint64_t calls = inclusive ? t->outer_calls : dw_totals_measured(t);
	uint64_t ns = time_of(t, group);

	switch ((enum place)(at % PLACES)) {
	case TOTAL:
		return set_number(ret, DWELL_CELL_DURATION_NS, ns);
	case PERCENT:
		return set_share(
			ret, ns,
			time_of(&v->request.totals->all, group == EI || group == EE ? EI : AI));
	case AVG:
		if (calls)
			set_number(ret, DWELL_CELL_CALL_NS, (ns + calls / 2) / calls);
		return;
	default:
		return range_cell(row, group, at % PLACES == MAX, ret);
	}
}

/* How far off the time of a call may be, ns: what loops said of its probes, which is two readings
 * of the clock, and what samples made of that. */
static double uncertainty(const struct dw_profile *p)
{
	const struct dw_facts *f = &p->facts;
	double function = (double)dw_facts_get(f, "probes_function_ps", 0) / 1e3;
	double outside = (double)dw_facts_get(f, "probes_outside_ps", 0) / 1e3;
	double looped = (double)dw_facts_get(f, "probes_looped_ns", 0);
	double found = (double)dw_facts_get(f, "probes_found_ns", 0);
	double cost = function > outside ? function : outside, in_loops = cost;

	if (looped > 0 && found > 0)
		in_loops = cost * looped / found;
	return in_loops > cost ? 2 * in_loops - cost : cost;
}

uint64_t dw_call_at_most(const struct dw_profile *p, const struct dw_call_total *t)
{
	double n = (double)dw_totals_measured(t), own = (double)t->exclusive.application_ns;
	double off = n > 0 ? uncertainty(p) : 0;

	return own < n * off ? (uint64_t)(own + n * off) : 0;
}

bool dw_call_is_upper_bound(const struct dw_profile *p, uint32_t process)
{
	const char *source = dw_facts_get_text(&p->facts, "os_source");
	const char *at = dw_facts_get_text(&p->facts, "switches_unseen_in");
	bool is_all = source && !strcmp(source, "none"), is_listed = false;

	for (char *end; at && *at && process && !is_listed; at = *end ? end + 1 : end)
		is_listed = strtoul(at, &end, 10) == process;
	return is_all || is_listed;
}

/* How the time of one activation divides, but for what is its function's own. */
static void slow_cell(const struct dw_call_slow *slow, enum dw_column column, struct dw_cell *ret)
{
	uint64_t ns = slow->switched_ns;

	if (column == DWELL_COLUMN_CALLEES)
		ns = dw_call_slow_callees(slow);
	else if (column == DWELL_COLUMN_IO)
		ns = slow->io_ns;
	else if (column == DWELL_COLUMN_BLOCKING)
		ns = slow->blocking_ns;
	set_number(ret, DWELL_CELL_DURATION_NS, ns);
}

/* Columns that say what is the row's alone. */
static bool is_exclusive(enum dw_column column)
{
	return column == DWELL_COLUMN_PROBES_EXCLUSIVE || column == DWELL_COLUMN_AT_MOST ||
	       (column >= DWELL_COLUMN_EE && column <= DWELL_COLUMN_EE_MIN) ||
	       (column >= DWELL_COLUMN_AE && column <= DWELL_COLUMN_AE_MIN) ||
	       column >= DWELL_COLUMN_BLOCKED_EXCLUSIVE;
}

/* Columns of waits, of which no calls are known. */
static void blocked_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
			 struct dw_cell *ret)
{
	uint64_t all = v->request.totals->blocked_ns;

	switch (column) {
	case DWELL_COLUMN_BLOCKED_INCLUSIVE:
		return set_number(ret, DWELL_CELL_DURATION_NS, row->blocked->inclusive);
	case DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT:
		return set_share(ret, row->blocked->inclusive, all);
	case DWELL_COLUMN_BLOCKED_EXCLUSIVE:
		return set_number(ret, DWELL_CELL_DURATION_NS, row->blocked->exclusive);
	case DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT:
		return set_share(ret, row->blocked->exclusive, all);
	default:
		return;
	}
}

void dw_call_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		  struct dw_cell *ret)
{
	const struct dw_call_total *t = row->calls;
	uint64_t blocked = v->request.totals->all.inclusive.blocked_ns, at_most;

	if (row->blocked)
		return blocked_cell(v, row, column, ret);
	if (!t || (t->flags & DWELL_CALLS_NO_EXCLUSIVE && is_exclusive(column)))
		return;
	if (column >= DWELL_COLUMN_EI && column <= DWELL_COLUMN_AE_MIN)
		return time_cell(v, row, column - DWELL_COLUMN_EI, ret);
	if (column >= DWELL_COLUMN_CALLEES && row->slow)
		return slow_cell(row->slow, column, ret);
	switch (column) {
	case DWELL_COLUMN_CALLS:
		return set_number(ret, DWELL_CELL_COUNT, t->exclusive.calls);
	case DWELL_COLUMN_COUNTED:
		return set_number(ret, DWELL_CELL_COUNT, t->counted);
	case DWELL_COLUMN_MUTED:
		if (t->mute)
			set_number(ret, DWELL_CELL_TIME_NS,
				   v->request.profile->calls.mutes.v[t->mute - 1].at_ns);
		return;
	case DWELL_COLUMN_PROBES_EXCLUSIVE:
		return set_number(ret, DWELL_CELL_DURATION_NS, t->exclusive.overhead_ns);
	case DWELL_COLUMN_PROBES_INCLUSIVE:
		return set_number(ret, DWELL_CELL_DURATION_NS, t->inclusive.overhead_ns);
	case DWELL_COLUMN_AT_MOST:
		at_most = dw_call_at_most(v->request.profile, t);
		if (at_most)
			set_number(ret, DWELL_CELL_DURATION_NS, at_most);
		return;
	case DWELL_COLUMN_BLOCKED_INCLUSIVE:
		return set_number(ret, DWELL_CELL_DURATION_NS, t->inclusive.blocked_ns);
	case DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT:
		return set_share(ret, t->inclusive.blocked_ns, blocked);
	case DWELL_COLUMN_BLOCKED_EXCLUSIVE:
		return set_number(ret, DWELL_CELL_DURATION_NS, t->exclusive.blocked_ns);
	case DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT:
		return set_share(ret, t->exclusive.blocked_ns, blocked);
	case DWELL_COLUMN_SWITCHES:
		return set_number(ret, DWELL_CELL_COUNT, t->exclusive.switches);
	case DWELL_COLUMN_IO_CALLS:
		return set_number(ret, DWELL_CELL_COUNT, t->exclusive.io_calls);
	case DWELL_COLUMN_BLOCKING_CALLS:
		return set_number(ret, DWELL_CELL_COUNT, t->exclusive.blocking_calls);
	default:
		return;
	}
}
