/*
 * The SQLite side of a session being written: a database with the schema, and chunks put into it.
 *
 * One thread at a time. Errors are dwell's: a full disk is -ENOSPC, whatever SQLite calls it.
 */
#pragma once

#include "base/error.h"
#include "model/measure.h"
#include "session/encode.h"

#include <sqlite3.h>

struct dw_database {
	sqlite3 *sql;
	sqlite3_stmt *put;	    /* into the table chunk */
	int level;		    /* of zstd */
	int version;		    /* that it has so far, 0 = that of samples */
	struct ZSTD_CCtx_s *packer; /* NULL = not needed yet */
	struct dw_buf packed;
	struct dw_session_index index;
};

/*
 * Open the existing empty file @path and make it a session without content.
 * @wal    commits leave @path complete by itself, others may read it meanwhile; else one
 *         transaction without journal fills it, and a failure spoils it.
 * @level  of zstd, for all chunks.
 * On failure @db is closed again. 0 or a negative code.
 */
int dw_database_create(struct dw_database *db, const char *path, bool wal, int level,
		       struct dw_error *err);

/* Run @sql, one or more statements without results. */
int dw_database_exec(struct dw_database *db, const char *sql, struct dw_error *err);

/* Compile @sql into *@ret, which the caller finalizes. */
int dw_database_prepare(struct dw_database *db, const char *sql, sqlite3_stmt **ret,
			struct dw_error *err);

/* Run a bound statement that gives no rows, and reset it. */
int dw_database_step(struct dw_database *db, sqlite3_stmt *st, struct dw_error *err);

/* Pack and add @c behind the others. */
int dw_database_put(struct dw_database *db, const struct dw_raw_chunk *c, struct dw_error *err);

/* Add @c as it is, which is of @kind, with an id of its own. */
int dw_database_put_packed(struct dw_database *db, enum dw_chunk_kind kind,
			   const struct dw_packed_chunk *c, struct dw_error *err);

/* Write the chunks of the facts and of the index, which replace those that are there. */
int dw_database_put_state(struct dw_database *db, const struct dw_raw_chunk *facts,
			  struct dw_error *err);

/* End the transaction of a WAL database so that the file alone has all of it. The space is reserved
 * first through @fd, a descriptor of the same file, so that a full disk stops it before anything is
 * overwritten. */
int dw_database_commit_alone(struct dw_database *db, int fd, struct dw_error *err);

/* Say what SQLite's last call on @db failed of. Returns err's code. */
int dw_database_error(struct dw_database *db, struct dw_error *err);

/* Close without committing. Zero-initialised is fine. */
void dw_database_release(struct dw_database *db);

/* The SQL of docs/session-format.md (schema.c). What makes an empty database a session that is
 * being written. Static. */
extern const char dw_schema_start_sql[];

/* Make the tables and views that a finished session of @set has beside. 0 or a negative code. */
int dw_schema_make(struct dw_database *db, dw_measures set, struct dw_error *err);

/* The one table that loading reads, exactly as sqlite_schema must show it. Static. */
extern const char dw_schema_chunk_sql[];
