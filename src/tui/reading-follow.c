/*
 * Following a recording that goes on; see follow.h and reading.h. Nothing that is shown is touched
 * until all that takes its place is there.
 */
#include "base/clock.h"
#include "tui/reading-internal.h"
#include "tui/remember.h"

#include <errno.h>
#include <string.h>

enum { SHARE_OF_TIME = 10 }; /* looks take at most one part in so many */

/* The function of @to that @id is in @from, 0 = there is none. Of several that are called alike it
 * is the one at the same address, if there is one. */
static uint32_t find_again(const struct dw_profile *from, uint32_t id, const struct dw_profile *to)
{
	const struct dw_function *f = dw_functions_get(&from->functions, id);
	const char *name = f ? dw_strings_get(&from->strings, f->name) : NULL;
	uint32_t similar = 0;

	for (int pass = 0; f && pass < 2 && !similar; pass++)
		for (uint32_t i = 1; i <= dw_functions_count(&to->functions); i++) {
			const struct dw_function *g = dw_functions_get(&to->functions, i);

			if (g->module == f->module && (pass || g->svma == f->svma) &&
			    !strcmp(dw_strings_get(&to->strings, g->name), name)) {
				similar = i;
				break;
			}
		}
	return similar;
}

/* Nobody is at @p any more: its function is not in the profile. */
static void leave(struct dw_reading *r, const struct dw_place *p)
{
	dw_vec_each(v, &r->history)
		v->place = v->place == p ? r->tabs.v[0] : v->place;
}

/* The same functions in another profile. */
static void find_places_again(struct dw_reading *r, const struct dw_profile *next)
{
	dw_vec_each(at, &r->details) {
		struct dw_place *p = *at;
		bool had = p->function || p->root;

		p->function = find_again(&r->profile, p->function, next);
		p->root = find_again(&r->profile, p->root, next);
		if (had && !p->function && !p->root)
			leave(r, p);
	}
}

int dw_reading_exchange(struct dw_reading *r, struct dw_profile *next, struct dw_selection *s,
			struct dw_totals_store *totals)
{
	int rc;

	dw_vec_each(p, &r->tabs)
		dw_place_keep(*p);
	dw_vec_each(p, &r->details)
		dw_place_keep(*p);
	find_places_again(r, next);
	dw_totals_store_release(&r->totals);
	dw_selection_unref(r->selection);
	dw_selection_unref(r->settled);
	dw_timeline_release(&r->timeline);
	dw_profile_release(&r->profile);
	/* What visits have chosen are ids of that one, but only their words are looked at. */
	r->profile = *next;
	*next = (struct dw_profile)DW_PROFILE_INIT;
	r->totals = *totals;
	*totals = (struct dw_totals_store){0};
	r->selection = s;
	r->settled = NULL;
	r->has_told_instructions = false;
	r->has_gone_ahead = false;
	dw_reading_begin_source(r);
	rc = dw_timeline_make(&r->timeline, &r->profile);
	return rc ? rc : dw_reading_renew_tabs(r);
}

int dw_reading_begin_follow(struct dw_reading *r, enum dw_recording_state state,
			    struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	int rc = dw_worker_start(&f->worker);

	if (rc)
		return dw_error_set(err, rc, "cannot follow it: %s", dw_err_string(rc));
	f->state = state;
	f->window_ns = r->start->window_ns;
	f->due_ns = dw_clock_ns(CLOCK_MONOTONIC) + r->start->interval_ns;
	return 0;
}

bool dw_reading_is_live(const struct dw_reading *r)
{
	return r->follow.worker.is_started && r->follow.state == DWELL_RECORDING_RUNS &&
	       !r->follow.is_frozen;
}

static void forget_next(struct dw_follow *f)
{
	dw_totals_store_release(&f->totals);
	dw_selection_unref(f->selection);
	dw_selection_unref(f->made_of);
	dw_profile_release(&f->next);
	f->selection = f->made_of = NULL;
	f->next = (struct dw_profile)DW_PROFILE_INIT;
	f->has_next = false;
}

/* Totals that are computed just now are of what is loaded: it stays until they are there. */
void dw_reading_drop_next(struct dw_reading *r)
{
	r->follow.is_outdated = r->follow.job != NULL;
	if (!r->follow.job || !r->follow.job->kept || !r->follow.worker.is_started)
		forget_next(&r->follow);
}

/* When to look again: that, and how much was spent on the last time. */
static void wait_a_while(struct dw_reading *r)
{
	struct dw_follow *f = &r->follow;
	uint64_t least = f->spent_ns * SHARE_OF_TIME;

	f->due_ns = dw_clock_ns(CLOCK_MONOTONIC) +
		    (least > r->start->interval_ns ? least : r->start->interval_ns);
	f->spent_ns = 0;
}

/* Why @job could not load is told once. */
static int fail_to_load(struct dw_reading *r, struct dw_job *job, struct dw_error *err)
{
	bool is_known = r->follow.has_failed;

	r->follow.has_failed = true;
	wait_a_while(r);
	if (is_known)
		return 0;
	*err = job->err;
	job->err = (struct dw_error)DW_ERROR_INIT;
	return job->rc;
}

/* Take over what the thread beside has done. */
static int take(struct dw_reading *r, struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	struct dw_job *job = f->job;
	int rc = 0;

	if (!job || !dw_worker_take(&f->worker, 0))
		return 0;
	f->job = NULL;
	f->spent_ns += job->took_ns;
	if (f->is_outdated) {
		forget_next(f);
		wait_a_while(r);
	} else if (job->kept) {
		rc = dw_job_keep(job, &f->totals, f->selection);
		if (rc)
			forget_next(f);
		rc = rc ? dw_error_set(err, rc, "cannot compute the view: %s", dw_err_string(rc))
			: 0;
	} else if (job->rc) {
		rc = fail_to_load(r, job, err);
	} else {
		f->has_failed = false;
		f->has_next = true;
		f->next = job->loaded;
		f->next_state = job->state;
		job->loaded = (struct dw_profile)DW_PROFILE_INIT;
	}
	f->is_outdated = false;
	dw_job_free(job);
	return rc;
}

static int start(struct dw_follow *f, struct dw_job *job, struct dw_error *err)
{
	if (!job)
		return dw_error_set(err, -ENOMEM, "no memory");
	f->job = job;
	dw_worker_give(&f->worker, dw_job_run, job);
	return 0;
}

/* Where the last part of @p begins that is shown alone. Calls and objects are added up while they
 * are loaded, when nobody knows yet where they end: there it is that of what was loaded before. */
static uint64_t window_from(const struct dw_reading *r, const struct dw_profile *p)
{
	int64_t end = dw_facts_get(&p->facts, "duration_ns", 0);

	return end > 0 && (uint64_t)end > r->follow.window_ns ? (uint64_t)end - r->follow.window_ns
							      : 0;
}

/* Find what of the next profile is to be shown. *@ret_fits: it was loaded for that. */
static int select_next(struct dw_reading *r, bool *ret_fits, struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	struct dw_filter_words words = dw_selection_words(r->selection);

	*ret_fits = f->window_ns || dw_profile_method(&f->next) == DWELL_METHOD_SAMPLING ||
		    (words.from_ns == f->from_ns && words.to_ns == f->to_ns);
	if (!*ret_fits || (f->selection && f->made_of == r->selection))
		return 0;
	dw_selection_unref(f->selection);
	dw_selection_unref(f->made_of);
	f->selection = NULL;
	f->made_of = dw_selection_ref(r->selection);
	if (f->window_ns && dw_profile_method(&f->next) == DWELL_METHOD_SAMPLING)
		f->from_ns = window_from(r, &f->next);
	if (f->window_ns) {
		words.from_ns = f->from_ns;
		words.to_ns = f->to_ns;
	}
	return dw_selection_make(&words, &f->next, &f->selection, err);
}

/* The totals of the next profile that are seen at once. */
static struct dw_totals_wanted wanted_of_next(struct dw_reading *r)
{
	const struct dw_place *here = dw_reading_here(r);
	const struct dw_place_sources sources = {.profile = &r->follow.next,
						 .selection = r->follow.selection,
						 .shows_all_code = r->shows_all_code};
	struct dw_place there = {.ops = here->ops};

	there.function = find_again(&r->profile, here->function, &r->follow.next);
	there.root = find_again(&r->profile, here->root, &r->follow.next);
	return dw_place_wants(&there, &sources);
}

static int compute_next(struct dw_reading *r, const struct dw_totals_wanted *wanted,
			struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	struct dw_job *job = dw_job_compute(&f->next, f->selection, &f->totals, wanted);

	if (job)
		job->tells = (wanted->parts & DWELL_TOTALS_INSTRUCTIONS) != 0;
	return start(f, job, err);
}

static int show_next(struct dw_reading *r, struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	uint64_t begin = dw_clock_ns(CLOCK_MONOTONIC);
	int rc = dw_reading_exchange(r, &f->next, f->selection, &f->totals);

	f->selection = NULL;
	f->state = f->next_state;
	f->spent_ns += dw_clock_ns(CLOCK_MONOTONIC) - begin;
	forget_next(f);
	wait_a_while(r);
	return rc ? dw_error_set(err, rc, "cannot show it: %s", dw_err_string(rc)) : 0;
}

/* Go on with what is loaded, as far as that goes without waiting. */
static int advance(struct dw_reading *r, struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	struct dw_totals_wanted wanted;
	bool fits;
	int rc;

	if (!f->has_next || f->job || f->is_frozen)
		return 0;
	rc = select_next(r, &fits, err);
	if (!rc && fits) {
		wanted = wanted_of_next(r);
		if (dw_totals_store_find(&f->totals, f->selection, &wanted))
			return r->job || r->loads ? 0 : show_next(r, err);
		rc = compute_next(r, &wanted, err);
	}
	if (rc || !fits) {
		forget_next(f);
		wait_a_while(r);
	}
	return rc;
}

/* Begin to load what is new, when it is time for that. */
static int look(struct dw_reading *r, struct dw_error *err)
{
	struct dw_follow *f = &r->follow;
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);
	enum dw_recording_news news;

	if (f->job || f->has_next || f->is_frozen || f->state == DWELL_RECORDING_ENDED ||
	    now < f->due_ns)
		return 0;
	news = r->start->source.look(r->start->source.ctx);
	if (news == DWELL_NEWS_NONE) {
		wait_a_while(r);
		return 0;
	}
	f->from_ns = r->selection->from_ns;
	f->to_ns = r->selection->to_ns;
	if (f->window_ns) {
		f->from_ns = window_from(r, &r->profile);
		f->to_ns = 0;
	}
	return start(f,
		     dw_job_load(r->start->source.load, r->start->source.ctx, f->from_ns, f->to_ns),
		     err);
}

int dw_reading_follow(struct dw_reading *r, struct dw_error *err)
{
	int rc;

	if (!r->follow.worker.is_started)
		return 0;
	rc = take(r, err);
	rc = rc ? rc : advance(r, err);
	return rc ? rc : look(r, err);
}

uint64_t dw_reading_due_ns(const struct dw_reading *r)
{
	const struct dw_follow *f = &r->follow;

	if (!f->worker.is_started || f->is_frozen || f->job)
		return 0;
	/* It only waits for what is computed of the one before. */
	if (f->has_next)
		return r->job || r->loads ? 0 : 1;
	return f->state == DWELL_RECORDING_ENDED ? 0 : f->due_ns;
}

uint64_t dw_reading_runs_ns(const struct dw_reading *r)
{
	int64_t began = dw_facts_get(&r->profile.facts, "start_realtime_ns", 0);
	uint64_t now = dw_clock_ns(CLOCK_REALTIME);

	if (!r->follow.worker.is_started || r->follow.state != DWELL_RECORDING_RUNS || began <= 0)
		return 0;
	return now > (uint64_t)began ? now - (uint64_t)began : 0;
}

const char *dw_reading_path(const struct dw_reading *r)
{
	return r->start->source.path(r->start->source.ctx);
}
