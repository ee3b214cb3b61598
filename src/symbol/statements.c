/* Statements of a module; see statements.h. One question to one helper, about no address. */
#include "symbol/statements.h"

#include "symbol/helper.h"

#include <errno.h>

enum { TIMEOUT_MS = 60000 };

static int take_answer(void *ctx, size_t i, struct dw_answer *a)
{
	struct dw_statements *ret = ctx;

	(void)i;
	for (size_t k = 0; a && k < a->statements.n; k++)
		if (dw_vec_push(&ret->list, a->statements.v[k]))
			return -ENOMEM;
	return 0;
}

int dw_statements_read(const struct dw_module_source *source, const char *path,
		       struct dw_statements *ret, struct dw_error *err)
{
	struct dw_question q = {.source = source,
				.path = path,
				.debug_dirs = "/usr/lib/debug",
				.debug_fd = -1,
				.alt_fd = -1,
				.unpacked_fd = -1,
				.statements_only = true};

	*ret = (struct dw_statements){0};
	return dw_helper_run(&q, 1, TIMEOUT_MS, take_answer, ret, err);
}

void dw_statements_release(struct dw_statements *s)
{
	dw_vec_release(&s->list);
}
