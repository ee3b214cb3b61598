/*
 * Loading a session; see read.h.
 *
 * Only one base table is read, chunk, and only if its definition is exactly the one that dwell
 * writes; views and triggers are switched off, so no SQL of the file runs. What SQLite does not
 * check, the checksum of each chunk and the index do.
 *
 * The file is opened immutable: no lock, no file beside it, and folders without write access work.
 * A writer may be alive and overwrite pages meanwhile; then a check fails and the load is tried
 * again. Only the leftover journal of a killed writer needs SQLite's own recovery. See
 * sqlite.org/security.html.
 */
#include "session/read.h"

#include "base/cleanup.h"
#include "session/database.h"
#include "session/decode.h"
#include "session/load.h"
#include "session/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
	LIVE_TRIES = 20,
	LIVE_PAUSE_NS = 10 * 1000 * 1000,
	SQL_BYTES_MAX = 1 << 20,
	COLUMNS_MAX = 64,
	ITEMS_RATIO = 4, /* an index that tells of more items a byte of the file is not believed */
};

struct reader {
	sqlite3 *sql;
	sqlite3_stmt *rows;
	struct dw_loading loading;
	struct dw_session_header header;
	int64_t last_id;    /* of the chunks seen */
	uint64_t raw_bytes; /* unpacked so far */
	struct dw_raw_chunk chunk;
};

static void reader_release(struct reader *r)
{
	sqlite3_finalize(r->rows);
	sqlite3_close(r->sql);
	dw_buf_release(&r->chunk.raw);
	dw_loading_release(&r->loading);
}

static int sqlite_error(struct reader *r, struct dw_error *err)
{
	int code = sqlite3_errcode(r->sql);

	if (code == SQLITE_NOMEM)
		return dw_error_set(err, -ENOMEM, "no memory to read it");
	if (code == SQLITE_CANTOPEN || code == SQLITE_IOERR || code == SQLITE_PERM)
		return dw_error_set(err, -EIO, "cannot read: %s", sqlite3_errmsg(r->sql));
	return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: %s", sqlite3_errmsg(r->sql));
}

/* "file:" + @path with what an URI would misread escaped. */
static char *uri_of(const char *path, bool immutable)
{
	struct dw_buf b = DW_BUF_INIT;

	dw_buf_puts(&b, *path == '/' ? "file://" : "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			dw_buf_printf(&b, "%%%02x", (unsigned char)*path);
		else
			dw_buf_putc(&b, *path);
	dw_buf_puts(&b, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
	if (b.failed)
		dw_buf_release(&b);
	return dw_buf_detach(&b);
}

static void distrust(sqlite3 *sql)
{
	sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, DWELL_CHUNK_RAW_BYTES_MAX);
	sqlite3_limit(sql, SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX);
	sqlite3_limit(sql, SQLITE_LIMIT_COLUMN, COLUMNS_MAX);
	sqlite3_limit(sql, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(sql, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	sqlite3_limit(sql, SQLITE_LIMIT_WORKER_THREADS, 0);
}

static int open_sqlite(struct reader *r, const char *path, bool immutable, struct dw_error *err)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
	dw_auto_free char *uri = uri_of(path, immutable);

	if (!uri)
		return dw_error_set(err, -ENOMEM, "no memory to read it");
	if (sqlite3_open_v2(uri, &r->sql, flags, NULL))
		return r->sql ? sqlite_error(r, err) : dw_error_set(err, -ENOMEM, "no memory");
	distrust(r->sql);
	if (sqlite3_exec(r->sql, "PRAGMA cell_size_check = ON", NULL, NULL, NULL))
		return sqlite_error(r, err);
	return 0;
}

/* The table chunk must be the one that dwell makes, not a view or something computed. */
static int check_schema(struct reader *r, struct dw_error *err)
{
	static const char query[] = "SELECT sql FROM sqlite_schema WHERE name = 'chunk'"
				    " AND type = 'table' AND rootpage > 0";
	sqlite3_stmt *st;
	const char *sql;
	bool same;

	if (sqlite3_prepare_v2(r->sql, query, -1, &st, NULL))
		return sqlite_error(r, err);
	sql = sqlite3_step(st) == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
	same = sql && !strcmp(sql, dw_schema_chunk_sql);
	sqlite3_finalize(st);
	if (same)
		return 0;
	if (sqlite3_errcode(r->sql) != SQLITE_OK && sqlite3_errcode(r->sql) != SQLITE_ROW)
		return sqlite_error(r, err);
	return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: it has no table of chunks");
}

/* Unpack the current row into r->chunk. */
static int unpack_row(struct reader *r, const struct dw_packed_chunk *c, struct dw_error *err)
{
	uint64_t allowed = DWELL_RAW_BYTES_FREE + r->header.file_bytes * DWELL_RAW_BYTES_RATIO;
	int rc;

	if (c->raw_bytes > DWELL_CHUNK_RAW_BYTES_MAX || (r->raw_bytes += c->raw_bytes) > allowed)
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "damaged: chunk %" PRId64 " would unpack to too much", c->id);
	rc = dw_chunk_unpack(c, &r->chunk.raw);
	if (rc == -ENOMEM)
		return dw_error_set(err, rc, "no memory to read it");
	if (rc)
		return dw_error_set(err, rc, "damaged: chunk %" PRId64 " does not unpack", c->id);
	return 0;
}

/* The row's columns, checked against its checksum. */
static int take_row(struct reader *r, struct dw_packed_chunk *c, struct dw_error *err)
{
	const char *kind = (const char *)sqlite3_column_text(r->rows, 1);

	*c = (struct dw_packed_chunk){
		.id = sqlite3_column_int64(r->rows, 0),
		.kind = kind ? kind : "",
		.items = (uint64_t)sqlite3_column_int64(r->rows, 2),
		.raw_bytes = (uint64_t)sqlite3_column_int64(r->rows, 3),
		.data = sqlite3_column_blob(r->rows, 5),
		.bytes = (size_t)sqlite3_column_bytes(r->rows, 5),
	};
	if (sqlite3_errcode(r->sql) == SQLITE_NOMEM)
		return dw_error_set(err, -ENOMEM, "no memory to read it");
	if (dw_chunk_checksum(c) != sqlite3_column_int64(r->rows, 4))
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "damaged: the checksum of chunk %" PRId64 " is wrong", c->id);
	return 0;
}

/* Unpack the current row, whose columns are @c, into r->chunk, of a kind that we know. */
static int take_chunk(struct reader *r, const struct dw_packed_chunk *c, struct dw_error *err)
{
	int rc = unpack_row(r, c, err);

	r->chunk.kind = dw_chunk_kind_find(c->kind);
	r->chunk.items = c->items;
	return rc;
}

static int load_row(struct reader *r, struct dw_error *err)
{
	struct dw_packed_chunk c;
	int rc = take_row(r, &c, err);

	if (rc)
		return rc;
	if (c.id >= DWELL_CHUNK_ID_FIRST && c.id != ++r->last_id)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: chunk %" PRId64 " is missing",
				    r->last_id);
	if (dw_chunk_kind_find(c.kind) == DWELL_CHUNK_KINDS)
		return 0; /* of a later dwell that found no need for a new version */
	rc = take_chunk(r, &c, err);
	return rc ? rc : dw_loading_take(&r->loading, &r->chunk, err);
}

/* Begin with the rows of @kind. */
static int select_kind(struct reader *r, enum dw_chunk_kind kind, struct dw_error *err)
{
	static const char query[] = "SELECT id, kind, items, raw_bytes, checksum, data"
				    " FROM main.chunk WHERE kind = ? ORDER BY id";

	if (sqlite3_prepare_v2(r->sql, query, -1, &r->rows, NULL) ||
	    sqlite3_bind_text(r->rows, 1, dw_chunk_kind_name(kind), -1, SQLITE_STATIC))
		return sqlite_error(r, err);
	return 0;
}

/* Read the slices before all else: which of them are in a range can only be told from all. */
static int find_slices(struct reader *r, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = select_kind(r, DWELL_CHUNK_CALL_SLICES, err), step = SQLITE_DONE;

	while (!rc && (step = sqlite3_step(r->rows)) == SQLITE_ROW) {
		struct dw_packed_chunk c;

		rc = take_row(r, &c, err);
		if (!rc)
			rc = take_chunk(r, &c, err);
		if (!rc)
			rc = dw_decode_chunk(&r->chunk, NULL, &p, err);
	}
	if (!rc && step != SQLITE_DONE)
		rc = sqlite_error(r, err);
	if (!rc)
		rc = dw_loading_select(&r->loading, &p.calls, err);
	sqlite3_finalize(r->rows);
	r->rows = NULL;
	dw_profile_release(&p);
	return rc;
}

static int load_rows(struct reader *r, struct dw_error *err)
{
	static const char query[] = "SELECT id, kind, items, raw_bytes, checksum, data"
				    " FROM main.chunk ORDER BY id";
	int rc, step;

	r->last_id = DWELL_CHUNK_ID_FIRST - 1;
	r->loading.items_max = r->header.file_bytes * ITEMS_RATIO;
	if (sqlite3_prepare_v2(r->sql, query, -1, &r->rows, NULL))
		return sqlite_error(r, err);
	while ((step = sqlite3_step(r->rows)) == SQLITE_ROW) {
		rc = load_row(r, err);
		if (rc)
			return rc;
	}
	if (step != SQLITE_DONE)
		return sqlite_error(r, err);
	if (r->last_id != r->loading.index.last_id)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: chunks are missing");
	return dw_loading_finish(&r->loading, err);
}

/* Whether a killed writer left a journal with something in it beside @path. */
static bool has_journal(const char *path)
{
	dw_auto_free char *wal = dw_output_name(path, "-wal");
	struct stat st;

	return wal && !stat(wal, &st) && st.st_size > 0;
}

struct load {
	const char *path;
	struct dw_profile *p;
	struct dw_session_info *info;
	const struct dw_session_range *range;
	bool keeps_slices;
};

/* Open the session at @path. */
static int open_session(struct reader *r, const char *path, bool immutable, struct dw_error *err)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return dw_error_set_errno(err, errno, "cannot open");
	rc = dw_session_header_read(fd, &r->header, err);
	if (!rc)
		rc = open_sqlite(r, path, immutable || !r->header.wal, err);
	return rc ? rc : check_schema(r, err);
}

static int load_once(const struct load *l, bool immutable, struct dw_error *err)
{
	__attribute__((cleanup(reader_release))) struct reader r = {
		.loading = {.p = l->p, .range = l->range, .keeps_slices = l->keeps_slices}};
	int rc = open_session(&r, l->path, immutable, err);

	if (!rc && l->range && !dw_session_range_is_all(l->range))
		rc = find_slices(&r, err);
	if (!rc)
		rc = load_rows(&r, err);
	if (!rc && l->info)
		l->info->finished = r.loading.index.finished;
	return rc;
}

/* Whether @path is to be read as it is: only a killed writer's journal is not in it. */
static bool is_immutable(const char *path)
{
	return dw_output_is_held(path) || !has_journal(path);
}

static int load(const struct load *l, struct dw_error *err)
{
	bool immutable = is_immutable(l->path);
	int rc = load_once(l, immutable, err);

	for (int i = 0; rc && rc != -ENOENT && i < LIVE_TRIES; i++) {
		if (immutable && !dw_output_is_held(l->path))
			break; /* it does not change: trying again would tell the same */
		nanosleep(&(struct timespec){.tv_nsec = immutable ? LIVE_PAUSE_NS : 0}, NULL);
		immutable = true;
		dw_profile_release(l->p);
		rc = load_once(l, immutable, err);
	}
	return rc ? dw_error_prefix(err, "%s", l->path), rc : 0;
}

int dw_session_load(const char *path, struct dw_profile *p, struct dw_session_info *info,
		    struct dw_error *err)
{
	return load(&(struct load){.path = path, .p = p, .info = info}, err);
}

int dw_session_load_summed(const char *path, const struct dw_session_range *range,
			   struct dw_profile *p, struct dw_session_info *info, struct dw_error *err)
{
	return load(&(struct load){.path = path, .p = p, .info = info, .range = range}, err);
}

int dw_session_load_to_finish(const char *path, struct dw_profile *p, struct dw_session_info *info,
			      struct dw_error *err)
{
	static const struct dw_session_range all;

	return load(
		&(struct load){
			.path = path, .p = p, .info = info, .range = &all, .keeps_slices = true},
		err);
}

int dw_session_each_chunk(const char *path, enum dw_chunk_kind kind, dw_packed_sink_fn *sink,
			  void *ctx, struct dw_error *err)
{
	__attribute__((cleanup(reader_release))) struct reader r = {0};
	int rc = open_session(&r, path, is_immutable(path), err), step = SQLITE_DONE;

	if (!rc)
		rc = select_kind(&r, kind, err);
	while (!rc && (step = sqlite3_step(r.rows)) == SQLITE_ROW) {
		struct dw_packed_chunk c;

		rc = take_row(&r, &c, err);
		if (!rc)
			rc = sink(ctx, &c, err);
	}
	return rc || step == SQLITE_DONE ? rc : sqlite_error(&r, err);
}
