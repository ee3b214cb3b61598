/*
 * Recordings of allocations; see memory-recording.h.
 */
#include "record/memory-recording.h"

#include "base/clock.h"
#include "collect/clr/allocations.h"
#include "record/managed-lines.h"
#include "record/native-files.h"
#include "record/sliced.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

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
	struct dw_sliced slices;
	uint64_t memory_bytes; /* of a process's tables */
	DW_VEC(struct recorded) open;
	struct dw_managed_lines lines;
	struct dw_native_files natives;
	uint32_t modules_seen; /* whose files were looked for */
	struct sums sums;
};

int dw_memory_recording_new(const struct dw_memory_options *options,
			    struct dw_memory_recording **ret, struct dw_error *err)
{
	struct dw_memory_recording *r = calloc(1, sizeof *r);
	int rc;

	if (!r)
		return -ENOMEM;
	r->memory_bytes = options->memory_bytes;
	r->slices.start_ns = dw_clock_ns(CLOCK_MONOTONIC);
	rc = dw_managed_lines_open(&r->lines);
	if (!rc)
		rc = dw_sliced_open(&r->slices, options->output, "memory", options->argv, err);
	if (!rc && options->sample_bytes)
		rc = dw_facts_set(&r->slices.p.facts, "sample_bytes",
				  (int64_t)options->sample_bytes);
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
	int rc = dw_recorded_process(&r->slices.processes, look, p,
				     dw_sliced_time(&r->slices, look->head->start_ns), &d.process);

	if (!rc)
		rc = dw_region_allocations_new(&r->slices.p, d.process, r->memory_bytes,
					       &d.allocations);
	if (!rc)
		rc = dw_vec_push(&r->open, d);
	if (rc)
		dw_region_allocations_free(d.allocations);
	return rc;
}

void dw_memory_recording_began(struct dw_memory_recording *r, const struct dw_region_look *look,
			       const struct dw_region_process *p)
{
	dw_sliced_fail(&r->slices, add_recorded(r, look, p));
}

/* Look for the files of modules that have come: lines of assemblies, symbols of others. */
static int find_files(struct dw_memory_recording *r, const struct recorded *d,
		      const struct dw_region_look *look)
{
	const struct dw_managed_owner owner = {d->pid, look->owner.uid, look->owner.gid};
	struct dw_profile *p = &r->slices.p;
	int rc = 0;

	while (r->modules_seen < dw_modules_count(&p->modules) && !rc) {
		const struct dw_module *m = dw_modules_get(&p->modules, ++r->modules_seen);

		if (m->kind == DWELL_MODULE_MANAGED)
			rc = dw_managed_lines_add(&r->lines, r->modules_seen,
						  dw_strings_get(&p->strings, m->path), &owner);
		else if (m->kind == DWELL_MODULE_FILE)
			rc = dw_native_files_add(&r->natives, p, r->modules_seen, &owner,
						 &r->lines.own);
	}
	return rc;
}

/* Read what @look shows into @slice. */
static void read_region(struct dw_memory_recording *r, struct recorded *d,
			const struct dw_region_look *look, uint32_t slice)
{
	const struct dw_allocations_reading now = {look->head, r->slices.start_ns, slice};
	int rc = d->is_bad ? 0 : dw_region_allocations_read(d->allocations, look->fd, &now);

	dw_recorded_threads_name(&r->slices.processes, d->process, d->pid);
	dw_sliced_fail(&r->slices, find_files(r, d, look));
	/* A region that makes no sense is its program's matter. */
	d->is_bad |= rc && rc != DWELL_ERR_NOT_FOUND;
	if (rc == -ENOMEM)
		dw_sliced_fail(&r->slices, rc);
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

/* All threads of process @id have ended by @ns, if not before. */
static void end_threads(struct dw_threads *threads, uint32_t id, uint64_t ns)
{
	for (uint32_t i = 1; i <= dw_threads_count(threads); i++) {
		struct dw_thread *t = dw_threads_get(threads, i);

		if (t->process != id || t->end_ns != DWELL_TIME_NONE)
			continue;
		t->end_ns = ns;
		t->dirty = true;
	}
}

void dw_memory_recording_ended(struct dw_memory_recording *r, const struct dw_region_look *look)
{
	struct dw_sliced *s = &r->slices;
	struct recorded *d = find(r, look->region), ended;
	uint32_t slice = dw_sliced_now(s);
	uint64_t end_ns;

	if (!d)
		return;
	read_region(r, d, look, slice);
	add_sums(&r->sums, look->head, dw_region_allocations_stats(d->allocations));
	ended = *d;
	*d = r->open.v[--r->open.n];
	dw_region_allocations_free(ended.allocations);
	end_ns = dw_sliced_end_of(s, look);
	if (dw_recorded_process_left(&s->processes, ended.process, end_ns))
		end_threads(&s->p.threads, ended.process, end_ns);
	dw_sliced_relieve(s, slice);
}

static void read_in_slice(void *ctx, const struct dw_region_look *look)
{
	struct dw_memory_recording *r = ctx;
	struct recorded *d = find(r, look->region);

	if (!d || r->slices.rc)
		return;
	read_region(r, d, look, dw_sliced_last(&r->slices));
	dw_sliced_relieve(&r->slices, dw_sliced_last(&r->slices));
}

int dw_memory_recording_tick(struct dw_memory_recording *r, struct dw_regions *regions,
			     struct dw_error *err)
{
	return dw_sliced_tick(&r->slices, regions, read_in_slice, r, err);
}

uint64_t dw_memory_recording_processes(const struct dw_memory_recording *r)
{
	return r->sums.processes;
}

static int note_sums(struct dw_facts *facts, const struct sums *s)
{
	const struct dw_region_allocations_stats *all = &s->all;
	bool is_sampled = all->facts[DWELL_CLR_SAMPLE_BYTES];
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"processes_instrumented", s->processes},
		{"has_lifetime", s->processes && s->with_lifetime == s->processes},
		{"collected_at_end", all->facts[DWELL_CLR_COLLECTED_AT_END]},
		{"has_stacks", s->processes && s->with_stacks == s->processes},
		{"announces_all", s->processes && s->announcing == s->processes},
		{"objects_lost", all->facts[DWELL_CLR_LOST_OBJECTS]},
		{"objects_without_stack", all->facts[DWELL_CLR_LOST_STACKS]},
		{"objects_folded", all->facts[DWELL_CLR_FOLDED]},
		{"objects_beyond", all->facts[DWELL_CLR_BEYOND]},
		{"objects_untracked", all->facts[DWELL_CLR_UNTRACKED]},
		{"stacks_checked", all->facts[DWELL_CLR_CHECKED]},
		{"stacks_different", all->facts[DWELL_CLR_DIFFERENT]},
		{"labels_checked", all->facts[DWELL_CLR_LABELS_CHECKED]},
		{"labels_different", all->facts[DWELL_CLR_LABELS_DIFFERENT]},
		{"heap_objects", all->facts[DWELL_CLR_HEAP_OBJECTS]},
		{"heap_unannounced", all->facts[DWELL_CLR_HEAP_UNANNOUNCED]},
		{"heap_stale", all->facts[DWELL_CLR_HEAP_STALE]},
		{"frozen_bytes", all->facts[DWELL_CLR_FROZEN_BYTES]},
		{"stack_snapshots", all->facts[DWELL_CLR_SNAPSHOTS]},
		{"bytes_announced", is_sampled ? 0 : all->threads.bytes},
		{"objects_sampled", is_sampled ? all->threads.objects : 0},
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

int dw_memory_recording_stop(struct dw_memory_recording *r, struct dw_run *run,
			     struct dw_error *err)
{
	dw_sliced_end(&r->slices, run);
	dw_sliced_fail(&r->slices, note_sums(&r->slices.p.facts, &r->sums));
	return dw_sliced_stop(&r->slices, err);
}

int dw_memory_recording_finish(struct dw_memory_recording *r, uint32_t debuginfod_ms,
			       struct dw_error *err)
{
	struct dw_finish_options options = {
		.debuginfod_ms = debuginfod_ms,
		.without_code = true,
		.il_line = dw_managed_lines_find,
		.il_line_ctx = &r->lines,
		.sources = r->natives.sources.v,
		.sources_n = r->natives.sources.n,
	};

	return dw_sliced_finish(&r->slices, &options, err);
}

void dw_memory_recording_free(struct dw_memory_recording *r, bool discard)
{
	if (!r)
		return;
	dw_vec_each(d, &r->open)
		dw_region_allocations_free(d->allocations);
	dw_vec_release(&r->open);
	dw_managed_lines_release(&r->lines);
	dw_native_files_release(&r->natives);
	dw_sliced_release(&r->slices, discard);
	free(r);
}
