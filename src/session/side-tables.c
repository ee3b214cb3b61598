/*
 * Tables of a finished session that stand beside those of rows; see tables.h: fact, text, and slow,
 * wait, io, type and gc of sessions that have such.
 */
#include "session/tables.h"

#include "base/cleanup.h"
#include "session/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* @text, or where that is NULL @n. */
static int put_fact(struct dw_database *db, sqlite3_stmt *st, const char *key, const char *text,
		    int64_t n, struct dw_error *err)
{
	sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	if (text)
		sqlite3_bind_text(st, 2, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(st, 2, n);
	return dw_database_step(db, st, err);
}

static int put_number_fact(struct dw_database *db, sqlite3_stmt *st, const char *key, uint64_t n,
			   struct dw_error *err)
{
	return put_fact(db, st, key, NULL, (int64_t)n, err);
}

/* All of each measure that the totals have, as far as somebody asks for it. */
static int put_sums(struct dw_database *db, sqlite3_stmt *st, const struct dw_totals *totals,
		    struct dw_error *err)
{
	int rc = 0;

	for (unsigned m = 0; m < DWELL_MEASURES && !rc; m++)
		if (dw_totals_has(totals, m) && dw_amount_fact(m) &&
		    (m != DWELL_MEASURE_WORK || totals->main == DWELL_MEASURE_SAMPLES))
			rc = put_number_fact(db, st, dw_amount_fact(m), totals->all[m], err);
	return rc;
}

/* What rows needed, by the measure that decides. */
static int put_least(struct dw_database *db, sqlite3_stmt *st, const struct dw_totals *totals,
		     uint64_t least_of_nodes, uint64_t least_of_rows, struct dw_error *err)
{
	static const struct {
		const char *node, *row;
	} keys[DWELL_MEASURES] = {
		[DWELL_MEASURE_SAMPLES] = {"calltree_inclusive_samples_min",
					   "sql_rows_samples_min"},
		[DWELL_MEASURE_ELAPSED] = {"calltree_elapsed_ns_min", "sql_rows_elapsed_ns_min"},
		[DWELL_MEASURE_BYTES] = {"calltree_inclusive_bytes_min", "sql_rows_bytes_min"},
	};
	int rc = put_number_fact(db, st, keys[totals->main].node, least_of_nodes, err);

	return rc ? rc : put_number_fact(db, st, keys[totals->main].row, least_of_rows, err);
}

/* What totals tell replaces what the recorder noted: views divide by it, and it must fit the rows
 * of the tables. */
int dw_fact_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_of_nodes,
			uint64_t least_of_rows, struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(db, "REPLACE INTO fact VALUES (?, ?)", &st, err);

	dw_vec_each(f, &p->facts.rows)
		rc = rc ? rc : put_fact(db, st, f->key, f->text, f->integer, err);
	if (!rc)
		rc = put_sums(db, st, totals, err);
	if (!rc && !dw_totals_has(totals, DWELL_MEASURE_CALLS))
		rc = put_number_fact(db, st, "stacks_cut", totals->stacks_cut, err);
	if (!rc)
		rc = put_least(db, st, totals, least_of_nodes, least_of_rows, err);
	sqlite3_finalize(st);
	return rc;
}

int dw_text_table_write(struct dw_database *db, const struct dw_strings *strings,
			const uint8_t *shown, struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(db, "INSERT INTO text VALUES (?, ?)", &st, err);

	for (uint32_t id = 1; id < strings->n && !rc; id++) {
		if (!shown[id])
			continue;
		sqlite3_bind_int64(st, 1, id);
		sqlite3_bind_text64(st, 2, dw_strings_get(strings, id), dw_strings_len(strings, id),
				    SQLITE_STATIC, SQLITE_UTF8);
		rc = dw_database_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int put_values(struct dw_database *db, sqlite3_stmt *st, const uint64_t *v,
		      struct dw_error *err)
{
	for (int i = 0; i < sqlite3_bind_parameter_count(st); i++)
		sqlite3_bind_int64(st, i + 1, (int64_t)v[i]);
	return dw_database_step(db, st, err);
}

#define SLOW_VALUE(name, view, value) value,
#define SLOW_PLACE(name, view, value) ", ?"

static int put_slow(struct dw_database *db, sqlite3_stmt *st, const struct dw_profile *p,
		    const struct dw_slow_total *total, struct dw_error *err)
{
	const struct dw_call_slow *s = &p->calls.slow.v[total->slow];
	const uint64_t values[] = {total->process, p->calls.nodes.v[s->node - 1].thread,
				   total->function, DW_SLOW_COLUMNS(SLOW_VALUE, s)};

	return put_values(db, st, values, err);
}

int dw_slow_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_ns, struct dw_error *err)
{
	static const char sql[] =
		"INSERT INTO slow VALUES (NULL, ?, ?, ?" DW_SLOW_COLUMNS(SLOW_PLACE, NULL) ")";
	const struct dw_slow_total *v = totals->slow.v;
	size_t n = totals->slow.n;
	dw_auto_free size_t *rows = NULL;
	sqlite3_stmt *st = NULL;
	int rc;

	if (dw_order_rows(totals, n ? &v->amounts : NULL, sizeof *v, n, true, &rows))
		return dw_error_set(err, -ENOMEM, "no memory to finish the session");
	rc = dw_database_prepare(db, sql, &st, err);
	for (size_t i = 0; i < n && !rc; i++) {
		if (dw_totals_values(totals, v[rows[i]].amounts)->inclusive < least_ns)
			break;
		rc = put_slow(db, st, p, &v[rows[i]], err);
	}
	sqlite3_finalize(st);
	return rc;
}

int dw_wait_table_write(struct dw_database *db, const struct dw_totals *totals,
			struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(db, "INSERT INTO wait VALUES (?, ?, ?)", &st, err);

	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS && !rc; kind++) {
		const struct dw_wait_total *w = &totals->waits[kind];

		if (!w->ns)
			continue;
		sqlite3_bind_text(st, 1, dw_wait_kind_name(kind), -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 2, (int64_t)w->ns);
		sqlite3_bind_int64(st, 3, w->threads);
		rc = dw_database_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int compare_files(const void *a, const void *b, void *ctx)
{
	const struct dw_file_total *v = ctx;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	uint64_t x = v[i].sums.time_ns, y = v[k].sums.time_ns;

	return x != y ? (x < y ? 1 : -1) : (i > k) - (i < k);
}

/* A row has no function of its own where it has no parts, or what called was in none. */
static int put_file(struct dw_database *db, sqlite3_stmt *st, const struct dw_file_total *f,
		    uint8_t *texts, struct dw_error *err)
{
	const struct dw_io_sums *s = &f->sums;
	const uint64_t v[] = {f->lane,	 f->file,	f->function,	  s->reads,
			      s->writes, s->bytes_read, s->bytes_written, s->time_ns};

	texts[f->file] = 1;
	for (int i = 0; i < sqlite3_bind_parameter_count(st); i++)
		sqlite3_bind_int64(st, i + 1, (int64_t)v[i]);
	if (!f->file)
		sqlite3_bind_null(st, 2);
	if (!f->file || f->function == (uint32_t)DWELL_FUNCTION_ROOT)
		sqlite3_bind_null(st, 3);
	return dw_database_step(db, st, err);
}

int dw_file_table_write(struct dw_database *db, const struct dw_totals *totals, uint8_t *texts,
			struct dw_error *err)
{
	size_t n = 0;
	dw_auto_free size_t *rows = calloc(totals->files.n + 1, sizeof *rows);
	sqlite3_stmt *st = NULL;
	int rc;

	if (!rows)
		return dw_error_set(err, -ENOMEM, "no memory to finish the session");
	for (size_t i = 0; i < totals->files.n; i++)
		if (totals->files.v[i].parent != UINT32_MAX || !totals->files.v[i].file)
			rows[n++] = i;
	qsort_r(rows, n, sizeof *rows, compare_files, totals->files.v);
	rc = dw_database_prepare(db, "INSERT INTO io VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", &st,
				 err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = put_file(db, st, &totals->files.v[rows[i]], texts, err);
	sqlite3_finalize(st);
	return rc;
}

static int put_type(struct dw_amount_table *t, sqlite3_stmt *st, const struct dw_alloc_type *type,
		    const struct dw_type_total *row, const struct dw_totals *totals)
{
	const struct dw_values *bytes = dw_totals_values(totals, row->amounts);
	const struct dw_measured measured = dw_totals_measured(totals, row->amounts);
	uint64_t v[] = {row->lane,	  type->module,	    type->name,
			bytes->inclusive, bytes->exclusive, (uint64_t)t->rows + 1};
	int rc = put_values(t->db, st, v, NULL);

	return rc ? rc : dw_amount_table_put(t, &measured, NULL);
}

static int put_types(struct dw_amount_table *t, const struct dw_profile *p,
		     const struct dw_totals *totals, uint8_t *texts, struct dw_error *err)
{
	const __auto_type types = &totals->types;
	dw_auto_free size_t *order = NULL;
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(t->db, "INSERT INTO type VALUES (NULL, ?, ?, ?, ?, ?, ?)", &st,
				     err);

	if (!rc && dw_order_rows(totals, types->n ? &types->v->amounts : NULL, sizeof *types->v,
				 types->n, false, &order))
		rc = dw_error_set(err, -ENOMEM, "no memory to finish the session");
	for (size_t i = 0; i < types->n && !rc; i++) {
		const struct dw_type_total *row = &types->v[order[i]];
		const struct dw_alloc_type *type =
			dw_allocations_get_type(&p->allocations, row->type);

		texts[type->name] = 1;
		rc = put_type(t, st, type, row, totals);
		if (rc)
			dw_database_error(t->db, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* The name of the innermost function of @stack, 0 = none is known. */
static uint32_t innermost(const struct dw_profile *p, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&p->stacks, stack);
	uint32_t function = s ? dw_locations_innermost(&p->locations, s->frame) : 0;
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f ? f->name : 0;
}

static int put_gcs(struct dw_database *db, const struct dw_profile *p, uint8_t *texts,
		   struct dw_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = dw_database_prepare(
		db, "INSERT INTO collection VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &st,
		err);

	dw_vec_each(gc, &p->allocations.gcs) {
		uint32_t function = innermost(p, gc->stack);
		uint64_t v[] = {gc->process,	 gc->number,	    gc->generation, gc->reason,
				gc->is_blocking, gc->is_compacting, gc->thread,	    gc->start_ns,
				gc->pause_ns,	 gc->heap_before,   gc->heap_after, gc->promoted,
				function,	 gc->added_ns};

		texts[gc->reason] = 1;
		if (function)
			texts[function] = 1;
		if (!rc)
			rc = put_values(db, st, v, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int dw_alloc_tables_write(struct dw_database *db, struct dw_amount_table *amounts,
			  const struct dw_profile *p, const struct dw_totals *totals,
			  uint8_t *texts, struct dw_error *err)
{
	int rc = put_types(amounts, p, totals, texts, err);

	return rc ? rc : put_gcs(db, p, texts, err);
}
