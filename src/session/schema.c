/*
 * The schema; see schema.h and docs/session-format.md.
 *
 * Chunks hold the profile, and dwell itself reads nothing else. The other tables hold its totals
 * for SQL: integer keys everywhere, each text once, no index but the row ids. Rows are inserted
 * heaviest first, so a table's row id is its rank. Columns that several views share are macros,
 * named as in the document of the columns: GEN, SMP, LOC.
 */
#include "session/schema.h"

/* The formatter cannot lay out SQL. */
/* clang-format off */

#define CHUNK_SQL \
	"CREATE TABLE chunk (id INTEGER PRIMARY KEY, kind TEXT, items INTEGER," \
	" raw_bytes INTEGER, checksum INTEGER, data BLOB)"

#define TABLES \
	CHUNK_SQL ";" \
	"CREATE TABLE fact (key TEXT PRIMARY KEY, value) WITHOUT ROWID;" \
	"CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT);" \
	"CREATE TABLE module (id INTEGER PRIMARY KEY, kind INTEGER, path INTEGER," \
	" name INTEGER, build_id TEXT, deleted INTEGER, device INTEGER, inode INTEGER);" \
	"CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, parent INTEGER," \
	" name INTEGER, begin_ns INTEGER, end_ns INTEGER, user_cpu_ns INTEGER," \
	" kernel_cpu_ns INTEGER, inclusive INTEGER, exclusive INTEGER);" \
	"CREATE TABLE thread (id INTEGER PRIMARY KEY, process INTEGER, tid INTEGER," \
	" name INTEGER, start INTEGER, begin_ns INTEGER, end_ns INTEGER," \
	" inclusive INTEGER, exclusive INTEGER);" \
	"CREATE TABLE function (id INTEGER PRIMARY KEY, module INTEGER, name TEXT," \
	" file INTEGER, line INTEGER, address INTEGER);" \
	"CREATE TABLE function_total (rank INTEGER PRIMARY KEY, process INTEGER," \
	" function INTEGER, inclusive INTEGER, exclusive INTEGER, lines INTEGER);" \
	"CREATE TABLE module_total (rank INTEGER PRIMARY KEY, process INTEGER," \
	" module INTEGER, inclusive INTEGER, exclusive INTEGER);" \
	"CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER, process INTEGER," \
	" function INTEGER, level INTEGER, inclusive INTEGER, exclusive INTEGER);" \
	"CREATE TABLE edge (rank INTEGER PRIMARY KEY, process INTEGER, caller INTEGER," \
	" callee INTEGER, inclusive INTEGER, exclusive INTEGER);" \
	"CREATE TABLE line (rank INTEGER PRIMARY KEY, process INTEGER, function INTEGER," \
	" file INTEGER, line INTEGER, line_end INTEGER, column INTEGER," \
	" column_end INTEGER, inclusive INTEGER, exclusive INTEGER);" \
	"CREATE TABLE instruction (rank INTEGER PRIMARY KEY, statement INTEGER," \
	" offset INTEGER, inclusive INTEGER, exclusive INTEGER);"

/* Groups of columns of a row t, and the joins that they need. */
#define PROCESS_COLUMNS "p.pid AS process_id, pn.text AS process_name"
#define PROCESS_JOINS " JOIN process p ON p.id = t.process LEFT JOIN text pn ON pn.id = p.name"
#define MODULE_JOINS(id) \
	" LEFT JOIN module m ON m.id = " id \
	" LEFT JOIN text mn ON mn.id = m.name" \
	" LEFT JOIN text mp ON mp.id = m.path"
#define FUNCTION_JOIN " LEFT JOIN function f ON f.id = t.function"
#define FILE_JOIN(id) " LEFT JOIN text sf ON sf.id = " id
#define GEN(name) \
	PROCESS_COLUMNS \
	", iif(f.id IS NULL, mn.text, coalesce(mn.text, '[unknown]')) AS module_name," \
	" mp.text AS module_path, sf.text AS source_file, " name " AS function_name," \
	" f.line AS function_line_number," \
	" iif(f.id IS NULL, NULL, printf('0x%x', f.address)) AS function_address"
#define GEN_JOINS(file) PROCESS_JOINS FUNCTION_JOIN MODULE_JOINS("f.module") FILE_JOIN(file)
#define KEPT "(SELECT value FROM fact WHERE key = 'samples_kept')"
#define SMP \
	"t.inclusive AS inclusive_samples," \
	" 100.0 * t.inclusive / " KEPT " AS inclusive_samples_percent," \
	" t.exclusive AS exclusive_samples," \
	" 100.0 * t.exclusive / " KEPT " AS exclusive_samples_percent"
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
	" SELECT " GEN("f.name") ", " SMP \
	" FROM function_total t" GEN_JOINS("f.file") " ORDER BY t.rank;"

#define VIEW_CALLTREE \
	"CREATE VIEW calltree AS" \
	" SELECT " GEN(NODE_NAME) ", t.level AS level, " SMP ", t.id AS node, t.parent AS parent" \
	" FROM node t" GEN_JOINS("f.file") " ORDER BY t.id;"

/* The relations of each function: who called it (1), itself (0), whom it called (2). */
#define VIEW_CALLERS \
	"CREATE VIEW callers AS" \
	" WITH t (root, type, place, rank, process, function, inclusive, exclusive) AS (" \
	"SELECT callee, 1, 0, rank, process, caller, inclusive, exclusive FROM edge" \
	" UNION ALL " \
	"SELECT function, 0, 1, rank, process, function, inclusive, exclusive FROM function_total" \
	" UNION ALL " \
	"SELECT caller, 2, 2, rank, process, callee, inclusive, exclusive FROM edge WHERE caller)" \
	" SELECT " GEN("CASE WHEN t.function IS NULL THEN '[outermost]' WHEN t.function = 4294967295" \
	" THEN '[stack cut]' ELSE f.name END") \
	", t.type AS type, r.name AS root_function_name, " SMP \
	" FROM t" GEN_JOINS("f.file") " LEFT JOIN function r ON r.id = t.root" \
	" ORDER BY r.name, t.root, t.process, t.place, t.rank;"

/*
 * The statements of all functions. A function of which no line is known has one, itself, without a
 * row of its own in the table line.
 */
#define VIEW_STATEMENT \
	"CREATE VIEW statement AS" \
	" SELECT rank AS id, process, function, file, line, line_end, column, column_end," \
	" inclusive, exclusive FROM line" \
	" UNION ALL" \
	" SELECT -rank, process, function, NULL, NULL, NULL, NULL, NULL, inclusive, exclusive" \
	" FROM function_total WHERE NOT lines;"

#define VIEW_LINES \
	"CREATE VIEW lines AS" \
	" SELECT " GEN("f.name") ", " LOC ", " LINE_NAME " AS line_name, " SMP \
	" FROM statement t" GEN_JOINS("t.file") \
	" ORDER BY t.exclusive DESC, t.inclusive DESC, t.id;"

#define VIEW_INSTRUCTIONS \
	"CREATE VIEW instructions AS" \
	" WITH t (rank, process, function, file, line, line_end, column, column_end, offset," \
	" inclusive, exclusive) AS (" \
	"SELECT i.rank, l.process, l.function, l.file, l.line, l.line_end, l.column," \
	" l.column_end, i.offset, i.inclusive, i.exclusive" \
	" FROM instruction i JOIN statement l ON l.id = i.statement)" \
	" SELECT " GEN("f.name") ", " LOC ", " ADDRESS " AS instruction_address, " SMP \
	" FROM t" GEN_JOINS("t.file") " ORDER BY t.rank;"

/*
 * Module, function, line, instruction: each level's rows carry the sort keys of those above, which
 * put the most inclusive first.
 */
#define KEY(t, id) t "." id " - (" t ".inclusive << 32)"
#define KEYS_TO_FUNCTION KEY("b", "rank") ", " KEY("a", "rank") ", "
#define MODULE_TOTAL(t) \
	" JOIN function f ON f.id = " t ".function AND f.id" \
	" LEFT JOIN module_total b ON b.process = " t ".process AND b.module IS f.module"
#define FUNCTION_TOTAL(t) \
	" LEFT JOIN function_total a ON a.process = " t ".process AND a.function = " t ".function"
#define VIEW_MODULES \
	"CREATE VIEW modules AS" \
	" WITH t (level, process, module, function, file, line, offset, k0, k1, k2, k3," \
	" inclusive, exclusive) AS (" \
	"SELECT 0, b.process, b.module, NULL, NULL, NULL, NULL, " KEY("b", "rank") \
	", NULL, NULL, NULL, b.inclusive, b.exclusive FROM module_total b" \
	" UNION ALL " \
	"SELECT 1, a.process, f.module, a.function, f.file, NULL, NULL, " KEYS_TO_FUNCTION \
	"NULL, NULL, a.inclusive, a.exclusive FROM function_total a" MODULE_TOTAL("a") \
	" UNION ALL " \
	"SELECT 2, l.process, f.module, l.function, l.file, l.line, NULL, " KEYS_TO_FUNCTION \
	KEY("l", "id") ", NULL, l.inclusive, l.exclusive" \
	" FROM statement l" MODULE_TOTAL("l") FUNCTION_TOTAL("l") \
	" UNION ALL " \
	"SELECT 3, l.process, f.module, l.function, l.file, l.line, i.offset, " \
	KEYS_TO_FUNCTION KEY("l", "id") ", " KEY("i", "rank") ", i.inclusive, i.exclusive" \
	" FROM instruction i JOIN statement l ON l.id = i.statement" \
	MODULE_TOTAL("l") FUNCTION_TOTAL("l") \
	") SELECT CASE t.level WHEN 0 THEN coalesce(mn.text, '[unknown]') WHEN 1 THEN f.name" \
	" WHEN 2 THEN coalesce('line ' || t.line, 'no line') ELSE " ADDRESS " END AS name, " \
	PROCESS_COLUMNS ", coalesce(mn.text, '[unknown]') AS module_name," \
	" mp.text AS module_path, sf.text AS source_file, f.line AS function_line_number," \
	" t.level AS level, " SMP \
	" FROM t" PROCESS_JOINS FUNCTION_JOIN MODULE_JOINS("t.module") FILE_JOIN("t.file") \
	" ORDER BY t.k0, t.k1, t.k2, t.k3;"

#define VIEW_PROCESSES \
	"CREATE VIEW processes AS" \
	" SELECT t.id AS unique_id, t.pid AS id, n.text AS name, " TIMES ", " SMP \
	", t.parent AS parent_unique_id, t.user_cpu_ns AS user_cpu_time," \
	" t.kernel_cpu_ns AS kernel_cpu_time" \
	" FROM process t LEFT JOIN text n ON n.id = t.name" \
	" ORDER BY t.exclusive DESC, t.inclusive DESC, t.id;"

#define VIEW_THREADS \
	"CREATE VIEW threads AS" \
	" SELECT t.id AS unique_id, t.tid AS id, coalesce(f.name, n.text) AS name, " \
	TIMES ", " PROCESS_COLUMNS ", " SMP \
	", t.process AS process_unique_id, n.text AS thread_name" \
	" FROM thread t" PROCESS_JOINS \
	" LEFT JOIN text n ON n.id = t.name LEFT JOIN function f ON f.id = t.start" \
	" ORDER BY t.exclusive DESC, t.inclusive DESC, t.id;"

/* A heaviest child directly follows its parent, so the hot path is a run of ids. */
#define VIEW_SUMMARY \
	"CREATE VIEW summary AS" \
	" WITH RECURSIVE hot (id) AS (SELECT min(id) FROM node UNION ALL" \
	" SELECT c.id FROM hot JOIN node a ON a.id = hot.id" \
	" JOIN node c ON c.id = a.id + 1 AND c.parent = a.id" \
	" AND 2 * c.inclusive >= a.inclusive)" \
	" SELECT * FROM (SELECT 'Hot Path' AS section, t.level AS level, " \
	NODE_NAME " AS name, mn.text AS module_name, " SMP \
	" FROM hot JOIN node t ON t.id = hot.id" PROCESS_JOINS FUNCTION_JOIN \
	MODULE_JOINS("f.module") " ORDER BY t.id)" \
	" UNION ALL SELECT * FROM (" \
	"SELECT 'Functions Doing Most Individual Work', 0, f.name, mn.text, " SMP \
	" FROM function_total t" FUNCTION_JOIN MODULE_JOINS("f.module") \
	" ORDER BY t.rank LIMIT 8);"

const char dw_schema_chunk_sql[] = CHUNK_SQL;

const char dw_schema_sql[] =
	"PRAGMA application_id = 0x6477656c; PRAGMA user_version = 1;"
	TABLES
	VIEW_FUNCTIONS
	VIEW_CALLTREE
	VIEW_CALLERS
	VIEW_STATEMENT
	VIEW_MODULES
	VIEW_LINES
	VIEW_INSTRUCTIONS
	VIEW_PROCESSES
	VIEW_THREADS
	VIEW_SUMMARY;
