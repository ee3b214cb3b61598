/*
 * Functions, locations, code and sources of several sessions; see join.h.
 *
 * Of a frame that several sessions have, the locations that tell most stay: one machine may have
 * had debug information that another lacked. Entries of functions are told by one location alone.
 */
#include "merge/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MAX_BYTES = 16 << 20 }; /* as recordings keep */

static int join_functions(struct dw_join *j)
{
	struct dw_profile *to = &j->to->profile;
	int rc = 0;

	for (uint32_t id = 1; id <= dw_functions_count(&j->from->functions) && !rc; id++) {
		struct dw_function row = j->from->functions.rows.v[id];

		row.module = j->modules[row.module];
		row.name = j->strings[row.name];
		row.linkage_name = j->strings[row.linkage_name];
		row.file = j->strings[row.file];
		rc = dw_functions_add(&to->functions, &row, &j->functions[id]);
	}
	return rc;
}

static uint32_t count_lines(const struct dw_location *chain, uint32_t n)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < n; i++)
		lines += chain[i].line != 0;
	return lines;
}

/* Whether @n locations at @chain tell more than those of @old. */
static bool is_better(const struct dw_join *j, const struct dw_chain *old,
		      const struct dw_location *chain, uint32_t n)
{
	if (!old->n || !n)
		return n;
	if (old->n != n && dw_profile_has_calls(j->from))
		return n < old->n;
	return count_lines(chain, n) > count_lines(j->to->locations.v + old->first, old->n);
}

static int join_chain(struct dw_join *j, uint32_t frame)
{
	struct dw_joined *to = j->to;
	struct dw_chain *old;
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&j->from->locations, frame, &n);

	while (to->chains.n <= j->frames[frame])
		if (dw_vec_push(&to->chains, (struct dw_chain){0}))
			return -ENOMEM;
	old = &to->chains.v[j->frames[frame]];
	if (!is_better(j, old, chain, n))
		return 0;
	if (to->locations.n + n > UINT32_MAX || dw_vec_reserve(&to->locations, n))
		return -ENOMEM;
	*old = (struct dw_chain){(uint32_t)to->locations.n, n};
	for (uint32_t i = 0; i < n; i++) {
		struct dw_location row = chain[i];

		row.function = j->functions[row.function];
		row.file = j->strings[row.file];
		to->locations.v[to->locations.n++] = row;
	}
	return 0;
}

static int join_frames(struct dw_join *j)
{
	int rc = 0;

	for (uint32_t id = 1; id <= dw_frames_count(&j->from->frames) && !rc; id++) {
		struct dw_frame row = j->from->frames.rows.v[id];

		row.module = j->modules[row.module];
		rc = dw_frames_add(&j->to->profile.frames, row, &j->frames[id]);
		if (!rc)
			rc = join_chain(j, id);
	}
	return rc;
}

static int join_codes(struct dw_join *j)
{
	dw_vec_each(code, &j->from->codes.rows) {
		struct dw_code row = *code;

		row.function = j->functions[row.function];
		if (!row.bytes || dw_pairs_find(&j->to->codes, row.function, row.svma))
			continue;
		if (!dw_pairs_add(&j->to->codes, row.function, row.svma) ||
		    dw_vec_push(&j->to->profile.codes.rows, row))
			return -ENOMEM;
		*code = (struct dw_code){0}; /* its bytes have gone over */
	}
	return 0;
}

static int join_sources(struct dw_join *j)
{
	struct dw_joined *to = j->to;

	dw_vec_each(source, &j->from->sources.rows) {
		struct dw_source row = *source;

		row.file = j->strings[row.file];
		if (!row.file || !row.text || dw_map_get(&to->sources, row.file) ||
		    to->source_bytes + row.bytes_n > SOURCE_MAX_BYTES)
			continue;
		if (dw_map_put(&to->sources, row.file, 1) ||
		    dw_vec_push(&to->profile.sources.rows, row))
			return -ENOMEM;
		to->source_bytes += row.bytes_n;
		*source = (struct dw_source){0};
	}
	return 0;
}

int dw_join_symbols(struct dw_join *j)
{
	int rc = join_functions(j);

	rc = rc ? rc : join_frames(j);
	rc = rc ? rc : join_codes(j);
	return rc ? rc : join_sources(j);
}

/* Put the chains in the order of frames. */
static int give_locations(const struct dw_joined *to, struct dw_locations *ret, uint32_t frames)
{
	if (dw_vec_reserve(&ret->first, (size_t)frames + 2))
		return -ENOMEM;
	ret->first.v[ret->first.n++] = 0; /* frame 0 has none */
	for (uint32_t id = 0; id <= frames; id++) {
		struct dw_chain chain = id < to->chains.n ? to->chains.v[id] : (struct dw_chain){0};

		if (dw_vec_reserve(&ret->rows, chain.n + 1))
			return -ENOMEM;
		for (uint32_t i = 0; i < chain.n; i++)
			ret->rows.v[ret->rows.n++] = to->locations.v[chain.first + i];
		ret->first.v[ret->first.n++] = (uint32_t)ret->rows.n;
	}
	return 0;
}

/* How many frames there are, and of these with names and lines: as symbols/symbolize.h counts. */
static int count_frames(struct dw_profile *p)
{
	int64_t frames = 0, named = 0, lines = 0;
	int rc;

	for (uint32_t id = 1; id <= dw_frames_count(&p->frames); id++) {
		uint32_t n;
		const struct dw_location *l = dw_locations_get(&p->locations, id, &n);

		if (!n)
			continue;
		frames++;
		named += !(p->functions.rows.v[l->function].flags & DWELL_FUNCTION_NO_SYMBOL);
		lines += l->line != 0;
	}
	rc = dw_facts_set(&p->facts, "frames", frames);
	rc = rc ? rc : dw_facts_set(&p->facts, "frames_named", named);
	return rc ? rc : dw_facts_set(&p->facts, "frames_with_lines", lines);
}

/* What @p has of code and sources. */
static int count_bytes(struct dw_profile *p)
{
	int64_t bytes = 0;
	int rc = 0;

	dw_vec_each(code, &p->codes.rows)
		bytes += code->bytes_n;
	rc = dw_facts_set(&p->facts, "code_bytes", bytes);
	if (!rc && p->sources.rows.n)
		rc = dw_facts_set(&p->facts, "source_files", (int64_t)p->sources.rows.n);
	return rc;
}

int dw_joined_give(struct dw_joined *to, struct dw_profile *p)
{
	uint32_t threads = dw_threads_count(&p->threads);
	int rc;

	p->functions = to->profile.functions;
	p->codes = to->profile.codes;
	p->sources = to->profile.sources;
	to->profile.functions = (struct dw_functions){0};
	to->profile.codes = (struct dw_codes){0};
	to->profile.sources = (struct dw_sources){0};
	for (uint32_t id = 1; id <= threads && id < to->starts.n; id++)
		p->threads.rows.v[id].start = to->starts.v[id];
	rc = give_locations(to, &p->locations, dw_frames_count(&p->frames));
	rc = rc ? rc : count_frames(p);
	return rc ? rc : count_bytes(p);
}
