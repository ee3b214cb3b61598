/* Places; see place.h. */
#include "tui/place.h"

#include "format/text.h"
#include "tui/remember.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BROKEN_INDENT = 4 };

bool dw_place_is_tree(const struct dw_place *p)
{
	return p->ops->tree != DWELL_COLUMN_END;
}

bool dw_place_may_fold(const struct dw_place *p, const struct dw_place_sources *s)
{
	return dw_view_may_fold(p->ops, s->profile,
				p->root || s->selection->lists[DWELL_FILTER_MODULE].words.n);
}

struct dw_totals_wanted dw_place_wants(const struct dw_place *p, const struct dw_place_sources *s)
{
	struct dw_totals_wanted wanted = {.parts = dw_view_parts(p->ops, s->profile),
					  .root = p->root,
					  .hot_path = p->ops->has_notes,
					  .folds = !s->shows_all_code && dw_place_may_fold(p, s),
					  .latency = dw_columns_want_latency(p->chosen, p->sort)};

	if (wanted.folds && dw_is_opened(s->profile, p->function))
		wanted.opened = p->function;
	return wanted;
}

/* A call tree begins with what is heaviest in it, others with their roots. */
static int begin_tree(struct dw_place *p)
{
	bool has_paths = p->ops->parts & (DWELL_TOTALS_NODES | DWELL_TOTALS_PATHS);
	size_t last;
	int rc = dw_unfold_init(&p->tree, &p->view);

	if (!rc && p->is_kept)
		return dw_place_unfold_again(p);
	return rc || !p->view.n || !has_paths ? rc : dw_unfold_hot_path(&p->tree, 0, &last);
}

static bool is_annotated(const struct dw_place *p)
{
	return p->ops == &dw_view_annotated || p->ops == &dw_view_source_annotated;
}

/* In code one begins where most of the work is. */
static size_t hottest_row(const struct dw_place *p)
{
	struct dw_buf scratch = DW_BUF_INIT;
	uint64_t most = 0;
	size_t hottest = 0;

	for (size_t i = 0; i < p->view.n; i++) {
		uint64_t own = dw_view_values(&p->view, i, &scratch).exclusive;

		if (own > most) {
			most = own;
			hottest = i;
		}
	}
	dw_buf_release(&scratch);
	return hottest;
}

/* Between callers and callees one begins at the function itself. */
static size_t current_row(const struct dw_place *p)
{
	struct dw_buf scratch = DW_BUF_INIT;
	struct dw_row row = {.type = DWELL_ROW_CALLER};
	size_t i = 0;

	while (i < p->view.n) {
		dw_view_row(&p->view, i, &scratch, &row);
		if (row.type == DWELL_ROW_CURRENT)
			break;
		i++;
	}
	dw_buf_release(&scratch);
	return i < p->view.n ? i : 0;
}

int dw_place_open(struct dw_place *p, const struct dw_place_sources *s)
{
	struct dw_view_request request = {
		.profile = s->profile,
		.filter = &s->selection->filter.filter,
		.function = p->function,
		.unfolding = dw_place_is_tree(p),
		.source = s->source,
		.sort = p->sort,
		.reverse = p->reverse,
	};
	const struct dw_totals_wanted wanted = dw_place_wants(p, s);
	const struct dw_folded_kept *folded = dw_totals_store_folded(s->totals, &wanted);
	const struct dw_totals_kept *kept;
	int rc;

	if (p->is_open)
		return 0;
	kept = dw_totals_store_find(s->totals, s->selection, &wanted);
	if (!kept)
		return -EAGAIN;
	request.totals = &kept->totals;
	if (folded) {
		request.profile = &folded->folded.profile;
		request.folded = folded->folded.paths;
	}
	rc = dw_view_open(&p->view, p->ops, &request);
	p->is_open = true;
	if (!rc && dw_place_is_tree(p))
		rc = begin_tree(p);
	if (rc)
		dw_place_close(p);
	if (!rc && !p->ops->has_notes)
		dw_place_recall(p);
	if (p->cursor >= p->view.n)
		p->cursor = p->top = 0;
	if (!rc && !p->cursor && is_annotated(p) && !p->is_kept)
		p->cursor = hottest_row(p);
	if (!rc && !p->cursor && p->function && p->ops == &dw_view_callers && !p->is_kept)
		p->cursor = current_row(p);
	p->is_kept = !rc && p->ops->has_notes && p->is_kept; /* its lines are still to be made */
	return rc;
}

void dw_lines_release(struct dw_lines *l)
{
	dw_buf_release(&l->text);
	dw_vec_release(&l->rows);
	dw_vec_release(&l->marks.rows);
	*l = (struct dw_lines){0};
}

void dw_place_close(struct dw_place *p)
{
	if (p->is_open) {
		dw_unfold_release(&p->tree);
		dw_view_release(&p->view);
	}
	dw_lines_release(&p->lines);
	memset(p->width, 0, sizeof p->width);
	p->is_open = false;
}

void dw_place_release(struct dw_place *p)
{
	dw_place_close(p);
	dw_vec_release(&p->was);
	dw_vec_release(&p->unfolded);
}

void dw_place_renew(struct dw_place *p)
{
	if (p->is_open && dw_columns_want_latency(p->chosen, p->sort) &&
	    !dw_totals_has(p->view.request.totals, DWELL_MEASURE_LATENCY))
		dw_place_close(p);
}

int dw_place_sort(struct dw_place *p, enum dw_column column, bool reverse,
		  const struct dw_place_sources *s)
{
	p->sort = column;
	p->reverse = reverse;
	p->cursor = p->top = 0;
	dw_place_renew(p);
	if (p->is_open && dw_place_is_tree(p)) {
		p->view.request.sort = column;
		p->view.request.reverse = reverse;
		return dw_unfold_sort(&p->tree);
	}
	dw_place_close(p);
	return dw_place_open(p, s);
}

enum dw_column dw_place_sorted_by(const struct dw_place *p)
{
	return p->sort || !p->is_open ? p->sort : dw_view_sorted_by(&p->view);
}

/* The row of the view at the cursor, of lines that of the line. */
static bool find_row(const struct dw_place *p, size_t *ret)
{
	*ret = p->cursor;
	if (!p->ops->has_notes)
		return p->is_open && p->cursor < p->view.n;
	dw_vec_each(mark, &p->lines.marks.rows)
		if (mark->at == p->cursor) {
			*ret = mark->row;
			return p->is_open && *ret < p->view.n;
		}
	return false;
}

bool dw_place_row(const struct dw_place *p, struct dw_buf *scratch, struct dw_row *ret)
{
	size_t i;

	if (!find_row(p, &i))
		return false;
	dw_view_row(&p->view, i, scratch, ret);
	return true;
}

/* Where @text, wider than @width, can be broken: the blank before that, NULL = nowhere. */
static char *find_break(char *text, size_t width)
{
	size_t columns = 0;
	char *blank = NULL;

	for (const char *at = text; *at && columns <= width;) {
		if (*at == ' ' && at > text && at[-1] != ' ')
			blank = text + (at - text);
		columns += dw_text_width(dw_text_next(&at));
	}
	return columns > width ? blank : NULL;
}

/* One line, and what of it must go into more. */
static int add_line(struct dw_lines *l, size_t at, size_t width)
{
	struct dw_line line = {.at = at};
	int rc = dw_vec_push(&l->rows, line);

	for (char *blank; !rc && line.indent < width; line.indent = BROKEN_INDENT) {
		blank = find_break(l->text.data + line.at, width - line.indent);
		if (!blank)
			break;
		*blank = 0;
		line.at = (size_t)(blank + 1 - l->text.data);
		line.indent = BROKEN_INDENT;
		rc = dw_vec_push(&l->rows, line);
	}
	return rc;
}

int dw_lines_set(struct dw_lines *l, struct dw_out *out, size_t width)
{
	size_t at = 0;
	int rc = dw_out_flush(out);

	dw_buf_release(&l->text);
	l->rows.n = 0;
	l->text = out->buf;
	out->buf = (struct dw_buf)DW_BUF_INIT;
	while (at < l->text.len && !rc) {
		char *start = l->text.data + at, *stop = memchr(start, '\n', l->text.len - at);
		size_t next = stop ? (size_t)(stop - l->text.data) + 1 : l->text.len;

		if (stop)
			*stop = 0;
		rc = add_line(l, at, width);
		at = next;
	}
	return rc;
}

const char *dw_lines_get(const struct dw_lines *l, size_t i)
{
	return i < l->rows.n ? l->text.data + l->rows.v[i].at : "";
}

/* From bytes to lines. */
static void set_marks(struct dw_lines *l)
{
	size_t line = 0;

	dw_vec_each(mark, &l->marks.rows) {
		while (line + 1 < l->rows.n && l->rows.v[line + 1].at <= mark->at)
			line++;
		mark->at = line;
	}
}

/* What was recorded stands above all places already. */
static void drop_title(struct dw_lines *l)
{
	if (l->rows.n)
		memmove(l->rows.v, l->rows.v + 1, --l->rows.n * sizeof *l->rows.v);
	dw_vec_each(mark, &l->marks.rows)
		mark->at -= mark->at > 0;
}

/* Which of the marks the cursor is on. */
static size_t marked(const struct dw_place *p)
{
	size_t i = 0;

	while (i < p->lines.marks.rows.n && p->lines.marks.rows.v[i].at != p->cursor)
		i++;
	return i < p->lines.marks.rows.n ? i : 0;
}

int dw_place_write_lines(struct dw_place *p, size_t width)
{
	const struct dw_format_job job = {.view = &p->view, .width = width, .details = true};
	size_t mark = marked(p);
	struct dw_out out;
	int rc;

	if (p->lines.width == width)
		return 0;
	dw_lines_release(&p->lines);
	dw_out_init_buffer(&out);
	dw_summary_write(&job, &out, &p->lines.marks);
	rc = dw_lines_set(&p->lines, &out, width);
	dw_out_close(&out);
	set_marks(&p->lines);
	drop_title(&p->lines);
	p->lines.width = width;
	p->top = 0;
	p->cursor = mark < p->lines.marks.rows.n ? p->lines.marks.rows.v[mark].at : 0;
	if (p->is_kept)
		dw_place_recall_line(p);
	p->is_kept = false;
	return rc;
}
