/*
 * The parts of a summary that only instrumentation has.
 */
#pragma once

#include "format/summary-writer.h"

/* What was recorded, and where the time of its threads went. */
void dw_call_summary_head(struct dw_summary_writer *w);

/* The functions with most time of their own, from row @first of the view on; then what is missing,
 * and how far the numbers can be trusted. */
void dw_call_summary_tail(struct dw_summary_writer *w, size_t first);
