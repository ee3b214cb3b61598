/*
 * The lines view of one function: its statements in the order of the source, for each process that
 * ran it; where the source is at hand, with the lines between them that were never seen.
 *
 * Debug information does not say where a function's text ends. It is taken to end with its last
 * statement seen, and where a line below begins like the declaration's but with a closing brace,
 * there.
 */
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/source-text.h"
#include "view/subject.h"
#include "view/views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	NO_TOTAL = UINT32_MAX,
	LINES_BELOW_MAX = 200, /* looked at for the closing brace */
	LINES_MAX = 100000,    /* of a function */
};

struct entry {
	uint32_t process;
	uint32_t total; /* index, or NO_TOTAL */
	uint32_t file, line, column;
};

struct listing {
	const struct dw_function *function;
	DW_VEC(struct entry) seen; /* of one process, in order */
	DW_VEC(struct entry) entries;
};

static int compare(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return (a->total > b->total) - (a->total < b->total);
}

static int list_seen(const struct dw_view *v, struct listing *l, uint32_t process)
{
	const struct dw_totals *t = v->request.totals;

	l->seen.n = 0;
	for (size_t i = 0; i < t->lines.n; i++) {
		const struct dw_line_total *line = &t->lines.v[i];
		const struct entry e = {process, (uint32_t)i, line->file, line->line, line->column};

		if (line->process == process && line->function == v->request.function &&
		    dw_vec_push(&l->seen, e))
			return -ENOMEM;
	}
	if (l->seen.n)
		qsort(l->seen.v, l->seen.n, sizeof *l->seen.v, compare);
	return 0;
}

static const char *text_of(const struct dw_view *v, uint32_t file, uint32_t line, size_t *n)
{
	const struct dw_source_text *s = v->request.source;

	return s && file && line ? s->line(s->ctx, file, line, n) : NULL;
}

/* How far the line is indented, *@ret_closes = whether a closing brace comes then. */
static size_t indentation(const char *text, size_t n, bool *ret_closes)
{
	size_t i = 0;

	while (i < n && (text[i] == ' ' || text[i] == '\t'))
		i++;
	*ret_closes = i < n && text[i] == '}';
	return i;
}

/* The last line of the function, whose statements were seen down to @last. */
static uint32_t last_line(const struct dw_view *v, const struct listing *l, uint32_t last)
{
	const struct dw_function *f = l->function;
	bool closes;
	size_t n, depth;
	const char *text = text_of(v, f->file, f->line, &n);

	if (!text)
		return last;
	depth = indentation(text, n, &closes);
	for (uint32_t line = last; line - last < LINES_BELOW_MAX; line++) {
		text = text_of(v, f->file, line, &n);
		if (!text)
			break;
		if (indentation(text, n, &closes) == depth && closes)
			return line;
	}
	return last;
}

/* The lines of the function's own file from its declaration on; seen ones as often as they have
 * statements. */
static int add_text(const struct dw_view *v, struct listing *l, uint32_t process)
{
	const struct dw_function *f = l->function;
	uint32_t first = f->line, last = f->line, end;
	size_t i = 0;
	int rc = 0;

	while (i < l->seen.n && l->seen.v[i].file != f->file)
		i++;
	for (size_t k = i; k < l->seen.n && l->seen.v[k].file == f->file; k++)
		last = l->seen.v[k].line > last ? l->seen.v[k].line : last;
	end = last - first < LINES_MAX ? last_line(v, l, last) : first;
	/* What is of no line, or of one above. */
	while (i < l->seen.n && l->seen.v[i].file == f->file && l->seen.v[i].line < first && !rc)
		rc = dw_vec_push(&l->entries, l->seen.v[i++]);
	for (uint32_t line = first; line <= end && !rc; line++) {
		const struct entry e = {process, NO_TOTAL, f->file, line, 0};
		size_t before = i, n;

		while (i < l->seen.n && l->seen.v[i].file == f->file && l->seen.v[i].line <= line &&
		       !rc)
			rc = dw_vec_push(&l->entries, l->seen.v[i++]);
		if (!rc && i == before && text_of(v, f->file, line, &n))
			rc = dw_vec_push(&l->entries, e);
	}
	return rc;
}

/* Statements of other files, which come by macros and includes, and all without a source. */
static int add_others(const struct dw_view *v, struct listing *l, bool has_text)
{
	int rc = 0;

	(void)v;
	dw_vec_each(e, &l->seen)
		if (!rc && (!has_text || e->file != l->function->file))
			rc = dw_vec_push(&l->entries, *e);
	return rc;
}

static int add_process(const struct dw_view *v, struct listing *l, uint32_t process)
{
	size_t n;
	bool has_text = text_of(v, l->function->file, l->function->line, &n);
	int rc = list_seen(v, l, process);

	if (!rc && has_text)
		rc = add_text(v, l, process);
	return rc ? rc : add_others(v, l, has_text);
}

static int open_listing(struct dw_view *v)
{
	struct listing *l = v->own = calloc(1, sizeof *l);
	int rc = l ? 0 : -ENOMEM;

	if (l)
		l->function = dw_functions_get(&v->request.profile->functions, v->request.function);
	dw_vec_each(total, &v->request.totals->functions)
		if (!rc && l->function && total->function == v->request.function)
			rc = add_process(v, l, total->process);
	if (!rc)
		rc = dw_order_all(v, l->entries.n);
	return rc || !v->request.sort ? rc : dw_order_sort(v, 0, v->n);
}

static void listing_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct listing *l = v->own;
	const struct entry *e = &l->entries.v[item];

	(void)scratch;
	ret->flags |= DWELL_ROW_IN_CONTEXT;
	if (e->total != NO_TOTAL) {
		dw_subject_line(v, &v->request.totals->lines.v[e->total], ret);
		return;
	}
	ret->flags |= DWELL_ROW_UNSEEN;
	dw_subject_statement(v,
			     &(struct dw_line_total){.process = e->process,
						     .function = v->request.function,
						     .file = e->file,
						     .line = e->line},
			     ret);
}

static void release_listing(struct dw_view *v)
{
	struct listing *l = v->own;

	if (l) {
		dw_vec_release(&l->seen);
		dw_vec_release(&l->entries);
	}
	free(l);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_LINE_BEGIN,
					  DWELL_COLUMN_SOURCE_TEXT, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_source_listing = {
	.name = "lines",
	.parts = DWELL_TOTALS_LINES | DWELL_TOTALS_FUNCTIONS,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LINE_BEGIN,
	.sites = DWELL_SITES_WITHOUT_STATEMENTS,
	.function = DWELL_FUNCTION_MUST,
	.open = open_listing,
	.row = listing_row,
	.release = release_listing,
};
