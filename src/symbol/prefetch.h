/*
 * Prefetching: while a recording runs, a helper opens the files of modules that will be asked about
 * and unpacks what all answers need, so that the recording's end need not wait for that.
 *
 * What it cannot do is asked of ordinary helpers (helper.h): nothing is lost but time. One thread.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "symbol/question.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_prefetch;

/*
 * Let a helper open the files of some modules that frames of @p, which is recorded yet, lie in:
 * those that are read with the same rights, and none of great size, nor where @cache_dir (as in its
 * options) has the names of all frames so far. For dw_symbolize() of the same
 * profile, sources and options, without names_only; the caller frees *@ret with dw_prefetch_free().
 * 0, with *@ret = NULL when there is no such module; -ENOMEM, -errno.
 */
int dw_symbolize_prefetch(struct dw_profile *p, const struct dw_module_source *sources,
			  size_t sources_n, const char *cache_dir, struct dw_prefetch **ret);

/* Whether @module can be asked about, which can be done once. NULL knows none. */
bool dw_prefetch_knows(const struct dw_prefetch *e, uint32_t module);

/* Have @q answered, which is about @module; @timeout_ms to wait. 0, and the caller releases @a;
 * else nobody will be answered any more. */
int dw_prefetch_ask(struct dw_prefetch *e, uint32_t module, const struct dw_question *q,
		    uint32_t timeout_ms, struct dw_answer *a);

/* End the helper and free everything. NULL is fine. */
void dw_prefetch_free(struct dw_prefetch *e);
