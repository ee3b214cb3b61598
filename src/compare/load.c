/*
 * Adding a session to a comparison: rows of its view, under names that last.
 *
 * A function's name is looked up once per session; a row of a tree then costs one lookup of its
 * parent's row and its name.
 */
#include "base/cleanup.h"
#include "compare/comparison.h"
#include "compare/columns.h"
#include "model/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What is known while a session is added. */
struct adding {
	struct dw_comparison *c;
	const struct dw_compared_session *session;
	struct dw_view view;
	uint32_t *name_of; /* by function id: name, 0 = not looked up yet */
	uint32_t *row_of;  /* by place in the view: row of the comparison */
	uint32_t program;  /* module id of what was run */
	struct dw_compared_run run;
	struct dw_buf scratch, text;
};

enum { COMM_MAX = 15 }; /* bytes of a process's name: the kernel keeps no more of it */

/* The module whose name the first process has: builds may be called differently. */
static uint32_t find_program(const struct dw_profile *p)
{
	const struct dw_process *first = dw_processes_get(&p->processes, 1);
	const char *name = first ? dw_strings_get(&p->strings, first->name) : "";
	uint32_t found = 0;

	for (uint32_t id = 1; *name && id <= dw_modules_count(&p->modules); id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, id);
		const char *module = dw_strings_get(&p->strings, m->name);

		if (m->kind != DWELL_MODULE_FILE)
			continue;
		if (!strcmp(module, name))
			return id;
		if (!found && strlen(name) == COMM_MAX && !strncmp(module, name, COMM_MAX))
			found = id;
	}
	return found;
}

static const char *module_name(const struct dw_profile *p, uint32_t module)
{
	const struct dw_module *m = dw_modules_get(&p->modules, module);

	return m ? dw_strings_get(&p->strings, m->name) : "";
}

static uint32_t function_name(struct adding *a, uint32_t function)
{
	const struct dw_profile *p = a->session->profile;
	const struct dw_function *f = dw_functions_get(&p->functions, function);
	struct dw_name_facts facts = {
		.module = module_name(p, f->module),
		.key = f->module && f->module == a->program ? "" : NULL,
		.text = dw_strings_get(&p->strings, f->name),
		.file = dw_strings_get(&p->strings, f->file),
		.line = f->line,
		.bytes = f->bytes,
	};

	if (!a->name_of[function])
		a->name_of[function] = dw_names_add(&a->c->names, &facts, a->session->side);
	return a->name_of[function];
}

/* Whether @row is a thread outside its functions that has the name of its program, which may go by
 * another one in other builds. */
static bool is_main_thread(const struct dw_profile *p, const struct dw_row *row)
{
	const struct dw_thread *thread = dw_threads_get(&p->threads, row->thread);
	const struct dw_process *process =
		thread ? dw_processes_get(&p->processes, thread->process) : NULL;

	return row->function == (uint32_t)DWELL_FUNCTION_ROOT && process &&
	       thread->name == process->name;
}

/* Whether @row is the root of a call tree, which else goes by the name of the program. */
static bool is_root(const struct dw_row *row)
{
	return row->name == DWELL_NAME_FUNCTION && !row->function && !row->type && !row->wait;
}

/* The name of what @row is about that is no function. */
static uint32_t other_name(struct adding *a, const struct dw_row *row)
{
	const struct dw_profile *p = a->session->profile;
	bool is_module = row->name == DWELL_NAME_MODULE;
	struct dw_name_facts facts = {.module = "", .file = ""};
	enum dw_column column = DWELL_COLUMN_FUNCTION_NAME;
	struct dw_cell cell;

	if (row->wait)
		column = DWELL_COLUMN_WAIT_KIND;
	else if (row->name == DWELL_NAME_CLASS)
		column = DWELL_COLUMN_CLASS_NAME;
	else if (row->name == DWELL_NAME_FILE)
		column = DWELL_COLUMN_FILE;
	if (is_module)
		column = DWELL_COLUMN_MODULE_NAME;
	dw_view_cell(&a->view, row, column, &a->scratch, &cell);
	facts.text = is_module || cell.kind != DWELL_CELL_TEXT ? "" : cell.text;
	if (is_main_thread(p, row))
		facts.text = "[main thread]";
	else if (is_root(row))
		facts.text = "[all processes]";
	if (is_module)
		facts.module = cell.kind == DWELL_CELL_TEXT ? cell.text : "";
	else if (row->name == DWELL_NAME_CLASS)
		facts.module = module_name(p, row->module);
	if (is_module && row->module && row->module == a->program)
		facts.key = "";
	return dw_names_add(&a->c->names, &facts, a->session->side);
}

static uint32_t name_of(struct adding *a, const struct dw_row *row)
{
	const struct dw_functions *f = &a->session->profile->functions;

	if (row->wait || row->name == DWELL_NAME_FILE || row->name == DWELL_NAME_MODULE ||
	    row->name == DWELL_NAME_CLASS || !dw_functions_get(f, row->function))
		return other_name(a, row);
	return function_name(a, row->function);
}

static const char *file_name(const struct dw_profile *p, uint32_t file)
{
	const char *path = dw_strings_get(&p->strings, file), *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What tells @row from others of its name: its line within the function, or its part in callers. */
static int what_of(struct adding *a, const struct dw_row *row, uint32_t *ret)
{
	const struct dw_profile *p = a->session->profile;
	const struct dw_function *f = dw_functions_get(&p->functions, row->function);

	dw_buf_clear(&a->text);
	*ret = 0;
	if (row->name == DWELL_NAME_LINE && f && f->line && f->file == row->file)
		dw_buf_printf(&a->text, "+%" PRId64, (int64_t)row->line - (int64_t)f->line);
	else if (row->name == DWELL_NAME_LINE)
		dw_buf_printf(&a->text, "%s:%" PRIu32, file_name(p, row->file), row->line);
	else if (row->type)
		dw_buf_puts(&a->text, row->type == DWELL_ROW_CALLER ? "caller" : "callee");
	return a->text.len ? dw_strings_adds(&a->c->names.strings, dw_buf_str(&a->text), ret) : 0;
}

/* Make room for @need rows of @n bytes in *@v, which has @have, with zeros. */
static int lengthen(uint64_t **v, size_t have, size_t need, size_t n)
{
	void *larger = realloc(*v, need * n);

	if (!larger)
		return -ENOMEM;
	*v = larger;
	memset((char *)larger + have * n, 0, (need - have) * n);
	return 0;
}

static int reserve_values(struct adding *a, uint32_t row)
{
	struct dw_compared_run *run = &a->run;
	size_t need = (size_t)row + 1, have = run->rows, n = a->c->columns_n * sizeof *run->values;

	if (need <= have)
		return 0;
	need = need > have + have / 2 ? need : have + have / 2;
	need = need < a->c->rows.n + a->view.n && !have ? a->c->rows.n + a->view.n : need;
	if (lengthen(&run->values, have, need, n) ||
	    (a->c->has_averages && lengthen(&run->weights, have, need, n)))
		return -ENOMEM;
	run->rows = need;
	return 0;
}

/* Add what @row has to row @at of the comparison. */
static void add_values(struct adding *a, uint32_t at, const struct dw_row *row)
{
	for (size_t i = 0; i < a->c->columns_n; i++) {
		enum dw_column column = a->c->columns[i].column;
		size_t place = at * a->c->columns_n + i;
		uint64_t none = 0;

		dw_compared_column_join(
			column, &a->run.values[place],
			a->run.weights ? &a->run.weights[place] : &none,
			dw_compared_column_value(&a->view, row, column, &a->scratch),
			dw_compared_column_weight(row, column));
	}
}

static int add_row(struct adding *a, size_t place)
{
	struct dw_comparison *c = a->c;
	struct dw_compared_row key = {.parent = UINT32_MAX};
	struct dw_row row;
	uint32_t at;

	dw_view_row(&a->view, place, &a->scratch, &row);
	if (a->view.parent && a->view.parent[place] != UINT32_MAX)
		key.parent = a->row_of[a->view.parent[place]];
	key.level = key.parent == UINT32_MAX ? 0 : c->rows.v[key.parent].level + 1;
	key.line = row.line;
	key.name = name_of(a, &row);
	if (!key.name || what_of(a, &row, &key.what))
		return -ENOMEM;
	at = dw_comparison_add_row(c, &key);
	if (at == UINT32_MAX || reserve_values(a, at))
		return -ENOMEM;
	a->row_of[place] = at;
	c->rows.v[at].has[a->session->side] = true;
	if (a->session->side == DWELL_SIDE_NEW)
		c->rows.v[at].line = key.line;
	c->names.v.v[key.name].has[a->session->side] = true;
	add_values(a, at, &row);
	return 0;
}

/* Who called whom how often, of the first run of each side. */
static int add_edges(struct adding *a)
{
	const struct dw_totals *t = a->session->totals;
	struct dw_comparison *c = a->c;
	enum dw_side side = a->session->side;
	enum dw_measure measure =
		dw_totals_has(t, DWELL_MEASURE_CALLS) ? DWELL_MEASURE_CALLS : t->main;

	dw_vec_each(e, &t->edges) {
		const struct dw_functions *f = &a->session->profile->functions;
		struct dw_measured m = dw_totals_measured(t, e->amounts);
		struct dw_compared_edge edge = {0};

		if (!dw_functions_get(f, e->caller) || !dw_functions_get(f, e->callee))
			continue;
		edge.weight[side] = dw_measured_get(&m, measure, false);
		edge.caller = function_name(a, e->caller);
		edge.callee = function_name(a, e->callee);
		if (!edge.caller || !edge.callee || dw_comparison_add_edge(c, &edge))
			return -ENOMEM;
	}
	return 0;
}

/* Notes of functions what pairs them with others: how often they were called, inlined copies. */
static void add_name_facts(struct adding *a)
{
	const struct dw_profile *p = a->session->profile;
	const struct dw_totals *t = a->session->totals;
	enum dw_side side = a->session->side;

	dw_vec_each(f, &t->functions) {
		struct dw_measured m = dw_totals_function_measured(t, f);

		if (dw_functions_get(&p->functions, f->function) && a->name_of[f->function])
			dw_names_get(&a->c->names, a->name_of[f->function])->calls[side] +=
				dw_measured_get(&m, DWELL_MEASURE_CALLS, false);
	}
	for (uint32_t id = 1; id <= dw_functions_count(&p->functions); id++)
		if (dw_functions_get(&p->functions, id)->flags & DWELL_FUNCTION_INLINED &&
		    function_name(a, id))
			dw_names_get(&a->c->names, a->name_of[id])->inlined[side] = true;
}

static int add_rows(struct adding *a)
{
	const struct dw_profile *p = a->session->profile;
	bool is_first = !a->c->runs_n[a->session->side];
	int rc = 0;

	a->name_of = calloc(p->functions.rows.n + 1, sizeof *a->name_of);
	a->row_of = malloc((a->view.n + 1) * sizeof *a->row_of);
	if (!a->name_of || !a->row_of ||
	    (!a->c->rows.n && (dw_vec_reserve(&a->c->rows, a->view.n) ||
			       dw_vec_reserve(&a->c->row_of.v, a->view.n))))
		return -ENOMEM;
	a->program = find_program(p);
	for (size_t i = 0; i < a->view.n && !rc; i++)
		rc = add_row(a, i);
	if (!rc && is_first)
		rc = add_edges(a);
	if (!rc && is_first)
		add_name_facts(a);
	return rc;
}

/* Say what is recorded: sessions of different things cannot be compared. */
static void put_recorded(struct dw_buf *b, const struct dw_profile *p)
{
	const char *event = dw_facts_get_text(&p->facts, "event");
	int64_t period = dw_facts_get(&p->facts, "period", 0);
	enum dw_method method = dw_profile_method(p);

	if (method == DWELL_METHOD_MEMORY)
		dw_buf_puts(b, dw_measures_has(dw_profile_measures(p), DWELL_MEASURE_DRAWS)
				       ? "a part of the objects"
				       : "all objects");
	else if (method == DWELL_METHOD_INSTRUMENTATION)
		dw_buf_puts(b, "calls");
	else if (dw_sample_ns(p) > 0)
		dw_buf_puts(b, "samples of time");
	else if (period == 1)
		dw_buf_printf(b, "samples of all %s", event ? event : "events");
	else if (period > 0)
		dw_buf_printf(b, "one sample in %" PRId64 " %s", period, event ? event : "events");
	else
		dw_buf_printf(b, "%" PRId64 " samples a second of %s",
			      dw_facts_get(&p->facts, "frequency_hz", 0), event ? event : "events");
}

/* What one sample stands for, or an object that was drawn; 0 = all of them were seen. */
static double sample_of(const struct dw_profile *p)
{
	if (dw_profile_method(p) == DWELL_METHOD_SAMPLING)
		return dw_sample_ns(p) > 0 ? dw_sample_ns(p) : 1;
	return (double)dw_facts_get(&p->facts, "sample_bytes", 0);
}

/* All of @column: what the rows have, where no sum is known. Such views are flat. */
static uint64_t all_of(const struct adding *a, size_t column)
{
	size_t columns_n = a->c->columns_n;
	uint64_t all = dw_compared_column_all(&a->view, a->c->columns[column].column);

	for (size_t row = 0;
	     row < a->run.rows && !dw_column_info(a->c->columns[column].column)->measure; row++)
		all += a->run.values[row * columns_n + column];
	return all;
}

static int add_run(struct adding *a)
{
	const struct dw_profile *p = a->session->profile;
	struct dw_comparison *c = a->c;
	struct dw_compared_run *run = &a->run;

	if (dw_strings_adds(&c->names.strings, module_name(p, a->program), &run->program))
		return -ENOMEM;
	run->side = a->session->side;
	run->path = strdup(a->session->path);
	run->duration_ns = (uint64_t)dw_facts_get(&p->facts, "duration_ns", 0);
	run->processes = dw_processes_count(&p->processes);
	run->threads = dw_threads_count(&p->threads);
	run->sample = sample_of(p);
	for (size_t i = 0; i < c->columns_n; i++)
		run->all[i] = all_of(a, i);
	if (!run->path || dw_vec_push(&c->runs, *run)) {
		free(run->path);
		return -ENOMEM;
	}
	c->runs_n[run->side]++;
	run->values = run->weights = NULL;
	return 0;
}

/* Whether the session has what is compared, as the first one has it. */
static int check_columns(const struct dw_comparison *c, const struct dw_compared_session *s,
			 struct dw_error *err)
{
	const struct dw_compared_run *first = &c->runs.v[0];

	if (!dw_view_suits(c->view, s->profile))
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "'%s' has nothing for the view %s, but '%s' has", s->path,
				    c->view->name, first->path);
	for (size_t i = 0; i < c->columns_n; i++) {
		const struct dw_column_info *info = dw_column_info(c->columns[i].column);

		if (info->measure &&
		    !dw_measures_has(dw_profile_measures(s->profile), info->measure))
			return dw_error_set(err, DWELL_ERR_REFUSED, "'%s' has no %s, but '%s' has",
					    s->path, info->title, first->path);
		if (info->measure == DWELL_MEASURE_SAMPLES && info->aspect == DWELL_ASPECT_TOTAL &&
		    first->sample != sample_of(s->profile))
			return dw_error_set(
				err, DWELL_ERR_REFUSED,
				"'%s' and '%s' have different intervals between samples: "
				"compare times, not %s",
				s->path, first->path, info->title);
	}
	return 0;
}

static int check_session(struct adding *a, struct dw_error *err)
{
	const struct dw_compared_session *s = a->session;
	struct dw_comparison *c = a->c;
	const char *first;

	if (c->runs_n[s->side] >= DWELL_RUNS_MAX)
		return dw_error_set(err, DWELL_ERR_LIMIT, "more than %d sessions a side",
				    DWELL_RUNS_MAX);
	put_recorded(&a->text, s->profile);
	if (dw_strings_adds(&c->names.strings, dw_buf_str(&a->text), &a->run.recorded))
		return -ENOMEM;
	if (!c->runs.n)
		return 0;
	first = dw_strings_get(&c->names.strings, c->runs.v[0].recorded);
	if (a->run.recorded != c->runs.v[0].recorded)
		return dw_error_set(
			err, DWELL_ERR_REFUSED,
			"'%s' is a session of %s, but '%s' of %s: compare two of a kind", s->path,
			dw_buf_str(&a->text), c->runs.v[0].path, first);
	return check_columns(c, s, err);
}

int dw_comparison_add(struct dw_comparison *c, const struct dw_compared_session *session,
		      struct dw_error *err)
{
	struct adding a = {.c = c, .session = session};
	struct dw_view_request request = {
		.profile = session->profile,
		.totals = session->totals,
		.filter = session->filter,
		.function = session->function,
		.collapsed = true,
		.unfolding = true,
	};
	int rc = check_session(&a, err);

	if (!rc)
		rc = dw_view_open(&a.view, c->view, &request);
	if (!rc && !c->columns_n) {
		c->method = dw_profile_method(session->profile);
		dw_compared_columns_choose(c, &a.view);
	}
	if (!rc)
		rc = add_rows(&a);
	if (!rc)
		rc = add_run(&a);
	free(a.run.values);
	free(a.run.weights);
	free(a.name_of);
	free(a.row_of);
	dw_view_release(&a.view);
	dw_buf_release(&a.scratch);
	dw_buf_release(&a.text);
	return rc;
}
