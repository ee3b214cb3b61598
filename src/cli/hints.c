/* Hints; see hints.h. */
#include "cli/hints.h"

#include "analysis/nameless.h"
#include "analysis/totals.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "symbol/debug-package.h"

#include <inttypes.h>

#define DOMAIN "nothing to show" /* of warnings */

static const char *things_of(const struct dw_profile *p)
{
	static const char *const words[] = {
		[DWELL_METHOD_SAMPLING] = "samples",
		[DWELL_METHOD_INSTRUMENTATION] = "calls",
		[DWELL_METHOD_MEMORY] = "allocations",
	};

	return words[dw_profile_method(p)];
}

static bool is_filtered(const struct dw_filter *f)
{
	return f->from_ns || f->to_ns || f->processes || f->threads || f->modules || f->types;
}

void dw_hint_empty(const struct dw_profile *p, const struct dw_filter *filter,
		   const struct dw_totals *t)
{
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", -1);
	uint64_t end = filter->to_ns ? filter->to_ns : (uint64_t)duration;
	double lasted = (double)duration / 1e9, from = (double)filter->from_ns / 1e9;

	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		if (dw_totals_has(t, m) && t->all[m])
			return;
	if (duration >= 0 && filter->from_ns && filter->from_ns >= (uint64_t)duration)
		dw_warn(DOMAIN,
			"the recording ended at %.6f s, before %.6f s: choose an earlier --from",
			lasted, from);
	else if (duration >= 0 && (filter->from_ns || filter->to_ns))
		dw_warn(DOMAIN,
			"there are no %s from %.6f s to %.6f s: choose another --from and --until "
			"(the recording took %.6f s)",
			things_of(p), from, (double)end / 1e9, lasted);
	else if (is_filtered(filter))
		dw_warn(DOMAIN,
			"there are no %s of what --process, --thread, --module and --type choose "
			"together: leave one of them out",
			things_of(p));
}

int dw_hint_empty_export(const struct dw_profile *p, const struct dw_filter *filter)
{
	struct dw_totals totals = {0};
	int rc;

	if (!is_filtered(filter))
		return 0;
	rc = dw_totals_compute(p, filter, 0, &totals);
	if (!rc)
		dw_hint_empty(p, filter, &totals);
	dw_totals_release(&totals);
	return rc;
}

void dw_hint_unmeasured(const struct dw_profile *p, struct dw_error *err)
{
	int64_t shorts = dw_facts_get(&p->facts, "functions_short", 0);
	int64_t alone = dw_facts_get(&p->facts, "functions_left_alone", 0);
	dw_auto(dw_buf) line = DW_BUF_INIT;

	if (!dw_profile_has_calls(p))
		return;
	dw_buf_puts(&line,
		    "  what has no probes is a part of its callers: inlined functions (dwell "
		    "sample shows them)");
	if (shorts > 0)
		dw_buf_printf(&line, ", %" PRId64 " short ones (record with --all-functions)",
			      shorts);
	if (alone > 0)
		dw_buf_printf(&line, ", %" PRId64 " left alone (--list-functions says why)", alone);
	dw_error_add_line(err, "%s", dw_buf_str(&line));
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
