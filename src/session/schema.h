/*
 * The SQL of a session: base tables and views, as docs/session-format.md describes them.
 */
#pragma once

/* What makes an empty database a session that is being written. Static. */
extern const char dw_schema_start_sql[];

/* The tables and views that a finished session has beside, of samples. Static. */
extern const char dw_schema_samples_sql[];

/* The same, of samples and waits. */
extern const char dw_schema_waits_sql[];

/* The same, of calls. Static. */
extern const char dw_schema_calls_sql[];

/* The same, of allocations. Static. */
extern const char dw_schema_allocs_sql[];

/* The one table that loading reads, exactly as sqlite_schema must show it. Static. */
extern const char dw_schema_chunk_sql[];
