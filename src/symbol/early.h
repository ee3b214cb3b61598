/*
 * Helpers that begin early: while a recording runs, they open the files of modules that it will ask
 * about and unpack what all answers need, so that its end need not wait for that.
 *
 * What they cannot do is asked of ordinary helpers (helper.h): nothing is lost but time. One
 * thread.
 */
#pragma once

#include "base/error.h"
#include "symbol/resolve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_early;

/*
 * Begin for the @n > 0 modules with the ids @modules, which @questions are about: all read with one
 * source's rights. Their addresses come later. All is copied, or used before this returns; sources'
 * files stay open in the helper. 0; -ENOMEM, -errno.
 */
int dw_early_begin(const struct dw_question *questions, const uint32_t *modules, size_t n,
		   struct dw_early **ret);

/* Whether @module can be asked about, which can be done once. NULL knows none. */
bool dw_early_knows(const struct dw_early *e, uint32_t module);

/* Have @q answered, which is about @module; @timeout_ms to wait. 0, and the caller releases @a;
 * else nobody will be answered any more. */
int dw_early_ask(struct dw_early *e, uint32_t module, const struct dw_question *q,
		 uint32_t timeout_ms, struct dw_answer *a);

/* End the helper and free everything. NULL is fine. */
void dw_early_free(struct dw_early *e);
