/*
 * What of a reading is computed beside it; see reading.h and compute.h. There is one job at a time:
 * what the place at hand needs, or else what may be wanted next.
 */
#include "tui/reading-internal.h"

#include <errno.h>
#include <string.h>

/* Shorter than anybody notices: what is ready by then is never announced. */
enum { WAIT_MS = 25 };

/* What @job says of its failure. */
static int move_error(struct dw_job *job, struct dw_error *err)
{
	if (err) {
		*err = job->err;
		job->err = (struct dw_error)DW_ERROR_INIT;
	}
	return job->rc;
}

/* The profile of @job takes the place of the one that was read so far. */
static int finish_load(struct dw_reading *r, struct dw_job *job, struct dw_error *err)
{
	struct dw_filter_words words = dw_selection_words(r->selection);
	struct dw_selection *s;
	int rc = job->rc ? move_error(job, err) : 0;

	words.from_ns = job->from_ns;
	words.to_ns = job->to_ns;
	rc = rc ? rc : dw_selection_make(&words, &job->loaded, &s, err);
	if (rc)
		return rc;
	dw_reading_drop_next(r);
	rc = dw_reading_exchange(r, &job->loaded, s, &(struct dw_totals_store){0});
	r->follow.state = job->state;
	return rc ? dw_error_set(err, rc, "cannot show it: %s", dw_err_string(rc)) : 0;
}

static int finish_totals(struct dw_reading *r, struct dw_job *job)
{
	r->has_told_instructions |= job->tells && !job->rc;
	return dw_job_keep(job, &r->totals, r->selection);
}

/* Take over what the worker has done. 0, or why there is nothing of what somebody waits for. */
static int collect(struct dw_reading *r, int wait_ms, struct dw_error *err)
{
	struct dw_job *job = r->job;
	int rc = 0;

	if (!job || !dw_worker_take(&r->worker, wait_ms))
		return 0;
	r->job = NULL;
	if (job->kept) {
		rc = finish_totals(r, job);
		r->has_gone_ahead |= rc && job->is_ahead;
		rc = !rc || job->is_ahead ? 0
					  : dw_error_set(err, rc, "cannot compute the view: %s",
							 dw_err_string(rc));
	} else if (!job->is_given_up) {
		rc = finish_load(r, job, err);
		r->loads = false;
	}
	dw_job_free(job);
	return rc;
}

static int start(struct dw_reading *r, struct dw_job *job)
{
	if (!job)
		return -ENOMEM;
	r->job = job;
	dw_worker_give(&r->worker, dw_job_run, job);
	return 0;
}

int dw_reading_load(struct dw_reading *r, const struct dw_reading_start *s, struct dw_error *err)
{
	int rc;

	*r = (struct dw_reading){.start = s, .shows_all_code = s->shows_all_code};
	rc = dw_worker_start(&r->worker);
	rc = rc ? rc
		: start(r, dw_job_load(s->source.load, s->source.ctx, s->words->from_ns,
				       s->words->to_ns));
	return rc ? dw_error_set(err, rc, "cannot load it: %s", dw_err_string(rc)) : 0;
}

int dw_reading_open(struct dw_reading *r, int wait_ms, struct dw_error *err)
{
	struct dw_job *job = r->job;
	int rc;

	if (!dw_worker_take(&r->worker, wait_ms))
		return DWELL_READING_COMPUTES;
	r->job = NULL;
	r->profile = job->loaded;
	job->loaded = (struct dw_profile)DW_PROFILE_INIT;
	rc = job->rc ? move_error(job, err) : dw_reading_begin(r, err);
	if (!rc && r->start->source.look)
		rc = dw_reading_begin_follow(r, job->state, err);
	dw_job_free(job);
	return rc;
}

static int start_totals(struct dw_reading *r, const struct dw_totals_wanted *wanted, bool ahead)
{
	struct dw_job *job = dw_job_compute(&r->profile, r->selection, &r->totals, wanted);

	if (job) {
		job->tells = !r->has_told_instructions && wanted->parts & DWELL_TOTALS_INSTRUCTIONS;
		job->is_ahead = ahead;
	}
	return start(r, job);
}

/* Let the worker do what the place at hand needs, if it has nothing else to do. */
static int start_wanted(struct dw_reading *r)
{
	const struct dw_place_sources sources = dw_reading_sources(r);
	const struct dw_totals_wanted wanted = dw_place_wants(dw_reading_here(r), &sources);

	if (r->job)
		return 0;
	if (r->loads)
		return start(r, dw_job_load(r->start->source.load, r->start->source.ctx,
					    r->load_from_ns, r->load_to_ns));
	return start_totals(r, &wanted, false);
}

/* What is seen now is where giving up goes back to. */
static void settle(struct dw_reading *r)
{
	if (r->settled != r->selection) {
		dw_selection_unref(r->settled);
		r->settled = dw_selection_ref(r->selection);
		r->has_gone_ahead = false;
	}
	r->settled_place = dw_reading_here(r);
	r->settled_depth = r->history.n;
}

int dw_reading_prepare(struct dw_reading *r, struct dw_error *err)
{
	struct dw_place *p = dw_reading_here(r);

	for (int attempt = 0; attempt < 2; attempt++) {
		struct dw_place_sources sources;
		int rc = collect(r, attempt ? WAIT_MS : 0, err);

		if (rc)
			return rc;
		sources = dw_reading_sources(r);
		rc = dw_place_open(p, &sources);
		if (!rc && !r->loads) {
			settle(r);
			return 0;
		}
		if (rc && rc != -EAGAIN)
			return dw_error_set(err, rc, "cannot compute the view %s: %s", p->ops->name,
					    dw_err_string(rc));
		if (start_wanted(r))
			return dw_error_set(err, -ENOMEM, "no memory");
	}
	return DWELL_READING_COMPUTES;
}

bool dw_reading_is_loading(const struct dw_reading *r)
{
	return r->loads;
}

/* Start on totals of @p. False: they are there. */
static bool go_ahead_with(struct dw_reading *r, const struct dw_place *p)
{
	const struct dw_place_sources sources = dw_reading_sources(r);
	const struct dw_totals_wanted wanted = dw_place_wants(p, &sources);

	if (dw_totals_store_find(&r->totals, r->selection, &wanted))
		return false;
	r->has_gone_ahead = start_totals(r, &wanted, true) != 0;
	return true;
}

void dw_reading_go_ahead(struct dw_reading *r)
{
	const struct dw_place callers = {.ops = &dw_view_callers};
	int at = dw_reading_find_tab(r, dw_reading_here(r)->ops);

	if (r->job || r->has_gone_ahead || dw_reading_is_live(r))
		return;
	/* From the tab at hand on, and what Enter shows of a function. */
	for (size_t i = 0; i < r->tabs.n; i++)
		if (go_ahead_with(r, r->tabs.v[((size_t)(at < 0 ? 0 : at) + i) % r->tabs.n]))
			return;
	r->has_gone_ahead = !go_ahead_with(r, &callers);
}

bool dw_reading_give_up(struct dw_reading *r)
{
	if (r->loads) {
		r->loads = false;
		if (r->job && !r->job->kept)
			r->job->is_given_up = true;
		return true;
	}
	if (!r->settled)
		return false;
	if (r->selection != r->settled)
		dw_reading_use(r, dw_selection_ref(r->settled));
	while (r->history.n > r->settled_depth)
		dw_reading_release_visit(&r->history.v[--r->history.n]);
	/* Somebody went back. */
	return dw_reading_here(r) == r->settled_place ||
	       !dw_reading_push_visit(r, r->settled_place);
}
