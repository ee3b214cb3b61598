/* The list of formats, and what several of them need. */
#include "format/format.h"

#include "base/digits.h"

#include <assert.h>
#include <string.h>

const struct dw_format_ops *const dw_formats[] = {
	&dw_format_table, &dw_format_csv, &dw_format_json, &dw_format_xml, NULL,
};

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

struct named_value {
	const char *key;
	uint64_t value;
};

enum { TOTALS_MAX = 24, RANGE_TOTALS = 8 };

/* The totals of allocations by the keys of their columns. Gives their number. */
static size_t list_alloc_totals(const struct dw_totals *t, struct named_value *ret)
{
	const uint64_t *v = t->all;
	const struct named_value all[] = {
		{"inclusive_allocations", v[DWELL_MEASURE_OBJECTS]},
		{"exclusive_allocations", v[DWELL_MEASURE_OBJECTS]},
		{"inclusive_bytes", v[DWELL_MEASURE_BYTES]},
		{"exclusive_bytes", v[DWELL_MEASURE_BYTES]},
		{"gen_0_instances_collected", v[DWELL_MEASURE_OBJECTS_GEN0]},
		{"gen_1_instances_collected", v[DWELL_MEASURE_OBJECTS_GEN1]},
		{"gen_2_instances_collected", v[DWELL_MEASURE_OBJECTS_GEN2]},
		{"large_object_heap_instances_collected", v[DWELL_MEASURE_OBJECTS_LARGE]},
		{"pinned_object_heap_instances_collected", v[DWELL_MEASURE_OBJECTS_PINNED]},
		{"gen_0_bytes_collected", v[DWELL_MEASURE_BYTES_GEN0]},
		{"gen_1_bytes_collected", v[DWELL_MEASURE_BYTES_GEN1]},
		{"gen_2_bytes_collected", v[DWELL_MEASURE_BYTES_GEN2]},
		{"large_object_heap_bytes_collected", v[DWELL_MEASURE_BYTES_LARGE]},
		{"pinned_object_heap_bytes_collected", v[DWELL_MEASURE_BYTES_PINNED]},
		{"instances_alive_at_end", v[DWELL_MEASURE_OBJECTS_ALIVE]},
		{"bytes_alive_at_end", v[DWELL_MEASURE_BYTES_ALIVE]},
		/* Of a range. */
		{"instances_alive_at_begin", v[DWELL_MEASURE_OBJECTS_BEFORE]},
		{"bytes_alive_at_begin", v[DWELL_MEASURE_BYTES_BEFORE]},
		{"instances_surviving_at_least", v[DWELL_MEASURE_OBJECTS_LEAST]},
		{"instances_surviving_at_most", v[DWELL_MEASURE_OBJECTS_MOST]},
		{"bytes_surviving_at_least", v[DWELL_MEASURE_BYTES_LEAST]},
		{"bytes_surviving_at_most", v[DWELL_MEASURE_BYTES_MOST]},
		{"range_from_ns", t->from_ns},
		{"range_to_ns", t->to_ns},
	};
	const size_t n = sizeof all / sizeof *all - (t->to_ns ? 0 : RANGE_TOTALS);

	static_assert(sizeof all / sizeof *all <= TOTALS_MAX, "room");
	memcpy(ret, all, n * sizeof *all);
	return n;
}

/* The totals of calls by the keys of their columns. Gives their number. */
static size_t list_totals(const struct dw_totals *t, struct named_value *ret)
{
	const uint64_t *v = t->all;
	const struct named_value all[] = {
		{"number_of_calls", v[DWELL_MEASURE_CALLS]},
		{"elapsed_inclusive_time", v[DWELL_MEASURE_ELAPSED]},
		{"elapsed_exclusive_time", v[DWELL_MEASURE_ELAPSED]},
		{"application_inclusive_time", v[DWELL_MEASURE_APPLICATION]},
		{"application_exclusive_time", v[DWELL_MEASURE_APPLICATION]},
		{"time_inclusive_probe_overhead", v[DWELL_MEASURE_OVERHEAD]},
		{"time_exclusive_probe_overhead", v[DWELL_MEASURE_OVERHEAD]},
		{"inclusive_blocked_time", v[DWELL_MEASURE_BLOCKED]},
		{"exclusive_blocked_time", v[DWELL_MEASURE_BLOCKED]},
		{"os_interval_cpu_time", v[DWELL_MEASURE_OS_CPU]},
		{"context_switches", v[DWELL_MEASURE_SWITCHES]},
		{"io_calls", v[DWELL_MEASURE_IO_CALLS]},
		{"blocking_calls", v[DWELL_MEASURE_BLOCKING_CALLS]},
		{"range_from_ns", t->from_ns},
		{"range_to_ns", t->to_ns},
	};
	size_t n = sizeof all / sizeof *all - (t->to_ns ? 0 : 2);

	static_assert(sizeof all / sizeof *all <= TOTALS_MAX, "room");
	memcpy(ret, all, n * sizeof *all);
	return n;
}

/* The session's facts but those that the totals say, then these. */
static void put_facts_and_totals(const struct dw_format_job *job,
				 void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
				 struct dw_out *out)
{
	const struct dw_totals *t = job->view->request.totals;
	bool has_calls = dw_profile_has_calls(job->view->request.profile);
	struct dw_format_fact intervals = {"intervals", t->whole_intervals ? "probe" : "event", 0};
	struct named_value totals[TOTALS_MAX];
	size_t n = has_calls ? list_totals(t, totals) : list_alloc_totals(t, totals);

	dw_vec_each(row, &job->view->request.profile->facts.rows) {
		struct dw_format_fact fact = {row->key, row->text, row->integer};
		bool is_total = has_calls && !strcmp(row->key, intervals.key);

		for (size_t i = 0; i < n; i++)
			is_total |= !strcmp(row->key, totals[i].key);
		if (!is_total)
			fn(&fact, out);
	}
	for (size_t i = 0; i < n; i++) {
		struct dw_format_fact fact = {totals[i].key, NULL, (int64_t)totals[i].value};

		fn(&fact, out);
	}
	if (has_calls)
		fn(&intervals, out);
}

void dw_format_facts(const struct dw_format_job *job,
		     void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
		     struct dw_out *out)
{
	const struct dw_profile *p = job->view->request.profile;
	struct dw_format_fact kept = {.key = "samples_kept", .integer = (int64_t)p->samples.n};
	struct dw_format_fact reported = {
		.key = "samples_reported",
		.integer = (int64_t)job->view->request.totals->all[DWELL_MEASURE_SAMPLES],
	};
	struct dw_format_fact blocked = {
		.key = "inclusive_blocked_time",
		.integer = (int64_t)job->view->request.totals->all[DWELL_MEASURE_BLOCKED],
	};
	bool says_kept = false, has_waits = dw_totals_has_waits(job->view->request.totals);

	if (dw_profile_method(p) != DWELL_METHOD_SAMPLING)
		return put_facts_and_totals(job, fn, out);
	dw_vec_each(row, &p->facts.rows) {
		struct dw_format_fact fact = {row->key, row->text, row->integer};

		says_kept |= !strcmp(row->key, kept.key);
		if (!has_waits || strcmp(row->key, blocked.key) != 0)
			fn(&fact, out);
	}
	if (has_waits)
		fn(&blocked, out);
	if (!says_kept)
		fn(&kept, out);
	fn(&reported, out);
}
