/* Rows of blocked_total; see blocked-table.h. */
#include "session/blocked-table.h"

int dw_blocked_table_open(struct dw_blocked_table *t, struct dw_database *db, struct dw_error *err)
{
	*t = (struct dw_blocked_table){.db = db};
	return dw_database_prepare(db, "INSERT INTO blocked_total VALUES (?, ?, ?)", &t->put, err);
}

int dw_blocked_table_put(struct dw_blocked_table *t, int64_t id, const struct dw_values *ns,
			 struct dw_error *err)
{
	sqlite3_bind_int64(t->put, 1, id);
	sqlite3_bind_int64(t->put, 2, (int64_t)ns->inclusive);
	sqlite3_bind_int64(t->put, 3, (int64_t)ns->exclusive);
	return dw_database_step(t->db, t->put, err);
}

void dw_blocked_table_close(struct dw_blocked_table *t)
{
	sqlite3_finalize(t->put);
	*t = (struct dw_blocked_table){0};
}
