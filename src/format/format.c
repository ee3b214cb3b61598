/* The list of formats, and what several of them need. */
#include "format/format.h"

#include "base/out.h"

#include <assert.h>
#include <string.h>

#define LISTED(name) &dw_format_##name,
const struct dw_format_ops *const dw_formats[] = {DW_FORMATS(LISTED) NULL};

const struct dw_format_ops *dw_format_find(const char *name)
{
	const struct dw_format_ops *const *ops = dw_formats;

	while (*ops && strcmp((*ops)->name, name))
		ops++;
	return *ops;
}

size_t dw_format_rows(const struct dw_format_job *job)
{
	return job->rows && job->rows < job->view->n ? job->rows : job->view->n;
}

/* Write the digits from @at on, which end where the array @digits does. */
static void put_digits(struct dw_out *out, const char *digits, const char *at)
{
	dw_out_write(out, at, (size_t)(digits + DWELL_DIGITS_MAX_BYTES - 1 - at));
}

void dw_format_count(struct dw_out *out, uint64_t n)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	if (n < 10) /* most are 0 */
		return dw_out_write(out, (const char[]){(char)('0' + n)}, 1);
	put_digits(out, digits, dw_digits_decimal(n, digits));
}

void dw_format_address(struct dw_out *out, uint64_t n)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	put_digits(out, digits, dw_digits_hex(n, digits));
}

enum { TOTALS_MAX = 24 };

/* Totals of what passed, by the keys of their columns. */
struct totals {
	const struct dw_totals *of;
	size_t n;
	struct {
		char key[DWELL_KEY_MAX_BYTES];
		uint64_t value;
	} rows[TOTALS_MAX];
};

static void add_total(struct totals *t, const char *key, uint64_t value)
{
	assert(t->n < TOTALS_MAX);
	stpcpy(t->rows[t->n].key, key);
	t->rows[t->n++].value = value;
}

static void add_columns(struct totals *t, const enum dw_column *columns)
{
	for (char key[DWELL_KEY_MAX_BYTES]; *columns; columns++) {
		dw_column_key(*columns, key);
		add_total(t, key, t->of->all[dw_column_info(*columns)->measure]);
	}
}

#define ALLOCATION_TOTALS                                                                        \
	DWELL_COLUMN_ALLOCS_INCLUSIVE, DWELL_COLUMN_ALLOCS_EXCLUSIVE,                            \
		DWELL_COLUMN_BYTES_INCLUSIVE, DWELL_COLUMN_BYTES_EXCLUSIVE,                      \
		DWELL_COLUMN_INSTANCES_GEN0, DWELL_COLUMN_INSTANCES_GEN1,                        \
		DWELL_COLUMN_INSTANCES_GEN2, DWELL_COLUMN_INSTANCES_LARGE,                       \
		DWELL_COLUMN_INSTANCES_PINNED, DWELL_COLUMN_BYTES_GEN0, DWELL_COLUMN_BYTES_GEN1, \
		DWELL_COLUMN_BYTES_GEN2, DWELL_COLUMN_BYTES_LARGE, DWELL_COLUMN_BYTES_PINNED,    \
		DWELL_COLUMN_INSTANCES_ALIVE, DWELL_COLUMN_BYTES_ALIVE

static const enum dw_column allocation_totals[] = {ALLOCATION_TOTALS, DWELL_COLUMN_END};
static const enum dw_column range_totals[] = {DWELL_COLUMN_INSTANCES_BEFORE,
					      DWELL_COLUMN_BYTES_BEFORE,
					      DWELL_COLUMN_INSTANCES_LEAST,
					      DWELL_COLUMN_INSTANCES_MOST,
					      DWELL_COLUMN_BYTES_LEAST,
					      DWELL_COLUMN_BYTES_MOST,
					      DWELL_COLUMN_END};
#define CALL_TOTALS                                                                             \
	DWELL_COLUMN_CALLS, DWELL_COLUMN_EI, DWELL_COLUMN_EE, DWELL_COLUMN_AI, DWELL_COLUMN_AE, \
		DWELL_COLUMN_PROBES_INCLUSIVE, DWELL_COLUMN_PROBES_EXCLUSIVE,                   \
		DWELL_COLUMN_BLOCKED_INCLUSIVE, DWELL_COLUMN_BLOCKED_EXCLUSIVE

static const enum dw_column call_totals[] = {CALL_TOTALS, DWELL_COLUMN_END};
static const enum dw_column event_totals[] = {DWELL_COLUMN_SWITCHES, DWELL_COLUMN_IO_CALLS,
					      DWELL_COLUMN_BLOCKING_CALLS, DWELL_COLUMN_END};

/* The session's facts but those that the totals say, then these. */
static void put_facts_and_totals(const struct dw_format_job *job,
				 void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
				 struct dw_out *out)
{
	const struct dw_totals *t = job->view->request.totals;
	bool has_calls = dw_profile_has_calls(job->view->request.profile);
	struct dw_format_fact intervals = {"intervals", t->delimited_intervals ? "probe" : "event",
					   0};
	struct totals totals = {.of = t};

	add_columns(&totals, has_calls ? call_totals : allocation_totals);
	if (has_calls) {
		add_total(&totals, "os_interval_cpu_time", t->all[DWELL_MEASURE_OS_CPU]);
		add_columns(&totals, event_totals);
	} else if (t->to_ns) {
		add_columns(&totals, range_totals);
	}
	if (t->to_ns) {
		add_total(&totals, "range_from_ns", t->from_ns);
		add_total(&totals, "range_to_ns", t->to_ns);
	}
	dw_vec_each(row, &job->view->request.profile->facts.rows) {
		struct dw_format_fact fact = {row->key, row->text, row->integer};
		bool is_total = has_calls && !strcmp(row->key, intervals.key);

		for (size_t i = 0; i < totals.n; i++)
			is_total |= !strcmp(row->key, totals.rows[i].key);
		if (!is_total)
			fn(&fact, out);
	}
	for (size_t i = 0; i < totals.n; i++) {
		struct dw_format_fact fact = {totals.rows[i].key, NULL,
					      (int64_t)totals.rows[i].value};

		fn(&fact, out);
	}
	if (has_calls)
		fn(&intervals, out);
}

/* Whether @m is measured beside samples; writes the key of its total to @ret. */
static bool is_beside(const struct dw_totals *t, enum dw_measure m, char ret[DWELL_KEY_MAX_BYTES])
{
	if (m == DWELL_MEASURE_SAMPLES || !dw_totals_has(t, m))
		return false;
	dw_column_key(dw_columns_lead(m, false), ret);
	return true;
}

/* Whether @key is that of a total of a measure beside samples. */
static bool find_beside(const struct dw_totals *t, const char *key, char own[DWELL_KEY_MAX_BYTES])
{
	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		if (is_beside(t, m, own) && !strcmp(own, key))
			return true;
	return false;
}

void dw_format_facts(const struct dw_format_job *job,
		     void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
		     struct dw_out *out)
{
	const struct dw_profile *p = job->view->request.profile;
	const struct dw_totals *t = job->view->request.totals;
	char key[DWELL_KEY_MAX_BYTES];
	struct dw_format_fact kept = {.key = "samples_kept", .integer = (int64_t)p->samples.n};
	struct dw_format_fact reported = {
		.key = "samples_reported",
		.integer = (int64_t)t->all[DWELL_MEASURE_SAMPLES],
	};
	bool says_kept = false;

	if (dw_profile_method(p) != DWELL_METHOD_SAMPLING)
		return put_facts_and_totals(job, fn, out);
	dw_vec_each(row, &p->facts.rows) {
		struct dw_format_fact fact = {row->key, row->text, row->integer};

		says_kept |= !strcmp(row->key, kept.key);
		if (!find_beside(t, row->key, key))
			fn(&fact, out);
	}
	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		if (is_beside(t, m, key))
			fn(&(struct dw_format_fact){.key = key, .integer = (int64_t)t->all[m]},
			   out);
	if (!says_kept)
		fn(&kept, out);
	fn(&reported, out);
}
