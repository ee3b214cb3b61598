/*
 * The table of columns, and which of them follow from what a profile measured; see column.h. Titles
 * are documented in docs/report-json.md.
 */
#include "view/column.h"

#include <ctype.h>
#include <string.h>

#define INFO(name, title, header, kind, of, aspect, exclusive, shown, rank) \
	[DWELL_COLUMN_##name] = {(title),                                   \
				 (header),                                  \
				 DWELL_CELL_##kind,                         \
				 DWELL_MEASURE_##of,                        \
				 DWELL_ASPECT_##aspect,                     \
				 (exclusive),                               \
				 (shown),                                   \
				 (rank)},

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

/* Write letters, digits and percent signs of the @n bytes at @text, up to a bracket, to @ret: what
 * is left of a heading when it is typed. */
static void simplify(const char *text, size_t n, char ret[DWELL_KEY_MAX_BYTES])
{
	size_t len = 0;

	for (size_t i = 0; i < n && text[i] != '(' && len + 8 < DWELL_KEY_MAX_BYTES; i++) {
		if (isalnum((unsigned char)text[i]))
			ret[len++] = (char)tolower((unsigned char)text[i]);
		else if (text[i] == '%')
			len = (size_t)(stpcpy(ret + len, "percent") - ret);
	}
	ret[len] = 0;
}

enum dw_column dw_column_find(const enum dw_column *list, const char *text, size_t n)
{
	char wanted[DWELL_KEY_MAX_BYTES], own[DWELL_KEY_MAX_BYTES];

	simplify(text, n, wanted);
	for (int by_header = 0; by_header < 2 && *wanted; by_header++)
		for (const enum dw_column *c = list; *c; c++) {
			const char *title = dw_columns[*c].title, *header = dw_columns[*c].header;
			const char *heading = by_header && header ? header : title;

			simplify(heading, strlen(heading), own);
			if (!strcmp(wanted, own))
				return *c;
		}
	return DWELL_COLUMN_END;
}

enum dw_column dw_columns_lead(enum dw_measure lead, bool exclusive)
{
	enum dw_column column = 1;

	while (dw_columns[column].measure != lead || dw_columns[column].exclusive != exclusive)
		column++;
	return column;
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

/* Which columns @column stands for, 0 = itself alone. */
static enum dw_shown group_of(enum dw_column column, dw_measures set)
{
	const bool of_calls = dw_measures_has(set, DWELL_MEASURE_CALLS);
	const bool of_work = dw_measures_has(set, DWELL_MEASURE_WORK);

	switch ((unsigned)column) {
	case DWELL_COLUMN_COUNTS:
		return DWELL_IN_COUNTS;
	case DWELL_COLUMN_VALUES:
		return DWELL_IN_FILES;
	case DWELL_COLUMN_DEFAULT_VALUES:
		return of_calls ? DWELL_IN_CALLS : of_work ? DWELL_IN_WORK : DWELL_IN_TABLES;
	case DWELL_COLUMN_DEFAULT_OWN_VALUES:
		return of_calls ? DWELL_IN_OWN_CALLS : of_work ? DWELL_IN_OWN_WORK : DWELL_IN_OWN;
	default:
		return 0;
	}
}

static bool has_column(enum dw_column column, dw_measures set)
{
	const struct dw_column_info *info = dw_column_info(column);

	/* Methods are compiled when they run: what a place in them is, no file tells. */
	if (column == DWELL_COLUMN_INSTRUCTION)
		return !dw_measures_has(set, DWELL_MEASURE_OBJECTS);
	if (info->measure == DWELL_MEASURE_WORK && dw_measures_has(set, DWELL_MEASURE_CALLS))
		return false;
	if (info->aspect == DWELL_ASPECT_ERROR && !dw_measures_has(set, DWELL_MEASURE_DRAWS))
		return false;
	return !info->measure || dw_measures_has(set, info->measure);
}

/* Put @column behind those from @first to @end, or in a table before those of higher ranks. */
static void insert(enum dw_column *first, enum dw_column *end, enum dw_column column, bool ranked)
{
	while (ranked && end > first && dw_columns[end[-1]].rank > dw_columns[column].rank) {
		*end = end[-1];
		end--;
	}
	*end = column;
}

/* The columns that tell lanes apart where @column asks for them, NULL = it does not. */
static const enum dw_column *lane_columns(enum dw_column column, enum dw_by by)
{
	switch ((unsigned)column) {
	case DWELL_COLUMN_LANE:
		return lanes[by];
	case DWELL_COLUMN_DEFAULT_LANE:
		return default_lanes[by];
	default:
		return NULL;
	}
}

void dw_columns_expand(const enum dw_column *from, dw_measures set, enum dw_by by, bool sites,
		       enum dw_column *ret)
{
	for (; *from; from++) {
		enum dw_shown group = group_of(*from, set);
		bool ranked = group > DWELL_IN_FILES;
		const enum dw_column *lane = lane_columns(*from, by);
		enum dw_column *first = ret;

		while (lane && *lane)
			*ret++ = *lane++;
		if (lane)
			continue;

		for (enum dw_column c = group ? 1 : *from; c < DWELL_COLUMNS_N; c++) {
			if ((!group || dw_columns[c].shown & group) && has_column(c, set) &&
			    !(sites && dw_columns[c].exclusive))
				insert(first, ret++, c, ranked);
			if (!group)
				break;
		}
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

bool dw_columns_show_statements(const enum dw_column *list)
{
	static const enum dw_column statement[] = {
		DWELL_COLUMN_LINE_END, DWELL_COLUMN_CHARACTER_BEGIN, DWELL_COLUMN_CHARACTER_END,
		DWELL_COLUMN_LINE_NAME};

	for (const enum dw_column *c = list; *c; c++)
		for (size_t i = 0; i < sizeof statement / sizeof *statement; i++)
			if (*c == statement[i])
				return true;
	return false;
}

void dw_columns_drop_derived(enum dw_column *list)
{
	dw_columns_drop(list, DWELL_COLUMN_CPU_INCLUSIVE);
	dw_columns_drop(list, DWELL_COLUMN_CPU_EXCLUSIVE);
	dw_columns_drop(list, DWELL_COLUMN_LATENCY_INCLUSIVE);
	dw_columns_drop(list, DWELL_COLUMN_LATENCY_INCLUSIVE_PCT);
	dw_columns_drop(list, DWELL_COLUMN_LATENCY_EXCLUSIVE);
	dw_columns_drop(list, DWELL_COLUMN_LATENCY_EXCLUSIVE_PCT);
}

bool dw_columns_want_latency(const enum dw_column *list, enum dw_column sort)
{
	bool wants = dw_columns[sort].measure == DWELL_MEASURE_LATENCY;

	for (; *list; list++)
		wants |= dw_columns[*list].measure == DWELL_MEASURE_LATENCY;
	return wants;
}
