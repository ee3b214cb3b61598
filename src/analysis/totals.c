/*
 * Totals of the samples that pass a filter; see totals.h. Those of calls are made in call-totals.c,
 * those of allocations in alloc-totals.c.
 *
 * Samples are first sorted into processes (one counting sort of their stacks), then each process's
 * stacks become a weighted tree that the walks of flat.c and tree.c run over. Time is that of
 * reading the samples once plus that of the distinct stacks; memory is 14 bytes a stack beside the
 * result.
 */
#include "analysis/totals.h"

#include "analysis/alloc-totals.h"
#include "analysis/call-totals.h"
#include "analysis/flat.h"
#include "analysis/selection.h"
#include "analysis/tree.h"
#include "analysis/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The samples that pass: stacks in the order of processes. */
struct selection {
	uint32_t *process; /* by thread id: process id; UINT32_MAX = filtered out */
	uint32_t *samples; /* by thread id: samples that pass */
	uint32_t *stacks;
	size_t *end; /* by process id: where its stacks end, once they are in */
	struct dw_chosen_waits waits;
	bool has_waits;
	uint32_t threads_n;
	uint32_t processes_n;
};

static void selection_release(struct selection *s)
{
	free(s->process);
	free(s->samples);
	free(s->stacks);
	free(s->end);
	dw_chosen_waits_release(&s->waits);
}

/* The thread of sample @i if it passes, else UINT32_MAX. */
static inline uint32_t passing_thread(const struct selection *s, const struct dw_profile *p,
				      const struct dw_filter *filter, size_t i)
{
	uint32_t thread = p->samples.thread[i];
	uint64_t last_ns = filter->to_ns - 1; /* without an end: the largest */

	if (thread >= s->threads_n)
		thread = 0;
	if (s->process[thread] == UINT32_MAX || p->samples.time_ns[i] < filter->from_ns ||
	    p->samples.time_ns[i] > last_ns ||
	    (filter->modules && !dw_select_stack(p, filter, p->samples.stack[i])))
		return UINT32_MAX;
	return thread;
}

/* Count the samples of each thread, then put the stacks of each process together. */
static int sort_samples(struct selection *s, const struct dw_profile *p,
			const struct dw_filter *filter)
{
	size_t total = 0;

	for (size_t i = 0; i < p->samples.n; i++) {
		uint32_t thread = passing_thread(s, p, filter, i);

		if (thread != UINT32_MAX)
			s->samples[thread]++;
	}
	for (uint32_t id = 0; id < s->threads_n; id++)
		if (s->samples[id])
			s->end[s->process[id]] += s->samples[id];
	for (uint32_t id = 0; id < s->processes_n; id++) {
		size_t n = s->end[id];

		s->end[id] = total;
		total += n;
	}
	s->stacks = malloc((total ? total : 1) * sizeof *s->stacks);
	if (!s->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < p->samples.n; i++) {
		uint32_t thread = passing_thread(s, p, filter, i);

		if (thread != UINT32_MAX)
			s->stacks[s->end[s->process[thread]]++] = p->samples.stack[i];
	}
	return 0;
}

static int select_samples(struct selection *s, const struct dw_profile *p,
			  const struct dw_filter *filter)
{
	if (p->samples.n + p->waits.rows.n > UINT32_MAX)
		return DWELL_ERR_LIMIT;
	s->threads_n = dw_threads_count(&p->threads) + 1;
	s->processes_n = dw_processes_count(&p->processes) + 1;
	s->process = calloc(s->threads_n, sizeof *s->process);
	s->samples = calloc(s->threads_n, sizeof *s->samples);
	s->end = calloc(s->processes_n, sizeof *s->end);
	if (!s->process || !s->samples || !s->end)
		return -ENOMEM;
	dw_select_threads(p, filter, s->process);
	s->has_waits = dw_profile_has_waits(p);
	if (s->has_waits && dw_waits_choose(&s->waits, p, filter, s->process))
		return -ENOMEM;
	return sort_samples(s, p, filter);
}

/* A row of @samples and of @ns of waits, all its own, appended to the amounts of @ret. Its number,
 * UINT32_MAX = no memory. */
static uint32_t put_amounts(struct dw_totals *ret, uint64_t samples, uint64_t ns)
{
	struct dw_amounts *a = &ret->amounts;
	uint32_t row = dw_amounts_push(a);

	if (row == UINT32_MAX)
		return row;
	*dw_amounts_common(a, row, DWELL_MEASURE_SAMPLES) = (struct dw_values){samples, samples};
	if (dw_amounts_has(a, DWELL_MEASURE_BLOCKED))
		*dw_amounts_common(a, row, DWELL_MEASURE_BLOCKED) = (struct dw_values){ns, ns};
	return row;
}

/* All processes and threads, with or without samples. Number 0 (unknown) only with some. */
static int count_tasks(const struct selection *s, struct dw_totals *ret)
{
	size_t begin = 0;
	uint64_t ns = 0;

	for (uint32_t id = 0; id < s->processes_n; begin = s->end[id++]) {
		struct dw_process_total row = {.process = id};

		ns = s->has_waits ? s->waits.by_process[id] : 0;
		if (!id && s->end[id] == begin && !ns)
			continue;
		row.amounts = put_amounts(ret, s->end[id] - begin, ns);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->processes, row))
			return -ENOMEM;
	}
	for (uint32_t id = 0; id < s->threads_n; id++) {
		struct dw_thread_total row = {.thread = id};

		ns = s->has_waits ? s->waits.by_thread[id] : 0;
		if (!id && !s->samples[id] && !ns)
			continue;
		row.amounts = put_amounts(ret, s->samples[id], ns);
		if (row.amounts == UINT32_MAX || dw_vec_push(&ret->threads, row))
			return -ENOMEM;
	}
	return 0;
}

/* Samples whose outermost frame says that the rest could not be read. */
static uint64_t count_cut(const struct dw_trie *t, const struct dw_profile *p)
{
	uint64_t n = 0;

	for (uint32_t c = t->nodes[0].child; c; c = t->nodes[c].next) {
		const struct dw_frame *f = dw_frames_get(&p->frames, t->rows[c].frame);

		if (f && f->kind == DWELL_FRAME_CUT)
			n += t->nodes[c].inclusive -
			     (t->blocked ? t->blocked[c].waits.inclusive : 0);
	}
	return n;
}

/* What the computation of all processes shares. */
struct machinery {
	struct dw_subjects subjects;
	struct dw_trie trie;
	struct dw_flat flat;
	struct dw_tree *tree; /* NULL: not asked for */
};

static int machinery_init(struct machinery *m, const struct dw_profile *p,
			  const struct dw_focus *focus, unsigned parts, bool has_waits)
{
	enum dw_flat_more more = has_waits ? DWELL_FLAT_WAITS : DWELL_FLAT_SAMPLES;

	if (dw_subjects_init(&m->subjects, p, parts & DWELL_TOTALS_LINES) ||
	    dw_trie_init(&m->trie, &p->stacks) || (has_waits && dw_trie_wait(&m->trie)) ||
	    dw_flat_init(&m->flat, &m->subjects, parts, more))
		return -ENOMEM;
	m->flat.only = focus->function;
	return parts & DWELL_TOTALS_NODES ? dw_tree_new(&m->trie, &m->subjects, focus, &m->tree)
					  : 0;
}

static void machinery_release(struct machinery *m)
{
	dw_tree_free(m->tree);
	dw_flat_release(&m->flat);
	dw_trie_release(&m->trie);
	dw_subjects_release(&m->subjects);
}

/* All parts of the process whose stacks are in the trie. */
static int count_process(struct machinery *m, uint32_t process, struct dw_totals *ret)
{
	int rc = 0;

	if (m->flat.parts & ~(unsigned)(DWELL_TOTALS_NODES | DWELL_TOTALS_TASKS))
		rc = dw_flat_count(&m->flat, &m->trie, process, ret);
	if (!rc && m->tree)
		rc = dw_tree_build(m->tree, process, ret);
	return rc;
}

static int count_all(const struct dw_profile *p, const struct dw_filter *filter, unsigned parts,
		     const struct selection *s, struct dw_totals *ret)
{
	struct machinery m = {0};
	int rc = machinery_init(&m, p, &filter->focus, parts, s->has_waits);
	size_t i = 0, w = 0;

	ret->all[DWELL_MEASURE_SAMPLES] = s->end[s->processes_n - 1];
	ret->all[DWELL_MEASURE_BLOCKED] = s->waits.ns;
	for (uint32_t id = 0; id < s->processes_n && !rc; id++) {
		size_t waits_end = s->has_waits ? s->waits.end[id] : 0;

		if (i == s->end[id] && w == waits_end)
			continue;
		if (ret->processes_seen++)
			dw_trie_clear(&m.trie);
		for (; i < s->end[id]; i++)
			dw_trie_add(&m.trie, s->stacks[i]);
		for (; w < waits_end; w++)
			dw_trie_add_wait(&m.trie, s->waits.v[w].stack, s->waits.v[w].ns);
		dw_trie_link(&m.trie);
		ret->stacks_cut += count_cut(&m.trie, p);
		rc = count_process(&m, id, ret);
	}
	machinery_release(&m);
	return rc;
}

int dw_totals_compute(const struct dw_profile *p, const struct dw_filter *filter, unsigned parts,
		      struct dw_totals *ret)
{
	static const struct dw_filter none;
	struct selection s = {0};
	int rc;

	dw_totals_release(ret);
	dw_totals_init(ret, dw_profile_measures(p));
	if (!filter)
		filter = &none;
	if (dw_profile_has_calls(p))
		return dw_call_totals_compute(p, filter, parts, ret);
	if (dw_profile_method(p) == DWELL_METHOD_MEMORY)
		return dw_alloc_totals_compute(p, filter, parts, ret);
	rc = select_samples(&s, p, filter);
	if (!rc && parts & DWELL_TOTALS_TASKS)
		rc = count_tasks(&s, ret);
	if (!rc)
		rc = count_all(p, filter, parts, &s, ret);
	selection_release(&s);
	return rc;
}
