/*
 * The schema; see database.h and docs/session-format.md.
 *
 * Chunks hold the profile, and dwell itself reads nothing else. The other tables hold its totals
 * for SQL: integer keys everywhere, each text once, no index but the row ids. Rows are inserted
 * heaviest first, so a table's row id is its rank. Columns that several views share are macros,
 * named as in the document of the columns: GEN, LOC. Sessions of all methods have the same tables
 * and the same views, but for the columns of values: {places} in the text stand for those of the
 * session's measures (amount-table.h) and for what goes with them; those of allocations have some
 * more.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "session/amount-table.h"
#include "session/database.h"
#include "session/tables.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The formatter cannot lay out SQL. */
/* clang-format off */

#define CHUNK_SQL \
	"CREATE TABLE chunk (id INTEGER PRIMARY KEY, kind TEXT, items INTEGER," \
	" raw_bytes INTEGER, checksum INTEGER, data BLOB)"

#define SLOW_COLUMN(name, view, value) ", " #name " INTEGER"
#define SLOW_TABLE \
	"CREATE TABLE slow (rank INTEGER PRIMARY KEY, process INTEGER, thread INTEGER," \
	" function INTEGER" DW_SLOW_COLUMNS(SLOW_COLUMN, NULL) ");"
#define IO_TABLE \
	"CREATE TABLE io (rank INTEGER PRIMARY KEY, process INTEGER, file INTEGER," \
	" function INTEGER, reads INTEGER, writes INTEGER, bytes_read INTEGER," \
	" bytes_written INTEGER, io_ns INTEGER);"

#define TABLES \
	"CREATE TABLE fact (key TEXT PRIMARY KEY, value) WITHOUT ROWID;" \
	"CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT);" \
	"CREATE TABLE module (id INTEGER PRIMARY KEY, kind INTEGER, path INTEGER," \
	" name INTEGER, build_id TEXT, deleted INTEGER, device INTEGER, inode INTEGER);" \
	"CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER," \
	" name INTEGER, begin_ns INTEGER, end_ns INTEGER, user_cpu_ns INTEGER," \
	" kernel_cpu_ns INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER," \
	" command INTEGER, command_line INTEGER);" \
	"CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER, tid INTEGER," \
	" name INTEGER, start INTEGER, begin_ns INTEGER, end_ns INTEGER," \
	" inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	"CREATE TABLE function (id INTEGER PRIMARY KEY, module INTEGER, name TEXT," \
	" file INTEGER, line INTEGER, address INTEGER);" \
	"CREATE TABLE function_total (rank INTEGER PRIMARY KEY, process INTEGER," \
	" function INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER," \
	" lines INTEGER);" \
	"CREATE TABLE module_total (rank INTEGER PRIMARY KEY, process INTEGER," \
	" module INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	"CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER, process INTEGER," \
	" function INTEGER, level INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	"CREATE TABLE edge (rank INTEGER PRIMARY KEY, process INTEGER, caller INTEGER," \
	" callee INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	"CREATE TABLE line (rank INTEGER PRIMARY KEY, process INTEGER, function INTEGER," \
	" file INTEGER, line INTEGER, line_end INTEGER, column INTEGER," \
	" column_end INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	"CREATE TABLE instruction (rank INTEGER PRIMARY KEY, statement INTEGER," \
	" offset INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	SLOW_TABLE IO_TABLE

/* What only sessions of allocations have. */
#define ALLOCS_TABLES \
	"CREATE TABLE type (rank INTEGER PRIMARY KEY, process INTEGER, module INTEGER," \
	" name INTEGER, inclusive INTEGER, exclusive INTEGER, total INTEGER);" \
	"CREATE TABLE collection (process INTEGER, number INTEGER, generation INTEGER, reason INTEGER," \
	" blocking INTEGER, compacting INTEGER, thread INTEGER, begin_ns INTEGER," \
	" pause_ns INTEGER, heap_before INTEGER, heap_after INTEGER, promoted INTEGER," \
	" function INTEGER, added_ns INTEGER);"

/* Groups of columns of a row t, and the joins that they need. */
#define PROCESS_COLUMNS "p.pid AS process_id, pn.text AS process_name," \
	" coalesce(ps.text, pn.text) AS command, pc.text AS command_line"
#define PROCESS_JOINS " JOIN process p ON p.id = t.process LEFT JOIN text pn ON pn.id = p.name" \
	" LEFT JOIN text ps ON ps.id = p.command LEFT JOIN text pc ON pc.id = p.command_line"
#define MODULE_JOINS(id) \
	" LEFT JOIN module m ON m.id = " id \
	" LEFT JOIN text mn ON mn.id = m.name" \
	" LEFT JOIN text mp ON mp.id = m.path"
#define FUNCTION_JOIN " LEFT JOIN function f ON f.id = t.function"
#define FILE_JOIN(id) " LEFT JOIN text sf ON sf.id = " id
#define GEN(name) \
	PROCESS_COLUMNS \
	", iif(f.id > 0, coalesce(mn.text, '[unknown]'), mn.text) AS module_name," \
	" mp.text AS module_path, sf.text AS source_file, " name " AS function_name," \
	" f.line AS function_line_number," \
	" iif(f.address IS NULL, NULL, printf('0x%x', f.address)) AS function_address"
#define GEN_JOINS(file) PROCESS_JOINS FUNCTION_JOIN MODULE_JOINS("f.module") FILE_JOIN(file)

/* What else was measured of t, or of several rows together. */
#define TOTAL_JOIN " LEFT JOIN total c ON c.id = t.total"
#define WORK_JOIN " JOIN work c ON c.rank = t.rank"
#define LOC \
	"t.line AS source_line_begin, t.line_end AS source_line_end," \
	" t.column AS source_character_begin, t.column_end AS source_character_end"
/* file;[line,column]->;[line end,column end], without an end that is not known */
#define LINE_NAME \
	"iif(t.line IS NULL, NULL, coalesce(sf.text, '') || ';[' || t.line || ',' ||" \
	" coalesce(t.column, 0) || ']' || iif(t.line_end IS NULL, '', '->;[' ||" \
	" t.line_end || ',' || coalesce(t.column_end, 0) || ']'))"
#define NODE_NAME \
	"CASE WHEN t.level = 0 THEN pn.text WHEN t.function IS NULL THEN '[stack cut]'" \
	" ELSE f.name END"
#define ADDRESS "printf('0x%x', f.address + t.offset)"
#define TIMES "t.begin_ns AS begin_time, t.end_ns AS end_time"

#define VIEW_FUNCTIONS \
	"CREATE VIEW functions AS" \
	" SELECT " GEN("f.name") "{call}, {values}{only}" \
	" FROM function_total t" GEN_JOINS("f.file") "{join} ORDER BY t.rank;"

#define VIEW_CALLTREE \
	"CREATE VIEW calltree AS" \
	" SELECT " GEN(NODE_NAME) "{call}, t.level AS level, {values}" \
	", t.id AS node, t.parent AS parent" \
	" FROM node t" GEN_JOINS("f.file") "{join} ORDER BY t.id;"

/* The relations of each function: who called it (1), itself (0), whom it called (2). */
#define VIEW_CALLERS \
	"CREATE VIEW callers AS" \
	" WITH t (root, type, place, rank, process, function, inclusive, exclusive," \
	" total) AS (" \
	"SELECT callee, 1, 0, rank, process, caller, inclusive, exclusive, total FROM edge" \
	" UNION ALL " \
	"SELECT function, 0, 1, rank, process, function, inclusive, exclusive, total" \
	" FROM function_total" \
	" UNION ALL " \
	"SELECT caller, 2, 2, rank, process, callee, inclusive, exclusive, total FROM edge" \
	" WHERE caller)" \
	" SELECT " GEN("CASE WHEN t.function IS NULL THEN '[outermost]' WHEN t.function = 4294967295" \
	" THEN '[stack cut]' ELSE f.name END") \
	"{call}, t.type AS type, r.name AS root_function_name, {values}" \
	" FROM t" GEN_JOINS("f.file") "{join} LEFT JOIN function r ON r.id = t.root" \
	" ORDER BY r.name, t.root, t.process, t.place, t.rank;"

/*
 * The statements of all functions. A function of which no line is known has one, itself, without a
 * row of its own in the table line.
 */
#define VIEW_STATEMENT \
	"CREATE VIEW statement AS" \
	" SELECT rank AS id, process, function, file, line, line_end, column, column_end," \
	" inclusive, exclusive, total FROM line" \
	" UNION ALL" \
	" SELECT -rank, process, function, NULL, NULL, NULL, NULL, NULL, inclusive, exclusive," \
	" total FROM function_total WHERE NOT lines;"

#define VIEW_LINES \
	"CREATE VIEW lines AS" \
	" SELECT " GEN("f.name") ", " LOC ", " LINE_NAME " AS line_name{call}, {values}" \
	" FROM statement t" GEN_JOINS("t.file") "{join}" \
	" ORDER BY {order}, t.id;"

#define VIEW_INSTRUCTIONS \
	"CREATE VIEW instructions AS" \
	" WITH t (rank, process, function, file, line, line_end, column, column_end, offset," \
	" inclusive, exclusive, total) AS (" \
	"SELECT i.rank, l.process, l.function, l.file, l.line, l.line_end, l.column," \
	" l.column_end, i.offset, i.inclusive, i.exclusive, i.total" \
	" FROM instruction i JOIN statement l ON l.id = i.statement)" \
	" SELECT " GEN("f.name") ", " LOC ", " ADDRESS " AS instruction_address{call}, {values}" \
	" FROM t" GEN_JOINS("t.file") "{join} ORDER BY t.rank;"

/*
 * Module, function, line, instruction: each level's rows carry the sort keys of those above, which
 * put the most inclusive first. Lines and instructions of calls are call sites and no parts of
 * their function's values: their tree has two levels.
 */
#define KEY(t, id) "-" t ".inclusive, " t "." id
#define KEYS_TO_FUNCTION "b.rank, " KEY("a", "rank") ", "
#define MODULE_TOTAL(t) \
	" JOIN function f ON f.id = " t ".function AND f.id" \
	" LEFT JOIN module_total b ON b.process = " t ".process AND b.module IS f.module"
#define FUNCTION_TOTAL(t) \
	" LEFT JOIN function_total a ON a.process = " t ".process AND a.function = " t ".function"
#define DEEPER \
	" UNION ALL " \
	"SELECT 2, l.process, f.module, l.function, l.file, l.line, NULL, " KEYS_TO_FUNCTION \
	KEY("l", "id") ", NULL, NULL, l.inclusive, l.exclusive, l.total" \
	" FROM statement l" MODULE_TOTAL("l") FUNCTION_TOTAL("l") \
	" UNION ALL " \
	"SELECT 3, l.process, f.module, l.function, l.file, l.line, i.offset, " \
	KEYS_TO_FUNCTION KEY("l", "id") ", " KEY("i", "rank") ", i.inclusive, i.exclusive, i.total" \
	" FROM instruction i JOIN statement l ON l.id = i.statement" \
	MODULE_TOTAL("l") FUNCTION_TOTAL("l")
#define NAME_OF_MODULE "coalesce(mn.text, iif(t.module = 4294967295, '[threads]', '[unknown]'))"
#define VIEW_MODULES \
	"CREATE VIEW modules AS" \
	" WITH t (level, process, module, function, file, line, offset, k0, i1, k1, i2, k2, i3, k3," \
	" inclusive, exclusive, total) AS (" \
	"SELECT 0, b.process, b.module, NULL, NULL, NULL, NULL, b.rank," \
	" NULL, NULL, NULL, NULL, NULL, NULL, b.inclusive, b.exclusive, b.total FROM module_total b" \
	" UNION ALL " \
	"SELECT 1, a.process, f.module, a.function, f.file, NULL, NULL, " KEYS_TO_FUNCTION \
	"NULL, NULL, NULL, NULL, a.inclusive, a.exclusive, a.total" \
	" FROM function_total a" MODULE_TOTAL("a") \
	"{deeper}) SELECT CASE t.level WHEN 0 THEN " NAME_OF_MODULE " WHEN 1 THEN f.name" \
	" WHEN 2 THEN coalesce('line ' || t.line, 'no line') ELSE " ADDRESS " END AS name, " \
	PROCESS_COLUMNS ", iif(t.function < 0, NULL, " NAME_OF_MODULE ") AS module_name," \
	" mp.text AS module_path, sf.text AS source_file, f.line AS function_line_number," \
	" t.level AS level{call}, {values}" \
	" FROM t" PROCESS_JOINS FUNCTION_JOIN MODULE_JOINS("t.module") FILE_JOIN("t.file") "{join}" \
	" ORDER BY t.k0, t.i1, t.k1, t.i2, t.k2, t.i3, t.k3;"

#define VIEW_PROCESSES \
	"CREATE VIEW processes AS" \
	" SELECT t.id AS unique_id, t.pid AS id, n.text AS name," \
	" coalesce(cs.text, n.text) AS command, cl.text AS command_line, " TIMES "{call}, {values}" \
	", t.parent AS parent_unique_id, t.user_cpu_ns AS user_cpu_time," \
	" t.kernel_cpu_ns AS kernel_cpu_time" \
	" FROM process t LEFT JOIN text n ON n.id = t.name" \
	" LEFT JOIN text cs ON cs.id = t.command LEFT JOIN text cl ON cl.id = t.command_line{join}" \
	" ORDER BY {order}, t.id;"

#define VIEW_THREADS \
	"CREATE VIEW threads AS" \
	" SELECT t.id AS unique_id, t.tid AS id, coalesce(f.name, n.text) AS name, " \
	TIMES ", " PROCESS_COLUMNS ", n.text AS thread_name{call}, {values}" \
	", t.process AS process_unique_id" \
	" FROM thread t" PROCESS_JOINS \
	" LEFT JOIN text n ON n.id = t.name LEFT JOIN function f ON f.id = t.start{join}" \
	" ORDER BY {order}, t.id;"

/* A heaviest child directly follows its parent, so the hot path is a run of ids. */
/* As dw_hot_path_find() ends the path. */
#define HEAVY_PART "iif(a.level, 2, 10) * "
#define HEAVY_INCLUSIVE HEAVY_PART "c.inclusive >= a.inclusive"
#define WORK(t) "(SELECT work_inclusive_ns FROM total WHERE id = " t ".total)"
#define HEAVY_WORK HEAVY_PART WORK("c") " >= " WORK("a")
/* How rows are ordered where no rank tells. */
#define BY_MAIN "t.exclusive DESC, t.inclusive DESC"
#define BY_WORK "c.work_exclusive_ns DESC, c.work_inclusive_ns DESC"
#define WAITS_MORE \
	" UNION ALL SELECT * FROM (" \
	"SELECT 'Functions Waiting Longest', 0, f.name, mn.text, t.processes, {values}" \
	" FROM work t" FUNCTION_JOIN MODULE_JOINS("f.module") "{work join}" \
	" WHERE c.blocked_exclusive_ns ORDER BY c.blocked_exclusive_ns DESC," \
	" c.blocked_inclusive_ns DESC, t.rank LIMIT 8)"
#define TYPES_BY(section, by) \
	" UNION ALL SELECT * FROM (SELECT '" section "', 0, tn.text, mn.text, c.processes, {values}" \
	" FROM (SELECT min(t.rank) AS rank, t.module AS module, t.name AS name," \
	" count(*) AS processes{sums} FROM type t{join} GROUP BY t.name) c" \
	" LEFT JOIN text tn ON tn.id = c.name" MODULE_JOINS("c.module") \
	" WHERE c." by " ORDER BY c." by " DESC, c.rank LIMIT 8)"
#define ALLOCS_MORE \
	TYPES_BY("Types with Most Memory Allocated", "bytes_inclusive") \
	TYPES_BY("Types with Most Instances", "objects_inclusive") \
	TYPES_BY("Types with Most Memory Collected in Gen 2", "gen_2_bytes")
#define VIEW_SUMMARY \
	"CREATE VIEW summary AS" \
	" WITH RECURSIVE hot (id) AS (SELECT min(id) FROM node UNION ALL" \
	" SELECT c.id FROM hot JOIN node a ON a.id = hot.id" \
	" JOIN node c ON c.id = a.id + 1 AND c.parent = a.id" \
	" AND {heavy})," \
	" work AS (SELECT min(t.rank) AS rank, t.function AS function, count(*) AS processes," \
	" sum(t.inclusive) AS inclusive, sum(t.exclusive) AS exclusive{sums}" \
	" FROM function_total t" FUNCTION_JOIN "{join}" \
	" GROUP BY iif(t.function < 0, f.name, t.function))" \
	" SELECT * FROM (SELECT 'Hot Path' AS section, t.level AS level, " \
	NODE_NAME " AS name, mn.text AS module_name, NULL AS number_of_processes{call}, {values}" \
	" FROM hot JOIN node t ON t.id = hot.id" PROCESS_JOINS FUNCTION_JOIN \
	MODULE_JOINS("f.module") "{join} ORDER BY t.id)" \
	" UNION ALL SELECT * FROM (" \
	"SELECT '{work}', 0, f.name, mn.text, t.processes{call}, {values}" \
	" FROM work t" FUNCTION_JOIN MODULE_JOINS("f.module") "{work join}" \
	" ORDER BY NOT t.function, {order}, t.rank LIMIT 8){more};"

/* But for the call path. */
#define SLOW_SHOWN(name, view, value) ", t." #name " AS " #view
#define VIEW_SLOWEST \
	"CREATE VIEW slowest AS" \
	" SELECT " GEN("f.name") ", h.tid AS id" DW_SLOW_COLUMNS(SLOW_SHOWN, NULL) \
	" FROM slow t LEFT JOIN thread h ON h.id = t.thread" GEN_JOINS("f.file") \
	" ORDER BY t.rank;"

#define VIEW_FILE_IO \
	"CREATE VIEW file_io AS" \
	" SELECT coalesce(ft.text, '[other files]') AS file, " GEN("f.name") \
	", t.reads AS reads, t.bytes_read AS bytes_read, t.writes AS writes," \
	" t.bytes_written AS bytes_written, t.io_ns AS io_time" \
	" FROM io t" GEN_JOINS("f.file") " LEFT JOIN text ft ON ft.id = t.file" \
	" ORDER BY t.rank;"

/* Views of types and of collections. */
#define TYPE_JOINS \
	PROCESS_JOINS " LEFT JOIN text tn ON tn.id = t.name" MODULE_JOINS("t.module") "{join}"
#define VIEWS_ALLOCS \
	"CREATE VIEW allocations AS" \
	" SELECT tn.text AS name, " PROCESS_COLUMNS ", mn.text AS module_name," \
	" mp.text AS module_path, NULL AS source_file, NULL AS function_line_number, 0 AS level, {values}" \
	" FROM type t" TYPE_JOINS " ORDER BY t.rank;" \
	"CREATE VIEW lifetime AS" \
	" SELECT tn.text AS class_name, " PROCESS_COLUMNS ", mn.text AS module_name," \
	" mp.text AS module_path, c.objects_inclusive AS instances, " \
	DW_SQL_SHARE("c.objects_inclusive", "inclusive_allocations") \
	" AS total_instances_percent, {objects}," \
	" c.bytes_inclusive AS total_bytes_allocated, " \
	DW_SQL_SHARE("c.bytes_inclusive", "inclusive_bytes") \
	" AS total_bytes_percent, {bytes}, {heaps}" \
	" FROM type t" TYPE_JOINS " ORDER BY t.rank;" \
	"CREATE VIEW gc AS" \
	" SELECT t.number AS gc_number, " PROCESS_COLUMNS ", th.tid AS id," \
	" t.begin_ns AS begin_time, t.generation AS generation," \
	" iif(t.blocking, iif(t.compacting, 'blocking, compacting', 'blocking'), 'background')" \
	" AS gc_type, r.text AS gc_reason, t.pause_ns AS pause_duration," \
	" t.added_ns AS pause_added," \
	" t.heap_before AS heap_bytes_before, t.heap_after AS heap_bytes_after," \
	" t.promoted AS promoted_bytes, f.text AS function_name FROM collection t" PROCESS_JOINS \
	" LEFT JOIN thread th ON th.id = t.thread LEFT JOIN text r ON r.id = t.reason" \
	" LEFT JOIN text f ON f.id = t.function" \
	" ORDER BY t.begin_ns;"

/* Waits beside samples, all kinds. */
#define WAITS_TABLE "CREATE TABLE wait (kind TEXT PRIMARY KEY, ns INTEGER, threads INTEGER);"
#define VIEW_WAITS \
	"CREATE VIEW waits AS" \
	" SELECT kind AS waits_for, ns AS wait_time," \
	" 100.0 * ns / max(1, (SELECT sum(ns) FROM wait)) AS wait_time_percent," \
	" threads AS number_of_threads FROM wait ORDER BY ns DESC;"

static const char tables_sql[] = TABLES;

static const char waits_table_sql[] = WAITS_TABLE;

static const char waits_view_sql[] = VIEW_WAITS;

static const char views_sql[] =
	VIEW_FUNCTIONS VIEW_CALLTREE VIEW_CALLERS VIEW_STATEMENT VIEW_MODULES VIEW_LINES
	VIEW_INSTRUCTIONS VIEW_PROCESSES VIEW_THREADS VIEW_SUMMARY VIEW_SLOWEST
	VIEW_FILE_IO;

static const char alloc_tables_sql[] = ALLOCS_TABLES;

static const char alloc_views_sql[] = VIEWS_ALLOCS;

const char dw_schema_chunk_sql[] = CHUNK_SQL;

const char dw_schema_start_sql[] =
	"PRAGMA application_id = 0x6477656c; PRAGMA user_version = 1;" CHUNK_SQL ";";

/* clang-format on */

static void put_sql(struct dw_buf *b, const char *sql, dw_measures set);

/* Whether waits were recorded beside samples. */
static bool has_waits(dw_measures set)
{
	return !dw_measures_has(set, DWELL_MEASURE_CALLS) &&
	       dw_measures_has(set, DWELL_MEASURE_BLOCKED);
}

/* Whether these are added to samples of time. */
static bool has_work(dw_measures set)
{
	return has_waits(set) && dw_measures_has(set, DWELL_MEASURE_WORK);
}

/* Append what stands for the @n bytes at @name. */
static void put_place(struct dw_buf *b, const char *name, size_t n, dw_measures set)
{
	const bool has_calls = dw_measures_has(set, DWELL_MEASURE_CALLS);
	const bool has_objects = dw_measures_has(set, DWELL_MEASURE_OBJECTS);
	const bool has_total = dw_amount_table_needed(set);
	const struct {
		const char *name, *text;
		enum dw_amount_columns columns; /* in place of a text */
	} places[] = {
		{"call", NULL, DWELL_SQL_CALL},
		{"values", NULL, DWELL_SQL_VALUES},
		{"only", NULL, DWELL_SQL_FUNCTIONS},
		{"sums", NULL, DWELL_SQL_SUMS},
		{"objects", NULL, DWELL_SQL_OBJECTS},
		{"bytes", NULL, DWELL_SQL_BYTES},
		{"heaps", NULL, DWELL_SQL_HEAPS},
		{"join", has_total ? TOTAL_JOIN : "", 0},
		{"work join", has_total ? WORK_JOIN : "", 0},
		{"deeper", has_calls ? "" : DEEPER, 0},
		{"heavy", has_work(set) ? HEAVY_WORK : HEAVY_INCLUSIVE, 0},
		{"order", has_work(set) ? BY_WORK : BY_MAIN, 0},
		{"more",
		 has_waits(set) ? WAITS_MORE
		 : has_objects	? ALLOCS_MORE
				: "",
		 0},
		{"work",
		 has_calls     ? "Functions with Most Individual Work"
		 : has_objects ? "Functions Allocating Most Memory"
			       : "Functions Doing Most Individual Work",
		 0},
	};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (!strncmp(places[i].name, name, n) && !places[i].name[n]) {
			if (places[i].text)
				put_sql(b, places[i].text, set);
			else
				dw_amount_columns(b, set, places[i].columns);
		}
}

/* Append @sql with all that stands for its places. */
static void put_sql(struct dw_buf *b, const char *sql, dw_measures set)
{
	const char *place;

	for (; (place = strchr(sql, '{')); sql += strcspn(sql, "}") + 1) {
		dw_buf_put(b, sql, (size_t)(place - sql));
		sql = place + 1;
		put_place(b, sql, strcspn(sql, "}"), set);
	}
	dw_buf_puts(b, sql);
}

int dw_schema_make(struct dw_database *db, dw_measures set, struct dw_error *err)
{
	const bool has_objects = dw_measures_has(set, DWELL_MEASURE_OBJECTS);
	dw_auto(dw_buf) sql = DW_BUF_INIT;

	dw_buf_puts(&sql, tables_sql);
	if (has_waits(set))
		dw_buf_puts(&sql, waits_table_sql);
	if (has_objects)
		dw_buf_puts(&sql, alloc_tables_sql);
	put_sql(&sql, views_sql, set);
	if (has_waits(set))
		dw_buf_puts(&sql, waits_view_sql);
	if (has_objects)
		put_sql(&sql, alloc_views_sql, set);
	return sql.failed ? dw_error_set(err, -ENOMEM, "no memory to finish the session")
			  : dw_database_exec(db, dw_buf_str(&sql), err);
}
