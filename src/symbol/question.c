/*
 * The form on the pipe; see question.h. Both ways it is a list of unsigned LEB128 numbers, strings
 * and, in questions, tables of numbers as they lie in memory, at places where they can be used. An
 * answer has strings (length, bytes), functions, addresses (length of the chain, then its rows),
 * statements, 1 for debug information. No count in it may exceed the bytes that are left, since
 * every element takes at least one.
 */
#include "symbol/question.h"

#include "base/cursor.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int dw_answer_add_string(struct dw_answer *a, const char *s, uint32_t *ret)
{
	return dw_strings_add(&a->strings, s, strnlen(s, DWELL_ANSWER_NAME_MAX_BYTES), ret);
}

int dw_answer_add_function(struct dw_answer *a, const struct dw_function *f, uint32_t *ret)
{
	int rc = a->functions.n ? 0 : dw_vec_push(&a->functions, (struct dw_function){0});

	if (!rc)
		rc = dw_vec_push(&a->functions, *f);
	*ret = rc ? 0 : (uint32_t)a->functions.n - 1;
	return rc;
}

static void encode_strings(const struct dw_strings *t, struct dw_buf *to)
{
	dw_buf_put_uleb(to, t->n);
	for (uint32_t id = 1; id < t->n; id++) {
		dw_buf_put_uleb(to, dw_strings_len(t, id));
		dw_buf_put(to, dw_strings_get(t, id), dw_strings_len(t, id));
	}
}

static void encode_function(const struct dw_function *f, struct dw_buf *to)
{
	dw_buf_put_uleb(to, f->name);
	dw_buf_put_uleb(to, f->linkage_name);
	dw_buf_put_uleb(to, f->file);
	dw_buf_put_uleb(to, f->line);
	dw_buf_put_uleb(to, f->flags);
	dw_buf_put_uleb(to, f->svma);
	dw_buf_put_uleb(to, f->bytes);
}

static void encode_location(const struct dw_location *l, struct dw_buf *to)
{
	dw_buf_put_uleb(to, l->function);
	dw_buf_put_uleb(to, l->file);
	dw_buf_put_uleb(to, l->line);
	dw_buf_put_uleb(to, l->column);
	dw_buf_put_uleb(to, l->line_end);
	dw_buf_put_uleb(to, l->column_end);
}

static void encode_statements(const struct dw_answer *a, struct dw_buf *to)
{
	uint64_t last = 0;

	dw_buf_put_uleb(to, a->statements.n);
	dw_vec_each(s, &a->statements) {
		dw_buf_put_uleb(to, s->svma - last);
		dw_buf_put_uleb(to, s->line);
		last = s->svma;
	}
}

int dw_answer_encode(const struct dw_answer *a, struct dw_buf *to)
{
	size_t addresses = a->first.n ? a->first.n - 1 : 0;

	encode_strings(&a->strings, to);
	dw_buf_put_uleb(to, a->functions.n);
	for (size_t i = 1; i < a->functions.n; i++)
		encode_function(&a->functions.v[i], to);
	dw_buf_put_uleb(to, addresses);
	for (size_t i = 0; i < addresses; i++) {
		dw_buf_put_uleb(to, a->first.v[i + 1] - a->first.v[i]);
		for (uint32_t j = a->first.v[i]; j < a->first.v[i + 1]; j++)
			encode_location(&a->rows.v[j], to);
	}
	encode_statements(a, to);
	if (a->has_debug)
		dw_buf_put_uleb(to, 1);
	return to->failed ? -ENOMEM : 0;
}

/* A number below @limit; anything else fails the cursor and is 0. */
static uint32_t read_below(struct dw_cursor *c, uint64_t limit)
{
	uint64_t v = dw_cursor_uleb(c);

	if (v >= limit && v)
		c->failed = true;
	return c->failed ? 0 : (uint32_t)v;
}

static int decode_strings(struct dw_cursor *c, struct dw_strings *t)
{
	uint32_t n = read_below(c, dw_cursor_left(c) + 1), id;

	for (uint32_t i = 1; i < n && !c->failed; i++) {
		size_t len = read_below(c, DWELL_ANSWER_NAME_MAX_BYTES + 1);
		const char *s = (const char *)dw_cursor_bytes(c, len);

		if (!s || !len)
			return DWELL_ERR_FORMAT;
		if (dw_strings_add(t, s, len, &id))
			return -ENOMEM;
		if (id != i)
			return DWELL_ERR_FORMAT;
	}
	return c->failed ? DWELL_ERR_FORMAT : 0;
}

static int decode_functions(struct dw_cursor *c, struct dw_answer *a)
{
	uint32_t n = read_below(c, dw_cursor_left(c) + 1), strings = a->strings.n;

	if (dw_vec_push(&a->functions, (struct dw_function){0}))
		return -ENOMEM;
	for (uint32_t i = 1; i < n && !c->failed; i++) {
		struct dw_function f = {0};

		f.name = read_below(c, strings);
		f.linkage_name = read_below(c, strings);
		f.file = read_below(c, strings);
		f.line = read_below(c, UINT32_MAX);
		f.flags = read_below(c, DWELL_FUNCTION_INLINED + 1);
		f.svma = dw_cursor_uleb(c);
		f.bytes = dw_cursor_uleb(c);
		if (!f.name || f.flags & DWELL_FUNCTION_NO_SYMBOL)
			return DWELL_ERR_FORMAT;
		if (dw_vec_push(&a->functions, f))
			return -ENOMEM;
	}
	return c->failed ? DWELL_ERR_FORMAT : 0;
}

static int decode_chain(struct dw_cursor *c, struct dw_answer *a)
{
	uint32_t n = read_below(c, DWELL_ANSWER_CHAIN_MAX + 1);

	for (uint32_t i = 0; i < n && !c->failed; i++) {
		struct dw_location l = {0};

		l.function = read_below(c, a->functions.n);
		l.file = read_below(c, a->strings.n);
		l.line = read_below(c, UINT32_MAX);
		l.column = read_below(c, UINT32_MAX);
		l.line_end = read_below(c, UINT32_MAX);
		l.column_end = read_below(c, UINT32_MAX);
		if (dw_vec_push(&a->rows, l))
			return -ENOMEM;
	}
	return dw_vec_push(&a->first, (uint32_t)a->rows.n);
}

static int decode_statements(struct dw_cursor *c, struct dw_answer *a)
{
	uint32_t n = read_below(c, dw_cursor_left(c) + 1);
	struct dw_statement s = {0};

	for (uint32_t i = 0; i < n && !c->failed; i++) {
		uint64_t step = dw_cursor_uleb(c);

		if ((i && !step) || step > UINT64_MAX - s.svma)
			return DWELL_ERR_FORMAT;
		s.svma += step;
		s.line = dw_cursor_uleb(c);
		if (dw_vec_push(&a->statements, s))
			return -ENOMEM;
	}
	return 0;
}

int dw_answer_decode(const void *bytes, size_t n, size_t addresses, struct dw_answer *a)
{
	struct dw_cursor c;
	int rc;

	dw_cursor_init(&c, bytes, n);
	rc = decode_strings(&c, &a->strings);
	if (!rc)
		rc = decode_functions(&c, a);
	if (rc)
		return rc;
	if (dw_cursor_uleb(&c) != addresses)
		return DWELL_ERR_FORMAT;
	rc = dw_vec_push(&a->first, 0);
	for (size_t i = 0; i < addresses && !rc && !c.failed; i++)
		rc = decode_chain(&c, a);
	if (!rc)
		rc = decode_statements(&c, a);
	if (rc)
		return rc;
	if (dw_cursor_left(&c)) {
		a->has_debug = true;
		c.failed |= dw_cursor_uleb(&c) != 1;
	}
	return c.failed || dw_cursor_left(&c) ? DWELL_ERR_FORMAT : 0;
}

void dw_answer_release(struct dw_answer *a)
{
	dw_strings_release(&a->strings);
	dw_vec_release(&a->functions);
	dw_vec_release(&a->rows);
	dw_vec_release(&a->first);
	dw_vec_release(&a->statements);
}
