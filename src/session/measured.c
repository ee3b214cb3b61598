/* Rows of values; see measured.h. Columns of keys do not tell their length: reading over the first
 * finds the second. */
#include "session/measured.h"

/* Append @column, with its length before it, to @b, and free it. */
static void put_column(struct dw_buf *b, struct dw_buf *column)
{
	dw_buf_put_uleb(b, column->len);
	dw_buf_put(b, dw_buf_str(column), column->len);
	b->failed |= column->failed;
	dw_buf_release(column);
}

void dw_measured_put(struct dw_buf *b, struct dw_measured_out *v, unsigned n)
{
	put_column(b, &v->masks);
	for (unsigned i = 0; i < n; i++)
		put_column(b, &v->columns[i]);
}

/* A cursor over the next column, which tells its length. */
static struct dw_cursor take_column(struct dw_cursor *c)
{
	size_t n = dw_cursor_uleb(c);
	const uint8_t *bytes = dw_cursor_bytes(c, n);
	struct dw_cursor column;

	dw_cursor_init(&column, bytes, bytes ? n : 0);
	return column;
}

void dw_measured_open(struct dw_cursor *c, unsigned n, struct dw_measured_in *ret)
{
	ret->n = n;
	ret->masks = take_column(c);
	for (unsigned i = 0; i < n; i++)
		ret->columns[i] = take_column(c);
}

void dw_measured_close(struct dw_cursor *c, const struct dw_measured_in *v)
{
	c->failed |= v->masks.failed || dw_cursor_left(&v->masks);
	for (unsigned i = 0; i < v->n; i++)
		c->failed |= v->columns[i].failed || dw_cursor_left(&v->columns[i]);
}

struct dw_keys_in dw_keys_open(struct dw_cursor *c, size_t n, uint64_t slices, uint64_t ids,
			       uint64_t before)
{
	struct dw_keys_in k = {.slice_column = *c, .slices = slices, .ids = ids, .before = before};

	for (size_t i = 0; i < n; i++)
		dw_take(c);
	k.id_column = *c;
	for (size_t i = 0; i < n; i++)
		dw_take(c);
	return k;
}
