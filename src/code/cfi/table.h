/*
 * Compiled unwind tables: .eh_frame and .debug_frame of one module as sorted 4-byte starts of rows.
 *
 * A row tells, from an address on, how to find the caller: {CFA rule, rbp slot}. What does not
 * fit in a row (expressions, signal frames, other registers) refers to a side table. Immutable once
 * made: any thread may use it. The layout and the encoding of rows stand in table-format.h, next to
 * the lookup that the unwinder inlines.
 */
#pragma once

#include "base/error.h"
#include "code/cfi/ranges.h"
#include "code/elf/elf.h"

#include <stddef.h>
#include <stdint.h>

struct dw_cfi_table;

/*
 * The table of @elf, from the cache when a valid one is there, else compiled and put there.
 * @cache_dir  folder of this user's caches, NULL = no cache. A cache file counts only if it belongs
 * to the effective user, is not writable by others, its key (hash of the unwind bytes) matches and
 * its checksum holds. Returns 0; DWELL_ERR_NOT_FOUND when the module has no unwind information;
 * DWELL_ERR_FORMAT; -errno.
 * *@ret, written on success only, holds what it needs of @elf (whose life may end);
 * dw_cfi_table_free() it.
 */
int dw_cfi_table_load(const struct dw_elf *elf, const char *cache_dir, struct dw_cfi_table **ret,
		      struct dw_error *err);

/* Free @t. NULL is fine. */
void dw_cfi_table_free(struct dw_cfi_table *t);

/* What the entry for @svma describes, the innermost one where several do. 0 or
 * DWELL_ERR_NOT_FOUND. */
int dw_cfi_table_range(const struct dw_cfi_table *t, uint64_t svma, struct dw_cfi_range *ret);

/* Number of addresses from which on another row holds, for statistics and tests. */
size_t dw_cfi_table_starts(const struct dw_cfi_table *t);

/* The svma of the @i-th of them. */
uint64_t dw_cfi_table_start_svma(const struct dw_cfi_table *t, size_t i);
