/*
 * Totals as SQL rows; see tables.h.
 *
 * Each table is one insert statement and one function that gives a row's columns. Rows are ranked
 * first (heaviest first, which is also the order of insertion, so that pages fill without holes);
 * texts are noted while rows are written and follow at the end.
 *
 * Names of C++ are most of such a file, and most functions have one sample or two. Those below a
 * share that a table would show as 0.00 % are one row for each process, so that sums are right.
 */
#include "session/tables.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "session/database.h"
#include "session/order.h"
#include "model/worth.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS_MAX = 13 };

/* A function, an edge or an instruction gets a row from this share of all samples on. */
enum { ROW_SHARE = 10000 };
#define SQL_NULL  INT64_MIN	  /* in a row of integers */
#define SQL_LABEL (INT64_MIN + 1) /* likewise: the text in tables.label */

/* What is known of the lines of a function in a process; a function that is in no view. */
enum { LINES_NONE = 1, LINES_SOME, LINES_HIDDEN };

enum { OTHER_ID = 0 }; /* of the function that stands for all that have no row */

#define TRUNCATED_ID (-(int64_t)UINT32_MAX) /* of callees that the target had no memory for */

struct tables {
	struct dw_database *db;
	const struct dw_profile *p;
	const struct dw_totals *totals;
	struct dw_error *err;
	uint8_t *texts;	    /* by string id: some row shows it */
	uint32_t *node_ids; /* by index of the node */
	struct dw_line_ranks line_ranks;
	struct dw_map lines_known;    /* of process << 32 | function: LINES_* */
	uint8_t *functions_shown;     /* by function id: it has a row */
	uint64_t *other;	      /* by process id: values of functions without a row */
	struct dw_map function_ranks; /* likewise: the rank of those without lines */
	struct dw_amount_table amount_table;
	struct dw_measured measured; /* of the row being written */
	const char *label;	     /* the one text of the row being written, borrowed */
	char build_id[2 * DWELL_BUILD_ID_MAX_BYTES + 1];
	size_t row;			       /* being written */
	uint32_t rank;			       /* of that row, from 1 */
	struct dw_worth node_worth, row_worth; /* what is worth a row */
	bool has_calls;
};

/* Note that @id is shown. NULL for the empty string. */
static int64_t text(struct tables *t, uint32_t id)
{
	if (!id)
		return SQL_NULL;
	t->texts[id] = 1;
	return id;
}

static int64_t or_null(uint64_t v)
{
	return v ? (int64_t)v : SQL_NULL;
}

static int64_t time_or_null(uint64_t ns)
{
	return ns == DWELL_TIME_NONE ? SQL_NULL : (int64_t)ns;
}

/* The id of @function in SQL: negative for what is no function. */
static int64_t function_id(uint32_t function, uint32_t thread)
{
	if (function == (uint32_t)DWELL_FUNCTION_ROOT)
		return -(int64_t)thread;
	return function == (uint32_t)DWELL_FUNCTION_TRUNCATED ? TRUNCATED_ID : (int64_t)function;
}

/* The three columns from @v on: the main measure of @m, and its id in total, where it is written
 * after the row that names it. */
static void amounts(struct tables *t, struct dw_measured m, int64_t *v)
{
	const struct dw_values *values = dw_amounts_common(m.table, m.row, t->totals->main);

	t->measured = m;
	v[0] = (int64_t)values->inclusive;
	v[1] = (int64_t)values->exclusive;
	v[2] = t->amount_table.put ? t->amount_table.rows + 1 : SQL_NULL;
}

static void module_columns(struct tables *t, int64_t *v)
{
	const struct dw_module *m = &t->p->modules.rows.v[t->row + 1];

	v[0] = (int64_t)t->row + 1;
	v[1] = m->kind;
	v[2] = text(t, m->path);
	v[3] = text(t, m->name);
	v[4] = m->build_id_bytes ? SQL_LABEL : SQL_NULL;
	for (size_t i = 0; i < m->build_id_bytes; i++)
		sprintf(t->build_id + 2 * i, "%02x", m->build_id[i]);
	t->label = t->build_id;
	v[5] = m->deleted;
	v[6] = or_null(m->device);
	v[7] = or_null(m->inode);
}

static void function_columns(struct tables *t, int64_t *v)
{
	const struct dw_function *f = &t->p->functions.rows.v[t->row + 1];

	v[0] = (int64_t)t->row + 1;
	v[1] = or_null(f->module);
	v[2] = SQL_LABEL;
	t->label = dw_strings_get(&t->p->strings, f->name);
	v[3] = text(t, f->file);
	v[4] = or_null(f->line);
	v[5] = (int64_t)f->svma;
}

static void process_columns(struct tables *t, int64_t *v)
{
	const struct dw_process_total *total = &t->totals->processes.v[t->row];
	const struct dw_process *p = &t->p->processes.rows.v[total->process];

	v[0] = total->process;
	v[1] = p->pid;
	v[2] = or_null(p->parent);
	v[3] = text(t, p->name);
	v[4] = time_or_null(p->begin_ns);
	v[5] = time_or_null(p->end_ns);
	v[6] = time_or_null(p->user_cpu_ns);
	v[7] = time_or_null(p->kernel_cpu_ns);
	amounts(t, dw_totals_measured(t->totals, total->amounts), &v[8]);
	v[11] = p->command ? text(t, p->command) : SQL_NULL;
	v[12] = p->command_line ? text(t, p->command_line) : SQL_NULL;
}

static void thread_columns(struct tables *t, int64_t *v)
{
	const struct dw_thread_total *total = &t->totals->threads.v[t->row];
	const struct dw_thread *thread = &t->p->threads.rows.v[total->thread];

	v[0] = total->thread;
	v[1] = thread->process;
	v[2] = thread->tid;
	v[3] = text(t, thread->name);
	v[4] = or_null(thread->start);
	v[5] = time_or_null(thread->begin_ns);
	v[6] = time_or_null(thread->end_ns);
	amounts(t, dw_totals_measured(t->totals, total->amounts), &v[7]);
}

static uint64_t function_key(uint32_t process, uint32_t function)
{
	return (uint64_t)process << 32 | function;
}

static bool has_lines(const struct tables *t, uint32_t process, uint32_t function)
{
	return dw_map_get(&t->lines_known, function_key(process, function)) != LINES_NONE;
}

static void function_total_columns(struct tables *t, int64_t *v)
{
	const struct dw_function_total *total = &t->totals->functions.v[t->row];

	v[0] = t->rank;
	v[1] = total->lane;
	v[2] = function_id(total->function, total->thread);
	amounts(t, dw_totals_function_measured(t->totals, total), &v[3]);
	v[6] = has_lines(t, total->lane, total->function);
	/* Without memory the instructions of this function are in no view. */
	if (!v[6])
		dw_map_put(&t->function_ranks, function_key(total->lane, total->function), t->rank);
}

static void module_total_columns(struct tables *t, int64_t *v)
{
	const struct dw_module_total *total = &t->totals->modules.v[t->row];

	v[0] = t->rank;
	v[1] = total->lane;
	v[2] = or_null(total->module);
	amounts(t, dw_totals_module_measured(t->totals, total), &v[3]);
}

static void edge_columns(struct tables *t, int64_t *v)
{
	const struct dw_edge_total *total = &t->totals->edges.v[t->row];

	v[0] = t->rank;
	v[1] = total->lane;
	v[2] = or_null(total->caller);
	v[3] = total->callee;
	amounts(t, dw_totals_measured(t->totals, total->amounts), &v[4]);
}

static void line_columns(struct tables *t, int64_t *v)
{
	const struct dw_line_total *l = &t->totals->lines.v[t->row];

	/* Without memory the instructions of this line are in no view. */
	dw_line_ranks_add(&t->line_ranks, t->totals, t->row, t->rank);
	v[0] = t->rank;
	v[1] = l->lane;
	v[2] = l->function;
	v[3] = text(t, l->file);
	v[4] = or_null(l->line);
	v[5] = or_null(l->line_end);
	v[6] = or_null(l->column);
	v[7] = or_null(l->column_end);
	amounts(t, dw_totals_line_measured(t->totals, l), &v[8]);
}

/* The id of a statement in the view of that name. */
static int64_t statement(const struct tables *t, uint32_t process, const struct dw_location *l)
{
	uint32_t rank;

	if (has_lines(t, process, l->function))
		return or_null(
			dw_line_ranks_find(&t->line_ranks, t->totals, process, l->function, l));
	rank = dw_map_get(&t->function_ranks, function_key(process, l->function));
	return rank ? -(int64_t)rank : SQL_NULL;
}

static void instruction_columns(struct tables *t, int64_t *v)
{
	const struct dw_instruction_total *total = &t->totals->instructions.v[t->row];
	struct dw_frame_instruction at = dw_frames_instruction(&t->p->frames, total->frame);
	uint32_t n;
	const struct dw_location *l = dw_locations_get(&t->p->locations, total->frame, &n);

	v[0] = t->rank;
	v[1] = v[2] = SQL_NULL; /* nothing known of the address: no view shows it */
	if (l) {
		v[1] = statement(t, total->lane, l);
		v[2] = (int64_t)(at.svma - t->p->functions.rows.v[l->function].svma);
	}
	amounts(t, dw_totals_instruction_measured(t->totals, total), &v[3]);
}

/* Write one row through @st, and its amounts. */
static int put_row(struct tables *t, sqlite3_stmt *st, const int64_t *v)
{
	struct dw_measured m = t->measured;
	int rc;

	t->measured = (struct dw_measured){0};
	for (int i = 0; i < sqlite3_bind_parameter_count(st); i++)
		if (v[i] == SQL_NULL)
			sqlite3_bind_null(st, i + 1);
		else if (v[i] == SQL_LABEL)
			sqlite3_bind_text(st, i + 1, t->label, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(st, i + 1, v[i]);
	rc = dw_database_step(t->db, st, t->err);
	if (rc || !m.table || !t->amount_table.put)
		return rc;
	return dw_amount_table_put(&t->amount_table, &m, t->err);
}

static void node_columns(struct tables *t, int64_t *v)
{
	const struct dw_node_total *node = &t->totals->nodes.v[t->row];
	bool is_function = node->function && node->function != (uint32_t)DWELL_FUNCTION_CUT;
	uint32_t thread = t->has_calls ? t->totals->node_threads.v[t->row] : 0;

	t->node_ids[t->row] = t->rank;
	v[0] = t->rank;
	v[1] = node->parent == UINT32_MAX ? SQL_NULL : t->node_ids[node->parent];
	v[2] = node->lane;
	v[3] = is_function ? function_id(node->function, thread) : SQL_NULL;
	v[4] = node->level;
	amounts(t, dw_totals_node_measured(t->totals, t->row), &v[5]);
}

typedef void columns_fn(struct tables *t, int64_t *v);

/* Insert @n rows in the order of @rows (NULL: as they are). */
static int put_table(struct tables *t, const char *sql, const size_t *rows, size_t n,
		     columns_fn *columns)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(t->db, sql, &st, t->err);

	for (size_t i = 0; i < n && !rc; i++) {
		int64_t v[COLUMNS_MAX];

		t->row = rows ? rows[i] : i;
		t->rank = (uint32_t)i + 1;
		columns(t, v);
		rc = put_row(t, st, v);
	}
	sqlite3_finalize(st);
	return rc;
}

static int no_memory(struct tables *t)
{
	return dw_error_set(t->err, -ENOMEM, "no memory to finish the session");
}

typedef bool keep_fn(const struct tables *t, size_t row);

/* A table with a row per element of an array of totals, heaviest first. */
struct ranked_table {
	const char *sql;
	const uint32_t *amounts; /* of the first element */
	size_t stride;
	size_t n;
	bool by_inclusive;
	columns_fn *columns;
	keep_fn *keep; /* NULL: all */
};

#define RANKED(array) (array)->n ? &(array)->v->amounts : NULL, sizeof *(array)->v, (array)->n

static int put_ranked(struct tables *t, const struct ranked_table *table)
{
	dw_auto_free size_t *rows = NULL;
	size_t n = 0;

	if (dw_order_rows(t->totals, table->amounts, table->stride, table->n, table->by_inclusive,
			  &rows))
		return no_memory(t);
	for (size_t i = 0; i < table->n; i++)
		if (!table->keep || table->keep(t, rows[i]))
			rows[n++] = rows[i];
	return put_table(t, table->sql, rows, n, table->columns);
}

/* What a function, an edge or an instruction needs of the main measure for a row. */
static uint64_t least_of_rows(const struct tables *t)
{
	return t->row_worth.v[0].least;
}

static bool is_worth(const struct tables *t, uint32_t amounts, bool exclusive)
{
	return dw_worth_has(&t->row_worth, &t->totals->amounts, amounts, exclusive);
}

static bool keep_line(const struct tables *t, size_t row)
{
	const struct dw_line_total *l = &t->totals->lines.v[row];

	if (t->has_calls && !is_worth(t, l->amounts, false))
		return false;
	return dw_map_get(&t->lines_known, function_key(l->lane, l->function)) == LINES_SOME;
}

static bool keep_function(const struct tables *t, size_t row)
{
	return t->amount_table.put || is_worth(t, t->totals->functions.v[row].amounts, false);
}

static bool keep_edge(const struct tables *t, size_t row)
{
	return is_worth(t, t->totals->edges.v[row].amounts, false);
}

static bool keep_instruction(const struct tables *t, size_t row)
{
	return is_worth(t, t->totals->instructions.v[row].amounts, !t->has_calls);
}

/* Tell functions whose one statement is themselves from those with lines. Those of calls are call
 * sites, and never the function itself. */
static int note_lines(struct tables *t)
{
	dw_vec_each(l, &t->totals->lines) {
		uint64_t key = function_key(l->lane, l->function);
		uint32_t before = dw_map_get(&t->lines_known, key);
		bool known = l->file || l->line || before || t->has_calls;

		if (before != LINES_HIDDEN &&
		    dw_map_put(&t->lines_known, key, known ? LINES_SOME : LINES_NONE))
			return no_memory(t);
		if (before != LINES_HIDDEN && l->function < t->p->functions.rows.n)
			t->functions_shown[l->function] = 1;
	}
	return 0;
}

/* Find out which functions have rows, and what the others come to. */
static int note_functions(struct tables *t)
{
	size_t functions = t->p->functions.rows.n;

	t->functions_shown = calloc(functions + 1, 1);
	t->other = calloc(t->p->processes.rows.n + 1, sizeof *t->other);
	if (!t->functions_shown || !t->other)
		return no_memory(t);
	for (size_t i = 0; i < t->totals->functions.n; i++) {
		const struct dw_function_total *f = &t->totals->functions.v[i];

		if (keep_function(t, i)) {
			t->functions_shown[f->function < functions ? f->function : 0] = 1;
			continue;
		}
		t->other[f->lane] += dw_totals_values(t->totals, f->amounts)->exclusive;
		if (dw_map_put(&t->lines_known, function_key(f->lane, f->function), LINES_HIDDEN))
			return no_memory(t);
	}
	dw_vec_each(thread, &t->p->threads.rows)
		t->functions_shown[thread->start < functions ? thread->start : 0] = 1;
	dw_vec_each(file, &t->totals->files)
		t->functions_shown[file->function < functions ? file->function : 0] = 1;
	return 0;
}

/* A row for each process whose functions do not all have rows. */
static int put_other(struct tables *t)
{
	size_t processes = t->p->processes.rows.n;
	uint32_t rank = t->rank;
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(
		t->db, "INSERT INTO function_total VALUES (?, ?, ?, ?, ?, NULL, 0)", &st, t->err);

	for (size_t i = 0; i < processes && !rc; i++)
		if (t->other[i])
			rc = put_row(t, st,
				     (int64_t[]){++rank, (int64_t)i, OTHER_ID, (int64_t)t->other[i],
						 (int64_t)t->other[i]});
	sqlite3_finalize(st);
	return rc;
}

static int put_nodes(struct tables *t)
{
	const __auto_type all = &t->totals->nodes;
	dw_auto_free size_t *rows = NULL;
	size_t n;

	t->node_ids = calloc(all->n + 1, sizeof *t->node_ids);
	if (!t->node_ids || dw_order_nodes(t->totals, &t->node_worth, &rows, &n))
		return no_memory(t);
	return put_table(t, "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows, n,
			 node_columns);
}

static int put_facts(struct tables *t)
{
	return dw_fact_table_write(t->db, t->p, t->totals, t->node_worth.v[0].least,
				   least_of_rows(t), t->err);
}

static int put_totals(struct tables *t)
{
	const struct dw_totals *all = t->totals;
	const struct ranked_table tables[] = {
		{"INSERT INTO module_total VALUES (?, ?, ?, ?, ?, ?)", RANKED(&all->modules), true,
		 module_total_columns},
		{"INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?)", RANKED(&all->edges), true,
		 edge_columns, keep_edge},
		{"INSERT INTO line VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", RANKED(&all->lines),
		 false, line_columns, keep_line},
		{"INSERT INTO instruction VALUES (?, ?, ?, ?, ?, ?)", RANKED(&all->instructions),
		 false, instruction_columns, keep_instruction},
	};
	const struct ranked_table functions = {
		"INSERT INTO function_total VALUES (?, ?, ?, ?, ?, ?, ?)", RANKED(&all->functions),
		false, function_total_columns, keep_function};
	int rc;

	t->rank = 0;
	rc = put_ranked(t, &functions);
	if (!rc)
		rc = put_other(t);
	for (size_t i = 0; i < sizeof tables / sizeof *tables && !rc; i++)
		rc = put_ranked(t, &tables[i]);
	if (!rc && t->has_calls)
		rc = dw_slow_table_write(t->db, t->p, all, least_of_rows(t), t->err);
	if (!rc && dw_totals_has_waits(all))
		rc = dw_wait_table_write(t->db, all, t->err);
	if (!rc && t->has_calls)
		rc = dw_file_table_write(t->db, all, t->texts, t->err);
	return rc ? rc : put_nodes(t);
}

/* Something that stands for a function, and has only a name. */
static int put_pseudo_function(struct tables *t, sqlite3_stmt *st, int64_t id, const char *name)
{
	int64_t module = id < 0 ? (uint32_t)DWELL_MODULE_ROOT : SQL_NULL;

	t->label = name;
	return put_row(t, st, (int64_t[]){id, module, SQL_LABEL, SQL_NULL, SQL_NULL, SQL_NULL});
}

/* A thread outside its functions. */
static int put_root(struct tables *t, sqlite3_stmt *st, uint32_t id)
{
	const struct dw_thread *thread = dw_threads_get(&t->p->threads, id);
	const struct dw_function *start =
		thread ? dw_functions_get(&t->p->functions, thread->start) : NULL;
	uint32_t name = start ? start->name : thread ? thread->name : 0;
	dw_auto_free char *text = NULL;

	if (asprintf(&text, "[thread %s]", dw_strings_get(&t->p->strings, name)) < 0)
		return no_memory(t);
	return put_pseudo_function(t, st, function_id((uint32_t)DWELL_FUNCTION_ROOT, id), text);
}

static int put_pseudo_functions(struct tables *t)
{
	char rest[64];
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(t->db, "INSERT INTO function VALUES (?, ?, ?, ?, ?, ?)", &st,
				     t->err);

	snprintf(rest, sizeof rest, "[functions of less than %zu samples]",
		 (size_t)least_of_rows(t));
	if (!rc && !t->amount_table.put && least_of_rows(t) > 1)
		rc = put_pseudo_function(t, st, OTHER_ID, rest);
	if (!rc)
		rc = put_pseudo_function(t, st, (uint32_t)DWELL_FUNCTION_UNKNOWN, "[unknown]");
	if (!rc && t->has_calls)
		rc = put_pseudo_function(t, st, TRUNCATED_ID, "(paths not drawn)");
	dw_vec_each(f, &t->totals->functions)
		if (!rc && f->function == (uint32_t)DWELL_FUNCTION_ROOT)
			rc = put_root(t, st, f->thread);
	sqlite3_finalize(st);
	return rc;
}

static int put_functions(struct tables *t)
{
	static const char sql[] = "INSERT INTO function VALUES (?, ?, ?, ?, ?, ?)";
	size_t n = 0, all = t->p->functions.rows.n;
	dw_auto_free size_t *rows = calloc(all + 1, sizeof *rows);
	int rc;

	if (!rows)
		return no_memory(t);
	for (size_t id = 1; id < all; id++)
		if (t->functions_shown[id])
			rows[n++] = id - 1;
	rc = put_pseudo_functions(t);
	return rc ? rc : put_table(t, sql, rows, n, function_columns);
}

static int put_main_tables(struct tables *t)
{
	int rc = put_table(t, "INSERT INTO module VALUES (?, ?, ?, ?, ?, ?, ?, ?)", NULL,
			   dw_modules_count(&t->p->modules), module_columns);

	if (!rc)
		rc = put_functions(t);
	if (!rc)
		rc = put_table(t,
			       "INSERT INTO process VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			       NULL, t->totals->processes.n, process_columns);
	if (!rc)
		rc = put_table(t, "INSERT INTO thread VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", NULL,
			       t->totals->threads.n, thread_columns);
	return rc;
}

static int put_all(struct tables *t)
{
	dw_measures set = dw_profile_measures(t->p);
	int rc = dw_amount_table_open(&t->amount_table, t->db, set, &t->p->calls, t->err);

	if (!rc)
		rc = dw_schema_make(t->db, set, t->err);
	if (!rc)
		rc = note_functions(t);
	if (!rc)
		rc = note_lines(t);
	if (!rc)
		rc = put_facts(t);
	if (!rc)
		rc = put_main_tables(t);
	if (!rc)
		rc = put_totals(t);
	if (!rc && t->totals->main == DWELL_MEASURE_BYTES)
		rc = dw_alloc_tables_write(t->db, &t->amount_table, t->p, t->totals, t->texts,
					   t->err);
	return rc ? rc : dw_text_table_write(t->db, &t->p->strings, t->texts, t->err);
}

int dw_tables_write(struct dw_database *db, const struct dw_profile *p,
		    const struct dw_totals *totals, struct dw_error *err)
{
	struct tables t = {.db = db, .p = p, .totals = totals, .err = err};
	int rc;

	dw_worth_init(&t.node_worth, totals, 100.0 / DWELL_NODE_SHARE);
	dw_worth_init(&t.row_worth, totals, 100.0 / ROW_SHARE);
	t.has_calls = dw_profile_has_calls(p);
	t.texts = calloc((size_t)p->strings.n + 1, 1);
	rc = t.texts ? put_all(&t) : no_memory(&t);
	free(t.texts);
	free(t.node_ids);
	free(t.functions_shown);
	free(t.other);
	dw_amount_table_close(&t.amount_table);
	dw_line_ranks_release(&t.line_ranks);
	dw_map_release(&t.lines_known);
	dw_map_release(&t.function_ranks);
	return rc;
}
