/*
 * Pieces of managed code that a .NET agent tells (wire/managed-code.h), put into a map of code
 * whose rows are those of DWELL_CLR_CODES. Hostile input: what makes no sense is dropped. One
 * thread.
 */
#pragma once

#include "collect/clr/tables.h"
#include "collect/jit/code-map.h"

#include <stdint.h>

/* Add to @m the rows that @t has more than *@taken, which goes on. 0 or -ENOMEM. */
int dw_clr_codes_take(struct dw_code_map *m, uint32_t *taken, const struct dw_clr_tables *t);
