/* Parts of a session; see selection.h. */
#include "analysis/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int copy_words(struct dw_filter_list *to, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *copy = strdup(words[i]);

		if (!copy || dw_vec_push(&to->words, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
	return 0;
}

int dw_selection_make(const struct dw_filter_words *words, const struct dw_profile *p,
		      struct dw_selection **ret, struct dw_error *err)
{
	struct dw_selection *s = calloc(1, sizeof *s);
	struct dw_filter_list *l = s ? s->lists : NULL;
	int rc = -ENOMEM;

	if (!s || copy_words(&l[DWELL_FILTER_PROCESS], words->processes, words->processes_n) ||
	    copy_words(&l[DWELL_FILTER_THREAD], words->threads, words->threads_n) ||
	    copy_words(&l[DWELL_FILTER_MODULE], words->modules, words->modules_n) ||
	    copy_words(&l[DWELL_FILTER_TYPE], words->types, words->types_n))
		dw_error_set(err, rc, "no memory");
	else
		rc = dw_filter_resolve(p, words, &s->filter, err);
	if (s) {
		s->from_ns = words->from_ns;
		s->to_ns = words->to_ns;
		s->refs = 1;
	}
	if (rc)
		dw_selection_unref(s);
	else
		*ret = s;
	return rc;
}

struct dw_filter_words dw_selection_words(const struct dw_selection *s)
{
	struct dw_filter_words words = {.from_ns = s->from_ns,
					.to_ns = s->to_ns,
					.waits_left_out = s->filter.filter.waits_left_out};

	for (enum dw_filter_kind kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		dw_filter_words_set(&words, kind, (const char *const *)s->lists[kind].words.v,
				    s->lists[kind].words.n);
	return words;
}

void dw_filter_words_set(struct dw_filter_words *words, enum dw_filter_kind kind,
			 const char *const *list, size_t n)
{
	const char *const **v[DWELL_FILTER_KINDS] = {
		[DWELL_FILTER_PROCESS] = &words->processes,
		[DWELL_FILTER_THREAD] = &words->threads,
		[DWELL_FILTER_MODULE] = &words->modules,
		[DWELL_FILTER_TYPE] = &words->types,
	};
	size_t *counts[DWELL_FILTER_KINDS] = {
		[DWELL_FILTER_PROCESS] = &words->processes_n,
		[DWELL_FILTER_THREAD] = &words->threads_n,
		[DWELL_FILTER_MODULE] = &words->modules_n,
		[DWELL_FILTER_TYPE] = &words->types_n,
	};

	*v[kind] = list;
	*counts[kind] = n;
}

bool dw_selection_has_words_of(const struct dw_selection *a, const struct dw_selection *b,
			       enum dw_filter_kind kind)
{
	const struct dw_filter_list *l = &a->lists[kind], *m = &b->lists[kind];
	bool is_same = l->words.n == m->words.n;

	for (size_t i = 0; i < l->words.n && is_same; i++)
		is_same = !strcmp(l->words.v[i], m->words.v[i]);
	return is_same;
}

bool dw_selection_is_same(const struct dw_selection *a, const struct dw_selection *b)
{
	bool is_same = a->from_ns == b->from_ns && a->to_ns == b->to_ns &&
		       a->filter.filter.waits_left_out == b->filter.filter.waits_left_out;

	for (enum dw_filter_kind kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		is_same &= dw_selection_has_words_of(a, b, kind);
	return is_same;
}

struct dw_selection *dw_selection_ref(struct dw_selection *s)
{
	if (s)
		s->refs++;
	return s;
}

void dw_selection_unref(struct dw_selection *s)
{
	if (!s || --s->refs)
		return;
	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++) {
		dw_vec_each(word, &s->lists[kind].words)
			free(*word);
		dw_vec_release(&s->lists[kind].words);
	}
	dw_filter_release(&s->filter);
	free(s);
}
