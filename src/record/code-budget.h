/*
 * How much machine code a session keeps: the functions that ran most, within a budget.
 *
 * A compiler touches thousands of functions in a minute, most of them once. Their code would be
 * most of the file, though nobody disassembles them.
 */
#pragma once

#include "model/profile.h"
#include "model/totals.h"

#include <stdbool.h>

/*
 * Whether all code of @p may stay, and need not be ranked: it fits, or @p has no samples but calls
 * or allocations, whose functions are few enough. Notes in the facts how much it is then.
 */
bool dw_code_budget_fits(struct dw_profile *p);

/*
 * Drop the code of the functions of @p with the fewest exclusive, then inclusive samples, until
 * what is left fits the budget for t->samples samples. Notes in the facts how much is kept and how
 * many functions went without. 0 or -ENOMEM.
 */
int dw_code_budget_apply(struct dw_profile *p, const struct dw_totals *t);
