/*
 * Facts as SQL rows; see fact-table.h. What totals tell replaces what the recorder noted: views
 * divide by it, and it must fit the rows of the tables.
 */
#include "session/fact-table.h"

#include <stddef.h>

/* @text, or where that is NULL @n. */
static int put(struct dw_database *db, sqlite3_stmt *st, const char *key, const char *text,
	       int64_t n, struct dw_error *err)
{
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	if (text)
		sqlite3_bind_text(st, 2, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(st, 2, n);
	return dw_database_step(db, st, err);
}

static int put_number(struct dw_database *db, sqlite3_stmt *st, const char *key, uint64_t n,
		      struct dw_error *err)
{
	return put(db, st, key, NULL, (int64_t)n, err);
}

/* All of each measure that the totals have. */
static int put_sums(struct dw_database *db, sqlite3_stmt *st, const struct dw_totals *totals,
		    struct dw_error *err)
{
	static const struct {
		const char *key;
		enum dw_measure measure;
	} sums[] = {
		{"samples_kept", DWELL_MEASURE_SAMPLES},
		{"number_of_calls", DWELL_MEASURE_CALLS},
		{"elapsed_inclusive_time", DWELL_MEASURE_ELAPSED},
		{"application_inclusive_time", DWELL_MEASURE_APPLICATION},
		{"inclusive_blocked_time", DWELL_MEASURE_BLOCKED},
		{"time_inclusive_probe_overhead", DWELL_MEASURE_OVERHEAD},
		{"inclusive_allocations", DWELL_MEASURE_OBJECTS},
		{"inclusive_bytes", DWELL_MEASURE_BYTES},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof sums / sizeof *sums && !rc; i++)
		if (dw_totals_has(totals, sums[i].measure))
			rc = put_number(db, st, sums[i].key, totals->all[sums[i].measure], err);
	return rc;
}

/* What rows needed, by the measure that decides. */
static int put_least(struct dw_database *db, sqlite3_stmt *st, const struct dw_totals *totals,
		     const struct dw_row_shares *least, struct dw_error *err)
{
	static const struct {
		const char *node, *row;
	} keys[DWELL_MEASURES] = {
		[DWELL_MEASURE_SAMPLES] = {"calltree_inclusive_samples_min",
					   "sql_rows_samples_min"},
		[DWELL_MEASURE_ELAPSED] = {"calltree_elapsed_ns_min", "sql_rows_elapsed_ns_min"},
		[DWELL_MEASURE_BYTES] = {"calltree_inclusive_bytes_min", "sql_rows_bytes_min"},
	};
	int rc = put_number(db, st, keys[totals->main].node, least->node, err);

	return rc ? rc : put_number(db, st, keys[totals->main].row, least->row, err);
}

int dw_fact_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, const struct dw_row_shares *least,
			struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(db, "REPLACE INTO fact VALUES (?, ?)", &st, err);

	dw_vec_each(f, &p->facts.rows)
		rc = rc ? rc : put(db, st, f->key, f->text, f->integer, err);
	if (!rc)
		rc = put_sums(db, st, totals, err);
	if (!rc && !dw_totals_has(totals, DWELL_MEASURE_CALLS))
		rc = put_number(db, st, "stacks_cut", totals->stacks_cut, err);
	if (!rc)
		rc = put_least(db, st, totals, least, err);
	sqlite3_finalize(st);
	return rc;
}
