/* Threads with nothing to do; see wait-idle.h. */
#include "analysis/wait-idle.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "model/measure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	PARKED_PCT = 90,       /* of the recording */
	BREAK_MAX_NS = 100000, /* of a wait that is told in pieces */
};

/* What thread waits at a place in all. */
struct place {
	uint32_t thread;
	uint64_t ns;
};

struct places {
	DW_VEC(struct place) rows;
	struct dw_map index; /* thread << 32 | place -> index in rows + 1 */
};

static uint64_t key_of(const struct dw_wait_at *w)
{
	return (uint64_t)w->thread << 32 | w->place;
}

/* Whether @thread is its process's first, or not known. */
static bool is_first(const struct dw_profile *p, uint32_t thread)
{
	const struct dw_thread *th = dw_threads_get(&p->threads, thread);
	const struct dw_process *of = th ? dw_processes_get(&p->processes, th->process) : NULL;

	return !of || of->pid == th->tid;
}

/* Whether @w may be where a thread of a pool is at home: one that is not its process's first. */
static bool may_be_home(const struct dw_profile *p, const struct dw_wait_at *w)
{
	return (w->kind == DWELL_WAIT_CONDITION || w->kind == DWELL_WAIT_IDLE) &&
	       !is_first(p, w->thread) && !w->is_pooled;
}

/* Whether @w is a wait of a thread that its runtime has for purposes of its own. */
static bool is_service(const struct dw_profile *p, const struct dw_wait_at *w)
{
	const struct dw_thread *th = dw_threads_get(&p->threads, w->thread);

	return th && w->kind != DWELL_WAIT_LOCK && w->kind != DWELL_WAIT_READY &&
	       dw_wait_is_service_thread(dw_strings_get(&p->strings, th->name));
}

/* Whether @w is of a thread that a pool has, between two pieces of work. Of others nobody knows
 * what they wait for in code without probes. */
static bool is_between(const struct dw_wait_at *w)
{
	return w->is_pooled && w->is_external && w->kind != DWELL_WAIT_READY;
}

static int add_place(struct places *t, const struct dw_wait_at *w)
{
	uint32_t at = dw_map_get(&t->index, key_of(w));

	if (!at) {
		if (dw_vec_push(&t->rows, (struct place){.thread = w->thread}) ||
		    dw_map_put(&t->index, key_of(w), (uint32_t)t->rows.n))
			return -ENOMEM;
		at = (uint32_t)t->rows.n;
	}
	t->rows.v[at - 1].ns += w->ns;
	return 0;
}

int dw_find_idle_threads(const struct dw_profile *p, struct dw_wait_at *v, size_t n)
{
	dw_auto_free uint32_t *home = calloc(dw_threads_count(&p->threads) + 1ul, sizeof *home);
	struct places t = {0};
	int rc = home ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++)
		if (may_be_home(p, &v[i]))
			rc = add_place(&t, &v[i]);
	for (uint32_t i = 0; i < t.rows.n && !rc; i++) {
		uint32_t *at = &home[t.rows.v[i].thread];

		if (!*at || t.rows.v[i].ns > t.rows.v[*at - 1].ns)
			*at = i + 1;
	}
	for (size_t i = 0; i < n && !rc; i++)
		if (is_service(p, &v[i]) || is_between(&v[i]))
			v[i].kind = DWELL_WAIT_IDLE;
		else if (may_be_home(p, &v[i]) &&
			 dw_map_get(&t.index, key_of(&v[i])) == home[v[i].thread])
			v[i].kind = DWELL_WAIT_IDLE;
	dw_vec_release(&t.rows);
	dw_map_release(&t.index);
	return rc;
}

/* A wait without a break, of a thread. */
struct run {
	uint64_t begin_ns, end_ns;
	uint32_t stack;
};

static uint64_t length_of(const struct run *r)
{
	return r->end_ns - r->begin_ns;
}

/* The longest run of each thread, by thread id, to @longest; @now has room for as many. */
static void find_runs(const struct dw_profile *p, uint32_t threads_n, struct run *now,
		      struct run *longest)
{
	dw_vec_each(x, &p->extras.rows) {
		struct run *at;
		uint64_t end_ns = x->begin_ns + x->span_ns;

		if (x->measure != DWELL_MEASURE_BLOCKED || x->thread > threads_n ||
		    end_ns < x->begin_ns)
			continue;
		at = &now[x->thread];
		if (at->end_ns != x->begin_ns || at->stack != x->stack)
			*at = (struct run){x->begin_ns, x->begin_ns, x->stack};
		at->end_ns = x->n + BREAK_MAX_NS >= x->span_ns ? end_ns : at->begin_ns;
		if (length_of(at) > length_of(&longest[x->thread]))
			longest[x->thread] = *at;
	}
}

/* How long @p was recorded, as far as it shows. */
static uint64_t duration_of(const struct dw_profile *p)
{
	int64_t told = dw_facts_get(&p->facts, "duration_ns", 0);
	uint64_t last = told > 0 ? (uint64_t)told : 0;

	dw_vec_each(x, &p->extras.rows)
		if (!told && x->begin_ns + x->span_ns > last)
			last = x->begin_ns + x->span_ns;
	return last;
}

/* Whether a wait of @kind may be that of a parked thread; @threads: how many its process has. */
static bool may_be_parked(enum dw_wait_kind kind, bool first, uint32_t threads)
{
	if (kind == DWELL_WAIT_LOCK || kind == DWELL_WAIT_READY || kind == DWELL_WAIT_CHILD)
		return false;
	return !first || (kind == DWELL_WAIT_CONDITION && threads > 1);
}

/* How many threads each process has, by its id. NULL without memory. */
static uint32_t *count_threads(const struct dw_profile *p)
{
	uint32_t processes_n = dw_processes_count(&p->processes);
	uint32_t *n = calloc(processes_n + 1ul, sizeof *n);

	for (uint32_t id = 1; n && id <= dw_threads_count(&p->threads); id++) {
		uint32_t process = dw_threads_get(&p->threads, id)->process;

		if (process <= processes_n)
			n[process]++;
	}
	return n;
}

int dw_find_parked_threads(const struct dw_profile *p, struct dw_wait_at *v)
{
	uint32_t threads_n = dw_threads_count(&p->threads);
	dw_auto_free struct run *now = calloc(threads_n + 1ul, sizeof *now);
	dw_auto_free struct run *longest = calloc(threads_n + 1ul, sizeof *longest);
	dw_auto_free uint32_t *threads = count_threads(p);
	uint64_t least = duration_of(p) / 100 * PARKED_PCT;

	if (!now || !longest || !threads)
		return -ENOMEM;
	find_runs(p, threads_n, now, longest);
	for (size_t i = 0; i < p->extras.rows.n; i++) {
		const struct dw_extra *x = &p->extras.rows.v[i];
		const struct dw_thread *th = dw_threads_get(&p->threads, x->thread);
		const struct run *r = th ? &longest[x->thread] : NULL;

		if (r && x->measure == DWELL_MEASURE_BLOCKED && length_of(r) &&
		    length_of(r) >= least && x->begin_ns >= r->begin_ns &&
		    x->begin_ns < r->end_ns && x->stack == r->stack &&
		    may_be_parked(v[i].kind, is_first(p, x->thread),
				  th->process <= dw_processes_count(&p->processes)
					  ? threads[th->process]
					  : 0))
			v[i].kind = DWELL_WAIT_IDLE;
	}
	return 0;
}
