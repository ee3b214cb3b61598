/* Windows of rows: sorted, searched, and only those that somebody looks at written. */
#include "page/page-internal.h"

#include "base/cleanup.h"
#include "format/records.h"
#include "view/search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS_MAX = 100000,    /* of a window */
	MOST_OF_ROWS = 10000, /* among which the longest times are looked for */
};

static void put_fact(const struct dw_format_fact *fact, struct dw_out *out)
{
	dw_out_puts(out, out->buf.data[out->buf.len - 1] == '{' ? "" : ", ");
	dw_format_json_string(out, fact->key);
	dw_out_puts(out, ": ");
	if (fact->text)
		dw_format_json_string(out, fact->text);
	else
		dw_out_printf(out, "%" PRId64, fact->integer);
}

void dw_page_put_session(const struct dw_view *v, struct dw_out *out)
{
	const struct dw_format_job job = {.view = v};

	dw_out_puts(out, "{");
	dw_format_facts(&job, put_fact, out);
	dw_out_puts(out, "}");
}

static void put_cell(struct dw_format_records *r, struct dw_out *out, size_t at,
		     const struct dw_cell *cell)
{
	dw_page_comma(out, at);
	dw_format_json_cell(r, out, cell);
}

int dw_page_put_rows(const struct dw_view *v, const enum dw_column *columns, const uint32_t *rows,
		     size_t first, size_t n, struct dw_out *out)
{
	const struct dw_format_job job = {.view = v, .columns = columns};
	struct dw_format_records r;
	int rc = dw_format_records_init(&r, &job, put_cell, "", "");

	dw_out_puts(out, "[");
	for (size_t i = 0; i < n && !rc; i++) {
		dw_page_comma(out, i);
		dw_out_puts(out, "[");
		dw_format_record(&r, out, rows ? rows[i] : first + i);
		dw_out_puts(out, "]");
	}
	dw_out_puts(out, "]");
	dw_format_records_release(&r);
	return rc ? rc : out->failed;
}

int dw_page_put_objects(const struct dw_view *v, const enum dw_column *columns, size_t first,
			size_t end, struct dw_out *out)
{
	const struct dw_format_job job = {.view = v, .columns = columns};
	struct dw_format_records r;
	int rc = dw_format_records_init(&r, &job, dw_format_json_member, ", \"", "\": ");

	dw_out_puts(out, "[");
	for (size_t i = first; i < end && !rc; i++) {
		dw_page_comma(out, i - first);
		dw_out_puts(out, "{");
		dw_format_record(&r, out, i);
		dw_out_puts(out, "}");
	}
	dw_out_puts(out, "]");
	dw_format_records_release(&r);
	return rc ? rc : out->failed;
}

static bool is_time(enum dw_column column)
{
	enum dw_cell_kind kind = dw_column_info(column)->kind;

	return kind == DWELL_CELL_DURATION_NS || kind == DWELL_CELL_CALL_NS ||
	       kind == DWELL_CELL_TIME_NS;
}

/* Look for the longest times of those columns of @v of which @known has none. */
static void find_most(const struct dw_view *v, const enum dw_column *columns,
		      struct dw_page_most *known)
{
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	enum dw_column wanted[DWELL_COLUMNS_N];
	size_t rows = v->n < MOST_OF_ROWS ? v->n : MOST_OF_ROWS, n = 0;

	for (; *columns; columns++)
		if (is_time(*columns) && !known->is_there[*columns]) {
			known->is_there[*columns] = true;
			wanted[n++] = *columns;
		}
	for (size_t i = 0; i < rows && n; i++) {
		struct dw_row row;
		struct dw_cell cell;

		dw_view_row(v, i, &scratch, &row);
		for (size_t k = 0; k < n; k++) {
			uint64_t *most = &known->ns[wanted[k]];

			dw_view_cell(v, &row, wanted[k], NULL, &cell);
			if (cell.kind != DWELL_CELL_EMPTY && cell.number > *most)
				*most = cell.number;
		}
	}
}

void dw_page_put_most(const struct dw_view *v, const enum dw_column *columns,
		      struct dw_page_most *known, struct dw_out *out)
{
	find_most(v, columns, known);
	dw_out_puts(out, ", \"max\": [");
	for (size_t k = 0; columns[k]; k++) {
		dw_page_comma(out, k);
		if (is_time(columns[k]))
			dw_format_count(out, known->ns[columns[k]]);
		else
			dw_out_puts(out, "null");
	}
	dw_out_puts(out, "]");
}

int dw_page_op_report(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		      struct dw_error *err)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	const struct dw_view_ops *ops;
	struct dw_page_view *v;
	int rc = dw_page_find_view(page, r, &ops, err);

	rc = rc ? rc : dw_page_columns(page, r, ops, columns, err);
	rc = rc ? rc : dw_page_view(page, r, ops, false, &v, err);
	if (rc)
		return rc;
	dw_out_puts(out, "\"session\": ");
	dw_page_put_session(&v->view, out);
	dw_out_puts(out, ", \"rows\": ");
	rc = dw_page_put_objects(&v->view, columns, 0, v->view.n, out);
	return rc ? dw_error_set(err, rc, "out of memory") : 0;
}

/* Note the rows of @v in which a text has @word, whichever columns are shown. */
static int search(struct dw_page_view *v, const char *word)
{
	const struct dw_profile *p = v->view.request.profile;
	enum dw_column columns[DWELL_COLUMNS_N], texts[DWELL_COLUMNS_N];
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	dw_auto(dw_buf) cell_scratch = DW_BUF_INIT;
	const struct dw_search_word wanted = dw_search_word(word);
	size_t n = 0;
	int rc = 0;

	dw_view_columns(v->key.ops, p, v->key.totals.by, false, columns);
	for (const enum dw_column *c = columns; *c; c++)
		if (dw_column_info(*c)->kind == DWELL_CELL_TEXT)
			texts[n++] = *c;
	v->found.n = 0;
	for (size_t i = 0; i < v->view.n && !rc; i++) {
		struct dw_row row;
		bool found = false;

		dw_view_row(&v->view, i, &scratch, &row);
		for (size_t k = 0; k < n && !found; k++) {
			struct dw_cell cell;

			dw_view_cell(&v->view, &row, texts[k], &cell_scratch, &cell);
			found = dw_search_fits(&wanted, cell.text);
		}
		if (found)
			rc = dw_vec_push(&v->found, (uint32_t)i);
	}
	return rc;
}

/* The rows in which @word stands are those noted in @v. */
static int find(struct dw_page_view *v, const char *word)
{
	char *copy;

	if (v->search && !strcmp(v->search, word))
		return 0;
	copy = strdup(word);
	free(v->search);
	v->search = copy;
	if (copy && !search(v, word))
		return 0;
	free(copy);
	v->search = NULL;
	return -ENOMEM;
}

uint32_t dw_page_function_id(const struct dw_view *v, const struct dw_row *row)
{
	return dw_functions_get(&v->request.profile->functions, row->function) ? row->function : 0;
}

void dw_page_put_functions(const struct dw_view *v, const uint32_t *rows, size_t first, size_t n,
			   struct dw_out *out)
{
	dw_auto(dw_buf) scratch = DW_BUF_INIT;

	dw_out_puts(out, "[");
	for (size_t i = 0; i < n; i++) {
		struct dw_row row;

		dw_view_row(v, rows ? rows[i] : first + i, &scratch, &row);
		dw_page_comma(out, i);
		dw_format_count(out, dw_page_function_id(v, &row));
	}
	dw_out_puts(out, "]");
}

/* Ids that later requests may name. */
static void put_ids(const struct dw_page_view *v, const uint32_t *rows, size_t first, size_t n,
		    struct dw_out *out)
{
	dw_out_puts(out, ", \"ids\": [");
	for (size_t i = 0; i < n; i++) {
		dw_page_comma(out, i);
		dw_format_count(out, v->view.items[rows ? rows[i] : first + i] + 1ull);
	}
	dw_out_puts(out, "], \"functions\": ");
	dw_page_put_functions(&v->view, rows, first, n, out);
}

void dw_page_put_columns(const enum dw_column *columns, struct dw_out *out)
{
	char key[DWELL_KEY_MAX_BYTES];

	dw_out_puts(out, ", \"columns\": [");
	for (size_t i = 0; columns[i]; i++) {
		dw_column_key(columns[i], key);
		dw_out_printf(out, "%s\"%s\"", i ? ", " : "", key);
	}
	dw_out_puts(out, "]");
}

int dw_page_op_rows(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		    struct dw_error *err)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	const struct dw_view_ops *ops;
	struct dw_page_view *v;
	const uint32_t *found = NULL;
	size_t total, first, n;
	int rc = dw_page_find_view(page, r, &ops, err);

	rc = rc ? rc : dw_page_columns(page, r, ops, columns, err);
	rc = rc ? rc : dw_page_view(page, r, ops, false, &v, err);
	if (!rc && r->search && *r->search && find(v, r->search))
		rc = dw_error_set(err, -ENOMEM, "out of memory");
	if (rc)
		return rc;
	if (r->search && *r->search)
		found = v->found.v;
	total = r->search && *r->search ? v->found.n : v->view.n;
	first = r->from < total ? (size_t)r->from : total;
	n = r->count < total - first ? (size_t)r->count : total - first;
	n = n < ROWS_MAX ? n : ROWS_MAX;
	found = found ? found + first : NULL;
	dw_out_printf(out, "\"total\": %zu, \"rows\": ", total);
	rc = dw_page_put_rows(&v->view, columns, found, first, n, out);
	put_ids(v, found, first, n, out);
	dw_page_put_most(&v->view, columns, &v->most, out);
	dw_page_put_columns(columns, out);
	dw_out_puts(out, ", \"session\": ");
	dw_page_put_session(&v->view, out);
	return rc ? dw_error_set(err, rc, "out of memory") : 0;
}
