/*
 * "Did you mean": which of the words that there are is nearest to one that is not.
 *
 * Nearness is the number of letters to insert, delete, replace or swap with their neighbour, in
 * either case; a longer word that begins with what was typed is near, too. One thread.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* The nearest word so far. Words are borrowed. */
struct dw_suggestion {
	const char *word; /* what was typed */
	size_t n;	  /* its bytes */
	const char *best; /* NULL = nothing is near enough */
	size_t best_n;	  /* its bytes */
	size_t distance;  /* of @best; at first, the least that is too far */
};

/* Begin, for the @n bytes at @word. */
void dw_suggestion_begin(struct dw_suggestion *s, const char *word, size_t n);

/* There is @candidate. Of equally near ones the first stays. Returns whether it is the best now. */
bool dw_suggestion_offer(struct dw_suggestion *s, const char *candidate);

/* The same of @n bytes at @part, which stand for the @candidate_n at @candidate. */
bool dw_suggestion_offer_part(struct dw_suggestion *s, const char *part, size_t n,
			      const char *candidate, size_t candidate_n);

/* Append " (did you mean WORD?)" to @text, WORD with @before in front of it; nothing if nothing is
 * near. */
void dw_suggestion_put(const struct dw_suggestion *s, const char *before, struct dw_buf *text);
