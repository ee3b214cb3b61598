/*
 * A view of a session as a report asks for it: what depends on the session; see report.h.
 */
#include "cli/report.h"

#include "analysis/disassembly.h"
#include "cli/hints.h"

#include <stdlib.h>
#include <string.h>

static bool wants_source(const struct dw_report_options *o)
{
	return o->source || o->source_dirs.n;
}

bool dw_report_find_columns(struct dw_report *r, const struct dw_profile *p)
{
	if (!dw_view_suits(r->view, p))
		return false;
	r->parts = dw_view_parts(r->view, p);
	dw_view_columns(r->view, p, r->by, false, r->all);
	dw_view_columns(r->view, p, r->by, true, r->defaults);
	if (!wants_source(r->options)) {
		dw_columns_drop(r->all, DWELL_COLUMN_SOURCE_TEXT);
		dw_columns_drop(r->defaults, DWELL_COLUMN_SOURCE_TEXT);
	}
	return true;
}

int dw_report_check_method(const struct dw_report *r, const struct dw_profile *p,
			   struct dw_error *err)
{
	const struct dw_report_options *o = r->options;

	if (o->intervals && !dw_profile_has_calls(p))
		return dw_misuse(err, "--intervals is for sessions of dwell instrument");
	if (o->order && !dw_profile_has_calls(p))
		return dw_misuse(err, "--order is for sessions of dwell instrument");
	return 0;
}

/* Calls are shown as they were measured. */
bool dw_report_folds_by_default(const struct dw_report *r, const struct dw_profile *p)
{
	return r->format->human_readable &&
	       dw_view_may_fold(r->view, p, r->options->root || r->options->filter.modules.n);
}

/* What of @r nobody will look at. Rows in their own order are known to be the first ones before all
 * are made; tables also count what they leave out, and a folded row is many nodes. */
static void set_focus(const struct dw_report *r, struct dw_focus *ret)
{
	const struct dw_view_request *request = &r->request;

	ret->function = request->function;
	ret->min_pct = request->pruning.trim_pct;
	ret->hot_path = request->hot_path || r->view == &dw_view_summary;
	ret->work = !r->options->sort;
	ret->rows = 0;
	if (!r->options->sort && !request->by_first_call && !r->format->human_readable &&
	    !request->pruning.fold)
		ret->rows = r->options->top;
}

static void set_filter(const struct dw_report *r, struct dw_filter *filter)
{
	const char *intervals = r->options->intervals;

	filter->by = r->by;
	filter->splits_lines = dw_columns_show_statements(r->columns);
	filter->latency = dw_columns_want_latency(r->columns, r->request.sort);
	filter->delimited_intervals = intervals && !strcmp(intervals, "probe");
	set_focus(r, &filter->focus);
}

int dw_report_open(struct dw_report *r, struct dw_profile *p, struct dw_filter *filter,
		   struct dw_report_rows *ret, struct dw_error *err)
{
	const struct dw_report_options *o = r->options;
	int rc = r->parts & DWELL_TOTALS_INSTRUCTIONS ? dw_disassembly_tell(p) : 0;

	*ret = (struct dw_report_rows){0};
	set_filter(r, filter);
	if (!rc)
		rc = dw_totals_compute(p, filter, r->parts, &ret->totals);
	r->request.profile = p;
	r->request.intel = o->intel;
	dw_source_text_init(&ret->sources, p, o->source_dirs.v, o->source_dirs.n);
	if (wants_source(o))
		r->request.source = &ret->sources;
	r->request.rows = o->top;
	r->request.totals = &ret->totals;
	r->request.filter = filter;
	if (!rc && r->view->has_notes && r->format->human_readable)
		r->request.debug_packages = ret->packages = dw_hint_packages(p, &ret->totals);
	if (!rc)
		rc = dw_view_open(&ret->view, r->view, &r->request);
	if (rc)
		dw_error_set(err, rc, "cannot compute the view %s: %s", r->view->name,
			     dw_err_string(rc));
	return rc;
}

void dw_report_write(struct dw_report *r, const struct dw_report_rows *rows, size_t width,
		     bool colour, struct dw_out *out)
{
	const struct dw_format_job job = {
		.view = &rows->view,
		.columns = r->columns,
		.chosen = r->options->columns,
		.rows = r->options->top,
		.path = r->path,
		.width = width,
		.colour = colour,
		.details = r->options->details,
	};

	if (r->format->human_readable && !r->options->columns)
		dw_view_drop_waits(&rows->view, r->columns);
	if (width && !r->options->columns)
		dw_view_tell_processes_apart(&rows->view, r->columns);
	r->format->write(&job, out);
}

void dw_report_tell_missing(const struct dw_report_rows *rows)
{
	const struct dw_source_text *s = &rows->sources;

	if (s->missing_n)
		dw_warn("report",
			"no source of %zu file%s, '%s' among them; --source-dir tells where it is",
			s->missing_n, s->missing_n > 1 ? "s" : "",
			dw_strings_get(&s->profile->strings, s->missing));
}

void dw_report_rows_release(struct dw_report_rows *rows)
{
	dw_view_release(&rows->view);
	dw_totals_release(&rows->totals);
	dw_source_text_release(&rows->sources);
	free(rows->packages);
	*rows = (struct dw_report_rows){0};
}
