/*
 * Columns to allocations; see decode-allocs.h. Values are what a target counted and may be
 * anything: sums of them wrap, nothing is indexed by them.
 */
#include "session/decode-allocs.h"

#include "session/alloc-columns.h"
#include "session/columns.h"

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

/* The columns of values, read side by side. */
struct pair_columns {
	struct dw_cursor masks, objects[DWELL_STORED_PAIRS], bytes[DWELL_STORED_PAIRS];
};

static void open_pairs(struct dw_cursor *c, struct pair_columns *ret)
{
	ret->masks = dw_take_measured(c);
	for (int i = 0; i < DWELL_STORED_PAIRS; i++) {
		ret->objects[i] = dw_take_measured(c);
		ret->bytes[i] = dw_take_measured(c);
	}
}

static bool is_at_end(const struct dw_cursor *c)
{
	return !c->failed && !dw_cursor_left(c);
}

/* Note in @c whether any column was malformed or is not at its end. */
static void close_pairs(struct dw_cursor *c, const struct pair_columns *v)
{
	c->failed |= !is_at_end(&v->masks);
	for (int i = 0; i < DWELL_STORED_PAIRS; i++)
		c->failed |= !is_at_end(&v->objects[i]) || !is_at_end(&v->bytes[i]);
}

/* Add the next row to @sum. */
static inline void add_pairs(struct pair_columns *v, struct dw_alloc_values *sum)
{
	uint32_t mask = dw_take_max(&v->masks, (1u << DWELL_STORED_PAIRS) - 1);

	for (; mask; mask &= mask - 1) {
		int at = __builtin_ctz(mask);
		struct dw_alloc_count *pair = at ? &sum->collected[at - 1] : &sum->allocated;

		pair->objects += dw_take(&v->objects[at]);
		pair->bytes += dw_take(&v->bytes[at]);
	}
}

int dw_take_alloc_deltas(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t groups = p->allocations.groups.n, slices = p->calls.slices.n, slice = 0, group = 0;
	__auto_type t = &p->allocations.deltas;
	uint32_t before = t->n ? t->v[t->n - 1].slice : 0;
	struct dw_alloc_delta *rows;
	struct pair_columns v;

	if (dw_vec_reserve(t, n + 1))
		return -ENOMEM;
	rows = t->v + t->n;
	for (size_t i = 0; i < n; i++) {
		rows[i].slice = dw_take_delta_max(c, &slice, slices - 1);
		c->failed |= rows[i].slice < before;
		before = rows[i].slice;
	}
	for (size_t i = 0; i < n; i++) {
		rows[i].group = dw_take_delta_max(c, &group, groups);
		c->failed |= !rows[i].group;
	}
	open_pairs(c, &v);
	for (size_t i = 0; i < n; i++) {
		rows[i].values = (struct dw_alloc_values){0};
		add_pairs(&v, &rows[i].values);
	}
	close_pairs(c, &v);
	c->failed |= !slices;
	t->n += n;
	return 0;
}

int dw_take_alloc_sums(struct dw_cursor *c, size_t n, const struct dw_call_sums *sums,
		       struct dw_profile *p)
{
	uint64_t groups = p->allocations.groups.n, slices = p->calls.slices.n, slice = 0, group = 0;
	struct dw_cursor of_slices = *c, ids;
	struct dw_alloc_store *t = &p->allocations.sums;
	struct pair_columns v;
	int rc = dw_alloc_store_extend(t, groups);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		dw_take(c);
	ids = *c;
	for (size_t i = 0; i < n; i++)
		dw_take(c);
	open_pairs(c, &v);
	c->failed |= !slices;
	for (size_t i = 0; i < n && !c->failed && !rc; i++) {
		struct dw_alloc_values values = {0};
		bool selected =
			dw_call_sums_has(sums, dw_take_delta_max(&of_slices, &slice, slices - 1));
		uint32_t id = dw_take_delta_max(&ids, &group, groups);

		c->failed |= !id || of_slices.failed;
		add_pairs(&v, &values);
		if (id && selected)
			rc = dw_alloc_store_add(t, id - 1, &values);
	}
	close_pairs(c, &v);
	return rc;
}

int dw_take_gcs(struct dw_cursor *c, size_t n, struct dw_profile *p)
{
	uint64_t processes = dw_processes_count(&p->processes), strings = strings_of(p);
	uint64_t threads = dw_threads_count(&p->threads), stacks = dw_stacks_count(&p->stacks);
	uint64_t number = 0, start = 0;
	struct dw_gc *rows;

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
	p->allocations.gcs.n += n;
	return 0;
}
