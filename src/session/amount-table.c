/*
 * Rows of total; see amount-table.h. A table of its own, because many tables have such rows.
 * Unsigned numbers beyond 2^63, which only a lying target gives, come out negative.
 */
#include "session/amount-table.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>

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
	IN("whole_inclusive_ns", WHOLE),
	IN("overhead_inclusive_ns", OVERHEAD),
	IN("blocked_inclusive_ns", BLOCKED),
	IN("os_cpu_inclusive_ns", OS_CPU),
	IN("switches_inclusive", SWITCHES),
	IN("io_calls_inclusive", IO_CALLS),
	IN("blocking_calls_inclusive", BLOCKING_CALLS),
	EX("elapsed_exclusive_ns", ELAPSED),
	EX("application_exclusive_ns", APPLICATION),
	EX("whole_exclusive_ns", WHOLE),
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
		if (!m->mute)
			return false;
		return *ret = t->calls->mutes.v[m->mute - 1].at_ns, true;
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
