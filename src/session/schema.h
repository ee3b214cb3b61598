/*
 * The SQL of a session: base tables and views, as docs/session-format.md describes them.
 */
#pragma once

/* What makes an empty database a session. Static. */
extern const char dw_schema_sql[];

/* The one table that loading reads, exactly as sqlite_schema must show it. Static. */
extern const char dw_schema_chunk_sql[];
