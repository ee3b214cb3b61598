/* Words that are looked for; see search.h. */
#include "view/search.h"

#include <ctype.h>
#include <string.h>

struct dw_search_word dw_search_word(const char *text)
{
	struct dw_search_word w = {.text = text};

	for (const char *c = text; *c; c++)
		w.has_capitals |= isupper((unsigned char)*c) != 0;
	return w;
}

bool dw_search_fits(const struct dw_search_word *w, const char *text)
{
	return text && (w->has_capitals ? strstr(text, w->text) : strcasestr(text, w->text));
}
