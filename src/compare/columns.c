/*
 * Columns of comparisons; see columns.h.
 *
 * Rows are compared by the measure that the view leads with, as time where samples stand for time.
 * Calls are compared by the time that the program itself took: what the system did to it meanwhile
 * differs from run to run.
 */
#include "compare/columns.h"

#include <assert.h>
#include <math.h>

/* Beside those that are wanted: the main one, four counts, the inclusive one. */
_Static_assert(DWELL_COMPARED_MAX >= DWELL_WANTED_MAX + 6, "all columns have room");

static bool is_total(const struct dw_column_info *info)
{
	return info->aspect == DWELL_ASPECT_TOTAL || info->aspect == DWELL_ASPECT_TIME;
}

/* The column of all of @measure, DWELL_COLUMN_END = there is none. Of samples that of time, if they
 * are of time. */
static enum dw_column total_of(const struct dw_view *v, enum dw_measure measure, bool exclusive)
{
	bool is_time = measure == DWELL_MEASURE_SAMPLES && v->sample_ns > 0;

	for (int c = 1; c < DWELL_COLUMNS_N; c++) {
		const struct dw_column_info *info = dw_column_info((enum dw_column)c);

		if (info->measure == measure && info->exclusive == exclusive && is_total(info) &&
		    (info->aspect == DWELL_ASPECT_TIME) == is_time)
			return (enum dw_column)c;
	}
	return DWELL_COLUMN_END;
}

static void add(struct dw_comparison *c, enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);

	for (size_t i = 0; i < c->columns_n; i++)
		if (c->columns[i].column == column)
			return;
	if (column)
		c->columns[c->columns_n++] = (struct dw_compared_column){
			column,
			info->kind == DWELL_CELL_COUNT && info->measure != DWELL_MEASURE_SAMPLES};
}

static enum dw_column main_column(const struct dw_comparison *c, const struct dw_view *v)
{
	enum dw_column column = c->sort ? c->sort : dw_view_sorted_by(v);
	const struct dw_column_info *info = dw_column_info(column);
	enum dw_measure measure = info->measure;

	if (!measure || (c->sort && is_total(info)))
		return column;
	if (!c->sort && c->method == DWELL_METHOD_INSTRUMENTATION &&
	    (measure == DWELL_MEASURE_ELAPSED || measure == DWELL_MEASURE_WORK))
		measure = DWELL_MEASURE_APPLICATION;
	return total_of(v, measure, info->exclusive);
}

void dw_compared_columns_choose(struct dw_comparison *c, const struct dw_view *v)
{
	enum dw_column main = main_column(c, v);
	const struct dw_column_info *info = dw_column_info(main);

	c->is_estimated =
		dw_measures_has(dw_profile_measures(v->request.profile), DWELL_MEASURE_DRAWS);
	add(c, main);
	if (v->ops == &dw_view_file_io) {
		add(c, DWELL_COLUMN_READS);
		add(c, DWELL_COLUMN_WRITES);
		add(c, DWELL_COLUMN_BYTES_READ);
		add(c, DWELL_COLUMN_BYTES_WRITTEN);
	} else if (info->measure && c->method == DWELL_METHOD_INSTRUMENTATION) {
		add(c, DWELL_COLUMN_CALLS);
	} else if (info->measure && c->method == DWELL_METHOD_MEMORY) {
		add(c, v->ops == &dw_view_lifetime
			       ? DWELL_COLUMN_INSTANCES
			       : total_of(v, DWELL_MEASURE_OBJECTS, info->exclusive));
	}
	c->counts_n = c->is_estimated ? 0 : c->columns_n - 1;
	/* Trees have very many rows. */
	if (info->measure && v->ops != &dw_view_lifetime && !v->ops->tree)
		add(c, total_of(v, info->measure, !info->exclusive));
	for (size_t i = 0; i < c->wanted_n; i++)
		add(c, c->wanted[i]);
	for (size_t i = 0; i < c->columns_n; i++) {
		c->columns[i].is_count &= !c->is_estimated;
		c->has_averages |=
			dw_column_info(c->columns[i].column)->aspect == DWELL_ASPECT_AVERAGE;
	}
}

void dw_comparison_want(struct dw_comparison *c, enum dw_column column)
{
	assert(c->wanted_n < DWELL_WANTED_MAX);
	c->wanted[c->wanted_n++] = column;
}

uint64_t dw_compared_column_value(const struct dw_view *v, const struct dw_row *row,
				  enum dw_column column, struct dw_buf *scratch)
{
	const struct dw_column_info *info = dw_column_info(column);
	struct dw_cell cell;
	uint64_t n = 0;

	if (info->measure && info->measure != DWELL_MEASURE_SAMPLES &&
	    info->aspect == DWELL_ASPECT_TOTAL) {
		dw_measured_value(&row->measured, info->measure, info->exclusive, &n);
		return n;
	}
	dw_view_cell(v, row, column, scratch, &cell);
	return cell.kind == DWELL_CELL_TEXT || cell.kind == DWELL_CELL_PERCENT ? 0 : cell.number;
}

uint64_t dw_compared_column_weight(const struct dw_row *row, enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);
	bool exclusive = info->exclusive;

	if (info->aspect != DWELL_ASPECT_AVERAGE)
		return 1;
	return dw_measured_get(&row->measured,
			       exclusive ? DWELL_MEASURE_MEASURED : DWELL_MEASURE_OUTER_CALLS,
			       false);
}

void dw_compared_column_join(enum dw_column column, uint64_t *to, uint64_t *weight, uint64_t value,
			     uint64_t more)
{
	double all = (double)*weight + (double)more, a = (double)*to, b = (double)value;

	switch (dw_column_info(column)->aspect) {
	case DWELL_ASPECT_AVERAGE:
		if (all > 0)
			*to = (uint64_t)((a * (double)*weight + b * (double)more) / all + .5);
		*weight += more;
		return;
	case DWELL_ASPECT_ERROR: /* of estimates that do not depend on one another */
		*to = (uint64_t)(sqrt(a * a + b * b) + .5);
		return;
	case DWELL_ASPECT_MAX:
		*to = value > *to ? value : *to;
		return;
	case DWELL_ASPECT_MIN:
	case DWELL_ASPECT_BEGIN: /* 0 = there is none */
		*to = value && (!*to || value < *to) ? value : *to;
		return;
	default:
		*to += value;
	}
}

uint64_t dw_compared_column_all(const struct dw_view *v, enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);
	uint64_t all = info->measure ? v->request.totals->all[info->measure] : 0;

	return info->aspect == DWELL_ASPECT_TIME ? (uint64_t)((double)all * v->sample_ns + .5)
						 : all;
}

bool dw_compared_column_is_amount(enum dw_column column)
{
	enum dw_cell_kind kind = dw_column_info(column)->kind;

	return kind == DWELL_CELL_COUNT || kind == DWELL_CELL_DURATION_NS ||
	       kind == DWELL_CELL_CALL_NS;
}

bool dw_compared_column_is_total(enum dw_column column)
{
	const struct dw_column_info *info = dw_column_info(column);

	return is_total(info) ? dw_compared_column_is_amount(column)
			      : info->measure && info->aspect == DWELL_ASPECT_PERCENT;
}

size_t dw_compared_column_find(const struct dw_comparison *c, enum dw_column column)
{
	size_t at = 0;

	while (c->columns[at].column != column) {
		at++;
		assert(at < c->columns_n);
	}
	return at;
}
