/* The calling context tree of calls; see call-tree.h. */
#include "analysis/call-tree.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

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
	uint32_t threads = t->processes_n, nodes = threads + t->threads_n;

	for (uint32_t id = 0; id < t->processes_n; id++)
		c->cct.parent[id] = DWELL_CCT_NONE;
	for (uint32_t id = 0; id < t->threads_n; id++)
		c->cct.parent[threads + id] = t->process[id];
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

/* What the position of @id is about. */
static uint32_t subject_of(const struct dw_call_nodes *t, uint32_t id)
{
	return dw_call_nodes_is_line(t, id) ? (uint32_t)DWELL_CCT_STATEMENT : dw_call_callee(t, id);
}

/* Note where processes and threads stand. */
static void add_tasks(struct dw_call_tree *c)
{
	const struct dw_call_nodes *t = c->nodes;

	for (uint32_t id = 0; id < t->processes_n + t->threads_n; id++) {
		bool has = dw_cct_has(&c->cct, id);
		uint32_t p = has ? c->cct.position[id] : (uint32_t)DWELL_CCT_NONE;

		*(id < t->processes_n ? &c->process[id] : &c->thread[id - t->processes_n]) = p;
		if (has)
			c->cct.subject[p] = DWELL_CCT_THREAD;
	}
}

/* Give nodes what they have. In the order of ids, so that of all memory that this needs only the
 * tree's is not in order; that is asked for in time. */
static int add_nodes(struct dw_call_tree *c, const struct dw_amounts *like)
{
	enum { AHEAD = 16 };
	const struct dw_call_nodes *t = c->nodes;
	struct dw_cct *cct = &c->cct;
	uint32_t nodes = t->processes_n + t->threads_n;
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
		cct->subject[p] = subject_of(t, id);
		cct->has_statements |= cct->subject[p] == DWELL_CCT_STATEMENT;
		own = dw_call_nodes_values(t, id);
		dw_amount_of_calls(like, &own, &amount);
		rc = dw_cct_add(cct, nodes + id, &amount);
	}
	return rc;
}

int dw_call_tree_init(struct dw_call_tree *c, const struct dw_call_nodes *nodes,
		      const struct dw_amounts *like)
{
	uint64_t n = (uint64_t)nodes->processes_n + nodes->threads_n + nodes->n;
	int rc;

	*c = (struct dw_call_tree){.nodes = nodes};
	if (n >= DWELL_CCT_STATEMENT)
		return DWELL_ERR_LIMIT;
	c->process = malloc(nodes->processes_n * sizeof *c->process);
	c->thread = malloc(nodes->threads_n * sizeof *c->thread);
	if (!c->process || !c->thread || dw_cct_init(&c->cct, (uint32_t)n, like))
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
	free(c->process);
	free(c->thread);
	*c = (struct dw_call_tree){0};
}
