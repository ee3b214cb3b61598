/*
 * The flat views: one row for each total of a kind.
 *
 * Lines: in a session of calls these are the statements that called something, with what their
 * callees took; where statements had probes themselves, all that were come to, with times of their
 * own. Of one function, lines and instructions are annotated code: annotate.c. Processes and
 * threads are all of them, those without samples too.
 */
#include "analysis/disassembly.h"
#include "analysis/totals.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>

static int open_functions(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->functions.n);
}

static void function_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			 struct dw_row *ret)
{
	const struct dw_function_total *t = &v->request.totals->functions.v[item];

	(void)scratch;
	dw_row_set_function_total(v, t, ret);
}

static const enum dw_column function_columns[] = {DWELL_COLUMNS_GENERAL, DWELL_COLUMN_COUNTS,
						  DWELL_COLUMN_VALUES,	 DWELL_COLUMN_DISABLED,
						  DWELL_COLUMN_COUNTED,	 DWELL_COLUMN_END};
static const enum dw_column function_defaults[] = {
	DWELL_COLUMN_DEFAULT_VALUES, DWELL_COLUMN_DEFAULT_LANE, DWELL_COLUMN_FUNCTION_NAME,
	DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_END};

const struct dw_view_ops dw_view_functions = {
	.name = "functions",
	.splits = true,
	.help = "every function, the one with the most time of its own first",
	.parts = DWELL_TOTALS_FUNCTIONS,
	.columns = function_columns,
	.defaults = function_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.is_of_my_code = true,
	.trims = true,
	.open = open_functions,
	.row = function_row,
};

static int open_lines(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->lines.n);
}

static void line_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	(void)scratch;
	dw_row_set_line(v, &v->request.totals->lines.v[item], ret);
}

static const struct dw_values *line_values(const struct dw_view *v, uint32_t item)
{
	const struct dw_totals *t = v->request.totals;

	return dw_totals_values(t, t->lines.v[item].amounts);
}

static const enum dw_column line_columns[] = {DWELL_COLUMNS_LINE, DWELL_COLUMN_COUNTS,
					      DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column line_defaults[] = {DWELL_COLUMN_DEFAULT_VALUES,
					       DWELL_COLUMN_DEFAULT_LANE,
					       DWELL_COLUMN_FUNCTION_NAME,
					       DWELL_COLUMN_SOURCE_FILE,
					       DWELL_COLUMN_LINE_BEGIN,
					       DWELL_COLUMN_SOURCE_TEXT,
					       DWELL_COLUMN_END};

const struct dw_view_ops dw_view_lines = {
	.name = "lines",
	.splits = true,
	.help = "every source line (statement), or those of FUNCTION in order",
	.parts = DWELL_TOTALS_LINES,
	.columns = line_columns,
	.defaults = line_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.sites = DWELL_SITES_WITHOUT_STATEMENTS,
	.function = DWELL_FUNCTION_MAY,
	.with_function = &dw_view_source_annotated,
	.trims = true,
	.open = open_lines,
	.row = line_row,
	.values = line_values,
};

static int open_instructions(struct dw_view *v)
{
	struct dw_disassembly *code = v->own = calloc(1, sizeof *code);
	int rc = code ? dw_disassembly_init(code, v->request.profile) : -ENOMEM;

	return rc ? rc : dw_order_list(v, v->request.totals->instructions.n);
}

static void instruction_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			    struct dw_row *ret)
{
	(void)scratch;
	dw_row_set_instruction(v, &v->request.totals->instructions.v[item], ret);
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

static const enum dw_column instruction_columns[] = {DWELL_COLUMNS_INSTRUCTION, DWELL_COLUMN_COUNTS,
						     DWELL_COLUMN_VALUES, DWELL_COLUMN_END};
static const enum dw_column instruction_defaults[] = {DWELL_COLUMN_DEFAULT_VALUES,
						      DWELL_COLUMN_DEFAULT_LANE,
						      DWELL_COLUMN_INSTRUCTION_ADDRESS,
						      DWELL_COLUMN_FUNCTION_NAME,
						      DWELL_COLUMN_MODULE_NAME,
						      DWELL_COLUMN_INSTRUCTION,
						      DWELL_COLUMN_END};

const struct dw_view_ops dw_view_instructions = {
	.name = "instructions",
	.splits = true,
	.help = "every instruction address seen, or all of FUNCTION, disassembled",
	.parts = DWELL_TOTALS_INSTRUCTIONS,
	.columns = instruction_columns,
	.defaults = instruction_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.sites = DWELL_SITES_ALWAYS,
	.function = DWELL_FUNCTION_MAY,
	.with_function = &dw_view_annotated,
	.trims = true,
	.open = open_instructions,
	.row = instruction_row,
	.values = instruction_values,
	.release = release_instructions,
};

static int open_lifetime(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->types.n);
}

static void type_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		     struct dw_row *ret)
{
	const struct dw_type_total *t = &v->request.totals->types.v[item];

	(void)scratch;
	dw_row_set_lane(v, t->lane, ret);
	dw_row_set_type(v, t->type, ret);
	dw_row_set_amounts(v, t->amounts, ret);
}

static const enum dw_column type_columns[] = {DWELL_COLUMN_CLASS_NAME,
					      DWELL_COLUMN_LANE,
					      DWELL_COLUMN_MODULE_NAME,
					      DWELL_COLUMN_MODULE_PATH,
					      DWELL_COLUMN_INSTANCES,
					      DWELL_COLUMN_INSTANCES_PCT,
					      DWELL_COLUMN_INSTANCES_GEN0,
					      DWELL_COLUMN_INSTANCES_GEN1,
					      DWELL_COLUMN_INSTANCES_GEN2,
					      DWELL_COLUMN_INSTANCES_ALIVE,
					      DWELL_COLUMN_BYTES,
					      DWELL_COLUMN_BYTES_PCT,
					      DWELL_COLUMN_BYTES_GEN0,
					      DWELL_COLUMN_BYTES_GEN1,
					      DWELL_COLUMN_BYTES_GEN2,
					      DWELL_COLUMN_BYTES_ALIVE,
					      DWELL_COLUMN_INSTANCES_LARGE,
					      DWELL_COLUMN_BYTES_LARGE,
					      DWELL_COLUMN_INSTANCES_PINNED,
					      DWELL_COLUMN_BYTES_PINNED,
					      DWELL_COLUMN_BYTES_ERROR,
					      DWELL_COLUMNS_SURVIVORS,
					      DWELL_COLUMN_END};
static const enum dw_column type_defaults[] = {DWELL_COLUMN_BYTES_PCT,
					       DWELL_COLUMN_BYTES,
					       DWELL_COLUMN_BYTES_ERROR,
					       DWELL_COLUMN_INSTANCES,
					       DWELL_COLUMN_INSTANCES_GEN0,
					       DWELL_COLUMN_INSTANCES_GEN1,
					       DWELL_COLUMN_INSTANCES_GEN2,
					       DWELL_COLUMN_INSTANCES_LARGE,
					       DWELL_COLUMN_INSTANCES_PINNED,
					       DWELL_COLUMN_INSTANCES_ALIVE,
					       DWELL_COLUMN_BYTES_ALIVE,
					       DWELL_COLUMN_BYTES_GROWTH,
					       DWELL_COLUMN_BYTES_LEAST,
					       DWELL_COLUMN_BYTES_MOST,
					       DWELL_COLUMN_DEFAULT_LANE,
					       DWELL_COLUMN_CLASS_NAME,
					       DWELL_COLUMN_END};

const struct dw_view_ops dw_view_lifetime = {
	.name = "lifetime",
	.splits = true,
	.help = "types of objects, and in which generation they died",
	.parts = DWELL_TOTALS_TYPES,
	.columns = type_columns,
	.defaults = type_defaults,
	.sort = DWELL_COLUMN_BYTES,
	.needs = DWELL_MEASURE_OBJECTS,
	.trims = true,
	.open = open_lifetime,
	.row = type_row,
};

static int open_processes(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->processes.n);
}

static void process_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
			struct dw_row *ret)
{
	const struct dw_process_total *t = &v->request.totals->processes.v[item];

	(void)scratch;
	ret->name = DWELL_NAME_PROCESS;
	ret->process = t->process;
	dw_row_set_amounts(v, t->amounts, ret);
}

static int open_threads(struct dw_view *v)
{
	return dw_order_list(v, v->request.totals->threads.n);
}

static void thread_row(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		       struct dw_row *ret)
{
	const struct dw_thread_total *t = &v->request.totals->threads.v[item];
	const struct dw_thread *thread = dw_threads_get(&v->request.profile->threads, t->thread);

	(void)scratch;
	ret->name = DWELL_NAME_THREAD;
	ret->thread = t->thread;
	ret->process = thread ? thread->process : 0;
	dw_row_set_amounts(v, t->amounts, ret);
}

static const enum dw_column process_columns[] = {DWELL_COLUMN_UNIQUE_ID,    DWELL_COLUMN_ID,
						 DWELL_COLUMN_NAME,	    DWELL_COLUMN_COMMAND,
						 DWELL_COLUMN_COMMAND_LINE, DWELL_COLUMN_BEGIN_TIME,
						 DWELL_COLUMN_END_TIME,	    DWELL_COLUMN_COUNTS,
						 DWELL_COLUMN_VALUES,	    DWELL_COLUMN_END};
static const enum dw_column process_defaults[] = {
	DWELL_COLUMN_DEFAULT_OWN_VALUES, DWELL_COLUMN_ID,	DWELL_COLUMN_COMMAND,
	DWELL_COLUMN_BEGIN_TIME,	 DWELL_COLUMN_END_TIME, DWELL_COLUMN_END};
static const enum dw_column thread_columns[] = {
	DWELL_COLUMN_UNIQUE_ID,	   DWELL_COLUMN_ID,	  DWELL_COLUMN_NAME,
	DWELL_COLUMN_BEGIN_TIME,   DWELL_COLUMN_END_TIME, DWELL_COLUMN_PROCESS_ID,
	DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_COMMAND,  DWELL_COLUMN_COMMAND_LINE,
	DWELL_COLUMN_THREAD_NAME,  DWELL_COLUMN_COUNTS,	  DWELL_COLUMN_VALUES,
	DWELL_COLUMN_END};
static const enum dw_column thread_defaults[] = {
	DWELL_COLUMN_DEFAULT_OWN_VALUES, DWELL_COLUMN_ID,      DWELL_COLUMN_NAME,
	DWELL_COLUMN_THREAD_NAME,	 DWELL_COLUMN_COMMAND, DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,		 DWELL_COLUMN_END};

const struct dw_view_ops dw_view_processes = {
	.name = "processes",
	.help = "every process, those without samples too",
	.parts = DWELL_TOTALS_TASKS,
	.columns = process_columns,
	.defaults = process_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.trims = true,
	.open = open_processes,
	.row = process_row,
};

const struct dw_view_ops dw_view_threads = {
	.name = "threads",
	.help = "every thread, those without samples too",
	.parts = DWELL_TOTALS_TASKS,
	.columns = thread_columns,
	.defaults = thread_defaults,
	.sort = DWELL_COLUMN_LEAD_EXCLUSIVE,
	.trims = true,
	.open = open_threads,
	.row = thread_row,
};
