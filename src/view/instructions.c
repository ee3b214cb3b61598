/* The instructions view: one row per instruction seen, in each process. Of one function: listing.c.
 */
#include "analysis/disassembly.h"
#include "analysis/totals.h"
#include "view/column-groups.h"
#include "view/order.h"
#include "view/subject.h"
#include "view/views.h"

#include <errno.h>
#include <stdlib.h>

static int open_instructions(struct dw_view *v)
{
	struct dw_disassembly *code = v->own = calloc(1, sizeof *code);
	int rc = code ? dw_disassembly_init(code, v->request.profile) : -ENOMEM;

	if (!rc)
		rc = dw_order_all(v, v->request.totals->instructions.n);
	return rc ? rc : dw_order_sort(v, 0, v->n);
}

static void instruction_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			    struct dw_row *ret)
{
	(void)scratch;
	dw_subject_instruction(v, &v->request.totals->instructions.v[item], ret);
	ret->code = v->own;
}

static const struct dw_values *instruction_values(const struct dw_view *v, uint32_t item)
{
	const struct dw_totals *t = v->request.totals;

	return dw_totals_values(t, t->instructions.v[item].amounts);
}

static void release_instructions(struct dw_view *v)
{
	if (v->own)
		dw_disassembly_release(v->own);
	free(v->own);
}

static const enum dw_column columns[] = {DWELL_COLUMNS_INSTRUCTION, DWELL_COLUMN_COUNTS,
					 DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column defaults[] = {
	DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_INSTRUCTION_ADDRESS, DWELL_COLUMN_FUNCTION_NAME,
	DWELL_COLUMN_MODULE_NAME,    DWELL_COLUMN_INSTRUCTION,	       DWELL_COLUMN_END};

const struct dw_view_ops dw_view_instructions = {
	.name = "instructions",
	.help = "every instruction address seen, or all of FUNCTION, disassembled",
	.parts = DWELL_TOTALS_INSTRUCTIONS,
	.columns = columns,
	.defaults = defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.sites = DWELL_SITES_ALWAYS,
	.function = DWELL_FUNCTION_MAY,
	.with_function = &dw_view_listing,
	.open = open_instructions,
	.row = instruction_row,
	.values = instruction_values,
	.release = release_instructions,
};
