/*
 * Questions about modules of several users and roots, each answered with the rights of its module.
 */
#pragma once

#include "symbol/helper.h"

/* Whether files that @a and @b name are opened with the same root, user and groups. */
bool dw_has_same_rights(const struct dw_module_source *a, const struct dw_module_source *b);

/*
 * Have @n questions answered, those of equal rights by one helper, so not in their order.
 * @timeout_ms  for each. @answered and what is returned: as dw_helper_run().
 */
int dw_ask(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
	   dw_helper_fn *answered, void *ctx, struct dw_error *err);
