/*
 * The tables of a finished session that serve SQL: totals with the names they need. Loading never
 * reads them.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "model/amounts.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/amount-table.h"
#include "session/database.h"

#include <stdint.h>

/*
 * Fill all tables but chunk. Rows go in in the order in which the views show them. Of the call tree
 * only nodes with at least 1 / DWELL_NODE_SHARE of all samples are stored (the chunks have all), of
 * the instructions only those with an exclusive sample. 0 or a negative code.
 */
int dw_tables_write(struct dw_database *db, const struct dw_profile *p,
		    const struct dw_totals *totals, struct dw_error *err);

/* Write the facts of @p, and over them those of @totals; of the main measure nodes need
 * @least_of_nodes, rows of other tables @least_of_rows. 0 or a negative code. */
int dw_fact_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_of_nodes,
			uint64_t least_of_rows, struct dw_error *err);

/* Write those @strings that are marked in @shown, by id. 0 or a negative code. */
int dw_text_table_write(struct dw_database *db, const struct dw_strings *strings,
			const uint8_t *shown, struct dw_error *err);

/* Fill the table slow with those of @totals that took @least_ns at least, longest first. 0 or a
 * negative code.
 */
int dw_slow_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_ns, struct dw_error *err);

/* Fill type and gc, and @amounts with what types have; note in @texts, by string id, which texts
 * they show. 0 or a negative code. */
int dw_alloc_tables_write(struct dw_database *db, struct dw_amount_table *amounts,
			  const struct dw_profile *p, const struct dw_totals *totals,
			  uint8_t *texts, struct dw_error *err);
