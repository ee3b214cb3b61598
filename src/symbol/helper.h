/*
 * Helper processes: questions about modules answered outside of this process.
 *
 * One helper works through a list of questions. When it dies or takes too long over one, that one
 * is lost and another helper goes on with the next.
 */
#pragma once

#include "base/error.h"
#include "symbol/resolve.h"

#include <stddef.h>
#include <stdint.h>

/* Receives the answer to question @i, NULL = the helper failed. The answer may be taken apart, not
 * kept. 0, or a negative code that ends the run. */
typedef int dw_helper_fn(void *ctx, size_t i, struct dw_answer *answer);

/*
 * Have @n questions answered, in order, with root and credentials of the first one's source, which
 * all share. @timeout_ms holds for each. 0; the callback's code; -errno when no helper can be
 * started.
 */
int dw_helper_run(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
		  dw_helper_fn *answered, void *ctx, struct dw_error *err);
