/* The instructions view: one row per instruction seen, in each process. Of one function: listing.c.
 */
#include "analysis/disassembly.h"
#include "analysis/totals.h"
#include "view/columns-of.h"
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
	return &v->request.totals->instructions.v[item].values;
}

static void release_instructions(struct dw_view *v)
{
	if (v->own)
		dw_disassembly_release(v->own);
	free(v->own);
}

#define DWELL_PEOPLE_BEHIND                                                                     \
	DWELL_COLUMN_INSTRUCTION_ADDRESS, DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_MODULE_NAME, \
		DWELL_COLUMN_INSTRUCTION

static const enum dw_column columns[] = {DWELL_COLUMNS_INSTRUCTION, DWELL_COLUMNS_SAMPLES,
					 DWELL_COLUMN_END};
static const enum dw_column people[] = {DWELL_COLUMNS_SAMPLES_PEOPLE, DWELL_PEOPLE_BEHIND,
					DWELL_COLUMN_END};
static const enum dw_column calls_columns[] = {DWELL_COLUMNS_INSTRUCTION, DWELL_COLUMNS_CALLS,
					       DWELL_COLUMNS_TIMES, DWELL_COLUMN_END};
static const enum dw_column calls_people[] = {DWELL_COLUMNS_SITES_PEOPLE, DWELL_PEOPLE_BEHIND,
					      DWELL_COLUMN_END};
static const enum dw_column allocs_columns[] = {
	DWELL_COLUMNS_GENERAL, DWELL_COLUMNS_STATEMENT, DWELL_COLUMN_INSTRUCTION_ADDRESS,
	DWELL_COLUMNS_ALLOCS,  DWELL_COLUMNS_LIFE,	DWELL_COLUMN_END};
static const enum dw_column allocs_people[] = {
	DWELL_COLUMNS_ALLOCS_PEOPLE, DWELL_COLUMN_INSTRUCTION_ADDRESS, DWELL_COLUMN_FUNCTION_NAME,
	DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_instructions = {
	.name = "instructions",
	.help = "every instruction address seen, or all of FUNCTION, disassembled",
	.samples = {DWELL_TOTALS_INSTRUCTIONS, columns, people, DWELL_COLUMN_EXCLUSIVE},
	.calls = {DWELL_TOTALS_INSTRUCTIONS, calls_columns, calls_people, DWELL_COLUMN_EI},
	.allocs = {DWELL_TOTALS_INSTRUCTIONS, allocs_columns, allocs_people,
		   DWELL_COLUMN_BYTES_EXCLUSIVE},
	.function = DWELL_FUNCTION_MAY,
	.with_function = &dw_view_listing,
	.open = open_instructions,
	.row = instruction_row,
	.values = instruction_values,
	.release = release_instructions,
};
