/* Names of functions; see function-names.h. One question to one helper; the outermost function at
 * an address is the one whose symbol it is. */
#include "symbol/function-names.h"

#include "symbol/helper.h"

#include <errno.h>
#include <stdlib.h>

enum { TIMEOUT_MS = 20000 };

static int take_answer(void *ctx, size_t i, struct dw_answer *a)
{
	struct dw_function_names *names = ctx;
	int rc = 0;

	(void)i;
	for (size_t at = 0; a && at < names->n && !rc; at++) {
		uint32_t function = 0;

		if (a->first.v[at + 1] > a->first.v[at])
			function = a->rows.v[a->first.v[at + 1] - 1].function;
		if (function)
			rc = dw_strings_adds(
				&names->strings,
				dw_strings_get(&a->strings, a->functions.v[function].name),
				&names->ids[at]);
	}
	return rc;
}

int dw_function_names_read(const struct dw_module_source *source, const char *path,
			   const uint64_t *svmas, size_t n, struct dw_function_names *ret,
			   struct dw_error *err)
{
	struct dw_question q = {.source = source,
				.path = path,
				.debug_dirs = "/usr/lib/debug",
				.debug_fd = -1,
				.alt_fd = -1,
				.unpacked_fd = -1,
				.svmas = svmas,
				.n = n,
				.names_only = true};

	*ret = (struct dw_function_names){.n = n, .ids = calloc(n + 1, sizeof *ret->ids)};
	return ret->ids ? dw_helper_run(&q, 1, TIMEOUT_MS, take_answer, ret, err) : -ENOMEM;
}

const char *dw_function_names_get(const struct dw_function_names *names, size_t i)
{
	return names->ids[i] ? dw_strings_get(&names->strings, names->ids[i]) : NULL;
}

void dw_function_names_release(struct dw_function_names *names)
{
	dw_strings_release(&names->strings);
	free(names->ids);
	*names = (struct dw_function_names){0};
}
