/*
 * The tables of a finished session that serve SQL: totals with the names they need. Loading never
 * reads them.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/database.h"

/*
 * Fill all tables but chunk. Rows go in in the order in which the views show them. Of the call tree
 * only nodes with at least 1 / DWELL_NODE_SHARE of all samples are stored (the chunks have all), of
 * the instructions only those with an exclusive sample. 0 or a negative code.
 */
int dw_tables_write(struct dw_database *db, const struct dw_profile *p,
		    const struct dw_totals *totals, struct dw_error *err);
