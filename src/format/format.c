/* The list of formats, and what several of them need. */
#include "format/format.h"

#include "base/out.h"

#include <assert.h>
#include <stdio.h>
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

enum { TOTALS_MAX = 40 };

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

static void add_totals_of_calls(struct totals *t)
{
	add_columns(t, call_totals);
	add_total(t, "os_interval_cpu_time", t->of->all[DWELL_MEASURE_OS_CPU]);
	add_columns(t, event_totals);
}

static void add_totals_of_samples(struct totals *t, const struct dw_profile *p)
{
	for (unsigned m = 0; m < DWELL_MEASURES; m++)
		if (m != DWELL_MEASURE_SAMPLES && dw_totals_has(t->of, m))
			add_columns(
				t, (enum dw_column[]){dw_columns_lead(m, false), DWELL_COLUMN_END});
	if (dw_facts_get(&p->facts, "samples_kept", -1) < 0)
		add_total(t, "samples_kept", p->samples.n);
	add_total(t, "samples_reported", t->of->all[DWELL_MEASURE_SAMPLES]);
}

/* How long what was waited for, what does not count, too: "waits_lock_time" ... */
static void add_waits(struct totals *t)
{
	char key[DWELL_KEY_MAX_BYTES];

	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++)
		if (t->of->waits[kind].ns) {
			snprintf(key, sizeof key, "waits_%s_time", dw_wait_kind_name(kind));
			add_total(t, key, t->of->waits[kind].ns);
		}
}

void dw_format_facts(const struct dw_format_job *job,
		     void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
		     struct dw_out *out)
{
	const struct dw_profile *p = job->view->request.profile;
	const struct dw_totals *t = job->view->request.totals;
	const bool has_calls = dw_profile_has_calls(p);
	struct dw_format_fact intervals = {"intervals", t->delimited_intervals ? "probe" : "event",
					   0};
	struct totals totals = {.of = t};

	if (has_calls)
		add_totals_of_calls(&totals);
	else if (dw_totals_has(t, DWELL_MEASURE_SAMPLES))
		add_totals_of_samples(&totals, p);
	else
		add_columns(&totals, allocation_totals);
	if (dw_view_sums_waits(job->view))
		add_waits(&totals);
	if (t->to_ns && !has_calls)
		add_columns(&totals, range_totals);
	if (t->to_ns) {
		add_total(&totals, "range_from_ns", t->from_ns);
		add_total(&totals, "range_to_ns", t->to_ns);
	}
	dw_vec_each(row, &p->facts.rows) {
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
