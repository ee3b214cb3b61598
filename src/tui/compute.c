/* Totals that are kept, and jobs; see compute.h. */
#include "tui/compute.h"

#include "analysis/disassembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OTHERS_MAX = 4 }; /* totals of other parts of the session: those of a large one are large */

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
		    (!focused || (are->root == wanted->root && are->hot_path == wanted->hot_path)))
			return *at;
	}
	return NULL;
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

void dw_totals_store_release(struct dw_totals_store *t)
{
	dw_vec_each(at, &t->kept)
		free_kept(*at);
	dw_vec_release(&t->kept);
}

struct dw_job *dw_job_compute(struct dw_profile *p, struct dw_selection *s,
			      const struct dw_totals_wanted *wanted)
{
	struct dw_job *job = calloc(1, sizeof *job);
	struct dw_totals_kept *kept = calloc(1, sizeof *kept);

	if (!job || !kept) {
		free(job);
		free(kept);
		return NULL;
	}
	*kept = (struct dw_totals_kept){.are = *wanted, .selection = dw_selection_ref(s)};
	*job = (struct dw_job){.profile = p, .kept = kept};
	return job;
}

struct dw_job *dw_job_load(dw_load_fn *load, const char *path, uint64_t from_ns, uint64_t to_ns)
{
	struct dw_job *job = calloc(1, sizeof *job);

	if (job)
		*job = (struct dw_job){
			.load = load, .path = path, .from_ns = from_ns, .to_ns = to_ns};
	return job;
}

void dw_job_run(void *ctx)
{
	struct dw_job *job = ctx;
	struct dw_totals_kept *kept = job->kept;
	struct dw_filter filter;

	if (!kept) {
		job->rc = job->load(job->path, job->from_ns, job->to_ns, &job->loaded, &job->err);
		return;
	}
	filter = kept->selection->filter.filter;
	filter.focus = (struct dw_focus){
		.root = kept->are.root, .hot_path = kept->are.hot_path, .work = true};
	if (job->tells)
		job->rc = dw_disassembly_tell(job->profile);
	if (!job->rc)
		job->rc = dw_totals_compute(job->profile, &filter, kept->are.parts, &kept->totals);
}

void dw_job_free(struct dw_job *job)
{
	if (!job)
		return;
	if (job->kept)
		free_kept(job->kept);
	dw_profile_release(&job->loaded);
	dw_error_clear(&job->err);
	free(job);
}
