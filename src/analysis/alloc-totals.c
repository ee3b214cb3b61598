/*
 * Totals of allocations; see alloc-totals.h.
 *
 * Pieces that pass are sorted into processes. Those of one process are added up by stack, and the
 * walks over stacks that serve samples do the rest (flat.c, tree.c). Types, threads and processes
 * are plain sums.
 */
#include "analysis/alloc-totals.h"

#include "analysis/alloc-paths.h"
#include "analysis/alloc-pieces.h"
#include "analysis/flat.h"
#include "analysis/tree.h"

#include <errno.h>
#include <stdlib.h>

/* Sums of all pieces by thread, process and type. */
struct sums {
	struct dw_alloc_values *threads, *processes, *types;
	struct dw_alloc_values all;
};

static void add_piece(struct sums *s, const struct dw_alloc_pieces *t, uint32_t process, size_t i)
{
	const struct dw_alloc_group *g = dw_alloc_piece_group(t, i);
	struct dw_alloc_values values = dw_alloc_piece_values(t, i);
	uint32_t types_n = (uint32_t)t->profile->allocations.types.n;

	dw_alloc_values_add(&s->all, &values);
	dw_alloc_values_add(&s->processes[process], &values);
	dw_alloc_values_add(&s->threads[g->thread < t->threads_n ? g->thread : 0], &values);
	dw_alloc_values_add(&s->types[g->type <= types_n ? g->type : 0], &values);
}

/* All processes and threads, with or without allocations. Number 0 (unknown) only with some. */
static int count_tasks(const struct dw_alloc_pieces *t, const struct sums *s, struct dw_totals *ret)
{
	if (dw_vec_reserve(&ret->threads, t->threads_n) ||
	    dw_vec_reserve(&ret->processes, t->processes_n))
		return -ENOMEM;
	for (uint32_t id = 0; id < t->processes_n; id++) {
		struct dw_process_total row = {.process = id};

		if (!id && dw_alloc_values_none(&s->processes[id]))
			continue;
		row.amounts = dw_amounts_put_allocs(&ret->amounts, &s->processes[id]);
		if (row.amounts == UINT32_MAX)
			return -ENOMEM;
		ret->processes.v[ret->processes.n++] = row;
	}
	for (uint32_t id = 0; id < t->threads_n; id++) {
		struct dw_thread_total row = {.thread = id};

		if (!id && dw_alloc_values_none(&s->threads[id]))
			continue;
		row.amounts = dw_amounts_put_allocs(&ret->amounts, &s->threads[id]);
		if (row.amounts == UINT32_MAX)
			return -ENOMEM;
		ret->threads.v[ret->threads.n++] = row;
	}
	return 0;
}

static int count_types(const struct dw_alloc_pieces *t, const struct sums *s, struct dw_totals *ret)
{
	const __auto_type types = &t->profile->allocations.types;

	if (dw_vec_reserve(&ret->types, types->n))
		return -ENOMEM;
	for (uint32_t id = 1; id <= types->n; id++) {
		struct dw_type_total row = {.type = id, .process = types->v[id - 1].process};

		if (dw_alloc_values_none(&s->types[id]))
			continue;
		row.amounts = dw_amounts_put_allocs(&ret->amounts, &s->types[id]);
		if (row.amounts == UINT32_MAX)
			return -ENOMEM;
		ret->types.v[ret->types.n++] = row;
	}
	return 0;
}

static int sum_up(const struct dw_alloc_pieces *t, unsigned parts, struct dw_totals *ret)
{
	struct sums s = {
		.threads = calloc(t->threads_n, sizeof *s.threads),
		.processes = calloc(t->processes_n, sizeof *s.processes),
		.types = calloc(t->profile->allocations.types.n + 1, sizeof *s.types),
	};
	int rc = s.threads && s.processes && s.types ? 0 : -ENOMEM;
	size_t i = 0;

	for (uint32_t id = 0; id < t->processes_n && !rc; id++) {
		ret->processes_seen += i < t->end[id];
		for (; i < t->end[id]; i++)
			add_piece(&s, t, id, i);
	}
	if (!rc && parts & DWELL_TOTALS_TASKS)
		rc = count_tasks(t, &s, ret);
	if (!rc && parts & DWELL_TOTALS_TYPES)
		rc = count_types(t, &s, ret);
	free(s.threads);
	free(s.processes);
	free(s.types);
	if (!rc && dw_amounts_put_allocs(&ret->amounts, &s.all) == UINT32_MAX)
		rc = -ENOMEM;
	if (!rc)
		dw_amounts_pop(&ret->amounts, ret->all);
	ret->from_ns = t->slices.from_ns;
	ret->to_ns = t->slices.to_ns;
	return rc;
}

/* Objects whose outermost frame says that the rest could not be read. */
static uint64_t count_cut(const struct dw_trie *t, const struct dw_profile *p)
{
	uint64_t n = 0;

	for (uint32_t c = t->nodes[0].child; c; c = t->nodes[c].next) {
		const struct dw_frame *f = dw_frames_get(&p->frames, t->rows[c].frame);

		if (f && f->kind != DWELL_FRAME_CODE)
			n += t->amounts[c].inclusive.allocated.objects;
	}
	return n;
}

/* What the walks over the stacks of all processes share. */
struct walks {
	struct dw_trie trie;
	struct dw_flat flat;
	struct dw_tree *tree; /* NULL: not asked for */
};

static int walks_init(struct walks *w, const struct dw_profile *p, const struct dw_focus *focus,
		      unsigned parts, const struct dw_subjects *subjects)
{
	if (dw_trie_init(&w->trie, &p->stacks) || dw_trie_weigh(&w->trie) ||
	    dw_flat_init(&w->flat, subjects, parts, DWELL_FLAT_AMOUNTS))
		return -ENOMEM;
	w->flat.only = focus->function;
	return parts & DWELL_TOTALS_NODES ? dw_tree_new(&w->trie, subjects, focus, &w->tree) : 0;
}

static void walks_release(struct walks *w)
{
	dw_tree_free(w->tree);
	dw_flat_release(&w->flat);
	dw_trie_release(&w->trie);
}

/* Rows of a process: stacks and leaves of parts, and further parts. */
struct rows {
	size_t begin, end, parts_begin, parts_end;
};

/* Count the parts among @rows in the flat totals. How many are leaves to *@ret. */
static int add_parts(struct walks *w, const struct dw_alloc_pieces *t, const struct rows *rows,
		     size_t *ret)
{
	size_t leaves_n = rows->end - rows->begin, parts_n = rows->parts_end - rows->parts_begin;
	int rc = 0;

	*ret = 0;
	for (size_t k = 0; k < leaves_n + parts_n && !rc; k++) {
		size_t i = k < leaves_n ? rows->begin + k : rows->parts_begin + k - leaves_n;
		unsigned part = dw_alloc_piece_part(t, i);
		struct dw_alloc_values values;

		if (!part)
			continue;
		values = dw_alloc_piece_values(t, i);
		*ret += k < leaves_n;
		rc = dw_flat_add_part(&w->flat, &w->trie, dw_alloc_piece_group(t, i)->stack, part,
				      &values);
	}
	return rc;
}

/* Put the stacks of @rows into the trie, and those of leaves of parts if they are wanted. */
static void fill_trie(struct walks *w, const struct dw_alloc_pieces *t, const struct rows *rows,
		      bool with_leaves)
{
	dw_trie_clear(&w->trie);
	for (size_t i = rows->begin; i < rows->end; i++) {
		struct dw_alloc_values values = dw_alloc_piece_values(t, i);

		if (with_leaves || !dw_alloc_piece_part(t, i))
			dw_trie_add_amount(&w->trie, dw_alloc_piece_group(t, i)->stack, &values);
	}
	dw_trie_link(&w->trie);
}

/* The flat totals and the call tree of each process. */
static int walk_stacks(const struct dw_alloc_pieces *t, const struct dw_focus *focus,
		       unsigned parts, const struct dw_subjects *subjects, struct dw_totals *ret)
{
	struct walks w = {0};
	int rc = walks_init(&w, t->profile, focus, parts, subjects);
	struct rows rows = {.end = 0, .parts_end = t->end[t->processes_n - 1]};

	for (uint32_t id = 0; id < t->processes_n && !rc; id++) {
		size_t leaves;

		rows = (struct rows){rows.end, t->end[id], rows.parts_end,
				     t->end[t->processes_n + id]};
		if (rows.begin == rows.end)
			continue;
		rc = add_parts(&w, t, &rows, &leaves);
		if (rc)
			break;
		fill_trie(&w, t, &rows, false);
		rc = dw_flat_count(&w.flat, &w.trie, id, ret);
		if (leaves)
			fill_trie(&w, t, &rows, true);
		ret->stacks_cut += count_cut(&w.trie, t->profile);
		if (!rc && w.tree)
			rc = dw_tree_build(w.tree, id, ret);
	}
	walks_release(&w);
	return rc;
}

/* Collections are known one by one, so they are chosen by the very range that was asked for. */
static int list_gcs(const struct dw_alloc_pieces *t, const struct dw_filter *f,
		    struct dw_totals *ret)
{
	const __auto_type gcs = &t->profile->allocations.gcs;

	for (uint32_t i = 0; i < gcs->n; i++) {
		const struct dw_gc *gc = &gcs->v[i];

		if (gc->start_ns >= f->from_ns && (!f->to_ns || gc->start_ns < f->to_ns) &&
		    dw_select_id(f->processes, f->processes_n, gc->process) &&
		    dw_vec_push(&ret->gcs, i))
			return -ENOMEM;
	}
	return 0;
}

int dw_alloc_totals_compute(const struct dw_profile *p, const struct dw_filter *filter,
			    unsigned parts, struct dw_totals *ret)
{
	const unsigned walked = DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_MODULES | DWELL_TOTALS_NODES |
				DWELL_TOTALS_EDGES | DWELL_TOTALS_LINES | DWELL_TOTALS_INSTRUCTIONS;
	struct dw_subjects subjects = {0};
	struct dw_alloc_pieces pieces;
	int rc = dw_alloc_pieces_init(&pieces, p, filter);

	if (!rc)
		rc = sum_up(&pieces, parts, ret);
	if (!rc && parts & DWELL_TOTALS_GCS)
		rc = list_gcs(&pieces, filter, ret);
	if (!rc && parts & (walked | DWELL_TOTALS_PATHS))
		rc = dw_subjects_init(&subjects, p, parts & DWELL_TOTALS_LINES);
	if (!rc && parts & walked)
		rc = walk_stacks(&pieces, &filter->focus, parts, &subjects, ret);
	if (!rc && parts & DWELL_TOTALS_PATHS)
		rc = dw_alloc_paths_build(&pieces, &filter->focus, &subjects, ret);
	dw_subjects_release(&subjects);
	dw_alloc_pieces_release(&pieces);
	return rc;
}
