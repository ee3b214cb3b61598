/*
 * Recordings of calls; see call-recording.h.
 *
 * A process is one row of the profile however often it executes a program; each program has a
 * region of its own. What a region ends with between two slices goes to the next one, whose row is
 * written when its time has come. Deltas never pile up beyond a limit: then they are written at
 * once.
 */
#include "record/call-recording.h"

#include "base/cleanup.h"
#include "record/call-facts.h"
#include "record/call-names.h"
#include "record/call-overhead.h"
#include "record/environment.h"
#include "record/finish.h"
#include "record/recorded-processes.h"
#include "session/write.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS       1000000000ull
#define FIRST_NS       20000000ull  /* where there is a limit of overhead: the first one */
#define LIMIT_SLICE_NS 400000000ull /* and those that come later */

enum {
	SLICE_SHARE = 100,    /* a slice is never shorter than 1 / this of what was before it */
	COST_SHARE = 100,     /* nor than this many times the time of reading */
	LIMIT_COST_SHARE = 6, /* the same where there is a limit of overhead */
	EARLY_SLICES = 2000,  /* then they come no earlier than others */
	DELTAS_MAX = 1 << 19, /* in memory */
	IMPATIENT_MS = 3000,
};

/* A region that is being read. */
struct recorded {
	uint32_t region;
	uint32_t process;
	pid_t pid;   /* in our namespace, 0 = not known */
	bool is_bad; /* cannot be read any more */
	struct dw_call_names names;
	struct dw_region_calls *calls;
	struct dw_call_overhead overhead;
};

struct dw_call_recording {
	struct dw_profile p;
	const struct dw_rights *own;
	char *output;
	struct dw_session_writer *writer;
	struct dw_call_modules modules;
	struct dw_region_clock clock;
	DW_VEC(struct recorded *) open;
	struct dw_recorded_processes processes;
	uint64_t next_slice_ns;
	double overhead;   /* limit of dw_call_overhead_init(), 0 = none */
	uint64_t early_ns; /* length of the next slice that comes early, 0 = none does */
	struct dw_call_sums sums;
	int rc; /* the first failure */
	struct dw_error why;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What this thread has run. */
static uint64_t spent_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t since_start(const struct dw_call_recording *r, uint64_t ns)
{
	return ns > r->clock.start.ns ? ns - r->clock.start.ns : 0;
}

/* Keep the first failure. */
static void note_failure(struct dw_call_recording *r, int rc)
{
	if (rc && !r->rc)
		r->rc = rc;
}

int dw_call_recording_new(const char *output, char *const *argv, const struct dw_rights *own,
			  struct dw_call_recording **ret, struct dw_error *err)
{
	struct dw_call_recording *r = calloc(1, sizeof *r);
	int rc;

	if (!r)
		return -ENOMEM;
	r->own = own;
	r->modules.p = r->processes.p = &r->p;
	r->output = strdup(output);
	dw_moment_read(&r->clock.start);
	r->next_slice_ns = r->clock.start.ns + SLICE_NS;
	rc = r->output ? dw_note_start(&r->p.facts, "instrumentation", argv) : -ENOMEM;
	if (!rc)
		rc = dw_session_create(output, &r->writer, err);
	if (rc)
		dw_call_recording_free(r, false);
	else
		*ret = r;
	return rc;
}

void dw_call_recording_limit(struct dw_call_recording *r, double overhead)
{
	r->overhead = overhead;
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
	d->region = look->region;
	d->pid = p ? p->pid : 0;
	d->names.modules = &r->modules;
	names = dw_call_names_of(&d->names);
	if (p)
		rc = dw_call_names_add_loader(&d->names, p, r->own);
	if (!rc)
		rc = dw_recorded_process(&r->processes, look, p,
					 since_start(r, look->head->start_ns), &d->process);
	dw_call_overhead_init(&d->overhead, r->overhead, &d->names, d->process);
	if (!rc)
		rc = dw_region_calls_new(&r->p, d->process, &names, &d->calls);
	if (!rc)
		rc = dw_vec_push(&r->open, d);
	if (rc)
		free_recorded(d);
	return rc;
}

void dw_call_recording_began(struct dw_call_recording *r, const struct dw_region_look *look,
			     const struct dw_region_process *p)
{
	uint64_t now = now_ns();

	note_failure(r, add_recorded(r, look, p));
	if (r->overhead > 0 && r->p.calls.slices.n < EARLY_SLICES) {
		r->early_ns = FIRST_NS;
		if (r->next_slice_ns > now + FIRST_NS)
			r->next_slice_ns = now + FIRST_NS;
	}
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

static bool thread_cpu(void *ctx, int32_t tid, uint64_t *ret_ns)
{
	const struct recorded *d = ctx;
	dw_auto(dw_buf) text = DW_BUF_INIT;
	char file[64];
	int rc;

	snprintf(file, sizeof file, "task/%d/schedstat", tid);
	rc = dw_proc_read(d->pid, file, &text);
	*ret_ns = rc ? 0 : strtoull(dw_buf_str(&text), NULL, 10);
	if (rc != -ENOENT) /* some kernels have no such file */
		return rc != -ESRCH;
	snprintf(file, sizeof file, "/proc/%d/task/%d", (int)d->pid, tid);
	return !access(file, F_OK);
}

static bool note_cost(void *ctx, const struct dw_call_cost *cost)
{
	struct recorded *d = ctx;

	return dw_call_overhead_add(&d->overhead, cost);
}

/* Read what @look shows into slice r->p.calls.slices.n - 1, or the one that is to come. */
static void read_region(struct dw_call_recording *r, struct recorded *d,
			const struct dw_region_look *look, struct dw_region_reading *now)
{
	int rc = dw_call_names_update(&d->names, look->fd, look->head);

	now->head = look->head;
	now->clock = &r->clock;
	now->ctx = d;
	now->cost = r->overhead > 0 && !now->is_last ? note_cost : NULL;
	/* In another pid namespace its threads have other numbers, too. */
	if (!look->is_over && d->pid && d->pid == (pid_t)look->head->pid)
		now->thread_cpu = thread_cpu;
	if (!rc && !d->is_bad)
		rc = dw_region_calls_read(d->calls, look->fd, now);
	dw_recorded_threads_name(&r->processes, d->process, d->pid);

	if (!rc && now->cost)
		rc = dw_call_overhead_decide(&d->overhead, look->fd, look->head,
					     since_start(r, now_ns()), 1e6 / r->clock.ns_per_tick);
	/* A region that makes no sense is its program's matter. */
	d->is_bad |= rc != 0;
	if (rc == -ENOMEM)
		note_failure(r, rc);
}

static int flush(struct dw_call_recording *r, struct dw_error *err)
{
	if (!r->rc) {
		r->rc = dw_session_flush(r->writer, &r->p, &r->why);
	}
	if (r->rc && err && r->why.code)
		dw_error_set(err, r->rc, "%s", dw_error_message(&r->why));
	return r->rc;
}

/* End the slice that goes on now. */
static void end_slice(struct dw_call_recording *r, uint64_t ns)
{
	struct dw_call_slice slice = {since_start(r, ns)};

	note_failure(r, dw_vec_push(&r->p.calls.slices, slice));
}

static void learn_clock(struct dw_call_recording *r, struct dw_region_moment *now)
{
	dw_moment_read(now);
	dw_region_clock_adjust(&r->clock, now);
}

/* Whether process @id still has a region. */
static bool has_region(const struct dw_call_recording *r, uint32_t id)
{
	dw_vec_each(d, &r->open) {
		if ((*d)->process == id)
			return true;
	}
	return false;
}

void dw_call_recording_ended(struct dw_call_recording *r, const struct dw_region_look *look)
{
	struct recorded *d = find(r, look->region);
	struct dw_region_moment now;
	struct dw_region_reading reading = {.slice = (uint32_t)r->p.calls.slices.n,
					    .is_last = true};
	struct dw_process *process;

	if (!d)
		return;
	learn_clock(r, &now);
	reading.until = look->is_over ? look->head->end.ticks : now.ticks;
	read_region(r, d, look, &reading);
	dw_call_sums_add(&r->sums, look->head, dw_region_calls_stats(d->calls));
	dw_vec_each(p, &r->open) {
		if (*p == d) {
			*p = r->open.v[--r->open.n];
			break;
		}
	}
	process = dw_processes_get(&r->p.processes, d->process);
	if (look->is_over && !has_region(r, d->process)) {
		process->end_ns = since_start(r, look->head->end.ns ? look->head->end.ns : now.ns);
		process->dirty = true;
	}
	free_recorded(d);
	if (r->p.calls.deltas.n > DELTAS_MAX) {
		end_slice(r, now.ns);
		flush(r, NULL);
	}
}

static void read_in_slice(void *ctx, const struct dw_region_look *look)
{
	struct dw_call_recording *r = ctx;
	struct recorded *d = find(r, look->region);
	struct dw_region_moment now;
	struct dw_region_reading reading = {.slice = (uint32_t)r->p.calls.slices.n - 1};

	if (!d || r->rc)
		return;
	learn_clock(r, &now);
	reading.until = now.ticks;
	read_region(r, d, look, &reading);
	if (r->p.calls.deltas.n > DELTAS_MAX)
		flush(r, NULL);
}

/* How long the slice that begins @now is, where reading the one before has taken @spent. */
static uint64_t pause_ns(struct dw_call_recording *r, uint64_t now, uint64_t spent)
{
	bool has_limit = r->overhead > 0;
	uint64_t wait = has_limit ? LIMIT_SLICE_NS : SLICE_NS;
	uint64_t cost = spent * (has_limit ? LIMIT_COST_SHARE : COST_SHARE);

	wait += since_start(r, now) / SLICE_SHARE;
	if (r->early_ns && r->early_ns < wait) {
		wait = r->early_ns;
		r->early_ns *= 2;
	}
	return cost > wait ? cost : wait;
}

int dw_call_recording_tick(struct dw_call_recording *r, struct dw_regions *regions,
			   struct dw_error *err)
{
	uint64_t now = now_ns(), spent = spent_ns();

	if (now < r->next_slice_ns || r->rc)
		return r->rc;
	end_slice(r, now);
	dw_regions_each(regions, read_in_slice, r);
	flush(r, err);
	r->next_slice_ns = now + pause_ns(r, now, spent_ns() - spent);
	return r->rc;
}

uint64_t dw_call_recording_due(const struct dw_call_recording *r)
{
	return r->next_slice_ns;
}

struct dw_facts *dw_call_recording_facts(struct dw_call_recording *r)
{
	return &r->p.facts;
}

int dw_call_recording_stop(struct dw_call_recording *r, const struct dw_record_result *run,
			   const struct rusage *usage, struct dw_error *err)
{
	struct dw_facts *facts = &r->p.facts;
	uint64_t now = now_ns();
	int rc;

	end_slice(r, now);
	rc = dw_facts_set(facts, "duration_ns", (int64_t)since_start(r, now));
	if (!rc && run->ended)
		rc = dw_facts_set(facts, "wait_status", run->wait_status);
	if (!rc && run->ended)
		rc = dw_note_cpu(facts, usage);
	if (!rc)
		rc = dw_note_calls(facts, &r->sums, run->ended);
	if (!rc && r->overhead > 0)
		rc = dw_note_mutes(facts, r->overhead, &r->p.calls);
	note_failure(r, rc);
	rc = flush(r, err);
	if (!rc)
		return dw_session_close_partial(r->writer, err);
	dw_session_close_partial(r->writer, NULL);
	return rc;
}

int dw_call_recording_finish(struct dw_call_recording *r, bool is_impatient, bool without_code,
			     struct dw_error *err)
{
	dw_auto_free char *partial = NULL;
	struct dw_finish_options options = {
		.path = r->output,
		.sources = r->modules.sources.v,
		.sources_n = r->modules.sources.n,
		.symbol_timeout_ms = is_impatient ? IMPATIENT_MS : 0,
		.held = true,
		.without_code = without_code,
	};

	if (asprintf(&partial, "%s.partial", r->output) < 0)
		return -ENOMEM;
	options.partial = partial;
	dw_profile_release(&r->p);
	return dw_finish(&options, err);
}

void dw_call_recording_free(struct dw_call_recording *r, bool discard)
{
	if (!r)
		return;
	dw_vec_each(d, &r->open)
		free_recorded(*d);
	dw_vec_release(&r->open);
	dw_recorded_processes_release(&r->processes);
	dw_call_modules_release(&r->modules);
	dw_session_writer_free(r->writer, discard);
	dw_profile_release(&r->p);
	dw_error_clear(&r->why);
	free(r->output);
	free(r);
}
