/*
 * Tables of allocations; see alloc-tables.h. Unsigned numbers beyond 2^63, which only a lying
 * target gives, come out negative.
 */
#include "session/alloc-tables.h"

#include "base/cleanup.h"
#include "session/order.h"

#include <errno.h>

/* Write the @v of a row through @st. */
static int put(struct dw_database *db, sqlite3_stmt *st, const uint64_t *v, struct dw_error *err)
{
	for (int i = 0; i < sqlite3_bind_parameter_count(st); i++)
		sqlite3_bind_int64(st, i + 1, (int64_t)v[i]);
	return dw_database_step(db, st, err);
}

/* One row of type, and its amounts. */
static int put_type(struct dw_amount_table *t, sqlite3_stmt *st, const struct dw_alloc_type *type,
		    const struct dw_type_total *row, const struct dw_totals *totals)
{
	const struct dw_values *bytes = dw_totals_values(totals, row->amounts);
	const struct dw_measured measured = dw_totals_measured(totals, row->amounts);
	uint64_t v[] = {type->process,	  type->module,	    type->name,
			bytes->inclusive, bytes->exclusive, (uint64_t)t->rows + 1};
	int rc = put(t->db, st, v, NULL);

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
			rc = put(db, st, v, err);
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
