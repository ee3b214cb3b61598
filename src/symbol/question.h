/*
 * Questions on their way to a helper: all that struct dw_question refers to as one run of bytes,
 * descriptors by their numbers, which the helper has, too. They come from our own process and are
 * believed.
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "symbol/resolve.h"

#include <stddef.h>

struct dw_questions {
	struct dw_question *v;
	struct dw_module_source *sources;
	size_t n;
};

/* Append the @n questions @q. 0 or -ENOMEM. */
int dw_questions_encode(const struct dw_question *q, size_t n, struct dw_buf *to);

/* Fill @ret, which is empty, from what @c (whose bytes are borrowed) has left. 0; -ENOMEM;
 * DWELL_ERR_FORMAT. To be released in any case. */
int dw_questions_decode(struct dw_cursor *c, struct dw_questions *ret);

enum { DWELL_QUESTION_FDS = 4 }; /* descriptors of one question, at most */

/* List the descriptors of @n questions, written to @fds. Their number. */
size_t dw_questions_fds(const struct dw_question *q, size_t n, int *fds);

/* Free everything. */
void dw_questions_release(struct dw_questions *q);
