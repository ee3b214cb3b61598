/* A session that is being read; see reading.h. */
#include "tui/reading.h"

#include "analysis/disassembly.h"
#include "base/cleanup.h"
#include "tui/remember.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	HISTORY_MAX = 256,
	TOTALS_MAX = 12, /* kept at a time: those of a large session are large */
};

struct dw_place *dw_reading_here(const struct dw_reading *r)
{
	return r->history.v[r->history.n - 1].place;
}

struct dw_place_sources dw_reading_sources(struct dw_reading *r)
{
	return (struct dw_place_sources){&r->profile, &r->filter.filter, &r->source, &r->totals};
}

static void close_place(struct dw_place *p)
{
	dw_place_remember_moved(p);
	dw_place_close(p);
}

/* Forget all that depends on the filter, but not which rows one was at. */
static void close_places(struct dw_reading *r)
{
	dw_vec_each(p, &r->tabs)
		close_place(*p);
	dw_vec_each(p, &r->details)
		close_place(*p);
	dw_totals_store_release(&r->totals);
}

static struct dw_filter_words words_of(const struct dw_reading *r)
{
	const struct dw_filter_list *l = r->lists;

	return (struct dw_filter_words){
		.processes = (const char *const *)l[DWELL_FILTER_PROCESS].words.v,
		.processes_n = l[DWELL_FILTER_PROCESS].words.n,
		.threads = (const char *const *)l[DWELL_FILTER_THREAD].words.v,
		.threads_n = l[DWELL_FILTER_THREAD].words.n,
		.modules = (const char *const *)l[DWELL_FILTER_MODULE].words.v,
		.modules_n = l[DWELL_FILTER_MODULE].words.n,
		.types = (const char *const *)l[DWELL_FILTER_TYPE].words.v,
		.types_n = l[DWELL_FILTER_TYPE].words.n,
		.from_ns = r->from_ns,
		.to_ns = r->to_ns,
		.waits_left_out = r->start->words->waits_left_out,
	};
}

/* Find what the words mean, and use that. */
static int resolve(struct dw_reading *r, struct dw_error *err)
{
	struct dw_filter_words words = words_of(r);
	struct dw_filter_owned filter = {0};
	int rc = dw_filter_resolve(&r->profile, &words, &filter, err);

	if (rc) {
		dw_filter_release(&filter);
		return rc;
	}
	close_places(r);
	dw_filter_release(&r->filter);
	r->filter = filter;
	return 0;
}

static void release_list(struct dw_filter_list *l)
{
	dw_vec_each(word, &l->words)
		free(*word);
	dw_vec_release(&l->words);
}

static int add_word(struct dw_filter_list *l, const char *word)
{
	char *copy = strdup(word);

	if (!copy || dw_vec_push(&l->words, copy)) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
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

void dw_reading_choose_columns(struct dw_reading *r, const enum dw_column *columns)
{
	const struct dw_view_ops *ops = dw_reading_here(r)->ops;

	dw_vec_each(p, &r->tabs)
		if ((*p)->ops == ops)
			copy_columns(columns, (*p)->chosen);
	dw_vec_each(p, &r->details)
		if ((*p)->ops == ops)
			copy_columns(columns, (*p)->chosen);
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

static int add_tabs(struct dw_reading *r)
{
	struct dw_place *p;

	for (const struct dw_view_ops *const *v = dw_views; *v; v++)
		if (dw_view_suits(*v, &r->profile) && (*v)->function != DWELL_FUNCTION_MUST &&
		    add_place(r, *v, true, &p))
			return -ENOMEM;
	return dw_vec_push(&r->history, ((struct dw_visit){.place = r->tabs.v[0]}));
}

/* Words to begin with. */
static int take_words(struct dw_reading *r)
{
	const struct dw_filter_words *w = r->start->words;
	const struct {
		const char *const *v;
		size_t n;
	} lists[DWELL_FILTER_KINDS] = {
		[DWELL_FILTER_PROCESS] = {w->processes, w->processes_n},
		[DWELL_FILTER_THREAD] = {w->threads, w->threads_n},
		[DWELL_FILTER_MODULE] = {w->modules, w->modules_n},
		[DWELL_FILTER_TYPE] = {w->types, w->types_n},
	};
	int rc = 0;

	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		for (size_t i = 0; i < lists[kind].n && !rc; i++)
			rc = add_word(&r->lists[kind], lists[kind].v[i]);
	r->from_ns = w->from_ns;
	r->to_ns = w->to_ns;
	return rc;
}

static void begin_source(struct dw_reading *r)
{
	dw_source_text_release(&r->source);
	dw_source_text_init(&r->source, &r->profile, r->start->source_dirs,
			    r->start->source_dirs_n);
}

int dw_reading_open(struct dw_reading *r, const struct dw_reading_start *start,
		    struct dw_error *err)
{
	int rc;

	*r = (struct dw_reading){.start = start};
	rc = start->load(start->path, start->words->from_ns, start->words->to_ns, &r->profile, err);
	if (rc)
		return rc;
	begin_source(r);
	if (take_words(r) || add_tabs(r) || dw_timeline_make(&r->timeline, &r->profile))
		return dw_error_set(err, -ENOMEM, "no memory");
	return resolve(r, err);
}

int dw_reading_prepare(struct dw_reading *r, struct dw_error *err)
{
	struct dw_place *p = dw_reading_here(r);
	struct dw_place_sources sources = dw_reading_sources(r);
	int rc = 0;

	if (!r->has_told_instructions && p->ops->parts & DWELL_TOTALS_INSTRUCTIONS) {
		rc = dw_disassembly_tell(&r->profile);
		r->has_told_instructions = !rc;
	}
	rc = rc ? rc : dw_place_open(p, &sources);
	return rc ? dw_error_set(err, rc, "cannot compute the view %s: %s", p->ops->name,
				 dw_err_string(rc))
		  : 0;
}

int dw_reading_find_tab(const struct dw_reading *r, const struct dw_view_ops *ops)
{
	for (size_t i = 0; i < r->tabs.n; i++)
		if (r->tabs.v[i]->ops == ops)
			return (int)i;
	return -1;
}

static void release_visit(struct dw_visit *v)
{
	free(v->word);
	release_list(&v->before);
}

/* The oldest places are forgotten when there were very many. */
static int push_visit(struct dw_reading *r, struct dw_place *p)
{
	if (r->history.n >= HISTORY_MAX) {
		release_visit(&r->history.v[0]);
		r->history.n--;
		memmove(r->history.v, r->history.v + 1, r->history.n * sizeof *r->history.v);
	}
	return dw_vec_push(&r->history, ((struct dw_visit){.place = p}));
}

static int visit(struct dw_reading *r, struct dw_place *p)
{
	return dw_reading_here(r) == p ? 0 : push_visit(r, p);
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
	if (r->totals.kept.n >= TOTALS_MAX)
		close_places(r);
	if (!p && add_place(r, ops, false, &p))
		return -ENOMEM;
	take_columns(r, p);
	p->function = function;
	p->root = root;
	return visit(r, p);
}

/* Use the words of @list, which are exchanged with those of the kind; not when they fit nothing. */
static int exchange_words(struct dw_reading *r, enum dw_filter_kind kind,
			  struct dw_filter_list *list, struct dw_error *err)
{
	struct dw_filter_list before = r->lists[kind];
	int rc;

	r->lists[kind] = *list;
	rc = resolve(r, err);
	if (rc)
		r->lists[kind] = before;
	else
		*list = before;
	return rc;
}

/* As exchange_words(), for one word or none; what was there before goes to @before. */
static int use_word(struct dw_reading *r, enum dw_filter_kind kind, const char *word,
		    struct dw_filter_list *before, struct dw_error *err)
{
	struct dw_filter_list list = {0};
	int rc = *word ? add_word(&list, word) : 0;

	rc = rc ? dw_error_set(err, rc, "no memory") : exchange_words(r, kind, &list, err);
	if (rc)
		release_list(&list);
	else
		*before = list;
	return rc;
}

int dw_reading_set_filter(struct dw_reading *r, enum dw_filter_kind kind, const char *word,
			  struct dw_error *err)
{
	struct dw_filter_list before;
	int rc = use_word(r, kind, word, &before, err);

	if (!rc)
		release_list(&before);
	return rc;
}

int dw_reading_enter(struct dw_reading *r, enum dw_filter_kind kind, const char *word, int i,
		     struct dw_error *err)
{
	struct dw_visit *v;
	char *copy = strdup(word);
	int rc;

	if (!copy || push_visit(r, i < 0 ? dw_reading_here(r) : r->tabs.v[i])) {
		free(copy);
		return dw_error_set(err, -ENOMEM, "no memory");
	}
	v = &r->history.v[r->history.n - 1];
	v->word = copy;
	v->kind = kind;
	rc = use_word(r, kind, word, &v->before, err);
	if (rc) {
		release_visit(v);
		r->history.n--;
	}
	return rc;
}

int dw_reading_back(struct dw_reading *r, struct dw_error *err)
{
	struct dw_visit *v = &r->history.v[r->history.n - 1];
	const struct dw_filter_list *now = &r->lists[v->kind];
	int rc = 0;

	if (r->history.n < 2)
		return DWELL_ERR_NOT_FOUND;
	if (v->word && now->words.n == 1 && !strcmp(now->words.v[0], v->word))
		rc = exchange_words(r, v->kind, &v->before, err);
	release_visit(v);
	r->history.n--;
	return rc;
}

/* Load the session once more, for another range: calls are added up in one while they are read. */
static int load_range(struct dw_reading *r, uint64_t from_ns, uint64_t to_ns, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = r->start->load(r->start->path, from_ns, to_ns, &p, err);

	if (rc) {
		dw_profile_release(&p);
		return rc;
	}
	close_places(r);
	dw_profile_release(&r->profile);
	r->profile = p;
	r->has_told_instructions = false;
	begin_source(r);
	return 0;
}

int dw_reading_set_range(struct dw_reading *r, uint64_t from_ns, uint64_t to_ns,
			 struct dw_error *err)
{
	if (to_ns && to_ns <= from_ns)
		return dw_error_set(err, DWELL_ERR_USAGE, "the range of time is empty");
	/* Of samples all are there. */
	if (dw_profile_method(&r->profile) != DWELL_METHOD_SAMPLING &&
	    (from_ns != r->from_ns || to_ns != r->to_ns)) {
		int rc = load_range(r, from_ns, to_ns, err);

		if (rc)
			return rc;
	}
	r->from_ns = from_ns;
	r->to_ns = to_ns;
	return resolve(r, err);
}

bool dw_reading_is_ranged(const struct dw_reading *r)
{
	return r->from_ns || r->to_ns;
}

bool dw_reading_is_filtered(const struct dw_reading *r)
{
	bool is_filtered = dw_reading_is_ranged(r);

	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		is_filtered |= r->lists[kind].words.n != 0;
	return is_filtered;
}

int dw_reading_clear_filters(struct dw_reading *r, struct dw_error *err)
{
	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		release_list(&r->lists[kind]);
	return dw_reading_set_range(r, 0, 0, err);
}

static void free_places(struct dw_reading *r)
{
	close_places(r);
	dw_vec_each(p, &r->tabs) {
		dw_place_release(*p);
		free(*p);
	}
	dw_vec_each(p, &r->details) {
		dw_place_release(*p);
		free(*p);
	}
	dw_vec_each(v, &r->history)
		release_visit(v);
	dw_vec_release(&r->tabs);
	dw_vec_release(&r->details);
	dw_vec_release(&r->history);
}

void dw_reading_release(struct dw_reading *r)
{
	free_places(r);
	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		release_list(&r->lists[kind]);
	dw_filter_release(&r->filter);
	dw_timeline_release(&r->timeline);
	dw_source_text_release(&r->source);
	dw_profile_release(&r->profile);
}
