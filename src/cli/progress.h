/*
 * The one quiet line that shows a recording running, on a terminal that nobody else writes to.
 */
#pragma once

#include "record/record.h"

#include <stdbool.h>

struct dw_progress_line {
	bool shown; /* something stands on the terminal's current line */
};

/* Whether a line on stderr would disturb nobody: it is a terminal, and the target's output goes
 * elsewhere. */
bool dw_progress_wanted(void);

/* Show how the recording stands. @ctx is a struct dw_progress_line. Fits
 * dw_record_options.progress. */
void dw_progress_show(void *ctx, const struct dw_record_progress *p);

/* Show how long a run without samples takes. @ctx is a struct dw_progress_line. */
void dw_progress_show_time(void *ctx, const struct dw_record_progress *p);

/* Take the line away. */
void dw_progress_clear(struct dw_progress_line *line);
