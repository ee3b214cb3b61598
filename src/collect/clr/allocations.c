/*
 * Readings of allocations; see allocations.h. All tables are read anew each time, and what groups
 * have grown by since the last time becomes deltas. Readings are as rare as their cost asks for
 * (record/), so nothing is kept to read less.
 */
#include "collect/clr/allocations.h"

#include "collect/clr/metadata.h"
#include "collect/clr/tables.h"

#include <errno.h>
#include <string.h>

#define ESTIMATE_MAX 1e18 /* no lie leaves the range of numbers */

/* A group as it was read last. */
struct known {
	uint32_t group; /* id in the profile, 0 = not seen yet */
	bool is_elsewhere;
	struct dw_alloc_count allocated, collected[DWELL_GENERATIONS];
};

struct dw_region_allocations {
	struct dw_clr_tables tables;
	struct dw_clr_metadata metadata;
	DW_VEC(struct known) groups; /* by row */
	DW_VEC(bool) gcs;	     /* by row: is taken */
	uint64_t broken_gcs;
	struct dw_region_allocations_stats stats;
};

int dw_region_allocations_new(struct dw_profile *p, uint32_t process, uint64_t budget,
			      struct dw_region_allocations **ret)
{
	struct dw_region_allocations *r = calloc(1, sizeof *r);

	if (!r)
		return -ENOMEM;
	r->metadata.p = p;
	r->metadata.process = process;
	r->metadata.tables = &r->tables;
	r->tables.budget = budget;
	*ret = r;
	return 0;
}

static struct dw_alloc_count count_of(struct dw_clr_count from)
{
	return (struct dw_alloc_count){from.objects, from.bytes};
}

/* The chance that of @units one byte at least is drawn, with a chance of 1 / @drawn each. */
static double chance_of(uint32_t units, double drawn)
{
	double none = 1, factor = 1 - 1 / drawn;

	for (uint64_t n = (uint64_t)units * 8; n; n >>= 1, factor *= factor)
		if (n & 1)
			none *= factor;
	return 1 - none;
}

static uint64_t rounded(double number)
{
	return (uint64_t)((number < ESTIMATE_MAX ? number : ESTIMATE_MAX) + 0.5);
}

/* What the objects that were drawn stand for: each for as many as have to be allocated for one to
 * be drawn. Before .NET 10 not each byte has its chance, but every so many there is one. */
static struct dw_alloc_count estimate(const struct dw_region_allocations *r,
				      const struct dw_clr_group *g)
{
	const uint64_t *facts = r->tables.head.facts;
	double drawn = DWELL_CLR_DRAW_BYTES, interval = (double)facts[DWELL_CLR_SAMPLE_BYTES];
	double bytes = 8.0 * g->units, chance = chance_of(g->units, drawn), objects;

	if (facts[DWELL_CLR_VERSION_MAJOR] < 10)
		chance = bytes < drawn ? bytes / drawn : 1;
	if (interval > drawn)
		chance *= drawn / interval;
	objects = (double)g->allocated.objects / chance;
	return (struct dw_alloc_count){rounded(objects), rounded(objects * bytes)};
}

static struct dw_alloc_values values_of(const struct dw_region_allocations *r, uint32_t row,
					const struct dw_clr_group *g)
{
	struct dw_alloc_values v = {.allocated = count_of(g->allocated)};
	struct dw_clr_old old;

	if (g->units)
		v.allocated = estimate(r, g);
	v.collected[DWELL_GENERATION_0] = count_of(g->collected);
	if (g->old && dw_clr_tables_get(&r->tables, DWELL_CLR_OLDS, g->old, &old) &&
	    old.group == row)
		for (int i = 1; i < DWELL_GENERATIONS; i++)
			v.collected[i] = count_of(old.collected[i - 1]);
	return v;
}

/* The id of group @g. 0 in *@ret: it makes no sense. */
static int find_group(struct dw_region_allocations *r, const struct dw_clr_group *g, uint32_t *ret)
{
	struct dw_alloc_group group;
	int rc = dw_clr_type(&r->metadata, g->type, &group.type);

	*ret = 0;
	if (!rc)
		rc = dw_clr_thread(&r->metadata, g->thread, &group.thread);
	if (!rc)
		rc = dw_clr_stack(&r->metadata, g->node, &group.stack);
	if (rc == DWELL_ERR_FORMAT || (!rc && (!group.type || !group.thread))) {
		r->stats.broken++;
		return 0;
	}
	return rc ? rc : dw_allocations_group(&r->metadata.p->allocations, &group, ret);
}

static bool is_nothing(const struct dw_alloc_values *v)
{
	uint64_t any = v->allocated.objects | v->allocated.bytes;

	for (int i = 0; i < DWELL_GENERATIONS; i++)
		any |= v->collected[i].objects | v->collected[i].bytes;
	return !any;
}

static struct dw_alloc_values increment_of(const struct dw_alloc_values *now,
					   const struct known *known)
{
	struct dw_alloc_values increment = *now;

	dw_alloc_count_subtract(&increment.allocated, &known->allocated);
	for (int i = 0; i < DWELL_GENERATIONS; i++)
		dw_alloc_count_subtract(&increment.collected[i], &known->collected[i]);
	return increment;
}

/* Whether the group of @id is of a part of a stack that others count, too. */
static bool is_counted_elsewhere(const struct dw_profile *p, uint32_t id)
{
	const struct dw_alloc_group *g = dw_allocations_get_group(&p->allocations, id);
	unsigned part = g ? dw_stacks_part(&p->stacks, &p->frames, g->stack) : 0;

	return part && !(part & DWELL_PART_LEAF);
}

static int read_group(struct dw_region_allocations *r, uint32_t row, uint32_t slice)
{
	struct known *known = &r->groups.v[row];
	struct dw_alloc_delta delta = {.slice = slice};
	struct dw_alloc_values now;
	struct dw_clr_group g;
	int rc = 0;

	if (!dw_clr_tables_get(&r->tables, DWELL_CLR_GROUPS, row, &g) || !g.type)
		return 0;
	now = values_of(r, row, &g);
	r->stats.groups++;
	delta.values = increment_of(&now, known);
	if (!known->group && !is_nothing(&delta.values)) {
		rc = find_group(r, &g, &known->group);
		known->is_elsewhere = is_counted_elsewhere(r->metadata.p, known->group);
	}
	if (!known->is_elsewhere)
		dw_alloc_count_add(&r->stats.allocated, &now.allocated);
	if (rc || !known->group || is_nothing(&delta.values))
		return rc;
	known->allocated = now.allocated;
	memcpy(known->collected, now.collected, sizeof known->collected);
	delta.group = known->group;
	return dw_vec_push(&r->metadata.p->allocations.deltas, delta);
}

static int read_groups(struct dw_region_allocations *r, uint32_t slice)
{
	uint32_t n = r->tables.all[DWELL_CLR_GROUPS].n;
	int rc = 0;

	r->stats.allocated = (struct dw_alloc_count){0};
	r->stats.groups = 0;
	/* A row that names what came after it was copied makes sense the next time. */
	r->stats.broken = r->broken_gcs;
	while (r->groups.n < n && !rc)
		rc = dw_vec_push(&r->groups, (struct known){0});
	for (uint32_t row = 1; row < n && !rc; row++)
		rc = read_group(r, row, slice);
	return rc;
}

static int add_gc(struct dw_region_allocations *r, const struct dw_clr_gc *g)
{
	struct dw_profile *p = r->metadata.p;
	struct dw_gc gc = {
		.process = r->metadata.process,
		.number = g->number,
		.generation = g->generation <= 2 ? g->generation : 2,
		.is_blocking = 1,
		.is_compacting = g->is_compacting != 0,
		.pause_ns = g->pause_ns,
		.added_ns = g->added_us * UINT64_C(1000),
		.heap_before = g->before_bytes,
		.heap_after = g->after_bytes,
		.promoted = g->promoted_bytes,
	};
	int rc = dw_strings_adds(&p->strings, g->is_induced ? "induced" : "allocation", &gc.reason);

	if (gc.added_ns > gc.pause_ns)
		gc.added_ns = gc.pause_ns;
	gc.pause_ns -= gc.added_ns;
	if (g->start_ns > r->metadata.start_ns)
		gc.start_ns = g->start_ns - r->metadata.start_ns;
	if (!rc && g->thread)
		rc = dw_clr_thread(&r->metadata, g->thread, &gc.thread);
	if (!rc && g->node)
		rc = dw_clr_stack(&r->metadata, g->node, &gc.stack);
	if (rc == DWELL_ERR_FORMAT) {
		r->stats.broken++;
		r->broken_gcs++;
		rc = 0;
	}
	return rc ? rc : dw_vec_push(&p->allocations.gcs, gc);
}

static int read_gcs(struct dw_region_allocations *r)
{
	uint32_t n = r->tables.all[DWELL_CLR_GCS].n;
	struct dw_clr_gc g;
	int rc = 0;

	while (r->gcs.n < n && !rc)
		rc = dw_vec_push(&r->gcs, false);
	for (uint32_t row = 1; row < n && !rc; row++) {
		if (r->gcs.v[row] || !dw_clr_tables_get(&r->tables, DWELL_CLR_GCS, row, &g) ||
		    !g.number || !g.is_ended || g.node >= r->tables.all[DWELL_CLR_NODES].n)
			continue;
		r->gcs.v[row] = true;
		r->stats.gcs++;
		rc = add_gc(r, &g);
	}
	return rc;
}

/* What threads and the runtime have counted. */
static int read_threads(struct dw_region_allocations *r)
{
	uint32_t n = r->tables.all[DWELL_CLR_THREADS].n, id;
	struct dw_clr_thread t;
	int rc = 0;

	r->stats.threads = (struct dw_alloc_count){0};
	r->stats.counted_bytes = 0;
	for (uint32_t row = 1; row < n && !rc; row++) {
		struct dw_alloc_count sum;

		if (!dw_clr_tables_get(&r->tables, DWELL_CLR_THREADS, row, &t) || !t.tid)
			continue;
		sum = count_of(t.allocated);
		dw_alloc_count_add(&r->stats.threads, &sum);
		r->stats.counted_bytes += t.counted_bytes;
		rc = dw_clr_thread(&r->metadata, row, &id);
	}
	return rc;
}

int dw_region_allocations_read(struct dw_region_allocations *r, int fd,
			       const struct dw_allocations_reading *now)
{
	int rc = dw_clr_tables_read(&r->tables, fd, now->head);

	r->metadata.start_ns = now->start_ns;
	if (rc)
		return rc;
	for (int i = 0; i < DWELL_CLR_FACTS; i++)
		r->stats.facts[i] = r->tables.head.facts[i];
	r->stats.nodes = r->tables.all[DWELL_CLR_NODES].n;
	r->stats.types = r->tables.all[DWELL_CLR_TYPES].n;
	rc = read_threads(r);
	if (!rc)
		rc = read_groups(r, now->slice);
	return rc ? rc : read_gcs(r);
}

const struct dw_region_allocations_stats *
dw_region_allocations_stats(const struct dw_region_allocations *r)
{
	return &r->stats;
}

void dw_region_allocations_free(struct dw_region_allocations *r)
{
	if (!r)
		return;
	dw_clr_tables_release(&r->tables);
	dw_clr_metadata_release(&r->metadata);
	dw_vec_release(&r->groups);
	dw_vec_release(&r->gcs);
	free(r);
}
