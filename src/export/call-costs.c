/*
 * Costs by function and call; see call-costs.h.
 *
 * Weights are summed up from the leaves of the tree of paths; then one walk down it finds the
 * calls, each of which counts where it is entered and was not on the path before.
 */
#include "export/call-costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What only the walk needs, by path. */
struct walk {
	struct dw_call_costs *costs;
	const struct dw_export *e;
	unsigned calls_kind; /* the weights that count calls, kinds_n = there are none */
	uint64_t *below;     /* kinds_n each: of the path and what is below */
	uint64_t *calls;     /* of the path alone */
	uint32_t *child, *next;
};

static void note_slot(void *ctx, uint32_t place, uint32_t i)
{
	struct walk *w = ctx;
	struct dw_call_costs *c = w->costs;
	uint32_t slot = c->slots.first[place + 1] - 1 - i;

	c->symbol_of[slot] = dw_paths_line(&w->e->paths, place, i).symbol;
	c->place_of[slot] = place;
}

static void add_own(struct walk *w)
{
	const struct dw_weights *weights = &w->e->weights;
	struct dw_call_costs *c = w->costs;

	for (size_t i = 0; i < weights->rows.n; i++) {
		uint32_t path = weights->rows.v[i].path;
		uint32_t slot = c->slots.first[dw_paths_place(&w->e->paths, path) + 1] - 1;

		for (unsigned k = 0; k < c->kinds_n; k++) {
			uint64_t v = dw_weights_value(weights, i, k);

			c->own[(size_t)slot * c->kinds_n + k] += v;
			w->below[(size_t)path * c->kinds_n + k] += v;
			if (k == w->calls_kind)
				w->calls[path] += v;
		}
	}
}

/* Sum up from the leaves, and list children. */
static void link_paths(struct walk *w)
{
	const struct dw_paths *paths = &w->e->paths;
	size_t kinds = w->costs->kinds_n;

	for (uint32_t path = paths->n; path-- > 1;) {
		uint32_t parent = dw_paths_parent(paths, path);

		if (!w->costs->slots.used[path])
			continue;
		for (size_t k = 0; parent && k < kinds; k++)
			w->below[parent * kinds + k] += w->below[path * kinds + k];
		w->next[path] = w->child[parent];
		w->child[parent] = path;
	}
}

/* The call from @slot to @to, made when new. NULL = no memory. */
static struct dw_cost_call *find_call(struct walk *w, uint32_t slot, struct dw_path_line to)
{
	struct dw_call_costs *c = w->costs;
	uint64_t key = (uint64_t)slot << 32 | to.symbol;
	uint32_t id = dw_map_get(&c->call_ids, key);

	if (id)
		return &c->calls.v[id - 1];
	if (dw_vec_push(&c->calls, (struct dw_cost_call){.symbol = to.symbol,
							 .line = to.line,
							 .next = c->calls_of[slot]}) ||
	    dw_vec_reserve(&c->inclusive, c->kinds_n) ||
	    dw_map_put(&c->call_ids, key, (uint32_t)c->calls.n))
		return NULL;
	memset(c->inclusive.v + c->inclusive.n, 0, c->kinds_n * sizeof *c->inclusive.v);
	c->inclusive.n += c->kinds_n;
	c->calls_of[slot] = (uint32_t)c->calls.n;
	return &c->calls.v[c->calls.n - 1];
}

/* The walk enters (@by 1) or leaves (-1) the call from @slot to the function @i of @path. */
static int step(struct walk *w, uint32_t slot, uint32_t path, uint32_t i, int by)
{
	struct dw_call_costs *c = w->costs;
	uint32_t place = dw_paths_place(&w->e->paths, path);
	struct dw_cost_call *call = find_call(w, slot, dw_paths_line(&w->e->paths, place, i));
	const uint64_t *below = &w->below[(size_t)path * c->kinds_n];
	bool counted = w->calls_kind < c->kinds_n;

	if (!call)
		return -ENOMEM;
	call->active += (uint32_t)by;
	if (by < 0)
		return 0;
	if (counted)
		call->count += w->calls[path];
	if (call->active > 1)
		return 0;
	if (!counted)
		call->count += below[0];
	for (unsigned k = 0; k < c->kinds_n; k++)
		c->inclusive.v[(size_t)(call - c->calls.v) * c->kinds_n + k] += below[k];
	return 0;
}

/* All calls that @path adds to those of its parent. */
static int step_all(struct walk *w, uint32_t path, int by)
{
	const struct dw_paths *paths = &w->e->paths;
	const uint32_t *first = w->costs->slots.first;
	uint32_t place = dw_paths_place(paths, path), parent = dw_paths_parent(paths, path);
	uint32_t lines = first[place + 1] - first[place];
	int rc = 0;

	if (parent)
		rc = step(w, first[dw_paths_place(paths, parent) + 1] - 1, path, lines - 1, by);
	for (uint32_t i = lines - 1; i-- > 0 && !rc;)
		rc = step(w, first[place + 1] - 2 - i, path, i, by);
	return rc;
}

static int walk_down(struct walk *w)
{
	const struct dw_paths *paths = &w->e->paths;
	uint32_t path = w->child[0];
	int rc = 0;

	while (path && !rc) {
		rc = step_all(w, path, 1);
		if (w->child[path]) {
			path = w->child[path];
			continue;
		}
		while (path && !rc) {
			rc = step_all(w, path, -1);
			if (w->next[path])
				break;
			path = dw_paths_parent(paths, path);
		}
		path = path ? w->next[path] : 0;
	}
	return rc;
}

static int allocate(struct walk *w)
{
	struct dw_call_costs *c = w->costs;
	size_t paths = (size_t)w->e->paths.n + 1, slots = (size_t)c->slots.n + 1;

	c->own = calloc(slots, c->kinds_n * sizeof *c->own);
	c->symbol_of = calloc(slots, sizeof *c->symbol_of);
	c->place_of = calloc(slots, sizeof *c->place_of);
	c->calls_of = calloc(slots, sizeof *c->calls_of);
	w->below = calloc(paths, c->kinds_n * sizeof *w->below);
	w->calls = calloc(paths, sizeof *w->calls);
	w->child = calloc(paths, sizeof *w->child);
	w->next = calloc(paths, sizeof *w->next);
	return c->own && c->symbol_of && c->place_of && c->calls_of && w->below && w->calls &&
			       w->child && w->next
		       ? 0
		       : -ENOMEM;
}

int dw_call_costs_init(struct dw_call_costs *c, const struct dw_export *e)
{
	struct walk w = {.costs = c, .e = e};
	int rc;

	*c = (struct dw_call_costs){.kinds_n = e->weights.kinds_n};
	while (w.calls_kind < c->kinds_n && strcmp(e->weights.kinds[w.calls_kind].name, "calls"))
		w.calls_kind++;
	rc = dw_slots_init(&c->slots, &e->paths, &e->weights);
	if (!rc)
		rc = allocate(&w);
	if (!rc) {
		dw_slots_each(&c->slots, note_slot, &w);
		add_own(&w);
		link_paths(&w);
		rc = walk_down(&w);
	}
	free(w.below);
	free(w.calls);
	free(w.child);
	free(w.next);
	return rc;
}

void dw_call_costs_release(struct dw_call_costs *c)
{
	dw_slots_release(&c->slots);
	free(c->own);
	free(c->symbol_of);
	free(c->place_of);
	free(c->calls_of);
	dw_vec_release(&c->calls);
	dw_vec_release(&c->inclusive);
	dw_map_release(&c->call_ids);
}
