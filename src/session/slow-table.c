/* Rows of the table slow; see slow-table.h. Unlike others they have all their values themselves:
 * those of an activation are not those of total. */
#include "session/slow-table.h"

#include "base/cleanup.h"
#include "session/order.h"

#include <errno.h>
#include <stdlib.h>

static int put_row(struct dw_database *db, sqlite3_stmt *st, const struct dw_profile *p,
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

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		sqlite3_bind_int64(st, (int)i + 1, (int64_t)values[i]);
	return dw_database_step(db, st, err);
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
		rc = put_row(db, st, p, &v[rows[i]], err);
	}
	sqlite3_finalize(st);
	return rc;
}
