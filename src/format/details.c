/* All measures of a row; see details.h. Each time has the unit that fits it. */
#include "format/details.h"

#include "base/cleanup.h"
#include "format/shorten.h"
#include "format/text.h"
#include "format/units.h"

#include <inttypes.h>
#include <string.h>

enum {
	INDENT = 2,
	TITLE_COLUMNS = 27,
	VALUE_COLUMNS = 11,
	PAIR_COLUMNS = INDENT + TITLE_COLUMNS + VALUE_COLUMNS,
	WIDTH_DEFAULT = 3 * PAIR_COLUMNS,
	BLOCKS_MAX = 8, /* of rows that are split; they begin with those that have most */
};

static bool is_shown(const struct dw_format_job *job, enum dw_column column)
{
	const enum dw_column *c = job->columns;

	while (*c && *c != column)
		c++;
	return *c == column;
}

static void put_value(struct dw_buf *b, const struct dw_cell *c)
{
	if (c->kind == DWELL_CELL_PERCENT)
		dw_buf_printf(b, "%.2f", c->percent);
	else if (c->kind == DWELL_CELL_CHANGE)
		dw_buf_printf(b, "%+" PRId64, (int64_t)c->number);
	else if (c->kind == DWELL_CELL_COUNT || c->kind == DWELL_CELL_NUMBER)
		dw_buf_printf(b, "%" PRIu64, c->number);
	else
		dw_time_unit_put(b, c->number, dw_time_unit_for(c->number), DWELL_DIGITS_USUAL);
}

static void put_pair(struct dw_out *out, const char *title, const char *value)
{
	size_t used = strlen(value);

	dw_out_fill(out, ' ', INDENT);
	dw_out_fill(out, ' ', TITLE_COLUMNS - dw_text_put_fitted(out, title, TITLE_COLUMNS));
	dw_out_fill(out, ' ', used < VALUE_COLUMNS ? VALUE_COLUMNS - used : 1);
	dw_out_puts(out, value);
}

static void write_row(const struct dw_format_job *job, const struct dw_row *row,
		      const enum dw_column *columns, struct dw_out *out)
{
	size_t width = job->width ? job->width : WIDTH_DEFAULT, n = 0;
	size_t pairs = width < PAIR_COLUMNS ? 1 : width / PAIR_COLUMNS;
	dw_auto(dw_buf) scratch = DW_BUF_INIT, value = DW_BUF_INIT;

	for (const enum dw_column *c = columns; *c; c++) {
		struct dw_cell cell;

		if (!dw_column_info(*c)->measure || is_shown(job, *c))
			continue;
		dw_view_cell(job->view, row, *c, &scratch, &cell);
		if (!cell.kind)
			continue;
		dw_buf_clear(&value);
		put_value(&value, &cell);
		dw_out_puts(out, n && n % pairs == 0 ? "\n" : "");
		put_pair(out, dw_column_info(*c)->title, dw_buf_str(&value));
		n++;
	}
	dw_out_puts(out, n ? "\n" : "");
}

/* Whose row it is, of those that are split. */
static void write_lane(const struct dw_format_job *job, const struct dw_row *row,
		       struct dw_out *out)
{
	static const enum dw_column lane[] = {DWELL_COLUMN_DEFAULT_LANE, DWELL_COLUMN_END};
	const struct dw_view_request *request = &job->view->request;
	enum dw_column columns[DWELL_COLUMNS_N];
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	struct dw_cell cell;
	bool any = false;

	dw_columns_expand(lane, dw_profile_measures(request->profile), request->totals->by, false,
			  columns);
	for (const enum dw_column *c = columns; *c; c++) {
		dw_view_cell(job->view, row, *c, &scratch, &cell);
		if (!cell.kind)
			continue;
		dw_out_puts(out, any ? " " : "  of ");
		any = true;
		if (cell.text)
			dw_text_put(out, cell.text);
		else
			dw_format_count(out, cell.number);
	}
	dw_out_puts(out, any ? "\n" : "");
}

/* The name of the function, and below it where it is. */
static void write_place(const struct dw_format_job *job, const struct dw_row *row,
			struct dw_out *out)
{
	static const enum dw_column places[] = {DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_SOURCE_FILE,
						DWELL_COLUMN_FUNCTION_LINE};
	static const char *const before[] = {"  in ", ", ", ":"};
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	struct dw_cell cell;

	dw_view_cell(job->view, row, DWELL_COLUMN_FUNCTION_NAME, &scratch, &cell);
	dw_out_puts(out, "\n");
	dw_function_name_put_fitted(out, cell.text ? cell.text : "",
				    job->width ? job->width : SIZE_MAX);
	dw_out_puts(out, "\n");
	write_lane(job, row, out);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		dw_view_cell(job->view, row, places[i], &scratch, &cell);
		if (!cell.kind)
			break;
		dw_out_puts(out, before[i]);
		if (cell.text)
			dw_text_put(out, cell.text);
		else
			dw_format_count(out, cell.number);
	}
	dw_out_puts(out, "\n");
}

void dw_details_write(const struct dw_format_job *job, struct dw_out *out)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	size_t blocks = 0;

	dw_view_columns(job->view->ops, job->view->request.profile, job->view->request.totals->by,
			false, columns);
	for (size_t i = 0; i < dw_format_rows(job) && !out->failed; i++) {
		struct dw_row row;

		dw_view_row(job->view, i, &scratch, &row);
		if (row.type != DWELL_ROW_CURRENT || blocks++ >= BLOCKS_MAX)
			continue;
		write_place(job, &row, out);
		write_row(job, &row, columns, out);
	}
	if (blocks > BLOCKS_MAX)
		dw_out_printf(out,
			      "\n(all measures of %zu more: --process and --thread choose, CSV and "
			      "JSON have all)\n",
			      blocks - BLOCKS_MAX);
}
