/*
 * The schema; see database.h and docs/session-format.md.
 *
 * Chunks hold the profile, and dwell itself reads nothing else. The other tables hold its totals
 * for SQL: integer keys everywhere, each text once, no index but the row ids. Rows are inserted
 * heaviest first, so a table's row id is its rank. Columns that several views share are macros,
 * named as in the document of the columns: GEN, LOC, TIM. Sessions of all methods have the
 * same tables and the same views, but for the columns of values; those of allocations have some
 * more.
 */
#include "session/database.h"

/* The formatter cannot lay out SQL. */
/* clang-format off */

#define CHUNK_SQL \
	"CREATE TABLE chunk (id INTEGER PRIMARY KEY, kind TEXT, items INTEGER," \
	" raw_bytes INTEGER, checksum INTEGER, data BLOB)"

#define SLOW_TABLE \
	"CREATE TABLE slow (rank INTEGER PRIMARY KEY, process INTEGER, thread INTEGER," \
	" function INTEGER, begin_ns INTEGER, overhead_ns INTEGER, elapsed_inclusive_ns INTEGER," \
	" elapsed_exclusive_ns INTEGER, application_inclusive_ns INTEGER," \
	" application_exclusive_ns INTEGER, callees_ns INTEGER, io_ns INTEGER," \
	" blocking_ns INTEGER, switched_ns INTEGER, blocked_inclusive_ns INTEGER," \
	" blocked_exclusive_ns INTEGER, switches INTEGER, io_calls INTEGER," \
	" blocking_calls INTEGER);"

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
	SLOW_TABLE

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

/*
 * The values of a row t of samples: what stands before the columns `level` and `type`, the values,
 * and the join that they need.
 */
#define PERCENT(value, of) "100.0 * " value " / (SELECT value FROM fact WHERE key = '" of "')"
#define SAMPLES_CALL
#define SAMPLES_VALUES \
	"t.inclusive AS inclusive_samples," \
	PERCENT("t.inclusive", "samples_kept") " AS inclusive_samples_percent," \
	" t.exclusive AS exclusive_samples," \
	PERCENT("t.exclusive", "samples_kept") " AS exclusive_samples_percent"
#define SAMPLES_JOIN

/* What else was measured of t. */
#define TOTAL_JOIN " LEFT JOIN total c ON c.id = t.total"

/* The same of samples and waits. */
#define WAITS_VALUES \
	SAMPLES_VALUES ", c.blocked_inclusive_ns AS inclusive_blocked_time, " \
	SHARE("c.blocked_inclusive_ns", "inclusive_blocked_time") " AS inclusive_blocked_time_percent," \
	" c.blocked_exclusive_ns AS exclusive_blocked_time, " \
	SHARE("c.blocked_exclusive_ns", "inclusive_blocked_time") " AS exclusive_blocked_time_percent"
#define WAITS_JOIN TOTAL_JOIN
#define WAITS_SUMS SUM("blocked_inclusive_ns") SUM("blocked_exclusive_ns")
#define WAITS_SUMS_JOIN CALLS_SUMS_JOIN
/* The same of calls. An average without calls divides by 0, which is NULL. */
#define SHARE(value, of) \
	"100.0 * " value " / max(1, (SELECT value FROM fact WHERE key = '" of "'))"
#define TIM(what, of, count) \
	"c." what "_ns AS " what "_time, " \
	SHARE("c." what "_ns", of) " AS " what "_time_percent," \
	" (c." what "_ns + c." count " / 2) / c." count " AS avg_" what "_time," \
	" c." what "_max_ns AS max_" what "_time, c." what "_min_ns AS min_" what "_time, "
#define CALLS_CALL \
	", c.calls AS number_of_calls, c.overhead_exclusive_ns AS time_exclusive_probe_overhead," \
	" c.overhead_inclusive_ns AS time_inclusive_probe_overhead"
#define CALLS_VALUES \
	TIM("elapsed_inclusive", "elapsed_inclusive_time", "outer_calls") \
	TIM("elapsed_exclusive", "elapsed_inclusive_time", "measured") \
	TIM("application_inclusive", "application_inclusive_time", "outer_calls") \
	TIM("application_exclusive", "application_inclusive_time", "measured") \
	"c.blocked_inclusive_ns AS inclusive_blocked_time, " \
	SHARE("c.blocked_inclusive_ns", "inclusive_blocked_time") \
	" AS inclusive_blocked_time_percent," \
	" c.blocked_exclusive_ns AS exclusive_blocked_time, " \
	SHARE("c.blocked_exclusive_ns", "inclusive_blocked_time") \
	" AS exclusive_blocked_time_percent, c.switches_exclusive AS context_switches," \
	" c.io_calls_exclusive AS io_calls, c.blocking_calls_exclusive AS blocking_calls"
#define CALLS_JOIN TOTAL_JOIN
/* The same of several rows together, as columns of the same names. */
#define SUM(column) ", sum(c." column ") AS " column
#define SUM_VALUES(way) \
	SUM("elapsed_" way "_ns") SUM("application_" way "_ns") SUM("overhead_" way "_ns") \
	SUM("blocked_" way "_ns") SUM("switches_" way) SUM("io_calls_" way) \
	SUM("blocking_calls_" way)
#define WIDEST(what) \
	", min(c." what "_min_ns) AS " what "_min_ns, max(c." what "_max_ns) AS " what "_max_ns"
#define SAMPLES_SUMS
#define CALLS_SUMS \
	SUM("calls") SUM("outer_calls") SUM("measured") SUM_VALUES("inclusive") SUM_VALUES("exclusive") \
	WIDEST("elapsed_inclusive") WIDEST("elapsed_exclusive") \
	WIDEST("application_inclusive") WIDEST("application_exclusive")
#define SAMPLES_SUMS_JOIN
#define CALLS_SUMS_JOIN " JOIN work c ON c.rank = t.rank"

/* The same of allocations. What became of objects is of the inclusive part. */
#define BOTH(what, name, of) \
	"c." what " AS " name ", " SHARE("c." what, of) " AS " name "_percent, "
#define ALIVE(what) \
	"c." what "_inclusive - c.gen_0_" what " - c.gen_1_" what " - c.gen_2_" what \
	" - c.large_" what " - c.pinned_" what
#define DIED(what, name, end) \
	"c.gen_0_" what " AS gen_0_" name "_collected, c.gen_1_" what " AS gen_1_" name \
	"_collected, c.gen_2_" what " AS gen_2_" name "_collected, " ALIVE(what) " AS " end ", "
#define HEAPS \
	"c.large_objects AS large_object_heap_instances_collected," \
	" c.large_bytes AS large_object_heap_bytes_collected," \
	" c.pinned_objects AS pinned_object_heap_instances_collected," \
	" c.pinned_bytes AS pinned_object_heap_bytes_collected"
#define ALLOCS_CALL
#define ALLOCS_VALUES \
	BOTH("objects_inclusive", "inclusive_allocations", "inclusive_allocations") \
	BOTH("objects_exclusive", "exclusive_allocations", "inclusive_allocations") \
	BOTH("bytes_inclusive", "inclusive_bytes", "inclusive_bytes") \
	BOTH("bytes_exclusive", "exclusive_bytes", "inclusive_bytes") \
	DIED("objects", "instances", "instances_alive_at_end") \
	DIED("bytes", "bytes", "bytes_alive_at_end") HEAPS
#define ALLOCS_JOIN TOTAL_JOIN
#define BOTH_SUMS(what) SUM("objects_" what) SUM("bytes_" what)
#define HEAP_SUMS(heap) SUM(heap "_objects") SUM(heap "_bytes")
#define ALLOCS_SUMS \
	BOTH_SUMS("inclusive") BOTH_SUMS("exclusive") HEAP_SUMS("gen_0") HEAP_SUMS("gen_1") \
	HEAP_SUMS("gen_2") HEAP_SUMS("large") HEAP_SUMS("pinned")
#define ALLOCS_SUMS_JOIN CALLS_SUMS_JOIN
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

#define VIEW_FUNCTIONS(CALL, VALUES, JOIN, ONLY) \
	"CREATE VIEW functions AS" \
	" SELECT " GEN("f.name") CALL ", " VALUES ONLY \
	" FROM function_total t" GEN_JOINS("f.file") JOIN " ORDER BY t.rank;"

#define VIEW_CALLTREE(CALL, VALUES, JOIN) \
	"CREATE VIEW calltree AS" \
	" SELECT " GEN(NODE_NAME) CALL ", t.level AS level, " VALUES \
	", t.id AS node, t.parent AS parent" \
	" FROM node t" GEN_JOINS("f.file") JOIN " ORDER BY t.id;"

/* The relations of each function: who called it (1), itself (0), whom it called (2). */
#define VIEW_CALLERS(CALL, VALUES, JOIN) \
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
	CALL ", t.type AS type, r.name AS root_function_name, " VALUES \
	" FROM t" GEN_JOINS("f.file") JOIN " LEFT JOIN function r ON r.id = t.root" \
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

#define VIEW_LINES(CALL, VALUES, JOIN) \
	"CREATE VIEW lines AS" \
	" SELECT " GEN("f.name") ", " LOC ", " LINE_NAME " AS line_name" CALL ", " VALUES \
	" FROM statement t" GEN_JOINS("t.file") JOIN \
	" ORDER BY t.exclusive DESC, t.inclusive DESC, t.id;"

#define VIEW_INSTRUCTIONS(CALL, VALUES, JOIN) \
	"CREATE VIEW instructions AS" \
	" WITH t (rank, process, function, file, line, line_end, column, column_end, offset," \
	" inclusive, exclusive, total) AS (" \
	"SELECT i.rank, l.process, l.function, l.file, l.line, l.line_end, l.column," \
	" l.column_end, i.offset, i.inclusive, i.exclusive, i.total" \
	" FROM instruction i JOIN statement l ON l.id = i.statement)" \
	" SELECT " GEN("f.name") ", " LOC ", " ADDRESS " AS instruction_address" CALL ", " VALUES \
	" FROM t" GEN_JOINS("t.file") JOIN " ORDER BY t.rank;"

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
#define SAMPLES_DEEPER \
	" UNION ALL " \
	"SELECT 2, l.process, f.module, l.function, l.file, l.line, NULL, " KEYS_TO_FUNCTION \
	KEY("l", "id") ", NULL, NULL, l.inclusive, l.exclusive, l.total" \
	" FROM statement l" MODULE_TOTAL("l") FUNCTION_TOTAL("l") \
	" UNION ALL " \
	"SELECT 3, l.process, f.module, l.function, l.file, l.line, i.offset, " \
	KEYS_TO_FUNCTION KEY("l", "id") ", " KEY("i", "rank") ", i.inclusive, i.exclusive, i.total" \
	" FROM instruction i JOIN statement l ON l.id = i.statement" \
	MODULE_TOTAL("l") FUNCTION_TOTAL("l")
#define CALLS_DEEPER
#define ALLOCS_DEEPER SAMPLES_DEEPER
#define NAME_OF_MODULE "coalesce(mn.text, iif(t.module = 4294967295, '[threads]', '[unknown]'))"
#define VIEW_MODULES(CALL, VALUES, JOIN, DEEPER) \
	"CREATE VIEW modules AS" \
	" WITH t (level, process, module, function, file, line, offset, k0, i1, k1, i2, k2, i3, k3," \
	" inclusive, exclusive, total) AS (" \
	"SELECT 0, b.process, b.module, NULL, NULL, NULL, NULL, b.rank," \
	" NULL, NULL, NULL, NULL, NULL, NULL, b.inclusive, b.exclusive, b.total FROM module_total b" \
	" UNION ALL " \
	"SELECT 1, a.process, f.module, a.function, f.file, NULL, NULL, " KEYS_TO_FUNCTION \
	"NULL, NULL, NULL, NULL, a.inclusive, a.exclusive, a.total" \
	" FROM function_total a" MODULE_TOTAL("a") \
	DEEPER \
	") SELECT CASE t.level WHEN 0 THEN " NAME_OF_MODULE " WHEN 1 THEN f.name" \
	" WHEN 2 THEN coalesce('line ' || t.line, 'no line') ELSE " ADDRESS " END AS name, " \
	PROCESS_COLUMNS ", iif(t.function < 0, NULL, " NAME_OF_MODULE ") AS module_name," \
	" mp.text AS module_path, sf.text AS source_file, f.line AS function_line_number," \
	" t.level AS level" CALL ", " VALUES \
	" FROM t" PROCESS_JOINS FUNCTION_JOIN MODULE_JOINS("t.module") FILE_JOIN("t.file") JOIN \
	" ORDER BY t.k0, t.i1, t.k1, t.i2, t.k2, t.i3, t.k3;"

#define VIEW_PROCESSES(CALL, VALUES, JOIN) \
	"CREATE VIEW processes AS" \
	" SELECT t.id AS unique_id, t.pid AS id, n.text AS name," \
	" coalesce(cs.text, n.text) AS command, cl.text AS command_line, " TIMES CALL ", " VALUES \
	", t.parent AS parent_unique_id, t.user_cpu_ns AS user_cpu_time," \
	" t.kernel_cpu_ns AS kernel_cpu_time" \
	" FROM process t LEFT JOIN text n ON n.id = t.name" \
	" LEFT JOIN text cs ON cs.id = t.command LEFT JOIN text cl ON cl.id = t.command_line" JOIN \
	" ORDER BY t.exclusive DESC, t.inclusive DESC, t.id;"

#define VIEW_THREADS(CALL, VALUES, JOIN) \
	"CREATE VIEW threads AS" \
	" SELECT t.id AS unique_id, t.tid AS id, coalesce(f.name, n.text) AS name, " \
	TIMES ", " PROCESS_COLUMNS ", n.text AS thread_name" CALL ", " VALUES \
	", t.process AS process_unique_id" \
	" FROM thread t" PROCESS_JOINS \
	" LEFT JOIN text n ON n.id = t.name LEFT JOIN function f ON f.id = t.start" JOIN \
	" ORDER BY t.exclusive DESC, t.inclusive DESC, t.id;"

/* A heaviest child directly follows its parent, so the hot path is a run of ids. */
#define SAMPLES_WORK "'Functions Doing Most Individual Work'"
#define CALLS_WORK "'Functions with Most Individual Work'"
#define ALLOCS_WORK "'Functions Allocating Most Memory'"
#define HEAVY_INCLUSIVE "2 * c.inclusive >= a.inclusive"
#define BLOCKED(t) "(SELECT blocked_inclusive_ns FROM total WHERE id = " t ".total)"
/* Where nobody waited, as without waits. */
#define HEAVY_BLOCKED \
	"CASE " BLOCKED("a") " WHEN 0 THEN " HEAVY_INCLUSIVE \
	" ELSE 2 * " BLOCKED("c") " >= " BLOCKED("a") " END"
#define SAMPLES_MORE
#define WAITS_MORE \
	" UNION ALL SELECT * FROM (" \
	"SELECT 'Functions Waiting Longest', 0, f.name, mn.text, t.processes, " WAITS_VALUES \
	" FROM work t" FUNCTION_JOIN MODULE_JOINS("f.module") WAITS_SUMS_JOIN \
	" WHERE c.blocked_exclusive_ns ORDER BY c.blocked_exclusive_ns DESC," \
	" c.blocked_inclusive_ns DESC, t.rank LIMIT 8)"
#define CALLS_MORE
#define TYPES_BY(section, by) \
	" UNION ALL SELECT * FROM (SELECT '" section "', 0, tn.text, mn.text, c.processes, " \
	ALLOCS_VALUES \
	" FROM (SELECT min(t.rank) AS rank, t.module AS module, t.name AS name," \
	" count(*) AS processes" ALLOCS_SUMS " FROM type t" ALLOCS_JOIN " GROUP BY t.name) c" \
	" LEFT JOIN text tn ON tn.id = c.name" MODULE_JOINS("c.module") \
	" WHERE c." by " ORDER BY c." by " DESC, c.rank LIMIT 8)"
#define ALLOCS_MORE \
	TYPES_BY("Types with Most Memory Allocated", "bytes_inclusive") \
	TYPES_BY("Types with Most Instances", "objects_inclusive") \
	TYPES_BY("Types with Most Memory Collected in Gen 2", "gen_2_bytes")
#define VIEW_SUMMARY(CALL, VALUES, JOIN, WORK, SUMS, SUMS_JOIN, MORE, HEAVY) \
	"CREATE VIEW summary AS" \
	" WITH RECURSIVE hot (id) AS (SELECT min(id) FROM node UNION ALL" \
	" SELECT c.id FROM hot JOIN node a ON a.id = hot.id" \
	" JOIN node c ON c.id = a.id + 1 AND c.parent = a.id" \
	" AND " HEAVY ")," \
	" work AS (SELECT min(t.rank) AS rank, t.function AS function, count(*) AS processes," \
	" sum(t.inclusive) AS inclusive, sum(t.exclusive) AS exclusive" SUMS \
	" FROM function_total t" FUNCTION_JOIN JOIN \
	" GROUP BY iif(t.function < 0, f.name, t.function))" \
	" SELECT * FROM (SELECT 'Hot Path' AS section, t.level AS level, " \
	NODE_NAME " AS name, mn.text AS module_name, NULL AS number_of_processes" CALL ", " VALUES \
	" FROM hot JOIN node t ON t.id = hot.id" PROCESS_JOINS FUNCTION_JOIN \
	MODULE_JOINS("f.module") JOIN " ORDER BY t.id)" \
	" UNION ALL SELECT * FROM (" \
	"SELECT " WORK ", 0, f.name, mn.text, t.processes" CALL ", " VALUES \
	" FROM work t" FUNCTION_JOIN MODULE_JOINS("f.module") SUMS_JOIN \
	" ORDER BY NOT t.function, t.exclusive DESC, t.inclusive DESC, t.rank LIMIT 8)" MORE ";"

/* But for the call path. */
#define VIEW_SLOWEST \
	"CREATE VIEW slowest AS" \
	" SELECT " GEN("f.name") ", h.tid AS id, t.begin_ns AS begin_time," \
	" t.overhead_ns AS time_inclusive_probe_overhead," \
	" t.elapsed_inclusive_ns AS elapsed_inclusive_time," \
	" t.elapsed_exclusive_ns AS elapsed_exclusive_time," \
	" t.application_inclusive_ns AS application_inclusive_time," \
	" t.application_exclusive_ns AS application_exclusive_time," \
	" t.callees_ns AS callees_application_time, t.io_ns AS io_time," \
	" t.blocking_ns AS blocking_call_time, t.switched_ns AS switched_away_time," \
	" t.blocked_inclusive_ns AS inclusive_blocked_time," \
	" t.blocked_exclusive_ns AS exclusive_blocked_time," \
	" t.switches AS context_switches, t.io_calls AS io_calls," \
	" t.blocking_calls AS blocking_calls" \
	" FROM slow t LEFT JOIN thread h ON h.id = t.thread" GEN_JOINS("f.file") \
	" ORDER BY t.rank;"

/* Views of types and of collections. */
#define TYPE_JOINS \
	PROCESS_JOINS " LEFT JOIN text tn ON tn.id = t.name" MODULE_JOINS("t.module") ALLOCS_JOIN
#define VIEWS_ALLOCS \
	"CREATE VIEW allocations AS" \
	" SELECT tn.text AS name, " PROCESS_COLUMNS ", mn.text AS module_name," \
	" mp.text AS module_path, NULL AS source_file, NULL AS function_line_number, 0 AS level, " \
	ALLOCS_VALUES " FROM type t" TYPE_JOINS " ORDER BY t.rank;" \
	"CREATE VIEW lifetime AS" \
	" SELECT tn.text AS class_name, " PROCESS_COLUMNS ", mn.text AS module_name," \
	" mp.text AS module_path, c.objects_inclusive AS instances, " \
	SHARE("c.objects_inclusive", "inclusive_allocations") " AS total_instances_percent, " \
	DIED("objects", "instances", "instances_alive_at_end") \
	"c.bytes_inclusive AS total_bytes_allocated, " \
	SHARE("c.bytes_inclusive", "inclusive_bytes") " AS total_bytes_percent, " \
	DIED("bytes", "bytes", "bytes_alive_at_end") HEAPS \
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

#define VIEWS(CALL, VALUES, JOIN, DEEPER, WORK, SUMS, SUMS_JOIN, MORE, ONLY, HEAVY) \
	VIEW_FUNCTIONS(CALL, VALUES, JOIN, ONLY) \
	VIEW_CALLTREE(CALL, VALUES, JOIN) \
	VIEW_CALLERS(CALL, VALUES, JOIN) \
	VIEW_STATEMENT \
	VIEW_MODULES(CALL, VALUES, JOIN, DEEPER) \
	VIEW_LINES(CALL, VALUES, JOIN) \
	VIEW_INSTRUCTIONS(CALL, VALUES, JOIN) \
	VIEW_PROCESSES(CALL, VALUES, JOIN) \
	VIEW_THREADS(CALL, VALUES, JOIN) \
	VIEW_SUMMARY(CALL, VALUES, JOIN, WORK, SUMS, SUMS_JOIN, MORE, HEAVY) \
	VIEW_SLOWEST

const char dw_schema_chunk_sql[] = CHUNK_SQL;

const char dw_schema_start_sql[] =
	"PRAGMA application_id = 0x6477656c; PRAGMA user_version = 1;" CHUNK_SQL ";";

const char dw_schema_samples_sql[] =
	TABLES VIEWS(SAMPLES_CALL, SAMPLES_VALUES, SAMPLES_JOIN, SAMPLES_DEEPER, SAMPLES_WORK,
	      SAMPLES_SUMS, SAMPLES_SUMS_JOIN, SAMPLES_MORE, , HEAVY_INCLUSIVE);

const char dw_schema_waits_sql[] =
	TABLES VIEWS(SAMPLES_CALL, WAITS_VALUES, WAITS_JOIN, SAMPLES_DEEPER,
	      SAMPLES_WORK, WAITS_SUMS, WAITS_SUMS_JOIN, WAITS_MORE, , HEAVY_BLOCKED);

const char dw_schema_calls_sql[] =
	TABLES VIEWS(CALLS_CALL, CALLS_VALUES, CALLS_JOIN, CALLS_DEEPER, CALLS_WORK,
	      CALLS_SUMS, CALLS_SUMS_JOIN, CALLS_MORE,
	      ", c.switched_off_ns AS switched_off_at, c.calls - c.measured AS calls_only_counted",
	      HEAVY_INCLUSIVE);

const char dw_schema_allocs_sql[] =
	TABLES ALLOCS_TABLES VIEWS(ALLOCS_CALL, ALLOCS_VALUES, ALLOCS_JOIN, ALLOCS_DEEPER,
	      ALLOCS_WORK, ALLOCS_SUMS, ALLOCS_SUMS_JOIN, ALLOCS_MORE, , HEAVY_INCLUSIVE) VIEWS_ALLOCS;
