/*
 * Synthetic calls; see synthetic.h. A tree grows while it runs: new nodes hang on recent ones, a
 * site has one callee, and in a slice some of the nodes are called again.
 */
#include "synthetic.h"

#include <errno.h>

enum { EXTERNAL_EACH = 50, TRUNCATED_EACH = 97, OVERFLOW_EACH = 61, OS_EACH = 16 };

static uint32_t below(uint64_t *random, uint64_t n)
{
	return (uint32_t)(synthetic_random(random) % n);
}

static uint32_t skewed_below(uint64_t *random, uint64_t n)
{
	uint64_t a = below(random, n), b = below(random, n), c = below(random, n);

	return (uint32_t)(a * b / n * c / n);
}

static uint32_t root_of(const struct dw_calls *t, uint32_t node)
{
	while (dw_calls_get(t, node)->parent)
		node = dw_calls_get(t, node)->parent;
	return node;
}

/* The next node: roots of all threads, then any mixture of kinds. */
static struct dw_call_node next_node(const struct synthetic *s, const struct dw_calls *t,
				     uint64_t *random)
{
	uint32_t id = dw_calls_count(t) + 1, up;
	struct dw_call_node n = {.thread = id, .flags = DWELL_CALL_ROOT};

	if (id <= s->threads)
		return n;
	up = id - 1 - skewed_below(random, id - 1 < 5000 ? id - 1 : 5000);
	while (dw_calls_get(t, up)->flags & (DWELL_CALL_TRUNCATED | DWELL_CALL_OVERFLOW))
		up = dw_calls_get(t, up)->parent;
	n = (struct dw_call_node){.thread = dw_calls_get(t, up)->thread, .parent = up};
	n.site = (uint32_t)(dw_hash_u64(dw_calls_get(t, up)->entry * 31u +
					skewed_below(random, 24)) %
			    s->addresses) +
		 1;
	if (id % TRUNCATED_EACH == 0) {
		n.flags = DWELL_CALL_TRUNCATED;
		return n;
	}
	n.entry = (uint32_t)(dw_hash_u64(n.site) % s->addresses) + 1;
	n.flags = id % EXTERNAL_EACH ? 0 : DWELL_CALL_EXTERNAL;
	if (id % OVERFLOW_EACH == 0) {
		n.caller = dw_calls_get(t, up)->entry;
		n.parent = root_of(t, up);
		n.flags |= DWELL_CALL_OVERFLOW | DWELL_CALL_OUTERMOST_EDGE;
	}
	return n;
}

static struct dw_call_values some_values(uint64_t *random)
{
	struct dw_call_values v = {.calls = 1 + skewed_below(random, 5000)};

	v.elapsed_ns = v.calls * (10 + skewed_below(random, 3000)) + below(random, v.calls);
	v.application_ns = v.delimited_ns = v.elapsed_ns;
	v.overhead_ns = v.calls * 11 + below(random, v.calls);
	if (below(random, OS_EACH))
		return v;
	v.blocked_ns = below(random, v.elapsed_ns);
	v.os_cpu_ns = below(random, v.elapsed_ns - v.blocked_ns);
	v.application_ns -= v.blocked_ns + v.os_cpu_ns;
	v.delimited_ns = v.application_ns / 2;
	v.switches = 1 + below(random, 3);
	v.io_calls = below(random, 2);
	v.blocking_calls = below(random, 2);
	return v;
}

static int add_slice(const struct synthetic *s, uint32_t slice, struct dw_profile *p)
{
	struct dw_call_slice end = {.end_ns = (slice + 1) * 1000000000ull + slice * 1234ull};
	uint64_t random = s->seed * 99 + slice, nodes;
	uint32_t before = dw_calls_count(&p->calls), id;

	nodes = (uint64_t)s->call_nodes * (slice + 1) / s->slices;
	while (dw_calls_count(&p->calls) < nodes) {
		struct dw_call_node n = next_node(s, &p->calls, &random);

		if (dw_calls_add(&p->calls, &n, &id))
			return -ENOMEM;
	}
	for (id = 1; id <= nodes; id++) {
		struct dw_call_delta d = {slice, id, {0}};

		if (id <= before && below(&random, 5))
			continue;
		d.values = some_values(&random);
		d.values.ready_ns = d.values.blocked_ns / 3;
		if (dw_vec_push(&p->calls.deltas, d))
			return -ENOMEM;
	}
	return dw_vec_push(&p->calls.slices, end);
}

/* What is known of one thread at its end. */
static int add_end(const struct synthetic *s, uint32_t thread, struct dw_profile *p)
{
	uint64_t random = s->seed * 55 + thread;
	struct dw_call_extremes e = {
		.id = thread,
		.thread = thread,
		.entry = 1 + below(&random, s->addresses),
		.values = {.elapsed_inclusive = {20, 4000000000},
			   .elapsed_exclusive = {10, 500 + below(&random, 500)},
			   .application_inclusive = DWELL_RANGE_NONE,
			   .application_exclusive = {7, 7}}};
	struct dw_call_slow slow = {.id = thread,
				    .node = 1 + below(&random, dw_calls_count(&p->calls)),
				    .start_ns = thread * 1000000ull,
				    .inclusive = some_values(&random),
				    .exclusive = some_values(&random),
				    .io_ns = below(&random, 1000),
				    .blocking_ns = 1ull << 40,
				    .switched_ns = thread};

	return dw_vec_push(&p->calls.extremes, e) || dw_vec_push(&p->calls.slow, slow) ? -ENOMEM
										       : 0;
}

static int add_disabled(const struct synthetic *s, uint32_t i, struct dw_profile *p)
{
	uint64_t random = s->seed * 56 + i;
	struct dw_call_disabled disabled = {.process = 1 + i % s->processes,
					    .entry = 1 + below(&random, s->addresses),
					    .at_ns = below(&random, 1000000000),
					    .flags = i % 2 ? DWELL_DISABLED_IN_PART : 0};

	return dw_vec_push(&p->calls.disabled, disabled);
}

int synthetic_calls(const struct synthetic *s, uint32_t from, uint32_t to, struct dw_profile *p)
{
	int rc = 0;

	for (uint32_t i = from; i < to && !rc; i++)
		rc = add_slice(s, i, p);
	for (uint32_t i = 1; to == s->slices && from < to && i <= s->threads && !rc; i++)
		rc = add_end(s, i, p);
	for (uint32_t i = 0; to == s->slices && from < to && i < s->disabled && !rc; i++)
		rc = add_disabled(s, i, p);
	return rc;
}
