/*
 * What commands that record a session have in common: its name, its summary, its failure.
 */
#pragma once

#include "base/error.h"
#include "record/record.h"

/* "COMMAND.dwell" in the current folder, the caller frees it. NULL without memory. */
char *dw_recorded_path(const char *command);

/* Print the screenful at the end to stderr. What goes wrong here costs the summary only: the
 * session at @path is finished. */
void dw_recorded_summary(const char *path);

/* Print one line: what failed and, when the command was recorded for a while, where that is. */
void dw_recorded_failure(struct dw_error *err, const struct dw_record_result *result,
			 const char *path);
