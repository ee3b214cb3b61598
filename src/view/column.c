/* The table of columns; see column.h. Titles are those of reference/views-and-columns. */
#include "view/column.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *title;
	enum dw_cell_kind kind;
} columns[DWELL_COLUMNS_N] = {
	[DWELL_COLUMN_END] = {"", DWELL_CELL_EMPTY},
	[DWELL_COLUMN_SECTION] = {"Section", DWELL_CELL_TEXT},
	[DWELL_COLUMN_PROCESS_ID] = {"Process ID", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_PROCESS_NAME] = {"Process Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_MODULE_NAME] = {"Module Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_MODULE_PATH] = {"Module Path", DWELL_CELL_TEXT},
	[DWELL_COLUMN_SOURCE_FILE] = {"Source File", DWELL_CELL_TEXT},
	[DWELL_COLUMN_FUNCTION_NAME] = {"Function Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_FUNCTION_LINE] = {"Function Line Number", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_FUNCTION_ADDRESS] = {"Function Address", DWELL_CELL_ADDRESS},
	[DWELL_COLUMN_NAME] = {"Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_LEVEL] = {"Level", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_TYPE] = {"Type", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_CALL_PATH] = {"Call Path", DWELL_CELL_TEXT},
	[DWELL_COLUMN_ROOT] = {"Root Function Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_PROCESSES] = {"Number of Processes", DWELL_CELL_COUNT},
	[DWELL_COLUMN_LINE_BEGIN] = {"Source Line Begin", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_LINE_END] = {"Source Line End", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_CHARACTER_BEGIN] = {"Source Character Begin", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_CHARACTER_END] = {"Source Character End", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_LINE_NAME] = {"Line Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_SOURCE_TEXT] = {"Source Text", DWELL_CELL_TEXT},
	[DWELL_COLUMN_INSTRUCTION_ADDRESS] = {"Instruction Address", DWELL_CELL_ADDRESS},
	[DWELL_COLUMN_INSTRUCTION] = {"Instruction", DWELL_CELL_TEXT},
	[DWELL_COLUMN_UNIQUE_ID] = {"Unique ID", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_THREAD_NAME] = {"Thread Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_ID] = {"ID", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_BEGIN_TIME] = {"Begin Time", DWELL_CELL_TIME_NS},
	[DWELL_COLUMN_END_TIME] = {"End Time", DWELL_CELL_TIME_NS},
	[DWELL_COLUMN_INCLUSIVE] = {"Inclusive Samples", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INCLUSIVE_PCT] = {"Inclusive Samples %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_EXCLUSIVE] = {"Exclusive Samples", DWELL_CELL_COUNT},
	[DWELL_COLUMN_EXCLUSIVE_PCT] = {"Exclusive Samples %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_CALLS] = {"Number of Calls", DWELL_CELL_COUNT},
	[DWELL_COLUMN_MUTED] = {"Switched Off At", DWELL_CELL_TIME_NS},
	[DWELL_COLUMN_COUNTED] = {"Calls Only Counted", DWELL_CELL_COUNT},
	[DWELL_COLUMN_PROBES_EXCLUSIVE] = {"Time Exclusive Probe Overhead", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_PROBES_INCLUSIVE] = {"Time Inclusive Probe Overhead", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_AT_MOST] = {"Application Exclusive Time At Most", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_EI] = {"Elapsed Inclusive Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_EI_PCT] = {"Elapsed Inclusive Time %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_EI_AVG] = {"Avg Elapsed Inclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_EI_MAX] = {"Max Elapsed Inclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_EI_MIN] = {"Min Elapsed Inclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_EE] = {"Elapsed Exclusive Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_EE_PCT] = {"Elapsed Exclusive Time %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_EE_AVG] = {"Avg Elapsed Exclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_EE_MAX] = {"Max Elapsed Exclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_EE_MIN] = {"Min Elapsed Exclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_AI] = {"Application Inclusive Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_AI_PCT] = {"Application Inclusive Time %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_AI_AVG] = {"Avg Application Inclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_AI_MAX] = {"Max Application Inclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_AI_MIN] = {"Min Application Inclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_AE] = {"Application Exclusive Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_AE_PCT] = {"Application Exclusive Time %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_AE_AVG] = {"Avg Application Exclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_AE_MAX] = {"Max Application Exclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_AE_MIN] = {"Min Application Exclusive Time", DWELL_CELL_CALL_NS},
	[DWELL_COLUMN_BLOCKED_INCLUSIVE] = {"Inclusive Blocked Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT] = {"Inclusive Blocked Time %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_BLOCKED_EXCLUSIVE] = {"Exclusive Blocked Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT] = {"Exclusive Blocked Time %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_SWITCHES] = {"Context Switches", DWELL_CELL_COUNT},
	[DWELL_COLUMN_IO_CALLS] = {"I/O Calls", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BLOCKING_CALLS] = {"Blocking Calls", DWELL_CELL_COUNT},
	[DWELL_COLUMN_CALLEES] = {"Callees Application Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_IO] = {"I/O Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_BLOCKING] = {"Blocking Call Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_SWITCHED] = {"Switched Away Time", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_ALLOCS_INCLUSIVE] = {"Inclusive Allocations", DWELL_CELL_COUNT},
	[DWELL_COLUMN_ALLOCS_INCLUSIVE_PCT] = {"Inclusive Allocations %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_ALLOCS_EXCLUSIVE] = {"Exclusive Allocations", DWELL_CELL_COUNT},
	[DWELL_COLUMN_ALLOCS_EXCLUSIVE_PCT] = {"Exclusive Allocations %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_BYTES_INCLUSIVE] = {"Inclusive Bytes", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_INCLUSIVE_PCT] = {"Inclusive Bytes %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_BYTES_EXCLUSIVE] = {"Exclusive Bytes", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_EXCLUSIVE_PCT] = {"Exclusive Bytes %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_BYTES_INCLUSIVE_ERROR] = {"Inclusive Bytes Error", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR] = {"Exclusive Bytes Error", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_ERROR] = {"Total Bytes Error", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES] = {"Instances", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_PCT] = {"Total Instances %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_INSTANCES_GEN0] = {"Gen 0 Instances Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_GEN1] = {"Gen 1 Instances Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_GEN2] = {"Gen 2 Instances Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_LARGE] = {"Large Object Heap Instances Collected",
					  DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_PINNED] = {"Pinned Object Heap Instances Collected",
					   DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_ALIVE] = {"Instances Alive At End", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_BEFORE] = {"Instances Alive At Begin", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_GROWTH] = {"Instances Growth", DWELL_CELL_CHANGE},
	[DWELL_COLUMN_INSTANCES_LEAST] = {"Instances Surviving At Least", DWELL_CELL_COUNT},
	[DWELL_COLUMN_INSTANCES_MOST] = {"Instances Surviving At Most", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES] = {"Total Bytes Allocated", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_PCT] = {"Total Bytes %", DWELL_CELL_PERCENT},
	[DWELL_COLUMN_BYTES_GEN0] = {"Gen 0 Bytes Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_GEN1] = {"Gen 1 Bytes Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_GEN2] = {"Gen 2 Bytes Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_LARGE] = {"Large Object Heap Bytes Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_PINNED] = {"Pinned Object Heap Bytes Collected", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_ALIVE] = {"Bytes Alive At End", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_BEFORE] = {"Bytes Alive At Begin", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_GROWTH] = {"Bytes Growth", DWELL_CELL_CHANGE},
	[DWELL_COLUMN_BYTES_LEAST] = {"Bytes Surviving At Least", DWELL_CELL_COUNT},
	[DWELL_COLUMN_BYTES_MOST] = {"Bytes Surviving At Most", DWELL_CELL_COUNT},
	[DWELL_COLUMN_CLASS_NAME] = {"Class Name", DWELL_CELL_TEXT},
	[DWELL_COLUMN_GC_NUMBER] = {"GC Number", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_GC_GENERATION] = {"Generation", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_GC_TYPE] = {"GC Type", DWELL_CELL_TEXT},
	[DWELL_COLUMN_GC_REASON] = {"GC Reason", DWELL_CELL_TEXT},
	[DWELL_COLUMN_GC_PAUSE] = {"Pause Duration", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_GC_ADDED] = {"Pause Added", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_HEAP_BEFORE] = {"Heap Bytes Before", DWELL_CELL_COUNT},
	[DWELL_COLUMN_HEAP_AFTER] = {"Heap Bytes After", DWELL_CELL_COUNT},
	[DWELL_COLUMN_PROMOTED] = {"Promoted Bytes", DWELL_CELL_COUNT},
};

const char *dw_column_title(enum dw_column column)
{
	return columns[column].title;
}

enum dw_cell_kind dw_column_kind(enum dw_column column)
{
	return columns[column].kind;
}

void dw_column_key(enum dw_column column, char ret[DWELL_KEY_MAX_BYTES])
{
	size_t n = 0;

	for (const char *c = columns[column].title; *c && n + 8 < DWELL_KEY_MAX_BYTES; c++) {
		if (isalnum((unsigned char)*c))
			ret[n++] = (char)tolower((unsigned char)*c);
		else if (*c == ' ')
			ret[n++] = '_';
		else if (*c == '%')
			n = (size_t)(stpcpy(ret + n, "percent") - ret);
	}
	ret[n] = 0;
}

enum dw_column dw_column_find(const enum dw_column *list, const char *text, size_t n)
{
	char key[DWELL_KEY_MAX_BYTES];

	for (; *list; list++) {
		const char *title = columns[*list].title;

		dw_column_key(*list, key);
		if ((strlen(title) == n && !strncasecmp(title, text, n)) ||
		    (strlen(key) == n && !strncasecmp(key, text, n)))
			return *list;
	}
	return DWELL_COLUMN_END;
}
