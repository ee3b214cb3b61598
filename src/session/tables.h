/*
 * The tables of a finished session that serve SQL: totals with the names they need. Loading never
 * reads them.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "model/amounts.h"
#include "model/profile.h"
#include "model/totals.h"
#include "session/amount-table.h"
#include "session/database.h"

#include <stdint.h>

/*
 * Fill all tables but chunk. Rows go in in the order in which the views show them. Of the call tree
 * only nodes with at least 1 / DWELL_NODE_SHARE of all samples are stored (the chunks have all), of
 * the instructions only those with an exclusive sample. 0 or a negative code.
 */
int dw_tables_write(struct dw_database *db, const struct dw_profile *p,
		    const struct dw_totals *totals, struct dw_error *err);

/* Write the facts of @p, and over them those of @totals; of the main measure nodes need
 * @least_of_nodes, rows of other tables @least_of_rows. 0 or a negative code. */
int dw_fact_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_of_nodes,
			uint64_t least_of_rows, struct dw_error *err);

/* Write those @strings that are marked in @shown, by id. 0 or a negative code. */
int dw_text_table_write(struct dw_database *db, const struct dw_strings *strings,
			const uint8_t *shown, struct dw_error *err);

/* Columns of the table slow as rows X(name, name in the view slowest, value): behind process,
 * thread and function. @s: a struct dw_call_slow; all values are its own, those of total are not
 * them. */
#define DW_SLOW_COLUMNS(X, s)                                                                  \
	X(begin_ns, begin_time, (s)->start_ns)                                                 \
	X(overhead_ns, time_inclusive_probe_overhead, (s)->inclusive.overhead_ns)              \
	X(elapsed_inclusive_ns, elapsed_inclusive_time, (s)->inclusive.elapsed_ns)             \
	X(elapsed_exclusive_ns, elapsed_exclusive_time, (s)->exclusive.elapsed_ns)             \
	X(application_inclusive_ns, application_inclusive_time, (s)->inclusive.application_ns) \
	X(application_exclusive_ns, application_exclusive_time, (s)->exclusive.application_ns) \
	X(callees_ns, callees_application_time, dw_call_slow_callees(s))                       \
	X(io_ns, io_time, (s)->io_ns)                                                          \
	X(blocking_ns, blocking_call_time, (s)->blocking_ns)                                   \
	X(switched_ns, switched_away_time, (s)->switched_ns)                                   \
	X(blocked_inclusive_ns, inclusive_blocked_time, (s)->inclusive.blocked_ns)             \
	X(blocked_exclusive_ns, exclusive_blocked_time, (s)->exclusive.blocked_ns)             \
	X(switches, context_switches, (s)->inclusive.switches)                                 \
	X(io_calls, io_calls, (s)->inclusive.io_calls)                                         \
	X(blocking_calls, blocking_calls, (s)->inclusive.blocking_calls)

/* Fill the table slow with those of @totals that took @least_ns at least, longest first. 0 or a
 * negative code.
 */
int dw_slow_table_write(struct dw_database *db, const struct dw_profile *p,
			const struct dw_totals *totals, uint64_t least_ns, struct dw_error *err);

/* Fill the table wait with the kinds that @totals have. 0 or a negative code. */
int dw_wait_table_write(struct dw_database *db, const struct dw_totals *totals,
			struct dw_error *err);

/* Fill the table io, what took longest first; note in @texts, by string id, which texts it
 * shows. 0 or a negative code. */
int dw_file_table_write(struct dw_database *db, const struct dw_totals *totals, uint8_t *texts,
			struct dw_error *err);

/* Fill type and gc, and @amounts with what types have; note in @texts, by string id, which texts
 * they show. 0 or a negative code. */
int dw_alloc_tables_write(struct dw_database *db, struct dw_amount_table *amounts,
			  const struct dw_profile *p, const struct dw_totals *totals,
			  uint8_t *texts, struct dw_error *err);
