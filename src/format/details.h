/* What a table has no room for: all measures of one row, below it. */
#pragma once

#include "format/format.h"

/* Write the values that the current rows (DWELL_ROW_CURRENT) of @job's view have in columns that
 * are not among the job's, by title, side by side as far as there is room. */
void dw_details_write(const struct dw_format_job *job, struct dw_out *out);
