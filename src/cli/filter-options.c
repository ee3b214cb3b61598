/* Filters by options; see filter-options.h. */
#include "cli/filter-options.h"

int dw_filter_options_resolve(const struct dw_filter_options *o, const struct dw_profile *p,
			      struct dw_filter_owned *ret, struct dw_error *err)
{
	const struct dw_filter_words words = {
		.processes = o->processes.v,
		.processes_n = o->processes.n,
		.threads = o->threads.v,
		.threads_n = o->threads.n,
		.modules = o->modules.v,
		.modules_n = o->modules.n,
		.types = o->types.v,
		.types_n = o->types.n,
		.from_ns = o->from_ns,
		.to_ns = o->to_ns,
	};

	*ret = (struct dw_filter_owned){0};
	if (o->types.n && dw_profile_method(p) != DWELL_METHOD_MEMORY)
		return dw_error_set(err, DWELL_ERR_USAGE, "--type is for sessions of dwell memory");
	return dw_filter_resolve(p, &words, ret, err);
}

void dw_filter_options_release(struct dw_filter_options *o)
{
	dw_vec_release(&o->processes);
	dw_vec_release(&o->threads);
	dw_vec_release(&o->modules);
	dw_vec_release(&o->types);
}
