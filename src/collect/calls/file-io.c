/*
 * Rows of files; see file-io.h.
 *
 * What counts is kept whole, to see it change. Names are read when the first row asks for them,
 * from lines that the target has stored before it; what it has stored there is believed as far as
 * the marks go. Rows of one file and function that a thread would have twice, which only a hostile
 * target tells, are added up by whoever shows them.
 */
#include "collect/calls/file-io.h"

#include <errno.h>
#include <string.h>

enum { FIRST_BYTES = sizeof((struct dw_tree_file){0}.name) };

int dw_file_lines_add(struct dw_call_lines *s, uint32_t line, uint64_t mark,
		      const struct dw_arena_line *from)
{
	if (mark == DWELL_MARK_FILE_IO)
		return dw_call_lines_keep(s, line, DWELL_LINE_FILE_IO, 0, from);
	s->lines.v[line].kind = mark == DWELL_MARK_FILE ? DWELL_LINE_FILE : DWELL_LINE_NAME;
	return 0;
}

/* Read the name of the file at @line to @name: its length, 0 = there is none. */
static size_t read_name(const struct dw_call_lines *s, uint32_t line,
			char name[DWELL_FILE_NAME_MAX])
{
	struct dw_tree_file file;
	struct dw_tree_name more;
	size_t at = FIRST_BYTES;

	if (!dw_arena_get(&s->arena, s->fd, line, 1, &file) || file.mark != DWELL_MARK_FILE ||
	    file.bytes > DWELL_FILE_NAME_MAX)
		return 0;
	memcpy(name, file.name, sizeof file.name);
	for (; at < file.bytes; at += sizeof more.name) {
		size_t left = file.bytes - at;

		if (!dw_arena_get(&s->arena, s->fd, ++line, 1, &more) ||
		    more.mark != DWELL_MARK_NAME)
			return at;
		memcpy(name + at, more.name, left < sizeof more.name ? left : sizeof more.name);
	}
	return file.bytes;
}

/* The name of the file at @line as a string of the profile, 0 = none. */
static int name_of(struct dw_call_lines *s, uint32_t line, uint32_t *ret)
{
	struct dw_call_line *l = line && line < s->lines.n ? &s->lines.v[line] : NULL;
	bool is_file = l && l->kind == DWELL_LINE_FILE;
	char name[DWELL_FILE_NAME_MAX];
	int rc;

	*ret = is_file ? l->id : 0;
	if (!l || *ret)
		return 0;
	rc = dw_strings_add(&s->p->strings, name, read_name(s, line, name), ret);
	if (!rc && is_file)
		l->id = *ret;
	return rc;
}

/* The frame of the function @key. */
static int entry_of(const struct dw_call_lines *s, uint32_t key, uint32_t *ret)
{
	bool is_external;

	*ret = 0;
	return key == DWELL_KEY_ROOT ? 0 : s->names.callee(s->names.ctx, key, ret, &is_external);
}

/* Append the row of @line. */
static int take(struct dw_call_lines *s, uint32_t line, const struct dw_region_clock *clock)
{
	struct dw_calls *calls = &s->p->calls;
	struct dw_call_line *l = &s->lines.v[line];
	struct dw_call_file row = {.id = l->id ? l->id : calls->file_ids + 1};
	struct dw_tree_file_io io;
	int rc;

	dw_call_lines_get(s, line, 1, &io);
	if (io.thread >= s->lines.n || s->lines.v[io.thread].kind != DWELL_LINE_THREAD ||
	    !(io.reads | io.writes))
		return 0;
	row.thread = s->threads.v[s->lines.v[io.thread].id].id;
	row.sums = (struct dw_io_sums){io.reads, io.writes, io.bytes_read, io.bytes_written,
				       dw_region_clock_span(clock, (double)io.ticks)};
	rc = entry_of(s, io.function, &row.entry);
	if (!rc)
		rc = name_of(s, io.file, &row.file);
	if (rc || dw_vec_push(&calls->files, row))
		return -ENOMEM;
	calls->file_ids += !l->id;
	l->id = row.id;
	return 0;
}

int dw_file_io_read(struct dw_call_lines *s, const struct dw_region_clock *clock)
{
	int rc = 0;

	dw_vec_each(change, &s->changes) {
		if (!rc && s->lines.v[change->line].kind == DWELL_LINE_FILE_IO)
			rc = take(s, change->line, clock);
	}
	return rc;
}
