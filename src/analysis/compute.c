/* Totals that are kept, and jobs; see compute.h. */
#include "analysis/compute.h"

#include "analysis/disassembly.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OTHERS_MAX = 4 }; /* totals of other parts of the session: those of a large one are large */

static void free_folded(struct dw_folded_kept *f)
{
	dw_folded_release(&f->folded);
	free(f);
}

static void free_kept(struct dw_totals_kept *kept)
{
	dw_totals_release(&kept->totals);
	dw_selection_unref(kept->selection);
	free(kept);
}

/* Nodes are only there as far as the focus goes. */
struct dw_totals_kept *dw_totals_store_find(const struct dw_totals_store *t,
					    const struct dw_selection *s,
					    const struct dw_totals_wanted *wanted)
{
	bool focused = wanted->parts & (DWELL_TOTALS_NODES | DWELL_TOTALS_PATHS);

	dw_vec_each(at, &t->kept) {
		const struct dw_totals_wanted *are = &(*at)->are;

		if ((*at)->selection == s && !(wanted->parts & ~are->parts) &&
		    are->folds == wanted->folds && are->opened == wanted->opened &&
		    are->by == wanted->by && are->splits_lines == wanted->splits_lines &&
		    are->delimited_intervals == wanted->delimited_intervals &&
		    are->latency >= wanted->latency &&
		    (!focused || (are->root == wanted->root && are->hot_path == wanted->hot_path)))
			return *at;
	}
	return NULL;
}

struct dw_folded_kept *dw_totals_store_folded(const struct dw_totals_store *t,
					      const struct dw_totals_wanted *wanted)
{
	dw_vec_each(at, &t->folded)
		if (wanted->folds && (*at)->opened == wanted->opened)
			return *at;
	return NULL;
}

int dw_totals_store_add_folded(struct dw_totals_store *t, struct dw_folded_kept *f)
{
	return dw_vec_push(&t->folded, f);
}

int dw_totals_store_add(struct dw_totals_store *t, struct dw_totals_kept *kept,
			const struct dw_selection *s)
{
	size_t others = 0, n = 0;

	if (dw_vec_push(&t->kept, kept))
		return -ENOMEM;
	dw_vec_each(at, &t->kept)
		others += (*at)->selection != s;
	for (size_t i = 0; i < t->kept.n; i++) {
		struct dw_totals_kept *at = t->kept.v[i];

		if (at->selection == s || others <= OTHERS_MAX) {
			t->kept.v[n++] = at;
			continue;
		}
		others--;
		free_kept(at);
	}
	t->kept.n = n;
	return 0;
}

static bool has_totals_of(const struct dw_totals_store *t, const struct dw_folded_kept *f)
{
	dw_vec_each(at, &t->kept)
		if ((*at)->are.folds && (*at)->are.opened == f->opened)
			return true;
	return false;
}

void dw_totals_store_limit(struct dw_totals_store *t, size_t max)
{
	size_t many = t->kept.n > max ? t->kept.n - max : 0, n = 0;

	for (size_t i = 0; i < many; i++)
		free_kept(t->kept.v[i]);
	if (many)
		memmove(t->kept.v, t->kept.v + many, (t->kept.n -= many) * sizeof *t->kept.v);
	dw_vec_each(f, &t->folded) {
		if (has_totals_of(t, *f))
			t->folded.v[n++] = *f;
		else
			free_folded(*f);
	}
	t->folded.n = n;
}

void dw_totals_store_release(struct dw_totals_store *t)
{
	dw_vec_each(at, &t->kept)
		free_kept(*at);
	dw_vec_each(at, &t->folded)
		free_folded(*at);
	dw_vec_release(&t->kept);
	dw_vec_release(&t->folded);
}

struct dw_job *dw_job_compute(struct dw_profile *p, struct dw_selection *s,
			      const struct dw_totals_store *t,
			      const struct dw_totals_wanted *wanted)
{
	struct dw_job *job = calloc(1, sizeof *job);
	struct dw_totals_kept *kept = calloc(1, sizeof *kept);
	struct dw_folded_kept *folded = dw_totals_store_folded(t, wanted);
	bool folds = wanted->folds && !folded;

	if (folds)
		folded = calloc(1, sizeof *folded);
	if (!job || !kept || (folds && !folded)) {
		free(job);
		free(kept);
		if (folds)
			free(folded);
		return NULL;
	}
	if (folds)
		folded->opened = wanted->opened;
	*kept = (struct dw_totals_kept){.are = *wanted, .selection = dw_selection_ref(s)};
	*job = (struct dw_job){.profile = p, .kept = kept, .folded = folded, .folds = folds};
	return job;
}

struct dw_job *dw_job_load(dw_load_fn *load, void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	struct dw_job *job = calloc(1, sizeof *job);

	if (job)
		*job = (struct dw_job){
			.load = load, .load_ctx = ctx, .from_ns = from_ns, .to_ns = to_ns};
	return job;
}

/* As tables of reports do: what the user's code calls stays. */
static int fold(struct dw_job *job)
{
	const struct dw_my_code_rule rule = {.keeps_callees = true, .opened = job->folded->opened};

	return dw_folded_make(job->profile, &rule, &job->folded->folded, NULL);
}

static void compute(struct dw_job *job)
{
	struct dw_totals_kept *kept = job->kept;
	struct dw_filter filter = kept->selection->filter.filter;
	const struct dw_profile *p = job->folded ? &job->folded->folded.profile : job->profile;

	filter.focus = (struct dw_focus){
		.root = kept->are.root, .hot_path = kept->are.hot_path, .work = true};
	filter.by = kept->are.by;
	filter.splits_lines = kept->are.splits_lines;
	filter.delimited_intervals = kept->are.delimited_intervals;
	filter.latency = kept->are.latency;
	if (job->tells)
		job->rc = dw_disassembly_tell(job->profile);
	if (!job->rc && job->folds)
		job->rc = fold(job);
	if (!job->rc)
		job->rc = dw_totals_compute(p, &filter, kept->are.parts, &kept->totals);
}

void dw_job_run(void *ctx)
{
	struct dw_job *job = ctx;
	uint64_t begin = dw_clock_ns(CLOCK_MONOTONIC);

	if (job->kept)
		compute(job);
	else
		job->rc = job->load(job->load_ctx, job->from_ns, job->to_ns, &job->loaded,
				    &job->state, &job->err);
	job->took_ns = dw_clock_ns(CLOCK_MONOTONIC) - begin;
}

int dw_job_keep(struct dw_job *job, struct dw_totals_store *t, const struct dw_selection *s)
{
	int rc = job->rc;

	dw_vec_each(f, &t->folded)
		if (job->tells)
			dw_folded_follow(&(*f)->folded, job->profile);
	if (!rc && job->folds) {
		rc = dw_totals_store_add_folded(t, job->folded);
		job->folds = rc != 0;
	}
	if (!rc)
		rc = dw_totals_store_add(t, job->kept, s);
	if (!rc)
		job->kept = NULL;
	return rc;
}

void dw_job_free(struct dw_job *job)
{
	if (!job)
		return;
	if (job->kept)
		free_kept(job->kept);
	if (job->folds)
		free_folded(job->folded);
	dw_profile_release(&job->loaded);
	dw_error_clear(&job->err);
	free(job);
}
