/*
 * A part of a session that is shown: the words that choose it, and what they mean in the profile.
 * It never changes once it was made, so that a thread may go by it while another one is made; only
 * one thread counts references.
 */
#pragma once

#include "analysis/filter.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum dw_filter_kind {
	DWELL_FILTER_PROCESS = 0,
	DWELL_FILTER_THREAD,
	DWELL_FILTER_MODULE,
	DWELL_FILTER_TYPE,
	DWELL_FILTER_KINDS,
};

/* Words of one kind; several widen. */
struct dw_filter_list {
	DW_VEC(char *) words;
};

struct dw_selection {
	struct dw_filter_list lists[DWELL_FILTER_KINDS];
	uint64_t from_ns, to_ns; /* 0 = no end */
	struct dw_filter_owned filter;
	unsigned refs;
};

/* Make the part of @p that @words choose, which are copied. *@ret has one reference. 0, or errors
 * of dw_filter_resolve(). */
int dw_selection_make(const struct dw_filter_words *words, const struct dw_profile *p,
		      struct dw_selection **ret, struct dw_error *err);

/* Its words, borrowed. */
struct dw_filter_words dw_selection_words(const struct dw_selection *s);

/* Replace the words of @kind in @words by the @n of @list, borrowed. */
void dw_filter_words_set(struct dw_filter_words *words, enum dw_filter_kind kind,
			 const char *const *list, size_t n);

/* Whether @a and @b have the same words of @kind. */
bool dw_selection_has_words_of(const struct dw_selection *a, const struct dw_selection *b,
			       enum dw_filter_kind kind);

/* Whether @a and @b, of one profile, are the same part of it. */
bool dw_selection_is_same(const struct dw_selection *a, const struct dw_selection *b);

/* One more reference to @s (NULL = none), which is returned. */
struct dw_selection *dw_selection_ref(struct dw_selection *s);

/* One reference less, and without the last one @s is freed. NULL does nothing. */
void dw_selection_unref(struct dw_selection *s);
