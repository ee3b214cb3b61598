/*
 * The engine; see page.h. This file has what lasts from one request to the next: the session, parts
 * of it that were chosen, views that are open.
 */
#include "page/page-internal.h"

#include "analysis/disassembly.h"
#include "analysis/inverted.h"
#include "analysis/slow-calls.h"
#include "analysis/wait-kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SELECTIONS_MAX = 4, VIEWS_MAX = 8, TOTALS_MAX = 16 };

#define ALLOC_PATHS_TRIM_PCT .01   /* of bytes, as in reports for machines */
#define INVERTED_MIN_SHARE   .0001 /* of all, of callers in inverted trees */

static void free_view(struct dw_page_view *v)
{
	if (v->key.unfolding)
		dw_unfold_release(&v->tree);
	dw_view_release(&v->view);
	dw_totals_release(&v->inverted);
	dw_selection_unref(v->key.selection);
	free(v->search);
	dw_vec_release(&v->found);
	free(v);
}

static void forget(struct dw_page *page)
{
	dw_vec_each(v, &page->views)
		free_view(*v);
	dw_vec_release(&page->views);
	dw_vec_each(s, &page->selections)
		dw_selection_unref(*s);
	dw_vec_release(&page->selections);
	dw_totals_store_release(&page->totals);
	dw_source_text_release(&page->text);
	dw_timeline_release(&page->timeline);
	dw_profile_release(&page->profile);
	page->has_told_instructions = false;
}

/* What was loaded, of all of the session or of a range, is completed as reports do it. */
static int complete(struct dw_profile *p, bool is_whole)
{
	if (is_whole && dw_fit_slow_calls(p))
		return -ENOMEM;
	return dw_complete_waits(p);
}

/* Load what happened in the time of @words in place of what there is, and make *@ret of what they
 * choose of it. After failure all is as it was. */
static int load(struct dw_page *page, const struct dw_filter_words *words,
		struct dw_selection **ret, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_timeline timeline = {0};
	enum dw_recording_state state;
	int rc;

	p.calls.wants_activity = true;
	rc = page->source.load(page->source.ctx, words->from_ns, words->to_ns, &p, &state, err);
	if (!rc &&
	    (complete(&p, !words->from_ns && !words->to_ns) || dw_timeline_make(&timeline, &p)))
		rc = dw_error_set(err, -ENOMEM, "out of memory");
	rc = rc ? rc : dw_selection_make(words, &p, ret, err);
	if (rc) {
		dw_timeline_release(&timeline);
		dw_profile_release(&p);
		return rc;
	}
	forget(page);
	page->profile = p;
	page->timeline = timeline;
	page->state = state;
	page->loaded_from_ns = words->from_ns;
	page->loaded_to_ns = words->to_ns;
	dw_source_text_init(&page->text, &page->profile, NULL, 0);
	page->text.only_packed = true;
	return 0;
}

/* Keep @s, a reference that is taken over. */
static int keep_selection(struct dw_page *page, struct dw_selection *s)
{
	if (dw_vec_push(&page->selections, s)) {
		dw_selection_unref(s);
		return -ENOMEM;
	}
	if (page->selections.n > SELECTIONS_MAX) {
		dw_selection_unref(page->selections.v[0]);
		memmove(page->selections.v, page->selections.v + 1,
			--page->selections.n * sizeof *page->selections.v);
	}
	return 0;
}

int dw_page_reload(struct dw_page *page, struct dw_error *err)
{
	const struct dw_filter_words all = {.waits_left_out = DWELL_WAITS_FOLDED};
	struct dw_selection *s;
	int rc = load(page, &all, &s, err);

	if (!rc && keep_selection(page, s))
		rc = dw_error_set(err, -ENOMEM, "out of memory");
	return rc;
}

int dw_page_open(const struct dw_page_source *source, struct dw_page **ret, struct dw_error *err)
{
	struct dw_page *page = calloc(1, sizeof *page);
	int rc;

	if (!page)
		return dw_error_set(err, -ENOMEM, "out of memory");
	page->source = *source;
	rc = dw_page_reload(page, err);
	if (rc)
		dw_page_free(page);
	else
		*ret = page;
	return rc;
}

void dw_page_free(struct dw_page *page)
{
	if (page)
		forget(page);
	free(page);
}

int dw_page_select(struct dw_page *page, const struct dw_page_request *r, struct dw_error *err)
{
	const struct dw_filter_words words = dw_page_request_words(r);
	struct dw_selection *s;
	int rc;

	if (words.to_ns && words.to_ns <= words.from_ns)
		return dw_error_set(err, DWELL_ERR_USAGE, "the range of time is empty");
	if (dw_profile_method(&page->profile) != DWELL_METHOD_SAMPLING &&
	    page->state != DWELL_RECORDING_RUNS &&
	    (words.from_ns != page->loaded_from_ns || words.to_ns != page->loaded_to_ns))
		rc = load(page, &words, &s, err);
	else
		rc = dw_selection_make(&words, &page->profile, &s, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < page->selections.n; i++) {
		struct dw_selection *kept = page->selections.v[i];

		if (!dw_selection_is_same(kept, s))
			continue;
		dw_selection_unref(s);
		memmove(page->selections.v + i, page->selections.v + i + 1,
			(--page->selections.n - i) * sizeof *page->selections.v);
		page->selections.v[page->selections.n++] = kept;
		page->selected = kept;
		return 0;
	}
	if (keep_selection(page, s))
		return dw_error_set(err, -ENOMEM, "out of memory");
	page->selected = s;
	return 0;
}

/* Whether the totals and the profile that @v shows are still there. */
static bool is_kept(const struct dw_page *page, const struct dw_page_view *v)
{
	bool has_totals = v->key.inverted; /* it has its own */
	bool has_profile = v->view.request.profile == &page->profile;

	dw_vec_each(kept, &page->totals.kept)
		has_totals |= &(*kept)->totals == v->view.request.totals;
	dw_vec_each(folded, &page->totals.folded)
		has_profile |= &(*folded)->folded.profile == v->view.request.profile;
	return has_totals && has_profile;
}

/* The store keeps the totals computed last. What a view borrows is not looked at any more when it
 * is released. */
static void drop_views_without_totals(struct dw_page *page)
{
	size_t n = 0;

	for (size_t i = 0; i < page->views.n; i++) {
		struct dw_page_view *v = page->views.v[i];

		if (is_kept(page, v))
			page->views.v[n++] = v;
		else
			free_view(v);
	}
	page->views.n = n;
}

/* The totals of @key, computed if they are not there. */
static int compute(struct dw_page *page, const struct dw_page_key *key,
		   const struct dw_totals_kept **ret, struct dw_error *err)
{
	const struct dw_totals_wanted *wanted = &key->totals;
	struct dw_job *job;
	int rc;

	*ret = dw_totals_store_find(&page->totals, key->selection, wanted);
	if (*ret)
		return 0;
	job = dw_job_compute(&page->profile, key->selection, &page->totals, wanted);
	if (!job)
		return dw_error_set(err, -ENOMEM, "out of memory");
	job->tells = !page->has_told_instructions && wanted->parts & DWELL_TOTALS_INSTRUCTIONS;
	dw_job_run(job);
	page->has_told_instructions |= job->tells && !job->rc;
	rc = dw_job_keep(job, &page->totals, key->selection);
	dw_job_free(job);
	dw_totals_store_limit(&page->totals, TOTALS_MAX);
	drop_views_without_totals(page);
	*ret = rc ? NULL : dw_totals_store_find(&page->totals, key->selection, wanted);
	return *ret ? 0 : dw_error_set(err, rc, "cannot compute it: %s", dw_err_string(rc));
}

static int open_view(struct dw_page *page, struct dw_page_view *v, struct dw_error *err)
{
	const struct dw_page_key *key = &v->key;
	struct dw_view_request request = {
		.profile = &page->profile,
		.filter = &key->selection->filter.filter,
		.function = key->function,
		.unfolding = key->unfolding,
		.by_first_call = key->by_first_call,
		.intel = key->intel,
		.source = key->source ? &page->text : NULL,
		.sort = key->sort,
		.reverse = key->reverse,
	};
	const struct dw_totals_kept *kept;
	const struct dw_folded_kept *folded;
	int rc = compute(page, key, &kept, err);

	if (rc)
		return rc;
	request.totals = &kept->totals;
	if (key->inverted) {
		request.totals = &v->inverted;
		rc = dw_totals_invert(&kept->totals, INVERTED_MIN_SHARE, &v->inverted);
	}
	folded = dw_totals_store_folded(&page->totals, &key->totals);
	if (folded) {
		request.profile = &folded->folded.profile;
		request.folded = folded->folded.paths;
	}
	if (key->ops == &dw_view_allocations && !key->unfolding)
		request.pruning.trim_pct = ALLOC_PATHS_TRIM_PCT;
	rc = rc ? rc : dw_view_open(&v->view, key->ops, &request);
	if (!rc && key->unfolding)
		rc = dw_unfold_init(&v->tree, &v->view);
	return rc ? dw_error_set(err, rc, "cannot open the view %s: %s", key->ops->name,
				 dw_err_string(rc))
		  : 0;
}

static bool is_same(const struct dw_page_key *a, const struct dw_page_key *b)
{
	return a->ops == b->ops && a->selection == b->selection && a->function == b->function &&
	       a->sort == b->sort && a->reverse == b->reverse && a->unfolding == b->unfolding &&
	       a->by_first_call == b->by_first_call && a->intel == b->intel &&
	       a->source == b->source && a->inverted == b->inverted &&
	       a->totals.root == b->totals.root && a->totals.folds == b->totals.folds &&
	       a->totals.opened == b->totals.opened && a->totals.by == b->totals.by &&
	       a->totals.splits_lines == b->totals.splits_lines &&
	       a->totals.delimited_intervals == b->totals.delimited_intervals &&
	       a->totals.latency == b->totals.latency;
}

/* Make room for one more. */
static void drop_oldest_view(struct dw_page *page)
{
	size_t oldest = 0;

	if (page->views.n < VIEWS_MAX)
		return;
	for (size_t i = 1; i < page->views.n; i++)
		if (page->views.v[i]->used < page->views.v[oldest]->used)
			oldest = i;
	free_view(page->views.v[oldest]);
	page->views.v[oldest] = page->views.v[--page->views.n];
}

static int find_or_open(struct dw_page *page, const struct dw_page_key *key,
			struct dw_page_view **ret, struct dw_error *err)
{
	struct dw_page_view *v;
	int rc;

	dw_vec_each(at, &page->views)
		if (is_same(&(*at)->key, key)) {
			(*at)->used = ++page->clock;
			*ret = *at;
			return 0;
		}
	drop_oldest_view(page);
	v = calloc(1, sizeof *v);
	if (!v)
		return dw_error_set(err, -ENOMEM, "out of memory");
	v->key = *key;
	dw_selection_ref(key->selection);
	v->used = ++page->clock;
	rc = open_view(page, v, err);
	if (!rc && dw_vec_push(&page->views, v))
		rc = dw_error_set(err, -ENOMEM, "out of memory");
	if (rc)
		free_view(v);
	else
		*ret = v;
	return rc;
}

static int read_sort(const struct dw_page *page, const struct dw_page_request *r,
		     struct dw_page_key *key, struct dw_error *err)
{
	enum dw_column all[DWELL_COLUMNS_N];
	const char *sort = r->sort;

	if (!sort)
		return 0;
	key->reverse = *sort == '-';
	sort += *sort == '-';
	dw_view_columns(key->ops, &page->profile, key->totals.by, false, all);
	key->sort = dw_view_find_column(&page->profile, all, sort, strlen(sort));
	if (!key->sort)
		return dw_error_set(err, DWELL_ERR_USAGE, "the view %s has no column '%s'",
				    key->ops->name, sort);
	if (r->has_descending)
		key->reverse = dw_column_is_amount(key->sort) != r->descending;
	return 0;
}

/* Whether the width of a flame graph is to be it. */
static bool measures_latency(const struct dw_page *page, const struct dw_page_request *r)
{
	enum dw_column all[DWELL_COLUMNS_N], column;

	if (!r->measure)
		return false;
	dw_view_columns(&dw_view_calltree, &page->profile, DWELL_BY_NONE, false, all);
	column = dw_view_find_column(&page->profile, all, r->measure, strlen(r->measure));
	return dw_column_info(column)->measure == DWELL_MEASURE_LATENCY;
}

int dw_page_view(struct dw_page *page, const struct dw_page_request *r,
		 const struct dw_view_ops *ops, bool unfolding, struct dw_page_view **ret,
		 struct dw_error *err)
{
	struct dw_page_key key = {
		.ops = ops, .selection = page->selected, .unfolding = unfolding, .intel = r->intel};
	enum dw_column columns[DWELL_COLUMNS_N];
	int rc = dw_page_columns(page, r, ops, columns, err);

	rc = rc ? rc : dw_page_by(r, ops, &key.totals.by, err);
	rc = rc ? rc : read_sort(page, r, &key, err);
	if (!rc && r->root)
		rc = dw_match_function(&page->profile, r->root, &key.totals.root, err);
	if (!rc && (r->name || r->function))
		rc = dw_page_function(page, r, &key.function, err);
	if (rc)
		return rc;
	for (const enum dw_column *c = columns; *c; c++)
		key.source |= *c == DWELL_COLUMN_SOURCE_TEXT;
	key.by_first_call = r->order && !strcmp(r->order, "time") && ops->first;
	key.totals.parts = dw_view_parts(ops, &page->profile);
	key.totals.hot_path = ops->has_notes;
	key.totals.folds = r->folds && dw_view_may_fold(ops, &page->profile,
							r->root || r->lists[DWELL_FILTER_MODULE].n);
	if (key.totals.folds && dw_is_opened(&page->profile, key.function))
		key.totals.opened = key.function;
	key.inverted = r->is_inverted && unfolding;
	key.totals.delimited_intervals = r->delimited_intervals;
	/* Of the views of a function, too, statements are rows unless nobody could tell them apart.
	 */
	key.totals.latency =
		dw_columns_want_latency(columns, key.sort) || measures_latency(page, r);
	key.totals.splits_lines =
		key.totals.parts & DWELL_TOTALS_LINES && dw_columns_show_statements(columns);
	return find_or_open(page, &key, ret, err);
}
