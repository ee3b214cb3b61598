/*
 * The lifetime view: one row per type of objects, and in which generation its instances died.
 * Functions, call tree and the other views have the same columns, of what they allocated.
 */
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

static int open_lifetime(struct dw_view *v)
{
	int rc = dw_order_all(v, v->request.totals->types.n);

	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static void type_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	const struct dw_type_total *t = &v->request.totals->types.v[item];

	(void)scratch;
	dw_subject_type(v, t->type, ret);
	dw_subject_amounts(v, t->amounts, ret);
}

static const enum dw_column columns[] = {
	DWELL_COLUMN_CLASS_NAME,     DWELL_COLUMN_PROCESS_ID,	    DWELL_COLUMN_PROCESS_NAME,
	DWELL_COLUMN_MODULE_NAME,    DWELL_COLUMN_MODULE_PATH,	    DWELL_COLUMN_INSTANCES,
	DWELL_COLUMN_INSTANCES_PCT,  DWELL_COLUMN_INSTANCES_GEN0,   DWELL_COLUMN_INSTANCES_GEN1,
	DWELL_COLUMN_INSTANCES_GEN2, DWELL_COLUMN_INSTANCES_ALIVE,  DWELL_COLUMN_BYTES,
	DWELL_COLUMN_BYTES_PCT,	     DWELL_COLUMN_BYTES_GEN0,	    DWELL_COLUMN_BYTES_GEN1,
	DWELL_COLUMN_BYTES_GEN2,     DWELL_COLUMN_BYTES_ALIVE,	    DWELL_COLUMN_INSTANCES_LARGE,
	DWELL_COLUMN_BYTES_LARGE,    DWELL_COLUMN_INSTANCES_PINNED, DWELL_COLUMN_BYTES_PINNED,
	DWELL_COLUMN_BYTES_ERROR,    DWELL_COLUMNS_SURVIVORS,	    DWELL_COLUMN_END};
static const enum dw_column defaults[] = {
	DWELL_COLUMN_BYTES_PCT,	       DWELL_COLUMN_BYTES,
	DWELL_COLUMN_BYTES_ERROR,      DWELL_COLUMN_INSTANCES,
	DWELL_COLUMN_INSTANCES_GEN0,   DWELL_COLUMN_INSTANCES_GEN1,
	DWELL_COLUMN_INSTANCES_GEN2,   DWELL_COLUMN_INSTANCES_LARGE,
	DWELL_COLUMN_INSTANCES_PINNED, DWELL_COLUMN_INSTANCES_ALIVE,
	DWELL_COLUMN_BYTES_ALIVE,      DWELL_COLUMN_BYTES_GROWTH,
	DWELL_COLUMN_BYTES_LEAST,      DWELL_COLUMN_BYTES_MOST,
	DWELL_COLUMN_CLASS_NAME,       DWELL_COLUMN_END};

const struct dw_view_ops dw_view_lifetime = {
	.name = "lifetime",
	.help = "types of objects, and in which generation they died",
	.parts = DWELL_TOTALS_TYPES,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_BYTES,
	.needs = DWELL_MEASURE_OBJECTS,
	.open = open_lifetime,
	.row = type_row,
};
