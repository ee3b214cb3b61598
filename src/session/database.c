/*
 * Writing through SQLite; see database.h.
 *
 * WAL in exclusive mode: no shared-memory file appears beside the session, and no other program can
 * hold a checkpoint up (readers open the file immutable and check what they read). A checkpoint
 * overwrites pages in place; were the disk to fill in the middle of it, FILE.partial would be torn,
 * so its blocks are allocated before the commit. See sqlite.org/wal.html, sqlite.org/pragma.html.
 */
#include "session/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <zstd.h>

static int code_of(int sqlite_code, int system_errno)
{
	switch (sqlite_code & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_TOOBIG:
		return DWELL_ERR_LIMIT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return DWELL_ERR_FORMAT;
	default:
		return system_errno ? -system_errno : -EIO;
	}
}

int dw_database_error(struct dw_database *db, struct dw_error *err)
{
	int code = code_of(sqlite3_extended_errcode(db->sql), sqlite3_system_errno(db->sql));

	if (code > -4096 && code != -EIO)
		return dw_error_set_errno(err, -code, "cannot write the session");
	return dw_error_set(err, code, "cannot write the session: %s", sqlite3_errmsg(db->sql));
}

int dw_database_exec(struct dw_database *db, const char *sql, struct dw_error *err)
{
	return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) ? dw_database_error(db, err) : 0;
}

int dw_database_prepare(struct dw_database *db, const char *sql, sqlite3_stmt **ret,
			struct dw_error *err)
{
	return sqlite3_prepare_v2(db->sql, sql, -1, ret, NULL) ? dw_database_error(db, err) : 0;
}

int dw_database_step(struct dw_database *db, sqlite3_stmt *st, struct dw_error *err)
{
	int rc = sqlite3_step(st) == SQLITE_DONE ? 0 : dw_database_error(db, err);

	sqlite3_reset(st);
	return rc;
}

/* The journal and durability of a new database. Recording: a crash of the whole machine may lose
 * it. Finishing: the file is made aside and synced once at its end. */
static const char wal_pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
				  "PRAGMA synchronous = OFF;"
				  "PRAGMA journal_mode = WAL;"
				  "PRAGMA wal_autocheckpoint = 0;";
static const char aside_pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
				    "PRAGMA synchronous = OFF;"
				    "PRAGMA journal_mode = OFF;";

int dw_database_create(struct dw_database *db, const char *path, bool wal, int level,
		       struct dw_error *err)
{
	int rc;

	*db = (struct dw_database){.level = level};
	db->index.last_id = DWELL_CHUNK_ID_FIRST - 1;
	if (sqlite3_open_v2(path, &db->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		rc = db->sql ? dw_database_error(db, err) : -ENOMEM;
	else
		rc = dw_database_exec(db, wal ? wal_pragmas : aside_pragmas, err);
	if (!rc)
		rc = dw_database_exec(db, "BEGIN", err);
	if (!rc)
		rc = dw_database_exec(db, dw_schema_start_sql, err);
	if (!rc)
		rc = dw_database_prepare(db, "REPLACE INTO chunk VALUES (?, ?, ?, ?, ?, ?)",
					 &db->put, err);
	if (rc)
		dw_database_release(db);
	return rc;
}

static int put_packed(struct dw_database *db, const struct dw_packed_chunk *c, struct dw_error *err)
{
	sqlite3_bind_int64(db->put, 1, c->id);
	sqlite3_bind_text(db->put, 2, c->kind, -1, SQLITE_STATIC);
	sqlite3_bind_int64(db->put, 3, (int64_t)c->items);
	sqlite3_bind_int64(db->put, 4, (int64_t)c->raw_bytes);
	sqlite3_bind_int64(db->put, 5, dw_chunk_checksum(c));
	sqlite3_bind_blob64(db->put, 6, c->data, c->bytes, SQLITE_STATIC);
	return dw_database_step(db, db->put, err);
}

static int put_row(struct dw_database *db, int64_t id, const struct dw_raw_chunk *c,
		   struct dw_error *err)
{
	struct dw_packed_chunk packed = {.id = id,
					 .kind = dw_chunk_kind_name(c->kind),
					 .items = c->items,
					 .raw_bytes = c->raw.len};
	int rc;

	if (!db->packer)
		db->packer = ZSTD_createCCtx();
	rc = dw_chunk_pack(db->packer, &c->raw, db->level, &db->packed);
	if (rc)
		return dw_error_set(err, rc, "cannot pack the session's %s: %s", packed.kind,
				    dw_err_string(rc));
	packed.data = db->packed.data;
	packed.bytes = db->packed.len;
	return put_packed(db, &packed, err);
}

/* A dwell that knows no calls, or no allocations, must not take such a session for an empty one. */
static int raise_version(struct dw_database *db, enum dw_chunk_kind kind, struct dw_error *err)
{
	int version = kind == DWELL_CHUNK_EXECS		? DWELL_SESSION_VERSION_SAMPLES
		      : kind == DWELL_CHUNK_CALL_DELTAS ? DWELL_SESSION_VERSION
		      : kind >= DWELL_CHUNK_ALLOC_TYPES ? DWELL_SESSION_VERSION_ALLOCATIONS
		      : kind >= DWELL_CHUNK_CALL_NODES	? DWELL_SESSION_VERSION_CALLS
							: DWELL_SESSION_VERSION_SAMPLES;
	char sql[64];

	if (version <= (db->version ? db->version : DWELL_SESSION_VERSION_SAMPLES))
		return 0;
	db->version = version;
	snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
	return dw_database_exec(db, sql, err);
}

/* Count the chunk that was put last. */
static int count(struct dw_database *db, enum dw_chunk_kind kind, uint64_t items,
		 struct dw_error *err)
{
	int rc = raise_version(db, kind, err);

	if (rc)
		return rc;
	db->index.last_id++;
	db->index.kinds[kind].chunks++;
	db->index.kinds[kind].items += items;
	return 0;
}

int dw_database_put(struct dw_database *db, const struct dw_raw_chunk *c, struct dw_error *err)
{
	int rc = put_row(db, db->index.last_id + 1, c, err);

	return rc ? rc : count(db, c->kind, c->items, err);
}

int dw_database_put_packed(struct dw_database *db, enum dw_chunk_kind kind,
			   const struct dw_packed_chunk *c, struct dw_error *err)
{
	struct dw_packed_chunk packed = *c;
	int rc;

	packed.id = db->index.last_id + 1;
	packed.kind = dw_chunk_kind_name(kind);
	rc = put_packed(db, &packed, err);
	return rc ? rc : count(db, kind, c->items, err);
}

int dw_database_put_state(struct dw_database *db, const struct dw_raw_chunk *facts,
			  struct dw_error *err)
{
	struct dw_raw_chunk index;
	int rc = put_row(db, DWELL_CHUNK_ID_FACTS, facts, err);

	if (rc)
		return rc;
	rc = dw_encode_index(&db->index, &index);
	if (rc)
		rc = dw_error_set(err, rc, "no memory to write the session");
	else
		rc = put_row(db, DWELL_CHUNK_ID_INDEX, &index, err);
	dw_buf_release(&index.raw);
	return rc;
}

/* The number that @pragma gives. */
static int64_t pragma_value(struct dw_database *db, const char *pragma)
{
	sqlite3_stmt *st;
	int64_t v = -1;

	if (sqlite3_prepare_v2(db->sql, pragma, -1, &st, NULL))
		return -1;
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

/* Allocate the blocks of the whole database. File systems that cannot are let through. */
static int reserve_space(struct dw_database *db, int fd, struct dw_error *err)
{
	int64_t bytes =
		pragma_value(db, "PRAGMA page_count") * pragma_value(db, "PRAGMA page_size");

	if (bytes > 0 && fallocate(fd, 0, 0, bytes) && errno != EOPNOTSUPP && errno != ENOSYS)
		return dw_error_set_errno(err, errno, "cannot write the session");
	return 0;
}

int dw_database_commit_alone(struct dw_database *db, int fd, struct dw_error *err)
{
	int rc = reserve_space(db, fd, err);

	if (!rc)
		rc = dw_database_exec(db, "COMMIT", err);
	if (!rc)
		rc = dw_database_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	return rc;
}

void dw_database_release(struct dw_database *db)
{
	sqlite3_finalize(db->put);
	sqlite3_close(db->sql);
	ZSTD_freeCCtx(db->packer);
	dw_buf_release(&db->packed);
	*db = (struct dw_database){0};
}
