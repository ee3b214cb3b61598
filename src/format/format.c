/* The list of formats, and what several of them need. */
#include "format/format.h"

#include "base/digits.h"
#include "format/formats.h"

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
	const struct dw_alloc_values *v = &t->all_allocs;
	const struct dw_alloc_count *dead = v->collected, alive = dw_alloc_values_alive(v);
	const struct named_value all[] = {
		{"inclusive_allocations", v->allocated.objects},
		{"exclusive_allocations", v->allocated.objects},
		{"inclusive_bytes", v->allocated.bytes},
		{"exclusive_bytes", v->allocated.bytes},
		{"gen_0_instances_collected", dead[DWELL_GENERATION_0].objects},
		{"gen_1_instances_collected", dead[DWELL_GENERATION_1].objects},
		{"gen_2_instances_collected", dead[DWELL_GENERATION_2].objects},
		{"large_object_heap_instances_collected", dead[DWELL_GENERATION_LARGE].objects},
		{"pinned_object_heap_instances_collected", dead[DWELL_GENERATION_PINNED].objects},
		{"gen_0_bytes_collected", dead[DWELL_GENERATION_0].bytes},
		{"gen_1_bytes_collected", dead[DWELL_GENERATION_1].bytes},
		{"gen_2_bytes_collected", dead[DWELL_GENERATION_2].bytes},
		{"large_object_heap_bytes_collected", dead[DWELL_GENERATION_LARGE].bytes},
		{"pinned_object_heap_bytes_collected", dead[DWELL_GENERATION_PINNED].bytes},
		{"instances_alive_at_end", alive.objects},
		{"bytes_alive_at_end", alive.bytes},
		/* Of a range. */
		{"instances_alive_at_begin", v->range.before.objects},
		{"bytes_alive_at_begin", v->range.before.bytes},
		{"instances_surviving_at_least", v->range.least.objects},
		{"instances_surviving_at_most", v->range.most.objects},
		{"bytes_surviving_at_least", v->range.least.bytes},
		{"bytes_surviving_at_most", v->range.most.bytes},
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
	const struct dw_call_values *v = &t->all.inclusive;
	const struct named_value all[] = {
		{"number_of_calls", v->calls},
		{"elapsed_inclusive_time", v->elapsed_ns},
		{"elapsed_exclusive_time", v->elapsed_ns},
		{"application_inclusive_time", v->application_ns},
		{"application_exclusive_time", v->application_ns},
		{"time_inclusive_probe_overhead", v->overhead_ns},
		{"time_exclusive_probe_overhead", v->overhead_ns},
		{"inclusive_blocked_time", v->blocked_ns},
		{"exclusive_blocked_time", v->blocked_ns},
		{"os_interval_cpu_time", v->os_cpu_ns},
		{"context_switches", v->switches},
		{"io_calls", v->io_calls},
		{"blocking_calls", v->blocking_calls},
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
		.integer = (int64_t)job->view->request.totals->samples,
	};
	struct dw_format_fact blocked = {
		.key = "inclusive_blocked_time",
		.integer = (int64_t)job->view->request.totals->blocked_ns,
	};
	bool says_kept = false, has_blocked = job->view->request.totals->has_blocked;

	if (dw_profile_method(p) != DWELL_METHOD_SAMPLING)
		return put_facts_and_totals(job, fn, out);
	dw_vec_each(row, &p->facts.rows) {
		struct dw_format_fact fact = {row->key, row->text, row->integer};

		says_kept |= !strcmp(row->key, kept.key);
		if (!has_blocked || strcmp(row->key, blocked.key) != 0)
			fn(&fact, out);
	}
	if (has_blocked)
		fn(&blocked, out);
	if (!says_kept)
		fn(&kept, out);
	fn(&reported, out);
}
