/*
 * The columns of all views: their exact titles and what their cells hold.
 *
 * A title is what tables, CSV and users write; the key (JSON, XML, SQL) is the title in snake_case,
 * "%" becomes percent: "Inclusive Samples %" -> inclusive_samples_percent.
 */
#pragma once

#include "model/measure.h"

#include <stdbool.h>
#include <stddef.h>

enum dw_column {
	DWELL_COLUMN_END = 0, /* ends a list */
	DWELL_COLUMN_SECTION,
	DWELL_COLUMN_PROCESS_ID,
	DWELL_COLUMN_PROCESS_NAME,
	DWELL_COLUMN_MODULE_NAME,
	DWELL_COLUMN_MODULE_PATH,
	DWELL_COLUMN_SOURCE_FILE,
	DWELL_COLUMN_FUNCTION_NAME,
	DWELL_COLUMN_FUNCTION_LINE,
	DWELL_COLUMN_FUNCTION_ADDRESS,
	DWELL_COLUMN_NAME,
	DWELL_COLUMN_LEVEL,
	DWELL_COLUMN_TYPE,
	DWELL_COLUMN_CALL_PATH,
	DWELL_COLUMN_ROOT,
	DWELL_COLUMN_PROCESSES,
	DWELL_COLUMN_LINE_BEGIN,
	DWELL_COLUMN_LINE_END,
	DWELL_COLUMN_CHARACTER_BEGIN,
	DWELL_COLUMN_CHARACTER_END,
	DWELL_COLUMN_LINE_NAME,
	DWELL_COLUMN_SOURCE_TEXT,
	DWELL_COLUMN_INSTRUCTION_ADDRESS,
	DWELL_COLUMN_INSTRUCTION,
	DWELL_COLUMN_UNIQUE_ID,
	DWELL_COLUMN_THREAD_NAME,
	DWELL_COLUMN_ID,
	DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,
	DWELL_COLUMN_INCLUSIVE,
	DWELL_COLUMN_INCLUSIVE_PCT,
	DWELL_COLUMN_EXCLUSIVE,
	DWELL_COLUMN_EXCLUSIVE_PCT,
	DWELL_COLUMN_CALLS,
	DWELL_COLUMN_MUTED,
	DWELL_COLUMN_COUNTED,
	DWELL_COLUMN_PROBES_EXCLUSIVE,
	DWELL_COLUMN_PROBES_INCLUSIVE,
	DWELL_COLUMN_AT_MOST, /* the program's own time, where calls are too short to be told */
	/* Four groups (elapsed and application, inclusive and exclusive) of the same five. */
	DWELL_COLUMN_EI,
	DWELL_COLUMN_EI_PCT,
	DWELL_COLUMN_EI_AVG,
	DWELL_COLUMN_EI_MAX,
	DWELL_COLUMN_EI_MIN,
	DWELL_COLUMN_EE,
	DWELL_COLUMN_EE_PCT,
	DWELL_COLUMN_EE_AVG,
	DWELL_COLUMN_EE_MAX,
	DWELL_COLUMN_EE_MIN,
	DWELL_COLUMN_AI,
	DWELL_COLUMN_AI_PCT,
	DWELL_COLUMN_AI_AVG,
	DWELL_COLUMN_AI_MAX,
	DWELL_COLUMN_AI_MIN,
	DWELL_COLUMN_AE,
	DWELL_COLUMN_AE_PCT,
	DWELL_COLUMN_AE_AVG,
	DWELL_COLUMN_AE_MAX,
	DWELL_COLUMN_AE_MIN,
	DWELL_COLUMN_BLOCKED_INCLUSIVE,
	DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT,
	DWELL_COLUMN_BLOCKED_EXCLUSIVE,
	DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT,
	DWELL_COLUMN_SWITCHES,
	DWELL_COLUMN_IO_CALLS,
	DWELL_COLUMN_BLOCKING_CALLS,
	/* How an activation's time divides, beside its own application time. */
	DWELL_COLUMN_CALLEES,
	DWELL_COLUMN_IO,
	DWELL_COLUMN_BLOCKING,
	DWELL_COLUMN_SWITCHED,
	/* What the memory method counts. */
	DWELL_COLUMN_ALLOCS_INCLUSIVE,
	DWELL_COLUMN_ALLOCS_INCLUSIVE_PCT,
	DWELL_COLUMN_ALLOCS_EXCLUSIVE,
	DWELL_COLUMN_ALLOCS_EXCLUSIVE_PCT,
	DWELL_COLUMN_BYTES_INCLUSIVE,
	DWELL_COLUMN_BYTES_INCLUSIVE_PCT,
	DWELL_COLUMN_BYTES_EXCLUSIVE,
	DWELL_COLUMN_BYTES_EXCLUSIVE_PCT,
	/* How far off estimates of bytes may be, of samples only. */
	DWELL_COLUMN_BYTES_INCLUSIVE_ERROR,
	DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR,
	DWELL_COLUMN_BYTES_ERROR, /* of a type */
	/* The life of objects: a group of instances, then one of bytes. */
	DWELL_COLUMN_INSTANCES,
	DWELL_COLUMN_INSTANCES_PCT,
	DWELL_COLUMN_INSTANCES_GEN0,
	DWELL_COLUMN_INSTANCES_GEN1,
	DWELL_COLUMN_INSTANCES_GEN2,
	DWELL_COLUMN_INSTANCES_LARGE,
	DWELL_COLUMN_INSTANCES_PINNED,
	DWELL_COLUMN_INSTANCES_ALIVE,
	DWELL_COLUMN_INSTANCES_BEFORE,
	DWELL_COLUMN_INSTANCES_GROWTH,
	DWELL_COLUMN_INSTANCES_LEAST, /* of those alive before the range, as the next */
	DWELL_COLUMN_INSTANCES_MOST,
	DWELL_COLUMN_BYTES,
	DWELL_COLUMN_BYTES_PCT,
	DWELL_COLUMN_BYTES_GEN0,
	DWELL_COLUMN_BYTES_GEN1,
	DWELL_COLUMN_BYTES_GEN2,
	DWELL_COLUMN_BYTES_LARGE,
	DWELL_COLUMN_BYTES_PINNED,
	DWELL_COLUMN_BYTES_ALIVE,
	DWELL_COLUMN_BYTES_BEFORE,
	DWELL_COLUMN_BYTES_GROWTH,
	DWELL_COLUMN_BYTES_LEAST,
	DWELL_COLUMN_BYTES_MOST,
	DWELL_COLUMN_CLASS_NAME,
	/* Garbage collections. */
	DWELL_COLUMN_GC_NUMBER,
	DWELL_COLUMN_GC_GENERATION,
	DWELL_COLUMN_GC_TYPE,
	DWELL_COLUMN_GC_REASON,
	DWELL_COLUMN_GC_PAUSE,
	DWELL_COLUMN_GC_ADDED,
	DWELL_COLUMN_HEAP_BEFORE,
	DWELL_COLUMN_HEAP_AFTER,
	DWELL_COLUMN_PROMOTED,
	DWELL_COLUMNS_N,
	/* In lists of a view: columns of all that its profile measured. */
	DWELL_COLUMN_COUNTS = DWELL_COLUMNS_N, /* calls, and what it took to count them */
	DWELL_COLUMN_VALUES,		       /* all else, in the order of files */
	DWELL_COLUMN_DEFAULT_VALUES,	       /* those that tables show by default */
	DWELL_COLUMN_DEFAULT_OWN_VALUES,       /* likewise of rows with no callees of their own */
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
	const char *header; /* in tables, where nothing gets lost; NULL = the title */
	enum dw_cell_kind kind;
	enum dw_measure measure; /* DWELL_MEASURE_NONE: about the row, not what was measured */
	enum dw_aspect aspect;
	bool exclusive; /* the row's alone */
};

extern const struct dw_column_info dw_columns[DWELL_COLUMNS_N];

/* All about @column. Static. */
static inline const struct dw_column_info *dw_column_info(enum dw_column column)
{
	return &dw_columns[column];
}

/* The exact title of @column. Static. */
const char *dw_column_title(enum dw_column column);

/* What its cells hold when they are not empty. */
enum dw_cell_kind dw_column_kind(enum dw_column column);

/* Write the snake_case key of @column to @ret. */
void dw_column_key(enum dw_column column, char ret[DWELL_KEY_MAX_BYTES]);

/* The column among @list (ended by DWELL_COLUMN_END) whose title or key is @n bytes at @text, in
 * either case. DWELL_COLUMN_END when there is none. */
enum dw_column dw_column_find(const enum dw_column *list, const char *text, size_t n);

/* Groups of columns that views share, in the order of files; see docs/report-json.md. */

/* Where a row's code is. */
#define DWELL_COLUMNS_GENERAL                                                                   \
	DWELL_COLUMN_PROCESS_ID, DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_MODULE_NAME,           \
		DWELL_COLUMN_MODULE_PATH, DWELL_COLUMN_SOURCE_FILE, DWELL_COLUMN_FUNCTION_NAME, \
		DWELL_COLUMN_FUNCTION_LINE, DWELL_COLUMN_FUNCTION_ADDRESS

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
 * @sites: rows are call sites, which nothing was measured of alone.
 */
void dw_columns_expand(const enum dw_column *from, dw_measures set, bool sites,
		       enum dw_column *ret);

/* Take @column out of @list (ended by DWELL_COLUMN_END). */
void dw_columns_drop(enum dw_column *list, enum dw_column column);

/* The column by which rows come first, of the measure @lead. */
enum dw_column dw_columns_lead(enum dw_measure lead, bool exclusive);
