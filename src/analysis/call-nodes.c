/*
 * Calls under a filter; see calls.h.
 *
 * A filter by module takes time, not calls: a function of another module that is on the stack was
 * still called as often as it was. Of truncated nodes nobody knows the module, so under such a
 * filter the overflow nodes speak for them.
 */
#include "analysis/calls.h"

#include "base/error.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Threads of one lane that go by the same name, as views give it. */
static int add_group(struct dw_call_nodes *t, struct dw_pairs *known, uint32_t id)
{
	const struct dw_profile *p = t->profile;
	const struct dw_thread *thread = dw_threads_get(&p->threads, id);
	const struct dw_function *start =
		thread ? dw_functions_get(&p->functions, thread->start) : NULL;
	uint32_t lane = t->lanes.of[id], name = start ? start->name : thread ? thread->name : 0;
	uint32_t index = dw_pairs_find(known, lane, name);

	t->group[id] = index ? index - 1 : (uint32_t)t->row_keys->roots.n;
	if (index || lane == UINT32_MAX)
		return 0;
	if (!dw_pairs_add(known, lane, name))
		return -ENOMEM;
	return dw_vec_push(&t->row_keys->roots, id);
}

static int group_threads(struct dw_call_nodes *t)
{
	struct dw_pairs known = {0};
	int rc = 0;

	for (uint32_t id = 0; id < t->lanes.threads_n && !rc; id++)
		rc = add_group(t, &known, id);
	dw_pairs_release(&known);
	return rc;
}

/* A counting sort of the threads that pass by lane. */
static void sort_threads(struct dw_call_nodes *t)
{
	const struct dw_lanes *l = &t->lanes;

	for (uint32_t id = 0; id < l->threads_n; id++)
		if (l->of[id] != UINT32_MAX)
			t->begin[l->of[id] + 2]++;
	for (uint32_t i = 2; i < l->n + 2; i++)
		t->begin[i] += t->begin[i - 1];
	for (uint32_t id = 0; id < l->threads_n; id++)
		if (l->of[id] != UINT32_MAX)
			t->order[t->begin[l->of[id] + 1]++] = id;
}

/* Where each node's deltas are. Deltas that stand in the order of nodes need no list. */
static int sort_deltas(struct dw_call_nodes *t)
{
	const struct dw_calls *calls = &t->profile->calls;
	bool sorted = true;
	uint32_t last = 0;

	if (dw_calls_summed(calls))
		return 0;
	t->first = calloc((size_t)t->n + 2, sizeof *t->first);
	if (!t->first)
		return -ENOMEM;
	for (size_t i = 0; i < calls->deltas.n; i++) {
		uint32_t id = calls->deltas.v[i].node < t->n ? calls->deltas.v[i].node : 0;

		sorted = sorted && id >= last;
		last = id;
		t->first[id + 2]++;
	}
	for (size_t i = 2; i < (size_t)t->n + 2; i++)
		t->first[i] += t->first[i - 1];
	if (sorted) {
		memmove(t->first, t->first + 1, ((size_t)t->n + 1) * sizeof *t->first);
		return 0;
	}
	t->deltas = malloc(calls->deltas.n * sizeof *t->deltas);
	if (!t->deltas)
		return -ENOMEM;
	for (size_t i = 0; i < calls->deltas.n; i++) {
		uint32_t id = calls->deltas.v[i].node < t->n ? calls->deltas.v[i].node : 0;

		t->deltas[t->first[id + 1]++] = (uint32_t)i;
	}
	return 0;
}

static void add_delta(const struct dw_call_nodes *t, size_t i, struct dw_call_values *sum)
{
	const struct dw_calls *calls = &t->profile->calls;
	const struct dw_call_delta *d = &calls->deltas.v[i];

	if (d->slice < calls->slices.n && t->slices.passes[d->slice])
		dw_call_values_add(sum, &d->values);
}

/* All deltas of @id whose slices pass. */
static struct dw_call_values sum_deltas(const struct dw_call_nodes *t, uint32_t id)
{
	struct dw_call_values sum = {0};

	if (!t->first)
		sum = dw_call_store_get(&t->profile->calls.sums, id - 1);
	for (uint32_t i = t->first ? t->first[id] : 0; t->first && i < t->first[id + 1]; i++)
		add_delta(t, t->deltas ? t->deltas[i] : i, &sum);
	return sum;
}

uint64_t dw_call_nodes_arrivals(const struct dw_call_nodes *t, uint32_t id)
{
	return sum_deltas(t, id).calls;
}

struct dw_call_values dw_call_nodes_values(const struct dw_call_nodes *t, uint32_t id)
{
	struct dw_call_values sum = sum_deltas(t, id);

	if (dw_call_nodes_is_line(t, id))
		sum.calls = 0;
	if (!(t->state[id] & DWELL_CALL_COUNTS))
		return (struct dw_call_values){.calls = sum.calls};
	if (t->filter->delimited_intervals)
		sum.application_ns = sum.delimited_ns;
	if (t->state[id] & DWELL_CALL_LEFT_OUT)
		sum.left_out_ns = sum.blocked_ns - dw_call_values_ready(&sum);
	if (t->state[id] & DWELL_CALL_READY_LEFT_OUT)
		sum.left_out_ns += dw_call_values_ready(&sum);
	if (sum.left_out_ns > sum.elapsed_ns) /* estimates may have more of it */
		sum.left_out_ns = sum.elapsed_ns;
	return sum;
}

/* Whether the filter lets the time of @node count; its thread passes. */
static bool counts(const struct dw_call_nodes *t, const struct dw_call_node *node)
{
	uint32_t module = dw_call_module_at(t, node->entry);

	if (!t->filter->modules)
		return true;
	return node->entry && module < t->filter->modules_n && t->filter->modules[module];
}

void dw_call_nodes_add_to_thread(struct dw_call_nodes *t, uint32_t id,
				 const struct dw_call_values *own)
{
	const struct dw_call_node *node = dw_call_nodes_get(t, id);
	const uint32_t shares = DWELL_CALL_ESTIMATED | DWELL_CALL_TRUNCATED;
	struct dw_call_values time = *own;

	if (node->flags & DWELL_CALL_INCLUSIVE)
		return;
	if (!(node->flags & shares))
		t->sums[node->thread].calls += own->calls;
	time.calls = 0;
	if (!(node->flags & (t->filter->modules ? shares : DWELL_CALL_OVERFLOW)))
		dw_call_values_add(&t->sums[node->thread], &time);
}

static bool is_nothing(const struct dw_call_values *v)
{
	static const struct dw_call_values nothing;

	return !memcmp(v, &nothing, sizeof nothing);
}

/* Note what @id waited for: for a processor, and for what it had asked the system for. */
static int note_waits(struct dw_call_nodes *t, uint32_t id, const struct dw_call_values *own)
{
	const struct dw_call_node *node = dw_call_nodes_get(t, id);
	struct dw_wait_at ready = {.thread = node->thread,
				   .place = id,
				   .kind = DWELL_WAIT_READY,
				   .is_ready = true,
				   .ns = dw_call_values_ready(own)};
	struct dw_wait_at asked = {.thread = node->thread,
				   .place = id,
				   .kind = DWELL_WAIT_OTHER,
				   .is_external = node->flags & DWELL_CALL_ROOT,
				   .ns = own->blocked_ns - ready.ns};
	int rc = 0;

	t->has_system_calls |= own->io_calls || own->blocking_calls;
	if (node->flags & DWELL_CALL_INCLUSIVE)
		return 0;
	if (ready.ns)
		rc = dw_vec_push(&t->waits, ready);
	return !rc && asked.ns ? dw_vec_push(&t->waits, asked) : rc;
}

static int select_nodes(struct dw_call_nodes *t)
{
	for (uint32_t id = 1; id < t->n; id++) {
		const struct dw_call_node *node = dw_call_nodes_get(t, id);
		struct dw_call_values own;

		if (node->thread >= t->lanes.threads_n || t->lanes.of[node->thread] == UINT32_MAX)
			continue;
		t->state[id] = DWELL_CALL_SELECTED;
		if (counts(t, node))
			t->state[id] |= DWELL_CALL_COUNTS;
		own = dw_call_nodes_values(t, id);
		dw_call_nodes_add_to_thread(t, id, &own);
		if (t->state[id] & DWELL_CALL_COUNTS && !is_nothing(&own))
			t->state[id] |= DWELL_CALL_PRESENT;
		if (t->has_waits && own.blocked_ns && note_waits(t, id, &own))
			return -ENOMEM;
	}
	return 0;
}

static int allocate(struct dw_call_nodes *t)
{
	size_t n = t->n, threads = t->lanes.threads_n;

	t->state = calloc(n, sizeof *t->state);
	t->group = calloc(threads, sizeof *t->group);
	t->sums = calloc(threads, sizeof *t->sums);
	t->begin = calloc(t->lanes.n + 2ul, sizeof *t->begin);
	t->order = calloc(threads, sizeof *t->order);
	return t->state && t->group && t->sums && t->begin && t->order ? 0 : -ENOMEM;
}

int dw_call_nodes_init(struct dw_call_nodes *t, const struct dw_profile *p,
		       const struct dw_filter *filter, struct dw_row_keys *row_keys,
		       bool with_waits)
{
	*t = (struct dw_call_nodes){
		.profile = p, .filter = filter, .row_keys = row_keys, .has_waits = with_waits};
	t->n = dw_calls_count(&p->calls) + 1;
	if (p->calls.deltas.n >= UINT32_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_lanes_init(&t->lanes, p, filter) || allocate(t) || group_threads(t) ||
	    sort_deltas(t) || dw_slices_init(&t->slices, &p->calls, filter))
		return -ENOMEM;
	sort_threads(t);
	return select_nodes(t);
}

void dw_call_nodes_release(struct dw_call_nodes *t)
{
	free(t->state);
	free(t->first);
	free(t->deltas);
	dw_slices_release(&t->slices);
	dw_lanes_release(&t->lanes);
	free(t->group);
	free(t->sums);
	dw_vec_release(&t->waits);
	free(t->begin);
	free(t->order);
	*t = (struct dw_call_nodes){0};
}

/* Whether @id stands in the tree: what overflowed stands beside. */
static bool is_path(const struct dw_call_nodes *t, uint32_t id)
{
	return t->state[id] & DWELL_CALL_SELECTED &&
	       !(dw_call_nodes_get(t, id)->flags & DWELL_CALL_OVERFLOW);
}

/* Set the parents, and mark what has anything. */
static void mark(struct dw_call_tree *c)
{
	const struct dw_call_nodes *t = c->nodes;
	uint32_t threads = t->lanes.n, nodes = threads + t->lanes.threads_n;

	for (uint32_t id = 0; id < t->lanes.n; id++)
		c->cct.parent[id] = DWELL_CCT_NONE;
	for (uint32_t id = 0; id < t->lanes.threads_n; id++)
		c->cct.parent[threads + id] = t->lanes.of[id];
	for (uint32_t id = 1; id < t->n; id++) {
		uint32_t parent;

		if (!is_path(t, id))
			continue;
		parent = dw_call_nodes_parent(t, id);
		c->cct.parent[nodes + id] =
			parent ? nodes + parent : threads + dw_call_nodes_get(t, id)->thread;
		if (t->state[id] & DWELL_CALL_PRESENT)
			dw_cct_mark(&c->cct, nodes + id);
	}
}

static uint32_t about_of(const struct dw_call_nodes *t, uint32_t id)
{
	return dw_call_nodes_is_line(t, id) ? (uint32_t)DWELL_CCT_STATEMENT : dw_call_callee(t, id);
}

/* Note where lanes and threads stand. */
static void add_tasks(struct dw_call_tree *c)
{
	const struct dw_call_nodes *t = c->nodes;

	for (uint32_t id = 0; id < t->lanes.n + t->lanes.threads_n; id++) {
		bool has = dw_cct_has(&c->cct, id);
		uint32_t p = has ? c->cct.position[id] : (uint32_t)DWELL_CCT_NONE;

		*(id < t->lanes.n ? &c->lane[id] : &c->thread[id - t->lanes.n]) = p;
		if (has)
			c->cct.about[p] = DWELL_CCT_THREAD;
	}
}

/* Give nodes what they have. In the order of ids, so that of all memory that this needs only the
 * tree's is not in order; that is asked for in time. */
static int add_nodes(struct dw_call_tree *c, const struct dw_amounts *like)
{
	enum { AHEAD = 16 };
	const struct dw_call_nodes *t = c->nodes;
	struct dw_cct *cct = &c->cct;
	uint32_t nodes = t->lanes.n + t->lanes.threads_n;
	int rc = 0;

	for (uint32_t id = 1; id < t->n && !rc; id++) {
		struct dw_call_values own;
		struct dw_amount amount;
		uint32_t p;

		if (id + AHEAD < t->n)
			dw_cct_expect(cct, nodes + id + AHEAD);
		if (!dw_cct_has(cct, nodes + id))
			continue;
		p = cct->position[nodes + id];
		cct->about[p] = about_of(t, id);
		cct->has_statements |= cct->about[p] == DWELL_CCT_STATEMENT;
		own = dw_call_nodes_values(t, id);
		dw_amount_of_calls(like, &own, &amount);
		rc = dw_cct_add(cct, nodes + id, &amount);
	}
	return rc;
}

int dw_call_tree_init(struct dw_call_tree *c, const struct dw_call_nodes *nodes,
		      const struct dw_amounts *like)
{
	uint64_t n = (uint64_t)nodes->lanes.n + nodes->lanes.threads_n + nodes->n;
	int rc;

	*c = (struct dw_call_tree){.nodes = nodes};
	if (n >= DWELL_CCT_STATEMENT)
		return DWELL_ERR_LIMIT;
	c->lane = malloc(nodes->lanes.n * sizeof *c->lane);
	c->thread = malloc(nodes->lanes.threads_n * sizeof *c->thread);
	if (!c->lane || !c->thread || dw_cct_init(&c->cct, (uint32_t)n, like))
		return -ENOMEM;
	mark(c);
	rc = dw_cct_order(&c->cct);
	if (rc)
		return rc;
	add_tasks(c);
	rc = add_nodes(c, like);
	if (!rc)
		rc = dw_cct_sum(&c->cct);
	dw_cct_forget_ids(&c->cct);
	return rc;
}

void dw_call_tree_release(struct dw_call_tree *c)
{
	dw_cct_release(&c->cct);
	free(c->lane);
	free(c->thread);
	*c = (struct dw_call_tree){0};
}
