/*
 * What a cell holds, for every column of every view: a view says what its row is about, and the
 * columns follow from that.
 */
#include "analysis/disassembly.h"
#include "base/out.h"
#include "view/column-groups.h"
#include "view/event-cell.h"
#include "view/source-text.h"
#include "view/value-cell.h"
#include "view/view.h"

#include <ctype.h>
#include <inttypes.h>

static const char *text(const struct dw_view *v, uint32_t id)
{
	return dw_strings_get(&v->request.profile->strings, id);
}

static void set_text(struct dw_cell *c, const char *s)
{
	if (s && *s)
		*c = (struct dw_cell){.kind = DWELL_CELL_TEXT, .text = s};
}

/* A number whose 0 means "not known". */
static void set_known(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	if (n)
		*c = (struct dw_cell){.kind = kind, .number = n};
}

static const struct dw_function *function_of(const struct dw_view *v, const struct dw_row *row)
{
	return dw_functions_get(&v->request.profile->functions, row->function);
}

static const char *process_name(const struct dw_view *v, const struct dw_row *row)
{
	const struct dw_process *p = dw_processes_get(&v->request.profile->processes, row->process);

	return p ? text(v, p->name) : "";
}

/* A thread is called after its start function, as Visual Studio does, else by its own name. */
static const char *thread_name(const struct dw_view *v, const struct dw_row *row)
{
	const struct dw_profile *p = v->request.profile;
	const struct dw_thread *t = dw_threads_get(&p->threads, row->thread);
	const struct dw_function *start = t ? dw_functions_get(&p->functions, t->start) : NULL;

	return start ? text(v, start->name) : t ? text(v, t->name) : "";
}

/* What the thread calls itself. */
static const char *own_thread_name(const struct dw_view *v, const struct dw_row *row)
{
	const struct dw_thread *t = dw_threads_get(&v->request.profile->threads, row->thread);

	return t ? text(v, t->name) : "";
}

/* A thread outside its functions. It goes by a name that no function has. */
static const char *root_row_name(const struct dw_view *v, const struct dw_row *row,
				 struct dw_buf *scratch)
{
	dw_buf_clear(scratch);
	dw_buf_printf(scratch, "[thread %s]%s", thread_name(v, row), row->chain ? row->chain : "");
	return dw_buf_str(scratch);
}

static const char *function_name(const struct dw_view *v, const struct dw_row *row,
				 struct dw_buf *scratch)
{
	const struct dw_function *f = function_of(v, row);
	const char *name = f ? text(v, f->name) : "";

	if (row->function == (uint32_t)DWELL_FUNCTION_ROOT)
		return root_row_name(v, row, scratch);
	if (row->function == (uint32_t)DWELL_FUNCTION_CUT)
		name = "[stack cut]";
	else if (row->function == (uint32_t)DWELL_FUNCTION_TRUNCATED)
		name = "(paths not drawn)";
	else if (row->function && !f)
		name = "[unknown]";
	else if (!row->function && row->type == DWELL_ROW_CALLER)
		name = "[outermost]";
	else if (!row->function)
		name = row->name == DWELL_NAME_FUNCTION ? process_name(v, row) : "";
	if (!row->chain)
		return name;
	dw_buf_clear(scratch);
	dw_buf_puts(scratch, name);
	dw_buf_puts(scratch, row->chain);
	return dw_buf_str(scratch);
}

static const char *module_text(const struct dw_view *v, const struct dw_row *row, bool path)
{
	const struct dw_module *m = dw_modules_get(&v->request.profile->modules, row->module);

	if (!(row->flags & DWELL_ROW_HAS_MODULE))
		return "";
	if (row->module == (uint32_t)DWELL_MODULE_ROOT)
		return path ? "" : "[threads]";
	if (!m)
		return path ? "" : "[unknown]";
	return text(v, path ? m->path : m->name);
}

/* "file;[line,column]->;[line end,column end]", without an end that is not known. */
static const char *line_name(const struct dw_view *v, const struct dw_row *row,
			     struct dw_buf *scratch)
{
	if (!(row->flags & DWELL_ROW_HAS_LINE) || !row->line)
		return "";
	dw_buf_clear(scratch);
	dw_buf_printf(scratch, "%s;[%" PRIu32 ",%" PRIu32 "]", text(v, row->file), row->line,
		      row->column);
	if (row->line_end)
		dw_buf_printf(scratch, "->;[%" PRIu32 ",%" PRIu32 "]", row->line_end,
			      row->column_end);
	return dw_buf_str(scratch);
}

static const char *class_name(const struct dw_view *v, const struct dw_row *row)
{
	const struct dw_alloc_type *t =
		dw_allocations_get_type(&v->request.profile->allocations, row->class_of);

	return t ? text(v, t->name) : "";
}

static const char *row_name(const struct dw_view *v, const struct dw_row *row,
			    struct dw_buf *scratch)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	switch (row->name) {
	case DWELL_NAME_FUNCTION:
		return function_name(v, row, scratch);
	case DWELL_NAME_PROCESS:
		return process_name(v, row);
	case DWELL_NAME_THREAD:
		return thread_name(v, row);
	case DWELL_NAME_MODULE:
		return module_text(v, row, false);
	case DWELL_NAME_LINE:
		dw_buf_clear(scratch);
		dw_buf_puts(scratch, row->line ? "line " : "no line");
		if (row->line)
			dw_buf_puts(scratch, dw_digits_decimal(row->line, digits));
		return dw_buf_str(scratch);
	case DWELL_NAME_CLASS:
		return class_name(v, row);
	case DWELL_NAME_ADDRESS:
		dw_buf_clear(scratch);
		dw_buf_puts(scratch, dw_digits_hex(row->address, digits));
		return dw_buf_str(scratch);
	}
	return "";
}

static void type_cell(const struct dw_row *row, struct dw_cell *ret)
{
	static const char *const words[] = {"current", "caller", "callee"};

	*ret = (struct dw_cell){
		.kind = DWELL_CELL_NUMBER, .number = row->type, .text = words[row->type]};
}

/* Columns of processes and threads. */
static void task_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		      struct dw_cell *ret)
{
	const struct dw_profile *p = v->request.profile;
	const struct dw_process *process = dw_processes_get(&p->processes, row->process);
	const struct dw_thread *thread = dw_threads_get(&p->threads, row->thread);
	uint64_t begin = thread ? thread->begin_ns : process ? process->begin_ns : 0;
	uint64_t end = thread ? thread->end_ns : process ? process->end_ns : DWELL_TIME_NONE;

	if (row->flags & DWELL_ROW_HAS_BEGIN)
		begin = row->begin_ns;
	if (column == DWELL_COLUMN_PROCESS_ID)
		set_known(ret, DWELL_CELL_NUMBER, process ? (uint32_t)process->pid : 0);
	else if (column == DWELL_COLUMN_UNIQUE_ID)
		set_known(ret, DWELL_CELL_NUMBER, row->thread ? row->thread : row->process);
	else if (column == DWELL_COLUMN_ID)
		set_known(ret, DWELL_CELL_NUMBER,
			  thread		? (uint32_t)thread->tid
			  : process && !row->gc ? (uint32_t)process->pid
						: 0);
	else if (column == DWELL_COLUMN_BEGIN_TIME && begin != DWELL_TIME_NONE)
		*ret = (struct dw_cell){.kind = DWELL_CELL_TIME_NS, .number = begin};
	else if (column == DWELL_COLUMN_END_TIME && end != DWELL_TIME_NONE)
		*ret = (struct dw_cell){.kind = DWELL_CELL_TIME_NS, .number = end};
}

/* Columns of functions, lines and instructions that are not names. */
static void code_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		      struct dw_cell *ret)
{
	const struct dw_function *f = function_of(v, row);

	if (column == DWELL_COLUMN_SOURCE_FILE)
		set_text(ret, text(v, row->flags & DWELL_ROW_HAS_LINE ? row->file
				      : f			      ? f->file
								      : 0));
	else if (column == DWELL_COLUMN_FUNCTION_LINE)
		set_known(ret, DWELL_CELL_NUMBER, f ? f->line : 0);
	else if (column == DWELL_COLUMN_FUNCTION_ADDRESS && f)
		*ret = (struct dw_cell){.kind = DWELL_CELL_ADDRESS, .number = f->svma};
	else if (column == DWELL_COLUMN_INSTRUCTION_ADDRESS && row->flags & DWELL_ROW_HAS_ADDRESS)
		*ret = (struct dw_cell){.kind = DWELL_CELL_ADDRESS, .number = row->address};
	else if (column == DWELL_COLUMN_LINE_BEGIN)
		set_known(ret, DWELL_CELL_NUMBER, row->line);
	else if (column == DWELL_COLUMN_LINE_END)
		set_known(ret, DWELL_CELL_NUMBER, row->line_end);
	else if (column == DWELL_COLUMN_CHARACTER_BEGIN)
		set_known(ret, DWELL_CELL_NUMBER, row->column);
	else if (column == DWELL_COLUMN_CHARACTER_END)
		set_known(ret, DWELL_CELL_NUMBER, row->column_end);
}

enum { TAB_COLUMNS = 8 };

/* The row's line of the source, with blanks for tabs; its indentation where lines around it are
 * seen, too. */
static const char *source_text(const struct dw_view *v, const struct dw_row *row,
			       struct dw_buf *scratch)
{
	const struct dw_source_text *s = v->request.source;
	bool indent = row->flags & DWELL_ROW_IN_CONTEXT;
	const char *line = NULL;
	size_t n, start = 0, column = 0;

	dw_buf_clear(scratch);
	if (s && row->flags & DWELL_ROW_HAS_LINE && row->file && row->line)
		line = s->line(s->ctx, row->file, row->line, &n);
	if (!line)
		return "";
	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	while (!indent && start < n && isspace((unsigned char)line[start]))
		start++;
	for (size_t i = start; i < n; i++) {
		do {
			dw_buf_putc(scratch, line[i] == '\t' ? ' ' : line[i]);
		} while (++column % TAB_COLUMNS && line[i] == '\t');
	}
	return dw_buf_str(scratch);
}

static const char *instruction_text(const struct dw_view *v, const struct dw_row *row,
				    struct dw_buf *scratch)
{
	dw_buf_clear(scratch);
	if (row->code && row->flags & DWELL_ROW_HAS_ADDRESS)
		dw_disassembly_put(row->code, row->module, row->address, v->request.intel, scratch);
	return dw_buf_str(scratch);
}

/* The function that a callers view is about. */
static const char *root_name(const struct dw_view *v)
{
	const struct dw_function *f =
		dw_functions_get(&v->request.profile->functions, v->request.function);

	return f ? text(v, f->name) : "";
}

void dw_view_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		  struct dw_buf *scratch, struct dw_cell *ret)
{
	*ret = (struct dw_cell){.kind = DWELL_CELL_EMPTY};
	if (dw_column_info(column)->measure)
		return dw_value_cell(v, row, column, ret);
	switch (column) {
	case DWELL_COLUMN_SECTION:
		return set_text(ret, row->section);
	case DWELL_COLUMN_PROCESS_NAME:
		return set_text(ret, process_name(v, row));
	case DWELL_COLUMN_THREAD_NAME:
		return set_text(ret, own_thread_name(v, row));
	case DWELL_COLUMN_MODULE_NAME:
		return set_text(ret, module_text(v, row, false));
	case DWELL_COLUMN_MODULE_PATH:
		return set_text(ret, module_text(v, row, true));
	case DWELL_COLUMN_FUNCTION_NAME:
		return set_text(ret, function_name(v, row, scratch));
	case DWELL_COLUMN_NAME:
		return set_text(ret, row_name(v, row, scratch));
	case DWELL_COLUMN_CLASS_NAME:
		return set_text(ret, class_name(v, row));
	case DWELL_COLUMN_LINE_NAME:
		return set_text(ret, line_name(v, row, scratch));
	case DWELL_COLUMN_INSTRUCTION:
		return set_text(ret, instruction_text(v, row, scratch));
	case DWELL_COLUMN_SOURCE_TEXT:
		return set_text(ret, source_text(v, row, scratch));
	case DWELL_COLUMN_ROOT:
		return set_text(ret, root_name(v));
	case DWELL_COLUMN_CALL_PATH:
		return set_text(ret, row->path);
	case DWELL_COLUMN_PROCESSES:
		return set_known(ret, DWELL_CELL_COUNT, row->processes);
	case DWELL_COLUMN_TYPE:
		return type_cell(row, ret);
	case DWELL_COLUMN_LEVEL:
		*ret = (struct dw_cell){.kind = DWELL_CELL_NUMBER, .number = row->level};
		return;
	default:
		if (column >= DWELL_COLUMN_CALLEES)
			return dw_event_cell(v, row, column, ret);
		task_cell(v, row, column, ret);
		code_cell(v, row, column, ret);
	}
}

bool dw_column_is_value(enum dw_column column)
{
	return dw_column_info(column)->measure == DWELL_MEASURE_SAMPLES;
}

bool dw_column_is_place(enum dw_column column)
{
	static const enum dw_column general[] = {DWELL_COLUMNS_GENERAL};

	for (size_t i = 0; i < sizeof general / sizeof *general; i++)
		if (general[i] == column)
			return true;
	return false;
}

bool dw_row_place(const struct dw_row *row, struct dw_row_place *ret)
{
	unsigned flags = row->flags & (DWELL_ROW_HAS_MODULE | DWELL_ROW_HAS_LINE);

	*ret = (struct dw_row_place){
		.process = row->process,
		.module = row->module,
		.function = row->function,
		.file = row->file,
		.kind = flags | (unsigned)row->name << 8 | (unsigned)row->type << 16,
	};
	return !row->chain && !row->thread;
}
