/*
 * Compiled unwind tables: .eh_frame and .debug_frame of one module as sorted 4-byte starts of rows,
 * and their files, so that a large library is compiled once per user and build.
 *
 * A row tells, from an address on, how to find the caller: {CFA rule, fp slot}. What does not
 * fit in a row (expressions, signal frames, other registers) refers to a side table. Immutable once
 * made: any thread may use it. The layout and the encoding of rows stand in table-format.h, next to
 * the lookup that the unwinder inlines.
 *
 * A cache file holds the table and the unwind bytes it was made from. It counts only if it belongs
 * to the effective user, in a folder of that user, neither writable by others; if its checksum
 * holds; and if those bytes and the code ranges *equal* the module's. Comparing is as fast as
 * hashing and cannot collide, whoever wrote the module, so the name needs no cryptographic digest.
 * A file that is damaged or foreign is as good as absent, and is replaced.
 */
#pragma once

#include "base/error.h"
#include "code/cfi/fdes.h"
#include "code/elf/elf.h"

#include <stddef.h>
#include <stdint.h>

struct dw_cfi_table;

/*
 * The table of @elf, from the cache when a valid one is there, else compiled and put there.
 * @cache_dir  folder of this user's caches, NULL = no cache. Returns 0; DWELL_ERR_NOT_FOUND when
 * the module has no unwind information; DWELL_ERR_FORMAT; -errno.
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

/*
 * Remove files from the cache folder @dir, the longest unused first, until what is left takes no
 * more than @max_bytes. Only plain files of ours that are named like tables count, and only if the
 * folder is ours. What cannot be removed stays; tables in use stay valid.
 */
void dw_cfi_cache_prune(const char *dir, uint64_t max_bytes);
