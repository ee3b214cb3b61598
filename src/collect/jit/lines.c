/*
 * Lines of JIT code; see lines.h. V8 up to version 11 tells files of scripts by strings that it
 * has freed already, so what is no text, or only the end of that name, is taken as the file in
 * which the function is declared.
 */
#include "collect/jit/lines.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "collect/jit/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_MAX_BYTES = 4 << 20, LINES_MAX = 8 << 20 };

/* Bytes of the character at @s, which has @left, in UTF-8. 0 = it is none to show. */
static size_t character(const uint8_t *s, size_t left)
{
	size_t n = *s < 0x80   ? 1
		   : *s < 0xc2 ? 0
		   : *s < 0xe0 ? 2
		   : *s < 0xf0 ? 3
		   : *s < 0xf5 ? 4
			       : 0;

	if (n > left || *s < 0x20 || *s == 0x7f)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Whether the @n bytes at @file can be the name of a file. */
static bool is_file(const char *file, size_t n)
{
	const uint8_t *s = (const uint8_t *)file;
	bool has_mark = false;

	for (size_t at = 0, one; at < n; at += one) {
		one = character(s + at, n - at);
		if (!one)
			return false;
		has_mark |= strchr("/.:", s[at]) != NULL;
	}
	return has_mark;
}

static bool is_end_of(const char *whole, const char *file, size_t n)
{
	size_t whole_n = strlen(whole);

	return n < whole_n && !memcmp(whole + whole_n - n, file, n);
}

static int add_line(struct dw_jit_lines *t, struct dw_strings *texts,
		    const struct dw_jit_lines_source *from, const struct dw_jitdump_line *line)
{
	struct dw_jit_line row = {.svma = from->svma + (line->avma - from->start),
				  .file = from->file,
				  .line = line->line,
				  .column = line->column};
	int rc = 0;

	if (line->avma < from->start || line->avma >= from->end || t->rows.n >= LINES_MAX)
		return 0;
	if (is_file(line->file, line->file_n) &&
	    !(from->file && is_end_of(dw_strings_get(texts, from->file), line->file, line->file_n)))
		rc = dw_strings_add(texts, line->file, line->file_n, &row.file);
	return rc ? rc : dw_vec_push(&t->rows, row);
}

int dw_jit_lines_read(struct dw_jit_lines *t, struct dw_strings *texts,
		      const struct dw_jit_lines_source *from)
{
	dw_auto_free uint8_t *record = NULL;
	struct dw_jitdump_lines lines;
	struct dw_jitdump_line line;
	int rc = 0;

	if (!from->bytes || from->bytes > RECORD_MAX_BYTES)
		return 0;
	record = malloc(from->bytes);
	if (!record)
		return -ENOMEM;
	if (pread(from->fd, record, from->bytes, (off_t)from->at) != (ssize_t)from->bytes)
		return 0;
	/* What stands before the first line, and the code behind this, have none of these. */
	if (dw_vec_push(&t->rows, (struct dw_jit_line){.svma = from->svma}) ||
	    dw_vec_push(&t->rows,
			(struct dw_jit_line){.svma = from->svma + (from->end - from->start)}))
		return -ENOMEM;
	dw_jitdump_lines_init(&lines, record, from->bytes, from->header);
	while (!rc && dw_jitdump_lines_next(&lines, &line))
		rc = add_line(t, texts, from, &line);
	return rc;
}

int dw_jit_lines_add(struct dw_jit_lines *t, const struct dw_jit_line *row)
{
	return t->rows.n < LINES_MAX ? dw_vec_push(&t->rows, *row) : 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct dw_jit_line *a = pa, *b = pb;

	if (a->svma != b->svma)
		return a->svma < b->svma ? -1 : 1;
	/* The real one counts, which is the last. */
	return (a->line > b->line) - (a->line < b->line);
}

void dw_jit_lines_sort(struct dw_jit_lines *t)
{
	if (t->rows.n)
		qsort(t->rows.v, t->rows.n, sizeof *t->rows.v, compare);
}

const struct dw_jit_line *dw_jit_lines_find(const struct dw_jit_lines *t, uint64_t svma)
{
	size_t n = dw_sorted_count(t->rows.v, t->rows.n, row, row->svma <= svma);
	const struct dw_jit_line *row = n ? &t->rows.v[n - 1] : NULL;

	return row && row->line && row->svma >> 32 == svma >> 32 ? row : NULL;
}

void dw_jit_lines_release(struct dw_jit_lines *t)
{
	dw_vec_release(&t->rows);
}

/*
 * What a method does before its first own instruction is part of that, and what comes from none is
 * part of what is before it, as the agent has it.
 */

enum { ROWS_MAX = 4 << 20 };

int dw_jit_ils_add(struct dw_jit_ils *t, const struct dw_dotnet_methods *m,
		   const struct dw_dotnet_method *method, uint32_t module, uint64_t svma)
{
	const uint64_t begin = (uint64_t)method->token << 32;

	if (t->rows.n + method->il_n + 2 > ROWS_MAX)
		return 0;
	if (dw_vec_push(&t->rows, (struct dw_jit_il){svma, begin, module}) ||
	    dw_vec_push(&t->rows,
			(struct dw_jit_il){dw_jit_functions_inside(svma, method->bytes), 0, 0}))
		return -ENOMEM;
	for (uint32_t i = 0; i < method->il_n; i++) {
		const struct dw_dotnet_il *il = &m->il.v[method->il + i];
		const struct dw_jit_il row = {dw_jit_functions_inside(svma, il->offset),
					      begin | il->il, module};

		if ((int32_t)il->il < 0 || il->offset >= method->bytes)
			continue;
		if (dw_vec_push(&t->rows, row))
			return -ENOMEM;
	}
	return 0;
}

static int compare_il(const void *pa, const void *pb)
{
	const struct dw_jit_il *a = pa, *b = pb;

	if (a->svma != b->svma)
		return a->svma < b->svma ? -1 : 1;
	/* The last one counts: what is known, of the latest part. */
	return (a->il > b->il) - (a->il < b->il);
}

void dw_jit_ils_sort(struct dw_jit_ils *t)
{
	if (t->rows.n)
		qsort(t->rows.v, t->rows.n, sizeof *t->rows.v, compare_il);
}

const struct dw_jit_il *dw_jit_ils_find(const struct dw_jit_ils *t, uint64_t svma)
{
	size_t n = dw_sorted_count(t->rows.v, t->rows.n, row, row->svma <= svma);
	const struct dw_jit_il *row = n ? &t->rows.v[n - 1] : NULL;

	return row && row->il && row->svma >> 32 == svma >> 32 ? row : NULL;
}

void dw_jit_ils_release(struct dw_jit_ils *t)
{
	dw_vec_release(&t->rows);
}
