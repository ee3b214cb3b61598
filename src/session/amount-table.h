/*
 * The table total of a finished session: what was measured of the rows of all other tables, one row
 * for each of theirs, with the columns that the session's measures need.
 */
#pragma once

#include "base/error.h"
#include "model/amounts.h"
#include "session/database.h"

struct dw_amount_table {
	struct dw_database *db;	      /* borrowed */
	const struct dw_calls *calls; /* whose amounts these are, borrowed */
	dw_measures set;	      /* its columns */
	sqlite3_stmt *put;	      /* NULL = no measure needs the table */
	int64_t rows;		      /* so far; the last one's id */
};

/* Make the table for amounts of @set. @calls: of the profile. 0 or a negative code, to be closed in
 * any case. */
int dw_amount_table_open(struct dw_amount_table *t, struct dw_database *db, dw_measures set,
			 const struct dw_calls *calls, struct dw_error *err);

/* Add @m as row t->rows + 1. 0 or a negative code. */
int dw_amount_table_put(struct dw_amount_table *t, const struct dw_measured *m,
			struct dw_error *err);

/* Let go of it. Zero-initialised is fine. */
void dw_amount_table_close(struct dw_amount_table *t);
