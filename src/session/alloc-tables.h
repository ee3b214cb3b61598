/* The tables that only finished sessions of allocations have: type and collection. */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/amount-table.h"

/* Fill both, and @amounts with what types have; note in @texts, by string id, which texts they
 * show. 0 or a negative code. */
int dw_alloc_tables_write(struct dw_database *db, struct dw_amount_table *amounts,
			  const struct dw_profile *p, const struct dw_totals *totals,
			  uint8_t *texts, struct dw_error *err);
