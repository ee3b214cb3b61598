/*
 * The table fact of a finished session: what the profile notes, totals that SQL views divide by,
 * and what a row needed to be there.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/database.h"

#include <stdint.h>

/* What a row needs, of the main measure. */
struct dw_row_shares {
	uint64_t node;
	uint64_t row; /* of other tables */
};

/* Write the facts of @p, and over them those of @totals. 0 or a negative code. */
int dw_fact_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, const struct dw_row_shares *least,
			struct dw_error *err);
