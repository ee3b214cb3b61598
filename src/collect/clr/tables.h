/*
 * Private copies of the tables that a .NET agent keeps in its region (wire/allocations.h). Hostile
 * input: rows are copied by pread() and reach no further than what was read. One thread.
 */
#pragma once

#include "base/vec.h"
#include "collect/jit/code-map.h"
#include "collect/region/read.h"
#include "wire/clr-tables.h"

#include <stdint.h>

struct dw_clr_rows {
	DW_VEC(unsigned char) bytes;
	uint32_t n; /* whole rows, row 0 included */
};

struct dw_clr_tables {
	uint64_t budget; /* bytes that all may have together, as the agent was told; 0 = 1 GB */
	struct dw_clr_head head;
	struct dw_clr_rows all[DWELL_CLR_TABLES];
};

/*
 * Read all tables of the region @fd, whose head was just read, anew. 0; DWELL_ERR_NOT_FOUND (there
 * is no head: no .NET agent, or not yet); DWELL_ERR_FORMAT; DWELL_ERR_LIMIT (beyond the budget);
 * -ENOMEM; -errno.
 */
int dw_clr_tables_read(struct dw_clr_tables *t, int fd, const struct dw_region_head *head);

/*
 * Read what has come behind that which @t has. Rows of methods, modules and code are whole, as far
 * as they are there; others count where such a row names them. Codes as above.
 */
int dw_clr_tables_more(struct dw_clr_tables *t, int fd, const struct dw_region_head *head);

/* Copy row @row of @table to @ret, which has the size of its rows. False: there is none. */
bool dw_clr_tables_get(const struct dw_clr_tables *t, enum dw_clr_table table, uint32_t row,
		       void *ret);

/* The text @text, borrowed until the next reading, its bytes in *@n: up to a NUL, not
 * 0, at most 64 KB. NULL = none. */
const char *dw_clr_tables_text(const struct dw_clr_tables *t, struct dw_clr_text text, size_t *n);

/* Free everything. */
void dw_clr_tables_release(struct dw_clr_tables *t);

/*
 * Pieces of managed code that a .NET agent tells (wire/managed-code.h), put into a map of code
 * whose rows are those of DWELL_CLR_CODES. What makes no sense is dropped.
 */

/* Add to @m the rows that @t has more than *@taken, which goes on. 0 or -ENOMEM. */
int dw_clr_codes_take(struct dw_code_map *m, uint32_t *taken, const struct dw_clr_tables *t);
