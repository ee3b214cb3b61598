/*
 * Copies of tables; see tables.h. Chunks of a table follow each other in the order of the region's
 * list; of the last one only what is in use is read.
 */
#include "collect/clr/tables.h"

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define BUDGET_DEFAULT ((uint64_t)1 << 30)

enum { TEXT_MAX_BYTES = 64 << 10 };

static uint64_t budget_of(const struct dw_clr_tables *t)
{
	return t->budget ? t->budget : BUDGET_DEFAULT;
}

/* Read what is missing of chunk @c, which begins at byte *@from of its table, as far as that is in
 * use. *@from becomes its end. */
static int read_chunk(struct dw_clr_tables *t, int fd, const struct dw_region_chunk *c,
		      uint64_t *from)
{
	uint32_t table = c->kind - DWELL_REGION_CHUNK_CLR - 1;
	struct dw_clr_rows *rows = &t->all[table];
	uint64_t wanted = (uint64_t)t->head.rows[table] * dw_clr_row_bytes(table), begin = *from,
		 bytes;
	int rc;

	if (wanted > budget_of(t))
		return DWELL_ERR_LIMIT;
	*from += c->bytes;
	if (wanted > *from)
		wanted = *from;
	if (wanted <= rows->bytes.n)
		return 0;
	bytes = wanted - rows->bytes.n;
	if (dw_vec_reserve(&rows->bytes, bytes))
		return -ENOMEM;
	rc = dw_region_read_bytes(fd, rows->bytes.v + rows->bytes.n, bytes,
				  c->at + (rows->bytes.n - begin));
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
		if (c.kind == DWELL_REGION_CHUNK_CLR)
			return dw_region_read_bytes(fd, &t->head, sizeof t->head, c.at);
	}
	return DWELL_ERR_NOT_FOUND;
}

/* Read what is missing of all tables. */
static int read_tables(struct dw_clr_tables *t, int fd, const struct dw_region_head *head)
{
	uint64_t from[DWELL_CLR_TABLES] = {0}, all = 0;
	int rc = find_head(t, fd, head);

	for (uint32_t i = 0; i < head->chunk_n && !rc; i++) {
		struct dw_region_chunk c;

		rc = dw_region_read_chunk(fd, i, &c);
		if (rc || c.kind <= DWELL_REGION_CHUNK_CLR ||
		    c.kind > DWELL_REGION_CHUNK_CLR + DWELL_CLR_TABLES)
			continue;
		if (c.bytes > budget_of(t) - all) {
			rc = DWELL_ERR_LIMIT;
			break;
		}
		all += c.bytes;
		rc = read_chunk(t, fd, &c, &from[c.kind - DWELL_REGION_CHUNK_CLR - 1]);
	}
	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		t->all[i].n = rc ? 0 : (uint32_t)(t->all[i].bytes.n / dw_clr_row_bytes(i));
	return rc;
}

int dw_clr_tables_read(struct dw_clr_tables *t, int fd, const struct dw_region_head *head)
{
	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		t->all[i].bytes.n = 0;
	return read_tables(t, fd, head);
}

/* Leave @n rows of @table, whose later ones are to be read again. */
static void keep(struct dw_clr_tables *t, enum dw_clr_table table, uint64_t n)
{
	struct dw_clr_rows *rows = &t->all[table];

	if (n >= rows->n)
		return;
	rows->n = (uint32_t)n;
	rows->bytes.n = n * dw_clr_row_bytes(table);
}

static void keep_text(uint64_t *end, struct dw_clr_text text)
{
	if ((uint64_t)text.at + text.bytes > *end)
		*end = (uint64_t)text.at + text.bytes;
}

/* Leave what is whole: rows as far as their first word is there, and what they name. @from: by
 * table, where that was not looked at yet. */
static void keep_whole(struct dw_clr_tables *t, const uint32_t *from)
{
	uint64_t texts = from[DWELL_CLR_TEXTS], il = from[DWELL_CLR_IL];
	struct dw_clr_function f;
	struct dw_clr_module m;
	struct dw_clr_probed p;
	struct dw_clr_code c;
	uint32_t row;

	for (row = from[DWELL_CLR_FUNCTIONS] + !from[DWELL_CLR_FUNCTIONS];
	     dw_clr_tables_get(t, DWELL_CLR_FUNCTIONS, row, &f) && f.name.at; row++)
		keep_text(&texts, f.name);
	keep(t, DWELL_CLR_FUNCTIONS, row);
	for (row = from[DWELL_CLR_MODULES] + !from[DWELL_CLR_MODULES];
	     dw_clr_tables_get(t, DWELL_CLR_MODULES, row, &m) && m.path.at; row++)
		keep_text(&texts, m.path);
	keep(t, DWELL_CLR_MODULES, row);
	for (row = from[DWELL_CLR_CODES] + !from[DWELL_CLR_CODES];
	     dw_clr_tables_get(t, DWELL_CLR_CODES, row, &c) && c.start; row++)
		if ((uint64_t)c.il + c.il_n > il)
			il = (uint64_t)c.il + c.il_n;
	keep(t, DWELL_CLR_CODES, row);
	for (row = from[DWELL_CLR_PROBED] + !from[DWELL_CLR_PROBED];
	     dw_clr_tables_get(t, DWELL_CLR_PROBED, row, &p) && p.key; row++)
		;
	keep(t, DWELL_CLR_PROBED, row);
	keep(t, DWELL_CLR_TEXTS, texts);
	keep(t, DWELL_CLR_IL, il);
}

int dw_clr_tables_more(struct dw_clr_tables *t, int fd, const struct dw_region_head *head)
{
	uint32_t from[DWELL_CLR_TABLES];
	int rc;

	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		from[i] = t->all[i].n;
	rc = read_tables(t, fd, head);
	if (!rc)
		keep_whole(t, from);
	return rc;
}

bool dw_clr_tables_get(const struct dw_clr_tables *t, enum dw_clr_table table, uint32_t row,
		       void *ret)
{
	const struct dw_clr_rows *rows = &t->all[table];

	if (!row || row >= rows->n)
		return false;
	memcpy(ret, rows->bytes.v + (size_t)row * dw_clr_row_bytes(table), dw_clr_row_bytes(table));
	return true;
}

const char *dw_clr_tables_text(const struct dw_clr_tables *t, struct dw_clr_text text, size_t *n)
{
	const struct dw_clr_rows *rows = &t->all[DWELL_CLR_TEXTS];
	const char *at;

	*n = 0;
	if (!text.at || !text.bytes || text.at >= rows->n || text.bytes > rows->n - text.at)
		return NULL;
	at = (const char *)rows->bytes.v + text.at;
	*n = strnlen(at, text.bytes < TEXT_MAX_BYTES ? text.bytes : TEXT_MAX_BYTES);
	return *n ? at : NULL;
}

void dw_clr_tables_release(struct dw_clr_tables *t)
{
	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		dw_vec_release(&t->all[i].bytes);
}

/* Row 0 is none. */

int dw_clr_codes_take(struct dw_code_map *m, uint32_t *taken, const struct dw_clr_tables *t)
{
	struct dw_clr_code c;

	for (*taken += !*taken; dw_clr_tables_get(t, DWELL_CLR_CODES, *taken, &c); ++*taken) {
		const struct dw_code_piece piece = {c.start, c.start + c.bytes, c.since_ns, *taken};

		if (c.start && piece.end > piece.start && dw_code_map_add(m, &piece))
			return -ENOMEM;
	}
	return dw_code_map_merge(m);
}
