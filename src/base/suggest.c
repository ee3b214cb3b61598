/*
 * The nearest word; see suggest.h. Distances are those of optimal string alignment: three rows of
 * the usual table, left as soon as a row has nothing that is near enough.
 */
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
	WORD_MAX = 64, /* bytes; nothing is said of longer ones */
	LETTERS_PER_SLIP = 3,
	PREFIX_MIN = 3, /* bytes of a word that others may begin with */
};

void dw_suggestion_begin(struct dw_suggestion *s, const char *word, size_t n)
{
	*s = (struct dw_suggestion){
		.word = word, .n = n, .distance = (n + 1) / LETTERS_PER_SLIP + 1};
	if (n > WORD_MAX)
		s->distance = 0;
}

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static bool begins_with(const char *s, const char *start, size_t n)
{
	while (n && is_same(s[n - 1], start[n - 1]))
		n--;
	return !n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How far @b (of @n bytes, at most 2 * WORD_MAX) is from @s->word; @s->distance if no less. */
static size_t distance_to(const struct dw_suggestion *s, const char *b, size_t n)
{
	size_t rows[3][2 * WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= n; j++)
		above[j] = j;
	for (size_t i = 1; i <= s->n; i++) {
		const char *a = s->word + i - 1;
		size_t nearest = row[0] = i, *spare = before;

		for (size_t j = 1; j <= n; j++) {
			row[j] = least(above[j], row[j - 1]) + 1;
			row[j] = least(row[j], above[j - 1] + !is_same(*a, b[j - 1]));
			if (i > 1 && j > 1 && is_same(*a, b[j - 2]) && is_same(a[-1], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
			nearest = least(nearest, row[j]);
		}
		if (nearest >= s->distance)
			return s->distance;
		before = above;
		above = row;
		row = spare;
	}
	return above[n];
}

bool dw_suggestion_offer_part(struct dw_suggestion *s, const char *part, size_t n,
			      const char *candidate, size_t candidate_n)
{
	size_t apart = n > s->n ? n - s->n : s->n - n, distance;

	if (s->distance > 1 && s->n >= PREFIX_MIN && n > s->n && begins_with(part, s->word, s->n))
		distance = 1;
	else if (apart >= s->distance || n > (size_t)2 * WORD_MAX)
		return false;
	else
		distance = distance_to(s, part, n);
	if (distance >= s->distance)
		return false;
	s->distance = distance;
	s->best = candidate;
	s->best_n = candidate_n;
	return true;
}

bool dw_suggestion_offer(struct dw_suggestion *s, const char *candidate)
{
	size_t n = strlen(candidate);

	return dw_suggestion_offer_part(s, candidate, n, candidate, n);
}

void dw_suggestion_put(const struct dw_suggestion *s, const char *before, struct dw_buf *text)
{
	if (s->best)
		dw_buf_printf(text, " (did you mean %s%.*s?)", before, (int)s->best_n, s->best);
}
