/*
 * Slowest calls in words; see slow-summary.h.
 *
 * Why a call took long is the largest part of its time: its own work, its callees' work, I/O, other
 * blocking calls, or that it was switched away. What waited is looked for among the other slow
 * calls that are known: one of the same thread, within this one, that has most of that time itself.
 */
#include "format/slow-summary.h"

#include "format/text.h"
#include "format/words.h"

#include <string.h>

enum {
	UNUSUAL = 2,	   /* times the mean */
	TIME_COLUMNS = 10, /* "  123.4 ms" */
};

/* Parts of a call's time, in the order of struct reason's below. */
enum part { OWN, CALLEES, IO, BLOCKING, SWITCHED, PARTS };

static uint64_t part_of(const struct dw_call_slow *s, enum part part)
{
	switch (part) {
	case OWN:
		return s->exclusive.application_ns;
	case CALLEES:
		return dw_call_slow_callees(s);
	case IO:
		return s->io_ns;
	case BLOCKING:
		return s->blocking_ns;
	default:
		return s->switched_ns;
	}
}

static enum part largest_part(const struct dw_call_slow *s)
{
	enum part largest = OWN;

	for (enum part i = OWN; i < PARTS; i++)
		if (part_of(s, i) > part_of(s, largest))
			largest = i;
	return largest;
}

static const struct dw_profile *profile_of(const struct dw_summary_writer *w)
{
	return w->job->view->request.profile;
}

static const struct dw_totals *totals_of(const struct dw_summary_writer *w)
{
	return w->job->view->request.totals;
}

static const struct dw_call_slow *slow_of(const struct dw_summary_writer *w,
					  const struct dw_slow_total *t)
{
	return &profile_of(w)->calls.slow.v[t->slow];
}

static uint32_t thread_of(const struct dw_summary_writer *w, const struct dw_call_slow *s)
{
	return dw_calls_get(&profile_of(w)->calls, s->node)->thread;
}

/* What the system took of @s without its callees. */
static uint64_t waited(const struct dw_call_slow *s)
{
	uint64_t all = s->exclusive.elapsed_ns, own = s->exclusive.application_ns;

	return all > own ? all - own : 0;
}

/* Whether @inner is a call within @outer. */
static bool is_within(const struct dw_summary_writer *w, const struct dw_call_slow *inner,
		      const struct dw_call_slow *outer)
{
	return inner->start_ns >= outer->start_ns &&
	       inner->start_ns - outer->start_ns <= outer->inclusive.elapsed_ns &&
	       inner->inclusive.elapsed_ns <= outer->inclusive.elapsed_ns &&
	       thread_of(w, inner) == thread_of(w, outer);
}

/* The call within @outer that has most of the @ns itself, at least half. NULL when none is known.
 */
static const struct dw_slow_total *find_culprit(const struct dw_summary_writer *w,
						const struct dw_call_slow *outer, uint64_t ns)
{
	const struct dw_slow_total *best = NULL;
	uint64_t most = ns / 2;

	dw_vec_each(t, &totals_of(w)->slow) {
		const struct dw_call_slow *s = slow_of(w, t);

		if (waited(s) > most && is_within(w, s, outer)) {
			most = waited(s);
			best = t;
		}
	}
	return best;
}

static void put_callee(const struct dw_summary_writer *w, uint32_t function, struct dw_out *out)
{
	const struct dw_profile *p = profile_of(w);
	const struct dw_function *f = dw_functions_get(&p->functions, function);
	const char *name = f ? dw_strings_get(&p->strings, f->name) : "[unknown]";

	dw_text_put(out, name);
	dw_out_puts(out, strchr(name, '(') ? " " : "() ");
}

/* "read() blocked 35.6 ms" */
static void put_reason(const struct dw_summary_writer *w, const struct dw_slow_total *t,
		       struct dw_out *out)
{
	static const char *const words[PARTS] = {
		"its own work took ", "callees worked ", "I/O took ", "blocked ", "switched away ",
	};
	const struct dw_call_slow *s = slow_of(w, t);
	enum part part = largest_part(s);
	uint64_t ns = part_of(s, part);
	const struct dw_slow_total *culprit =
		part == IO || part == BLOCKING ? find_culprit(w, s, ns) : NULL;

	if (culprit && culprit->function != t->function) {
		s = slow_of(w, culprit);
		ns = waited(s);
		put_callee(w, culprit->function, out);
		dw_out_puts(out, s->exclusive.blocked_ns > ns / 2 ? "blocked " : "took ");
	} else {
		dw_out_puts(out, words[part]);
	}
	dw_words_time(out, (int64_t)ns);
}

static uint64_t elapsed_of(const struct dw_summary_writer *w, const struct dw_slow_total *t)
{
	return slow_of(w, t)->inclusive.elapsed_ns;
}

/* The slowest call of @function, NULL when none is known. */
static const struct dw_slow_total *find_slowest(const struct dw_summary_writer *w,
						uint32_t function)
{
	const struct dw_slow_total *best = NULL;

	dw_vec_each(t, &totals_of(w)->slow) {
		if (t->function == function && (!best || elapsed_of(w, t) > elapsed_of(w, best)))
			best = t;
	}
	return best;
}

/* The slowest call of @row's function if there is something to say about it. */
static const struct dw_slow_total *find_unusual(const struct dw_summary_writer *w,
						const struct dw_row *row)
{
	const struct dw_slow_total *t = find_slowest(w, row->function);
	uint64_t calls = dw_measured_get(&row->measured, DWELL_MEASURE_OUTER_CALLS, false);
	uint64_t elapsed = dw_measured_get(&row->measured, DWELL_MEASURE_ELAPSED, false);

	if (!t || calls < 2 || elapsed_of(w, t) / UNUSUAL < elapsed / calls)
		return NULL;
	return t;
}

/* "  40.0 ms  read  (at 131.0 ms: I/O took 39.6 ms)" */
static void put_line(struct dw_summary_writer *w, const struct dw_row *row,
		     const struct dw_slow_total *t)
{
	struct dw_out time, rest;
	size_t used;

	dw_out_init_buffer(&time);
	dw_out_init_buffer(&rest);
	dw_words_time(&time, (int64_t)elapsed_of(w, t));
	dw_out_puts(&rest, "  (at ");
	dw_words_time(&rest, (int64_t)slow_of(w, t)->start_ns);
	dw_out_puts(&rest, ": ");
	put_reason(w, t, &rest);
	used = dw_text_columns(dw_buf_str(&time.buf));
	dw_out_fill(w->out, ' ', used < TIME_COLUMNS ? TIME_COLUMNS - used : 0);
	dw_out_printf(w->out, "%s  ", dw_buf_str(&time.buf));
	dw_summary_name(w, row, TIME_COLUMNS + 3 + dw_text_columns(dw_buf_str(&rest.buf)));
	dw_out_printf(w->out, "%s)\n", dw_buf_str(&rest.buf));
	dw_out_close(&time);
	dw_out_close(&rest);
}

void dw_slow_summary_write(struct dw_summary_writer *w, size_t first)
{
	const struct dw_view *v = w->job->view;
	bool any = false;

	for (size_t i = first; i < v->n; i++) {
		const struct dw_slow_total *t;
		struct dw_row row;

		dw_view_row(v, i, &w->scratch[0], &row);
		t = find_unusual(w, &row);
		if (t && !any)
			dw_summary_heading(w, "Their slowest calls");
		if (t)
			put_line(w, &row, t);
		any |= t != NULL;
	}
}
