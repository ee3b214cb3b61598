/*
 * Columns of chunks; see columns.h. One column after the other, because zstd packs like next to
 * like: measured on a compiler's stacks it halves what rows take.
 */
#include "session/columns.h"

/* The member of @bytes at @at. */
static inline uint64_t get(const char *at, unsigned bytes)
{
	return bytes == sizeof(uint32_t) ? *(const uint32_t *)(const void *)at
					 : *(const uint64_t *)(const void *)at;
}

static inline void set(char *at, unsigned bytes, uint64_t v)
{
	if (bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)at = (uint32_t)v;
	else
		*(uint64_t *)(void *)at = v;
}

static void put_column(struct dw_buf *b, const struct dw_column *col, const char *row,
		       size_t stride, size_t n, uint64_t first)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++, row += stride) {
		uint64_t v = get(row + col->offset, col->bytes);

		switch (col->coding) {
		case DWELL_CODING_DELTA:
			dw_buf_put_uleb(b, dw_zigzag(v - last));
			last = v;
			break;
		case DWELL_CODING_UP:
			dw_buf_put_uleb(b, first + i - v);
			break;
		case DWELL_CODING_BELOW:
			dw_buf_put_uleb(b, get(row + col->of, col->bytes) - v);
			break;
		case DWELL_CODING_FROM:
			dw_buf_put_uleb(b, dw_zigzag(v - get(row + col->of, col->bytes)));
			break;
		default:
			dw_buf_put_uleb(b, v);
		}
	}
}

void dw_columns_put(struct dw_buf *b, const struct dw_columns *columns, const void *rows, size_t n,
		    uint64_t first)
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct dw_column *col = &columns->v[i];

		if (col->coding == DWELL_CODING_OWN)
			col->put(b, (const char *)rows + col->offset, columns->row_bytes, n);
		else
			put_column(b, col, rows, columns->row_bytes, n, first);
	}
}

/* A column while it is read. */
struct taken {
	const struct dw_column *column;
	char *row; /* the first */
	size_t stride, n;
	uint64_t first; /* its id */
	uint64_t most;
};

/* Read one column, in a loop for each way it may be coded. */
static inline __attribute__((always_inline)) void
take_as(struct dw_cursor *c, const struct taken *t, enum dw_coding coding, unsigned bytes)
{
	char *at = t->row + t->column->offset, *of = t->row + t->column->of;
	uint64_t most = t->most, last = 0, v;

	for (size_t i = 0; i < t->n; i++, at += t->stride, of += t->stride) {
		v = dw_take(c);
		if (coding == DWELL_CODING_DELTA) {
			v = last += dw_unzigzag(v);
		} else if (coding == DWELL_CODING_UP) {
			c->failed |= !v;
			v = t->first + i - dw_at_most(c, v, t->first + i);
		} else if (coding == DWELL_CODING_BELOW) {
			v = get(of, bytes) - dw_at_most(c, v, get(of, bytes));
		} else if (coding == DWELL_CODING_FROM) {
			v = get(of, bytes) + dw_unzigzag(v);
		}
		set(at, bytes, dw_at_most(c, v, most));
	}
}

/* Note in @c whether any of the members that were read is 0. */
static void check_needed(struct dw_cursor *c, const struct taken *t)
{
	const char *at = t->row + t->column->offset;

	for (size_t i = 0; i < t->n; i++, at += t->stride)
		c->failed |= !get(at, t->column->bytes);
}

static void take_column(struct dw_cursor *c, const struct taken *t)
{
	const struct dw_column *col = t->column;
	bool is_long = col->bytes == sizeof(uint64_t);

	if (col->coding == DWELL_CODING_DELTA && is_long)
		take_as(c, t, DWELL_CODING_DELTA, sizeof(uint64_t));
	else if (col->coding == DWELL_CODING_DELTA)
		take_as(c, t, DWELL_CODING_DELTA, sizeof(uint32_t));
	else if (col->coding == DWELL_CODING_PLAIN && is_long)
		take_as(c, t, DWELL_CODING_PLAIN, sizeof(uint64_t));
	else if (col->coding == DWELL_CODING_PLAIN)
		take_as(c, t, DWELL_CODING_PLAIN, sizeof(uint32_t));
	else
		take_as(c, t, col->coding, col->bytes);
	if (col->needed)
		check_needed(c, t);
}

void dw_columns_take(struct dw_cursor *c, const struct dw_columns *columns, void *rows, size_t n,
		     uint64_t first, const uint64_t limits[DWELL_LIMITS])
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct dw_column *col = &columns->v[i];
		struct taken t = {col, rows, columns->row_bytes, n, first, limits[col->limit]};

		if (col->limit == DWELL_LIMIT_NUMBER)
			t.most = col->most;
		else if (col->limit == DWELL_LIMIT_NONE)
			t.most = col->bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
		if (col->coding == DWELL_CODING_OWN)
			col->take(c, (char *)rows + col->offset, t.stride, n, limits);
		else
			take_column(c, &t);
	}
}
