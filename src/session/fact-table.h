/*
 * The table fact of a finished session.
 */
#pragma once

#include "base/error.h"
#include "model/facts.h"
#include "session/database.h"

#include <stdint.h>

/* A fact that is told by totals. */
struct dw_fact_number {
	const char *key; /* static */
	uint64_t value;
};

/* Write @facts, and then @numbers (ended by one without a key) over those of the same keys. 0 or a
 * negative code. */
int dw_fact_table_write(struct dw_database *db, const struct dw_facts *facts,
			const struct dw_fact_number *numbers, struct dw_error *err);
