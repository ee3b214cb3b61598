/*
 * The functions that a module offers to others, by name.
 *
 * From its dynamic symbols, which are foreign. Where a name has several versions, the default one.
 */
#pragma once

#include "base/vec.h"
#include "code/elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_export {
	const char *name; /* borrowed from the table */
	uint64_t svma;
	bool is_hidden; /* an old version */
};

struct dw_exports {
	DW_VEC(struct dw_export) rows; /* by name */
	char *names;		       /* owned */
};

/* Read those of @elf into the empty @t. 0 (also with none) or -ENOMEM. */
int dw_exports_load(struct dw_exports *t, const struct dw_elf *elf);

/* The svma of the function @name. 0 or DWELL_ERR_NOT_FOUND. */
int dw_exports_find(const struct dw_exports *t, const char *name, uint64_t *ret);

/* Free everything. */
void dw_exports_release(struct dw_exports *t);
