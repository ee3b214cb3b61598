/*
 * What a walk over calls has counted, as rows of totals.
 */
#pragma once

#include "analysis/call-flat.h"

/* Append the rows that @f has counted of @process to @ret. 0 or -ENOMEM. */
int dw_call_rows_put(struct dw_call_flat *f, uint32_t process, struct dw_totals *ret);
