/* The list of views, and opening one. */
#include "view/view.h"

#include "analysis/totals.h"
#include "view/rows.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Rows come in an order that no cache likes: how many rows early their values are asked for. */
enum {
	AHEAD = 8,
	WAITS_WORTH_PART = 1000, /* of work, for columns of their own */
	ORDER_WORTH_PART = 100,	 /* of elapsed time, to make another order */
};

const struct dw_view_ops *const dw_views[] = {
	&dw_view_summary,
	&dw_view_functions,
	&dw_view_calltree,
	&dw_view_callers,
	&dw_view_details,
	&dw_view_modules,
	&dw_view_lines,
	&dw_view_instructions,
	&dw_view_processes,
	&dw_view_threads,
	&dw_view_waits,
	&dw_view_slowest,
	&dw_view_allocations,
	&dw_view_lifetime,
	&dw_view_gc,
	&dw_view_file_io,
	NULL,
};

const struct dw_view_ops *dw_view_find(const char *name)
{
	const struct dw_view_ops *const *ops = dw_views;

	while (*ops && strcmp((*ops)->name, name))
		ops++;
	return *ops;
}

bool dw_view_suits(const struct dw_view_ops *ops, const struct dw_profile *p)
{
	return !ops->needs || dw_measures_has(dw_profile_measures(p), ops->needs);
}

unsigned dw_view_parts(const struct dw_view_ops *ops, const struct dw_profile *p)
{
	return ops->parts & ~(dw_profile_has_calls(p) ? ops->not_of_calls : 0);
}

int dw_view_read_by(const struct dw_view_ops *ops, const char *option, const char *word,
		    enum dw_by *ret, struct dw_error *err)
{
	static const char *const words[] = {[DWELL_BY_PROCESS] = "process",
					    [DWELL_BY_THREAD] = "thread",
					    [DWELL_BY_COMMAND] = "command"};
	size_t i = DWELL_BY_PROCESS, n = sizeof words / sizeof *words;

	while (i < n && strcmp(word, words[i]))
		i++;
	if (i == n)
		return dw_error_set(err, DWELL_ERR_USAGE,
				    "%s takes process, thread or command, not '%s'", option, word);
	if (!ops->splits)
		return dw_error_set(err, DWELL_ERR_USAGE,
				    "the rows of the view %s cannot be split; those of functions, "
				    "calltree, modules, lines and file-io can",
				    ops->name);
	*ret = (enum dw_by)i;
	return 0;
}

bool dw_view_may_fold(const struct dw_view_ops *ops, const struct dw_profile *p, bool is_within)
{
	return ops->is_of_my_code && !dw_profile_has_calls(p) && !is_within;
}

bool dw_view_sums_waits(const struct dw_view *v)
{
	const struct dw_profile *p = v->request.profile;

	return !dw_profile_has_calls(p) || (dw_view_parts(v->ops, p) & DWELL_TOTALS_WAITS);
}

static bool has_sites(const struct dw_view_ops *ops, const struct dw_profile *p)
{
	if (!dw_profile_has_calls(p))
		return false;
	return ops->sites == DWELL_SITES_ALWAYS ||
	       (ops->sites == DWELL_SITES_WITHOUT_STATEMENTS &&
		!dw_facts_get(&p->facts, "statements_instrumented", 0));
}

void dw_view_columns(const struct dw_view_ops *ops, const struct dw_profile *p, enum dw_by by,
		     bool defaults, enum dw_column *ret)
{
	dw_columns_expand(defaults ? ops->defaults : ops->columns, dw_profile_measures(p), by,
			  defaults && has_sites(ops, p), ret);
	if (!dw_sample_ns(p)) {
		dw_columns_drop(ret, DWELL_COLUMN_CPU_INCLUSIVE);
		dw_columns_drop(ret, DWELL_COLUMN_CPU_EXCLUSIVE);
	}
	if (!dw_measures_has(dw_profile_measures(p), DWELL_MEASURE_OTHERS_WAITED))
		dw_columns_drop(ret, DWELL_COLUMN_WAIT_HELD_BY);
}

enum dw_column dw_view_find_column(const struct dw_profile *p, const enum dw_column *list,
				   const char *name, size_t n)
{
	const char *event = dw_facts_get_text(&p->facts, "event");
	enum dw_column found = dw_column_find(list, name, n);

	if (found)
		return found;
	if (event && strlen(event) == n && !memcmp(event, name, n))
		return dw_column_find(list, "exclusive_samples", strlen("exclusive_samples"));
	if (n == strlen("blocked") && !strncasecmp(name, "blocked", n))
		return dw_column_find(list, "exclusive_blocked_time",
				      strlen("exclusive_blocked_time"));
	return DWELL_COLUMN_END;
}

enum dw_column dw_view_sort(const struct dw_view_ops *ops, const struct dw_profile *p)
{
	enum dw_measure lead = dw_measures_lead(dw_profile_measures(p));

	if (ops->sort == DWELL_COLUMN_LEAD_EXCLUSIVE)
		return dw_columns_lead(lead, !has_sites(ops, p));
	return ops->sort == DWELL_COLUMN_LEAD_INCLUSIVE ? dw_columns_lead(lead, false) : ops->sort;
}

/* Whether waits that do not count were found, and make a difference to elapsed time. */
static bool has_work_of_calls(const struct dw_totals *t)
{
	return t->main == DWELL_MEASURE_ELAPSED && dw_totals_has(t, DWELL_MEASURE_WORK) &&
	       t->all[DWELL_MEASURE_ELAPSED] - t->all[DWELL_MEASURE_WORK] >
		       t->all[DWELL_MEASURE_ELAPSED] / ORDER_WORTH_PART;
}

enum dw_column dw_view_sorted_by(const struct dw_view *v)
{
	enum dw_column column;

	if (v->request.sort)
		return v->request.sort;
	column = dw_view_sort(v->ops, v->request.profile);
	/* Of calls, too, what they did comes first: not who had nothing to do. */
	if (v->ops->sort >= DWELL_COLUMN_LEAD_INCLUSIVE && has_work_of_calls(v->request.totals))
		return dw_columns_lead(DWELL_MEASURE_WORK, dw_column_info(column)->exclusive);
	return column;
}

void dw_view_tell_processes_apart(const struct dw_view *v, enum dw_column *columns)
{
	unsigned parts = dw_view_parts(v->ops, v->request.profile);
	size_t at = 0, n = 0;

	if (v->request.totals->processes_seen < 2 || v->ops->splits || parts & DWELL_TOTALS_TASKS)
		return;
	while (columns[n])
		n++;
	while (at < n && dw_column_info(columns[at])->kind != DWELL_CELL_TEXT)
		at++;
	if (n + 2 > DWELL_COLUMNS_N)
		return;
	memmove(columns + at + 1, columns + at, (n + 1 - at) * sizeof *columns);
	columns[at] = DWELL_COLUMN_PROCESS_ID;
}

void dw_view_drop_waits(const struct dw_view *v, enum dw_column *columns)
{
	const uint64_t *all = v->request.totals->all;
	uint64_t least = all[DWELL_MEASURE_WORK] / WAITS_WORTH_PART;

	if (!dw_totals_has_waits(v->request.totals))
		return;
	for (enum dw_column c = 1; c < DWELL_COLUMNS_N; c++) {
		enum dw_measure measure = dw_column_info(c)->measure;

		if ((measure == DWELL_MEASURE_BLOCKED || measure == DWELL_MEASURE_OTHERS_WAITED) &&
		    all[measure] <= least)
			dw_columns_drop(columns, c);
	}
}

int dw_view_open(struct dw_view *v, const struct dw_view_ops *ops,
		 const struct dw_view_request *request)
{
	int rc;

	*v = (struct dw_view){.ops = ops,
			      .request = *request,
			      .uncertain_ns = dw_call_uncertainty(request->profile),
			      .sample_ns = dw_sample_ns(request->profile)};
	if (!ops->trims || request->pruning.trim_pct <= 0)
		return ops->open(v);
	v->request.rows = 0;
	rc = ops->open(v);
	if (!rc)
		dw_view_trim(v);
	return rc;
}

void dw_view_row(const struct dw_view *v, size_t i, struct dw_buf *scratch, struct dw_row *ret)
{
	if (v->ops->values && i + AHEAD < v->n)
		__builtin_prefetch(v->ops->values(v, v->items[i + AHEAD]));
	*ret = (struct dw_row){0};
	v->ops->row(v, v->items[i], scratch, ret);
}

struct dw_values dw_view_values(const struct dw_view *v, size_t i, struct dw_buf *scratch)
{
	struct dw_row row;

	if (v->ops->values)
		return *v->ops->values(v, v->items[i]);
	dw_view_row(v, i, scratch, &row);
	return row.values;
}

void dw_view_release(struct dw_view *v)
{
	if (v->ops && v->ops->release)
		v->ops->release(v);
	free(v->items);
	free(v->parent);
	*v = (struct dw_view){0};
}
