/*
 * What part of a session a command shows, as its options say it: the same words for all commands
 * that read one.
 */
#pragma once

#include "analysis/filter.h"
#include "cli/options.h"

#include <stdint.h>

struct dw_filter_options {
	struct dw_option_list processes, threads, modules, types;
	uint64_t from_ns, to_ns; /* to_ns 0 = no end */
};

/* Find what the words mean in @p. As dw_filter_resolve(), DWELL_ERR_USAGE also for types of objects
 * where there are none. */
int dw_filter_options_resolve(const struct dw_filter_options *o, const struct dw_profile *p,
			      struct dw_filter_owned *ret, struct dw_error *err);

/* Free the lists. */
void dw_filter_options_release(struct dw_filter_options *o);
