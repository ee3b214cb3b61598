/*
 * Line tables; see dwarf-lines.h. libdw hands out rows sorted by address, the last of several at
 * one address being the one that counts. A statement ends where the next row begins, if that lies
 * further on in the same file: a table does not say more.
 */
#include "symbol/dwarf-lines.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static Dwarf_Addr address_of(Dwarf_Line *line)
{
	Dwarf_Addr svma = 0;

	(void)dwarf_lineaddr(line, &svma);
	return svma;
}

static bool ends_sequence(Dwarf_Line *line)
{
	bool end = true;

	(void)dwarf_lineendsequence(line, &end);
	return end;
}

/* Index of the last row at or before @svma, @n = none. */
static size_t find_row(Dwarf_Lines *lines, size_t n, uint64_t svma)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (address_of(dwarf_onesrcline(lines, mid)) <= svma)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : n;
}

struct position {
	const char *file;
	int line;
	int column;
};

static struct position position_of(Dwarf_Line *row)
{
	struct position p = {.file = dwarf_linesrc(row, NULL, NULL)};

	(void)dwarf_lineno(row, &p.line);
	(void)dwarf_linecol(row, &p.column);
	return p;
}

/* Set the end of the statement at row @i from the rows behind it. */
static void set_end(Dwarf_Lines *lines, size_t n, size_t i, const struct position *start,
		    struct dw_location *l)
{
	for (i++; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		struct position p;

		if (ends_sequence(row))
			return;
		p = position_of(row);
		if (!p.file || strcmp(p.file, start->file) || p.line < start->line)
			return;
		if (p.line == start->line && p.column <= start->column) {
			if (p.column == start->column)
				continue;
			return;
		}
		l->line_end = (uint32_t)p.line;
		l->column_end = p.column > 0 ? (uint32_t)p.column : 0;
		return;
	}
}

int dw_lines_add_path(Dwarf_Die *unit, const char *path, struct dw_answer *answer, uint32_t *ret)
{
	Dwarf_Attribute attr;
	const char *folder = NULL;
	dw_auto(dw_buf) whole = DW_BUF_INIT;

	if (*path != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attr))
		folder = dwarf_formstring(&attr);
	if (folder) {
		dw_buf_puts(&whole, folder);
		dw_buf_putc(&whole, '/');
		dw_buf_puts(&whole, path);
		if (whole.failed)
			return -ENOMEM;
		path = whole.data;
	}
	return dw_answer_add_string(answer, path, ret);
}

/* Set what row @i of @n says. *@file points to the path, NULL = none. */
static void set_row(Dwarf_Lines *lines, size_t n, size_t i, struct dw_location *l,
		    const char **file)
{
	struct position p = position_of(dwarf_onesrcline(lines, i));

	*file = p.file;
	if (p.file && p.line > 0) { /* 0: code that the compiler made, of no line in particular */
		l->line = (uint32_t)p.line;
		l->column = p.column > 0 ? (uint32_t)p.column : 0;
		set_end(lines, n, i, &p, l);
	}
}

int dw_lines_find(Dwarf_Die *unit, const uint64_t *svmas, struct dw_location *const *at, size_t n,
		  struct dw_answer *answer)
{
	Dwarf_Lines *lines;
	size_t lines_n;
	int rc = 0;

	if (dwarf_getsrclines(unit, &lines, &lines_n))
		return 0;
	for (size_t i = 0; i < n && !rc; i++) {
		size_t row = find_row(lines, lines_n, svmas[i]);
		const char *file = NULL;

		if (row < lines_n && !ends_sequence(dwarf_onesrcline(lines, row)))
			set_row(lines, lines_n, row, at[i], &file);
		if (file)
			rc = dw_lines_add_path(unit, file, answer, &at[i]->file);
	}
	return rc;
}

int dw_lines_file(Dwarf_Die *unit, uint32_t index, struct dw_answer *answer, uint32_t *ret)
{
	Dwarf_Files *files;
	const char *path;
	size_t n;

	*ret = 0;
	if (dwarf_getsrcfiles(unit, &files, &n) || index >= n)
		return 0;
	path = dwarf_filesrc(files, index, NULL, NULL);
	if (!path)
		return 0;
	return dw_lines_add_path(unit, path, answer, ret);
}

/* Add the statements of @unit. Of rows at one address the last one's line counts, as everywhere. */
static int add_statements(Dwarf_Die *unit, struct dw_answer *answer)
{
	Dwarf_Lines *lines;
	struct position p;
	bool is_statement = false, one;
	uint32_t file;
	size_t n;
	int rc = 0;

	if (dwarf_getsrclines(unit, &lines, &n))
		return 0;
	for (size_t i = 0; i < n && !rc; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		struct dw_statement s = {.svma = address_of(row)};

		is_statement |= !dwarf_linebeginstatement(row, &one) && one && !ends_sequence(row);
		if (i + 1 < n && address_of(dwarf_onesrcline(lines, i + 1)) == s.svma)
			continue;
		p = position_of(row);
		if (is_statement && !ends_sequence(row) && p.file && p.line > 0) {
			rc = dw_strings_adds(&answer->strings, p.file, &file);
			s.line = (uint64_t)file << 32 | (uint32_t)p.line;
			if (!rc)
				rc = dw_vec_push(&answer->statements, s);
		}
		is_statement = false;
	}
	return rc;
}

static int compare_statements(const void *pa, const void *pb)
{
	const struct dw_statement *a = pa, *b = pb;

	return (a->svma > b->svma) - (a->svma < b->svma);
}

int dw_lines_statements(Dwarf *dwarf, struct dw_answer *answer)
{
	struct dw_statement *v;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	size_t to = 0;
	int rc = 0;

	while (!rc && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			rc = add_statements(&die, answer);
	v = answer->statements.v;
	if (v)
		qsort(v, answer->statements.n, sizeof *v, compare_statements);
	for (size_t i = 0; i < answer->statements.n; i++)
		if (!i || v[i].svma != v[to - 1].svma)
			v[to++] = v[i];
	answer->statements.n = to;
	return rc;
}
