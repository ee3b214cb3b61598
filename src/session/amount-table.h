/*
 * The table total of a finished session, what was measured of the rows of all other tables, and
 * what the views of SQL show of it: both from one list of columns.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "model/amounts.h"
#include "session/database.h"

#include <stdbool.h>
#include <stdint.h>

/* One row for each row of the other tables, with the columns that the session's measures need. */
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

/* Columns of a SELECT from a row t of another table and its row c of total. */
enum dw_amount_columns {
	DWELL_SQL_VALUES,    /* of all views, one at least */
	DWELL_SQL_CALL,	     /* what stands before the columns `level` and `type`, each with ", " */
	DWELL_SQL_FUNCTIONS, /* of functions only, likewise */
	DWELL_SQL_OBJECTS,   /* of the values: what became of objects, */
	DWELL_SQL_BYTES,     /* of their bytes, */
	DWELL_SQL_HEAPS,     /* and of those in heaps of their own */
	DWELL_SQL_SUMS,	     /* all of total for several rows together, by its names, with ", " */
};

/* Append @which of @set to @b. */
void dw_amount_columns(struct dw_buf *b, dw_measures set, enum dw_amount_columns which);

/* Whether sessions of @set have the table. */
bool dw_amount_table_needed(dw_measures set);

/* The fact that shares of @measure are shares of, NULL = there are none. Static. */
const char *dw_amount_fact(enum dw_measure measure);

/* The share that @value has of the fact @of. */
#define DW_SQL_SHARE(value, of) \
	"100.0 * " value " / max(1, (SELECT value FROM fact WHERE key = '" of "'))"
