/* Rows that are found again; see remember.h. What a row is about says which it is, not its values.
 */
#include "tui/remember.h"

#include <string.h>

/* Numbers of processes do not count where a row is about something else: that of a function is 0 as
 * long as several processes have it. */
static struct dw_row_about about(const struct dw_row *row)
{
	struct dw_row_about a = {.name = row->name, .type = row->type};

	if (row->name == DWELL_NAME_PROCESS)
		a.id = row->process;
	else if (row->name == DWELL_NAME_THREAD)
		a.id = row->thread;
	else if (row->name == DWELL_NAME_MODULE)
		a.id = row->module;
	else if (row->name == DWELL_NAME_CLASS)
		a.id = row->class_of;
	else
		a.id = row->function;
	if (row->flags & DWELL_ROW_HAS_LINE) {
		a.file = row->file;
		a.line = row->line;
		a.column = row->column;
	}
	if (row->flags & DWELL_ROW_HAS_ADDRESS)
		a.place = row->address;
	else if (row->flags & DWELL_ROW_HAS_BEGIN)
		a.place = row->begin_ns;
	return a;
}

static bool is_same(const struct dw_row_about *a, const struct dw_row_about *b)
{
	return a->name == b->name && a->type == b->type && a->id == b->id && a->file == b->file &&
	       a->line == b->line && a->column == b->column && a->place == b->place;
}

static struct dw_row_about about_row(const struct dw_place *p, size_t i, struct dw_buf *scratch)
{
	struct dw_row row;

	dw_view_row(&p->view, i, scratch, &row);
	return about(&row);
}

static size_t level_of(const struct dw_place *p, size_t i)
{
	return dw_place_is_tree(p) ? p->tree.level[p->view.items[i]] : 0;
}

void dw_place_remember(struct dw_place *p)
{
	struct dw_buf scratch = DW_BUF_INIT;
	size_t at = p->cursor, n;

	p->was.n = 0;
	p->was_below_top = p->cursor >= p->top ? p->cursor - p->top : 0;
	if (!p->is_open || p->ops->has_notes || p->cursor >= p->view.n)
		return;
	n = level_of(p, at) + 1;
	if (dw_vec_reserve(&p->was, n))
		return;
	p->was.n = n;
	for (; n-- > 0; at = n ? dw_unfold_parent(&p->tree, at) : 0)
		p->was.v[n] = about_row(p, at, &scratch);
	dw_buf_release(&scratch);
}

void dw_place_remember_moved(struct dw_place *p)
{
	if (p->is_open && p->cursor)
		dw_place_remember(p);
}

/* The row from @from on that is @wanted among those of @level, before one that is further out.
 * SIZE_MAX = there is none. */
static size_t find(const struct dw_place *p, size_t from, size_t level,
		   const struct dw_row_about *wanted)
{
	struct dw_buf scratch = DW_BUF_INIT;
	size_t found = SIZE_MAX;

	for (size_t i = from; i < p->view.n && level_of(p, i) >= level && found == SIZE_MAX; i++) {
		struct dw_row_about row;

		if (level_of(p, i) > level)
			continue;
		row = about_row(p, i, &scratch);
		if (is_same(&row, wanted))
			found = i;
	}
	dw_buf_release(&scratch);
	return found;
}

bool dw_place_recall(struct dw_place *p)
{
	size_t from = 0, at = 0;

	if (!p->was.n)
		return false;
	for (size_t level = 0; level < p->was.n; level++) {
		size_t i = find(p, from, level, &p->was.v[level]);

		if (i == SIZE_MAX)
			break;
		at = i;
		from = i + 1;
		if (level + 1 < p->was.n && dw_unfold_open(&p->tree, i))
			break;
	}
	p->cursor = at;
	p->top = at > p->was_below_top ? at - p->was_below_top : 0;
	p->was.n = 0;
	return true;
}
