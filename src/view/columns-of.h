/*
 * Groups of columns that views share, in the order of files; see reference of columns in
 * docs/report-json.md.
 */
#pragma once

#include "view/column.h"

/* Where a row's code is. */
#define DWELL_COLUMNS_GENERAL                                                                   \
	DWELL_COLUMN_PROCESS_ID, DWELL_COLUMN_PROCESS_NAME, DWELL_COLUMN_MODULE_NAME,           \
		DWELL_COLUMN_MODULE_PATH, DWELL_COLUMN_SOURCE_FILE, DWELL_COLUMN_FUNCTION_NAME, \
		DWELL_COLUMN_FUNCTION_LINE, DWELL_COLUMN_FUNCTION_ADDRESS

/* What sampling counts. */
#define DWELL_COLUMNS_SAMPLES                                                       \
	DWELL_COLUMN_INCLUSIVE, DWELL_COLUMN_INCLUSIVE_PCT, DWELL_COLUMN_EXCLUSIVE, \
		DWELL_COLUMN_EXCLUSIVE_PCT

/* The same as tables for people show it. */
#define DWELL_COLUMNS_SAMPLES_PEOPLE                                                    \
	DWELL_COLUMN_EXCLUSIVE_PCT, DWELL_COLUMN_EXCLUSIVE, DWELL_COLUMN_INCLUSIVE_PCT, \
		DWELL_COLUMN_INCLUSIVE

/* A statement. */
#define DWELL_COLUMNS_STATEMENT                                                       \
	DWELL_COLUMN_LINE_BEGIN, DWELL_COLUMN_LINE_END, DWELL_COLUMN_CHARACTER_BEGIN, \
		DWELL_COLUMN_CHARACTER_END
