/*
 * The collector of allocations: .NET processes of a command have an agent that counts; their tables
 * are read slice by slice. Agents ask nothing.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/clr/allocations.h"
#include "collect/region/process.h"
#include "record/managed-lines.h"
#include "record/module-files.h"
#include "record/recorder.h"
#include "record/sliced.h"
#include "record/target-environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

struct dw_collector {
	struct dw_recorder *r;
	struct dw_regions regions;
	struct dw_target_environment environment;
	struct dw_sliced slices;
	DW_VEC(struct recorded) open;
	struct dw_managed_lines lines;
	struct dw_native_files natives;
	uint32_t modules_seen; /* whose files were looked for */
	struct sums sums;
	bool is_behind; /* more regions to look at than one round does */
};

static struct recorded *find(const struct dw_collector *c, uint32_t region)
{
	dw_vec_each(d, &c->open) {
		if (d->region == region)
			return d;
	}
	return NULL;
}

static int add_recorded(struct dw_collector *c, const struct dw_region_look *look,
			const struct dw_region_process *p)
{
	struct recorded d = {.region = look->region, .pid = p ? p->pid : 0};
	int rc = dw_recorded_process(&c->slices.processes, look, p,
				     dw_sliced_time(&c->slices, look->head->start_ns), &d.process);

	if (!rc)
		rc = dw_region_allocations_new(c->slices.p, d.process,
					       c->r->options->allocations.memory_bytes,
					       &d.allocations);
	if (!rc)
		rc = dw_vec_push(&c->open, d);
	if (rc)
		dw_region_allocations_free(d.allocations);
	return rc;
}

static void on_began(void *ctx, const struct dw_region_look *look)
{
	struct dw_collector *c = ctx;
	struct dw_region_process p = {0};
	/* The command itself is known when it has ended already, too. */
	bool is_there = !dw_region_process_read(&look->owner, &p) ||
			look->owner.pid == c->r->run.launch.pid;

	dw_recorder_fail(c->r, add_recorded(c, look, is_there ? &p : NULL));
	dw_region_process_release(&p);
}

/* Look for the files of modules that have come: lines of assemblies, symbols of others. */
static int find_files(struct dw_collector *c, const struct recorded *d,
		      const struct dw_region_look *look)
{
	const struct dw_managed_owner owner = {d->pid, look->owner.uid, look->owner.gid};
	struct dw_profile *p = c->slices.p;
	int rc = 0;

	while (c->modules_seen < dw_modules_count(&p->modules) && !rc) {
		const struct dw_module *m = dw_modules_get(&p->modules, ++c->modules_seen);

		if (m->kind == DWELL_MODULE_MANAGED)
			rc = dw_managed_lines_add(&c->lines, c->modules_seen,
						  dw_strings_get(&p->strings, m->path), &owner);
		else if (m->kind == DWELL_MODULE_FILE)
			rc = dw_native_files_add(&c->natives, p, c->modules_seen, &owner,
						 &c->lines.own);
	}
	return rc;
}

/* Read what @look shows into @slice. */
static void read_region(struct dw_collector *c, struct recorded *d,
			const struct dw_region_look *look, uint32_t slice)
{
	const struct dw_allocations_reading now = {look->head, c->slices.start_ns, slice};
	int rc = d->is_bad ? 0 : dw_region_allocations_read(d->allocations, look->fd, &now);

	dw_recorded_threads_name(&c->slices.processes, d->process, d->pid);
	dw_recorder_fail(c->r, find_files(c, d, look));
	/* A region that makes no sense is its program's matter. */
	d->is_bad |= rc && rc != DWELL_ERR_NOT_FOUND;
	if (rc == -ENOMEM)
		dw_recorder_fail(c->r, rc);
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

static void on_ended(void *ctx, const struct dw_region_look *look)
{
	struct dw_collector *c = ctx;
	struct dw_sliced *s = &c->slices;
	struct recorded *d = find(c, look->region), ended;
	uint32_t slice = dw_sliced_now(s);
	uint64_t end_ns;

	if (!d)
		return;
	read_region(c, d, look, slice);
	add_sums(&c->sums, look->head, dw_region_allocations_stats(d->allocations));
	ended = *d;
	*d = c->open.v[--c->open.n];
	dw_region_allocations_free(ended.allocations);
	end_ns = dw_sliced_end_of(s, look);
	if (dw_recorded_process_left(&s->processes, ended.process, end_ns))
		end_threads(&s->p->threads, ended.process, end_ns);
	dw_sliced_relieve(s, slice);
}

static void read_in_slice(void *ctx, const struct dw_region_look *look)
{
	struct dw_collector *c = ctx;
	struct recorded *d = find(c, look->region);

	if (!d || c->r->rc)
		return;
	read_region(c, d, look, dw_sliced_last(&c->slices));
	dw_sliced_relieve(&c->slices, dw_sliced_last(&c->slices));
}

static int make_environment(struct dw_collector *c, struct dw_error *err)
{
	const struct dw_allocations_options *o = &c->r->options->allocations;
	dw_auto_free char *mode = NULL;
	const char *other = dw_clr_environment_conflict();

	if (other)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the environment names a .NET profiler already (%s): there can "
				    "be only one",
				    other);
	if (asprintf(&mode,
		     "memory memory=%" PRIu64
		     " stacks=%d lifetime=%d children=%d natives=%d check=%" PRIu32
		     " oracle=%d collect-at-end=%d sample=%" PRIu64,
		     o->memory_bytes, !o->without_stacks, !o->without_lifetime,
		     !o->without_children, o->has_natives, o->check, o->has_oracle,
		     o->collects_at_end, o->sample_bytes) < 0)
		return -ENOMEM;
	return dw_clr_environment_make(&c->environment, o->agent, dw_regions_path(&c->regions),
				       mode, c->r->options->argv[0]);
}

static int prepare(struct dw_recorder *r, struct dw_collector **ret, struct dw_error *err)
{
	struct dw_collector *c = *ret = calloc(1, sizeof *c);
	struct dw_regions_events events = {NULL, on_began, on_ended, c};
	int rc;

	if (!c)
		return -ENOMEM;
	c->r = r;
	c->regions.folder = (struct dw_region_folder)DW_REGION_FOLDER_INIT;
	rc = dw_regions_open(&c->regions, r->options->fallback, &events, err);
	if (!rc)
		rc = make_environment(c, err);
	r->run.launch.environment = c->environment.v;
	return rc;
}

static int start(struct dw_collector *c, struct dw_error *err)
{
	uint64_t sample_bytes = c->r->options->allocations.sample_bytes;
	int rc = dw_managed_lines_open(&c->lines);

	(void)err;
	dw_sliced_init(&c->slices, c->r);
	if (!rc && sample_bytes)
		rc = dw_facts_set(&c->r->profile.facts, "sample_bytes", (int64_t)sample_bytes);
	return rc;
}

static size_t poll_fds(struct dw_collector *c, struct pollfd *fds, size_t max)
{
	(void)max;
	fds[0] = (struct pollfd){.fd = dw_regions_fd(&c->regions), .events = POLLIN};
	return 1;
}

static int drain(struct dw_collector *c, struct dw_error *err)
{
	(void)err;
	c->is_behind = dw_regions_drain(&c->regions, dw_clock_ns(CLOCK_MONOTONIC));
	return 0;
}

static int tick(struct dw_collector *c, uint64_t now_ns, uint64_t *ret_due_ns, struct dw_error *err)
{
	int rc = dw_sliced_tick(&c->slices, &c->regions, read_in_slice, c, err);

	*ret_due_ns = c->is_behind ? now_ns : c->slices.next_ns;
	return rc;
}

static void beat(struct dw_collector *c, uint64_t now_ns)
{
	dw_regions_tick(&c->regions, now_ns);
}

static bool goes_on(const struct dw_collector *c)
{
	return c->regions.open.n;
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
		{"objects_beyond", all->facts[DWELL_CLR_OVERFLOW]},
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

/* Read all regions a last time. */
static int stop(struct dw_collector *c, int rc, struct dw_error *err)
{
	(void)err;
	dw_regions_finish(&c->regions);
	dw_run_take_signals(&c->r->run); /* those that came meanwhile */
	dw_sliced_end(&c->slices);
	dw_recorder_fail(c->r, note_sums(&c->r->profile.facts, &c->sums));
	return rc ? rc : c->r->rc;
}

static void finish(struct dw_collector *c, struct dw_finish_options *options)
{
	options->symbol_timeout_ms = 0;
	options->without_code = true;
	options->il_line = dw_managed_lines_find;
	options->il_line_ctx = &c->lines;
	options->sources = c->natives.sources.v;
	options->sources_n = c->natives.sources.n;
}

static void free_allocations(struct dw_collector *c)
{
	if (!c)
		return;
	dw_vec_each(d, &c->open)
		dw_region_allocations_free(d->allocations);
	dw_vec_release(&c->open);
	dw_managed_lines_release(&c->lines);
	dw_native_files_release(&c->natives);
	dw_sliced_release(&c->slices);
	dw_regions_release(&c->regions);
	dw_target_environment_release(&c->environment);
	free(c);
}

const struct dw_collector_ops dw_collector_allocations = {
	.activity = "recording memory",
	.method = "memory",
	.prepare = prepare,
	.start = start,
	.poll_fds = poll_fds,
	.drain = drain,
	.tick = tick,
	.beat = beat,
	.goes_on = goes_on,
	.stop = stop,
	.finish = finish,
	.free = free_allocations,
};
