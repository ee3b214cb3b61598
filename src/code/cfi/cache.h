/*
 * Compiled unwind tables on disk, so that a large library is compiled once per user and build.
 *
 * A cache file holds the table and the unwind bytes it was made from. It counts only if it belongs
 * to the effective user, in a folder of that user, neither writable by others; if its checksum
 * holds; and if those bytes and the code ranges *equal* the module's. Comparing is as fast as
 * hashing and cannot collide, whoever wrote the module, so the name needs no cryptographic digest.
 * A file that is damaged or foreign is as good as absent, and is replaced.
 */
#pragma once

#include "code/cfi/fdes.h"
#include "code/cfi/table-format.h"
#include "code/elf/elf.h"

/*
 * Load the table of @elf from the folder @dir into @t. t->sections hold what
 * dw_cfi_section_find() found. The table stays valid when the file is deleted or replaced. 0;
 * DWELL_ERR_NOT_FOUND, with @t as it was.
 */
int dw_cfi_cache_load(const char *dir, const struct dw_elf *elf, const struct dw_cfi_spans *spans,
		      struct dw_cfi_table *t);

/*
 * Put @t, compiled from @elf, into @dir, which is made when it is not there, with the
 * folders above it. Atomic. 0; -errno;
 * DWELL_ERR_REFUSED (the folder is not ours alone). @found as in dw_cfi_cache_load(): sections as
 * they were found, before reading.
 */
int dw_cfi_cache_store(const char *dir, const struct dw_elf *elf, const struct dw_cfi_spans *spans,
		       const struct dw_cfi_section *found, const struct dw_cfi_table *t);

/*
 * Remove files from the cache folder @dir, the longest unused first, until what is left takes no
 * more than @max_bytes. Only plain files of ours that are named like tables count, and only if the
 * folder is ours. What cannot be removed stays; tables in use stay valid.
 */
void dw_cfi_cache_prune(const char *dir, uint64_t max_bytes);
