/*
 * The table total, and what SQL shows of it; see amount-table.h.
 *
 * Unsigned numbers beyond 2^63, which only a lying target gives, come out negative.
 */
#include "session/amount-table.h"

#include "base/cleanup.h"
#include "model/calls.h"

#include <errno.h>
#include <stddef.h>

enum what { AMOUNT, LEAST, MOST, SWITCHED_OFF };

/* What views show behind a column. */
enum more { NOTHING, SHARE, SHARE_AND_AVERAGE };

struct column {
	const char *name; /* in total; NULL: made by sql */
	const char *view; /* in views; NULL: in none */
	enum dw_measure measure;
	bool exclusive;
	enum what what;
	enum dw_amount_columns in;
	enum more more;
	const char *fact; /* that has all of the measure */
	const char *sql;
};

#define STORED(name, of, exclusive)                       \
	{                                                 \
		name, NULL, DWELL_MEASURE_##of, exclusive \
	}
#define SHOWN(name, view, of, exclusive, in)                                               \
	{                                                                                  \
		name, view, DWELL_MEASURE_##of, exclusive, AMOUNT, DWELL_SQL_##in, NOTHING \
	}
/* A measure with all below and its own, and its shares. */
#define BOTH(inclusive, exclusive, view, of)                                                      \
	{inclusive, "inclusive_" view, DWELL_MEASURE_##of, false, AMOUNT, DWELL_SQL_VALUES,       \
	 SHARE,	    "inclusive_" view},                                                           \
	{                                                                                         \
		exclusive, "exclusive_" view, DWELL_MEASURE_##of, true, AMOUNT, DWELL_SQL_VALUES, \
			SHARE                                                                     \
	}
/* A time of calls, its share and average, and the longest and shortest of one call. */
#define TIME(time, of, exclusive, fact)                                                     \
	{time "_ns", time "_time",     DWELL_MEASURE_##of, exclusive,                       \
	 AMOUNT,     DWELL_SQL_VALUES, SHARE_AND_AVERAGE,  fact},                           \
		{time "_max_ns", "max_" time "_time", DWELL_MEASURE_##of, exclusive, MOST}, \
	{                                                                                   \
		time "_min_ns", "min_" time "_time", DWELL_MEASURE_##of, exclusive, LEAST   \
	}
#define ALIVE(what)                                                                  \
	"c." what "_inclusive - c.gen_0_" what " - c.gen_1_" what " - c.gen_2_" what \
	" - c.large_" what " - c.pinned_" what

/* In the order of total and of views. */
static const struct column columns[] = {
	{NULL, "inclusive_samples", DWELL_MEASURE_SAMPLES, false, AMOUNT, DWELL_SQL_VALUES, SHARE,
	 "samples_kept", "t.inclusive"},
	{NULL, "exclusive_samples", DWELL_MEASURE_SAMPLES, true, AMOUNT, DWELL_SQL_VALUES, SHARE,
	 NULL, "t.exclusive"},
	{"calls", "number_of_calls", DWELL_MEASURE_CALLS, false, AMOUNT, DWELL_SQL_CALL, NOTHING,
	 "number_of_calls"},
	STORED("outer_calls", OUTER_CALLS, false),
	STORED("measured", MEASURED, false),
	{"switched_off_ns", "switched_off_at", DWELL_MEASURE_COUNTED, false, SWITCHED_OFF,
	 DWELL_SQL_FUNCTIONS},
	{NULL, "calls_only_counted", DWELL_MEASURE_COUNTED, false, AMOUNT, DWELL_SQL_FUNCTIONS,
	 NOTHING, NULL, "c.calls - c.measured"},
	SHOWN("overhead_exclusive_ns", "time_exclusive_probe_overhead", OVERHEAD, true, CALL),
	{"overhead_inclusive_ns", "time_inclusive_probe_overhead", DWELL_MEASURE_OVERHEAD, false,
	 AMOUNT, DWELL_SQL_CALL, NOTHING, "time_inclusive_probe_overhead"},
	TIME("elapsed_inclusive", ELAPSED, false, "elapsed_inclusive_time"),
	TIME("elapsed_exclusive", ELAPSED, true, NULL),
	TIME("application_inclusive", APPLICATION, false, "application_inclusive_time"),
	TIME("application_exclusive", APPLICATION, true, NULL),
	STORED("whole_inclusive_ns", DELIMITED, false),
	STORED("whole_exclusive_ns", DELIMITED, true),
	BOTH("work_inclusive_ns", "work_exclusive_ns", "work_time", WORK),
	BOTH("blocked_inclusive_ns", "blocked_exclusive_ns", "blocked_time", BLOCKED),
	BOTH("others_waited_inclusive_ns", "others_waited_exclusive_ns", "others_waited_time",
	     OTHERS_WAITED),
	STORED("os_cpu_inclusive_ns", OS_CPU, false),
	STORED("os_cpu_exclusive_ns", OS_CPU, true),
	STORED("switches_inclusive", SWITCHES, false),
	SHOWN("switches_exclusive", "context_switches", SWITCHES, true, VALUES),
	STORED("io_calls_inclusive", IO_CALLS, false),
	SHOWN("io_calls_exclusive", "io_calls", IO_CALLS, true, VALUES),
	STORED("blocking_calls_inclusive", BLOCKING_CALLS, false),
	SHOWN("blocking_calls_exclusive", "blocking_calls", BLOCKING_CALLS, true, VALUES),
	BOTH("objects_inclusive", "objects_exclusive", "allocations", OBJECTS),
	BOTH("bytes_inclusive", "bytes_exclusive", "bytes", BYTES),
	SHOWN("gen_0_objects", "gen_0_instances_collected", OBJECTS_GEN0, false, OBJECTS),
	SHOWN("gen_1_objects", "gen_1_instances_collected", OBJECTS_GEN1, false, OBJECTS),
	SHOWN("gen_2_objects", "gen_2_instances_collected", OBJECTS_GEN2, false, OBJECTS),
	{NULL, "instances_alive_at_end", DWELL_MEASURE_OBJECTS, false, AMOUNT, DWELL_SQL_OBJECTS,
	 NOTHING, NULL, ALIVE("objects")},
	SHOWN("gen_0_bytes", "gen_0_bytes_collected", BYTES_GEN0, false, BYTES),
	SHOWN("gen_1_bytes", "gen_1_bytes_collected", BYTES_GEN1, false, BYTES),
	SHOWN("gen_2_bytes", "gen_2_bytes_collected", BYTES_GEN2, false, BYTES),
	{NULL, "bytes_alive_at_end", DWELL_MEASURE_BYTES, false, AMOUNT, DWELL_SQL_BYTES, NOTHING,
	 NULL, ALIVE("bytes")},
	SHOWN("large_objects", "large_object_heap_instances_collected", OBJECTS_LARGE, false,
	      HEAPS),
	SHOWN("large_bytes", "large_object_heap_bytes_collected", BYTES_LARGE, false, HEAPS),
	SHOWN("pinned_objects", "pinned_object_heap_instances_collected", OBJECTS_PINNED, false,
	      HEAPS),
	SHOWN("pinned_bytes", "pinned_object_heap_bytes_collected", BYTES_PINNED, false, HEAPS),
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* Of objects all is there, of drawn ones too. Work is that of samples. */
static bool has_column(const struct column *c, dw_measures set)
{
	bool of_objects =
		c->measure >= DWELL_MEASURE_OBJECTS && c->measure <= DWELL_MEASURE_BYTES_MOST;

	if (c->measure == DWELL_MEASURE_WORK && !dw_measures_has(set, DWELL_MEASURE_SAMPLES))
		return false;
	return dw_measures_has(set, of_objects ? DWELL_MEASURE_OBJECTS : c->measure);
}

static bool is_stored(const struct column *c, dw_measures set)
{
	return c->name && has_column(c, set);
}

bool dw_amount_table_needed(dw_measures set)
{
	bool needed = false;

	for (size_t i = 0; i < COLUMNS; i++)
		needed |= is_stored(&columns[i], set);
	return needed;
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
		if (!is_stored(&columns[i], set))
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
		if (!is_stored(&columns[i], t->set))
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

const char *dw_amount_fact(enum dw_measure measure)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (columns[i].measure == measure && columns[i].fact)
			return columns[i].fact;
	return NULL;
}

/* An average without calls divides by 0, which is NULL. */
static void put_shown(struct dw_buf *b, const struct column *c)
{
	const char *calls = c->exclusive ? "measured" : "outer_calls";
	const char *row = c->sql ? "" : "c.", *value = c->sql ? c->sql : c->name;

	dw_buf_printf(b, "%s%s AS %s", row, value, c->view);
	if (c->more != NOTHING)
		dw_buf_printf(b, ", " DW_SQL_SHARE("%s%s", "%s") " AS %s_percent", row, value,
			      dw_amount_fact(c->measure), c->view);
	if (c->more == SHARE_AND_AVERAGE)
		dw_buf_printf(b, ", (c.%s + c.%s / 2) / c.%s AS avg_%s", value, calls, calls,
			      c->view);
}

static void put_sum(struct dw_buf *b, const struct column *c)
{
	static const char *const how[] = {[AMOUNT] = "sum", [LEAST] = "min", [MOST] = "max"};

	if (c->what != SWITCHED_OFF)
		dw_buf_printf(b, ", %s(c.%s) AS %s", how[c->what], c->name, c->name);
}

/* Whether @c is in the list @which; values have parts. */
static bool is_in(const struct column *c, enum dw_amount_columns which)
{
	if (!c->view)
		return false;
	return c->in == which || (which == DWELL_SQL_VALUES && c->in >= DWELL_SQL_OBJECTS);
}

void dw_amount_columns(struct dw_buf *b, dw_measures set, enum dw_amount_columns which)
{
	bool is_first = which != DWELL_SQL_CALL && which != DWELL_SQL_FUNCTIONS;

	for (size_t i = 0; i < COLUMNS; i++) {
		if (which == DWELL_SQL_SUMS && is_stored(&columns[i], set))
			put_sum(b, &columns[i]);
		if (!is_in(&columns[i], which) || !has_column(&columns[i], set))
			continue;
		dw_buf_puts(b, is_first ? "" : ", ");
		put_shown(b, &columns[i]);
		is_first = false;
	}
}
