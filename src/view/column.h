/*
 * The columns of all views: their exact titles and what their cells hold.
 *
 * A title is what tables, CSV and users write; the key (JSON, XML, SQL) is the title in snake_case,
 * "%" becomes percent: "Inclusive Samples %" -> inclusive_samples_percent.
 */
#pragma once

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
	DWELL_COLUMN_INSTRUCTION_ADDRESS,
	DWELL_COLUMN_UNIQUE_ID,
	DWELL_COLUMN_ID,
	DWELL_COLUMN_BEGIN_TIME,
	DWELL_COLUMN_END_TIME,
	DWELL_COLUMN_INCLUSIVE,
	DWELL_COLUMN_INCLUSIVE_PCT,
	DWELL_COLUMN_EXCLUSIVE,
	DWELL_COLUMN_EXCLUSIVE_PCT,
	DWELL_COLUMN_CALLS,
	DWELL_COLUMN_PROBES_EXCLUSIVE,
	DWELL_COLUMN_PROBES_INCLUSIVE,
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
	DWELL_COLUMNS_N,
};

enum dw_cell_kind {
	DWELL_CELL_EMPTY = 0, /* no value: not the same as 0 */
	DWELL_CELL_TEXT,
	DWELL_CELL_COUNT,  /* of samples, of calls */
	DWELL_CELL_NUMBER, /* an id, a line: not for adding up */
	DWELL_CELL_PERCENT,
	DWELL_CELL_TIME_NS,	/* a point in time */
	DWELL_CELL_DURATION_NS, /* time that was spent */
	DWELL_CELL_CALL_NS,	/* that of one call */
	DWELL_CELL_ADDRESS,
};

enum { DWELL_KEY_MAX_BYTES = 48 };

/* The exact title of @column. Static. */
const char *dw_column_title(enum dw_column column);

/* What its cells hold when they are not empty. */
enum dw_cell_kind dw_column_kind(enum dw_column column);

/* Write the snake_case key of @column to @ret. */
void dw_column_key(enum dw_column column, char ret[DWELL_KEY_MAX_BYTES]);

/* The column among @list (ended by DWELL_COLUMN_END) whose title or key is @n bytes at @text, in
 * either case. DWELL_COLUMN_END when there is none. */
enum dw_column dw_column_find(const enum dw_column *list, const char *text, size_t n);
