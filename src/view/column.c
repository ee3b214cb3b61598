/*
 * The table of columns, and which of them follow from what a profile measured; see column.h. Titles
 * are documented in docs/report-json.md.
 */
#include "view/column.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define INFO(name, title, header, kind, of, aspect, exclusive) \
	[DWELL_COLUMN_##name] = {(title),                      \
				 (header),                     \
				 DWELL_CELL_##kind,            \
				 DWELL_MEASURE_##of,           \
				 DWELL_ASPECT_##aspect,        \
				 (exclusive)},

const struct dw_column_info dw_columns[DWELL_COLUMNS_N] = {{""}, DW_COLUMNS(INFO)};

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

#define VALUES                                                                          \
	DWELL_COLUMN_INCLUSIVE, DWELL_COLUMN_INCLUSIVE_PCT, DWELL_COLUMN_EXCLUSIVE,     \
		DWELL_COLUMN_EXCLUSIVE_PCT, FIVE(EI), FIVE(EE), FIVE(AI), FIVE(AE),     \
		SHARES(BLOCKED), DWELL_COLUMN_SWITCHES, DWELL_COLUMN_IO_CALLS,          \
		DWELL_COLUMN_BLOCKING_CALLS, SHARES(ALLOCS), SHARES(BYTES),             \
		DWELL_COLUMN_BYTES_INCLUSIVE_ERROR, DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR, \
		COLLECTED(INSTANCES), COLLECTED(BYTES), DWELL_COLUMN_INSTANCES_LARGE,   \
		DWELL_COLUMN_BYTES_LARGE, DWELL_COLUMN_INSTANCES_PINNED,                \
		DWELL_COLUMN_BYTES_PINNED, DWELL_COLUMNS_SURVIVORS

static const enum dw_column values[] = {VALUES, DWELL_COLUMN_END};

/* What tables show by default, by the measure that leads. Waits stand beside samples. */
static const enum dw_column default_samples[] = {DWELL_COLUMN_BLOCKED_EXCLUSIVE_PCT,
						 DWELL_COLUMN_BLOCKED_EXCLUSIVE,
						 DWELL_COLUMN_BLOCKED_INCLUSIVE_PCT,
						 DWELL_COLUMN_BLOCKED_INCLUSIVE,
						 DWELL_COLUMN_EXCLUSIVE_PCT,
						 DWELL_COLUMN_EXCLUSIVE,
						 DWELL_COLUMN_INCLUSIVE_PCT,
						 DWELL_COLUMN_INCLUSIVE,
						 DWELL_COLUMN_END};
static const enum dw_column default_calls[] = {
	DWELL_COLUMN_CALLS, DWELL_COLUMN_EI_PCT,  DWELL_COLUMN_EI, DWELL_COLUMN_EE_PCT,
	DWELL_COLUMN_EE,    DWELL_COLUMN_AI_PCT,  DWELL_COLUMN_AI, DWELL_COLUMN_AE_PCT,
	DWELL_COLUMN_AE,    DWELL_COLUMN_AT_MOST, DWELL_COLUMN_END};
static const enum dw_column default_allocations[] = {DWELL_COLUMN_BYTES_EXCLUSIVE_PCT,
						     DWELL_COLUMN_BYTES_EXCLUSIVE,
						     DWELL_COLUMN_BYTES_EXCLUSIVE_ERROR,
						     DWELL_COLUMN_ALLOCS_EXCLUSIVE,
						     DWELL_COLUMN_BYTES_INCLUSIVE_PCT,
						     DWELL_COLUMN_BYTES_INCLUSIVE,
						     DWELL_COLUMN_BYTES_INCLUSIVE_ERROR,
						     DWELL_COLUMN_ALLOCS_INCLUSIVE,
						     DWELL_COLUMN_END};

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

/* What tells lanes apart, and that of it which tables show. */
static const enum dw_column lanes[][5] = {
	[DWELL_BY_PROCESS] = {DWELL_COLUMNS_PROCESS},
	[DWELL_BY_THREAD] = {DWELL_COLUMN_PROCESS_ID, DWELL_COLUMN_PROCESS_NAME,
			     DWELL_COLUMN_THREAD_ID, DWELL_COLUMN_THREAD_NAME},
	[DWELL_BY_COMMAND] = {DWELL_COLUMN_COMMAND},
};
static const enum dw_column default_lanes[][3] = {
	[DWELL_BY_PROCESS] = {DWELL_COLUMN_PROCESS_ID, DWELL_COLUMN_COMMAND},
	[DWELL_BY_THREAD] = {DWELL_COLUMN_THREAD_ID, DWELL_COLUMN_THREAD_NAME},
	[DWELL_BY_COMMAND] = {DWELL_COLUMN_COMMAND},
};

/* The columns that @column stands for, NULL = itself alone. */
static const enum dw_column *group_of(enum dw_column column, dw_measures set, enum dw_by by)
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
	case DWELL_COLUMN_LANE:
		return lanes[by];
	case DWELL_COLUMN_DEFAULT_LANE:
		return default_lanes[by];
	default:
		return NULL;
	}
}

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

void dw_columns_expand(const enum dw_column *from, dw_measures set, enum dw_by by, bool sites,
		       enum dw_column *ret)
{
	for (; *from; from++) {
		const enum dw_column single[] = {*from, DWELL_COLUMN_END};
		const enum dw_column *group = group_of(*from, set, by);

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
