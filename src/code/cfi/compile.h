/*
 * The compiler from unwind sections to the starts, rows, page index and FDE index of a table.
 */
#pragma once

#include "code/cfi/fdes.h"
#include "code/cfi/table-format.h"

/*
 * Compile what t->sections hold, for code in @spans, into the rest of @t (all in one block, t->
 * memory). 0; DWELL_ERR_NOT_FOUND (no usable entry); DWELL_ERR_LIMIT; -ENOMEM.
 */
int dw_cfi_compile(struct dw_cfi_table *t, const struct dw_cfi_spans *spans);

/* Bytes of the block that holds the rows, indexes and pages of @t. */
size_t dw_cfi_table_block_bytes(const struct dw_cfi_table *t);

/* Point rows, fdes and pages of @t, whose numbers are set, into @block. */
void dw_cfi_table_place(struct dw_cfi_table *t, const char *block);
