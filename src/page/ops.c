/* Requests by their names, and what all of them have: errors, and the words for views, columns and
 * functions. */
#include "page/page-internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	dw_page_op_fn *answer;
} ops[] = {
	{"open", dw_page_op_open},	   {"summary", dw_page_op_summary},
	{"report", dw_page_op_report},	   {"rows", dw_page_op_rows},
	{"tree", dw_page_op_tree},	   {"hotpath", dw_page_op_hotpath},
	{"flame", dw_page_op_flame},	   {"function", dw_page_op_function},
	{"annotate", dw_page_op_annotate}, {"timeline", dw_page_op_timeline},
	{"word", dw_page_op_word},
};

static int answer(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		  struct dw_error *err)
{
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (!strcmp(ops[i].name, r->op))
			return ops[i].answer(page, r, out, err);
	return dw_error_set(err, DWELL_ERR_USAGE, "unknown op '%s'", r->op);
}

void dw_page_answer(struct dw_page *page, const char *text, size_t n, struct dw_out *out)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_page_request r;
	size_t begin = out->buf.len;
	int rc = dw_page_request_read(&r, text, n, &err);

	/* What was written is looked at again, and taken back. */
	assert(out->fd < 0);
	dw_out_puts(out, "{");
	/* Which columns there are depends on what was loaded. */
	if (!rc && strcmp(r.op, "open"))
		rc = dw_page_select(page, &r, &err);
	rc = rc ? rc : answer(page, &r, out, &err);
	if (rc) {
		/* Half an answer is none. */
		out->buf.len = begin;
		dw_out_puts(out, "{\"error\": ");
		dw_format_json_string(out, dw_error_message(&err));
	}
	dw_out_puts(out, "}\n");
	dw_page_request_release(&r);
	dw_error_clear(&err);
}

int dw_page_find_view(const struct dw_page *page, const struct dw_page_request *r,
		      const struct dw_view_ops **ret, struct dw_error *err)
{
	const struct dw_view_ops *view = r->view ? dw_view_find(r->view) : NULL;
	bool has_function = r->name || r->function;

	if (!view)
		return dw_error_set(err, DWELL_ERR_USAGE, "unknown view '%s'",
				    r->view ? r->view : "");
	if (!dw_view_suits(view, &page->profile))
		return dw_error_set(err, DWELL_ERR_USAGE, "the session has nothing for the view %s",
				    view->name);
	if (view->function == DWELL_FUNCTION_MUST && !has_function)
		return dw_error_set(err, DWELL_ERR_USAGE, "the view %s needs a function",
				    view->name);
	if (view->function == DWELL_FUNCTION_NEVER && has_function)
		return dw_error_set(err, DWELL_ERR_USAGE, "the view %s takes no function",
				    view->name);
	if (view == &dw_view_file_io && (r->from_ns || r->until_ns))
		return dw_error_set(
			err, DWELL_ERR_USAGE,
			"when files were read is not known, so no range of time can be shown");
	*ret = has_function && view->with_function ? view->with_function : view;
	return 0;
}

int dw_page_by(const struct dw_page_request *r, const struct dw_view_ops *view, enum dw_by *ret,
	       struct dw_error *err)
{
	*ret = DWELL_BY_NONE;
	return r->by ? dw_view_read_by(view, "by", r->by, ret, err) : 0;
}

int dw_page_columns(const struct dw_page *page, const struct dw_page_request *r,
		    const struct dw_view_ops *view, enum dw_column *ret, struct dw_error *err)
{
	enum dw_column all[DWELL_COLUMNS_N];
	enum dw_by by;
	size_t n = 0;
	int rc = dw_page_by(r, view, &by, err);

	if (rc)
		return rc;
	dw_view_columns(view, &page->profile, by, false, all);
	if (!r->has_columns) {
		memcpy(ret, all, sizeof all);
		if (strcmp(r->op, "annotate"))
			dw_columns_drop(ret, DWELL_COLUMN_SOURCE_TEXT);
		dw_columns_drop_derived(ret);
		return 0;
	}
	for (size_t i = 0; i < r->columns.n && n + 1 < DWELL_COLUMNS_N; i++) {
		const char *name = r->columns.v[i];

		ret[n] = dw_view_find_column(&page->profile, all, name, strlen(name));
		if (!ret[n++])
			return dw_error_set(err, DWELL_ERR_USAGE, "the view %s has no column '%s'",
					    view->name, name);
	}
	ret[n] = DWELL_COLUMN_END;
	return 0;
}

int dw_page_function(const struct dw_page *page, const struct dw_page_request *r, uint32_t *ret,
		     struct dw_error *err)
{
	if (!r->function)
		return dw_match_function(&page->profile, r->name, ret, err);
	if (r->function > dw_functions_count(&page->profile.functions))
		return dw_error_set(err, DWELL_ERR_NOT_FOUND, "there is no function %llu",
				    (unsigned long long)r->function);
	*ret = (uint32_t)r->function;
	return 0;
}
