/*
 * Which modules of several sessions are one; see join.h.
 *
 * Code that runtimes make, and files without a build-id, may be other code at the same addresses.
 * So modules are paired first and their frames are held against each other; who does not fit tries
 * the next of the same name, a few times, and is a module of its own in the end.
 */
#include "merge/join.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS_MAX = 8,	     /* pairs that a module is tried in */
	CANDIDATES_MAX = 64, /* modules of one name that are looked at */
};

/* Modules being paired. */
struct pairing {
	struct dw_join *j;
	uint32_t *next;	  /* by old id: the candidate to try next */
	bool *is_taken;	  /* by new id */
	bool *is_strange; /* by old id: it does not fit what it is paired with */
};

static uint64_t name_of(uint32_t path, enum dw_module_kind kind)
{
	return (uint64_t)path << 8 | kind;
}

/* Whether @a, of the merged session, and @b are the same file. */
static bool is_same_file(const struct dw_module *a, const struct dw_module *b)
{
	if (a->build_id_bytes != b->build_id_bytes ||
	    memcmp(a->build_id, b->build_id, a->build_id_bytes) != 0)
		return false;
	return a->build_id_bytes || (a->device == b->device && a->inode == b->inode);
}

/* Pair @id with the next candidate that is the same file, or with none. */
static void pair(struct pairing *p, uint32_t id)
{
	const struct dw_module *from = dw_modules_get(&p->j->from->modules, id);
	uint32_t candidate = p->next[id];

	for (int n = 0; candidate && n < CANDIDATES_MAX; n++) {
		uint32_t next = p->j->to->next_modules.v[candidate];
		const struct dw_module *to = dw_modules_get(&p->j->to->profile.modules, candidate);

		if (!p->is_taken[candidate] && is_same_file(to, from)) {
			p->is_taken[candidate] = true;
			p->j->modules[id] = candidate;
			p->next[id] = next;
			return;
		}
		candidate = next;
	}
	p->j->modules[id] = p->next[id] = 0;
}

/* The name of the function at frame @id of the merged session, 0 = nothing is known of it. */
static uint32_t name_at(const struct dw_joined *to, uint32_t id)
{
	const struct dw_chain *chain = id < to->chains.n ? &to->chains.v[id] : NULL;
	uint32_t function =
		chain ? dw_outermost_function(to->locations.v + chain->first, chain->n) : 0;

	return function ? to->profile.functions.rows.v[function].name : 0;
}

/* Mark those modules in which some address is of another function than in what they are paired
 * with. Whether there are any. */
static bool find_strangers(struct pairing *p)
{
	const struct dw_profile *from = p->j->from;
	bool any = false;

	for (uint32_t id = 1; id <= dw_frames_count(&from->frames); id++) {
		struct dw_frame frame = from->frames.rows.v[id];
		uint32_t module = frame.module, n, name;
		const struct dw_location *chain = dw_locations_get(&from->locations, id, &n);

		if (!module || !p->j->modules[module] || !n ||
		    from->modules.rows.v[module].build_id_bytes)
			continue;
		frame.module = p->j->modules[module];
		name = name_at(p->j->to, dw_frames_find(&p->j->to->profile.frames, frame));
		if (!name ||
		    name == p->j->strings[from->functions.rows.v[dw_outermost_function(chain, n)]
						  .name])
			continue;
		p->is_strange[module] = any = true;
	}
	return any;
}

/* A module of its own for @id. */
static int add(struct pairing *p, uint32_t id)
{
	struct dw_joined *to = p->j->to;
	struct dw_module row = *dw_modules_get(&p->j->from->modules, id);
	uint64_t name;
	uint32_t last;

	row.path = p->j->strings[row.path];
	row.name = p->j->strings[row.name];
	name = name_of(row.path, row.kind);
	if (dw_modules_add(&to->profile.modules, &row, &p->j->modules[id]))
		return -ENOMEM;
	while (to->next_modules.n <= p->j->modules[id])
		if (dw_vec_push(&to->next_modules, 0))
			return -ENOMEM;
	last = dw_map_get(&to->last_modules, name);
	if (last)
		to->next_modules.v[last] = p->j->modules[id];
	else if (dw_map_put(&to->first_modules, name, p->j->modules[id]))
		return -ENOMEM;
	return dw_map_put(&to->last_modules, name, p->j->modules[id]);
}

static int find_pairs(struct pairing *p, uint32_t n)
{
	const struct dw_profile *from = p->j->from;
	int rc = 0;

	for (uint32_t id = 1; id <= n; id++) {
		const struct dw_module *row = dw_modules_get(&from->modules, id);

		p->next[id] = dw_map_get(&p->j->to->first_modules,
					 name_of(p->j->strings[row->path], row->kind));
		pair(p, id);
	}
	for (int i = 0; i < ROUNDS_MAX && find_strangers(p); i++)
		for (uint32_t id = 1; id <= n; id++) {
			if (!p->is_strange[id])
				continue;
			p->is_strange[id] = false;
			p->is_taken[p->j->modules[id]] = false;
			p->j->modules[id] = 0;
			if (i + 1 < ROUNDS_MAX)
				pair(p, id);
		}
	for (uint32_t id = 1; id <= n && !rc; id++)
		if (!p->j->modules[id])
			rc = add(p, id);
	return rc;
}

int dw_join_modules(struct dw_join *j)
{
	uint32_t n = dw_modules_count(&j->from->modules);
	size_t news = (size_t)dw_modules_count(&j->to->profile.modules) + 1;
	dw_auto_free uint32_t *next = calloc((size_t)n + 1, sizeof *next);
	dw_auto_free bool *is_taken = calloc(news, sizeof *is_taken);
	dw_auto_free bool *is_strange = calloc((size_t)n + 1, sizeof *is_strange);
	struct pairing p = {j, next, is_taken, is_strange};

	return next && is_taken && is_strange ? find_pairs(&p, n) : -ENOMEM;
}
