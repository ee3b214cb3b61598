/*
 * Moving the cursor; see move.h. Lines of text are scrolled; the cursor goes from one that is about
 * a row to the next, as long as that is in sight.
 */
#include "tui/move.h"

#include <stdint.h>

static size_t moved(size_t at, enum dw_move by, bool back, size_t page, size_t last)
{
	size_t step = by == DWELL_MOVE_ROW ? 1 : by == DWELL_MOVE_PAGE ? page : SIZE_MAX;

	if (back)
		return at > step ? at - step : 0;
	return last - at > step ? at + step : last;
}

/* The mark next to the cursor, SIZE_MAX = there is none. */
static size_t next_mark(const struct dw_place *p, bool back)
{
	size_t found = SIZE_MAX;

	dw_vec_each(mark, &p->lines.marks.rows) {
		if (back && mark->at < p->cursor)
			found = mark->at;
		if (!back && mark->at > p->cursor)
			return mark->at;
	}
	return found;
}

/* Put the cursor on a mark in sight, if there is one and it is on none. */
static void settle(struct dw_place *p, size_t page)
{
	size_t best = SIZE_MAX;

	dw_vec_each(mark, &p->lines.marks.rows) {
		bool is_in_sight = mark->at >= p->top && mark->at < p->top + page;

		if (is_in_sight && (best == SIZE_MAX || mark->at <= p->cursor))
			best = mark->at;
	}
	if (best != SIZE_MAX)
		p->cursor = best;
}

static void move_lines(struct dw_place *p, enum dw_move by, bool back, size_t page)
{
	size_t n = p->lines.rows.n, mark = next_mark(p, back);

	if (by == DWELL_MOVE_ROW && mark != SIZE_MAX && mark >= p->top && mark < p->top + page) {
		p->cursor = mark;
		return;
	}
	p->top = moved(p->top, by, back, page, n > page ? n - page : 0);
	if (by == DWELL_MOVE_ALL)
		p->cursor = back ? 0 : n;
	settle(p, page);
}

void dw_place_move(struct dw_place *p, enum dw_move by, bool back, size_t page)
{
	if (p->ops->has_notes)
		return move_lines(p, by, back, page);
	if (p->view.n)
		p->cursor = moved(p->cursor, by, back, page, p->view.n - 1);
}
