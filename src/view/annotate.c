/*
 * Annotated code: the lines and the instructions view of one function, with what was measured
 * beside, for each lane that ran it.
 *
 * Instructions are all of the function's, by address, those that were never seen too; where the
 * session does not hold its code, those that were seen. Statements come in the order of the source,
 * and where that is at hand, with the lines between them that were never seen. Debug information
 * does not say where a function's text ends. It is taken to end with its last statement seen, and
 * where a line below begins like the declaration's but with a closing brace, there.
 */
#include "analysis/disassembly.h"
#include "analysis/totals.h"
#include "view/rows.h"
#include "view/source-text.h"

#include <errno.h>
#include <stdlib.h>

enum {
	NO_TOTAL = UINT32_MAX,
	LINES_BELOW_MAX = 200, /* looked at for the closing brace */
	LINES_MAX = 100000,    /* of a function */
};

struct entry {
	uint32_t lane;
	uint32_t total;		     /* index, or NO_TOTAL */
	uint32_t file, line, column; /* of a statement */
	uint64_t svma;		     /* of an instruction */
};

struct annotated {
	const struct dw_function *function; /* NULL = not known */
	struct dw_disassembly code;	    /* of instructions */
	DW_VEC(struct entry) seen;	    /* of one lane, in order */
	DW_VEC(struct entry) entries;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = compare_numbers(a->file, b->file);

	c = c ? c : compare_numbers(a->line, b->line);
	c = c ? c : compare_numbers(a->column, b->column);
	c = c ? c : compare_numbers(a->svma, b->svma);
	return c ? c : compare_numbers(a->total, b->total);
}

typedef int add_lane_fn(const struct dw_view *v, struct annotated *a, uint32_t lane);

/* Make the entries of each lane that ran the function. */
static int add_lanes(struct dw_view *v, struct annotated *a, add_lane_fn *list_seen,
		     add_lane_fn *add)
{
	int rc = 0;

	dw_vec_each(total, &v->request.totals->functions) {
		if (rc || total->function != v->request.function)
			continue;
		a->seen.n = 0;
		rc = list_seen(v, a, total->lane);
		if (a->seen.n)
			qsort(a->seen.v, a->seen.n, sizeof *a->seen.v, compare);
		rc = rc ? rc : add(v, a, total->lane);
	}
	if (!rc)
		rc = dw_order_all(v, a->entries.n);
	return rc || !v->request.sort ? rc : dw_order_sort(v, 0, v->n);
}

static void release_annotated(struct dw_view *v)
{
	struct annotated *a = v->own;

	if (a) {
		dw_disassembly_release(&a->code);
		dw_vec_release(&a->seen);
		dw_vec_release(&a->entries);
	}
	free(a);
}

/* Whether the instruction at @svma of @module, whose innermost function is @innermost, is listed:
 * those of inlined functions are their outer function's, too. */
static bool is_listed(const struct dw_view *v, uint32_t module, uint64_t svma, uint32_t innermost)
{
	const struct annotated *a = v->own;
	const struct dw_code_stretch *s = dw_disassembly_find(&a->code, module, svma);
	const struct dw_function *f = a->function;

	if (innermost == v->request.function || (s && s->function == v->request.function))
		return true;
	return f && f->module == module && !(f->flags & DWELL_FUNCTION_INLINED) &&
	       svma >= f->svma && svma - f->svma < f->bytes;
}

static int list_instructions(const struct dw_view *v, struct annotated *a, uint32_t lane)
{
	const struct dw_totals *t = v->request.totals;

	for (uint32_t i = (uint32_t)dw_lane_first(&t->instructions, lane);
	     i < t->instructions.n && t->instructions.v[i].lane == lane; i++) {
		struct dw_row row = {0};

		dw_row_set_instruction(v, &t->instructions.v[i], &row);
		if (row.flags & DWELL_ROW_HAS_ADDRESS &&
		    is_listed(v, row.module, row.address, row.function) &&
		    dw_vec_push(&a->seen,
				(struct entry){.lane = lane, .total = i, .svma = row.address}))
			return -ENOMEM;
	}
	return 0;
}

/* All instructions of @s, from seen entry *@i on those that were seen. */
static int add_stretch(struct annotated *a, const struct dw_code_stretch *s, uint32_t lane,
		       size_t *i)
{
	for (uint64_t at = s->svma; at < s->end; at += dw_disassembly_step(s, at)) {
		struct entry e = {.lane = lane, .total = NO_TOTAL, .svma = at};

		while (*i < a->seen.n && a->seen.v[*i].svma < at)
			if (dw_vec_push(&a->entries, a->seen.v[(*i)++]))
				return -ENOMEM;
		if (*i < a->seen.n && a->seen.v[*i].svma == at)
			e.total = a->seen.v[(*i)++].total;
		if (dw_vec_push(&a->entries, e))
			return -ENOMEM;
	}
	return 0;
}

static int add_instructions(const struct dw_view *v, struct annotated *a, uint32_t lane)
{
	size_t i = 0;
	int rc = 0;

	dw_vec_each(s, &a->code.codes)
		if (!rc && s->function == v->request.function)
			rc = add_stretch(a, s, lane, &i);
	while (!rc && i < a->seen.n)
		rc = dw_vec_push(&a->entries, a->seen.v[i++]);
	return rc;
}

static int open_instructions(struct dw_view *v)
{
	struct annotated *a = v->own = calloc(1, sizeof *a);
	int rc = a ? dw_disassembly_init(&a->code, v->request.profile) : -ENOMEM;

	if (rc)
		return rc;
	a->function = dw_functions_get(&v->request.profile->functions, v->request.function);
	return add_lanes(v, a, list_instructions, add_instructions);
}

static void instruction_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			    struct dw_row *ret)
{
	const struct annotated *a = v->own;
	const struct entry *e = &a->entries.v[item];

	(void)scratch;
	ret->code = &a->code;
	if (e->total != NO_TOTAL) {
		dw_row_set_instruction(v, &v->request.totals->instructions.v[e->total], ret);
		return;
	}
	dw_row_set_lane(v, e->lane, ret);
	dw_row_set_function(v, v->request.function, ret);
	ret->name = DWELL_NAME_ADDRESS;
	ret->flags |= DWELL_ROW_HAS_ADDRESS | DWELL_ROW_UNSEEN;
	ret->address = e->svma;
}

static const enum dw_column instruction_columns[] = {DWELL_COLUMNS_INSTRUCTION, DWELL_COLUMN_COUNTS,
						     DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column instruction_defaults[] = {
	DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_DEFAULT_LANE, DWELL_COLUMN_INSTRUCTION_ADDRESS,
	DWELL_COLUMN_LINE_BEGIN,     DWELL_COLUMN_INSTRUCTION,	DWELL_COLUMN_END};

const struct dw_view_ops dw_view_annotated = {
	.name = "instructions",
	.splits = true,
	.parts = DWELL_TOTALS_INSTRUCTIONS | DWELL_TOTALS_FUNCTIONS,
	.columns = instruction_columns,
	.defaults = instruction_defaults,
	.sort = DWELL_COLUMN_INSTRUCTION_ADDRESS,
	.sites = DWELL_SITES_ALWAYS,
	.function = DWELL_FUNCTION_MUST,
	.open = open_instructions,
	.row = instruction_row,
	.release = release_annotated,
};

static int list_lines(const struct dw_view *v, struct annotated *a, uint32_t lane)
{
	const struct dw_totals *t = v->request.totals;

	for (uint32_t i = (uint32_t)dw_lane_first(&t->lines, lane);
	     i < t->lines.n && t->lines.v[i].lane == lane; i++) {
		const struct dw_line_total *line = &t->lines.v[i];
		const struct entry e = {lane, i, line->file, line->line, line->column, 0};

		if (line->function == v->request.function && dw_vec_push(&a->seen, e))
			return -ENOMEM;
	}
	return 0;
}

static const char *text_of(const struct dw_view *v, uint32_t file, uint32_t line, size_t *n)
{
	struct dw_source_text *s = v->request.source;

	return s && file && line ? dw_source_text_line(s, file, line, n) : NULL;
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
static uint32_t last_line(const struct dw_view *v, const struct annotated *a, uint32_t last)
{
	const struct dw_function *f = a->function;
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
static int add_text(const struct dw_view *v, struct annotated *a, uint32_t lane)
{
	const struct dw_function *f = a->function;
	uint32_t first = f->line, last = f->line, end;
	size_t i = 0;
	int rc = 0;

	while (i < a->seen.n && a->seen.v[i].file != f->file)
		i++;
	for (size_t k = i; k < a->seen.n && a->seen.v[k].file == f->file; k++)
		last = a->seen.v[k].line > last ? a->seen.v[k].line : last;
	end = last - first < LINES_MAX ? last_line(v, a, last) : first;
	/* What is of no line, or of one above. */
	while (i < a->seen.n && a->seen.v[i].file == f->file && a->seen.v[i].line < first && !rc)
		rc = dw_vec_push(&a->entries, a->seen.v[i++]);
	for (uint32_t line = first; line <= end && !rc; line++) {
		const struct entry e = {lane, NO_TOTAL, f->file, line, 0, 0};
		size_t before = i, n;

		while (i < a->seen.n && a->seen.v[i].file == f->file && a->seen.v[i].line <= line &&
		       !rc)
			rc = dw_vec_push(&a->entries, a->seen.v[i++]);
		if (!rc && i == before && text_of(v, f->file, line, &n))
			rc = dw_vec_push(&a->entries, e);
	}
	return rc;
}

/* Statements of other files, which come by macros and includes, and all without a source. */
static int add_others(struct annotated *a, bool has_text)
{
	int rc = 0;

	dw_vec_each(e, &a->seen)
		if (!rc && (!has_text || e->file != a->function->file))
			rc = dw_vec_push(&a->entries, *e);
	return rc;
}

static int add_lines(const struct dw_view *v, struct annotated *a, uint32_t lane)
{
	size_t n;
	bool has_text = text_of(v, a->function->file, a->function->line, &n);
	int rc = has_text ? add_text(v, a, lane) : 0;

	return rc ? rc : add_others(a, has_text);
}

static int open_lines(struct dw_view *v)
{
	struct annotated *a = v->own = calloc(1, sizeof *a);

	if (!a)
		return -ENOMEM;
	a->function = dw_functions_get(&v->request.profile->functions, v->request.function);
	return a->function ? add_lanes(v, a, list_lines, add_lines) : dw_order_all(v, 0);
}

static void line_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	const struct annotated *a = v->own;
	const struct entry *e = &a->entries.v[item];

	(void)scratch;
	ret->flags |= DWELL_ROW_IN_CONTEXT;
	if (e->total != NO_TOTAL) {
		dw_row_set_line(v, &v->request.totals->lines.v[e->total], ret);
		return;
	}
	ret->flags |= DWELL_ROW_UNSEEN;
	dw_row_set_statement(v,
			     &(struct dw_line_total){.lane = e->lane,
						     .function = v->request.function,
						     .file = e->file,
						     .line = e->line},
			     ret);
}

static const enum dw_column line_columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMN_COUNTS,
					      DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column line_defaults[] = {DWELL_COLUMN_DEFAULT_VALUES,
					       DWELL_COLUMN_DEFAULT_LANE, DWELL_COLUMN_LINE_BEGIN,
					       DWELL_COLUMN_SOURCE_TEXT, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_source_annotated = {
	.name = "lines",
	.splits = true,
	.parts = DWELL_TOTALS_LINES | DWELL_TOTALS_FUNCTIONS,
	.columns = line_columns,
	.defaults = line_defaults,
	.sort = DWELL_COLUMN_LINE_BEGIN,
	.sites = DWELL_SITES_WITHOUT_STATEMENTS,
	.function = DWELL_FUNCTION_MUST,
	.open = open_lines,
	.row = line_row,
	.release = release_annotated,
};
