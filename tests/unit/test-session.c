/* Unit tests of src/session: round trips. Damage and dying writers are in test-session-damage.c. */
#include "check.h"
#include "scratch.h"

#include "session/read.h"
#include "base/buf.h"
#include "model/measure.h"
#include "recorded.h"
#include "session/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct synthetic small = SYNTHETIC_SMALL;
static const struct synthetic waits = SYNTHETIC_WAITS;

/* A reader refuses files that unpack to more than DWELL_RAW_BYTES_RATIO times their bytes. */
TEST(chunks_that_shrink_to_little_are_lengthened)
{
	struct dw_buf raw = DW_BUF_INIT, packed = DW_BUF_INIT, again = DW_BUF_INIT;
	struct dw_packed_chunk c = {.raw_bytes = 8 << 20};

	for (uint64_t i = 0; i < c.raw_bytes; i++)
		dw_buf_put(&raw, i % 4096 ? "" : "x", 1);
	CHECK_INT(dw_chunk_pack(NULL, &raw, 3, &packed), 0);
	CHECK(packed.len >= c.raw_bytes / DWELL_RAW_BYTES_RATIO);
	CHECK(packed.len < 2 * c.raw_bytes / DWELL_RAW_BYTES_RATIO);
	c.data = packed.data;
	c.bytes = packed.len;
	CHECK_INT(dw_chunk_unpack(&c, &again), 0);
	CHECK(again.len == raw.len && !memcmp(again.data, raw.data, raw.len));
	dw_buf_release(&raw);
	dw_buf_release(&packed);
	dw_buf_release(&again);
}

TEST(partial_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_session_info info = {.finished = true};
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&small, "a.dwell", 5, false, &err), 0);
	CHECK_INT(dw_session_load("a.dwell.partial", &got, &info, &err), 0);
	CHECK(!info.finished);
	CHECK_INT(recorded_expect(&small, false, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(access("a.dwell.partial-wal", F_OK), -1);
	CHECK_INT(access("a.dwell", F_OK), -1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

/* Waits alone are written as ever. */
TEST(extras_name_their_measure)
{
	const struct dw_extra rows[] = {{5, 4, 3, 1, 0, DWELL_MEASURE_BLOCKED},
					{6, 0, 7, 1, 0, DWELL_MEASURE_DRAWS}};
	const struct dw_columns columns = dw_layout_of(DWELL_CHUNK_EXTRAS);
	uint64_t limits[DWELL_LIMITS];

	for (int i = 0; i < DWELL_LIMITS; i++)
		limits[i] = 1;
	for (size_t n = 1; n <= 2; n++) {
		struct dw_buf raw = DW_BUF_INIT;
		struct dw_extra got[2];
		struct dw_cursor c;

		dw_columns_put(&raw, &columns, rows, n, 0);
		dw_cursor_init(&c, raw.data, raw.len);
		dw_columns_take(&c, &columns, got, n, 0, limits);
		CHECK(!c.failed && !dw_cursor_left(&c));
		CHECK(n > 1 || raw.len == 5);
		for (size_t i = 0; i < n; i++) {
			CHECK_INT(got[i].n, rows[i].n);
			CHECK_INT(got[i].measure, rows[i].measure);
		}
		dw_buf_release(&raw);
	}
}

TEST(waits_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	const int64_t ns = (int64_t)waits.samples / 4 * 500000;

	CHECK_INT(recorded_session(&waits, "w.dwell", 3, true, &err), 0);
	CHECK_INT(dw_session_load("w.dwell", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&waits, true, &want), 0);
	CHECK_INT(got.extras.rows.n, waits.samples / 4);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(recorded_query("w.dwell", "SELECT sum(exclusive_blocked_time) FROM functions"),
		  ns);
	CHECK_INT(recorded_query("w.dwell", "SELECT sum(exclusive_blocked_time) FROM threads"), ns);
	CHECK_INT(recorded_query("w.dwell", "SELECT sum(exclusive_samples) FROM functions"),
		  waits.samples);
	CHECK_INT(recorded_query("w.dwell", "SELECT max(inclusive_blocked_time_percent) <= 100"
					    " FROM functions"),
		  1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(finished_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_session_info info = {0};
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&small, "b.dwell", 3, true, &err), 0);
	CHECK_INT(access("b.dwell.partial", F_OK), -1);
	CHECK_INT(dw_session_load("b.dwell", &got, &info, &err), 0);
	CHECK(info.finished);
	CHECK_INT(recorded_expect(&small, true, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(recorded_query("b.dwell", "SELECT sum(exclusive_samples) FROM functions"),
		  small.samples);
	CHECK_INT(recorded_query("b.dwell", "SELECT sum(exclusive_samples) FROM instructions"),
		  small.samples);
	CHECK_INT(recorded_query("b.dwell", "SELECT sum(exclusive_samples) FROM processes"),
		  small.samples);
	CHECK_INT(recorded_query("b.dwell", "SELECT sum(exclusive_samples) FROM threads"),
		  small.samples);
	CHECK_INT(recorded_query("b.dwell",
				 "SELECT count(*) FROM functions WHERE function_name IS NULL"),
		  0);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

/* Append "name: column, column, ..." of table or view @name of the database, with types when asked.
 */
static void columns_of(sqlite3 *db, const char *name, bool types, struct dw_buf *ret)
{
	sqlite3_stmt *st = NULL;

	dw_buf_printf(ret, "%s:", name);
	sqlite3_prepare_v2(db, "SELECT name, type FROM pragma_table_info(?)", -1, &st, NULL);
	sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
	while (sqlite3_step(st) == SQLITE_ROW) {
		dw_buf_printf(ret, " %s", (const char *)sqlite3_column_text(st, 0));
		if (types && *sqlite3_column_text(st, 1))
			dw_buf_printf(ret, " %s", (const char *)sqlite3_column_text(st, 1));
	}
	sqlite3_finalize(st);
	dw_buf_putc(ret, '\n');
}

/* All tables and views of the session @path, in the order of their making. */
static void schema_of_file(const char *path, struct dw_buf *ret)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	sqlite3_prepare_v2(db,
			   "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')"
			   " ORDER BY rowid",
			   -1, &st, NULL);
	while (sqlite3_step(st) == SQLITE_ROW) {
		bool table = !strcmp((const char *)sqlite3_column_text(st, 1), "table");

		columns_of(db, (const char *)sqlite3_column_text(st, 0), table, ret);
	}
	sqlite3_finalize(st);
	sqlite3_close(db);
}

/* The word between the first two backquotes at or after *@p, which moves behind them. */
static bool next_quoted(char **p, char word[64])
{
	char *a = strchr(*p, '`'), *b = a ? strchr(a + 1, '`') : NULL;

	if (!b || b - a > 60)
		return false;
	snprintf(word, 64, "%.*s", (int)(b - a - 1), a + 1);
	*p = b + 1;
	return true;
}

/* The columns that CALL and VALUES stand for in the document, each with a space before it. */
struct values {
	struct dw_buf call, values;
};

/* Put for @p, which begins with CALL or VALUES, what it stands for, and go behind it. */
static char *schema_values(char *p, const struct values *values, struct dw_buf *ret)
{
	bool call = *p == 'C';

	dw_buf_puts(ret, dw_buf_str(call ? &values->call : &values->values));
	p += call ? 4 : 6;
	return p + strspn(p, ", ");
}

/* A line under "### Table": | `column` | TYPE | meaning |; others: `column`, `column`, VALUES. */
static void schema_line(char *line, bool table, const struct values *values, struct dw_buf *ret)
{
	char word[64], type[16];

	if (table && !strncmp(line, "| `", 3) && next_quoted(&line, word)) {
		dw_buf_printf(ret, " %s", word);
		if (sscanf(line, " | %15[A-Z]", type) == 1)
			dw_buf_printf(ret, " %s", type);
	}
	while (!table) {
		if (!strncmp(line, "CALL", 4) || !strncmp(line, "VALUES", 6)) {
			line = schema_values(line, values, ret);
		} else if (*line == '`' && next_quoted(&line, word)) {
			dw_buf_printf(ret, " %s", word);
			line += strspn(line, ", ");
		} else {
			break;
		}
	}
}

/* Where lines after the heading @line go: NULL, @ret, or one of @values; what is of another method
 * goes nowhere. */
static struct dw_buf *schema_heading(char *line, const char *method, struct values *values,
				     struct dw_buf *ret)
{
	char word[64];

	if (!strncmp(line, "### Table ", 10) || !strncmp(line, "### View ", 9)) {
		if (strstr(line, "` of `") && !strstr(line, method))
			return NULL;
		next_quoted(&line, word);
		dw_buf_printf(ret, "%s%s:", ret->len ? "\n" : "", word);
		return ret;
	}
	if (strncmp(line, "### CALL of", 11) && strncmp(line, "### VALUES of", 13))
		return NULL;
	if (!strstr(line, method))
		return NULL;
	return line[4] == 'C' ? &values->call : &values->values;
}

/* The same as docs/session-format.md tells it of sessions of @method. */
static void schema_of_document(const char *method, struct dw_buf *ret)
{
	FILE *f = fopen(DWELL_SOURCE_ROOT "/docs/session-format.md", "r");
	struct values values = {0};
	struct dw_buf *to = NULL;
	bool table = false;
	char line[1024];

	while (f && fgets(line, sizeof line, f)) {
		if (*line == '#') {
			to = schema_heading(line, method, &values, ret);
			table = line[4] == 'T';
		} else if (to) {
			schema_line(line, table, &values, to);
		}
	}
	dw_buf_putc(ret, '\n');
	dw_buf_release(&values.call);
	dw_buf_release(&values.values);
	if (f)
		fclose(f);
}

TEST(the_document_tells_the_schema)
{
	static const struct synthetic calls = SYNTHETIC_CALLS;
	static const struct synthetic allocs = SYNTHETIC_ALLOCS;
	static const struct synthetic *const shapes[] = {&small, &waits, &calls, &allocs};
	static const char *const methods[] = {"`sampling`", "`waits`", "`instrumentation`",
					      "`memory`"};

	for (int i = 0; i < 4; i++) {
		struct dw_buf file = DW_BUF_INIT, document = DW_BUF_INIT;

		CHECK_INT(recorded_session(shapes[i], "schema.dwell", 1, true, NULL), 0);
		schema_of_file("schema.dwell", &file);
		schema_of_document(methods[i], &document);
		CHECK(file.len > 1000);
		CHECK_STR(dw_buf_str(&document), dw_buf_str(&file));
		dw_buf_release(&file);
		dw_buf_release(&document);
	}
}

/* Rows of each view of @path, or the view's name with what SQLite says. */
static const char *count_views(const char *path, int64_t *rows)
{
	static const char *const views[] = {"functions", "calltree", "callers",
					    "modules",	 "lines",    "instructions",
					    "processes", "threads",  "summary"};

	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		char sql[64];

		snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", views[i]);
		rows[i] = recorded_query(path, sql);
		if (rows[i] <= 0)
			return views[i];
	}
	return "none";
}

TEST(every_view_has_rows)
{
	int64_t rows[9];

	CHECK_INT(recorded_session(&small, "views.dwell", 1, true, NULL), 0);
	CHECK_STR(count_views("views.dwell", rows), "none");
	/* The tree of modules has the rows of the flat views, level by level. */
	CHECK_INT(recorded_query("views.dwell", "SELECT count(*) FROM modules WHERE level = 1"),
		  rows[0]);
	CHECK_INT(recorded_query("views.dwell", "SELECT count(*) FROM modules WHERE level = 2"),
		  rows[4]);
	CHECK_INT(recorded_query("views.dwell", "SELECT count(*) FROM modules WHERE level = 3"),
		  rows[5]);
	CHECK_INT(recorded_query("views.dwell",
				 "SELECT sum(exclusive_samples) FROM modules WHERE level = 0"),
		  small.samples);
	/* The callers of a function share out its values. */
	CHECK_INT(recorded_query(
			  "views.dwell",
			  "SELECT count(*) FROM (SELECT root_function_name AS f, process_id AS p,"
			  " sum(exclusive_samples) FILTER (WHERE type = 0) AS own,"
			  " sum(exclusive_samples) FILTER (WHERE type = 1) AS shared"
			  " FROM callers GROUP BY f, p) WHERE own <> shared"),
		  0);
	CHECK_INT(recorded_query("views.dwell", "SELECT max(inclusive_samples_percent) <= 100"
						" FROM functions"),
		  1);
}

TEST_MAIN()
