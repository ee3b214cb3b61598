/*
 * Groups of columns: those about a row that views share, and those of values, which follow from
 * what a profile measured. In the order of files; see the reference of columns in
 * docs/report-json.md.
 */
#pragma once

#include "view/column.h"

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

/* The column by which rows come first, of the measure @lead. */
enum dw_column dw_columns_lead(enum dw_measure lead, bool exclusive);
