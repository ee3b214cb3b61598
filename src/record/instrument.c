/*
 * The run of an instrumented command; see instrument.h.
 *
 * The images of the command's own program, and of libraries that hold its work, are made before
 * anything is started, those of modules that come later by a thread, while heartbeats keep their
 * processes waiting. The loop sleeps until a
 * process asks, an image is done, a signal comes or a tick is due. When the command has ended, what
 * its descendants have counted so far is read, and they run on without answers.
 */
#include "record/instrument.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "collect/region/process.h"
#include "record/call-facts.h"
#include "record/call-recording.h"
#include "record/program.h"
#include "record/run.h"
#include "record/target-environment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TICK_NS 200000000ull

enum { SEARCHES_PER_TICK = 8 };

static const char *const modes[] = {
	[DWELL_PROBES_NONE] = "none",
	[DWELL_PROBES_COUNT] = "count",
	[DWELL_PROBES_SYSTEM_CALLS] = "system-calls",
	[DWELL_PROBES_TIME] = "time",
};

/* A question whose image is being made. */
struct waiting {
	struct dw_region_question question; /* its module is not valid any more */
	struct dw_module_image *image;
	uint64_t headers_hash;
};

struct recorder {
	const struct dw_instrument_options *options;
	struct dw_instrument_result *result;
	struct dw_image_plan plan;
	char *private_dir; /* owned, as the next */
	char *public_dir;
	struct dw_rights own;
	struct dw_program program;
	struct dw_regions regions;
	struct dw_target_environment environment;
	struct dw_run run;
	struct dw_call_recording *recording; /* NULL = no session is made */
	/* the process that was read last, for its next question */
	uint32_t process_region; /* 0 = none */
	pid_t process_claimed;
	struct dw_region_process process;
	struct dw_module_image *executable; /* of it, NULL = none, or nobody has looked yet */
	bool has_looked;
	DW_VEC(struct waiting) waiting;
	uint32_t heartbeat;
	uint32_t searches_left; /* until the next tick */
	bool is_ending;		/* no more images */
	bool is_behind;		/* more regions to look at than one round does */
	uint64_t next_tick_ns;
};

/* Answer with the state that @image has come to. */
static void answer(struct recorder *r, const struct dw_region_question *q,
		   struct dw_module_image *image, uint64_t headers_hash)
{
	const char *path = NULL;

	if (image->state == DWELL_IMAGE_READY && image->header.module.headers_hash == headers_hash)
		path = dw_images_path(r->result->images, image, q->owner.uid, r->public_dir);
	if (path && strlen(path) >= DWELL_REGION_PATH)
		path = NULL;
	if (path && r->recording)
		dw_call_recording_teach(r->recording, &r->regions, q, image);
	dw_regions_answer(&r->regions, q, path ? DWELL_ANSWER_IMAGE : DWELL_ANSWER_NONE,
			  ++r->heartbeat, path);
}

static void answer_none(struct recorder *r, const struct dw_region_question *q)
{
	dw_regions_answer(&r->regions, q, DWELL_ANSWER_NONE, ++r->heartbeat, NULL);
}

/* Answer when the image is there, now or later. */
static void answer_with(struct recorder *r, const struct dw_region_question *q,
			struct dw_module_image *image)
{
	struct waiting w = {*q, image, q->module->headers_hash};

	if (image->state == DWELL_IMAGE_NEW)
		dw_images_request(r->result->images, image);
	if (image->state != DWELL_IMAGE_MAKING)
		answer(r, q, image, w.headers_hash);
	else if (dw_vec_push(&r->waiting, w))
		answer_none(r, q);
	else
		dw_regions_answer(&r->regions, q, DWELL_ANSWER_WORKING, ++r->heartbeat, NULL);
}

/* The process of @owner and @region; one of another pid namespace is searched for while it is
 * there, but only a few times a second, since it takes long and anybody may claim to be one. */
static int read_process(struct recorder *r, uint32_t region, const struct dw_region_owner *owner,
			struct dw_region_process *ret)
{
	int rc = dw_region_process_read(owner, ret);

	if (!rc || rc == -ESRCH || !r->searches_left || !dw_regions_is_held(&r->regions, region))
		return rc;
	r->searches_left--;
	dw_region_process_release(ret);
	return dw_region_process_search(owner, ret);
}

/* Whether @p, read for a question before, still holds for @m: what it has mapped there is called
 * alike, perhaps with more of a version, as links to libraries are. Another library may have taken
 * the place of one that was closed. */
static bool is_up_to_date(const struct dw_region_process *p, const struct dw_region_module *m)
{
	const char *path = dw_region_process_path(p, m);
	const char *known = path ? strrchr(path, '/') : NULL, *named = strrchr(m->path, '/');

	size_t n = named ? strlen(named) : 0;

	return known && n && !strncmp(known, named, n) && (!known[n] || known[n] == '.');
}

/* The process of @region, which asks about @m (NULL = nothing). NULL: it cannot be looked at. */
static const struct dw_region_process *get_process(struct recorder *r, uint32_t region,
						   const struct dw_region_owner *owner,
						   const struct dw_region_module *m)
{
	bool is_same = r->process_region == region && r->process_claimed == owner->pid;

	if (is_same && m && is_up_to_date(&r->process, m))
		return &r->process;
	dw_region_process_release(&r->process);
	r->has_looked &= is_same;
	r->process_claimed = owner->pid;
	r->process_region = read_process(r, region, owner, &r->process) ? 0 : region;
	return r->process_region ? &r->process : NULL;
}

/* The image of the file of @m, which @p has loaded; NULL = nobody may read it. */
static struct dw_module_image *get_image(struct recorder *r, const struct dw_region_process *p,
					 const struct dw_region_module *m)
{
	const char *path = dw_region_process_path(p, m);
	int fd = dw_region_process_open(p, m, &r->own);

	return fd < 0 ? NULL
		      : dw_images_get(r->result->images, fd, path ? path : m->path, p->uid, p->gid);
}

/* The image of the executable of @p, which is r->process; it may be one that nobody wants. */
static struct dw_module_image *get_executable(struct recorder *r, const struct dw_region_process *p)
{
	static const struct dw_region_module executable = {.is_main = 1};

	if (!r->has_looked)
		r->executable = get_image(r, p, &executable);
	r->has_looked = true;
	return r->executable;
}

/* The image of @m, a library of @p that nobody has named, if it holds the work of the executable.
 */
static struct dw_module_image *get_work(struct recorder *r, const struct dw_region_process *p,
					const struct dw_region_module *m)
{
	struct dw_scope *scope = &r->result->scope;
	struct dw_module_image *executable, *library;

	if (scope->globs->n)
		return NULL;
	executable = get_executable(r, p);
	if (!executable || !dw_scope_may_choose(scope, executable, m->path))
		return NULL;
	library = get_image(r, p, m);
	return library && dw_scope_chooses(scope, executable, library, m->path) ? library : NULL;
}

/* Count the runtime that @m brings: a library of .NET's or Java's, or a program that has it in
 * itself. */
static void count_runtime(struct recorder *r, const struct dw_region_module *m,
			  struct dw_module_image *image)
{
	const char *slash = strrchr(m->path, '/');

	if (m->is_main && image) {
		dw_scope_look(image);
		r->result->stats.runtimes += image->has_runtime;
		return;
	}
	r->result->stats.runtimes += slash && !strcmp(slash + 1, "libhostfxr.so");
	r->result->stats.java_runtimes += slash && !strcmp(slash + 1, "libjvm.so");
}

/* The image for the module in question; NULL = it is not wanted, or nobody may read it. */
static struct dw_module_image *find_image(struct recorder *r, const struct dw_region_question *q)
{
	const struct dw_region_module *m = q->module;
	const struct dw_region_process *p = get_process(r, q->region, &q->owner, m);
	const char *path = p ? dw_region_process_path(p, m) : NULL;
	/* What makes system calls for the program tells when they are made. */
	bool is_libc = r->plan.probes == DWELL_PROBES_TIME && dw_module_image_is_libc(m->path);
	bool is_wanted = dw_scope_names(&r->result->scope, m->path) || m->is_main;
	struct dw_module_image *image = NULL;

	if (path && dw_scope_names(&r->result->scope, path))
		is_wanted = true;
	if (p && m->is_main)
		image = get_executable(r, p);
	else if (p && (is_wanted || is_libc))
		image = get_image(r, p, m);
	else if (p)
		image = get_work(r, p, m);
	count_runtime(r, m, image);
	if (image && image->state == DWELL_IMAGE_NEW && is_libc && !is_wanted)
		image->probes = DWELL_PROBES_SYSTEM_CALLS;
	r->result->stats.images_refused += (is_wanted || is_libc) && !image;
	if (p && r->recording)
		dw_call_recording_asked(r->recording, m, p, image);
	return image;
}

static void on_asked(void *ctx, const struct dw_region_question *q)
{
	struct recorder *r = ctx;
	struct dw_module_image *image = r->is_ending ? NULL : find_image(r, q);

	if (image)
		answer_with(r, q, image);
	else
		answer_none(r, q);
}

/* The image that module @m of an ended process ran from or was meant for. NULL = none was wanted.
 */
static struct dw_module_image *image_of(const struct recorder *r, const struct dw_region_module *m)
{
	struct dw_module_image *found = NULL;
	size_t n;
	struct dw_module_image *const *all = dw_images_all(r->result->images, &n);
	const char *slash = strrchr(m->path, '/');
	const char *file = slash ? slash + 1 : m->path;

	for (size_t i = 0; i < n; i++) {
		bool is_named = !strcmp(all[i]->path, m->path) ||
				!strcmp(dw_module_image_file(all[i]), file);
		bool is_equal = all[i]->state == DWELL_IMAGE_READY &&
				all[i]->header.module.headers_hash == m->headers_hash;

		if (is_equal && is_named)
			return all[i];
		if (is_equal || (is_named && all[i]->state == DWELL_IMAGE_NONE))
			found = all[i];
	}
	return found;
}

static void add_counts(const struct dw_region_look *e, const struct dw_region_module *m,
		       struct dw_module_image *image)
{
	uint32_t n = image->header.functions.n;

	if (!image->calls)
		image->calls = calloc(n + 1, sizeof *image->calls);
	if (image->calls)
		(void)dw_region_add_counts(e->fd, m, n, image->calls);
}

/* Take in what the process did with its modules. Whether one of them ran from clones. */
static bool take_modules(struct recorder *r, const struct dw_region_look *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->head->module_n; i++) {
		struct dw_region_module m;
		struct dw_module_image *image;
		bool is_cloned;

		if (dw_region_read_module(e->fd, i, &m) || m.state > DWELL_MODULE_CLOSED)
			continue;
		image = image_of(r, &m);
		if (!image || image->probes != r->plan.probes) /* that one tells of system calls */
			continue;
		is_cloned = m.state == DWELL_MODULE_CLONED || m.state == DWELL_MODULE_CLOSED;
		image->processes[m.state]++;
		any |= is_cloned;
		if (is_cloned && m.counts)
			add_counts(e, &m, image);
	}
	return any;
}

static void on_began(void *ctx, const struct dw_region_look *look)
{
	struct recorder *r = ctx;

	if (r->recording)
		dw_call_recording_began(r->recording, look,
					get_process(r, look->region, &look->owner, NULL));
}

static void on_ended(void *ctx, const struct dw_region_look *e)
{
	struct recorder *r = ctx;
	struct dw_instrument_stats *s = &r->result->stats;

	if (r->recording)
		dw_call_recording_ended(r->recording, e);
	s->processes++;
	s->instrumented += take_modules(r, e);
	if (e->head->state == DWELL_REGION_OFF && e->head->off_reason <= DWELL_OFF_MISMATCH)
		s->off[e->head->off_reason]++;
	for (int i = 0; i < DWELL_DROP_N; i++)
		s->drops[i] += e->head->drops[i];
}

/* Answer those whose images are done. */
static void answer_waiting(struct recorder *r)
{
	size_t to = 0;

	for (size_t i = 0; i < r->waiting.n; i++) {
		struct waiting *w = &r->waiting.v[i];

		if (w->image->state != DWELL_IMAGE_MAKING)
			answer(r, &w->question, w->image, w->headers_hash);
		else if (r->is_ending)
			answer_none(r, &w->question);
		else
			r->waiting.v[to++] = *w;
	}
	r->waiting.n = to;
}

static void beat(struct recorder *r)
{
	dw_vec_each(w, &r->waiting)
		dw_regions_answer(&r->regions, &w->question, DWELL_ANSWER_WORKING, ++r->heartbeat,
				  NULL);
}

static void tick(struct recorder *r, uint64_t now)
{
	if (now < r->next_tick_ns)
		return;
	r->next_tick_ns = now + TICK_NS;
	r->searches_left = SEARCHES_PER_TICK;
	beat(r);
	dw_run_tick(&r->run, now);
	dw_regions_tick(&r->regions, now);
	if (r->options->progress)
		r->options->progress(r->options->progress_ctx, now - r->run.start_ns);
}

/* When something is due. */
static uint64_t due(const struct recorder *r)
{
	uint64_t slice_ns = r->recording ? dw_call_recording_due(r->recording) : UINT64_MAX;

	return slice_ns < r->next_tick_ns ? slice_ns : r->next_tick_ns;
}

static bool is_over(const struct recorder *r)
{
	return dw_run_is_over(&r->run, dw_clock_ns(CLOCK_MONOTONIC),
			      r->options->wait_all && r->regions.open.n);
}

static int wait_for_events(struct recorder *r)
{
	struct pollfd fds[] = {
		{.fd = r->run.signals.fd, .events = POLLIN},
		{.fd = dw_regions_fd(&r->regions), .events = POLLIN},
		{.fd = dw_images_fd(r->result->images), .events = POLLIN},
	};
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);
	int patience_ms = 0;

	if (!r->is_behind && now < due(r))
		patience_ms = (int)((due(r) - now) / 1000000) + 1;
	return poll(fds, sizeof fds / sizeof *fds, patience_ms) < 0 && errno != EINTR ? -errno : 0;
}

static void take_signals(struct recorder *r)
{
	bool had_ended = r->run.ended_ns;

	dw_run_take_signals(&r->run);
	if (r->run.ended_ns && !had_ended)
		dw_regions_exited(&r->regions, r->result->run.pid, r->run.ended_ns);
}

static int serve(struct recorder *r, struct dw_error *err)
{
	int rc = 0;

	while (!rc && !is_over(r)) {
		rc = wait_for_events(r);
		if (rc)
			return dw_error_set_errno(err, -rc, "poll");
		if (dw_images_take_done(r->result->images))
			answer_waiting(r);
		r->is_behind = dw_regions_drain(&r->regions, dw_clock_ns(CLOCK_MONOTONIC));
		take_signals(r);
		tick(r, dw_clock_ns(CLOCK_MONOTONIC));
		if (r->recording)
			rc = dw_call_recording_tick(r->recording, &r->regions, err);
	}
	return rc;
}

/* The folders of the session that images go to. */
static int plan_images(struct recorder *r)
{
	const char *folder = dw_regions_path(&r->regions);

	r->plan = r->options->plan;
	if (asprintf(&r->private_dir, "%s/" DWELL_FOLDER_PRIVATE, folder) < 0)
		r->private_dir = NULL;
	if (asprintf(&r->public_dir, "%s/" DWELL_FOLDER_PUBLIC, folder) < 0)
		r->public_dir = NULL;
	r->plan.session_dir = r->private_dir;
	return r->private_dir && r->public_dir
		       ? dw_scope_init(&r->result->scope, &r->options->plan.choice.modules)
		       : -ENOMEM;
}

static int make_environment(struct recorder *r)
{
	const struct dw_instrument_options *o = r->options;
	dw_auto_free char *mode = NULL;

	if (asprintf(&mode, "%s memory=%" PRIu64 " paths=%" PRIu32 "%s%s%s%s",
		     modes[o->plan.probes], o->memory_bytes, o->paths,
		     o->plan.choice.slowest.n ? " slowest=chosen" : "",
		     o->overhead > 0 && o->counts ? " counts=yes" : "",
		     o->os_source ? " os-source=" : "", o->os_source ? o->os_source : "") < 0)
		return -ENOMEM;
	return dw_target_environment_make(&r->environment, o->agent, dw_regions_path(&r->regions),
					  mode);
}

/* Everything that does not concern the command yet. */
static int prepare(struct recorder *r, struct dw_error *err)
{
	const struct dw_instrument_options *o = r->options;
	struct dw_regions_events events = {on_asked, on_began, on_ended, r};
	int rc = dw_rights_read(getpid(), &r->own);

	if (!rc)
		rc = dw_regions_open(&r->regions, o->fallback, &events, err);
	if (!rc)
		rc = plan_images(r);
	if (!rc)
		rc = dw_images_new(&r->plan, &r->result->images, err);
	if (!rc)
		rc = make_environment(r);
	if (rc)
		return rc;
	if (r->program.kind == DWELL_PROGRAM_FITS) {
		dw_scope_make_first(&r->result->scope, &r->program, &r->own, r->result->images);
		r->run.launch.environment = r->environment.v;
		return 0;
	}
	r->result->is_untouched = r->program.kind != DWELL_PROGRAM_MISSING;
	if (r->result->is_untouched)
		dw_warn("instrument", "%s %s: it runs as it is",
			r->program.path ? r->program.path : o->argv[0],
			dw_program_reason(r->program.kind));
	return 0;
}

static int start(struct recorder *r, struct dw_error *err)
{
	const struct dw_instrument_options *o = r->options;
	int rc;

	dw_program_find(o->argv[0], &r->program);
	rc = prepare(r, err);
	if (!rc)
		rc = dw_run_prepare(&r->run, o->argv, err);
	if (!rc && o->output)
		rc = dw_call_recording_new(o->output, o->argv, &r->own, &r->recording, err);
	if (rc)
		return rc;
	if (r->recording) {
		dw_call_recording_limit(r->recording, o->overhead, o->counts);
		dw_call_recording_hold(r->recording, o->memory_bytes, o->nodes_max);
		dw_call_recording_know(r->recording, o->plan.cache_dir);
		dw_call_recording_watch(r->recording, r->run.launch.pid);
	}
	r->run.start_ns = dw_clock_ns(CLOCK_MONOTONIC);
	r->next_tick_ns = r->run.start_ns + TICK_NS;
	r->searches_left = SEARCHES_PER_TICK;
	return dw_run_begin(&r->run, o->argv[0], err);
}

/* Let go of those who still wait, and read all regions a last time. */
static void finish(struct recorder *r)
{
	r->is_ending = true;
	answer_waiting(r);
	dw_regions_finish(&r->regions);
	dw_run_take_signals(&r->run); /* those that came meanwhile */
	r->result->stats.regions = r->regions.stats;
}

/* Make the session of what was recorded until @rc came. */
static int make_session(struct recorder *r, int rc, struct dw_error *err)
{
	const struct dw_finish_options finish_options = {
		.without_code = r->options->without_code,
		.debuginfod_ms = r->options->debuginfod_ms,
		.with_source = r->options->with_source,
	};
	int stopped;

	if (!r->recording)
		return rc;
	if (!rc)
		rc = dw_note_instrumented(dw_call_recording_facts(r->recording), r->result);
	if (!rc)
		dw_images_remember(r->result->images);
	stopped = dw_call_recording_stop(r->recording, &r->run, rc ? NULL : err);
	if (rc || stopped)
		return rc ? rc : stopped;
	rc = dw_call_recording_finish(r->recording, &finish_options, r->result->run.stop_signal,
				      err);
	dw_run_take_signals(&r->run);
	return rc;
}

static void release(struct recorder *r)
{
	dw_images_stop(r->result->images); /* it works by our plan */
	dw_run_release(&r->run);
	dw_regions_release(&r->regions);
	dw_target_environment_release(&r->environment);
	dw_program_release(&r->program);
	dw_region_process_release(&r->process);
	dw_rights_release(&r->own);
	dw_vec_release(&r->waiting);
	free(r->private_dir);
	free(r->public_dir);
}

int dw_instrument(const struct dw_instrument_options *options, struct dw_instrument_result *ret,
		  struct dw_error *err)
{
	struct recorder r = {
		.options = options,
		.result = ret,
		.run = DW_RUN_INIT(&ret->run, options->duration_ns),
		.program.fd = -1,
		.regions.folder = DW_REGION_FOLDER_INIT,
	};
	int rc;

	*ret = (struct dw_instrument_result){0};
	rc = start(&r, err);
	if (!rc) {
		rc = serve(&r, err);
		finish(&r);
		rc = make_session(&r, rc, err);
	}
	dw_call_recording_free(r.recording, !ret->run.pid);
	release(&r);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "instrumenting: %s", dw_err_string(rc));
	return rc;
}

void dw_instrument_release(struct dw_instrument_result *r)
{
	dw_scope_release(&r->scope);
	dw_images_free(r->images);
	r->images = NULL;
}
