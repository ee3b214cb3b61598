/*
 * Columns to calls; see decode-calls.h.
 *
 * Values are what a target counted and may be anything: sums of them wrap, nothing is indexed by
 * them. What links rows is checked here, once.
 */
#include "session/decode-calls.h"

#include "session/call-columns.h"
#include "session/columns.h"
#include "session/measured.h"

#include <errno.h>

enum {
	OVERFLOW_FLAGS = DWELL_CALL_INCLUSIVE | DWELL_CALL_OUTERMOST_FUNCTION |
			 DWELL_CALL_OUTERMOST_MODULE | DWELL_CALL_OUTERMOST_EDGE |
			 DWELL_CALL_OUTERMOST_SITE,
	ALL_FLAGS = DWELL_CALL_ROOT | DWELL_CALL_OUTSIDE | DWELL_CALL_TRUNCATED |
		    DWELL_CALL_OVERFLOW | OVERFLOW_FLAGS | DWELL_CALL_LINE | DWELL_CALL_ESTIMATED |
		    DWELL_CALL_COUNTED,
	COUNTED_FLAGS = DWELL_CALL_OVERFLOW | DWELL_CALL_COUNTED,
	NO_CALLEE_FLAGS = DWELL_CALL_ROOT | DWELL_CALL_TRUNCATED,
};

/* Whether the flags of a node go together. */
static bool flags_fit(uint32_t flags)
{
	if (flags & DWELL_CALL_COUNTED)
		return (flags & ~(uint32_t)DWELL_CALL_OUTSIDE) == COUNTED_FLAGS;
	if ((flags & OVERFLOW_FLAGS) && !(flags & DWELL_CALL_OVERFLOW))
		return false;
	if (flags & DWELL_CALL_ESTIMATED)
		return !(flags & (NO_CALLEE_FLAGS | DWELL_CALL_OVERFLOW));
	if (flags & DWELL_CALL_LINE)
		return !(flags & ~(uint32_t)(DWELL_CALL_LINE | DWELL_CALL_OVERFLOW));
	return !(flags & NO_CALLEE_FLAGS) || flags == DWELL_CALL_ROOT ||
	       flags == DWELL_CALL_TRUNCATED;
}

/* Whether @node may hang on @parent, NULL = on nothing. */
static bool parent_fits(const struct dw_call_node *node, const struct dw_call_node *parent)
{
	if (!parent)
		return node->flags == DWELL_CALL_ROOT && !node->site;
	if (node->flags & DWELL_CALL_ROOT || parent->thread != node->thread)
		return false;
	if (node->flags & DWELL_CALL_OVERFLOW)
		return parent->flags & DWELL_CALL_ROOT;
	if ((node->flags ^ parent->flags) & DWELL_CALL_ESTIMATED &&
	    !(node->flags & DWELL_CALL_ESTIMATED ? parent->flags & DWELL_CALL_ROOT
						 : node->flags & DWELL_CALL_TRUNCATED))
		return false;
	if (node->flags & DWELL_CALL_LINE) /* statements stand in functions */
		return !node->site &&
		       !(parent->flags & ~(uint32_t)(DWELL_CALL_OUTSIDE | DWELL_CALL_ESTIMATED));
	return !(parent->flags & (DWELL_CALL_OVERFLOW | DWELL_CALL_TRUNCATED));
}

static bool node_fits(const struct dw_call_node *node, const struct dw_calls *t)
{
	return node->thread && flags_fit(node->flags) &&
	       (!(node->flags & NO_CALLEE_FLAGS) || !node->entry) &&
	       parent_fits(node, dw_calls_get(t, node->parent));
}

int dw_take_call_nodes(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t frames = dw_frames_count(&p->frames), threads = dw_threads_count(&p->threads);
	uint64_t thread = 0, entry = 0, site = 0, id = p->calls.nodes.n + 1;
	struct dw_call_node *rows;

	if (dw_vec_reserve(&p->calls.nodes, n + 1))
		return -ENOMEM;
	rows = p->calls.nodes.v + p->calls.nodes.n;
	TAKE_COLUMN(rows, n, flags, dw_take_max(c, ALL_FLAGS));
	TAKE_COLUMN(rows, n, thread, dw_take_delta_max(c, &thread, threads));
	for (size_t i = 0; i < n; i++) {
		uint64_t up = dw_take(c);

		c->failed |= !up || up > id + i;
		rows[i].parent = (uint32_t)(id + i - up);
	}
	TAKE_COLUMN(rows, n, entry, dw_take_delta_max(c, &entry, frames));
	TAKE_COLUMN(rows, n, site, dw_take_delta_max(c, &site, frames));
	TAKE_COLUMN(rows, n, caller,
		    rows[i_].flags & DWELL_CALL_OVERFLOW ? dw_take_max(c, frames) : 0);
	for (size_t i = 0; i < n && !c->failed; i++) {
		c->failed = !node_fits(&rows[i], &p->calls);
		p->calls.nodes.n++;
	}
	return 0;
}

int dw_take_call_slices(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	__auto_type t = &p->calls.slices;
	uint64_t before = t->n ? t->v[t->n - 1].end_ns : 0, end = 0;

	if (dw_vec_reserve(t, n + 1))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		t->v[t->n].end_ns = dw_take_delta(c, &end);
		c->failed |= end < before;
		before = t->v[t->n++].end_ns;
	}
	return 0;
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* The number of a row with @mask in column @at. */
static inline uint64_t take_column(struct dw_measured_in *v, uint32_t mask, enum dw_call_column at)
{
	return mask >> at & 1 ? dw_take(&v->columns[at]) : 0;
}

/* The next row. */
static inline void take_values(struct dw_measured_in *v, struct dw_call_values *ret)
{
	uint32_t mask = dw_take_max(&v->masks, (1u << DWELL_STORED_COLUMNS) - 1);
	uint64_t elapsed, application;

	*ret = (struct dw_call_values){.calls = take_column(v, mask, DWELL_STORED_CALLS)};
	elapsed = take_column(v, mask, DWELL_STORED_ELAPSED);
	application = elapsed - unzigzag(take_column(v, mask, DWELL_STORED_APPLICATION));
	ret->elapsed_ns = elapsed;
	ret->application_ns = application;
	ret->whole_ns = application - unzigzag(take_column(v, mask, DWELL_STORED_WHOLE));
	ret->overhead_ns = take_column(v, mask, DWELL_STORED_OVERHEAD);
	if (!(mask >> DWELL_STORED_BLOCKED))
		return;
	ret->blocked_ns = take_column(v, mask, DWELL_STORED_BLOCKED);
	ret->os_cpu_ns = take_column(v, mask, DWELL_STORED_OS_CPU);
	ret->switches = take_column(v, mask, DWELL_STORED_SWITCHES);
	ret->io_calls = take_column(v, mask, DWELL_STORED_IO_CALLS);
	ret->blocking_calls = take_column(v, mask, DWELL_STORED_BLOCKING_CALLS);
}

int dw_take_call_deltas(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	__auto_type t = &p->calls.deltas;
	struct dw_keys_in keys = dw_keys_open(c, n, p->calls.slices.n, p->calls.nodes.n,
					      t->n ? t->v[t->n - 1].slice : 0);
	struct dw_measured_in v;

	if (dw_vec_reserve(t, n + 1))
		return -ENOMEM;
	dw_measured_open(c, DWELL_STORED_COLUMNS, &v);
	for (size_t i = 0; i < n && !c->failed; i++) {
		struct dw_call_delta *row = &t->v[t->n++];

		c->failed = !dw_keys_next(&keys);
		row->slice = (uint32_t)keys.slice;
		row->node = (uint32_t)keys.id;
		take_values(&v, &row->values);
	}
	dw_measured_close(c, &v);
	return 0;
}

int dw_take_call_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		      struct dw_profile *p)
{
	struct dw_call_store *t = &p->calls.sums;
	struct dw_keys_in keys = dw_keys_open(c, n, p->calls.slices.n, p->calls.nodes.n, 0);
	struct dw_call_values values;
	struct dw_measured_in v;
	int rc = dw_call_store_extend(t, p->calls.nodes.n);

	dw_measured_open(c, DWELL_STORED_COLUMNS, &v);
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		c->failed = !dw_keys_next(&keys);
		take_values(&v, &values);
		if (!c->failed && dw_call_sums_has(sums, (uint32_t)keys.slice))
			rc = dw_call_store_add(t, keys.id - 1, &values);
	}
	dw_measured_close(c, &v);
	return rc;
}

/* Read @n ranges, the first to @at, @stride bytes from one to the next. */
static void take_ranges(struct dw_cursor *c, struct dw_range_ns *at, size_t stride, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dw_range_ns *r = (void *)((char *)at + i * stride);

		r->min_ns = dw_take(c);
		r->max_ns = r->min_ns + unzigzag(dw_take(c));
	}
}

/* Put the @n rows behind the end of @table where their ids say, which is never behind themselves:
 * into the place of earlier ones, or at the end. */
#define PLACE_ROWS(c, table, n)                                       \
	do {                                                          \
		__auto_type t_ = (table);                             \
		size_t first_ = t_->n;                                \
		for (size_t i_ = 0; i_ < (n) && !(c)->failed; i_++) { \
			__auto_type row_ = t_->v[first_ + i_];        \
			if (!row_.id || row_.id > t_->n + 1) {        \
				(c)->failed = true;                   \
				break;                                \
			}                                             \
			t_->v[row_.id - 1] = row_;                    \
			t_->n += row_.id > t_->n;                     \
		}                                                     \
	} while (0)

int dw_take_call_extremes(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t frames = dw_frames_count(&p->frames), threads = dw_threads_count(&p->threads);
	uint64_t id = 0, thread = 0, entry = 0;
	struct dw_call_extremes *rows;

	if (dw_vec_reserve(&p->calls.extremes, n + 1))
		return -ENOMEM;
	rows = p->calls.extremes.v + p->calls.extremes.n;
	TAKE_COLUMN(rows, n, id, dw_take_delta_max(c, &id, UINT32_MAX));
	for (size_t i = 0; i < n; i++) {
		rows[i].thread = dw_take_delta_max(c, &thread, threads);
		c->failed |= !rows[i].thread;
	}
	TAKE_COLUMN(rows, n, entry, dw_take_delta_max(c, &entry, frames));
	take_ranges(c, &rows->ranges.elapsed_inclusive, sizeof *rows, n);
	take_ranges(c, &rows->ranges.elapsed_exclusive, sizeof *rows, n);
	take_ranges(c, &rows->ranges.application_inclusive, sizeof *rows, n);
	take_ranges(c, &rows->ranges.application_exclusive, sizeof *rows, n);
	PLACE_ROWS(c, &p->calls.extremes, n);
	return 0;
}

int dw_take_call_slow(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t nodes = p->calls.nodes.n, id = 0, node = 0, start = 0;
	struct dw_measured_in inclusive, exclusive;
	struct dw_call_slow *rows;

	if (dw_vec_reserve(&p->calls.slow, n + 1))
		return -ENOMEM;
	rows = p->calls.slow.v + p->calls.slow.n;
	TAKE_COLUMN(rows, n, id, dw_take_delta_max(c, &id, UINT32_MAX));
	for (size_t i = 0; i < n; i++) {
		rows[i].node = dw_take_delta_max(c, &node, nodes);
		c->failed |= !rows[i].node;
	}
	TAKE_COLUMN(rows, n, start_ns, dw_take_delta(c, &start));
	dw_measured_open(c, DWELL_STORED_COLUMNS, &inclusive);
	dw_measured_open(c, DWELL_STORED_COLUMNS, &exclusive);
	for (size_t i = 0; i < n; i++) {
		take_values(&inclusive, &rows[i].inclusive);
		take_values(&exclusive, &rows[i].exclusive);
	}
	dw_measured_close(c, &inclusive);
	dw_measured_close(c, &exclusive);
	TAKE_COLUMN(rows, n, io_ns, dw_take(c));
	TAKE_COLUMN(rows, n, blocking_ns, dw_take(c));
	TAKE_COLUMN(rows, n, switched_ns, dw_take(c));
	PLACE_ROWS(c, &p->calls.slow, n);
	return 0;
}

int dw_take_call_mutes(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t frames = dw_frames_count(&p->frames), processes;
	uint64_t process = 0, entry = 0, at = 0;
	struct dw_call_mute *rows;

	processes = dw_processes_count(&p->processes);
	if (dw_vec_reserve(&p->calls.mutes, n + 1))
		return -ENOMEM;
	rows = p->calls.mutes.v + p->calls.mutes.n;
	for (size_t i = 0; i < n; i++) {
		rows[i].process = dw_take_delta_max(c, &process, processes);
		c->failed |= !rows[i].process;
	}
	TAKE_COLUMN(rows, n, entry, dw_take_delta_max(c, &entry, frames));
	TAKE_COLUMN(rows, n, at_ns, dw_take_delta(c, &at));
	TAKE_COLUMN(rows, n, flags, dw_take_max(c, DWELL_MUTE_IN_PART | DWELL_MUTE_FROM_START));
	p->calls.mutes.n += n;
	return 0;
}
