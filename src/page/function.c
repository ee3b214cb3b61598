/* All about one function: callers, itself, callees and lines; and its code with what was measured
 * of it. */
#include "page/page-internal.h"

#include "analysis/filter.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* Where the rows of @type begin and end in @v, which has them side by side for each lane; of
 * several lanes those of the first. */
static void find_type(const struct dw_view *v, enum dw_row_type type, size_t *first, size_t *end)
{
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	struct dw_row row;

	*first = *end = 0;
	for (size_t i = 0; i < v->n; i++) {
		dw_view_row(v, i, &scratch, &row);
		if (row.type != type) {
			if (*end > *first)
				return;
			continue;
		}
		if (*end == *first)
			*first = i;
		*end = i + 1;
	}
}

/* Parts of an answer, and the rows that they have. */
static const struct {
	const char *key;
	enum dw_row_type type;
} parts[] = {{"self", DWELL_ROW_CURRENT},
	     {"callers", DWELL_ROW_CALLER},
	     {"callees", DWELL_ROW_CALLEE},
	     {"lines", DWELL_ROW_LINE}};

enum { PARTS = sizeof parts / sizeof *parts };

int dw_page_op_function(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
			struct dw_error *err)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	size_t first[PARTS], end[PARTS];
	struct dw_page_view *v;
	int rc = dw_page_columns(page, r, &dw_view_details, columns, err);

	if (!rc && !r->name && !r->function)
		rc = dw_error_set(err, DWELL_ERR_USAGE, "which function?");
	rc = rc ? rc : dw_page_view(page, r, &dw_view_details, false, &v, err);
	if (rc)
		return rc;
	dw_out_printf(out, "\"id\": %u", v->key.function);
	for (size_t i = 0; i < PARTS && !rc; i++) {
		find_type(&v->view, parts[i].type, &first[i], &end[i]);
		dw_out_printf(out, ", \"%s\": ", parts[i].key);
		rc = dw_page_put_objects(&v->view, columns, first[i], end[i], out);
	}
	if (rc)
		return dw_error_set(err, rc, "out of memory");
	dw_out_puts(out, ", \"functions\": {");
	for (size_t i = 0; i < PARTS; i++) {
		dw_out_printf(out, "%s\"%s\": ", i ? ", " : "", parts[i].key);
		dw_page_put_functions(&v->view, NULL, first[i], end[i] - first[i], out);
	}
	dw_out_puts(out, "}");
	return 0;
}

/* The words that mean a function alone, in other readings of the session, too. Who tells its name
 * besides is told that where the number is that of another function by now. */
int dw_page_op_word(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		    struct dw_error *err)
{
	dw_auto(dw_buf) word = DW_BUF_INIT;
	const struct dw_function *f = NULL;
	uint32_t function;
	int rc;

	if (!r->name && !r->function)
		return dw_error_set(err, DWELL_ERR_USAGE, "which function?");
	rc = dw_page_function(page, r, &function, err);
	if (rc)
		return rc;
	f = dw_functions_get(&page->profile.functions, function);
	if (r->name && strcmp(dw_strings_get(&page->profile.strings, f->name), r->name))
		dw_buf_puts(&word, r->name);
	else
		dw_function_word(&page->profile, function, &word);
	dw_out_puts(out, "\"word\": ");
	dw_format_json_string(out, dw_buf_str(&word));
	return word.failed ? dw_error_set(err, -ENOMEM, "out of memory") : 0;
}

int dw_page_op_annotate(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
			struct dw_error *err)
{
	const struct dw_view_ops *ops = r->kind && !strcmp(r->kind, "instructions")
						? &dw_view_annotated
						: &dw_view_source_annotated;
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_page_view *v;
	int rc = 0;

	if (!r->name && !r->function)
		rc = dw_error_set(err, DWELL_ERR_USAGE, "which function?");
	rc = rc ? rc : dw_page_columns(page, r, ops, columns, err);
	rc = rc ? rc : dw_page_view(page, r, ops, false, &v, err);
	if (rc)
		return rc;
	dw_out_printf(out, "\"id\": %u, \"rows\": ", v->key.function);
	rc = dw_page_put_rows(&v->view, columns, NULL, 0, v->view.n, out);
	dw_page_put_columns(columns, out);
	return rc ? dw_error_set(err, rc, "out of memory") : 0;
}
