/*
 * Recordings of calls; see call-recording.h.
 *
 * A process is one row of the profile however often it executes a program; each program has a
 * region of its own.
 */
#include "record/call-recording.h"

#include "base/clock.h"
#include "clone/trampolines/trampolines.h"
#include "collect/perf/cost-sampler.h"
#include "record/call-facts.h"
#include "record/call-names.h"
#include "record/call-overhead.h"
#include "record/managed-lines.h"
#include "record/sliced.h"
#include "symbol/prefetch.h"
#include "symbol/symbolize.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_NS       10000000ull  /* where there is a limit of overhead: the first slice */
#define AGAIN_NS       8000000ull   /* the one after something was switched off */
#define WAIT_NS	       3000000ull   /* where that has not been done yet */
#define LIMIT_SLICE_NS 10000000ull  /* and those that come later */
#define NAMES_NS       100000000ull /* of a recording, before its names are thought of */
#define LIMIT_NAMES_NS 300000000ull /* the same: a limit's first decisions are more urgent */

enum {
	WAITS_MAX = 4,
	LIMIT_COST_SHARE = 4, /* then a slice is no shorter than this many times its reading */
	EARLY_SLICES = 2000,  /* and they come no earlier than others */
	SAMPLES_MAX = 1 << 20,
	TREES = 8, /* processes at once whose memory for call trees all together may have */
	ROOM_MIN = 256 << 10, /* bytes of nodes that each process may have */
};

/* In place of a function's key: where samples may be. No key is 0 or has all of these bits. */
#define AT_NOTHING    0
#define AT_TRAMPOLINE (UINT64_MAX - 1)
#define AT_SHORT      (UINT64_MAX - 2)

/* A region that is being read. */
struct recorded {
	struct dw_call_recording *recording;
	uint32_t region;
	uint32_t process;
	pid_t pid; /* in our namespace, 0 = not known */
	struct dw_managed_owner owner;
	bool is_bad;	 /* cannot be read any more */
	bool is_known;	 /* has been read before, or is left out */
	uint32_t slice;	 /* that it is read for */
	size_t nodes;	 /* of the profile's that are its own */
	uint64_t room;	 /* that it was told of, 0 = not yet */
	uint64_t cpu_ns; /* of its CPU clock, when that was last read */
	struct dw_call_names names;
	struct dw_call_methods methods;
	struct dw_region_calls *calls;
	struct dw_call_overhead overhead;
	DW_VEC(struct dw_cost_sample) samples; /* since it was read */
	DW_VEC(uint64_t) keys;		       /* of its functions that these were in */
	struct dw_samples_seen seen;	       /* when it was read */
	struct dw_task_times times;	       /* of its threads, at the end of the last window */
};

struct dw_call_recording {
	struct dw_sliced slices;
	const struct dw_rights *own;
	struct dw_call_modules modules;
	struct dw_region_clock clock;
	DW_VEC(struct recorded *) open;
	struct dw_cost_sampler cost_sampler;
	struct dw_sample_windows windows; /* for its samples */
	uint64_t turn_ns;		  /* what the last turn of these took */
	struct dw_managed_lines lines;	  /* of methods */
	uint32_t modules_seen;		  /* whose lines were looked for */
	const struct dw_calls_options *options;
	uint64_t pending; /* decided about, but not done by the end */
	struct dw_call_sums sums;
	/* Opens debug files while programs run; NULL = not yet, or it cannot. */
	struct dw_prefetch *prefetch;
	bool is_prefetch_tried;
	bool is_preparing; /* for the first decisions of a limit: while probes are many */
};

int dw_call_recording_new(struct dw_recorder *recorder, const struct dw_rights *own,
			  struct dw_call_recording **ret)
{
	const struct dw_calls_options *o = &recorder->options->calls;
	struct dw_call_recording *r = calloc(1, sizeof *r);

	if (!r)
		return -ENOMEM;
	*ret = r;
	r->own = own;
	r->options = o;
	r->modules.p = &recorder->profile;
	r->modules.own = own;
	dw_moment_read(&r->clock.start);
	recorder->run.start_ns = r->clock.start.ns;
	dw_sliced_init(&r->slices, recorder);
	if (dw_managed_lines_open(&r->lines))
		r->modules_seen = UINT32_MAX;
	if (o->overhead > 0)
		r->slices.pace = (struct dw_slice_pace){LIMIT_SLICE_NS, LIMIT_COST_SHARE};
	r->windows.next_ns = UINT64_MAX;
	if (!dw_cost_sampler_watch(&r->cost_sampler, recorder->run.launch.pid))
		dw_sample_windows_begin(&r->windows, dw_clock_ns(CLOCK_MONOTONIC));
	return 0;
}

static struct recorded *find(const struct dw_call_recording *r, uint32_t region)
{
	dw_vec_each(d, &r->open) {
		if ((*d)->region == region)
			return *d;
	}
	return NULL;
}

static void free_recorded(struct recorded *d)
{
	if (!d)
		return;
	dw_region_calls_free(d->calls);
	dw_call_overhead_release(&d->overhead);
	dw_call_names_release(&d->names);
	dw_call_methods_release(&d->methods);
	dw_vec_release(&d->samples);
	dw_vec_release(&d->keys);
	free(d);
}

static int add_recorded(struct dw_call_recording *r, const struct dw_region_look *look,
			const struct dw_region_process *p)
{
	struct recorded *d = calloc(1, sizeof *d);
	struct dw_region_names names;
	int rc = d ? 0 : -ENOMEM;

	if (rc)
		return rc;
	d->recording = r;
	d->region = look->region;
	d->pid = p ? p->pid : 0;
	/* Its samples are those from now on. */
	dw_sample_windows_part(&r->windows, &d->seen, dw_clock_ns(CLOCK_MONOTONIC));
	d->names.modules = &r->modules;
	d->names.methods = &d->methods;
	dw_call_methods_init(&d->methods, r->slices.p);
	d->owner = (struct dw_managed_owner){d->pid, look->owner.uid, look->owner.gid};
	names = dw_call_names_of(&d->names);
	if (p)
		rc = dw_call_names_add_loader(&d->names, p, r->own);
	if (!rc)
		rc = dw_recorded_process(&r->slices.processes, look, p,
					 dw_sliced_time(&r->slices, look->head->start_ns),
					 &d->process);
	dw_call_overhead_init(&d->overhead, r->options->overhead, &d->names, d->process,
			      dw_sliced_time(&r->slices, look->head->start_ns));
	if (!rc)
		rc = dw_region_calls_new(r->slices.p, d->process, &names, &d->calls);
	if (!rc)
		dw_region_calls_limit(d->calls, r->options->memory_bytes);
	if (!rc)
		rc = dw_vec_push(&r->open, d);
	if (rc)
		free_recorded(d);
	return rc;
}

/* Let @d have a share of what the nodes of others leave: where many processes come, as in a build,
 * trees get smaller, and the session ends with all of them. */
static void tell_room(struct dw_call_recording *r, struct recorded *d, int fd)
{
	uint64_t others = (dw_calls_count(&r->slices.p->calls) - d->nodes) * DWELL_LINE_BYTES;
	uint64_t all = r->options->memory_bytes * TREES,
		 room = others < all ? (all - others) / TREES : 0;

	room = room > ROOM_MIN ? room : ROOM_MIN;
	if (room != d->room)
		(void)dw_region_write_room(fd, room);
	d->room = room;
}

void dw_call_recording_began(struct dw_call_recording *r, const struct dw_region_look *look,
			     const struct dw_region_process *p)
{
	int rc = add_recorded(r, look, p);

	dw_recorder_fail(r->slices.recorder, rc);
	if (!rc)
		tell_room(r, r->open.v[r->open.n - 1], look->fd);
	if (r->options->overhead > 0 && dw_sliced_now(&r->slices) < EARLY_SLICES)
		dw_sliced_hasten(&r->slices, FIRST_NS);
}

void dw_call_recording_asked(struct dw_call_recording *r, const struct dw_region_module *m,
			     const struct dw_region_process *p, struct dw_module_image *image)
{
	struct dw_call_module *module = dw_call_modules_find(&r->modules, m);
	const char *path = dw_region_process_path(p, m);

	if (!module)
		module = dw_call_modules_add(&r->modules, m, path ? path : m->path,
					     dw_region_process_open(p, m, r->own), p);
	if (module && !module->image)
		module->image = image;
}

void dw_call_recording_predisable(struct dw_call_recording *r, struct dw_regions *regions,
				  const struct dw_region_question *q,
				  const struct dw_module_image *image)
{
	struct recorded *d = find(r, q->region);

	if (d && r->options->overhead > 0)
		(void)dw_call_overhead_predisable(&d->overhead, regions, q, image);
}

static bool thread_cpu(void *ctx, int32_t tid, uint64_t *ret_ns)
{
	const struct recorded *d = ctx;
	struct dw_task_times times = {0};
	char file[64];
	int rc = dw_task_times_read(d->pid, tid, &times);

	*ret_ns = times.ran_ns;
	if (rc != -ENOENT) /* some kernels have no such file */
		return rc != -ESRCH;
	snprintf(file, sizeof file, "/proc/%d/task/%d", (int)d->pid, tid);
	return !access(file, F_OK);
}

/* The kernel tells the CPU clock of any process. */
static void read_clock(struct recorded *d)
{
	struct timespec now;
	clockid_t clock;

	if (d->pid && !clock_getcpuclockid(d->pid, &clock) && !clock_gettime(clock, &now))
		d->cpu_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool note_cost(void *ctx, const struct dw_call_cost *cost)
{
	struct recorded *d = ctx;

	return dw_call_overhead_add(&d->overhead, cost);
}

static void write_slice(void *ctx)
{
	const struct recorded *d = ctx;

	dw_sliced_relieve(&d->recording->slices, d->slice);
}

/* Switch off what costs too much. While there is such, decisions come soon. */
static int decide(struct dw_call_recording *r, struct recorded *d,
		  const struct dw_region_look *look, uint64_t read_ns)
{
	size_t before = d->overhead.decision.disabled.n;
	int rc = dw_call_overhead_decide(&d->overhead, look->fd, look->head, read_ns,
					 1e6 / r->clock.ns_per_tick);

	if (dw_sliced_last(&r->slices) >= EARLY_SLICES)
		return rc;
	if (d->overhead.waits && d->overhead.waits <= WAITS_MAX)
		dw_sliced_hasten(&r->slices, WAIT_NS);
	else if (d->overhead.decision.disabled.n > before)
		dw_sliced_hasten(&r->slices, AGAIN_NS);
	return rc;
}

/* Of an older region, too, if the process executes another program just now: it has no such
 * trampolines.
 */
static void note_sample(void *ctx, const struct dw_cost_sample *sample)
{
	const struct dw_call_recording *r = ctx;

	dw_vec_each(d, &r->open) {
		if ((*d)->pid == sample->pid && (*d)->samples.n < SAMPLES_MAX)
			(void)dw_vec_push(&(*d)->samples, *sample);
	}
}

/* Whose time it is where the processor was at @at of the clones of @place: a key or what stands for
 * one. */
static uint64_t find_in_clones(const struct dw_call_place *place, uint32_t at)
{
	const struct dw_module_image *image = place->module->image;
	const struct dw_clone_map *map;
	uint32_t i;

	if (image->probes != DWELL_PROBES_TIME)
		return DWELL_SAMPLED_EXTERNAL;
	if (at - image->header.code_at < dw_trampolines_bytes(image->probes))
		return AT_TRAMPOLINE;
	map = dw_call_module_map(place->module);
	i = map ? dw_clone_map_function(map, at) : 0;
	if (!map || i >= map->functions_n || map->functions[i].flags & DWELL_CLONE_COLD)
		return AT_NOTHING;
	if (dw_clone_map_is_probe(map, i, at))
		return AT_TRAMPOLINE;
	return map->functions[i].flags & DWELL_CLONE_PROBED ? place->first_id + i : AT_SHORT;
}

/* Likewise at @ip, in any known place. */
static uint64_t find_key(const struct dw_call_names *names, uint64_t ip)
{
	if (dw_call_methods_is_probe(names->methods, ip))
		return AT_TRAMPOLINE;
	dw_vec_each(place, &names->places) {
		const struct dw_module_image *image = place->module ? place->module->image : NULL;

		if (place->area && image && ip - place->area < image->header.bytes)
			return find_in_clones(place, (uint32_t)(ip - place->area));
		if (ip - place->start < place->bytes)
			return DWELL_SAMPLED_EXTERNAL;
	}
	return AT_NOTHING;
}

/* What was sampled of @d since it was read, and since @from_ns: before, loops around trampolines
 * measured these. Functions without probes call nothing and have little use for the stack: their
 * time is their callers', as it is by the clock. */
static struct dw_trampoline_samples take_samples(const struct dw_call_recording *r,
						 struct recorded *d, uint64_t from_ns)
{
	struct dw_trampoline_samples s = {
		.ticks = DWELL_COST_SAMPLE_PERIOD_NS / r->clock.ns_per_tick /
			 dw_sample_windows_part(&r->windows, &d->seen,
						dw_clock_ns(CLOCK_MONOTONIC))};

	d->keys.n = 0;
	dw_vec_each(sample, &d->samples) {
		uint64_t key = find_key(&d->names, sample->ip);

		if (sample->at_ns < from_ns)
			continue;
		s.all++;
		if (key == AT_TRAMPOLINE)
			s.in_trampolines++;
		if (key == AT_SHORT)
			key = find_key(&d->names, sample->top);
		if (key != AT_NOTHING && key != AT_TRAMPOLINE && key != AT_SHORT)
			(void)dw_vec_push(&d->keys, key);
	}
	s.keys = d->keys.v;
	s.keys_n = d->keys.n;
	d->samples.n = 0;
	return s;
}

/* Lines of call trees that are kept, of whatever they are. */
static uint64_t lines_kept(const struct dw_call_recording *r)
{
	uint64_t bytes = 0;

	dw_vec_each(d, &r->open)
		bytes += dw_region_calls_stats((*d)->calls)->arena_bytes;
	return bytes / DWELL_LINE_BYTES;
}

/* Whether @d is not read, since it comes when there are too many nodes already, or processes that
 * run have too many lines: a server that makes a process for each request would fill all memory. */
static bool is_left_out(struct dw_call_recording *r, struct recorded *d)
{
	if (!d->is_known && (dw_calls_count(&r->slices.p->calls) >= r->options->nodes_max ||
			     lines_kept(r) >= r->options->nodes_max)) {
		r->sums.left_out++;
		d->is_bad = true;
	}
	d->is_known = true;
	return d->is_bad;
}

/* Look for the lines of assemblies that have come with @d. 0 or -ENOMEM. */
static int find_lines(struct dw_call_recording *r, const struct recorded *d)
{
	struct dw_profile *p = r->slices.p;
	int rc = 0;

	while (r->modules_seen < dw_modules_count(&p->modules) && !rc) {
		const struct dw_module *m = dw_modules_get(&p->modules, ++r->modules_seen);

		if (m->kind == DWELL_MODULE_MANAGED)
			rc = dw_managed_lines_add(&r->lines, r->modules_seen,
						  dw_strings_get(&p->strings, m->path), &d->owner);
	}
	return rc;
}

/* Read what @look shows into now->slice. */
static void read_region(struct dw_call_recording *r, struct recorded *d,
			const struct dw_region_look *look, struct dw_region_reading *now)
{
	int rc = dw_call_names_update(&d->names, look->fd, look->head);
	size_t nodes = dw_calls_count(&r->slices.p->calls);
	uint64_t read_ns;

	dw_cost_sampler_read(&r->cost_sampler, note_sample, r);
	now->head = look->head;
	now->clock = &r->clock;
	now->samples = take_samples(r, d, look->head->measured_ns);
	now->ctx = d;
	now->full = write_slice;
	d->slice = now->slice;
	now->cost = r->options->overhead > 0 && !now->is_last ? note_cost : NULL;
	/* In another pid namespace its threads have other numbers, too. */
	if (!look->is_over && d->pid && d->pid == (pid_t)look->head->pid)
		now->thread_cpu = thread_cpu;
	if (!look->is_over)
		read_clock(d);
	if (!rc && !is_left_out(r, d))
		rc = dw_region_calls_read(d->calls, look->fd, now);
	if (!rc)
		rc = find_lines(r, d);
	d->nodes += dw_calls_count(&r->slices.p->calls) - nodes;
	if (!now->is_last)
		tell_room(r, d, look->fd);
	dw_recorded_threads_name(&r->slices.processes, d->process, d->pid);
	read_ns = dw_sliced_time(&r->slices, dw_clock_ns(CLOCK_MONOTONIC));
	if (!rc && now->cost)
		rc = decide(r, d, look, read_ns);
	/* A region that makes no sense is its program's matter. */
	d->is_bad |= rc != 0;
	if (rc == -ENOMEM)
		dw_recorder_fail(r->slices.recorder, rc);
}

/* The TSC of this moment, by which the clock learns its rate. */
static uint64_t update_clock(struct dw_call_recording *r)
{
	struct dw_region_moment now;

	dw_moment_read(&now);
	dw_region_clock_adjust(&r->clock, &now);
	return now.ticks;
}

static void close_recorded(struct dw_call_recording *r, struct recorded *d)
{
	dw_vec_each(at, &r->open) {
		if (*at == d) {
			*at = r->open.v[--r->open.n];
			break;
		}
	}
	free_recorded(d);
}

bool dw_call_recording_ended(struct dw_call_recording *r, const struct dw_region_look *look)
{
	struct dw_sliced *s = &r->slices;
	struct recorded *d = find(r, look->region);
	struct dw_region_reading reading = {.slice = dw_sliced_now(s), .is_last = true};
	bool has_methods;

	if (!d)
		return false;
	reading.until = update_clock(r);
	if (look->is_over) {
		reading.until = look->head->end.ticks;
		reading.waits_until = dw_region_clock_ticks(&r->clock, look->alive_ns);
	}
	read_region(r, d, look, &reading);
	dw_recorder_fail(s->recorder, dw_call_sums_add(&r->sums, d->process, d->cpu_ns, look->head,
						       dw_region_calls_stats(d->calls)));
	dw_call_sums_add_methods(&r->sums, &d->methods);
	has_methods = d->methods.is_there;
	r->pending += dw_call_overhead_pending(&d->overhead, look->head);
	dw_call_overhead_end(&d->overhead);
	dw_recorded_process_left(&s->processes, d->process, dw_sliced_end_of(s, look));
	close_recorded(r, d);
	dw_sliced_relieve(s, reading.slice);
	return has_methods;
}

static void read_in_slice(void *ctx, const struct dw_region_look *look)
{
	struct dw_call_recording *r = ctx;
	struct recorded *d = find(r, look->region);
	struct dw_region_reading reading = {.slice = dw_sliced_last(&r->slices)};

	if (!d || r->slices.recorder->rc)
		return;
	reading.until = update_clock(r);
	read_region(r, d, look, &reading);
	dw_sliced_relieve(&r->slices, reading.slice);
}

/* Have files opened for names, once it is known whose. Without that, the end takes longer. */
static void look_ahead(struct dw_call_recording *r)
{
	uint64_t now_ns = dw_sliced_time(&r->slices, dw_clock_ns(CLOCK_MONOTONIC));
	uint64_t from_ns = r->options->overhead > 0 ? LIMIT_NAMES_NS : NAMES_NS;

	if (r->is_prefetch_tried || now_ns < from_ns || !dw_frames_count(&r->slices.p->frames))
		return;
	r->is_prefetch_tried = true;
	(void)dw_symbolize_prefetch(r->slices.p, r->modules.sources.v, r->modules.sources.n,
				    r->slices.recorder->options->cache_dir, &r->prefetch);
}

/* Tell how often threads were switched since the last time. */
static void look_at_switches(struct dw_call_recording *r)
{
	uint64_t runs = 0, ran_ns = 0;

	dw_vec_each(at, &r->open) {
		struct recorded *d = *at;
		struct dw_task_times before = d->times;

		if (!d->pid || dw_task_times_sum(d->pid, &d->times))
			continue;
		/* Less where threads have ended. */
		if (d->times.runs < before.runs || d->times.ran_ns < before.ran_ns)
			continue;
		runs += d->times.runs - before.runs;
		ran_ns += d->times.ran_ns - before.ran_ns;
	}
	dw_sample_windows_update(&r->windows, runs, ran_ns);
}

/* Open or close the window for samples, when it is time. */
static void turn_windows(struct dw_call_recording *r)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);

	if (now < r->windows.next_ns)
		return;
	if (r->windows.is_open)
		look_at_switches(r);
	if (dw_sample_windows_turn(&r->windows, dw_clock_ns(CLOCK_MONOTONIC), r->turn_ns))
		dw_cost_sampler_turn(&r->cost_sampler, r->windows.is_open);
	r->turn_ns = dw_clock_ns(CLOCK_MONOTONIC) - now;
}

int dw_call_recording_tick(struct dw_call_recording *r, struct dw_regions *regions,
			   struct dw_error *err)
{
	int rc = dw_sliced_tick(&r->slices, regions, read_in_slice, r, err);

	dw_cost_sampler_read(&r->cost_sampler, note_sample,
			     r); /* slices may be longer than its rings */
	turn_windows(r);
	look_ahead(r);
	r->is_preparing = r->options->overhead > 0 && dw_call_modules_prepare(&r->modules);
	return rc;
}

uint64_t dw_call_recording_due(const struct dw_call_recording *r)
{
	uint64_t slice = r->slices.next_ns, turn = r->windows.next_ns;

	return r->is_preparing ? 0 : slice < turn ? slice : turn;
}

int dw_call_recording_stop(struct dw_call_recording *r)
{
	struct dw_recorder *recorder = r->slices.recorder;
	struct dw_profile *p = r->slices.p;

	dw_sliced_end(&r->slices);
	dw_recorder_fail(recorder, dw_note_calls(&p->facts, &r->sums));
	if (r->options->overhead > 0)
		dw_recorder_fail(recorder,
				 dw_note_disabled(&p->facts, r->options->overhead,
						  r->options->counts, r->pending, &p->calls));
	return recorder->rc;
}

void dw_call_recording_finish(struct dw_call_recording *r, struct dw_finish_options *options)
{
	options->sources = r->modules.sources.v;
	options->sources_n = r->modules.sources.n;
	options->import_name = dw_call_modules_import_name;
	options->import_name_ctx = &r->modules;
	options->prefetch = r->prefetch;
	options->il_line = dw_managed_lines_find;
	options->il_line_ctx = &r->lines;
}

void dw_call_recording_free(struct dw_call_recording *r)
{
	if (!r)
		return;
	dw_vec_each(d, &r->open)
		free_recorded(*d);
	dw_vec_release(&r->open);
	dw_prefetch_free(r->prefetch);
	dw_cost_sampler_release(&r->cost_sampler);
	dw_call_sums_release(&r->sums);
	dw_call_modules_release(&r->modules);
	dw_managed_lines_release(&r->lines);
	dw_sliced_release(&r->slices);
	free(r);
}
