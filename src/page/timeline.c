/*
 * What each thread did when: how long it ran and was blocked in each of equal spans of time. Of
 * samples that is what they stand for; of calls and objects the session has no more than what
 * happened in each slice altogether, spread over it evenly, as one line for all threads.
 */
#include "page/page-internal.h"

#include "analysis/points.h"
#include "base/cleanup.h"
#include "model/measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MAX = 4096, THREADS_MAX = 256 };

struct line {
	uint32_t thread;
	double sum;
};

struct spans {
	uint64_t from_ns, until_ns;
	size_t n;		   /* spans */
	uint32_t *line;		   /* by thread: its line + 1 */
	struct line *lines;	   /* those with most first */
	uint32_t lines_n, all_n;   /* that are told, and that there are */
	double *running, *blocked; /* by line and span, ns or counts */
};

static size_t span_of(const struct spans *s, double ns)
{
	double at = (ns - (double)s->from_ns) * (double)s->n / (double)(s->until_ns - s->from_ns);

	return at <= 0 ? 0 : at < (double)s->n ? (size_t)at : s->n - 1;
}

/* Add @amount, evenly from @begin to @end, to @row of s->n spans. */
static void spread(const struct spans *s, double begin, double end, double amount, double *row)
{
	double from = (double)s->from_ns, until = (double)s->until_ns;
	double width = (until - from) / (double)s->n, per_ns = amount / (end - begin);

	begin = begin > from ? begin : from;
	end = end < until ? end : until;
	for (size_t i = span_of(s, begin); i < s->n && begin < end; i++) {
		double edge = from + width * (double)(i + 1);
		double to = edge < end && i + 1 < s->n ? edge : end;

		if (to > begin)
			row[i] += per_ns * (to - begin);
		begin = to > begin ? to : begin;
	}
}

/* Call @fn for each point of samples in the spans, with when it began and ended. */
static void each_point(const struct dw_points *t, const struct spans *s,
		       void (*fn)(struct spans *s, uint32_t thread, double begin, double end,
				  double n, bool blocked),
		       struct spans *ctx)
{
	const struct dw_profile *p = t->profile;
	double sample_ns = dw_sample_ns(p);

	for (size_t i = 0, n = dw_points_count(t); i < n; i++) {
		uint32_t row = t->rows[i];

		if (row < t->extras_at) {
			double at = (double)p->samples.time_ns[row];

			if (at >= (double)s->from_ns && at < (double)s->until_ns)
				fn(ctx, dw_points_thread(t, p->samples.thread[row]), at, at,
				   sample_ns > 0 ? sample_ns : 1, false);
		} else if (row < t->allocs_at) {
			const struct dw_extra *x = &p->extras.rows.v[row - t->extras_at];

			if (x->measure == DWELL_MEASURE_BLOCKED)
				fn(ctx, dw_points_thread(t, x->thread), (double)x->begin_ns,
				   (double)(x->begin_ns + x->span_ns), (double)x->n, true);
		}
	}
}

static void add_to_sum(struct spans *s, uint32_t thread, double begin, double end, double n,
		       bool blocked)
{
	(void)begin;
	(void)end;
	/* Waits are long: they say less about who is worth a line. */
	s->lines[thread].sum += blocked ? n * 1e-3 : n;
}

static void add_to_span(struct spans *s, uint32_t thread, double begin, double end, double n,
			bool blocked)
{
	uint32_t line = s->line[thread];
	double *row;

	if (!line)
		return;
	row = (blocked ? s->blocked : s->running) + (line - 1) * s->n;
	if (end > begin)
		spread(s, begin, end, n, row);
	else if (begin >= (double)s->from_ns && begin < (double)s->until_ns)
		row[span_of(s, begin)] += n;
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (a->sum != b->sum)
		return a->sum < b->sum ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Lines for the threads with most. */
static int choose_lines(struct spans *s, uint32_t threads_n)
{
	for (uint32_t i = 0; i < threads_n; i++)
		s->lines[i].thread = i;
	qsort(s->lines, threads_n, sizeof *s->lines, compare_lines);
	while (s->all_n < threads_n && s->lines[s->all_n].sum > 0)
		s->all_n++;
	s->lines_n = s->all_n < THREADS_MAX ? s->all_n : THREADS_MAX;
	for (uint32_t i = 0; i < s->lines_n; i++)
		s->line[s->lines[i].thread] = i + 1;
	s->running = calloc(s->lines_n * s->n + 1, sizeof *s->running);
	s->blocked = calloc(s->lines_n * s->n + 1, sizeof *s->blocked);
	return s->running && s->blocked ? 0 : -ENOMEM;
}

static int from_samples(const struct dw_profile *p, const struct dw_filter *filter, struct spans *s)
{
	struct dw_points points;
	int rc = dw_points_init(&points, p, filter);

	if (!rc) {
		s->line = calloc(points.lanes.threads_n + 1ul, sizeof *s->line);
		s->lines = calloc(points.lanes.threads_n + 1ul, sizeof *s->lines);
		rc = s->line && s->lines ? 0 : -ENOMEM;
	}
	if (!rc) {
		each_point(&points, s, add_to_sum, s);
		rc = choose_lines(s, points.lanes.threads_n);
	}
	if (!rc)
		each_point(&points, s, add_to_span, s);
	dw_points_release(&points);
	return rc;
}

static int from_slices(const struct dw_calls *calls, struct spans *s)
{
	double begin = 0;

	s->lines_n = s->all_n = 1;
	s->lines = calloc(1, sizeof *s->lines);
	s->running = calloc(s->n, sizeof *s->running);
	s->blocked = calloc(s->n, sizeof *s->blocked);
	if (!s->lines || !s->running || !s->blocked)
		return -ENOMEM;
	dw_vec_each(slice, &calls->activity) {
		if ((double)slice->end_ns > begin)
			spread(s, begin, (double)slice->end_ns, (double)slice->amount, s->running);
		begin = (double)slice->end_ns;
	}
	return 0;
}

static void put_numbers(const double *v, size_t n, struct dw_out *out)
{
	dw_out_puts(out, "[");
	for (size_t i = 0; i < n; i++) {
		dw_page_comma(out, i);
		dw_format_count(out, (uint64_t)(v[i] + .5));
	}
	dw_out_puts(out, "]");
}

static void put_line(const struct dw_page *page, const struct spans *s, size_t i,
		     struct dw_out *out)
{
	const struct dw_profile *p = &page->profile;
	const struct dw_thread *t = dw_threads_get(&p->threads, s->lines[i].thread);
	const struct dw_process *process = dw_processes_get(&p->processes, t ? t->process : 0);

	dw_out_printf(out, "%s{\"id\": %d, \"unique_id\": %u, \"name\": ", i ? ", " : "",
		      t ? t->tid : 0, s->lines[i].thread);
	dw_format_json_string(out, t ? dw_strings_get(&p->strings, t->name) : "all threads");
	dw_out_printf(out, ", \"process\": %d, \"running\": ", process ? process->pid : 0);
	put_numbers(s->running + i * s->n, s->n, out);
	dw_out_puts(out, ", \"blocked\": ");
	put_numbers(s->blocked + i * s->n, s->n, out);
	dw_out_puts(out, "}");
}

/* What numbers are: time, or counts of what there is. */
static const char *unit_of(const struct dw_profile *p)
{
	switch (dw_profile_method(p)) {
	case DWELL_METHOD_MEMORY:
		return "bytes";
	case DWELL_METHOD_SAMPLING:
		return dw_sample_ns(p) > 0 ? "ns" : "count";
	default:
		return "ns";
	}
}

static void put_timeline(const struct dw_page *page, const struct spans *s, struct dw_out *out)
{
	dw_out_printf(out,
		      "\"from\": %" PRIu64 ", \"until\": %" PRIu64 ", \"buckets\": %zu, "
		      "\"unit\": \"%s\", \"threads_total\": %u, \"threads\": [",
		      s->from_ns, s->until_ns, s->n, unit_of(&page->profile), s->all_n);
	for (size_t i = 0; i < s->lines_n; i++)
		put_line(page, s, i, out);
	dw_out_puts(out, "]");
}

static void release(struct spans *s)
{
	free(s->line);
	free(s->lines);
	free(s->running);
	free(s->blocked);
}

int dw_page_op_timeline(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
			struct dw_error *err)
{
	__attribute__((cleanup(release))) struct spans s = {
		.from_ns = r->from_ns,
		.until_ns = r->until_ns ? r->until_ns : page->timeline.duration_ns,
		.n = r->buckets < BUCKETS_MAX ? (size_t)r->buckets : BUCKETS_MAX,
	};
	int rc;

	s.n = s.n ? s.n : 1;
	if (s.until_ns <= s.from_ns)
		s.until_ns = s.from_ns + 1;
	if (dw_profile_method(&page->profile) == DWELL_METHOD_SAMPLING)
		rc = from_samples(&page->profile, &page->selected->filter.filter, &s);
	else
		rc = from_slices(&page->profile.calls, &s);
	if (rc)
		return dw_error_set(err, rc, "cannot compute it: %s", dw_err_string(rc));
	put_timeline(page, &s, out);
	return 0;
}
