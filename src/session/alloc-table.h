/*
 * The tables that only finished sessions of allocations have: alloc_total, which says what rows of
 * all other tables allocated, type and collection.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/database.h"

struct dw_alloc_table {
	struct dw_database *db; /* borrowed */
	sqlite3_stmt *put;
};

/* Start to fill alloc_total. 0 or a negative code. */
int dw_alloc_table_open(struct dw_alloc_table *t, struct dw_database *db, struct dw_error *err);

/* Add @total as row @id of alloc_total. 0 or a negative code. */
int dw_alloc_table_put(struct dw_alloc_table *t, int64_t id, const struct dw_alloc_total *total,
		       struct dw_error *err);

/* Fill type and collection, with rows of alloc_total behind @last, and note in @texts, by string
 * id, which texts they show. 0 or a negative code. */
int dw_alloc_table_fill(struct dw_alloc_table *t, const struct dw_profile *p,
			const struct dw_totals *totals, int64_t last, uint8_t *texts,
			struct dw_error *err);

/* Let go of it. Zero-initialised is fine. */
void dw_alloc_table_close(struct dw_alloc_table *t);
