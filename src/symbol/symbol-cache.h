/*
 * The symbol cache: what earlier recordings found out about modules, in a folder. Unpacking the C
 * library's debug information takes longer than many a program runs.
 *
 * Answers are kept for files that nobody but root and we can change, with separate debug files:
 * what is built on this machine every hour is read every time. A file counts for the very inode,
 * size and times of the module that it was written for.
 *
 * Debug files without compression are kept by the build-ids of such modules, since most of what
 * they have is not read: files of root's that no supplementary one belongs to. Helpers write them,
 * since only they read debug information. One thread.
 */
#pragma once

#include "symbol/question.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_SYMBOL_CACHE_MAX = 16384 }; /* addresses of one module */

struct dw_symbol_cache {
	uint64_t *svmas; /* sorted, no two equal; owned */
	size_t n;
	struct dw_answer answer; /* to all of them */
};

/* Whether answers to @q may be kept at all. */
bool dw_symbol_cache_may_keep(const struct dw_question *q);

/* Read into the empty @k what the folder @dir has of the module of @q. 0, or a negative code:
 * nothing, and @k stays empty. */
int dw_symbol_cache_read(const char *dir, const struct dw_question *q, struct dw_symbol_cache *k);

/* Whether @svma is one of those of @k. */
bool dw_symbol_cache_has(const struct dw_symbol_cache *k, uint64_t svma);

/* Add the @n sorted @svmas to those of @k, whose answer goes: it is to be asked for anew. Of too
 * many only these stay. 0 or -ENOMEM. */
int dw_symbol_cache_widen(struct dw_symbol_cache *k, const uint64_t *svmas, size_t n);

/* Make @a, the answer to all of @k, that to the @n sorted @svmas, which @k has. 0 or -ENOMEM. */
int dw_symbol_cache_narrow(const struct dw_symbol_cache *k, const uint64_t *svmas, size_t n,
			   struct dw_answer *a);

/* Keep @a, the answer to @q about all of @k, in @dir. 0, or a negative code: another time. */
int dw_symbol_cache_write(const char *dir, const struct dw_question *q,
			  const struct dw_symbol_cache *k, const struct dw_answer *a);

/* Free everything. */
void dw_symbol_cache_release(struct dw_symbol_cache *k);

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
