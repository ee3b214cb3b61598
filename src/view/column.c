/*
 * The table of columns, and which of them follow from what a profile measured; see column.h. Titles
 * are those of reference/views-and-columns.
 */
#include "view/column.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Columns of values: what of which measure, exclusive or else inclusive. */
#define EXCLUSIVE true
#define INCLUSIVE false
#define VALUE(title_, header_, kind_, measure_, aspect_, exclusive_)               \
	{                                                                          \
		(title_), (header_), DWELL_CELL_##kind_, DWELL_MEASURE_##measure_, \
			DWELL_ASPECT_##aspect_, (exclusive_)                       \
	}

/* A total and its share, both ways. */
#define BOTH(column, title, of, kind, incl, incl_pct, excl, excl_pct)                      \
	[DWELL_COLUMN_##column##INCLUSIVE] =                                               \
		VALUE("Inclusive " title, incl, kind, of, TOTAL, INCLUSIVE),               \
	[DWELL_COLUMN_##column##INCLUSIVE_PCT] =                                           \
		VALUE("Inclusive " title " %", incl_pct, PERCENT, of, PERCENT, INCLUSIVE), \
	[DWELL_COLUMN_##column##EXCLUSIVE] =                                               \
		VALUE("Exclusive " title, excl, kind, of, TOTAL, EXCLUSIVE),               \
	[DWELL_COLUMN_##column##EXCLUSIVE_PCT] =                                           \
		VALUE("Exclusive " title " %", excl_pct, PERCENT, of, PERCENT, EXCLUSIVE)

/* A time, its share, and what a call took. */
#define TIME(column, title, header, share, of, way)                                               \
	[DWELL_COLUMN_##column] = VALUE(title " Time", header, DURATION_NS, of, TOTAL, way),      \
	[DWELL_COLUMN_##column##_PCT] = VALUE(title " Time %", share, PERCENT, of, PERCENT, way), \
	[DWELL_COLUMN_##column##_AVG] =                                                           \
		VALUE("Avg " title " Time", NULL, CALL_NS, of, AVERAGE, way),                     \
	[DWELL_COLUMN_##column##_MAX] = VALUE("Max " title " Time", NULL, CALL_NS, of, MAX, way), \
	[DWELL_COLUMN_##column##_MIN] = VALUE("Min " title " Time", NULL, CALL_NS, of, MIN, way)

/* What became of objects, or of their bytes. */
#define COUNT_OF(column, title, header, of) \
	[DWELL_COLUMN_##column] = VALUE(title, header, COUNT, of, TOTAL, INCLUSIVE)
#define LIFE(what, of, title, gen0, gen1, gen2, large, pinned, alive, growth, least, most) \
	COUNT_OF(what##_GEN0, "Gen 0 " title " Collected", gen0, of##_GEN0),               \
		COUNT_OF(what##_GEN1, "Gen 1 " title " Collected", gen1, of##_GEN1),       \
		COUNT_OF(what##_GEN2, "Gen 2 " title " Collected", gen2, of##_GEN2),       \
		COUNT_OF(what##_LARGE, "Large Object Heap " title " Collected", large,     \
			 of##_LARGE),                                                      \
		COUNT_OF(what##_PINNED, "Pinned Object Heap " title " Collected", pinned,  \
			 of##_PINNED),                                                     \
		COUNT_OF(what##_ALIVE, title " Alive At End", alive, of##_ALIVE),          \
		COUNT_OF(what##_BEFORE, title " Alive At Begin", NULL, of##_BEFORE),       \
		COUNT_OF(what##_LEAST, title " Surviving At Least", least, of##_LEAST),    \
		COUNT_OF(what##_MOST, title " Surviving At Most", most, of##_MOST),        \
		[DWELL_COLUMN_##what##_GROWTH] =                                           \
			VALUE(title " Growth", growth, CHANGE, of##_BEFORE, GROWTH, INCLUSIVE)

const struct dw_column_info dw_columns[DWELL_COLUMNS_N] = {
	[DWELL_COLUMN_END] = {"", .kind = DWELL_CELL_EMPTY},
	[DWELL_COLUMN_SECTION] = {"Section", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_PROCESS_ID] = {"Process ID", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_PROCESS_NAME] = {"Process Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_MODULE_NAME] = {"Module Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_MODULE_PATH] = {"Module Path", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_SOURCE_FILE] = {"Source File", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_FUNCTION_NAME] = {"Function Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_FUNCTION_LINE] = {"Function Line Number", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_FUNCTION_ADDRESS] = {"Function Address", .kind = DWELL_CELL_ADDRESS},
	[DWELL_COLUMN_NAME] = {"Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_LEVEL] = {"Level", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_TYPE] = {"Type", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_CALL_PATH] = {"Call Path", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_ROOT] = {"Root Function Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_PROCESSES] = {"Number of Processes", .kind = DWELL_CELL_COUNT},
	[DWELL_COLUMN_LINE_BEGIN] = {"Source Line Begin", "Line", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_LINE_END] = {"Source Line End", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_CHARACTER_BEGIN] = {"Source Character Begin", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_CHARACTER_END] = {"Source Character End", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_LINE_NAME] = {"Line Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_SOURCE_TEXT] = {"Source Text", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_INSTRUCTION_ADDRESS] = {"Instruction Address", "Address", DWELL_CELL_ADDRESS},
	[DWELL_COLUMN_INSTRUCTION] = {"Instruction", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_UNIQUE_ID] = {"Unique ID", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_THREAD_NAME] = {"Thread Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_ID] = {"ID", .kind = DWELL_CELL_NUMBER},
	[DWELL_COLUMN_BEGIN_TIME] = {"Begin Time", "Begin Time (ms)", DWELL_CELL_TIME_NS},
	[DWELL_COLUMN_END_TIME] = {"End Time", "End Time (ms)", DWELL_CELL_TIME_NS},
	BOTH(, "Samples", SAMPLES, COUNT, "Inclusive", "Incl %", "Exclusive", "Excl %"),
	COUNT_OF(CALLS, "Number of Calls", "Calls", CALLS),
	COUNT_OF(COUNTED, "Calls Only Counted", NULL, COUNTED),
	[DWELL_COLUMN_MUTED] = VALUE("Switched Off At", NULL, TIME_NS, COUNTED, BEGIN, INCLUSIVE),
	[DWELL_COLUMN_PROBES_EXCLUSIVE] = VALUE("Time Exclusive Probe Overhead", NULL, DURATION_NS,
						OVERHEAD, TOTAL, EXCLUSIVE),
	[DWELL_COLUMN_PROBES_INCLUSIVE] = VALUE("Time Inclusive Probe Overhead", NULL, DURATION_NS,
						OVERHEAD, TOTAL, INCLUSIVE),
	[DWELL_COLUMN_AT_MOST] = VALUE("Application Exclusive Time At Most", "At Most", DURATION_NS,
				       APPLICATION, AT_MOST, EXCLUSIVE),
	TIME(EI, "Elapsed Inclusive", "Elapsed Incl", "EI %", ELAPSED, INCLUSIVE),
	TIME(EE, "Elapsed Exclusive", "Elapsed Excl", "EE %", ELAPSED, EXCLUSIVE),
	TIME(AI, "Application Inclusive", "App Incl", "AI %", APPLICATION, INCLUSIVE),
	TIME(AE, "Application Exclusive", "App Excl", "AE %", APPLICATION, EXCLUSIVE),
	BOTH(BLOCKED_, "Blocked Time", BLOCKED, DURATION_NS, "Blocked Incl", "BI %", "Blocked Excl",
	     "BE %"),
	[DWELL_COLUMN_SWITCHES] =
		VALUE("Context Switches", "Switches", COUNT, SWITCHES, TOTAL, EXCLUSIVE),
	[DWELL_COLUMN_IO_CALLS] = VALUE("I/O Calls", NULL, COUNT, IO_CALLS, TOTAL, EXCLUSIVE),
	[DWELL_COLUMN_BLOCKING_CALLS] =
		VALUE("Blocking Calls", NULL, COUNT, BLOCKING_CALLS, TOTAL, EXCLUSIVE),
	[DWELL_COLUMN_CALLEES] = {"Callees Application Time", "In Callees", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_IO] = {"I/O Time", "I/O", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_BLOCKING] = {"Blocking Call Time", "Blocking", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_SWITCHED] = {"Switched Away Time", "Switched", DWELL_CELL_DURATION_NS},
	BOTH(ALLOCS_, "Allocations", OBJECTS, COUNT, "Incl Allocs", NULL, "Excl Allocs", NULL),
	BOTH(BYTES_, "Bytes", BYTES, COUNT, "Incl Bytes", "Incl %", "Excl Bytes", "Excl %"),
	[DWELL_COLUMN_BYTES_INCLUSIVE_ERROR] =
		VALUE("Inclusive Bytes Error", "± 95 %", COUNT, BYTES, ERROR, INCLUSIVE),
	[DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR] =
		VALUE("Exclusive Bytes Error", "± 95 %", COUNT, BYTES, ERROR, EXCLUSIVE),
	[DWELL_COLUMN_BYTES_ERROR] =
		VALUE("Total Bytes Error", "± 95 %", COUNT, BYTES, ERROR, INCLUSIVE),
	COUNT_OF(INSTANCES, "Instances", NULL, OBJECTS),
	[DWELL_COLUMN_INSTANCES_PCT] =
		VALUE("Total Instances %", NULL, PERCENT, OBJECTS, PERCENT, INCLUSIVE),
	LIFE(INSTANCES, OBJECTS, "Instances", "Died Gen 0", "Gen 1", "Gen 2", "Large", "Pinned",
	     "Alive", NULL, NULL, NULL),
	COUNT_OF(BYTES, "Total Bytes Allocated", "Bytes", BYTES),
	[DWELL_COLUMN_BYTES_PCT] =
		VALUE("Total Bytes %", "Bytes %", PERCENT, BYTES, PERCENT, INCLUSIVE),
	LIFE(BYTES, BYTES, "Bytes", NULL, NULL, NULL, NULL, NULL, "Alive Bytes", "Growth",
	     "Survived Min", "Max"),
	[DWELL_COLUMN_CLASS_NAME] = {"Class Name", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_GC_NUMBER] = {"GC Number", "GC", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_GC_GENERATION] = {"Generation", "Gen", DWELL_CELL_NUMBER},
	[DWELL_COLUMN_GC_TYPE] = {"GC Type", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_GC_REASON] = {"GC Reason", .kind = DWELL_CELL_TEXT},
	[DWELL_COLUMN_GC_PAUSE] = {"Pause Duration", "Pause (ms)", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_GC_ADDED] = {"Pause Added", "Added (ms)", DWELL_CELL_DURATION_NS},
	[DWELL_COLUMN_HEAP_BEFORE] = {"Heap Bytes Before", .kind = DWELL_CELL_COUNT},
	[DWELL_COLUMN_HEAP_AFTER] = {"Heap Bytes After", .kind = DWELL_CELL_COUNT},
	[DWELL_COLUMN_PROMOTED] = {"Promoted Bytes", .kind = DWELL_CELL_COUNT},
};

const char *dw_column_title(enum dw_column column)
{
	return dw_columns[column].title;
}

enum dw_cell_kind dw_column_kind(enum dw_column column)
{
	return dw_columns[column].kind;
}

void dw_column_key(enum dw_column column, char ret[DWELL_KEY_MAX_BYTES])
{
	size_t n = 0;

	for (const char *c = dw_columns[column].title; *c && n + 8 < DWELL_KEY_MAX_BYTES; c++) {
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
		const char *title = dw_columns[*list].title;

		dw_column_key(*list, key);
		if ((strlen(title) == n && !strncasecmp(title, text, n)) ||
		    (strlen(key) == n && !strncasecmp(key, text, n)))
			return *list;
	}
	return DWELL_COLUMN_END;
}

#define FIVE(group)                                                                   \
	DWELL_COLUMN_##group, DWELL_COLUMN_##group##_PCT, DWELL_COLUMN_##group##_AVG, \
		DWELL_COLUMN_##group##_MAX, DWELL_COLUMN_##group##_MIN
#define SHARES(measure)                                                             \
	DWELL_COLUMN_##measure##_INCLUSIVE, DWELL_COLUMN_##measure##_INCLUSIVE_PCT, \
		DWELL_COLUMN_##measure##_EXCLUSIVE, DWELL_COLUMN_##measure##_EXCLUSIVE_PCT
#define COLLECTED(what)                                                                     \
	DWELL_COLUMN_##what##_GEN0, DWELL_COLUMN_##what##_GEN1, DWELL_COLUMN_##what##_GEN2, \
		DWELL_COLUMN_##what##_ALIVE

static const enum dw_column counts[] = {DWELL_COLUMN_CALLS, DWELL_COLUMN_PROBES_EXCLUSIVE,
					DWELL_COLUMN_PROBES_INCLUSIVE, DWELL_COLUMN_AT_MOST,
					DWELL_COLUMN_END};

static const enum dw_column values[] = {
	DWELL_COLUMN_INCLUSIVE,
	DWELL_COLUMN_INCLUSIVE_PCT,
	DWELL_COLUMN_EXCLUSIVE,
	DWELL_COLUMN_EXCLUSIVE_PCT,
	FIVE(EI),
	FIVE(EE),
	FIVE(AI),
	FIVE(AE),
	SHARES(BLOCKED),
	DWELL_COLUMN_SWITCHES,
	DWELL_COLUMN_IO_CALLS,
	DWELL_COLUMN_BLOCKING_CALLS,
	SHARES(ALLOCS),
	SHARES(BYTES),
	DWELL_COLUMN_BYTES_INCLUSIVE_ERROR,
	DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR,
	COLLECTED(INSTANCES),
	COLLECTED(BYTES),
	DWELL_COLUMN_INSTANCES_LARGE,
	DWELL_COLUMN_BYTES_LARGE,
	DWELL_COLUMN_INSTANCES_PINNED,
	DWELL_COLUMN_BYTES_PINNED,
	DWELL_COLUMNS_SURVIVORS,
	DWELL_COLUMN_END,
};

/* What tables show by default, by the measure that leads. Waits stand beside samples. */
static const enum dw_column default_samples[] = {
	DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT,
	DWELL_COLUMN_BLOCKED_EXCLUSIVE,
	DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT,
	DWELL_COLUMN_BLOCKED_INCLUSIVE,
	DWELL_COLUMN_EXCLUSIVE_PCT,
	DWELL_COLUMN_EXCLUSIVE,
	DWELL_COLUMN_INCLUSIVE_PCT,
	DWELL_COLUMN_INCLUSIVE,
	DWELL_COLUMN_END,
};
static const enum dw_column default_calls[] = {
	DWELL_COLUMN_CALLS, DWELL_COLUMN_EI_PCT,  DWELL_COLUMN_EI, DWELL_COLUMN_EE_PCT,
	DWELL_COLUMN_EE,    DWELL_COLUMN_AI_PCT,  DWELL_COLUMN_AI, DWELL_COLUMN_AE_PCT,
	DWELL_COLUMN_AE,    DWELL_COLUMN_AT_MOST, DWELL_COLUMN_END};
static const enum dw_column default_allocations[] = {
	DWELL_COLUMN_BYTES_EXCLUSIVE_PCT,
	DWELL_COLUMN_BYTES_EXCLUSIVE,
	DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR,
	DWELL_COLUMN_ALLOCS_EXCLUSIVE,
	DWELL_COLUMN_BYTES_INCLUSIVE_PCT,
	DWELL_COLUMN_BYTES_INCLUSIVE,
	DWELL_COLUMN_BYTES_INCLUSIVE_ERROR,
	DWELL_COLUMN_ALLOCS_INCLUSIVE,
	DWELL_COLUMN_END,
};

/* The same of processes and threads, which have but one value of each kind. */
static const enum dw_column own_samples[] = {
	DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT, DWELL_COLUMN_BLOCKED_EXCLUSIVE,
	DWELL_COLUMN_EXCLUSIVE_PCT, DWELL_COLUMN_EXCLUSIVE, DWELL_COLUMN_END};
static const enum dw_column own_calls[] = {DWELL_COLUMN_CALLS,	  DWELL_COLUMN_EE_PCT,
					   DWELL_COLUMN_EE,	  DWELL_COLUMN_AE_PCT,
					   DWELL_COLUMN_AE,	  DWELL_COLUMN_BLOCKED_EXCLUSIVE,
					   DWELL_COLUMN_SWITCHES, DWELL_COLUMN_END};
static const enum dw_column own_allocations[] = {DWELL_COLUMN_BYTES_EXCLUSIVE_PCT,
						 DWELL_COLUMN_BYTES_EXCLUSIVE,
						 DWELL_COLUMN_ALLOCS_EXCLUSIVE, DWELL_COLUMN_END};

static const struct {
	enum dw_measure measure;
	const enum dw_column *defaults, *own;
	enum dw_column inclusive, exclusive;
} leads[] = {
	{DWELL_MEASURE_SAMPLES, default_samples, own_samples, DWELL_COLUMN_INCLUSIVE,
	 DWELL_COLUMN_EXCLUSIVE},
	{DWELL_MEASURE_BLOCKED, default_samples, own_samples, DWELL_COLUMN_BLOCKED_INCLUSIVE,
	 DWELL_COLUMN_BLOCKED_EXCLUSIVE},
	{DWELL_MEASURE_ELAPSED, default_calls, own_calls, DWELL_COLUMN_EI, DWELL_COLUMN_EE},
	{DWELL_MEASURE_BYTES, default_allocations, own_allocations, DWELL_COLUMN_BYTES_INCLUSIVE,
	 DWELL_COLUMN_BYTES_EXCLUSIVE},
};

/* The place of @lead in leads. */
static size_t find_lead(enum dw_measure lead)
{
	size_t i = 0;

	while (i + 1 < sizeof leads / sizeof *leads && leads[i].measure != lead)
		i++;
	return i;
}

enum dw_column dw_columns_lead(enum dw_measure lead, bool exclusive)
{
	size_t i = find_lead(lead);

	return exclusive ? leads[i].exclusive : leads[i].inclusive;
}

/* The columns that @column stands for, NULL = itself alone. */
static const enum dw_column *group_of(enum dw_column column, dw_measures set)
{
	size_t lead = find_lead(dw_measures_lead(set, false));

	switch (column) {
	case DWELL_COLUMN_COUNTS:
		return counts;
	case DWELL_COLUMN_VALUES:
		return values;
	case DWELL_COLUMN_DEFAULT_VALUES:
		return leads[lead].defaults;
	case DWELL_COLUMN_DEFAULT_OWN_VALUES:
		return leads[lead].own;
	default:
		return NULL;
	}
}

/* Whether cells of @column may hold anything where @set was measured. */
static bool has_column(enum dw_column column, dw_measures set)
{
	const struct dw_column_info *info = dw_column_info(column);

	/* Methods are compiled when they run: what a place in them is, no file tells. */
	if (column == DWELL_COLUMN_INSTRUCTION)
		return !dw_measures_has(set, DWELL_MEASURE_OBJECTS);
	if (info->aspect == DWELL_ASPECT_ERROR && !dw_measures_has(set, DWELL_MEASURE_DRAWS))
		return false;
	return !info->measure || dw_measures_has(set, info->measure);
}

void dw_columns_expand(const enum dw_column *from, dw_measures set, bool sites, enum dw_column *ret)
{
	for (; *from; from++) {
		const enum dw_column single[] = {*from, DWELL_COLUMN_END};
		const enum dw_column *group = group_of(*from, set);

		for (const enum dw_column *c = group ? group : single; *c; c++)
			if (has_column(*c, set) && !(sites && dw_column_info(*c)->exclusive))
				*ret++ = *c;
	}
	*ret = DWELL_COLUMN_END;
}

void dw_columns_drop(enum dw_column *list, enum dw_column column)
{
	enum dw_column *to = list;

	for (; *list; list++)
		if (*list != column)
			*to++ = *list;
	*to = DWELL_COLUMN_END;
}
