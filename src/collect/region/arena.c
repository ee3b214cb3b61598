/*
 * Copies of arenas; see arena.h. The arena is read in steps into a buffer and compared with the
 * copy, pages first: most of a large tree stays as it is from one reading to the next. The copy
 * costs the collector what the arena costs the target.
 */
#include "collect/region/arena.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

enum {
	STEP_LINES = 8192, /* read at a time */
	PAGE_LINES = 64,   /* compared at a time */
};

/* A step of the arena that was read to @from, @n lines from index @at on, against the copy. */
static int compare(struct dw_arena *a, const struct dw_arena_line *from, uint32_t at, uint32_t n)
{
	for (uint32_t page = 0; page < n; page += PAGE_LINES) {
		uint32_t lines = n - page < PAGE_LINES ? n - page : PAGE_LINES;

		if (!memcmp(&a->lines.v[at + page], from + page, lines * sizeof *from))
			continue;
		for (uint32_t i = page; i < page + lines; i++) {
			if (!memcmp(&a->lines.v[at + i], from + i, sizeof *from))
				continue;
			if (dw_arena_touch(a, at + i) < 0)
				return -ENOMEM;
			a->lines.v[at + i] = from[i];
		}
	}
	return 0;
}

/* Make the copy @lines long, new ones zero: as long only as what could be read. */
static int grow(struct dw_arena *a, size_t lines)
{
	size_t more = lines > a->lines.n ? lines - a->lines.n : 0;

	if (dw_vec_reserve(&a->lines, more) || dw_vec_reserve(&a->change_of, more))
		return -ENOMEM;
	if (more) {
		memset(a->lines.v + a->lines.n, 0, more * sizeof *a->lines.v);
		memset(a->change_of.v + a->lines.n, 0, more * sizeof *a->change_of.v);
		a->lines.n = a->change_of.n = lines;
	}
	return 0;
}

/* Read the chunk @c, whose first line is index @at of the arena, as far as it is in use. */
static int read_chunk(struct dw_arena *a, int fd, const struct dw_region_chunk *c, uint32_t at,
		      uint32_t lines, struct dw_arena_line *buffer)
{
	int rc = 0;

	for (uint32_t i = 0; i < lines && !rc; i += STEP_LINES) {
		uint32_t n = lines - i < STEP_LINES ? lines - i : STEP_LINES;

		rc = dw_region_read_bytes(fd, buffer, n * sizeof *buffer,
					  c->at + (uint64_t)i * sizeof *buffer);
		if (!rc)
			rc = grow(a, (size_t)at + i + n);
		if (!rc)
			rc = compare(a, buffer, at + i, n);
	}
	return rc;
}

int dw_arena_read(struct dw_arena *a, int fd, const struct dw_region_head *head)
{
	dw_auto_free struct dw_arena_line *buffer = malloc(STEP_LINES * sizeof *buffer);
	uint32_t at = 0;
	int rc = buffer ? 0 : -ENOMEM;

	a->changes.n = a->chunks.n = 0;
	if (head->arena_lines > DWELL_ARENA_LINES_MAX)
		return DWELL_ERR_LIMIT;
	for (uint32_t i = 0; i < head->chunk_n && at < head->arena_lines && !rc; i++) {
		struct dw_region_chunk c;
		uint64_t lines;

		rc = dw_region_read_chunk(fd, i, &c);
		if (rc || c.kind != DWELL_CHUNK_ARENA)
			continue;
		lines = c.bytes / DWELL_LINE_BYTES;
		if (lines > head->arena_lines - at)
			lines = head->arena_lines - at;
		rc = dw_vec_push(&a->chunks, ((struct dw_arena_chunk){at, (uint32_t)lines, c.at}));
		if (!rc)
			rc = read_chunk(a, fd, &c, at, (uint32_t)lines, buffer);
		at += (uint32_t)lines;
	}
	return rc == DWELL_ERR_NOT_FOUND ? DWELL_ERR_FORMAT : rc;
}

/* The entry of @line, NULL = it has none. */
static const struct dw_arena_change *find(const struct dw_arena *a, uint32_t line)
{
	uint32_t i = a->change_of.v[line];

	return i < a->changes.n && a->changes.v[i].line == line ? &a->changes.v[i] : NULL;
}

int64_t dw_arena_touch(struct dw_arena *a, uint32_t line)
{
	const struct dw_arena_change *c = find(a, line);

	if (c)
		return c - a->changes.v;
	if (dw_vec_push(&a->changes,
			(struct dw_arena_change){.line = line, .old = a->lines.v[line]}))
		return -ENOMEM;
	a->change_of.v[line] = (uint32_t)(a->changes.n - 1);
	return (int64_t)a->changes.n - 1;
}

void dw_arena_get(const struct dw_arena *a, uint32_t line, uint32_t n, void *ret)
{
	memcpy(ret, &a->lines.v[line], n * sizeof *a->lines.v);
}

void dw_arena_get_newer(const struct dw_arena *a, int fd, uint32_t line, uint32_t n, void *ret)
{
	dw_vec_each(c, &a->chunks) {
		if (line - c->line >= c->n || n > c->n - (line - c->line))
			continue;
		if (!dw_region_read_bytes(fd, ret, n * sizeof *a->lines.v,
					  c->at + (uint64_t)(line - c->line) * sizeof *a->lines.v))
			return;
	}
	dw_arena_get(a, line, n, ret);
}

void dw_arena_get_old(const struct dw_arena *a, uint32_t line, uint32_t n, void *ret)
{
	struct dw_arena_line *to = ret;

	for (uint32_t i = 0; i < n; i++) {
		const struct dw_arena_change *c = find(a, line + i);

		to[i] = c ? c->old : a->lines.v[line + i];
	}
}

void dw_arena_release(struct dw_arena *a)
{
	dw_vec_release(&a->chunks);
	dw_vec_release(&a->lines);
	dw_vec_release(&a->change_of);
	dw_vec_release(&a->changes);
}
