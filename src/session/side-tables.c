/*
 * Tables of a finished session that stand beside those of rows; see tables.h: total with what was
 * measured of all rows, fact, text, and slow, type and gc of sessions that have such.
 *
 * Unsigned numbers beyond 2^63, which only a lying target gives, come out negative.
 */
#include "session/tables.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "session/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum what { AMOUNT, LEAST, MOST, SWITCHED_OFF };

struct column {
	const char *name;
	enum dw_measure measure;
	bool exclusive;
	enum what what;
};

#define IN(name, measure)                                    \
	{                                                    \
		name, DWELL_MEASURE_##measure, false, AMOUNT \
	}
#define EX(name, measure)                                   \
	{                                                   \
		name, DWELL_MEASURE_##measure, true, AMOUNT \
	}
#define EXTREMES(name, measure, exclusive)                               \
	{name "_min_ns", DWELL_MEASURE_##measure, exclusive, LEAST},     \
	{                                                                \
		name "_max_ns", DWELL_MEASURE_##measure, exclusive, MOST \
	}
#define COLLECTED(name, heap) IN(name "_objects", OBJECTS_##heap), IN(name "_bytes", BYTES_##heap)

/* In the order of the file. */
static const struct column columns[] = {
	IN("calls", CALLS),
	IN("outer_calls", OUTER_CALLS),
	IN("elapsed_inclusive_ns", ELAPSED),
	IN("application_inclusive_ns", APPLICATION),
	IN("whole_inclusive_ns", DELIMITED),
	IN("overhead_inclusive_ns", OVERHEAD),
	IN("blocked_inclusive_ns", BLOCKED),
	IN("os_cpu_inclusive_ns", OS_CPU),
	IN("switches_inclusive", SWITCHES),
	IN("io_calls_inclusive", IO_CALLS),
	IN("blocking_calls_inclusive", BLOCKING_CALLS),
	EX("elapsed_exclusive_ns", ELAPSED),
	EX("application_exclusive_ns", APPLICATION),
	EX("whole_exclusive_ns", DELIMITED),
	EX("overhead_exclusive_ns", OVERHEAD),
	EX("blocked_exclusive_ns", BLOCKED),
	EX("os_cpu_exclusive_ns", OS_CPU),
	EX("switches_exclusive", SWITCHES),
	EX("io_calls_exclusive", IO_CALLS),
	EX("blocking_calls_exclusive", BLOCKING_CALLS),
	EXTREMES("elapsed_inclusive", ELAPSED, false),
	EXTREMES("elapsed_exclusive", ELAPSED, true),
	EXTREMES("application_inclusive", APPLICATION, false),
	EXTREMES("application_exclusive", APPLICATION, true),
	{"switched_off_ns", DWELL_MEASURE_COUNTED, false, SWITCHED_OFF},
	IN("measured", MEASURED),
	IN("objects_inclusive", OBJECTS),
	IN("bytes_inclusive", BYTES),
	EX("objects_exclusive", OBJECTS),
	EX("bytes_exclusive", BYTES),
	COLLECTED("gen_0", GEN0),
	COLLECTED("gen_1", GEN1),
	COLLECTED("gen_2", GEN2),
	COLLECTED("large", LARGE),
	COLLECTED("pinned", PINNED),
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* Of objects all is there, of drawn ones too. */
static bool has_column(const struct dw_amount_table *t, const struct column *c)
{
	return dw_measures_has(t->set, c->measure >= DWELL_MEASURE_OBJECTS ? DWELL_MEASURE_OBJECTS
									   : c->measure);
}

int dw_amount_table_open(struct dw_amount_table *t, struct dw_database *db, dw_measures set,
			 const struct dw_calls *calls, struct dw_error *err)
{
	dw_auto(dw_buf) create = DW_BUF_INIT;
	dw_auto(dw_buf) insert = DW_BUF_INIT;
	size_t n = 0;
	int rc;

	*t = (struct dw_amount_table){.db = db, .set = set, .calls = calls};
	dw_buf_puts(&create, "CREATE TABLE total (id INTEGER PRIMARY KEY");
	dw_buf_puts(&insert, "INSERT INTO total VALUES (?");
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!has_column(t, &columns[i]))
			continue;
		n++;
		dw_buf_printf(&create, ", %s INTEGER", columns[i].name);
		dw_buf_puts(&insert, ", ?");
	}
	dw_buf_putc(&create, ')');
	dw_buf_putc(&insert, ')');
	if (create.failed || insert.failed)
		return dw_error_set(err, -ENOMEM, "no memory to finish the session");
	if (!n)
		return 0;
	rc = dw_database_exec(db, dw_buf_str(&create), err);
	return rc ? rc : dw_database_prepare(db, dw_buf_str(&insert), &t->put, err);
}

/* What @c shows of @m. False: NULL. */
static bool value_of(const struct dw_amount_table *t, const struct dw_measured *m,
		     const struct column *c, uint64_t *ret)
{
	struct dw_range_ns extremes;

	if (c->what == AMOUNT)
		return dw_measured_value(m, c->measure, c->exclusive, ret);
	if (c->what == SWITCHED_OFF) {
		if (!m->disabled_at)
			return false;
		return *ret = t->calls->disabled.v[m->disabled_at - 1].at_ns, true;
	}
	extremes = dw_measured_extremes(m, c->measure, c->exclusive);
	*ret = c->what == LEAST ? extremes.min_ns : extremes.max_ns;
	return dw_range_known(&extremes);
}

int dw_amount_table_put(struct dw_amount_table *t, const struct dw_measured *m,
			struct dw_error *err)
{
	uint64_t value;
	int at = 1;

	sqlite3_bind_int64(t->put, at++, ++t->rows);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!has_column(t, &columns[i]))
			continue;
		if (value_of(t, m, &columns[i], &value))
			sqlite3_bind_int64(t->put, at, (int64_t)value);
		else
			sqlite3_bind_null(t->put, at);
		at++;
	}
	return dw_database_step(t->db, t->put, err);
}

void dw_amount_table_close(struct dw_amount_table *t)
{
	sqlite3_finalize(t->put);
	*t = (struct dw_amount_table){0};
}

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

/* All of each measure that the totals have. */
static int put_sums(struct dw_database *db, sqlite3_stmt *st, const struct dw_totals *totals,
		    struct dw_error *err)
{
	static const struct {
		const char *key;
		enum dw_measure measure;
	} sums[] = {
		{"samples_kept", DWELL_MEASURE_SAMPLES},
		{"number_of_calls", DWELL_MEASURE_CALLS},
		{"elapsed_inclusive_time", DWELL_MEASURE_ELAPSED},
		{"application_inclusive_time", DWELL_MEASURE_APPLICATION},
		{"inclusive_blocked_time", DWELL_MEASURE_BLOCKED},
		{"time_inclusive_probe_overhead", DWELL_MEASURE_OVERHEAD},
		{"inclusive_allocations", DWELL_MEASURE_OBJECTS},
		{"inclusive_bytes", DWELL_MEASURE_BYTES},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof sums / sizeof *sums && !rc; i++)
		if (dw_totals_has(totals, sums[i].measure))
			rc = put_number_fact(db, st, sums[i].key, totals->all[sums[i].measure],
					     err);
	return rc;
}

/* What rows needed, by the measure that decides. */
static int put_least(struct dw_database *db, sqlite3_stmt *st, const struct dw_totals *totals,
		     const struct dw_row_shares *least, struct dw_error *err)
{
	static const struct {
		const char *node, *row;
	} keys[DWELL_MEASURES] = {
		[DWELL_MEASURE_SAMPLES] = {"calltree_inclusive_samples_min",
					   "sql_rows_samples_min"},
		[DWELL_MEASURE_ELAPSED] = {"calltree_elapsed_ns_min", "sql_rows_elapsed_ns_min"},
		[DWELL_MEASURE_BYTES] = {"calltree_inclusive_bytes_min", "sql_rows_bytes_min"},
	};
	int rc = put_number_fact(db, st, keys[totals->main].node, least->node, err);

	return rc ? rc : put_number_fact(db, st, keys[totals->main].row, least->row, err);
}

/* What totals tell replaces what the recorder noted: views divide by it, and it must fit the rows
 * of the tables. */
int dw_fact_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, const struct dw_row_shares *least,
			struct dw_error *err)
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
		rc = put_least(db, st, totals, least, err);
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

/* A row of slow has all its values itself: those of an activation are not those of total. */
static int put_slow(struct dw_database *db, sqlite3_stmt *st, const struct dw_profile *p,
		    const struct dw_slow_total *total, struct dw_error *err)
{
	const struct dw_call_slow *s = &p->calls.slow.v[total->slow];
	const struct dw_call_values *all = &s->inclusive, *own = &s->exclusive;
	const uint64_t values[] = {
		total->process,
		p->calls.nodes.v[s->node - 1].thread,
		total->function,
		s->start_ns,
		all->overhead_ns,
		all->elapsed_ns,
		own->elapsed_ns,
		all->application_ns,
		own->application_ns,
		dw_call_slow_callees(s),
		s->io_ns,
		s->blocking_ns,
		s->switched_ns,
		all->blocked_ns,
		own->blocked_ns,
		all->switches,
		all->io_calls,
		all->blocking_calls,
	};

	return put_values(db, st, values, err);
}

int dw_slow_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_ns, struct dw_error *err)
{
	static const char sql[] = "INSERT INTO slow VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
				  " ?, ?, ?, ?, ?, ?, ?)";
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
	uint32_t n = 0;
	const struct dw_location *chain = s ? dw_locations_get(&p->locations, s->frame, &n) : NULL;
	const struct dw_function *f = n ? dw_functions_get(&p->functions, chain[0].function) : NULL;

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
