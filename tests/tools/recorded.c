/* Sessions through the real writer; see recorded.h. */
#include "recorded.h"

#include "analysis/totals.h"
#include "session/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

/* Append slices [from, to) of whatever @s has in slices. */
static int add_slices(const struct synthetic *s, const uint32_t *leaves, uint32_t from, uint32_t to,
		      struct dw_profile *p)
{
	return s->alloc_groups ? synthetic_allocs(s, leaves, from, to, p)
			       : synthetic_calls(s, from, to, p);
}

static int record(const struct synthetic *s, const char *path, uint32_t flushes,
		  struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_session_writer *w = NULL;
	uint32_t *leaves = NULL;
	int rc = dw_session_create(path, &w, err);

	if (!rc)
		rc = synthetic_tables(s, &p, &leaves);
	for (uint64_t i = 0; i < flushes && !rc; i++) {
		rc = synthetic_samples(s, leaves, (uint32_t)(i * s->samples / flushes),
				       (uint32_t)((i + 1) * s->samples / flushes), &p);
		if (!rc)
			rc = add_slices(s, leaves, (uint32_t)(i * s->slices / flushes),
					(uint32_t)((i + 1) * s->slices / flushes), &p);
		if (!rc)
			rc = dw_session_flush(w, &p, err);
	}
	if (!rc)
		rc = dw_session_close_partial(w, err);
	dw_session_writer_free(w, false);
	dw_profile_release(&p);
	free(leaves);
	return rc;
}

int recorded_finish(const struct synthetic *s, const char *partial, const char *path,
		    struct dw_error *err)
{
	const struct dw_filter by_process = {.by = DWELL_BY_PROCESS, .splits_lines = true};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals totals = {0};
	int rc = dw_session_load_to_finish(partial, &p, NULL, err);

	if (!rc)
		rc = synthetic_symbols(s, &p);
	if (!rc)
		rc = dw_totals_compute(&p, &by_process, DWELL_TOTALS_ALL, &totals);
	if (!rc)
		rc = dw_session_finish(partial, path, &p, &totals, err);
	dw_totals_release(&totals);
	dw_profile_release(&p);
	return rc;
}

int recorded_session(const struct synthetic *s, const char *path, uint32_t flushes, bool finish,
		     struct dw_error *err)
{
	char partial[4096];
	int rc = record(s, path, flushes, err);

	if (rc || !finish)
		return rc;
	snprintf(partial, sizeof partial, "%s.partial", path);
	return recorded_finish(s, partial, path, err);
}

int recorded_expect(const struct synthetic *s, bool symbols, struct dw_profile *p)
{
	uint32_t *leaves = NULL;
	int rc = synthetic_tables(s, p, &leaves);

	if (!rc)
		rc = synthetic_samples(s, leaves, 0, s->samples, p);
	if (!rc)
		rc = add_slices(s, leaves, 0, s->slices, p);
	if (!rc && symbols)
		rc = synthetic_symbols(s, p);
	free(leaves);
	return rc;
}

#define SAME_ROWS(a, b, table)                                                \
	((a)->table.rows.n == (b)->table.rows.n &&                            \
	 (!(a)->table.rows.n || !memcmp((a)->table.rows.v, (b)->table.rows.v, \
					(a)->table.rows.n * sizeof *(a)->table.rows.v)))

static bool same_strings(const struct dw_strings *a, const struct dw_strings *b)
{
	bool same = a->n == b->n;

	for (uint32_t i = 0; i < a->n && same; i++)
		same = !strcmp(dw_strings_get(a, i), dw_strings_get(b, i));
	return same;
}

static bool same_samples(const struct dw_samples *a, const struct dw_samples *b)
{
	if (!a->n || !b->n) /* a session of calls */
		return a->n == b->n;
	return a->n == b->n && !memcmp(a->time_ns, b->time_ns, a->n * sizeof *a->time_ns) &&
	       !memcmp(a->thread, b->thread, a->n * sizeof *a->thread) &&
	       !memcmp(a->stack, b->stack, a->n * sizeof *a->stack);
}

/* Rows with padding, field by field. */
static bool same_processes(const struct dw_processes *a, const struct dw_processes *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 1; i < a->rows.n && same; i++) {
		const struct dw_process *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->pid == y->pid && x->parent == y->parent && x->name == y->name &&
		       x->begin_ns == y->begin_ns && x->end_ns == y->end_ns &&
		       x->user_cpu_ns == y->user_cpu_ns && x->kernel_cpu_ns == y->kernel_cpu_ns &&
		       x->command == y->command && x->command_line == y->command_line;
	}
	return same;
}

static bool same_threads(const struct dw_threads *a, const struct dw_threads *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 1; i < a->rows.n && same; i++) {
		const struct dw_thread *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->process == y->process && x->tid == y->tid && x->name == y->name &&
		       x->start == y->start && x->begin_ns == y->begin_ns && x->end_ns == y->end_ns;
	}
	return same;
}

static bool same_modules(const struct dw_modules *a, const struct dw_modules *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 1; i < a->rows.n && same; i++) {
		const struct dw_module *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->kind == y->kind && x->path == y->path && x->name == y->name &&
		       x->build_id_bytes == y->build_id_bytes &&
		       !memcmp(x->build_id, y->build_id, x->build_id_bytes) &&
		       x->deleted == y->deleted && x->device == y->device && x->inode == y->inode;
	}
	return same;
}

static bool same_facts(const struct dw_facts *a, const struct dw_facts *b)
{
	bool same = a->rows.n == b->rows.n;

	dw_vec_each(f, &a->rows)
		same &= dw_facts_get(b, f->key, -1) == dw_facts_get(a, f->key, -1) &&
			(!f->text || !strcmp(f->text, dw_facts_get_text(b, f->key)));
	return same;
}

#define SAME(a, b) \
	((a)->n == (b)->n && (!(a)->n || !memcmp((a)->v, (b)->v, (a)->n * sizeof *(a)->v)))

/* Rows with padding. */
static bool same_slow(const struct dw_calls *a, const struct dw_calls *b)
{
	bool same = a->slow.n == b->slow.n;

	for (size_t i = 0; i < a->slow.n && same; i++) {
		const struct dw_call_slow *x = &a->slow.v[i], *y = &b->slow.v[i];

		same = x->id == y->id && x->node == y->node && x->start_ns == y->start_ns &&
		       !memcmp(&x->inclusive, &y->inclusive, sizeof x->inclusive) &&
		       !memcmp(&x->exclusive, &y->exclusive, sizeof x->exclusive) &&
		       x->io_ns == y->io_ns && x->blocking_ns == y->blocking_ns &&
		       x->switched_ns == y->switched_ns;
	}
	return same;
}

/* Likewise. */
static bool same_extremes(const struct dw_calls *a, const struct dw_calls *b)
{
	bool same = a->extremes.n == b->extremes.n;

	for (size_t i = 0; i < a->extremes.n && same; i++) {
		const struct dw_call_extremes *x = &a->extremes.v[i], *y = &b->extremes.v[i];

		same = x->id == y->id && x->thread == y->thread && x->entry == y->entry &&
		       !memcmp(&x->values, &y->values, sizeof x->values);
	}
	return same;
}

/* Likewise. */
static bool same_disabled(const struct dw_calls *a, const struct dw_calls *b)
{
	bool same = a->disabled.n == b->disabled.n;

	for (size_t i = 0; i < a->disabled.n && same; i++) {
		const struct dw_call_disabled *x = &a->disabled.v[i], *y = &b->disabled.v[i];

		same = x->process == y->process && x->entry == y->entry && x->at_ns == y->at_ns &&
		       x->flags == y->flags;
	}
	return same;
}

static bool same_calls(const struct dw_calls *a, const struct dw_calls *b)
{
	return SAME(&a->nodes, &b->nodes) && SAME(&a->slices, &b->slices) &&
	       SAME(&a->deltas, &b->deltas) && same_extremes(a, b) && same_slow(a, b) &&
	       same_disabled(a, b);
}

static bool same_allocations(const struct dw_allocations *a, const struct dw_allocations *b)
{
	return SAME(&a->types, &b->types) && SAME(&a->groups, &b->groups) &&
	       SAME(&a->methods, &b->methods) && SAME(&a->deltas, &b->deltas) &&
	       SAME(&a->gcs, &b->gcs);
}

static bool same_codes(const struct dw_codes *a, const struct dw_codes *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 0; i < a->rows.n && same; i++)
		same = a->rows.v[i].function == b->rows.v[i].function &&
		       a->rows.v[i].svma == b->rows.v[i].svma &&
		       a->rows.v[i].bytes_n == b->rows.v[i].bytes_n &&
		       !memcmp(a->rows.v[i].bytes, b->rows.v[i].bytes, a->rows.v[i].bytes_n);
	return same;
}

static bool same_extras(const struct dw_extras *a, const struct dw_extras *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 0; same && i < a->rows.n; i++) {
		const struct dw_extra *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->begin_ns == y->begin_ns && x->span_ns == y->span_ns && x->n == y->n &&
		       x->thread == y->thread && x->stack == y->stack && x->measure == y->measure;
	}
	return same;
}

const char *recorded_difference(const struct dw_profile *a, const struct dw_profile *b)
{
	if (!same_strings(&a->strings, &b->strings))
		return "strings";
	if (!same_facts(&a->facts, &b->facts))
		return "facts";
	if (!same_modules(&a->modules, &b->modules))
		return "modules";
	if (!same_processes(&a->processes, &b->processes))
		return "processes";
	if (!same_threads(&a->threads, &b->threads))
		return "threads";
	if (!SAME_ROWS(a, b, frames))
		return "frames";
	if (!SAME_ROWS(a, b, stacks))
		return "stacks";
	if (!same_samples(&a->samples, &b->samples))
		return "samples";
	if (!same_extras(&a->extras, &b->extras))
		return "extras";
	if (!SAME_ROWS(a, b, functions))
		return "functions";
	if (!SAME_ROWS(a, b, locations) || a->locations.first.n != b->locations.first.n)
		return "locations";
	if (!same_calls(&a->calls, &b->calls))
		return "calls";
	if (!same_allocations(&a->allocations, &b->allocations))
		return "allocations";
	return same_codes(&a->codes, &b->codes) ? "none" : "codes";
}

int64_t recorded_query(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) &&
	    !sqlite3_prepare_v2(db, sql, -1, &st, NULL) && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}
