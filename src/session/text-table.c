/* Texts as SQL rows; see text-table.h. They are the bytes that were found, UTF-8 or not. */
#include "session/text-table.h"

int dw_text_table_write(struct dw_database *db, const struct dw_strings *strings,
			const uint8_t *shown, struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(db, "INSERT INTO text VALUES (?, ?)", &st, err);

	for (uint32_t id = 1; id < strings->n && !rc; id++) {
		if (!shown[id])
			continue;
		sqlite3_bind_int64(st, 1, id);
		sqlite3_bind_text64(st, 2, dw_strings_get(strings, id), dw_strings_len(strings, id),
				    SQLITE_STATIC, SQLITE_UTF8);
		rc = dw_database_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}
