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

/* What instrumentation counts, and what it cost. */
#define DWELL_COLUMNS_CALLS \
	DWELL_COLUMN_CALLS, DWELL_COLUMN_PROBES_EXCLUSIVE, DWELL_COLUMN_PROBES_INCLUSIVE

/* The times that instrumentation measures, then what the operating system did. */
#define DWELL_COLUMNS_TIMES                                                                       \
	DWELL_COLUMN_EI, DWELL_COLUMN_EI_PCT, DWELL_COLUMN_EI_AVG, DWELL_COLUMN_EI_MAX,           \
		DWELL_COLUMN_EI_MIN, DWELL_COLUMN_EE, DWELL_COLUMN_EE_PCT, DWELL_COLUMN_EE_AVG,   \
		DWELL_COLUMN_EE_MAX, DWELL_COLUMN_EE_MIN, DWELL_COLUMN_AI, DWELL_COLUMN_AI_PCT,   \
		DWELL_COLUMN_AI_AVG, DWELL_COLUMN_AI_MAX, DWELL_COLUMN_AI_MIN, DWELL_COLUMN_AE,   \
		DWELL_COLUMN_AE_PCT, DWELL_COLUMN_AE_AVG, DWELL_COLUMN_AE_MAX,                    \
		DWELL_COLUMN_AE_MIN, DWELL_COLUMN_BLOCKED_INCLUSIVE,                              \
		DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT, DWELL_COLUMN_BLOCKED_EXCLUSIVE,               \
		DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT, DWELL_COLUMN_SWITCHES, DWELL_COLUMN_IO_CALLS, \
		DWELL_COLUMN_BLOCKING_CALLS

/* The same as tables for people show it. */
#define DWELL_COLUMNS_CALLS_PEOPLE                                                          \
	DWELL_COLUMN_CALLS, DWELL_COLUMN_EI_PCT, DWELL_COLUMN_EI, DWELL_COLUMN_EE_PCT,      \
		DWELL_COLUMN_EE, DWELL_COLUMN_AI_PCT, DWELL_COLUMN_AI, DWELL_COLUMN_AE_PCT, \
		DWELL_COLUMN_AE

/* The same of call sites, which have no exclusive values. */
#define DWELL_COLUMNS_SITES_PEOPLE                                                     \
	DWELL_COLUMN_CALLS, DWELL_COLUMN_EI_PCT, DWELL_COLUMN_EI, DWELL_COLUMN_AI_PCT, \
		DWELL_COLUMN_AI

/* The same of processes and threads, which have but one value of each kind. */
#define DWELL_COLUMNS_TASKS_PEOPLE                                                     \
	DWELL_COLUMN_CALLS, DWELL_COLUMN_EE_PCT, DWELL_COLUMN_EE, DWELL_COLUMN_AE_PCT, \
		DWELL_COLUMN_AE, DWELL_COLUMN_BLOCKED_EXCLUSIVE, DWELL_COLUMN_SWITCHES

/* A statement. */
#define DWELL_COLUMNS_STATEMENT                                                       \
	DWELL_COLUMN_LINE_BEGIN, DWELL_COLUMN_LINE_END, DWELL_COLUMN_CHARACTER_BEGIN, \
		DWELL_COLUMN_CHARACTER_END
