/*
 * The table blocked_total, which only finished sessions with waits have: how long what rows of
 * other tables are about was blocked.
 */
#pragma once

#include "base/error.h"
#include "model/totals.h"
#include "session/database.h"

struct dw_blocked_table {
	struct dw_database *db; /* borrowed */
	sqlite3_stmt *put;
};

/* Whether @t->blocked[@index], if there are waits, is worth a row: 1/10000 of all blocked time. */
static inline bool dw_blocked_is_long(const struct dw_totals *t, uint32_t index)
{
	return index < t->blocked.n && t->blocked.v[index].inclusive >= t->blocked_ns / 10000 + 1;
}

/* Start to fill it. 0 or a negative code. */
int dw_blocked_table_open(struct dw_blocked_table *t, struct dw_database *db, struct dw_error *err);

/* Add @ns as row @id. 0 or a negative code. */
int dw_blocked_table_put(struct dw_blocked_table *t, int64_t id, const struct dw_values *ns,
			 struct dw_error *err);

/* Let go of it. Zero-initialised is fine. */
void dw_blocked_table_close(struct dw_blocked_table *t);
