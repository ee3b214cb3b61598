/* Questions as bytes; see question.h. Tables of numbers are put as they lie in memory, at places
 * where they can be used. */
#include "symbol/question.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

enum { NAMES_ONLY = 1, STATEMENTS_ONLY = 2, PRESENCE_ONLY = 4, ALIGNMENT = 8 };

static void put_aligned(struct dw_buf *to, const void *p, size_t n)
{
	dw_buf_put_uleb(to, n);
	while (to->len % ALIGNMENT && !dw_buf_putc(to, 0))
		;
	dw_buf_put(to, p, n);
}

static const void *aligned(struct dw_cursor *c, size_t *n)
{
	*n = dw_cursor_uleb(c);
	while (dw_cursor_offset(c) % ALIGNMENT && !c->failed)
		dw_cursor_u8(c);
	return dw_cursor_bytes(c, *n);
}

static void put_fd(struct dw_buf *to, int fd)
{
	dw_buf_put_uleb(to, (uint64_t)(fd + 1));
}

static int take_fd(struct dw_cursor *c)
{
	return (int)dw_cursor_uleb(c) - 1;
}

static void put_source(struct dw_buf *to, const struct dw_module_source *s)
{
	put_fd(to, s->fd);
	put_fd(to, s->root_fd);
	dw_buf_put_uleb(to, s->uid);
	dw_buf_put_uleb(to, s->gid);
	put_aligned(to, s->groups, s->groups_n * sizeof *s->groups);
	put_aligned(to, s->image, s->image ? s->image_bytes : 0);
}

static struct dw_module_source take_source(struct dw_cursor *c)
{
	struct dw_module_source s = {.fd = take_fd(c)};

	s.root_fd = take_fd(c);
	s.uid = (uid_t)dw_cursor_uleb(c);
	s.gid = (gid_t)dw_cursor_uleb(c);
	s.groups = aligned(c, &s.groups_n);
	s.groups_n /= sizeof *s.groups;
	s.image = aligned(c, &s.image_bytes);
	return s;
}

static void put_text(struct dw_buf *to, const char *s)
{
	dw_buf_puts(to, s ? s : "");
	dw_buf_putc(to, 0);
}

int dw_questions_encode(const struct dw_question *q, size_t n, struct dw_buf *to)
{
	dw_buf_put_uleb(to, n);
	for (size_t i = 0; i < n; i++, q++) {
		put_source(to, q->source);
		put_text(to, q->path);
		put_text(to, q->debug_dirs);
		put_fd(to, q->debug_fd);
		put_fd(to, q->alt_fd);
		put_fd(to, q->unpacked_fd);
		dw_buf_put_uleb(to, (q->names_only ? NAMES_ONLY : 0u) |
					    (q->statements_only ? STATEMENTS_ONLY : 0u) |
					    (q->presence_only ? PRESENCE_ONLY : 0u));
		put_aligned(to, q->svmas, q->n * sizeof *q->svmas);
	}
	return to->failed ? -ENOMEM : 0;
}

static void take_question(struct dw_cursor *c, struct dw_question *q, struct dw_module_source *s)
{
	uint64_t flags;

	*s = take_source(c);
	q->source = s;
	q->path = dw_cursor_cstr(c);
	q->debug_dirs = dw_cursor_cstr(c);
	q->debug_fd = take_fd(c);
	q->alt_fd = take_fd(c);
	q->unpacked_fd = take_fd(c);
	flags = dw_cursor_uleb(c);
	q->names_only = flags & NAMES_ONLY;
	q->statements_only = flags & STATEMENTS_ONLY;
	q->presence_only = flags & PRESENCE_ONLY;
	q->svmas = aligned(c, &q->n);
	q->n /= sizeof *q->svmas;
}

int dw_questions_decode(struct dw_cursor *c, struct dw_questions *ret)
{
	uint64_t n = dw_cursor_uleb(c);

	if (!n || n > dw_cursor_left(c))
		return DWELL_ERR_FORMAT;
	ret->v = calloc(n, sizeof *ret->v);
	ret->sources = calloc(n, sizeof *ret->sources);
	if (!ret->v || !ret->sources)
		return -ENOMEM;
	for (ret->n = 0; ret->n < n; ret->n++)
		take_question(c, &ret->v[ret->n], &ret->sources[ret->n]);
	return c->failed ? DWELL_ERR_FORMAT : 0;
}

size_t dw_questions_fds(const struct dw_question *q, size_t n, int *fds)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++, q++) {
		const int all[] = {q->source->fd, q->debug_fd, q->alt_fd, q->unpacked_fd};

		for (size_t k = 0; k < sizeof all / sizeof *all; k++)
			if (all[k] >= 0)
				fds[found++] = all[k];
	}
	return found;
}

void dw_questions_release(struct dw_questions *q)
{
	free(q->v);
	free(q->sources);
	*q = (struct dw_questions){0};
}
