/* Reading arenas; see arena.h. */
#include "collect/calls/arena.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

enum { STEP_LINES = 8192 };

/* What a reading gives to whom. */
struct reading {
	int fd;
	struct dw_arena_line *buffer; /* of STEP_LINES */
	dw_arena_step_fn *step;
	void *ctx;
};

static int read_chunk(const struct reading *r, const struct dw_arena_chunk *c)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->n && !rc; i += STEP_LINES) {
		uint32_t n = c->n - i < STEP_LINES ? c->n - i : STEP_LINES;

		rc = dw_region_read_bytes(r->fd, r->buffer, n * sizeof *r->buffer,
					  c->at + (uint64_t)i * sizeof *r->buffer);
		if (!rc)
			rc = r->step(r->ctx, c->line + i, n, r->buffer);
	}
	return rc;
}

/* Find out where all lines are. */
static int find_chunks(struct dw_arena *a, int fd, const struct dw_region_head *head)
{
	uint32_t at = 0;
	int rc = 0;

	a->chunks.n = 0;
	for (uint32_t i = 0; i < head->chunk_n && at < head->arena_lines && !rc; i++) {
		struct dw_region_chunk c;
		uint64_t lines;

		rc = dw_region_read_chunk(fd, i, &c);
		if (rc || c.kind != DWELL_REGION_CHUNK_ARENA)
			continue;
		lines = c.bytes / DWELL_LINE_BYTES;
		if (lines > head->arena_lines - at)
			lines = head->arena_lines - at;
		rc = dw_vec_push(&a->chunks, ((struct dw_arena_chunk){at, (uint32_t)lines, c.at}));
		at += (uint32_t)lines;
	}
	return rc;
}

int dw_arena_read(struct dw_arena *a, int fd, const struct dw_region_head *head,
		  dw_arena_step_fn *step, void *ctx)
{
	dw_auto_free struct dw_arena_line *buffer = malloc(STEP_LINES * sizeof *buffer);
	struct reading reading = {fd, buffer, step, ctx};
	int rc = buffer ? 0 : -ENOMEM;

	if (head->arena_lines > (a->lines_max ? a->lines_max : DWELL_ARENA_LINES_MAX))
		return DWELL_ERR_LIMIT;
	if (!rc)
		rc = find_chunks(a, fd, head);
	for (size_t i = 0; i < a->chunks.n && !rc; i++)
		rc = read_chunk(&reading, &a->chunks.v[i]);
	return rc == DWELL_ERR_NOT_FOUND ? DWELL_ERR_FORMAT : rc;
}

/* Read @n lines, or those of them that the first one's chunk has: how many. 0: none. */
static uint32_t get_some(const struct dw_arena *a, int fd, uint32_t line, uint32_t n, void *ret)
{
	dw_vec_each(c, &a->chunks) {
		uint32_t at = line - c->line, some = n;

		if (at >= c->n)
			continue;
		if (some > c->n - at)
			some = c->n - at;
		return dw_region_read_bytes(fd, ret, (size_t)some * DWELL_LINE_BYTES,
					    c->at + (uint64_t)at * DWELL_LINE_BYTES)
			       ? 0
			       : some;
	}
	return 0;
}

bool dw_arena_get(const struct dw_arena *a, int fd, uint32_t line, uint32_t n, void *ret)
{
	struct dw_arena_line *to = ret;
	uint32_t done = 0, some;

	do {
		some = get_some(a, fd, line + done, n - done, to + done);
		done += some;
	} while (some && done < n);
	if (done < n)
		memset(ret, 0, n * sizeof *to);
	return done == n;
}

void dw_arena_release(struct dw_arena *a)
{
	dw_vec_release(&a->chunks);
}
