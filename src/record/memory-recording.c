/*
 * Recordings of allocations; see memory-recording.h. A region that ends between two slices goes to
 * the next one.
 */
#include "record/memory-recording.h"

#include "base/cleanup.h"
#include "collect/clr/allocations.h"
#include "record/environment.h"
#include "record/finish.h"
#include "record/managed-lines.h"
#include "record/recorded-processes.h"
#include "session/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SLICE_NS 1000000000ull

enum {
	SLICE_SHARE = 100,    /* a slice is never shorter than 1 / this of what was before it */
	COST_SHARE = 100,     /* nor than this many times the time of reading */
	DELTAS_MAX = 1 << 19, /* in memory */
};

/* A region that is being read. */
struct recorded {
	uint32_t region;
	uint32_t process;
	pid_t pid;   /* in our namespace, 0 = not known */
	bool is_bad; /* cannot be read any more */
	struct dw_region_allocations *allocations;
};

/* Sums over all processes that have ended. */
struct sums {
	struct dw_region_allocations_stats all;
	uint64_t processes, announcing, with_lifetime, with_stacks;
	uint64_t agent_start_ns;
};

struct dw_memory_recording {
	struct dw_profile p;
	char *output;
	struct dw_session_writer *writer;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	DW_VEC(struct recorded) open;
	struct dw_recorded_processes processes;
	struct dw_managed_lines lines;
	uint32_t modules_seen; /* whose lines were looked for */
	uint64_t next_slice_ns;
	struct sums sums;
	int rc; /* the first failure */
	struct dw_error why;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t since_start(const struct dw_memory_recording *r, uint64_t ns)
{
	return ns > r->start_ns ? ns - r->start_ns : 0;
}

/* Keep the first failure. */
static void note_failure(struct dw_memory_recording *r, int rc)
{
	if (rc && !r->rc)
		r->rc = rc;
}

int dw_memory_recording_new(const char *output, char *const *argv, struct dw_memory_recording **ret,
			    struct dw_error *err)
{
	struct dw_memory_recording *r = calloc(1, sizeof *r);
	int rc;

	if (!r)
		return -ENOMEM;
	r->processes.p = &r->p;
	r->output = strdup(output);
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->next_slice_ns = r->start_ns + SLICE_NS;
	rc = r->output ? dw_note_start(&r->p.facts, "memory", argv) : -ENOMEM;
	if (!rc)
		rc = dw_managed_lines_open(&r->lines);
	if (!rc)
		rc = dw_session_create(output, &r->writer, err);
	if (rc)
		dw_memory_recording_free(r, false);
	else
		*ret = r;
	return rc;
}

static struct recorded *find(const struct dw_memory_recording *r, uint32_t region)
{
	dw_vec_each(d, &r->open) {
		if (d->region == region)
			return d;
	}
	return NULL;
}

static int add_recorded(struct dw_memory_recording *r, const struct dw_region_look *look,
			const struct dw_region_process *p)
{
	struct recorded d = {.region = look->region, .pid = p ? p->pid : 0};
	int rc = dw_recorded_process(&r->processes, look, p, since_start(r, look->head->start_ns),
				     &d.process);

	if (!rc)
		rc = dw_region_allocations_new(&r->p, d.process, &d.allocations);
	if (!rc)
		rc = dw_vec_push(&r->open, d);
	if (rc)
		dw_region_allocations_free(d.allocations);
	return rc;
}

void dw_memory_recording_began(struct dw_memory_recording *r, const struct dw_region_look *look,
			       const struct dw_region_process *p)
{
	note_failure(r, add_recorded(r, look, p));
}

/* Look for the lines of assemblies that have come. */
static int find_lines(struct dw_memory_recording *r, const struct recorded *d,
		      const struct dw_region_look *look)
{
	const struct dw_managed_owner owner = {d->pid, look->owner.uid, look->owner.gid};
	int rc = 0;

	while (r->modules_seen < dw_modules_count(&r->p.modules) && !rc) {
		const struct dw_module *m = dw_modules_get(&r->p.modules, ++r->modules_seen);

		if (m->kind == DWELL_MODULE_MANAGED)
			rc = dw_managed_lines_add(&r->lines, r->modules_seen,
						  dw_strings_get(&r->p.strings, m->path), &owner);
	}
	return rc;
}

/* Read what @look shows into slice @slice, which may be the one that is to come. */
static void read_region(struct dw_memory_recording *r, struct recorded *d,
			const struct dw_region_look *look, size_t slice)
{
	const struct dw_allocations_reading now = {look->head, r->start_ns, (uint32_t)slice};
	int rc = d->is_bad ? 0 : dw_region_allocations_read(d->allocations, look->fd, &now);

	dw_recorded_threads_name(&r->processes, d->process, d->pid);
	note_failure(r, find_lines(r, d, look));
	/* A region that makes no sense is its program's matter. */
	d->is_bad |= rc && rc != DWELL_ERR_NOT_FOUND;
	if (rc == -ENOMEM)
		note_failure(r, rc);
}

static int flush(struct dw_memory_recording *r, struct dw_error *err)
{
	if (!r->rc)
		r->rc = dw_session_flush(r->writer, &r->p, &r->why);
	if (r->rc && err && r->why.code)
		dw_error_set(err, r->rc, "%s", dw_error_message(&r->why));
	return r->rc;
}

/* End the slice that goes on now. */
static void end_slice(struct dw_memory_recording *r, uint64_t ns)
{
	struct dw_call_slice slice = {since_start(r, ns)};

	note_failure(r, dw_vec_push(&r->p.calls.slices, slice));
}

static void add_sums(struct sums *s, const struct dw_region_head *head,
		     const struct dw_region_allocations_stats *one)
{
	dw_alloc_count_add(&s->all.allocated, &one->allocated);
	dw_alloc_count_add(&s->all.threads, &one->threads);
	s->all.counted_bytes += one->counted_bytes;
	s->all.types += one->types;
	s->all.groups += one->groups;
	s->all.nodes += one->nodes;
	s->all.gcs += one->gcs;
	s->all.broken += one->broken;
	for (int i = 0; i < DWELL_CLR_FACTS; i++)
		s->all.facts[i] += one->facts[i];
	s->processes++;
	s->announcing += one->facts[DWELL_CLR_ANNOUNCES_ALL] != 0;
	s->with_lifetime += one->facts[DWELL_CLR_HAS_LIFETIME] != 0;
	s->with_stacks += one->facts[DWELL_CLR_HAS_STACKS] != 0;
	s->agent_start_ns += head->agent_start_ns;
}

/* Whether process @id still has a region. */
static bool has_region(const struct dw_memory_recording *r, uint32_t id)
{
	dw_vec_each(d, &r->open) {
		if (d->process == id)
			return true;
	}
	return false;
}

/* All threads of process @id have ended by @ns, if not before. */
static void end_process(struct dw_memory_recording *r, uint32_t id, uint64_t ns)
{
	struct dw_process *process = dw_processes_get(&r->p.processes, id);

	process->end_ns = ns;
	process->dirty = true;
	for (uint32_t i = 1; i <= dw_threads_count(&r->p.threads); i++) {
		struct dw_thread *t = dw_threads_get(&r->p.threads, i);

		if (t->process != id || t->end_ns != DWELL_TIME_NONE)
			continue;
		t->end_ns = ns;
		t->dirty = true;
	}
}

void dw_memory_recording_ended(struct dw_memory_recording *r, const struct dw_region_look *look)
{
	struct recorded *d = find(r, look->region), ended;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), end = look->head->end.ns;

	if (!d)
		return;
	read_region(r, d, look, r->p.calls.slices.n);
	add_sums(&r->sums, look->head, dw_region_allocations_stats(d->allocations));
	ended = *d;
	*d = r->open.v[--r->open.n];
	dw_region_allocations_free(ended.allocations);
	if (look->is_over && !has_region(r, ended.process))
		end_process(r, ended.process, since_start(r, end ? end : now));
	if (r->p.allocations.deltas.n > DELTAS_MAX) {
		end_slice(r, now);
		flush(r, NULL);
	}
}

static void read_in_slice(void *ctx, const struct dw_region_look *look)
{
	struct dw_memory_recording *r = ctx;
	struct recorded *d = find(r, look->region);

	if (!d || r->rc)
		return;
	read_region(r, d, look, r->p.calls.slices.n - 1);
	if (r->p.allocations.deltas.n > DELTAS_MAX)
		flush(r, NULL);
}

int dw_memory_recording_tick(struct dw_memory_recording *r, struct dw_regions *regions,
			     struct dw_error *err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), spent = clock_ns(CLOCK_THREAD_CPUTIME_ID), wait;

	if (now < r->next_slice_ns || r->rc)
		return r->rc;
	end_slice(r, now);
	dw_regions_each(regions, read_in_slice, r);
	flush(r, err);
	spent = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - spent) * COST_SHARE;
	wait = SLICE_NS + since_start(r, now) / SLICE_SHARE;
	r->next_slice_ns = now + (spent > wait ? spent : wait);
	return r->rc;
}

uint64_t dw_memory_recording_processes(const struct dw_memory_recording *r)
{
	return r->sums.processes;
}

static int note_sums(struct dw_facts *facts, const struct sums *s)
{
	const struct dw_region_allocations_stats *all = &s->all;
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"processes_instrumented", s->processes},
		{"has_lifetime", s->processes && s->with_lifetime == s->processes},
		{"has_stacks", s->processes && s->with_stacks == s->processes},
		{"announces_all", s->processes && s->announcing == s->processes},
		{"objects_lost", all->facts[DWELL_CLR_LOST_OBJECTS]},
		{"objects_without_stack", all->facts[DWELL_CLR_LOST_STACKS]},
		{"objects_untracked", all->facts[DWELL_CLR_UNTRACKED]},
		{"stacks_checked", all->facts[DWELL_CLR_CHECKED]},
		{"stacks_different", all->facts[DWELL_CLR_DIFFERENT]},
		{"stack_snapshots", all->facts[DWELL_CLR_SNAPSHOTS]},
		{"bytes_announced", all->threads.bytes},
		{"bytes_counted_by_runtime", all->counted_bytes},
		{"stack_nodes", all->nodes},
		{"rows_dropped", all->broken},
		{"agent_start_ns", s->agent_start_ns},
	};
	char version[64];
	int rc = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !rc; i++)
		rc = dw_facts_set(facts, rows[i].key, (int64_t)rows[i].value);
	if (rc || s->processes != 1)
		return rc;
	snprintf(version, sizeof version, "%" PRIu64 ".%" PRIu64 ".%" PRIu64,
		 all->facts[DWELL_CLR_VERSION_MAJOR], all->facts[DWELL_CLR_VERSION_MINOR],
		 all->facts[DWELL_CLR_VERSION_BUILD]);
	return dw_facts_set_text(facts, "runtime_version", version);
}

int dw_memory_recording_stop(struct dw_memory_recording *r, const struct dw_record_result *run,
			     const struct rusage *usage, struct dw_error *err)
{
	struct dw_facts *facts = &r->p.facts;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int rc;

	end_slice(r, now);
	rc = dw_facts_set(facts, "duration_ns", (int64_t)since_start(r, now));
	if (!rc && run->ended)
		rc = dw_facts_set(facts, "wait_status", run->wait_status);
	if (!rc && run->ended)
		rc = dw_note_cpu(facts, usage);
	if (!rc)
		rc = note_sums(facts, &r->sums);
	note_failure(r, rc);
	rc = flush(r, err);
	if (!rc)
		return dw_session_close_partial(r->writer, err);
	dw_session_close_partial(r->writer, NULL);
	return rc;
}

int dw_memory_recording_finish(struct dw_memory_recording *r, struct dw_error *err)
{
	dw_auto_free char *partial = NULL;
	struct dw_finish_options options = {
		.path = r->output,
		.held = true,
		.without_code = true,
		.il_line = dw_managed_lines_find,
		.il_line_ctx = &r->lines,
	};

	if (asprintf(&partial, "%s.partial", r->output) < 0)
		return -ENOMEM;
	options.partial = partial;
	dw_profile_release(&r->p);
	return dw_finish(&options, err);
}

void dw_memory_recording_free(struct dw_memory_recording *r, bool discard)
{
	if (!r)
		return;
	dw_vec_each(d, &r->open)
		dw_region_allocations_free(d->allocations);
	dw_vec_release(&r->open);
	dw_recorded_processes_release(&r->processes);
	dw_managed_lines_release(&r->lines);
	dw_session_writer_free(r->writer, discard);
	dw_profile_release(&r->p);
	dw_error_clear(&r->why);
	free(r->output);
	free(r);
}
