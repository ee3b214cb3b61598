/*
 * A filter as the user words it, resolved against a profile.
 */
#pragma once

#include "analysis/totals.h"
#include "base/error.h"
#include "model/profile.h"

#include <stddef.h>
#include <stdint.h>

/* Each list widens: a sample passes when it fits one of the processes, one of the threads, ... */
struct dw_filter_words {
	const char *const *processes; /* system process ids or names */
	size_t processes_n;
	const char *const *threads; /* system thread ids or names */
	size_t threads_n;
	const char *const *modules; /* globs or exact names, of the name or of the whole path */
	size_t modules_n;
	const char *const *types; /* of objects: globs or exact names */
	size_t types_n;
	uint64_t from_ns;
	uint64_t to_ns; /* 0 = no end */
};

/* A vector: 1 = keep, by id. */
struct dw_filter_flags {
	uint8_t *v;
	size_t n, cap;
};

/* A filter and what it points to. */
struct dw_filter_owned {
	struct dw_filter filter;
	DW_VEC(uint32_t) processes;
	DW_VEC(uint32_t) threads;
	struct dw_filter_flags modules, types;
};

/*
 * Resolve @words. DWELL_ERR_NOT_FOUND when a word fits nothing in @p (@err names the word);
 * DWELL_ERR_USAGE for an empty range; -ENOMEM. Release @ret in any case.
 */
int dw_filter_resolve(const struct dw_profile *p, const struct dw_filter_words *words,
		      struct dw_filter_owned *ret, struct dw_error *err);

/* Free everything. */
void dw_filter_release(struct dw_filter_owned *f);
