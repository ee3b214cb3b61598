/*
 * Sentences in lines that a terminal has room for.
 */
#pragma once

#include "base/out.h"

#include <stddef.h>

/*
 * Write the sentences of @text, whose lines end in newlines, and a newline behind the last. What
 * the first line has before it takes @used columns. A line of more than @width (0 = any is fine)
 * goes on in the next one, at a blank, behind @indent blanks; a word that is longer stays whole.
 */
void dw_text_put_wrapped(struct dw_out *out, const char *text, size_t used, size_t indent,
			 size_t width);
