/* Interning of cells' lines; see cell-lines.h. */
#include "collect/calls/cell-lines.h"

#include <errno.h>
#include <string.h>

/* Whether @n lines that follow @line mean nothing yet. */
static bool has_room(const struct dw_call_lines *s, uint32_t line, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		if (!dw_call_lines_is_unknown(s, line + i))
			return false;
	return true;
}

/*
 * These lines may have been read while they were written: the beginning as it was before, nothing,
 * and the end, which is written last, as it is now. By now all of them is there.
 */
int dw_cell_lines_add_callee(struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_callee callee;
	struct dw_call_line found = {.kind = DWELL_LINE_CALLEE};

	if (!has_room(s, line, DWELL_CALLEE_LINES - 1))
		return 0;
	if (!dw_arena_get(&s->arena, s->fd, line, DWELL_CALLEE_LINES, &callee) ||
	    callee.thread >= s->lines.n || s->lines.v[callee.thread].kind != DWELL_LINE_THREAD)
		return dw_call_lines_wait(s, line);
	found.callee = dw_call_lines_callee(s, callee.key, s->lines.v[callee.thread].id);
	for (uint32_t i = 0; i < DWELL_CALLEE_LINES; i++)
		s->lines.v[line + i] = found;
	return found.callee ? 0 : -ENOMEM;
}

/* The callee of the record or cell at @line. */
static const struct dw_call_callee *callee_of(const struct dw_call_lines *s, uint32_t line)
{
	return &s->callees.v[s->lines.v[line].callee - 1];
}

/* The line of the function's record, where that at @line is of one of its statements. 0 = it is not
 * known yet. */
static uint32_t function_at(const struct dw_call_lines *s, uint32_t line)
{
	return dw_key_is_line(dw_call_lines_key(s, line)) ? s->lines.v[line].parent : line;
}

/* The module that frame @id lies in, 0 = none. */
static uint32_t module_of(const struct dw_call_lines *s, uint32_t id)
{
	const struct dw_frame *frame = dw_frames_get(&s->p->frames, id);

	return frame ? frame->module : 0;
}

/* Name the call that the cell @cell is, by the function whose record is at @caller; *@passed as in
 * struct dw_call_line. */
static int name_cell(struct dw_call_lines *s, const struct dw_tree_cell *cell, uint32_t caller,
		     struct dw_call_node *row, uint8_t *passed)
{
	const struct dw_region_names *names = &s->names;
	const struct dw_call_callee *callee = callee_of(s, cell->callee);
	struct dw_call_thread *t = dw_call_lines_thread(s, caller);
	struct dw_region_site site = {0};
	int rc = 0;

	*row = (struct dw_call_node){.thread = t->id,
				     .parent = t->root_node,
				     .caller = callee_of(s, caller)->entry,
				     .entry = callee->entry,
				     .flags = DWELL_CALL_OVERFLOW};
	if (dw_key_is_line(cell->key)) {
		row->flags |= DWELL_CALL_LINE;
		return 0;
	}
	row->flags |= callee->is_external ? DWELL_CALL_EXTERNAL : 0;
	if (cell->site)
		rc = names->site(names->ctx, dw_call_lines_key(s, caller), cell->site,
				 !callee->is_external, &site);
	row->site = site.frame;
	*passed = callee->is_external ? 0 : (uint8_t)site.trampolines;
	row->flags |= DWELL_CALL_OUTERMOST_FUNCTION | DWELL_CALL_OUTERMOST_EDGE |
		      DWELL_CALL_OUTERMOST_SITE;
	/* Whether its module was called already by another one farther out is not known, and of
	 * calls whose callers had no room not even that. */
	if (cell->site != DWELL_SITE_NONE &&
	    (!row->caller || module_of(s, row->caller) != module_of(s, row->entry)))
		row->flags |= DWELL_CALL_OUTERMOST_MODULE;
	return rc;
}

/* The root of the cells that the thread of @caller has is its root node once more. */
static int add_root(struct dw_call_lines *s, uint32_t line, const struct dw_tree_cell *cell)
{
	struct dw_call_line *l = &s->lines.v[line];

	l->id = dw_call_lines_thread(s, cell->caller)->root_node;
	l->parent = cell->callee;
	l->callee = s->lines.v[cell->callee].callee;
	l->kind = DWELL_LINE_ROOT;
	return dw_call_lines_count(s, line, (const struct dw_tree_node *)cell);
}

/* The thread that has @t's cells, and the node there that stands for them. */
static int begin_cells(struct dw_call_lines *s, struct dw_call_thread *t)
{
	struct dw_call_node row = {
		.thread = t->id, .parent = t->root_node, .flags = DWELL_CALL_TRUNCATED};

	return t->cells_node ? 0 : dw_calls_add(&s->p->calls, &row, &t->cells_node);
}

/* Both nodes of @row, a cell's. */
static int add_rows(struct dw_call_lines *s, struct dw_call_node *row, uint32_t *ret)
{
	uint32_t second;
	int rc = dw_calls_add(&s->p->calls, row, ret);

	if (rc || row->flags & DWELL_CALL_LINE)
		return rc;
	row->flags |= DWELL_CALL_INCLUSIVE;
	return dw_calls_add(&s->p->calls, row, &second);
}

int dw_cell_lines_add(struct dw_call_lines *s, uint32_t line, const struct dw_tree_cell *cell)
{
	enum dw_line_kind kind = DWELL_LINE_CELL;
	struct dw_tree_cell kept = *cell;
	struct dw_call_line *l = &s->lines.v[line];
	struct dw_call_node row;
	uint8_t passed = 0;
	uint32_t id;
	int rc;

	kept.caller = function_at(s, cell->caller);
	if (!kept.caller || cell->callee >= s->lines.n || dw_call_lines_is_unknown(s, cell->callee))
		return dw_call_lines_wait(s, line);
	if (s->lines.v[cell->callee].kind != DWELL_LINE_CALLEE)
		return 0;
	if (cell->key == DWELL_KEY_ROOT)
		return add_root(s, line, cell);
	rc = name_cell(s, cell, kept.caller, &row, &passed);
	if (row.flags & DWELL_CALL_LINE) {
		s->lines.v[cell->callee].parent = kept.caller;
		kind = DWELL_LINE_CELL_STATEMENT;
	} else if (row.flags & DWELL_CALL_EXTERNAL) {
		kind = DWELL_LINE_CELL_EXTERNAL;
	}
	if (!rc)
		rc = begin_cells(s, dw_call_lines_thread(s, kept.caller));
	if (!rc)
		rc = add_rows(s, &row, &id);
	if (!rc)
		rc = dw_call_lines_keep(s, line, kind, id, (const void *)&kept);
	if (rc)
		return rc;
	l->callee = s->lines.v[cell->callee].callee;
	l->site = cell->site;
	l->passed = passed;
	s->cells++;
	return dw_call_lines_count(s, line, (const struct dw_tree_node *)cell);
}

static struct dw_tree_cell cell_at(const struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_cell cell;

	dw_call_lines_get(s, line, 1, &cell);
	return cell;
}

uint32_t dw_cell_lines_caller(const struct dw_call_lines *s, uint32_t line)
{
	return cell_at(s, line).caller;
}

uint32_t dw_cell_lines_callee(const struct dw_call_lines *s, uint32_t line)
{
	return dw_line_is_cell(s->lines.v[line].kind) ? cell_at(s, line).callee
						      : s->lines.v[line].parent;
}

/* Whether @cell's inner calls stand on lines that were not there when it was read last. */
static bool has_new_inner(const struct dw_call_lines *s, const struct dw_tree_cell *cell)
{
	return cell->inner && (cell->inner >= s->lines.n || !s->lines.v[cell->inner].id);
}

int dw_cell_lines_take(struct dw_call_lines *s, uint32_t line, const struct dw_tree_cell *now)
{
	struct dw_tree_cell cell = *now, known = cell_at(s, line);

	cell.key = known.key;
	cell.site = known.site;
	cell.caller = known.caller;
	cell.callee = known.callee;
	if (!memcmp(&cell, &known, sizeof cell) && !has_new_inner(s, &cell))
		return 0;
	if (dw_call_lines_set(s, line, (const void *)&cell))
		return -ENOMEM;
	return dw_call_lines_count(s, line, (const struct dw_tree_node *)&cell);
}

bool dw_cell_lines_is_callers(const struct dw_call_lines *s, uint32_t line)
{
	return s->lines.v[line].kind == DWELL_LINE_CELL_STATEMENT ||
	       s->lines.v[line].site != DWELL_SITE_NONE;
}

/* Whether the cell at @line may be the last of a path that goes on from @parent: one of the same
 * thread, a statement after its function. */
static bool is_path(struct dw_call_lines *s, uint32_t line, uint32_t parent)
{
	enum dw_line_kind kind = s->lines.v[line].kind;
	uint32_t above;

	if (!parent) /* a thread's own root has no record */
		return kind == DWELL_LINE_ROOT && s->lines.v[line].parent;
	if (s->lines.v[parent].kind != DWELL_LINE_DRAWN || !dw_line_is_cell(kind))
		return false;
	above = s->drawn.v[s->lines.v[parent].state - 1].cell;
	if (kind == DWELL_LINE_CELL_STATEMENT)
		return s->lines.v[above].kind == DWELL_LINE_CELL &&
		       dw_cell_lines_callee(s, above) == dw_cell_lines_caller(s, line);
	return dw_call_lines_thread(s, above) == dw_call_lines_thread(s, line);
}

/* The node of the path @drawn, which goes on from another. */
static int add_path(struct dw_call_lines *s, const struct dw_tree_drawn *drawn, uint32_t *ret)
{
	struct dw_tree_cell cell = cell_at(s, (uint32_t)drawn->cell);
	struct dw_call_node row;
	uint8_t passed = 0;
	int rc = name_cell(s, &cell, cell.caller, &row, &passed);

	row.caller = 0;
	row.flags = (row.flags & (DWELL_CALL_EXTERNAL | DWELL_CALL_LINE)) | DWELL_CALL_ESTIMATED;
	row.parent = s->lines.v[drawn->parent].id;
	return rc ? rc : dw_calls_add(&s->p->calls, &row, ret);
}

/* Keep the lines of the path @drawn, new, which is that of index @state - 1. */
static int keep_path(struct dw_call_lines *s, uint32_t line, const struct dw_tree_drawn *drawn,
		     uint32_t id, uint32_t state)
{
	const struct dw_arena_line *from = (const void *)drawn;
	int rc = dw_call_lines_keep(s, line, DWELL_LINE_DRAWN, id, from);

	s->lines.v[line].state = state;
	return rc ? rc : dw_call_lines_keep(s, line + 1, DWELL_LINE_REST, line, from + 1);
}

/* Whether the path @drawn ends in a call that was taken back since it was drawn: what was found
 * there is found on the path without it. */
static bool is_taken_back(const struct dw_call_lines *s, const struct dw_tree_drawn *drawn)
{
	return drawn->parent && drawn->parent < s->lines.n &&
	       s->lines.v[drawn->parent].kind == DWELL_LINE_DRAWN && drawn->cell < s->lines.n &&
	       dw_call_lines_is_mark(s, (uint32_t)drawn->cell);
}

int dw_cell_lines_add_drawn(struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_drawn drawn;
	struct dw_call_drawn path = {.line = line};
	uint32_t id;
	int rc = 0;

	if (!has_room(s, line, DWELL_DRAWN_LINES - 1))
		return 0;
	if (!dw_arena_get(&s->arena, s->fd, line, DWELL_DRAWN_LINES, &drawn))
		return dw_call_lines_wait(s, line);
	if (is_taken_back(s, &drawn))
		return keep_path(s, line, &drawn, s->lines.v[drawn.parent].id,
				 s->lines.v[drawn.parent].state);
	if (drawn.cell >= s->lines.n || dw_call_lines_is_unknown(s, (uint32_t)drawn.cell) ||
	    drawn.parent >= s->lines.n || dw_call_lines_is_unknown(s, drawn.parent))
		return dw_call_lines_wait(s, line);
	path.cell = (uint32_t)drawn.cell;
	if (!is_path(s, path.cell, drawn.parent)) {
		s->broken++;
		s->lines.v[line].kind = DWELL_LINE_BROKEN;
		return 0;
	}
	id = s->lines.v[path.cell].id;
	if (drawn.parent) {
		path.parent = s->lines.v[drawn.parent].state;
		rc = add_path(s, &drawn, &id);
	}
	if (!rc)
		rc = dw_vec_push(&s->drawn, path);
	return rc ? rc : keep_path(s, line, &drawn, id, (uint32_t)s->drawn.n);
}

int dw_cell_lines_add_inner(struct dw_call_lines *s, uint32_t line,
			    const struct dw_arena_line *from)
{
	int rc;

	if (!has_room(s, line, DWELL_INNER_LINES - 1))
		return 0;
	rc = dw_call_lines_keep(s, line, DWELL_LINE_INNER, 0, from);
	return rc ? rc : dw_call_lines_keep_rest(s, line, DWELL_INNER_LINES - 1);
}

/* Let the lines of @inner, all that they hold new, be those of the cell at @line. */
static int claim(struct dw_call_lines *s, uint32_t line, uint32_t inner)
{
	struct dw_tree_cell cell = cell_at(s, line);
	struct dw_call_node row;
	uint8_t passed = 0;
	uint32_t id;
	int rc = name_cell(s, &cell, cell.caller, &row, &passed);

	row.flags |= DWELL_CALL_INCLUSIVE;
	row.flags &= ~(uint32_t)(DWELL_CALL_OUTERMOST_FUNCTION | DWELL_CALL_OUTERMOST_MODULE);
	if (!rc)
		rc = dw_calls_add(&s->p->calls, &row, &id);
	if (rc)
		return rc;
	s->lines.v[inner].state = id;
	for (uint32_t i = 0; i < DWELL_INNER_LINES && !rc; i++) {
		s->lines.v[inner + i].id = line;
		rc = dw_call_lines_renew(s, inner + i);
	}
	return rc;
}

int dw_cell_lines_inner(struct dw_call_lines *s, uint32_t line, uint32_t inner,
			struct dw_tree_inner *now, struct dw_tree_inner *old, uint32_t *node)
{
	const struct dw_call_line *l = inner < s->lines.n ? &s->lines.v[inner] : NULL;
	int rc = 0;

	if (!l || l->kind != DWELL_LINE_INNER)
		return -ENOENT;
	if (!l->id)
		rc = claim(s, line, inner);
	if (rc)
		return rc;
	if (l->id != line)
		return -ENOENT;
	dw_call_lines_get(s, inner, DWELL_INNER_LINES, now);
	dw_call_lines_get_old(s, inner, DWELL_INNER_LINES, old);
	*node = l->state;
	return 0;
}

int dw_cell_lines_count(struct dw_call_lines *s)
{
	int rc = 0;

	for (size_t i = 0, n = s->changes.n; i < n && rc != -ENOMEM; i++) {
		uint32_t line = s->changes.v[i].line, node;
		struct dw_tree_inner inner, old;
		struct dw_tree_cell cell;

		if (!dw_line_is_cell(s->lines.v[line].kind))
			continue;
		cell = cell_at(s, line);
		rc = dw_cell_lines_inner(s, line, cell.inner, &inner, &old, &node);
		if (rc)
			continue;
		cell.calls += inner.repeated + inner.others;
		rc = dw_call_lines_count(s, line, (const struct dw_tree_node *)&cell);
	}
	return rc == -ENOENT ? 0 : rc;
}
