/*
 * The table slow of a finished session: the slowest activations.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/database.h"

#include <stdint.h>

/* Fill it with those of @totals that took @least_ns at least, longest first. 0 or a negative code.
 */
int dw_slow_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_ns, struct dw_error *err);
