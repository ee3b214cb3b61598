/* A session that is being read; see reading.h. */
#include "tui/reading.h"

#include "tui/reading-internal.h"
#include "tui/remember.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	HISTORY_MAX = 256,
	TOTALS_MAX = 18, /* kept at a time: those of a large session are large */
};

struct dw_place *dw_reading_here(const struct dw_reading *r)
{
	return r->history.v[r->history.n - 1].place;
}

struct dw_place_sources dw_reading_sources(struct dw_reading *r)
{
	return (struct dw_place_sources){&r->profile, r->selection, &r->source, &r->totals,
					 r->shows_all_code};
}

static void close_place(struct dw_place *p)
{
	dw_place_remember_moved(p);
	dw_place_close(p);
}

void dw_reading_close_places(struct dw_reading *r)
{
	dw_vec_each(p, &r->tabs)
		close_place(*p);
	dw_vec_each(p, &r->details)
		close_place(*p);
}

/* The selection with the words of @s that there are totals of, else @s; the reference is exchanged.
 */
static struct dw_selection *known_as(const struct dw_reading *r, struct dw_selection *s)
{
	dw_vec_each(kept, &r->totals.kept) {
		struct dw_selection *other = (*kept)->selection;

		if (other != s && dw_selection_is_same(other, s)) {
			dw_selection_unref(s);
			return dw_selection_ref(other);
		}
	}
	return s;
}

void dw_reading_use(struct dw_reading *r, struct dw_selection *s)
{
	s = known_as(r, s);
	if (s != r->selection)
		dw_reading_close_places(r);
	dw_selection_unref(r->selection);
	r->selection = s;
}

static int add_place(struct dw_reading *r, const struct dw_view_ops *ops, bool is_tab,
		     struct dw_place **ret)
{
	struct dw_place *p = calloc(1, sizeof *p);

	if (!p || (is_tab ? dw_vec_push(&r->tabs, p) : dw_vec_push(&r->details, p))) {
		free(p);
		return -ENOMEM;
	}
	p->ops = ops;
	*ret = p;
	return 0;
}

static void copy_columns(const enum dw_column *from, enum dw_column *to)
{
	while (*from)
		*to++ = *from++;
	*to = DWELL_COLUMN_END;
}

static void choose_columns(struct dw_place *p, const enum dw_column *columns)
{
	copy_columns(columns, p->chosen);
	dw_place_renew(p);
}

void dw_reading_choose_columns(struct dw_reading *r, const enum dw_column *columns)
{
	const struct dw_view_ops *ops = dw_reading_here(r)->ops;

	dw_vec_each(p, &r->tabs)
		if ((*p)->ops == ops)
			choose_columns(*p, columns);
	dw_vec_each(p, &r->details)
		if ((*p)->ops == ops)
			choose_columns(*p, columns);
}

/* A new place shows the columns that were chosen for its view elsewhere. */
static void take_columns(const struct dw_reading *r, struct dw_place *p)
{
	dw_vec_each(other, &r->tabs)
		if (*other != p && (*other)->ops == p->ops)
			copy_columns((*other)->chosen, p->chosen);
	dw_vec_each(other, &r->details)
		if (*other != p && (*other)->ops == p->ops)
			copy_columns((*other)->chosen, p->chosen);
}

int dw_reading_renew_tabs(struct dw_reading *r)
{
	size_t n = 0;

	for (const struct dw_view_ops *const *v = dw_views; *v; v++) {
		struct dw_place *p;
		int at = dw_reading_find_tab(r, *v);

		if (at < 0 &&
		    (!dw_view_suits(*v, &r->profile) || (*v)->function == DWELL_FUNCTION_MUST))
			continue;
		if (at < 0 && add_place(r, *v, true, &p))
			return -ENOMEM;
		/* Those that are there are in the order of views. */
		p = r->tabs.v[at < 0 ? r->tabs.n - 1 : (size_t)at];
		for (size_t i = at < 0 ? r->tabs.n - 1 : (size_t)at; i > n; i--)
			r->tabs.v[i] = r->tabs.v[i - 1];
		r->tabs.v[n++] = p;
	}
	return 0;
}

static int add_tabs(struct dw_reading *r)
{
	int rc = dw_reading_renew_tabs(r);

	return rc ? rc : dw_vec_push(&r->history, ((struct dw_visit){.place = r->tabs.v[0]}));
}

void dw_reading_begin_source(struct dw_reading *r)
{
	dw_source_text_release(&r->source);
	dw_source_text_init(&r->source, &r->profile, r->start->source_dirs,
			    r->start->source_dirs_n);
}

int dw_reading_begin(struct dw_reading *r, struct dw_error *err)
{
	int rc;

	dw_reading_begin_source(r);
	rc = add_tabs(r);
	rc = rc ? rc : dw_timeline_make(&r->timeline, &r->profile);
	if (rc)
		return dw_error_set(err, rc, "cannot show it: %s", dw_err_string(rc));
	return dw_selection_make(r->start->words, &r->profile, &r->selection, err);
}

int dw_reading_find_tab(const struct dw_reading *r, const struct dw_view_ops *ops)
{
	for (size_t i = 0; i < r->tabs.n; i++)
		if (r->tabs.v[i]->ops == ops)
			return (int)i;
	return -1;
}

void dw_reading_release_visit(struct dw_visit *v)
{
	dw_selection_unref(v->entered);
	dw_selection_unref(v->before);
}

int dw_reading_push_visit(struct dw_reading *r, struct dw_place *p)
{
	if (r->history.n >= HISTORY_MAX) {
		dw_reading_release_visit(&r->history.v[0]);
		r->history.n--;
		memmove(r->history.v, r->history.v + 1, r->history.n * sizeof *r->history.v);
	}
	return dw_vec_push(&r->history, ((struct dw_visit){.place = p}));
}

static int visit(struct dw_reading *r, struct dw_place *p)
{
	return dw_reading_here(r) == p ? 0 : dw_reading_push_visit(r, p);
}

int dw_reading_go_to_tab(struct dw_reading *r, size_t i)
{
	return visit(r, r->tabs.v[i]);
}

int dw_reading_go(struct dw_reading *r, const struct dw_view_ops *ops, uint32_t function,
		  uint32_t root)
{
	struct dw_place *p = NULL;

	dw_vec_each(known, &r->details)
		if ((*known)->ops == ops && (*known)->function == function &&
		    (*known)->root == root)
			p = *known;
	if (r->totals.kept.n >= TOTALS_MAX && !r->job) {
		dw_reading_close_places(r);
		dw_totals_store_release(&r->totals);
	}
	if (!p && add_place(r, ops, false, &p))
		return -ENOMEM;
	take_columns(r, p);
	p->function = function;
	p->root = root;
	return visit(r, p);
}

/* What is chosen by the words of @list and those of other kinds that are there. */
static int select_words(const struct dw_reading *r, enum dw_filter_kind kind,
			const char *const *list, size_t n, struct dw_selection **ret,
			struct dw_error *err)
{
	struct dw_filter_words words = dw_selection_words(r->selection);

	dw_filter_words_set(&words, kind, list, n);
	return dw_selection_make(&words, &r->profile, ret, err);
}

int dw_reading_set_filter(struct dw_reading *r, enum dw_filter_kind kind, const char *word,
			  struct dw_error *err)
{
	struct dw_selection *s;
	int rc = select_words(r, kind, &word, *word != 0, &s, err);

	if (!rc)
		dw_reading_use(r, s);
	return rc;
}

int dw_reading_enter(struct dw_reading *r, enum dw_filter_kind kind, const char *word, int i,
		     struct dw_error *err)
{
	struct dw_selection *before = dw_selection_ref(r->selection);
	struct dw_visit *v;
	int rc = dw_reading_set_filter(r, kind, word, err);

	if (rc) {
		dw_selection_unref(before);
		return rc;
	}
	if (dw_reading_push_visit(r, i < 0 ? dw_reading_here(r) : r->tabs.v[i])) {
		dw_reading_use(r, before);
		return dw_error_set(err, -ENOMEM, "no memory");
	}
	v = &r->history.v[r->history.n - 1];
	v->entered = dw_selection_ref(r->selection);
	v->before = before;
	v->kind = kind;
	return 0;
}

/* Take back what @v has entered, as far as it is there. */
static int take_back(struct dw_reading *r, const struct dw_visit *v, struct dw_error *err)
{
	const struct dw_filter_list *before;
	struct dw_selection *s;
	int rc;

	if (!v->entered || !dw_selection_has_words_of(r->selection, v->entered, v->kind))
		return 0;
	before = &v->before->lists[v->kind];
	rc = select_words(r, v->kind, (const char *const *)before->words.v, before->words.n, &s,
			  err);
	if (!rc)
		dw_reading_use(r, s);
	return rc;
}

int dw_reading_back(struct dw_reading *r, struct dw_error *err)
{
	struct dw_visit *v = &r->history.v[r->history.n - 1];
	int rc;

	if (r->history.n < 2)
		return DWELL_ERR_NOT_FOUND;
	rc = take_back(r, v, err);
	dw_reading_release_visit(v);
	r->history.n--;
	return rc;
}

/* Of samples all are there; calls and objects are added up in a range while they are read. */
int dw_reading_set_range(struct dw_reading *r, uint64_t from_ns, uint64_t to_ns,
			 struct dw_error *err)
{
	struct dw_filter_words words = dw_selection_words(r->selection);
	struct dw_selection *s;
	int rc;

	if (to_ns && to_ns <= from_ns)
		return dw_error_set(err, DWELL_ERR_USAGE, "the range of time is empty");
	r->follow.window_ns = 0;
	r->loads = dw_profile_method(&r->profile) != DWELL_METHOD_SAMPLING &&
		   (from_ns != words.from_ns || to_ns != words.to_ns);
	r->load_from_ns = from_ns;
	r->load_to_ns = to_ns;
	/* A range that somebody has thought better of. */
	if (r->job && !r->job->kept)
		r->job->is_given_up = true;
	if (r->loads)
		return 0;
	words.from_ns = from_ns;
	words.to_ns = to_ns;
	rc = dw_selection_make(&words, &r->profile, &s, err);
	if (!rc)
		dw_reading_use(r, s);
	return rc;
}

bool dw_reading_is_ranged(const struct dw_reading *r)
{
	return r->selection->from_ns || r->selection->to_ns;
}

bool dw_reading_is_filtered(const struct dw_reading *r)
{
	bool is_filtered = dw_reading_is_ranged(r);

	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		is_filtered |= r->selection->lists[kind].words.n != 0;
	return is_filtered;
}

bool dw_reading_may_fold(struct dw_reading *r)
{
	const struct dw_place_sources sources = dw_reading_sources(r);

	return dw_place_may_fold(dw_reading_here(r), &sources);
}

void dw_reading_show_all_code(struct dw_reading *r, bool all)
{
	dw_reading_close_places(r);
	r->shows_all_code = all;
	r->has_gone_ahead = false;
}

int dw_reading_clear_filters(struct dw_reading *r, struct dw_error *err)
{
	struct dw_filter_words words = dw_selection_words(r->selection);
	struct dw_selection *s;
	int rc;

	for (enum dw_filter_kind kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		dw_filter_words_set(&words, kind, NULL, 0);
	rc = dw_selection_make(&words, &r->profile, &s, err);

	if (rc)
		return rc;
	dw_reading_use(r, s);
	return dw_reading_set_range(r, 0, 0, err);
}

static void free_places(struct dw_reading *r)
{
	dw_vec_each(p, &r->tabs) {
		dw_place_release(*p);
		free(*p);
	}
	dw_vec_each(p, &r->details) {
		dw_place_release(*p);
		free(*p);
	}
	dw_vec_each(v, &r->history)
		dw_reading_release_visit(v);
	dw_vec_release(&r->tabs);
	dw_vec_release(&r->details);
	dw_vec_release(&r->history);
}

bool dw_reading_release(struct dw_reading *r)
{
	bool is_idle = dw_worker_stop(&r->follow.worker);

	if (!dw_worker_stop(&r->worker) || !is_idle)
		return false;
	dw_reading_drop_next(r);
	dw_job_free(r->follow.job);
	dw_job_free(r->job);
	free_places(r);
	dw_totals_store_release(&r->totals);
	dw_selection_unref(r->selection);
	dw_selection_unref(r->settled);
	dw_timeline_release(&r->timeline);
	dw_source_text_release(&r->source);
	dw_profile_release(&r->profile);
	return true;
}
