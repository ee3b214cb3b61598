/*
 * Columns to allocations; see decode-allocs.h. Values are what a target counted and may be
 * anything: sums of them wrap, nothing is indexed by them.
 */
#include "session/decode-allocs.h"

#include "session/alloc-columns.h"
#include "session/columns.h"
#include "session/measured.h"

#include <errno.h>

enum { TOKEN_MAX = (1 << 24) - 1, GENERATION_MAX = 2 };

static uint64_t strings_of(const struct dw_profile *p)
{
	return p->strings.n ? p->strings.n - 1 : 0;
}

int dw_take_alloc_types(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t name = 0, module = 0, strings = strings_of(p);
	uint64_t modules = dw_modules_count(&p->modules);
	uint64_t processes = dw_processes_count(&p->processes);
	struct dw_alloc_type *rows;

	if (dw_vec_reserve(&p->allocations.types, n + 1))
		return -ENOMEM;
	rows = p->allocations.types.v + p->allocations.types.n;
	TAKE_COLUMN(rows, n, name, dw_take_delta_max(c, &name, strings));
	TAKE_COLUMN(rows, n, module, dw_take_delta_max(c, &module, modules));
	for (size_t i = 0; i < n; i++) {
		rows[i].process = dw_take_max(c, processes);
		c->failed |= !rows[i].process;
	}
	p->allocations.types.n += n;
	return 0;
}

int dw_take_alloc_groups(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t threads = dw_threads_count(&p->threads), stacks = dw_stacks_count(&p->stacks);
	uint64_t types = p->allocations.types.n, stack = 0;
	struct dw_alloc_group *rows;

	if (dw_vec_reserve(&p->allocations.groups, n + 1))
		return -ENOMEM;
	rows = p->allocations.groups.v + p->allocations.groups.n;
	TAKE_COLUMN(rows, n, thread, dw_take_max(c, threads));
	TAKE_COLUMN(rows, n, stack, dw_take_delta_max(c, &stack, stacks));
	for (size_t i = 0; i < n; i++) {
		rows[i].type = dw_take_max(c, types);
		c->failed |= !rows[i].type || !rows[i].thread;
	}
	p->allocations.groups.n += n;
	return 0;
}

int dw_take_alloc_methods(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t modules = dw_modules_count(&p->modules), strings = strings_of(p);
	uint64_t module = 0, token = 0, name = 0;
	struct dw_alloc_method *rows;

	if (dw_vec_reserve(&p->allocations.methods, n + 1))
		return -ENOMEM;
	rows = p->allocations.methods.v + p->allocations.methods.n;
	for (size_t i = 0; i < n; i++) {
		rows[i].module = dw_take_delta_max(c, &module, modules);
		c->failed |= !rows[i].module;
	}
	TAKE_COLUMN(rows, n, token, dw_take_delta_max(c, &token, TOKEN_MAX));
	TAKE_COLUMN(rows, n, name, dw_take_delta_max(c, &name, strings));
	p->allocations.methods.n += n;
	return 0;
}

/* Give the next row. */
static inline struct dw_alloc_values take_values(struct dw_measured_in *v)
{
	struct dw_alloc_values ret = {0};
	uint32_t mask = dw_take_max(&v->masks, (1u << DWELL_STORED_PAIRS) - 1);

	for (; mask; mask &= mask - 1) {
		int at = __builtin_ctz(mask);
		struct dw_alloc_count *pair = at ? &ret.collected[at - 1] : &ret.allocated;

		pair->objects = dw_take(&v->columns[2 * at]);
		pair->bytes = dw_take(&v->columns[2 * at + 1]);
	}
	return ret;
}

int dw_take_alloc_deltas(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	__auto_type t = &p->allocations.deltas;
	struct dw_keys_in keys = dw_keys_open(c, n, p->calls.slices.n, p->allocations.groups.n,
					      t->n ? t->v[t->n - 1].slice : 0);
	struct dw_measured_in v;

	if (dw_vec_reserve(t, n + 1))
		return -ENOMEM;
	dw_measured_open(c, 2 * DWELL_STORED_PAIRS, &v);
	for (size_t i = 0; i < n && !c->failed; i++) {
		c->failed = !dw_keys_next(&keys);
		t->v[t->n++] = (struct dw_alloc_delta){(uint32_t)keys.slice, (uint32_t)keys.id,
						       take_values(&v)};
	}
	dw_measured_close(c, &v);
	return 0;
}

/* Of each group room for what was alive before a range, 0 at first. */
static int extend_ranges(struct dw_allocations *t, const struct dw_call_sums *sums)
{
	size_t n = t->groups.n;

	if (!sums->selected)
		return 0;
	if (dw_vec_reserve(&t->ranges, n + 1) || dw_vec_reserve(&t->news, n + 1))
		return -ENOMEM;
	while (t->ranges.n < n) {
		t->ranges.v[t->ranges.n++] = (struct dw_alloc_range){0};
		t->news.v[t->news.n++] = (struct dw_alloc_count){0};
	}
	return 0;
}

/* Add what @v leaves alive to @range, which begins later. */
static void add_alive(struct dw_alloc_range *range, const struct dw_alloc_values *v)
{
	struct dw_alloc_count alive = dw_alloc_values_alive(v);

	dw_alloc_count_add(&range->before, &alive);
	range->least = range->most = range->before;
}

/* @born were allocated and @dead collected. Those that were alive before the range, of which @least
 * to @most still are, lose at most all that is dead, at least what the @news are too few for. */
static void bury(uint64_t born, uint64_t dead, uint64_t *news, uint64_t *least, uint64_t *most)
{
	uint64_t old;

	*news += born;
	old = dead > *news ? dead - *news : 0;
	*news -= dead - old;
	*least -= dead < *least ? dead : *least;
	*most -= old < *most ? old : *most;
}

/* Let what @v, a row of the range, tells of group @i happen to what was alive before. */
static void follow(struct dw_allocations *t, size_t i, const struct dw_alloc_values *v)
{
	struct dw_alloc_range *range = &t->ranges.v[i];
	struct dw_alloc_count dead = {0}, *news = &t->news.v[i];

	for (int g = 0; g < DWELL_GENERATIONS; g++)
		dw_alloc_count_add(&dead, &v->collected[g]);
	bury(v->allocated.objects, dead.objects, &news->objects, &range->least.objects,
	     &range->most.objects);
	bury(v->allocated.bytes, dead.bytes, &news->bytes, &range->least.bytes, &range->most.bytes);
}

/* Add @v, a row of @group and @slice. 0 or -ENOMEM. */
static int add_to_sums(struct dw_allocations *t, const struct dw_call_sums *sums, uint32_t slice,
		       uint32_t group, const struct dw_alloc_values *v)
{
	size_t i = group - 1;

	if (dw_call_sums_has(sums, slice)) {
		if (sums->selected)
			follow(t, i, v);
		return dw_alloc_store_add(&t->sums, i, v);
	}
	if (slice < sums->first)
		add_alive(&t->ranges.v[i], v);
	return 0;
}

int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p)
{
	struct dw_allocations *t = &p->allocations;
	struct dw_keys_in keys = dw_keys_open(c, n, p->calls.slices.n, t->groups.n, 0);
	struct dw_measured_in v;
	int rc = dw_alloc_store_extend(&t->sums, t->groups.n);

	if (!rc)
		rc = extend_ranges(t, sums);
	dw_measured_open(c, 2 * DWELL_STORED_PAIRS, &v);
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		struct dw_alloc_values values = take_values(&v);

		c->failed = !dw_keys_next(&keys);
		if (!c->failed)
			rc = add_to_sums(t, sums, (uint32_t)keys.slice, (uint32_t)keys.id, &values);
	}
	dw_measured_close(c, &v);
	return rc;
}

int dw_take_gcs(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t processes = dw_processes_count(&p->processes), strings = strings_of(p);
	uint64_t threads = dw_threads_count(&p->threads), stacks = dw_stacks_count(&p->stacks);
	uint64_t number = 0, start = 0;
	struct dw_gc *rows;
	bool tells_added;

	if (dw_vec_reserve(&p->allocations.gcs, n + 1))
		return -ENOMEM;
	rows = p->allocations.gcs.v + p->allocations.gcs.n;
	for (size_t i = 0; i < n; i++) {
		rows[i].process = dw_take_max(c, processes);
		c->failed |= !rows[i].process;
	}
	TAKE_COLUMN(rows, n, number, dw_take_delta_max(c, &number, UINT32_MAX));
	TAKE_COLUMN(rows, n, generation, dw_take_max(c, GENERATION_MAX));
	TAKE_COLUMN(rows, n, reason, dw_take_max(c, strings));
	for (size_t i = 0; i < n; i++) {
		uint32_t flags = dw_take_max(c, DWELL_STORED_BLOCKING | DWELL_STORED_COMPACTING);

		rows[i].is_blocking = !!(flags & DWELL_STORED_BLOCKING);
		rows[i].is_compacting = !!(flags & DWELL_STORED_COMPACTING);
	}
	TAKE_COLUMN(rows, n, thread, dw_take_max(c, threads));
	TAKE_COLUMN(rows, n, stack, dw_take_max(c, stacks));
	TAKE_COLUMN(rows, n, start_ns, dw_take_delta(c, &start));
	TAKE_COLUMN(rows, n, pause_ns, dw_take(c));
	TAKE_COLUMN(rows, n, heap_before, dw_take(c));
	TAKE_COLUMN(rows, n, heap_after, dw_take(c));
	TAKE_COLUMN(rows, n, promoted, dw_take(c));
	/* Older sessions do not tell. */
	tells_added = dw_cursor_left(c) != 0;
	TAKE_COLUMN(rows, n, added_ns, tells_added ? dw_take(c) : 0);
	p->allocations.gcs.n += n;
	return 0;
}
