/*
 * The slowest calls of hot functions, each in a line with why, for the summary.
 */
#pragma once

#include "format/summary-writer.h"

/* For the functions from row @first of the view on, where one call took much longer than others. */
void dw_slow_summary_write(struct dw_summary_writer *w, size_t first);
