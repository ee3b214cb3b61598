/*
 * Facts as SQL rows; see fact-table.h. What totals tell replaces what the recorder noted: views
 * divide by it, and it must fit the rows of the tables.
 */
#include "session/fact-table.h"

static void bind(sqlite3_stmt *st, const char *key, const char *text, int64_t integer)
{
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	if (text)
		sqlite3_bind_text(st, 2, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(st, 2, integer);
}

int dw_fact_table_write(struct dw_database *db, const struct dw_facts *facts,
			const struct dw_fact_number *numbers, struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(db, "REPLACE INTO fact VALUES (?, ?)", &st, err);

	for (size_t i = 0; i < facts->rows.n && !rc; i++) {
		const struct dw_fact *f = &facts->rows.v[i];

		bind(st, f->key, f->text, f->integer);
		rc = dw_database_step(db, st, err);
	}
	for (; numbers->key && !rc; numbers++) {
		bind(st, numbers->key, NULL, (int64_t)numbers->value);
		rc = dw_database_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}
