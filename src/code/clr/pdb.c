/*
 * Portable PDBs; see pdb.h. Of all tables only the first two are read: documents, and sequence
 * points by method. A file with tables of an assembly before them is none of ours.
 */
#include "code/clr/pdb.h"

#include "base/error.h"

#include <string.h>

#define ROOT_MAGIC 0x424a5342u /* "BSJB" */

enum {
	STREAMS_MAX = 16,
	TABLE_DOCUMENT = 0x30,
	TABLE_METHOD = 0x31,
	TABLES = 64,
	HEAP_GUID_LARGE = 2,
	HEAP_BLOB_LARGE = 4,
	NAME_BYTES = 32, /* of a stream, its NUL and padding included */
	PARTS_MAX = 256, /* of a path */
	POINTS_MAX = 1 << 20,
};

struct stream {
	const uint8_t *bytes;
	size_t n;
};

struct streams {
	struct stream pdb, tables, blobs;
};

/* An unsigned number of one to four bytes (ECMA-335 II.23.2); how many in *@ret_bytes. */
static uint32_t compressed(struct dw_cursor *c, int *ret_bytes)
{
	uint32_t first = dw_cursor_u8(c), low;

	*ret_bytes = 1;
	if (!(first & 0x80))
		return first;
	low = dw_cursor_u8(c);
	*ret_bytes = 2;
	if (!(first & 0x40))
		return (first & 0x3f) << 8 | low;
	*ret_bytes = 4;
	if (first & 0x20)
		c->failed = true;
	first = (first & 0x1f) << 24 | low << 16;
	low = dw_cursor_u8(c);
	return first | low << 8 | dw_cursor_u8(c);
}

static uint32_t number(struct dw_cursor *c)
{
	int bytes;

	return compressed(c, &bytes);
}

/* A signed one: its sign is the lowest bit. */
static int32_t signed_number(struct dw_cursor *c)
{
	int bytes;
	uint32_t rotated = compressed(c, &bytes);
	int32_t value = (int32_t)(rotated >> 1);
	int32_t bias = bytes == 1 ? 0x40 : bytes == 2 ? 0x2000 : 0x10000000;

	return rotated & 1 ? value - bias : value;
}

static uint32_t index_at(const uint8_t *row, uint32_t bytes)
{
	struct dw_cursor c;

	dw_cursor_init(&c, row, bytes);
	return bytes == 4 ? dw_cursor_u32(&c) : dw_cursor_u16(&c);
}

static void take_stream(struct dw_cursor *c, struct streams *ret)
{
	uint32_t at = dw_cursor_u32(c), n = dw_cursor_u32(c);
	const char *name = dw_cursor_cstr(c);
	struct stream s = {c->start + at, n};
	size_t all = (size_t)(c->end - c->start), length = name ? strlen(name) + 1 : 0;

	if (!name || length > NAME_BYTES || at > all || n > all - at) {
		c->failed = true;
		return;
	}
	dw_cursor_skip(c, (4 - length % 4) % 4);
	if (!strcmp(name, "#Pdb"))
		ret->pdb = s;
	else if (!strcmp(name, "#~"))
		ret->tables = s;
	else if (!strcmp(name, "#Blob"))
		ret->blobs = s;
}

static bool find_streams(const void *bytes, size_t n, struct streams *ret)
{
	struct dw_cursor c;
	uint32_t version_bytes, streams;

	dw_cursor_init(&c, bytes, n);
	if (dw_cursor_u32(&c) != ROOT_MAGIC)
		return false;
	dw_cursor_skip(&c, 8);
	version_bytes = dw_cursor_u32(&c);
	dw_cursor_skip(&c, version_bytes);
	dw_cursor_skip(&c, 2);
	streams = dw_cursor_u16(&c);
	for (uint32_t i = 0; i < streams && i < STREAMS_MAX && !c.failed; i++)
		take_stream(&c, ret);
	return !c.failed && ret->pdb.n >= DWELL_PDB_ID_BYTES && ret->tables.n && ret->blobs.n;
}

/* Rows of @table, which begin at the cursor. */
static void take_table(struct dw_cursor *c, struct dw_pdb_table *table)
{
	uint64_t bytes = (uint64_t)table->n * table->row_bytes;

	table->rows = dw_cursor_bytes(c, bytes);
}

static bool find_tables(const struct stream *s, struct dw_pdb *pdb)
{
	struct dw_cursor c;
	uint32_t heaps, guid_bytes, rows[TABLES] = {0};
	uint64_t valid;

	dw_cursor_init(&c, s->bytes, s->n);
	dw_cursor_skip(&c, 6);
	heaps = dw_cursor_u8(&c);
	dw_cursor_skip(&c, 1);
	valid = dw_cursor_u64(&c);
	dw_cursor_skip(&c, 8);
	for (int t = 0; t < TABLES; t++)
		if (valid >> t & 1)
			rows[t] = dw_cursor_u32(&c);
	if (c.failed || valid & ((1ull << TABLE_DOCUMENT) - 1))
		return false;
	guid_bytes = heaps & HEAP_GUID_LARGE ? 4 : 2;
	pdb->blob_index_bytes = heaps & HEAP_BLOB_LARGE ? 4 : 2;
	pdb->documents.n = rows[TABLE_DOCUMENT];
	pdb->documents.row_bytes = 2 * pdb->blob_index_bytes + 2 * guid_bytes;
	pdb->document_index_bytes = pdb->documents.n > UINT16_MAX ? 4 : 2;
	pdb->methods.n = rows[TABLE_METHOD];
	pdb->methods.row_bytes = pdb->document_index_bytes + pdb->blob_index_bytes;
	take_table(&c, &pdb->documents);
	take_table(&c, &pdb->methods);
	return !c.failed;
}

int dw_pdb_open(const void *bytes, size_t n, struct dw_pdb *ret)
{
	struct streams s = {0};

	*ret = (struct dw_pdb){0};
	if (!find_streams(bytes, n, &s) || !find_tables(&s.tables, ret))
		return DWELL_ERR_FORMAT;
	memcpy(ret->id, s.pdb.bytes, sizeof ret->id);
	ret->blobs = s.blobs.bytes;
	ret->blobs_n = s.blobs.n;
	return 0;
}

/* Begin to read the blob at @index. False: there is none. */
static bool open_blob(const struct dw_pdb *pdb, uint32_t index, struct dw_cursor *ret)
{
	struct dw_cursor c;
	const uint8_t *bytes;
	uint32_t n;

	dw_cursor_init(&c, pdb->blobs, pdb->blobs_n);
	dw_cursor_seek(&c, index);
	n = number(&c);
	bytes = dw_cursor_bytes(&c, n);
	if (c.failed || !n)
		return false;
	dw_cursor_init(ret, bytes, n);
	return true;
}

/* The state of reading a method's sequence points. */
struct points {
	struct dw_cursor c;
	uint32_t il;
	bool is_first, has_line; /* no point yet; some had a line */
	struct dw_pdb_line at;	 /* the last one with a line */
};

static bool open_points(const struct dw_pdb *pdb, uint32_t method, struct points *ret)
{
	const uint8_t *row = pdb->methods.rows + (size_t)(method - 1) * pdb->methods.row_bytes;

	*ret = (struct points){.is_first = true};
	if (!method || method > pdb->methods.n ||
	    !open_blob(pdb, index_at(row + pdb->document_index_bytes, pdb->blob_index_bytes),
		       &ret->c))
		return false;
	ret->at.document = index_at(row, pdb->document_index_bytes);
	number(&ret->c); /* the signature of local variables */
	if (!ret->at.document)
		ret->at.document = number(&ret->c);
	return !ret->c.failed;
}

/* Read the line of a point; false: it has none. */
static bool take_line(struct points *p)
{
	uint32_t lines = number(&p->c);
	int32_t columns = lines ? signed_number(&p->c) : (int32_t)number(&p->c);

	if (!lines && !columns)
		return false;
	p->at.line = p->has_line ? p->at.line + (uint32_t)signed_number(&p->c) : number(&p->c);
	p->at.column = p->has_line ? p->at.column + (uint32_t)signed_number(&p->c) : number(&p->c);
	p->at.line_end = p->at.line + lines;
	p->at.column_end = p->at.column + (uint32_t)columns;
	p->has_line = true;
	return true;
}

/* Go to the next point. False: there is none. Whether it has a line in *@ret_has_line. */
static bool next_point(struct points *p, bool *ret_has_line)
{
	uint32_t more;

	while (dw_cursor_left(&p->c)) {
		more = number(&p->c);
		if (!more && !p->is_first) {
			p->at.document = number(&p->c);
			continue;
		}
		p->il += more;
		p->is_first = false;
		*ret_has_line = take_line(p);
		return !p->c.failed;
	}
	return false;
}

bool dw_pdb_find(const struct dw_pdb *pdb, uint32_t method, uint32_t il, struct dw_pdb_line *ret)
{
	struct points p;
	bool has_line, found = false;

	if (!open_points(pdb, method, &p))
		return false;
	for (int i = 0; i < POINTS_MAX && next_point(&p, &has_line); i++) {
		if (p.il > il)
			break;
		if (!has_line)
			continue;
		*ret = p.at;
		found = true;
	}
	return found;
}

bool dw_pdb_first(const struct dw_pdb *pdb, uint32_t method, struct dw_pdb_line *ret)
{
	struct points p;
	bool has_line;

	if (!open_points(pdb, method, &p))
		return false;
	for (int i = 0; i < POINTS_MAX && next_point(&p, &has_line); i++) {
		if (!has_line)
			continue;
		*ret = p.at;
		return true;
	}
	return false;
}

bool dw_pdb_document(const struct dw_pdb *pdb, uint32_t row, struct dw_buf *ret)
{
	const uint8_t *at = pdb->documents.rows + (size_t)(row - 1) * pdb->documents.row_bytes;
	struct dw_cursor name, part;
	char separator;

	if (!row || row > pdb->documents.n ||
	    !open_blob(pdb, index_at(at, pdb->blob_index_bytes), &name))
		return false;
	separator = (char)dw_cursor_u8(&name);
	for (int i = 0; i < PARTS_MAX && dw_cursor_left(&name); i++) {
		uint32_t index = number(&name);

		if (i && separator)
			dw_buf_putc(ret, separator);
		if (index && open_blob(pdb, index, &part))
			dw_buf_put(ret, part.start, dw_cursor_left(&part));
	}
	return !name.failed && !ret->failed;
}
