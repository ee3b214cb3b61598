/* Rows that are found again; see remember.h. What a row is about says which it is, not its values.
 */
#include "tui/remember.h"

#include "base/map.h"

#include <string.h>

/* Texts are the same whatever their ids are. */
static uint64_t hash_text(const struct dw_profile *p, uint32_t string, uint64_t seed)
{
	const char *text = dw_strings_get(&p->strings, string);

	return dw_hash_bytes(text, strlen(text), seed);
}

static void set_function(const struct dw_profile *p, uint32_t id, struct dw_row_about *a)
{
	const struct dw_function *f = dw_functions_get(&p->functions, id);

	a->id = f ? hash_text(p, f->name, f->module) : id;
	a->entry = f ? f->svma : 0;
}

/* Numbers of processes do not count where a row is about something else: that of a function is 0 as
 * long as several processes have it. */
static struct dw_row_about about(const struct dw_profile *p, const struct dw_row *row)
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
		set_function(p, row->function, &a);
	if (row->flags & DWELL_ROW_HAS_LINE) {
		a.file = hash_text(p, row->file, 0);
		a.line = row->line;
		a.column = row->column;
	}
	if (row->flags & DWELL_ROW_HAS_ADDRESS)
		a.place = row->address;
	else if (row->flags & DWELL_ROW_HAS_BEGIN)
		a.place = row->begin_ns;
	return a;
}

/* @strict: of functions that are called alike it is the same one. */
static bool is_same(const struct dw_row_about *a, const struct dw_row_about *b, bool strict)
{
	return a->name == b->name && a->type == b->type && a->id == b->id &&
	       (!strict || a->entry == b->entry) && a->file == b->file && a->line == b->line &&
	       a->column == b->column && a->place == b->place;
}

static struct dw_row_about about_row(const struct dw_place *p, size_t i, struct dw_buf *scratch)
{
	struct dw_row row;

	dw_view_row(&p->view, i, scratch, &row);
	return about(p->view.request.profile, &row);
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
	p->was_cursor = p->cursor;
	p->was_top = p->top;
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
	size_t found = SIZE_MAX, similar = SIZE_MAX;

	for (size_t i = from; i < p->view.n && level_of(p, i) >= level && found == SIZE_MAX; i++) {
		struct dw_row_about row;

		if (level_of(p, i) > level)
			continue;
		row = about_row(p, i, &scratch);
		if (is_same(&row, wanted, true))
			found = i;
		else if (similar == SIZE_MAX && is_same(&row, wanted, false))
			similar = i;
	}
	dw_buf_release(&scratch);
	return found != SIZE_MAX ? found : similar;
}

/* A list that begins with its first row on the screen still does, as far as the cursor lets it. */
static size_t recalled_top(const struct dw_place *p, size_t at)
{
	size_t below = p->was_cursor > p->was_top ? p->was_cursor - p->was_top : 0;

	if (p->is_kept && !p->was_top)
		return 0;
	return at > below ? at - below : 0;
}

bool dw_place_recall(struct dw_place *p)
{
	size_t from = 0, at = 0;

	if (!p->was.n)
		return false;
	for (size_t level = 0; level < p->was.n; level++) {
		size_t i = find(p, from, level, &p->was.v[level]);

		if (i == SIZE_MAX) {
			/* Nothing is left of it: then what is in its place now. */
			if (!level && p->is_kept && p->was_cursor < p->view.n)
				at = p->was_cursor;
			break;
		}
		at = i;
		from = i + 1;
		if (level + 1 < p->was.n && dw_unfold_open(&p->tree, i))
			break;
	}
	p->cursor = at;
	p->top = recalled_top(p, at);
	p->was.n = 0;
	return true;
}

/* The path of row @i, which hangs on that of @above. */
static uint64_t path_of(const struct dw_place *p, size_t i, uint64_t above, struct dw_buf *scratch)
{
	const struct dw_row_about a = about_row(p, i, scratch);
	const uint64_t words[] = {above, (uint64_t)a.name << 32 | a.line, a.id, a.file, a.place};

	return dw_hash_bytes(words, sizeof words, a.entry);
}

/* The paths of rows from the root to one that is looked at, one after the other. */
struct trail {
	DW_VEC(uint64_t) paths; /* by level */
	struct dw_buf scratch;
};

/* Go on to row @i. Its path, 0 = no memory. */
static uint64_t step(struct trail *t, const struct dw_place *p, size_t i)
{
	size_t level = level_of(p, i);

	if (t->paths.n < level || dw_vec_reserve(&t->paths, level + 1))
		return 0;
	t->paths.v[level] = path_of(p, i, level ? t->paths.v[level - 1] : 0, &t->scratch);
	t->paths.n = level + 1;
	return t->paths.v[level];
}

static void trail_release(struct trail *t)
{
	dw_vec_release(&t->paths);
	dw_buf_release(&t->scratch);
}

static void note_unfolded(struct dw_place *p)
{
	struct trail trail = {0};

	p->unfolded.n = 0;
	for (size_t i = 0; i < p->view.n; i++) {
		uint64_t path = step(&trail, p, i);

		if (dw_unfold_is_open(&p->tree, i) && dw_vec_push(&p->unfolded, path))
			break;
	}
	trail_release(&trail);
}

int dw_place_unfold_again(struct dw_place *p)
{
	struct trail trail = {0};
	struct dw_map unfolded = {0};
	int rc = 0;

	dw_vec_each(path, &p->unfolded)
		rc = rc ? rc : dw_map_put(&unfolded, *path, 1);
	for (size_t i = 0; i < p->view.n && !rc && unfolded.used; i++)
		if (dw_map_get(&unfolded, step(&trail, p, i)))
			rc = dw_unfold_open(&p->tree, i);
	dw_map_release(&unfolded);
	trail_release(&trail);
	p->unfolded.n = 0;
	return rc;
}

/* The row that the line at the cursor is about, SIZE_MAX = it is about none. */
static size_t row_of_line(const struct dw_place *p)
{
	dw_vec_each(mark, &p->lines.marks.rows)
		if (mark->at == p->cursor && mark->row < p->view.n)
			return mark->row;
	return SIZE_MAX;
}

static void remember_line(struct dw_place *p)
{
	struct dw_buf scratch = DW_BUF_INIT;
	size_t row = row_of_line(p);

	p->was.n = 0;
	p->was_cursor = p->cursor;
	p->was_top = p->top;
	if (row != SIZE_MAX && !dw_vec_reserve(&p->was, 1))
		p->was.v[p->was.n++] = about_row(p, row, &scratch);
	dw_buf_release(&scratch);
}

void dw_place_keep(struct dw_place *p)
{
	size_t width[DWELL_COLUMNS_N];

	if (!p->is_open || (p->ops->has_notes && !p->lines.width))
		return dw_place_close(p);
	if (p->ops->has_notes)
		remember_line(p);
	else
		dw_place_remember(p);
	if (dw_place_is_tree(p))
		note_unfolded(p);
	memcpy(width, p->width, sizeof width);
	dw_place_close(p);
	memcpy(p->width, width, sizeof width);
	p->is_kept = true;
}

void dw_place_recall_line(struct dw_place *p)
{
	struct dw_buf scratch = DW_BUF_INIT;
	size_t n = p->lines.rows.n;

	dw_vec_each(mark, &p->lines.marks.rows) {
		struct dw_row_about row;

		if (!p->was.n || mark->row >= p->view.n)
			break;
		row = about_row(p, mark->row, &scratch);
		if (is_same(&row, &p->was.v[0], true)) {
			p->cursor = mark->at;
			break;
		}
	}
	p->top = p->was_top < n ? p->was_top : 0;
	p->was.n = 0;
	dw_buf_release(&scratch);
}
