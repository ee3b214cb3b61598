/*
 * The columns of all views: their exact titles and what their cells hold.
 *
 * A title is what tables, CSV and users write; the key (JSON, XML, SQL) is the title in snake_case,
 * "%" becomes percent: "Inclusive Samples %" -> inclusive_samples_percent.
 */
#pragma once

#include "model/measure.h"
#include "model/totals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns as rows X(name, title, header of tables or NULL = the title, kind of cell, measure,
 * aspect, exclusive, where views show it, its rank there in tables). Those about the row at hand
 * have no measure; views name them. */
#define DW_COLUMN_OF_ROW(X, name, title, header, kind) \
	X(name, title, header, kind, NONE, TOTAL, false, 0, 0)

/* Samples and waits are shown beside work, of which they are the parts. */
#define DWELL_BESIDE_WORK(of, groups)                                      \
	(DWELL_MEASURE_##of == DWELL_MEASURE_SAMPLES ||                    \
			 DWELL_MEASURE_##of == DWELL_MEASURE_BLOCKED ||    \
			 DWELL_MEASURE_##of == DWELL_MEASURE_OTHERS_WAITED \
		 ? (groups)                                                \
		 : 0)

/* A total and its share, both ways. Tables show them from the rank @at on, with @shares or not. */
#define DW_COLUMNS_BOTH(X, name, title, of, kind, incl, incl_pct, excl, excl_pct, shares, at)  \
	X(name##INCLUSIVE, "Inclusive " title, incl, kind, of, TOTAL, false,                   \
	  DWELL_IN_FILES | DWELL_IN_TABLES | DWELL_BESIDE_WORK(of, DWELL_IN_WORK), at + 6)     \
	X(name##INCLUSIVE_PCT, "Inclusive " title " %", incl_pct, PERCENT, of, PERCENT, false, \
	  DWELL_IN_FILES | (shares ? DWELL_IN_TABLES : 0), at + 5)                             \
	X(name##EXCLUSIVE, "Exclusive " title, excl, kind, of, TOTAL, true,                    \
	  DWELL_IN_FILES | DWELL_IN_TABLES | DWELL_IN_OWN | DWELL_IN_OWN_CALLS |               \
		  DWELL_BESIDE_WORK(of, DWELL_IN_WORK | DWELL_IN_OWN_WORK),                    \
	  at + 2)                                                                              \
	X(name##EXCLUSIVE_PCT, "Exclusive " title " %", excl_pct, PERCENT, of, PERCENT, true,  \
	  DWELL_IN_FILES | (shares ? DWELL_IN_TABLES | DWELL_IN_OWN : 0), at + 1)

/* Processor time and waits together; tables show its share. */
#define DW_COLUMNS_WORK(X, which, name, share, exclusive, shown, at)                         \
	X(WORK_##name, which " Work Time", NULL, DURATION_NS, WORK, TOTAL, exclusive,        \
	  DWELL_IN_FILES, 0)                                                                 \
	X(WORK_##name##_PCT, which " Work Time %", share, PERCENT, WORK, PERCENT, exclusive, \
	  DWELL_IN_FILES | (shown), at)

/* Samples divided by the threads that ran then; tables show them when they are asked to. */
#define DW_COLUMNS_LATENCY(X, which, name, header, share, exclusive)                             \
	X(LATENCY_##name, which " Latency", header, DURATION_NS, LATENCY, TOTAL, exclusive,      \
	  DWELL_IN_FILES, 0)                                                                     \
	X(LATENCY_##name##_PCT, which " Latency %", share, PERCENT, LATENCY, PERCENT, exclusive, \
	  DWELL_IN_FILES, 0)

/* A time, its share, and what a call took. */
#define DW_COLUMNS_TIME(X, name, title, header, share, of, exclusive, at)                          \
	X(name, title " Time", header, DURATION_NS, of, TOTAL, exclusive,                          \
	  DWELL_IN_FILES | DWELL_IN_CALLS | (exclusive ? DWELL_IN_OWN_CALLS : 0), at + 2)          \
	X(name##_PCT, title " Time %", share, PERCENT, of, PERCENT, exclusive,                     \
	  DWELL_IN_FILES | DWELL_IN_CALLS | (exclusive ? DWELL_IN_OWN_CALLS : 0), at + 1)          \
	X(name##_AVG, "Avg " title " Time", NULL, CALL_NS, of, AVERAGE, exclusive, DWELL_IN_FILES, \
	  0)                                                                                       \
	X(name##_MAX, "Max " title " Time", NULL, CALL_NS, of, MAX, exclusive, DWELL_IN_FILES, 0)  \
	X(name##_MIN, "Min " title " Time", NULL, CALL_NS, of, MIN, exclusive, DWELL_IN_FILES, 0)

/* What else files show, and tables do not by themselves. */
#define DW_COLUMN_OF_FILES(X, name, title, header, kind, of, aspect) \
	X(name, title, header, kind, of, aspect, false, DWELL_IN_FILES, 0)

/* What became of objects, or of their bytes. */
#define DW_COLUMNS_LIFE(X, of, name, title, gen0, gen1, gen2, alive)                            \
	DW_COLUMN_OF_FILES(X, name##_GEN0, "Gen 0 " title " Collected", gen0, COUNT, of##_GEN0, \
			   TOTAL)                                                               \
	DW_COLUMN_OF_FILES(X, name##_GEN1, "Gen 1 " title " Collected", gen1, COUNT, of##_GEN1, \
			   TOTAL)                                                               \
	DW_COLUMN_OF_FILES(X, name##_GEN2, "Gen 2 " title " Collected", gen2, COUNT, of##_GEN2, \
			   TOTAL)                                                               \
	DW_COLUMN_OF_FILES(X, name##_ALIVE, title " Alive At End", alive, COUNT, of##_ALIVE, TOTAL)

/* The same of objects that have a heap of their own. */
#define DW_COLUMNS_HEAP(X, heap, title, header)                                                   \
	DW_COLUMN_OF_FILES(X, INSTANCES_##heap, title " Object Heap Instances Collected", header, \
			   COUNT, OBJECTS_##heap, TOTAL)                                          \
	DW_COLUMN_OF_FILES(X, BYTES_##heap, title " Object Heap Bytes Collected", NULL, COUNT,    \
			   BYTES_##heap, TOTAL)

/* Those alive before a range of time, and their change. */
#define DW_COLUMNS_BEFORE(X, of, name, title, growth)                                           \
	DW_COLUMN_OF_FILES(X, name##_BEFORE, title " Alive At Begin", NULL, COUNT, of##_BEFORE, \
			   TOTAL)                                                               \
	DW_COLUMN_OF_FILES(X, name##_GROWTH, title " Growth", growth, CHANGE, of##_BEFORE, GROWTH)

/* How many of them survived it. */
#define DW_COLUMNS_SURVIVED(X, of, name, title, least, most)                                       \
	DW_COLUMN_OF_FILES(X, name##_LEAST, title " Surviving At Least", least, COUNT, of##_LEAST, \
			   TOTAL)                                                                  \
	DW_COLUMN_OF_FILES(X, name##_MOST, title " Surviving At Most", most, COUNT, of##_MOST,     \
			   TOTAL)

/* All columns but DWELL_COLUMN_END. */
#define DW_COLUMNS(X)                                                                              \
	DW_COLUMN_OF_ROW(X, SECTION, "Section", NULL, TEXT)                                        \
	DW_COLUMN_OF_ROW(X, PROCESS_ID, "Process ID", NULL, NUMBER)                                \
	DW_COLUMN_OF_ROW(X, PROCESS_NAME, "Process Name", NULL, TEXT)                              \
	DW_COLUMN_OF_ROW(X, COMMAND_LINE, "Command Line", NULL, TEXT)                              \
	DW_COLUMN_OF_ROW(X, COMMAND, "Command", NULL, TEXT)                                        \
	DW_COLUMN_OF_ROW(X, THREAD_ID, "Thread ID", NULL, NUMBER)                                  \
	DW_COLUMN_OF_ROW(X, MODULE_NAME, "Module Name", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, MODULE_PATH, "Module Path", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, SOURCE_FILE, "Source File", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, FUNCTION_NAME, "Function Name", NULL, TEXT)                            \
	DW_COLUMN_OF_ROW(X, FUNCTION_LINE, "Function Line Number", NULL, NUMBER)                   \
	DW_COLUMN_OF_ROW(X, FUNCTION_ADDRESS, "Function Address", NULL, ADDRESS)                   \
	DW_COLUMN_OF_ROW(X, NAME, "Name", NULL, TEXT)                                              \
	DW_COLUMN_OF_ROW(X, LEVEL, "Level", NULL, NUMBER)                                          \
	DW_COLUMN_OF_ROW(X, TYPE, "Type", NULL, NUMBER)                                            \
	DW_COLUMN_OF_ROW(X, CALL_PATH, "Call Path", NULL, TEXT)                                    \
	DW_COLUMN_OF_ROW(X, DEEPEST_CALL, "Deepest Call", NULL, TEXT)                              \
	DW_COLUMN_OF_ROW(X, ROOT, "Root Function Name", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, PROCESSES, "Number of Processes", NULL, COUNT)                         \
	DW_COLUMN_OF_ROW(X, LINE_BEGIN, "Source Line Begin", "Line", NUMBER)                       \
	DW_COLUMN_OF_ROW(X, LINE_END, "Source Line End", NULL, NUMBER)                             \
	DW_COLUMN_OF_ROW(X, CHARACTER_BEGIN, "Source Character Begin", NULL, NUMBER)               \
	DW_COLUMN_OF_ROW(X, CHARACTER_END, "Source Character End", NULL, NUMBER)                   \
	DW_COLUMN_OF_ROW(X, LINE_NAME, "Line Name", NULL, TEXT)                                    \
	DW_COLUMN_OF_ROW(X, SOURCE_TEXT, "Source Text", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, INSTRUCTION_ADDRESS, "Instruction Address", "Address", ADDRESS)        \
	DW_COLUMN_OF_ROW(X, INSTRUCTION, "Instruction", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, UNIQUE_ID, "Unique ID", NULL, NUMBER)                                  \
	DW_COLUMN_OF_ROW(X, THREAD_NAME, "Thread Name", NULL, TEXT)                                \
	DW_COLUMN_OF_ROW(X, ID, "ID", NULL, NUMBER)                                                \
	DW_COLUMN_OF_ROW(X, BEGIN_TIME, "Begin Time", NULL, TIME_NS)                               \
	DW_COLUMN_OF_ROW(X, END_TIME, "End Time", NULL, TIME_NS)                                   \
	DW_COLUMNS_WORK(X, "Inclusive", INCLUSIVE, "Incl %", false, DWELL_IN_WORK, 44)             \
	DW_COLUMNS_WORK(X, "Exclusive", EXCLUSIVE, "Excl %", true,                                 \
			DWELL_IN_WORK | DWELL_IN_OWN_WORK, 40)                                     \
	DW_COLUMNS_BOTH(X, , "Samples", SAMPLES, COUNT, "Inclusive", "Incl %", "Exclusive",        \
			"Excl %", true, 40)                                                        \
	/* What samples of time come to, by their frequency. */                                    \
	X(CPU_INCLUSIVE, "Inclusive CPU Time", "CPU Incl", DURATION_NS, SAMPLES, TIME, false,      \
	  DWELL_IN_FILES | DWELL_IN_TABLES | DWELL_IN_WORK, 45)                                    \
	X(CPU_EXCLUSIVE, "Exclusive CPU Time", "CPU Excl", DURATION_NS, SAMPLES, TIME, true,       \
	  DWELL_IN_FILES | DWELL_IN_TABLES | DWELL_IN_OWN | DWELL_IN_WORK | DWELL_IN_OWN_WORK, 41) \
	/* The same, of the clock's time instead of the threads': asked for by name. */            \
	DW_COLUMNS_LATENCY(X, "Inclusive", INCLUSIVE, "Latency Incl", "LI %", false)               \
	DW_COLUMNS_LATENCY(X, "Exclusive", EXCLUSIVE, "Latency Excl", "LE %", true)                \
	X(CALLS, "Number of Calls", "Calls", COUNT, CALLS, TOTAL, false,                           \
	  DWELL_IN_COUNTS | DWELL_IN_CALLS | DWELL_IN_OWN_CALLS, 1)                                \
	X(DISABLED, "Switched Off At", NULL, TIME_NS, COUNTED, BEGIN, false, 0, 0)                 \
	X(COUNTED, "Calls Only Counted", NULL, COUNT, COUNTED, TOTAL, false, 0, 0)                 \
	X(PROBES_EXCLUSIVE, "Time Exclusive Probe Overhead", NULL, DURATION_NS, OVERHEAD, TOTAL,   \
	  true, DWELL_IN_COUNTS, 0)                                                                \
	X(PROBES_INCLUSIVE, "Time Inclusive Probe Overhead", NULL, DURATION_NS, OVERHEAD, TOTAL,   \
	  false, DWELL_IN_COUNTS, 0)                                                               \
	/* The program's own time, where calls are too short to be told. */                        \
	X(AT_MOST, "Application Exclusive Time At Most", "At Most", DURATION_NS, APPLICATION,      \
	  AT_MOST, true, DWELL_IN_COUNTS | DWELL_IN_CALLS, 10)                                     \
	DW_COLUMNS_TIME(X, EI, "Elapsed Inclusive", "Elapsed Incl", "EI %", ELAPSED, false, 1)     \
	DW_COLUMNS_TIME(X, EE, "Elapsed Exclusive", "Elapsed Excl", "EE %", ELAPSED, true, 3)      \
	DW_COLUMNS_TIME(X, AI, "Application Inclusive", "App Incl", "AI %", APPLICATION, false, 5) \
	DW_COLUMNS_TIME(X, AE, "Application Exclusive", "App Excl", "AE %", APPLICATION, true, 7)  \
	DW_COLUMNS_BOTH(X, BLOCKED_, "Blocked Time", BLOCKED, DURATION_NS, "Blocked Incl", "BI %", \
			"Blocked Excl", "BE %", true, 41)                                          \
	DW_COLUMNS_BOTH(X, OTHERS_, "Others Waited Time", OTHERS_WAITED, DURATION_NS,              \
			"Others Incl", "OI %", "Others Excl", "OE %", false, 50)                   \
	X(SWITCHES, "Context Switches", "Switches", COUNT, SWITCHES, TOTAL, true,                  \
	  DWELL_IN_FILES | DWELL_IN_OWN_CALLS, 48)                                                 \
	X(IO_CALLS, "I/O Calls", NULL, COUNT, IO_CALLS, TOTAL, true, DWELL_IN_FILES, 0)            \
	X(BLOCKING_CALLS, "Blocking Calls", NULL, COUNT, BLOCKING_CALLS, TOTAL, true,              \
	  DWELL_IN_FILES, 0)                                                                       \
	/* How an activation's time divides, beside its own application time. */                   \
	DW_COLUMN_OF_ROW(X, CALLEES, "Callees Application Time", "In Callees", DURATION_NS)        \
	DW_COLUMN_OF_ROW(X, IO, "I/O Time", "I/O", DURATION_NS)                                    \
	DW_COLUMN_OF_ROW(X, BLOCKING, "Blocking Call Time", "Blocking", DURATION_NS)               \
	DW_COLUMN_OF_ROW(X, SWITCHED, "Switched Away Time", "Switched", DURATION_NS)               \
	/* What the memory method counts. */                                                       \
	DW_COLUMNS_BOTH(X, ALLOCS_, "Allocations", OBJECTS, COUNT, "Incl Allocs", NULL,            \
			"Excl Allocs", NULL, false, 62)                                            \
	DW_COLUMNS_BOTH(X, BYTES_, "Bytes", BYTES, COUNT, "Incl Bytes", "Incl %", "Excl Bytes",    \
			"Excl %", true, 60)                                                        \
	/* How far off estimates of bytes may be, of samples only. */                              \
	X(BYTES_INCLUSIVE_ERROR, "Inclusive Bytes Error", "± 95 %", COUNT, BYTES, ERROR, false,    \
	  DWELL_IN_FILES | DWELL_IN_TABLES, 67)                                                    \
	X(BYTES_EXCLUSIVE_ERROR, "Exclusive Bytes Error", "± 95 %", COUNT, BYTES, ERROR, true,     \
	  DWELL_IN_FILES | DWELL_IN_TABLES, 63)                                                    \
	X(BYTES_ERROR, "Total Bytes Error", "± 95 %", COUNT, BYTES, ERROR, false, 0, 0)            \
	X(INSTANCES, "Instances", NULL, COUNT, OBJECTS, TOTAL, false, 0, 0)                        \
	X(INSTANCES_PCT, "Total Instances %", NULL, PERCENT, OBJECTS, PERCENT, false, 0, 0)        \
	X(BYTES, "Total Bytes Allocated", "Bytes", COUNT, BYTES, TOTAL, false, 0, 0)               \
	X(BYTES_PCT, "Total Bytes %", "Bytes %", PERCENT, BYTES, PERCENT, false, 0, 0)             \
	DW_COLUMNS_LIFE(X, OBJECTS, INSTANCES, "Instances", "Died Gen 0", "Gen 1", "Gen 2",        \
			"Alive")                                                                   \
	DW_COLUMNS_LIFE(X, BYTES, BYTES, "Bytes", NULL, NULL, NULL, "Alive Bytes")                 \
	DW_COLUMNS_HEAP(X, LARGE, "Large", "Large")                                                \
	DW_COLUMNS_HEAP(X, PINNED, "Pinned", "Pinned")                                             \
	DW_COLUMNS_BEFORE(X, OBJECTS, INSTANCES, "Instances", NULL)                                \
	DW_COLUMNS_BEFORE(X, BYTES, BYTES, "Bytes", "Growth")                                      \
	DW_COLUMNS_SURVIVED(X, OBJECTS, INSTANCES, "Instances", NULL, NULL)                        \
	DW_COLUMNS_SURVIVED(X, BYTES, BYTES, "Bytes", "Survived Min", "Max")                       \
	DW_COLUMN_OF_ROW(X, CLASS_NAME, "Class Name", NULL, TEXT)                                  \
	/* Garbage collections. */                                                                 \
	DW_COLUMN_OF_ROW(X, GC_NUMBER, "GC Number", "GC", NUMBER)                                  \
	DW_COLUMN_OF_ROW(X, GC_GENERATION, "Generation", "Gen", NUMBER)                            \
	DW_COLUMN_OF_ROW(X, GC_TYPE, "GC Type", NULL, TEXT)                                        \
	DW_COLUMN_OF_ROW(X, GC_REASON, "GC Reason", NULL, TEXT)                                    \
	DW_COLUMN_OF_ROW(X, GC_PAUSE, "Pause Duration", "Pause", DURATION_NS)                      \
	DW_COLUMN_OF_ROW(X, GC_ADDED, "Pause Added", "Added", DURATION_NS)                         \
	DW_COLUMN_OF_ROW(X, HEAP_BEFORE, "Heap Bytes Before", NULL, COUNT)                         \
	DW_COLUMN_OF_ROW(X, HEAP_AFTER, "Heap Bytes After", NULL, COUNT)                           \
	DW_COLUMN_OF_ROW(X, PROMOTED, "Promoted Bytes", NULL, COUNT)                               \
	/* Kinds of waiting. */                                                                    \
	DW_COLUMN_OF_ROW(X, WAIT_KIND, "Waits For", NULL, TEXT)                                    \
	DW_COLUMN_OF_ROW(X, WAIT_TIME, "Wait Time", NULL, DURATION_NS)                             \
	DW_COLUMN_OF_ROW(X, WAIT_PCT, "Wait Time %", "Wait %", PERCENT)                            \
	DW_COLUMN_OF_ROW(X, WAIT_THREADS, "Number of Threads", "Threads", COUNT)                   \
	DW_COLUMN_OF_ROW(X, WAIT_COUNTS, "Counts In Reports", "Counts", TEXT)                      \
	DW_COLUMN_OF_ROW(X, WAIT_MOST, "Function Wait Time", "Most Of It", DURATION_NS)            \
	DW_COLUMN_OF_ROW(X, WAIT_HELD_BY, "Held By", NULL, TEXT)                                   \
	/* Files that were read and written. */                                                    \
	DW_COLUMN_OF_ROW(X, FILE, "File", NULL, TEXT)                                              \
	DW_COLUMN_OF_ROW(X, READS, "Reads", NULL, COUNT)                                           \
	DW_COLUMN_OF_ROW(X, BYTES_READ, "Bytes Read", NULL, COUNT)                                 \
	DW_COLUMN_OF_ROW(X, WRITES, "Writes", NULL, COUNT)                                         \
	DW_COLUMN_OF_ROW(X, BYTES_WRITTEN, "Bytes Written", NULL, COUNT)

#define DW_COLUMN_NAME(name, ...) DWELL_COLUMN_##name,
enum dw_column {
	DWELL_COLUMN_END = 0, /* ends a list */
	DW_COLUMNS(DW_COLUMN_NAME) DWELL_COLUMNS_N,
	/* In lists of a view: columns of all that its profile measured. */
	DWELL_COLUMN_COUNTS = DWELL_COLUMNS_N, /* calls, and what it took to count them */
	DWELL_COLUMN_VALUES,		       /* all else, in the order of files */
	DWELL_COLUMN_DEFAULT_VALUES,	       /* those that tables show by default */
	DWELL_COLUMN_DEFAULT_OWN_VALUES,       /* likewise of rows with no callees of their own */
	DWELL_COLUMN_LANE,		       /* what rows are split by */
	DWELL_COLUMN_DEFAULT_LANE,	       /* that of it which tables show by default */
	/* In place of the column that rows are ordered by: that of the measure that leads. */
	DWELL_COLUMN_LEAD_INCLUSIVE,
	DWELL_COLUMN_LEAD_EXCLUSIVE,
};

/* What a column of values shows of its measure. */
enum dw_aspect {
	DWELL_ASPECT_TOTAL = 0,
	DWELL_ASPECT_PERCENT,
	DWELL_ASPECT_AVERAGE, /* of a call */
	DWELL_ASPECT_MAX,     /* likewise */
	DWELL_ASPECT_MIN,
	DWELL_ASPECT_AT_MOST, /* what it may be, where calls are too short to be told */
	DWELL_ASPECT_ERROR,   /* how far off estimates may be */
	DWELL_ASPECT_GROWTH,  /* what is alive at the end of a range, less those at its beginning */
	DWELL_ASPECT_BEGIN,   /* since when there are any */
	DWELL_ASPECT_TIME,    /* that so many samples stand for */
};

/* Where views show a column of values that their profile has: its groups. */
enum dw_shown {
	DWELL_IN_COUNTS = 1, /* DWELL_COLUMN_COUNTS, */
	DWELL_IN_FILES = 2,  /* DWELL_COLUMN_VALUES, */
	DWELL_IN_TABLES = 4, /* DWELL_COLUMN_DEFAULT_VALUES, */
	DWELL_IN_OWN = 8,    /* DWELL_COLUMN_DEFAULT_OWN_VALUES; */
	DWELL_IN_CALLS = 16, /* these two where calls were measured */
	DWELL_IN_OWN_CALLS = 32,
	DWELL_IN_WORK = 64, /* where waits stand beside samples of time */
	DWELL_IN_OWN_WORK = 128,
};

enum dw_cell_kind {
	DWELL_CELL_EMPTY = 0, /* no value: not the same as 0 */
	DWELL_CELL_TEXT,
	DWELL_CELL_COUNT,  /* of samples, of calls */
	DWELL_CELL_CHANGE, /* of a count: below 0, too, as two's complement */
	DWELL_CELL_NUMBER, /* an id, a line: not for adding up */
	DWELL_CELL_PERCENT,
	DWELL_CELL_TIME_NS,	/* a point in time */
	DWELL_CELL_DURATION_NS, /* time that was spent */
	DWELL_CELL_CALL_NS,	/* that of one call */
	DWELL_CELL_ADDRESS,
};

enum { DWELL_KEY_MAX_BYTES = 48 };

struct dw_column_info {
	const char *title;
	const char *header;	 /* in tables, where nothing gets lost; NULL = the title */
	enum dw_cell_kind kind;	 /* of cells that are not empty */
	enum dw_measure measure; /* DWELL_MEASURE_NONE: about the row, not what was measured */
	enum dw_aspect aspect;
	bool exclusive; /* the row's alone */
	uint8_t shown;	/* enum dw_shown: groups that it is in */
	uint8_t rank;	/* in those of tables */
};

extern const struct dw_column_info dw_columns[DWELL_COLUMNS_N];

/* All about @column. Static. */
static inline const struct dw_column_info *dw_column_info(enum dw_column column)
{
	return &dw_columns[column];
}

/* Write the snake_case key of @column to @ret. */
void dw_column_key(enum dw_column column, char ret[DWELL_KEY_MAX_BYTES]);

/* The column among @list (ended by DWELL_COLUMN_END) whose title or key, or else header, is @n
 * bytes at @text, in either case, whatever stands between its words. DWELL_COLUMN_END when there
 * is none. */
enum dw_column dw_column_find(const enum dw_column *list, const char *text, size_t n);

/* Groups of columns that views share, in the order of files; see docs/report-json.md. */

/* A row's process. */
#define DWELL_COLUMNS_PROCESS                                                     \
	DWELL_COLUMN_PROCESS_ID, DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_COMMAND, \
		DWELL_COLUMN_COMMAND_LINE

/* Where a row's code is. */
#define DWELL_COLUMNS_CODE                                                            \
	DWELL_COLUMN_MODULE_NAME, DWELL_COLUMN_MODULE_PATH, DWELL_COLUMN_SOURCE_FILE, \
		DWELL_COLUMN_FUNCTION_NAME, DWELL_COLUMN_FUNCTION_LINE,               \
		DWELL_COLUMN_FUNCTION_ADDRESS

/* The same of rows that can be split. */
#define DWELL_COLUMNS_GENERAL DWELL_COLUMN_LANE, DWELL_COLUMNS_CODE

/* A statement. */
#define DWELL_COLUMNS_STATEMENT                                                       \
	DWELL_COLUMN_LINE_BEGIN, DWELL_COLUMN_LINE_END, DWELL_COLUMN_CHARACTER_BEGIN, \
		DWELL_COLUMN_CHARACTER_END

/* What a row of a line is about. */
#define DWELL_COLUMNS_LINE                                                      \
	DWELL_COLUMNS_GENERAL, DWELL_COLUMNS_STATEMENT, DWELL_COLUMN_LINE_NAME, \
		DWELL_COLUMN_SOURCE_TEXT

/* What a row of an instruction is about. */
#define DWELL_COLUMNS_INSTRUCTION                                                         \
	DWELL_COLUMNS_GENERAL, DWELL_COLUMNS_STATEMENT, DWELL_COLUMN_INSTRUCTION_ADDRESS, \
		DWELL_COLUMN_INSTRUCTION

/* Objects that were there when a range of time began, and what of them was at its end. */
#define DWELL_COLUMNS_SURVIVORS                                                                  \
	DWELL_COLUMN_INSTANCES_BEFORE, DWELL_COLUMN_INSTANCES_GROWTH, DWELL_COLUMN_BYTES_BEFORE, \
		DWELL_COLUMN_BYTES_GROWTH, DWELL_COLUMN_INSTANCES_LEAST,                         \
		DWELL_COLUMN_INSTANCES_MOST, DWELL_COLUMN_BYTES_LEAST, DWELL_COLUMN_BYTES_MOST

/*
 * Write the list @from to @ret, which has room for DWELL_COLUMNS_N: without columns of measures
 * that are not in @set, and with the columns of those in place of DWELL_COLUMN_COUNTS and the like.
 * @by: what rows are split by. @sites: rows are call sites, which nothing was measured of alone.
 */
void dw_columns_expand(const enum dw_column *from, dw_measures set, enum dw_by by, bool sites,
		       enum dw_column *ret);

/* Take @column out of @list (ended by DWELL_COLUMN_END). */
void dw_columns_drop(enum dw_column *list, enum dw_column column);

/* Whether a column of @list says which statement of its line a row is. Else lines are rows. */
bool dw_columns_show_statements(const enum dw_column *list);

/* Take out of @list what files for machines have no need of unless it is asked for: it follows from
 * the samples. */
void dw_columns_drop_derived(enum dw_column *list);

/* Whether @list, or @sort (DWELL_COLUMN_END = none), has what totals have only where it is asked
 * for, struct dw_filter.latency. */
bool dw_columns_want_latency(const enum dw_column *list, enum dw_column sort);

/* The column by which rows come first, of the measure @lead. */
enum dw_column dw_columns_lead(enum dw_measure lead, bool exclusive);
