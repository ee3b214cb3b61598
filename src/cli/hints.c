/* Hints; see hints.h. */
#include "cli/hints.h"

#include "analysis/nameless.h"
#include "symbol/debug-package.h"

#include <inttypes.h>

static const char *things_of(const struct dw_profile *p)
{
	static const char *const words[] = {
		[DWELL_METHOD_SAMPLING] = "samples",
		[DWELL_METHOD_INSTRUMENTATION] = "calls",
		[DWELL_METHOD_MEMORY] = "allocations",
	};

	return words[dw_profile_method(p)];
}

void dw_hint_empty(const struct dw_profile *p, const struct dw_filter *filter,
		   const struct dw_totals *t)
{
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", -1);
	double lasted = (double)duration / 1e9, from = (double)filter->from_ns / 1e9;
	bool is_filtered = filter->processes || filter->threads || filter->modules || filter->types;

	if (t->all[t->main] || dw_totals_has_waits(t))
		return;
	if (duration >= 0 && filter->from_ns >= (uint64_t)duration && filter->from_ns)
		dw_warn("report",
			"there is nothing from %.3f s on: the recording ended at %.3f s; "
			"choose an earlier --from",
			from, lasted);
	else if (filter->from_ns || filter->to_ns)
		dw_warn("report",
			"there are no %s from %.3f s to %.3f s; choose another --from and --until "
			"(the recording took %.3f s)",
			things_of(p), from, filter->to_ns ? (double)filter->to_ns / 1e9 : lasted,
			lasted);
	else if (is_filtered)
		dw_warn("report",
			"there are no %s of these processes, threads and modules; leave one of "
			"--process, --thread and --module out",
			things_of(p));
}

void dw_hint_unmeasured(const struct dw_profile *p, struct dw_error *err)
{
	int64_t shorts = dw_facts_get(&p->facts, "functions_short", 0);
	int64_t alone = dw_facts_get(&p->facts, "functions_left_alone", 0);

	if (!dw_profile_has_calls(p))
		return;
	if (shorts > 0)
		dw_error_add_line(err,
				  "  %" PRId64 " short functions without calls and loops had no "
				  "probes, they are a part of their callers: record with "
				  "--all-functions",
				  shorts);
	if (alone > 0)
		dw_error_add_line(err,
				  "  %" PRId64 " functions were left alone: dwell instrument "
				  "--list-functions COMMAND says which, and why",
				  alone);
	if (shorts <= 0 && alone <= 0)
		dw_error_add_line(err, "  inlined functions, and those that were never called, are "
				       "in no session of calls");
}

char *dw_hint_packages(const struct dw_profile *p, const struct dw_totals *t)
{
	const char *paths[DWELL_NAMELESS_MAX];
	struct dw_nameless nameless;

	dw_nameless_find(p, t, &nameless);
	for (unsigned i = 0; i < nameless.n; i++)
		paths[i] = dw_strings_get(&p->strings,
					  dw_modules_get(&p->modules, nameless.modules[i])->path);
	return nameless.n ? dw_debug_packages(paths, nameless.n) : NULL;
}
