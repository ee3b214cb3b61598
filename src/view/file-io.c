/*
 * The view of files: what a program read and wrote, below each file the functions that did. Tables
 * show the files alone, unless somebody asks for more.
 */
#include "analysis/totals.h"
#include "base/cleanup.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>

static const struct dw_file_total *total_of(const struct dw_view *v, uint32_t item)
{
	return &v->request.totals->files.v[item];
}

/* Leave those alone that are no part of another. */
static void keep_files(struct dw_view *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->n; i++)
		if (total_of(v, v->items[i])->parent == UINT32_MAX)
			v->items[kept++] = v->items[i];
	v->n = kept;
}

static int open_files(struct dw_view *v)
{
	size_t n = v->request.totals->files.n;
	dw_auto_free uint32_t *parent = malloc((n + 1) * sizeof *parent);

	if (!parent || dw_order_all(v, n))
		return -ENOMEM;
	if (v->request.collapsed) {
		keep_files(v);
		return dw_order_sort(v, 0, v->n);
	}
	for (uint32_t i = 0; i < n; i++)
		parent[i] = total_of(v, i)->parent;
	return dw_order_tree(v, dw_take_ptr(parent));
}

static void file_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	const struct dw_file_total *t = total_of(v, item);

	(void)scratch;
	dw_row_set_lane(v, t->lane, ret);
	ret->name = DWELL_NAME_FILE;
	if (t->parent != UINT32_MAX && t->function == (uint32_t)DWELL_FUNCTION_ROOT)
		dw_row_set_root(t->thread, ret);
	else if (t->parent != UINT32_MAX)
		dw_row_set_function(v, t->function, ret);
	if (t->parent != UINT32_MAX)
		ret->name = DWELL_NAME_FUNCTION;
	ret->level = t->parent != UINT32_MAX;
	ret->file = t->file;
	ret->io = &t->sums;
}

static const enum dw_column columns[] = {DWELL_COLUMN_NAME,   DWELL_COLUMNS_GENERAL,
					 DWELL_COLUMN_LEVEL,  DWELL_COLUMN_FILE,
					 DWELL_COLUMN_READS,  DWELL_COLUMN_BYTES_READ,
					 DWELL_COLUMN_WRITES, DWELL_COLUMN_BYTES_WRITTEN,
					 DWELL_COLUMN_IO,     DWELL_COLUMN_END};
static const enum dw_column defaults[] = {DWELL_COLUMN_IO,
					  DWELL_COLUMN_READS,
					  DWELL_COLUMN_BYTES_READ,
					  DWELL_COLUMN_WRITES,
					  DWELL_COLUMN_BYTES_WRITTEN,
					  DWELL_COLUMN_DEFAULT_LANE,
					  DWELL_COLUMN_NAME,
					  DWELL_COLUMN_END};

const struct dw_view_ops dw_view_file_io = {
	.name = "file-io",
	.help = "files that were read and written, by all functions or by FUNCTION",
	.parts = DWELL_TOTALS_FILES,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_IO,
	.needs = DWELL_MEASURE_CALLS,
	.splits = true,
	.limits = "mapped files and io_uring are not seen; --no-fold: by functions, too",
	.tree = DWELL_COLUMN_NAME,
	.function = DWELL_FUNCTION_MAY,
	.open = open_files,
	.row = file_row,
};
