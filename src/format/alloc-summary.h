/*
 * The parts of a summary that only the memory method has.
 */
#pragma once

#include "format/summary-writer.h"

/* What was allocated, what became of it, and how long collecting it took. */
void dw_alloc_summary_head(struct dw_summary_writer *w);

/* Types and functions that most memory went to, from row @first of the view on; then what measuring
 * changed, and what is missing. */
void dw_alloc_summary_tail(struct dw_summary_writer *w, size_t first);
