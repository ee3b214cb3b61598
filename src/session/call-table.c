/*
 * Rows of call_total; see call-table.h. A table of its own, because eight tables have such rows:
 * their columns stand in the schema and in the views once. Unsigned numbers beyond 2^63, which only
 * a lying target gives, come out negative.
 */
#include "session/call-table.h"

#include <stdbool.h>

int dw_call_table_open(struct dw_call_table *t, struct dw_database *db,
		       const struct dw_calls *calls, struct dw_error *err)
{
	static const char sql[] = "INSERT INTO call_total VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
				  " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

	*t = (struct dw_call_table){.db = db, .calls = calls};
	return dw_database_prepare(db, sql, &t->put, err);
}

/* Bind @n numbers from column *@at on, NULL instead if not @known. */
static void bind(sqlite3_stmt *st, int *at, bool known, const uint64_t *v, int n)
{
	for (int i = 0; i < n; i++, ++*at)
		if (known)
			sqlite3_bind_int64(st, *at, (int64_t)v[i]);
		else
			sqlite3_bind_null(st, *at);
}

static void bind_values(sqlite3_stmt *st, int *at, bool known, const struct dw_call_values *c)
{
	uint64_t v[] = {c->elapsed_ns,	c->application_ns, c->whole_ns,
			c->overhead_ns, c->blocked_ns,	   c->os_cpu_ns,
			c->switches,	c->io_calls,	   c->blocking_calls};

	bind(st, at, known, v, sizeof v / sizeof *v);
}

static void bind_range(sqlite3_stmt *st, int *at, const struct dw_range_ns *r)
{
	bind(st, at, dw_range_known(r), (uint64_t[]){r->min_ns, r->max_ns}, 2);
}

int dw_call_table_put(struct dw_call_table *t, int64_t id, const struct dw_call_total *c,
		      const struct dw_call_ranges *ranges, struct dw_error *err)
{
	static const struct dw_call_ranges none = DWELL_RANGES_NONE;
	const struct dw_call_ranges *r = ranges ? ranges : &none;
	bool exclusive = !(c->flags & DWELL_CALLS_NO_EXCLUSIVE);
	int at = 1;

	bind(t->put, &at, true, (uint64_t[]){(uint64_t)id, c->inclusive.calls, c->outer_calls}, 3);
	bind_values(t->put, &at, true, &c->inclusive);
	bind_values(t->put, &at, exclusive, &c->exclusive);
	bind_range(t->put, &at, &r->elapsed_inclusive);
	bind_range(t->put, &at, &r->elapsed_exclusive);
	bind_range(t->put, &at, &r->application_inclusive);
	bind_range(t->put, &at, &r->application_exclusive);
	bind(t->put, &at, c->mute, c->mute ? &t->calls->mutes.v[c->mute - 1].at_ns : NULL, 1);
	bind(t->put, &at, true, (uint64_t[]){dw_totals_measured(c)}, 1);
	return dw_database_step(t->db, t->put, err);
}

void dw_call_table_close(struct dw_call_table *t)
{
	sqlite3_finalize(t->put);
	*t = (struct dw_call_table){0};
}
