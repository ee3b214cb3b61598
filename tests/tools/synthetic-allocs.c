/*
 * Synthetic allocations; see synthetic.h. Groups appear while it runs, spread over all stacks, and
 * in a slice some of them allocate again; what was allocated dies in some generation.
 */
#include "synthetic.h"

#include <errno.h>
#include <stdio.h>

enum { LARGE_EACH = 31, PINNED_EACH = 67, AGAIN = 4 };

static uint32_t below(uint64_t *random, uint64_t n)
{
	return (uint32_t)(synthetic_random(random) % n);
}

/* All types, and names for the methods of some functions. */
static int add_types(const struct synthetic *s, struct dw_profile *p)
{
	for (uint32_t i = 0; i < s->alloc_types; i++) {
		struct dw_alloc_type type = {.module = i % (s->modules + 1),
					     .process = i % s->processes + 1};
		struct dw_alloc_method method = {.module = i % s->modules + 1, .token = i};
		char name[96];
		uint32_t id;

		snprintf(name, sizeof name, "Compiler.Syntax.Node%u<System.String[]>", i);
		if (dw_strings_adds(&p->strings, name, &type.name) ||
		    dw_allocations_type(&p->allocations, &type, &id))
			return -ENOMEM;
		snprintf(name, sizeof name, "Compiler.Syntax.Node%u.Visit(int)", i);
		if (dw_strings_adds(&p->strings, name, &method.name) ||
		    dw_allocations_method(&p->allocations, &method, &id))
			return -ENOMEM;
	}
	return dw_strings_adds(&p->strings, "allocation in generation 0", &(uint32_t){0});
}

static struct dw_alloc_group group_at(const struct synthetic *s, const uint32_t *leaves, uint32_t i)
{
	uint32_t at = i % s->stacks, round = i / s->stacks;

	return (struct dw_alloc_group){
		.thread = (uint32_t)(dw_hash_u64(i) % s->threads) + 1,
		.stack = leaves[at],
		.type = (uint32_t)((dw_hash_u64(at) + round) % s->alloc_types) + 1,
	};
}

static void die(struct dw_alloc_values *v, int generation, uint64_t objects, uint64_t object_bytes)
{
	v->collected[generation] = (struct dw_alloc_count){objects, objects * object_bytes};
}

static struct dw_alloc_values some_values(uint64_t *random)
{
	uint64_t n = 1 + below(random, 40) * below(random, 40), size = 24 + 8 * below(random, 20);
	struct dw_alloc_values v = {.allocated = {n, n * size}};

	if (!below(random, LARGE_EACH)) {
		v.allocated.bytes = n * (size = 90000);
		die(&v, DWELL_GENERATION_LARGE, n / 2, size);
	} else if (!below(random, PINNED_EACH)) {
		die(&v, DWELL_GENERATION_PINNED, n / 3, size);
	} else {
		uint64_t first = n - below(random, n / 4 + 1),
			 second = below(random, n - first + 1);

		die(&v, DWELL_GENERATION_0, first, size);
		die(&v, DWELL_GENERATION_1, second, size);
		die(&v, DWELL_GENERATION_2, (n - first - second) / 2, size);
	}
	return v;
}

static int add_gc(const struct synthetic *s, uint32_t slice, const uint32_t *leaves,
		  struct dw_profile *p)
{
	uint64_t random = s->seed * 31 + slice;
	struct dw_gc gc = {.process = slice % s->processes + 1,
			   .number = slice + 1,
			   .generation = slice % 3,
			   .reason = p->strings.n - 1,
			   .is_blocking = slice % 2,
			   .is_compacting = slice % 3 == 1,
			   .thread = slice % (s->threads + 1),
			   .stack = leaves[slice % s->stacks],
			   .start_ns = slice * 1000000000ull + below(&random, 900000000),
			   .pause_ns = 100000 + below(&random, 90000000),
			   .heap_before = 80000000,
			   .heap_after = 20000000 + below(&random, 60000000),
			   .promoted = below(&random, 20000000)};

	return dw_vec_push(&p->allocations.gcs, gc);
}

static int add_slice(const struct synthetic *s, const uint32_t *leaves, uint32_t slice,
		     struct dw_profile *p)
{
	struct dw_call_slice end = {.end_ns = (slice + 1) * 1000000000ull};
	uint32_t before = (uint32_t)p->allocations.groups.n, id;
	uint64_t random = s->seed * 99 + slice;
	uint32_t groups = (uint32_t)((uint64_t)s->alloc_groups * (slice + 1) / s->slices);

	for (uint32_t i = before; i < groups; i++) {
		struct dw_alloc_group group = group_at(s, leaves, i);

		if (dw_allocations_group(&p->allocations, &group, &id))
			return -ENOMEM;
	}
	for (id = 1; id <= p->allocations.groups.n; id++) {
		struct dw_alloc_delta d = {slice, id, {{0}, {{0}}}};

		if (id <= before && below(&random, AGAIN))
			continue;
		d.values = some_values(&random);
		if (dw_vec_push(&p->allocations.deltas, d))
			return -ENOMEM;
	}
	return dw_vec_push(&p->calls.slices, end) ? -ENOMEM : add_gc(s, slice, leaves, p);
}

int synthetic_allocs(const struct synthetic *s, const uint32_t *leaves, uint32_t from, uint32_t to,
		     struct dw_profile *p)
{
	int rc = from == 0 && to ? add_types(s, p) : 0;

	for (uint32_t i = from; i < to && !rc; i++)
		rc = add_slice(s, leaves, i, p);
	return rc;
}
