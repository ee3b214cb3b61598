/*
 * What a cell holds, for every column of every view: a view says what its row is about, and the
 * columns follow from that.
 *
 * Shares are those of everything that passed the filter, exclusive ones too. Inclusive means divide
 * by outermost activations, because inclusive values count those only.
 */
#include "analysis/disassembly.h"
#include "base/out.h"
#include "view/source-text.h"
#include "view/view.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct dw_view *v, uint32_t id)
{
	return dw_strings_get(&v->request.profile->strings, id);
}

static void set_text(struct dw_cell *c, const char *s)
{
	if (s && *s)
		*c = (struct dw_cell){.kind = DWELL_CELL_TEXT, .text = s};
}

/* @c is empty so far. */
static void set_number(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	c->kind = kind;
	c->number = n;
}

/* A number whose 0 means "not known". */
static void set_known(struct dw_cell *c, enum dw_cell_kind kind, uint64_t n)
{
	if (n)
		set_number(c, kind, n);
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

static const char *command_line(const struct dw_view *v, const struct dw_row *row)
{
	const struct dw_process *p = dw_processes_get(&v->request.profile->processes, row->process);

	return p ? text(v, p->command_line) : "";
}

/* What rows of several processes go by, or the row's own one. */
static const char *command(const struct dw_view *v, const struct dw_row *row)
{
	uint32_t known = row->command;

	if (!known)
		known = dw_process_command(v->request.profile, row->process);
	return text(v, known);
}

/* A thread is called after its start function, as Visual Studio does, else by its own name. */
static const char *thread_name(const struct dw_view *v, const struct dw_row *row)
{
	const struct dw_profile *p = v->request.profile;
	const struct dw_thread *t = dw_threads_get(&p->threads, row->thread);
	const struct dw_function *start = t ? dw_functions_get(&p->functions, t->start) : NULL;

	return start ? text(v, start->name) : t ? text(v, t->name) : "";
}

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

/* The root of a call tree. */
static const char *lane_name(const struct dw_view *v, const struct dw_row *row)
{
	if (row->thread)
		return thread_name(v, row);
	if (row->process || row->command)
		return command(v, row);
	return v->request.totals->by == DWELL_BY_NONE ? "[all processes]" : "[unknown]";
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
		name = row->name == DWELL_NAME_FUNCTION ? lane_name(v, row) : "";
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

static const char *file_name(const struct dw_view *v, const struct dw_row *row)
{
	if (!row->io)
		return "";
	return row->file ? text(v, row->file) : "[other files]";
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
	case DWELL_NAME_FILE:
		return file_name(v, row);
	case DWELL_NAME_ADDRESS:
		dw_buf_clear(scratch);
		dw_buf_puts(scratch, dw_digits_hex(row->address, digits));
		return dw_buf_str(scratch);
	}
	return "";
}

static void type_cell(const struct dw_row *row, struct dw_cell *ret)
{
	static const char *const words[] = {"current", "caller", "callee", "line"};

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
	else if (column == DWELL_COLUMN_THREAD_ID)
		set_known(ret, DWELL_CELL_NUMBER, thread ? (uint32_t)thread->tid : 0);
	else if (column == DWELL_COLUMN_UNIQUE_ID)
		set_known(ret, DWELL_CELL_NUMBER, row->thread ? row->thread : row->process);
	else if (column == DWELL_COLUMN_ID)
		set_known(ret, DWELL_CELL_NUMBER,
			  thread		? (uint32_t)thread->tid
			  : process && !row->gc ? (uint32_t)process->pid
						: 0);
	else if (column == DWELL_COLUMN_BEGIN_TIME && begin != DWELL_TIME_NONE)
		set_number(ret, DWELL_CELL_TIME_NS, begin);
	else if (column == DWELL_COLUMN_END_TIME && end != DWELL_TIME_NONE)
		set_number(ret, DWELL_CELL_TIME_NS, end);
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
		set_number(ret, DWELL_CELL_ADDRESS, f->svma);
	else if (column == DWELL_COLUMN_INSTRUCTION_ADDRESS && row->flags & DWELL_ROW_HAS_ADDRESS)
		set_number(ret, DWELL_CELL_ADDRESS, row->address);
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
	struct dw_source_text *s = v->request.source;
	bool indent = row->flags & DWELL_ROW_IN_CONTEXT;
	const char *line = NULL;
	size_t n, start = 0, column = 0;

	dw_buf_clear(scratch);
	if (s && row->flags & DWELL_ROW_HAS_LINE && row->file && row->line)
		line = dw_source_text_line(s, row->file, row->line, &n);
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

/* What loops said of its probes, which is two readings of the clock, and what samples made of that.
 */
double dw_call_uncertainty(const struct dw_profile *p)
{
	const struct dw_facts *f = &p->facts;
	double function = (double)dw_facts_get(f, "probes_function_ps", 0) / 1e3;
	double external = (double)dw_facts_get(f, "probes_outside_ps", 0) / 1e3;
	double looped = (double)dw_facts_get(f, "probes_looped_ns", 0);
	double found = (double)dw_facts_get(f, "probes_found_ns", 0);
	double cost = function > external ? function : external, in_loops = cost;

	if (looped > 0 && found > 0)
		in_loops = cost * looped / found;
	return in_loops > cost ? 2 * in_loops - cost : cost;
}

uint64_t dw_call_at_most(double uncertain_ns, const struct dw_measured *m)
{
	double n = (double)dw_measured_get(m, DWELL_MEASURE_MEASURED, false);
	double own = (double)dw_measured_get(m, DWELL_MEASURE_APPLICATION, true);

	return !m->is_site && own < n * uncertain_ns ? (uint64_t)(own + n * uncertain_ns) : 0;
}

bool dw_call_is_upper_bound(const struct dw_profile *p, uint32_t process)
{
	const char *source = dw_facts_get_text(&p->facts, "os_source");
	const char *at = dw_facts_get_text(&p->facts, "switches_unseen_in");
	bool is_all = source && !strcmp(source, "none"), is_listed = false;

	for (char *end; at && *at && process && !is_listed; at = *end ? end + 1 : end)
		is_listed = strtoul(at, &end, 10) == process;
	return is_all || is_listed;
}

/* Calls by which averages divide. */
static uint64_t calls_of(const struct dw_measured *m, bool exclusive)
{
	return dw_measured_get(m, exclusive ? DWELL_MEASURE_MEASURED : DWELL_MEASURE_OUTER_CALLS,
			       false);
}

/* Half of the interval that the true number of bytes, of which @bytes are estimated, is in with 95
 * % certainty: bytes were drawn one in so many, and what is drawn of many objects varies as its
 * root. Large objects, of which most are drawn, vary less. */
static uint64_t error_of(const struct dw_profile *p, uint64_t bytes)
{
	int64_t interval = dw_facts_get(&p->facts, "sample_bytes", 0);

	return (uint64_t)(1.96 * sqrt((double)bytes * (double)interval) + 0.5);
}

static void extreme_cell(const struct dw_measured *m, const struct dw_column_info *info,
			 struct dw_cell *ret)
{
	struct dw_range_ns range;

	if (!m->extremes)
		return;
	range = dw_measured_extremes(m, info->measure, info->exclusive);
	if (dw_range_known(&range))
		set_number(ret, info->kind,
			   info->aspect == DWELL_ASPECT_MAX ? range.max_ns : range.min_ns);
}

static void average_cell(const struct dw_measured *m, const struct dw_column_info *info, uint64_t n,
			 struct dw_cell *ret)
{
	uint64_t divisor = calls_of(m, info->exclusive);

	if (divisor)
		set_number(ret, info->kind, (n + divisor / 2) / divisor);
}

/* Cells that show an amount, or what follows from it. */
static void amount_cell(const struct dw_view *v, const struct dw_row *row,
			const struct dw_column_info *info, struct dw_cell *ret)
{
	const struct dw_measured *m = &row->measured;
	enum dw_measure end = DWELL_MEASURE_BYTES_ALIVE;
	uint64_t n, all, alive;

	if (info->measure == DWELL_MEASURE_SAMPLES)
		n = info->exclusive ? row->values.exclusive : row->values.inclusive;
	else if (!dw_measured_value(m, info->measure, info->exclusive, &n))
		return;
	switch (info->aspect) {
	case DWELL_ASPECT_PERCENT:
		all = v->request.totals->all[info->measure];
		ret->kind = info->kind;
		ret->percent = all ? 100.0 * (double)n / (double)all : 0;
		return;
	case DWELL_ASPECT_AVERAGE:
		return average_cell(m, info, n, ret);
	case DWELL_ASPECT_ERROR:
		return set_number(ret, info->kind, error_of(v->request.profile, n));
	case DWELL_ASPECT_TIME:
		return set_number(ret, info->kind, (uint64_t)((double)n * v->sample_ns + .5));
	case DWELL_ASPECT_GROWTH:
		if (info->measure == DWELL_MEASURE_OBJECTS_BEFORE)
			end = DWELL_MEASURE_OBJECTS_ALIVE;
		if (dw_measured_value(m, end, false, &alive))
			set_number(ret, info->kind, alive - n);
		return;
	default:
		return set_number(ret, info->kind, n);
	}
}

static void value_cell(const struct dw_view *v, const struct dw_row *row,
		       const struct dw_column_info *info, struct dw_cell *ret)
{
	const struct dw_measured *m = &row->measured;
	uint64_t at_most;

	switch (info->aspect) {
	case DWELL_ASPECT_MAX:
	case DWELL_ASPECT_MIN:
		return extreme_cell(m, info, ret);
	case DWELL_ASPECT_AT_MOST:
		at_most = dw_call_at_most(v->uncertain_ns, m);
		if (at_most)
			set_number(ret, info->kind, at_most);
		return;
	case DWELL_ASPECT_BEGIN:
		if (m->disabled_at)
			set_number(ret, info->kind,
				   v->request.profile->calls.disabled.v[m->disabled_at - 1].at_ns);
		return;
	default:
		amount_cell(v, row, info, ret);
	}
}

/* How the time of one call divides, but for what is its function's own. */
static void slow_cell(const struct dw_call_slow *slow, enum dw_column column, struct dw_cell *ret)
{
	uint64_t ns = slow->switched_ns;

	if (column == DWELL_COLUMN_CALLEES)
		ns = dw_call_slow_callees(slow);
	else if (column == DWELL_COLUMN_IO)
		ns = slow->io_ns;
	else if (column == DWELL_COLUMN_BLOCKING)
		ns = slow->blocking_ns;
	set_number(ret, DWELL_CELL_DURATION_NS, ns);
}

static const char *kind_of(const struct dw_gc *gc)
{
	if (!gc->is_blocking)
		return "background";
	return gc->is_compacting ? "blocking, compacting" : "blocking";
}

static void gc_cell(const struct dw_view *v, const struct dw_gc *gc, enum dw_column column,
		    struct dw_cell *ret)
{
	const char *reason = dw_strings_get(&v->request.profile->strings, gc->reason);

	switch (column) {
	case DWELL_COLUMN_GC_NUMBER:
		return set_number(ret, DWELL_CELL_NUMBER, gc->number);
	case DWELL_COLUMN_GC_GENERATION:
		return set_number(ret, DWELL_CELL_NUMBER, gc->generation);
	case DWELL_COLUMN_GC_TYPE:
		return set_text(ret, kind_of(gc));
	case DWELL_COLUMN_GC_REASON:
		return set_text(ret, reason);
	case DWELL_COLUMN_GC_PAUSE:
		return set_number(ret, DWELL_CELL_DURATION_NS, gc->pause_ns);
	case DWELL_COLUMN_GC_ADDED:
		return set_number(ret, DWELL_CELL_DURATION_NS, gc->added_ns);
	case DWELL_COLUMN_HEAP_BEFORE:
		return set_number(ret, DWELL_CELL_COUNT, gc->heap_before);
	case DWELL_COLUMN_HEAP_AFTER:
		return set_number(ret, DWELL_CELL_COUNT, gc->heap_after);
	default:
		return set_number(ret, DWELL_CELL_COUNT, gc->promoted);
	}
}

/* The name of the function @id, "" = there is none. */
static const char *name_of(const struct dw_view *v, uint32_t id)
{
	const struct dw_function *f = dw_functions_get(&v->request.profile->functions, id);

	return f ? text(v, f->name) : "";
}

static void wait_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		      struct dw_cell *ret)
{
	const struct dw_totals *t = v->request.totals;
	enum dw_wait_kind kind = (enum dw_wait_kind)(row->wait - t->waits);
	uint64_t all = 0;

	for (int i = 0; i < DWELL_WAIT_KINDS; i++)
		all += t->waits[i].ns;
	if (column == DWELL_COLUMN_WAIT_KIND)
		set_text(ret, dw_wait_kind_name(kind));
	else if (column == DWELL_COLUMN_WAIT_TIME)
		set_number(ret, DWELL_CELL_DURATION_NS, row->wait->ns);
	else if (column == DWELL_COLUMN_WAIT_PCT)
		*ret = (struct dw_cell){.kind = DWELL_CELL_PERCENT,
					.percent = 100.0 * (double)row->wait->ns / (double)all};
	else if (column == DWELL_COLUMN_WAIT_THREADS)
		set_number(ret, DWELL_CELL_COUNT, row->wait->threads);
	else if (column == DWELL_COLUMN_WAIT_COUNTS)
		set_text(ret, dw_wait_kinds_have(t->waits_left_out, kind) ? "no" : "yes");
	else if (column == DWELL_COLUMN_WAIT_HELD_BY)
		set_text(ret, name_of(v, t->holders[kind].function));
	else if (row->wait->function)
		set_number(ret, DWELL_CELL_DURATION_NS, row->wait->function_ns);
}

static void io_cell(const struct dw_io_sums *io, enum dw_column column, struct dw_cell *ret)
{
	switch (column) {
	case DWELL_COLUMN_IO:
		return set_number(ret, DWELL_CELL_DURATION_NS, io->time_ns);
	case DWELL_COLUMN_READS:
		return set_number(ret, DWELL_CELL_COUNT, io->reads);
	case DWELL_COLUMN_BYTES_READ:
		return set_number(ret, DWELL_CELL_COUNT, io->bytes_read);
	case DWELL_COLUMN_WRITES:
		return set_number(ret, DWELL_CELL_COUNT, io->writes);
	default:
		return set_number(ret, DWELL_CELL_COUNT, io->bytes_written);
	}
}

static void event_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		       struct dw_cell *ret)
{
	if (row->io)
		io_cell(row->io, column, ret);
	else if (column >= DWELL_COLUMN_WAIT_KIND && row->wait)
		wait_cell(v, row, column, ret);
	else if (column >= DWELL_COLUMN_GC_NUMBER && row->gc)
		gc_cell(v, row->gc, column, ret);
	else if (column < DWELL_COLUMN_GC_NUMBER && row->slow)
		slow_cell(row->slow, column, ret);
}

/* The title of the list of the summary that the row is in. */
static const char *section_title(const struct dw_view *v, enum dw_section section)
{
	static const char *const titles[DWELL_SECTIONS_N] = {
		[DWELL_SECTION_PATH] = "Hot Path",
		[DWELL_SECTION_TYPES_BY_BYTES] = "Types with Most Memory Allocated",
		[DWELL_SECTION_TYPES_BY_OBJECTS] = "Types with Most Instances",
		[DWELL_SECTION_TYPES_BY_OLD] = "Types with Most Memory Collected in Gen 2",
		[DWELL_SECTION_WAITING] = "Functions Waiting Longest",
	};
	static const char *const of_functions[] = {
		[DWELL_METHOD_SAMPLING] = "Functions Doing Most Individual Work",
		[DWELL_METHOD_INSTRUMENTATION] = "Functions with Most Individual Work",
		[DWELL_METHOD_MEMORY] = "Functions Allocating Most Memory",
	};

	return section == DWELL_SECTION_FUNCTIONS
		       ? of_functions[dw_profile_method(v->request.profile)]
		       : titles[section];
}

void dw_view_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		  struct dw_buf *scratch, struct dw_cell *ret)
{
	const struct dw_column_info *info = dw_column_info(column);

	*ret = (struct dw_cell){.kind = DWELL_CELL_EMPTY};
	if (info->measure)
		return value_cell(v, row, info, ret);
	switch (column) {
	case DWELL_COLUMN_SECTION:
		return set_text(ret, section_title(v, row->section));
	case DWELL_COLUMN_PROCESS_NAME:
		return set_text(ret, process_name(v, row));
	case DWELL_COLUMN_COMMAND:
		return set_text(ret, command(v, row));
	case DWELL_COLUMN_COMMAND_LINE:
		return set_text(ret, command_line(v, row));
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
	case DWELL_COLUMN_FILE:
		return set_text(ret, file_name(v, row));
	case DWELL_COLUMN_CLASS_NAME:
		return set_text(ret, class_name(v, row));
	case DWELL_COLUMN_LINE_NAME:
		return set_text(ret, line_name(v, row, scratch));
	case DWELL_COLUMN_INSTRUCTION:
		return set_text(ret, instruction_text(v, row, scratch));
	case DWELL_COLUMN_SOURCE_TEXT:
		return set_text(ret, source_text(v, row, scratch));
	case DWELL_COLUMN_ROOT:
		return set_text(ret, name_of(v, v->request.function));
	case DWELL_COLUMN_CALL_PATH:
		return set_text(ret, row->path);
	case DWELL_COLUMN_DEEPEST_CALL:
		return set_text(ret, row->deepest ? row->deepest : "");
	case DWELL_COLUMN_PROCESSES:
		return set_known(ret, DWELL_CELL_COUNT, row->processes);
	case DWELL_COLUMN_TYPE:
		return type_cell(row, ret);
	case DWELL_COLUMN_LEVEL:
		return set_number(ret, DWELL_CELL_NUMBER, row->level);
	default:
		if (column >= DWELL_COLUMN_CALLEES)
			return event_cell(v, row, column, ret);
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
	static const enum dw_column general[] = {DWELL_COLUMNS_PROCESS, DWELL_COLUMNS_CODE};

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
		.command = row->command,
		.module = row->module,
		.function = row->function,
		.file = row->file,
		.kind = flags | (unsigned)row->name << 8 | (unsigned)row->type << 16,
	};
	return !row->chain && !row->thread;
}
