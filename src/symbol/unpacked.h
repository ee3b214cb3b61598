/*
 * Debug files without compression, kept in a cache folder by the build-ids of their modules:
 * inflating the C library's takes longer than many a program runs, and most of what it has is not
 * read.
 *
 * Only for modules that nobody but root and we can change, with a debug file of root's that no
 * supplementary one belongs to. Helpers write them, since only they read debug information.
 */
#pragma once

#include "symbol/resolve.h"

#include <libelf.h>
#include <stddef.h>

enum { DWELL_UNPACKED_MAX_BYTES = 48 << 20 }; /* of one file */

/* Let the unpacked_fd of each of the @n @questions be the file that @dir (NULL = none) has of its
 * module, -1 = none. */
void dw_unpacked_open(const char *dir, struct dw_question *questions, size_t n);

/* Where they have none but may have one, let it be an empty file in memory for the helper. */
void dw_unpacked_want(const char *dir, struct dw_question *questions, size_t n);

/* Put into @dir what the helper that has answered @q wrote, if it wrote something. */
void dw_unpacked_keep(const char *dir, const struct dw_question *q);

/* Close those of all @n @questions. */
void dw_unpacked_close(struct dw_question *questions, size_t n);

/* Whether the debug file of @q is kept: unpacked_fd has one. */
bool dw_unpacked_has(const struct dw_question *q);

/* In a helper: write @elf, whose sections libdw has unpacked from the debug file @debug_fd, to
 * @fd, which is empty. Nothing where that is not worth it. A file that is cut begins with zeros. */
void dw_unpacked_write(Elf *elf, int debug_fd, int fd);
