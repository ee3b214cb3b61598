/*
 * The table call_total of a finished session: what instrumentation says of the rows of all other
 * tables.
 */
#pragma once

#include "base/error.h"
#include "model/totals.h"
#include "session/database.h"

struct dw_call_table {
	struct dw_database *db;	      /* borrowed */
	const struct dw_calls *calls; /* whose totals these are, borrowed */
	sqlite3_stmt *put;
};

/* Start to fill the table with totals of @calls. 0 or a negative code. */
int dw_call_table_open(struct dw_call_table *t, struct dw_database *db,
		       const struct dw_calls *calls, struct dw_error *err);

/* Add @c and its @ranges (NULL = not known) as row @id. 0 or a negative code. */
int dw_call_table_put(struct dw_call_table *t, int64_t id, const struct dw_call_total *c,
		      const struct dw_call_ranges *ranges, struct dw_error *err);

/* Let go of it. Zero-initialised is fine. */
void dw_call_table_close(struct dw_call_table *t);
