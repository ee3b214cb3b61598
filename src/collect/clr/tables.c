/*
 * Copies of tables; see tables.h. Chunks of a table follow each other in the order of the region's
 * list; of the last one only what is in use is read.
 */
#include "collect/clr/tables.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define BYTES_MAX ((uint64_t)1 << 30)

static const uint32_t row_bytes[] = {
	[DWELL_CLR_NODES] = sizeof(struct dw_clr_node),
	[DWELL_CLR_GROUPS] = sizeof(struct dw_clr_group),
	[DWELL_CLR_OLDS] = sizeof(struct dw_clr_old),
	[DWELL_CLR_TYPES] = sizeof(struct dw_clr_type),
	[DWELL_CLR_FRAMES] = sizeof(struct dw_clr_frame),
	[DWELL_CLR_FUNCTIONS] = sizeof(struct dw_clr_function),
	[DWELL_CLR_MODULES] = sizeof(struct dw_clr_module),
	[DWELL_CLR_THREADS] = sizeof(struct dw_clr_thread),
	[DWELL_CLR_GCS] = sizeof(struct dw_clr_gc),
	[DWELL_CLR_TEXTS] = 1,
};

/* Read as much of chunk @c as its table has in use. */
static int read_chunk(struct dw_clr_tables *t, int fd, const struct dw_region_chunk *c)
{
	uint32_t table = c->kind - DWELL_CHUNK_CLR - 1;
	struct dw_clr_rows *rows = &t->all[table];
	uint64_t wanted = (uint64_t)t->head.rows[table] * row_bytes[table], bytes;
	int rc;

	if (wanted > BYTES_MAX)
		return DWELL_ERR_LIMIT;
	if (wanted <= rows->bytes.n)
		return 0;
	bytes = wanted - rows->bytes.n < c->bytes ? wanted - rows->bytes.n : c->bytes;
	if (dw_vec_reserve(&rows->bytes, bytes))
		return -ENOMEM;
	rc = dw_region_read_bytes(fd, rows->bytes.v + rows->bytes.n, bytes, c->at);
	if (!rc)
		rows->bytes.n += bytes;
	return rc == DWELL_ERR_NOT_FOUND ? DWELL_ERR_FORMAT : rc;
}

static int find_head(struct dw_clr_tables *t, int fd, const struct dw_region_head *head)
{
	struct dw_region_chunk c;
	int rc;

	for (uint32_t i = 0; i < head->chunk_n; i++) {
		rc = dw_region_read_chunk(fd, i, &c);
		if (rc)
			return rc;
		if (c.kind == DWELL_CHUNK_CLR)
			return dw_region_read_bytes(fd, &t->head, sizeof t->head, c.at);
	}
	return DWELL_ERR_NOT_FOUND;
}

int dw_clr_tables_read(struct dw_clr_tables *t, int fd, const struct dw_region_head *head)
{
	int rc = find_head(t, fd, head);

	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		t->all[i].bytes.n = 0;
	for (uint32_t i = 0; i < head->chunk_n && !rc; i++) {
		struct dw_region_chunk c;

		rc = dw_region_read_chunk(fd, i, &c);
		if (!rc && c.kind > DWELL_CHUNK_CLR && c.kind <= DWELL_CHUNK_CLR + DWELL_CLR_TABLES)
			rc = read_chunk(t, fd, &c);
	}
	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		t->all[i].n = rc ? 0 : (uint32_t)(t->all[i].bytes.n / row_bytes[i]);
	return rc;
}

bool dw_clr_tables_get(const struct dw_clr_tables *t, enum dw_clr_table table, uint32_t row,
		       void *ret)
{
	const struct dw_clr_rows *rows = &t->all[table];

	if (!row || row >= rows->n)
		return false;
	memcpy(ret, rows->bytes.v + (size_t)row * row_bytes[table], row_bytes[table]);
	return true;
}

const char *dw_clr_tables_text(const struct dw_clr_tables *t, struct dw_clr_text text, size_t *n)
{
	const struct dw_clr_rows *rows = &t->all[DWELL_CLR_TEXTS];

	*n = 0;
	if (!text.at || !text.bytes || text.at >= rows->n || text.bytes > rows->n - text.at)
		return NULL;
	*n = text.bytes;
	return (const char *)rows->bytes.v + text.at;
}

void dw_clr_tables_release(struct dw_clr_tables *t)
{
	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		dw_vec_release(&t->all[i].bytes);
}
