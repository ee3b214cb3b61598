/*
 * What an earlier recording was told about addresses of a module, kept in a cache folder: unpacking
 * the C library's debug information takes longer than many a program runs.
 *
 * Only for files that nobody but root and we can change, with separate debug files: what is built
 * on this machine every hour is read every time. A file counts for the very inode, size and times
 * of the module that it was written for. One thread.
 */
#pragma once

#include "symbol/resolve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DWELL_KNOWN_MAX = 16384 }; /* addresses of one module */

struct dw_known {
	uint64_t *svmas; /* sorted, no two equal; owned */
	size_t n;
	struct dw_answer answer; /* to all of them */
};

/* Whether answers to @q may be kept at all. */
bool dw_known_may_keep(const struct dw_question *q);

/* Read into the empty @k what the folder @dir has of the module of @q. 0, or a negative code:
 * nothing, and @k stays empty. */
int dw_known_read(const char *dir, const struct dw_question *q, struct dw_known *k);

/* Whether @svma is one of those of @k. */
bool dw_known_has(const struct dw_known *k, uint64_t svma);

/* Add the @n sorted @svmas to those of @k, whose answer goes: it is to be asked for anew. Of too
 * many only these stay. 0 or -ENOMEM. */
int dw_known_widen(struct dw_known *k, const uint64_t *svmas, size_t n);

/* Make @a, the answer to all of @k, that to the @n sorted @svmas, which @k has. 0 or -ENOMEM. */
int dw_known_narrow(const struct dw_known *k, const uint64_t *svmas, size_t n, struct dw_answer *a);

/* Keep @a, the answer to @q about all of @k, in @dir. 0, or a negative code: another time. */
int dw_known_write(const char *dir, const struct dw_question *q, const struct dw_known *k,
		   const struct dw_answer *a);

/* Free everything. */
void dw_known_release(struct dw_known *k);
