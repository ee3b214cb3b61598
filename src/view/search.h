/*
 * A word that somebody looks for in texts of rows. As in less small letters mean capital ones, too,
 * unless the word has a capital itself.
 */
#pragma once

#include <stdbool.h>

struct dw_search_word {
	const char *text; /* borrowed */
	bool has_capitals;
};

/* What looking for @text means. */
struct dw_search_word dw_search_word(const char *text);

/* Whether the word stands in @text (NULL = no text). */
bool dw_search_fits(const struct dw_search_word *w, const char *text);
