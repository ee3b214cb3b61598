/* Questions by the rights that they need; see ask.h. */
#include "symbol/ask.h"

#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Questions of equal rights, and the number that each has for the caller. */
struct batch {
	DW_VEC(struct dw_question) questions;
	DW_VEC(size_t) numbers;
	dw_helper_fn *answered;
	void *ctx;
};

static bool is_same_root(int a, int b)
{
	struct stat sa, sb;

	if (a < 0 || b < 0)
		return a == b;
	return a == b || (!fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev &&
			  sa.st_ino == sb.st_ino);
}

bool dw_has_same_rights(const struct dw_module_source *a, const struct dw_module_source *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->groups_n == b->groups_n &&
	       (!a->groups_n || !memcmp(a->groups, b->groups, a->groups_n * sizeof *a->groups)) &&
	       is_same_root(a->root_fd, b->root_fd);
}

static int answered_one(void *ctx, size_t i, struct dw_answer *answer)
{
	struct batch *b = ctx;

	return b->answered(b->ctx, b->numbers.v[i], answer);
}

/* Put the question @first and all later ones of its rights into @b. */
static int collect(struct batch *b, const struct dw_question *questions, size_t n, size_t first,
		   bool *is_asked)
{
	int rc = 0;

	b->questions.n = b->numbers.n = 0;
	for (size_t i = first; i < n && !rc; i++) {
		if (is_asked[i] ||
		    !dw_has_same_rights(questions[first].source, questions[i].source))
			continue;
		is_asked[i] = true;
		rc = dw_vec_push(&b->questions, questions[i]);
		if (!rc)
			rc = dw_vec_push(&b->numbers, i);
	}
	return rc;
}

int dw_ask(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
	   dw_helper_fn *answered, void *ctx, struct dw_error *err)
{
	struct batch b = {.answered = answered, .ctx = ctx};
	bool *is_asked = calloc(n + 1, sizeof *is_asked);
	int rc = is_asked ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++) {
		if (is_asked[i])
			continue;
		rc = collect(&b, questions, n, i, is_asked);
		if (!rc)
			rc = dw_helper_run(b.questions.v, b.questions.n, timeout_ms, answered_one,
					   &b, err);
	}
	dw_vec_release(&b.questions);
	dw_vec_release(&b.numbers);
	free(is_asked);
	return rc;
}
