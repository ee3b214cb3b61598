/*
 * The collector of calls: it answers the agents of a command with clone images, and has what they
 * count read.
 *
 * The images of the command's own program, and of libraries that hold its work, are made before
 * anything is started, those of modules that come later by a thread, while heartbeats keep their
 * processes waiting. When the command has ended, what its descendants have counted so far is read,
 * and they run on without answers. A program that cannot take the agent runs as it is, with one
 * warning.
 */
#include "record/instrument.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "collect/region/process.h"
#include "record/call-facts.h"
#include "record/call-recording.h"
#include "record/program.h"
#include "record/recorder.h"
#include "record/target-environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHES_PER_BEAT = 8, METHODS_BYTES_MAX = 768 };

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

struct dw_collector {
	struct dw_recorder *r;
	const struct dw_calls_options *options; /* borrowed, as the next */
	struct dw_instrument_result *result;
	struct dw_image_plan plan;
	char *private_dir; /* owned, as the next */
	char *public_dir;
	struct dw_rights own;
	struct dw_program program;
	struct dw_regions regions;
	struct dw_target_environment environment;
	struct dw_call_recording *recording; /* NULL = no session is made */
	/* the process that was read last, for its next question */
	uint32_t process_region; /* 0 = none */
	pid_t process_claimed;
	struct dw_region_process process;
	struct dw_module_image *executable; /* of it, NULL = none, or nobody has looked yet */
	bool has_looked;
	DW_VEC(struct waiting) waiting;
	uint32_t heartbeat;
	uint32_t searches_left; /* until the next beat */
	bool is_ending;		/* no more images */
	bool is_behind;		/* more regions to look at than one round does */
	bool has_exited;	/* regions were told that the command has */
};

static void answer(struct dw_collector *c, const struct dw_region_question *q,
		   struct dw_module_image *image, uint64_t headers_hash)
{
	const char *path = NULL;

	if (image->state == DWELL_IMAGE_READY && image->header.module.headers_hash == headers_hash)
		path = dw_images_path(c->result->images, image, q->owner.uid, c->public_dir);
	if (path && strlen(path) >= DWELL_REGION_PATH)
		path = NULL;
	if (path && c->recording)
		dw_call_recording_predisable(c->recording, &c->regions, q, image);
	dw_regions_answer(&c->regions, q, path ? DWELL_ANSWER_IMAGE : DWELL_ANSWER_NONE,
			  ++c->heartbeat, path);
}

static void answer_none(struct dw_collector *c, const struct dw_region_question *q)
{
	dw_regions_answer(&c->regions, q, DWELL_ANSWER_NONE, ++c->heartbeat, NULL);
}

/* Answer when the image is there, now or later. */
static void answer_with(struct dw_collector *c, const struct dw_region_question *q,
			struct dw_module_image *image)
{
	struct waiting w = {*q, image, q->module->headers_hash};

	if (image->state == DWELL_IMAGE_NEW)
		dw_images_request(c->result->images, image);
	if (image->state != DWELL_IMAGE_MAKING)
		answer(c, q, image, w.headers_hash);
	else if (dw_vec_push(&c->waiting, w))
		answer_none(c, q);
	else
		dw_regions_answer(&c->regions, q, DWELL_ANSWER_WORKING, ++c->heartbeat, NULL);
}

/* The process of @owner and @region; one of another pid namespace is searched for while it is
 * there, but only a few times a second, since it takes long and anybody may claim to be one. */
static int read_process(struct dw_collector *c, uint32_t region,
			const struct dw_region_owner *owner, struct dw_region_process *ret)
{
	int rc = dw_region_process_read(owner, ret);

	if (!rc || rc == -ESRCH || !c->searches_left || !dw_regions_is_held(&c->regions, region))
		return rc;
	c->searches_left--;
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
static const struct dw_region_process *get_process(struct dw_collector *c, uint32_t region,
						   const struct dw_region_owner *owner,
						   const struct dw_region_module *m)
{
	bool is_same = c->process_region == region && c->process_claimed == owner->pid;

	if (is_same && m && is_up_to_date(&c->process, m))
		return &c->process;
	dw_region_process_release(&c->process);
	c->has_looked &= is_same;
	c->process_claimed = owner->pid;
	c->process_region = read_process(c, region, owner, &c->process) ? 0 : region;
	return c->process_region ? &c->process : NULL;
}

/* The image of the file of @m, which @p has loaded; NULL = nobody may read it. */
static struct dw_module_image *get_image(struct dw_collector *c, const struct dw_region_process *p,
					 const struct dw_region_module *m)
{
	const char *path = dw_region_process_path(p, m);
	int fd = dw_region_process_open(p, m, &c->own);

	return fd < 0 ? NULL
		      : dw_images_get(c->result->images, fd, path ? path : m->path, p->uid, p->gid);
}

/* The image of the executable of @p, which is c->process; it may be one that nobody wants. */
static struct dw_module_image *get_executable(struct dw_collector *c,
					      const struct dw_region_process *p)
{
	static const struct dw_region_module executable = {.is_main = 1};

	if (!c->has_looked)
		c->executable = get_image(c, p, &executable);
	c->has_looked = true;
	return c->executable;
}

/* The image of @m, a library of @p that nobody has named, if it holds the work of the executable.
 */
static struct dw_module_image *get_work(struct dw_collector *c, const struct dw_region_process *p,
					const struct dw_region_module *m)
{
	struct dw_scope *scope = &c->result->scope;
	struct dw_module_image *executable, *library;

	if (scope->globs->n)
		return NULL;
	executable = get_executable(c, p);
	if (!executable || !dw_scope_may_choose(scope, executable, m->path))
		return NULL;
	library = get_image(c, p, m);
	return library && dw_scope_chooses(scope, executable, library, m->path) ? library : NULL;
}

/* Count the runtime that @m brings: a library of .NET's or Java's, or a program that has it in
 * itself. */
static void count_runtime(struct dw_collector *c, const struct dw_region_module *m,
			  struct dw_module_image *image)
{
	const char *slash = strrchr(m->path, '/');

	if (m->is_main && image) {
		dw_scope_look(image);
		c->result->stats.runtimes += image->has_runtime;
		return;
	}
	c->result->stats.runtimes += slash && !strcmp(slash + 1, "libhostfxr.so");
	c->result->stats.java_runtimes += slash && !strcmp(slash + 1, "libjvm.so");
}

/* The image for the module in question; NULL = it is not wanted, or nobody may read it. */
static struct dw_module_image *find_image(struct dw_collector *c,
					  const struct dw_region_question *q)
{
	const struct dw_region_module *m = q->module;
	const struct dw_region_process *p = get_process(c, q->region, &q->owner, m);
	const char *path = p ? dw_region_process_path(p, m) : NULL;
	/* What makes system calls for the program tells when they are made. */
	bool is_libc = c->plan.probes == DWELL_PROBES_TIME && dw_module_image_is_libc(m->path);
	bool is_wanted = dw_scope_names(&c->result->scope, m->path);
	struct dw_module_image *image = NULL;
	bool is_left;

	if (path && dw_scope_names(&c->result->scope, path))
		is_wanted = true;
	if (p && m->is_main)
		image = get_executable(c, p);
	else if (p && (is_wanted || is_libc))
		image = get_image(c, p, m);
	else if (p)
		image = get_work(c, p, m);
	count_runtime(c, m, image);
	is_left = image && m->is_main && !is_wanted && c->plan.probes == DWELL_PROBES_TIME &&
		  dw_scope_leaves(image);
	if (is_left)
		image = NULL;
	if (image && image->state == DWELL_IMAGE_NEW && is_libc && !is_wanted)
		image->probes = DWELL_PROBES_SYSTEM_CALLS;
	c->result->stats.images_refused +=
		(is_wanted || is_libc || m->is_main) && !image && !is_left;
	if (p && c->recording)
		dw_call_recording_asked(c->recording, m, p, image);
	return image;
}

static void on_asked(void *ctx, const struct dw_region_question *q)
{
	struct dw_collector *c = ctx;
	struct dw_module_image *image = c->is_ending ? NULL : find_image(c, q);

	if (image)
		answer_with(c, q, image);
	else
		answer_none(c, q);
}

/* The image that module @m of an ended process ran from or was meant for. NULL = none was wanted.
 */
static struct dw_module_image *image_of(const struct dw_collector *c,
					const struct dw_region_module *m)
{
	struct dw_module_image *found = NULL;
	size_t n;
	struct dw_module_image *const *all = dw_images_all(c->result->images, &n);
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
static bool take_modules(struct dw_collector *c, const struct dw_region_look *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->head->module_n; i++) {
		struct dw_region_module m;
		struct dw_module_image *image;
		bool is_cloned;

		if (dw_region_read_module(e->fd, i, &m) || m.state > DWELL_MODULE_CLOSED)
			continue;
		image = image_of(c, &m);
		if (!image || image->probes != c->plan.probes) /* that one tells of system calls */
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
	struct dw_collector *c = ctx;

	if (c->recording)
		dw_call_recording_began(c->recording, look,
					get_process(c, look->region, &look->owner, NULL));
}

static void on_ended(void *ctx, const struct dw_region_look *e)
{
	struct dw_collector *c = ctx;
	struct dw_instrument_stats *s = &c->result->stats;
	bool has_methods = c->recording && dw_call_recording_ended(c->recording, e);
	bool has_clones = take_modules(c, e);

	s->runtimes -= has_methods && s->runtimes;
	s->processes++;
	s->instrumented += has_methods || has_clones;
	if (e->head->state == DWELL_REGION_OFF && e->head->off_reason <= DWELL_OFF_MISMATCH)
		s->off[e->head->off_reason]++;
	for (int i = 0; i < DWELL_DROP_N; i++)
		s->drops[i] += e->head->drops[i];
}

/* Answer those whose images are done. */
static void answer_waiting(struct dw_collector *c)
{
	size_t to = 0;

	for (size_t i = 0; i < c->waiting.n; i++) {
		struct waiting *w = &c->waiting.v[i];

		if (w->image->state != DWELL_IMAGE_MAKING)
			answer(c, &w->question, w->image, w->headers_hash);
		else if (c->is_ending)
			answer_none(c, &w->question);
		else
			c->waiting.v[to++] = *w;
	}
	c->waiting.n = to;
}

static void beat(struct dw_collector *c, uint64_t now_ns)
{
	c->searches_left = SEARCHES_PER_BEAT;
	dw_vec_each(w, &c->waiting)
		dw_regions_answer(&c->regions, &w->question, DWELL_ANSWER_WORKING, ++c->heartbeat,
				  NULL);
	dw_regions_tick(&c->regions, now_ns);
}

static size_t poll_fds(struct dw_collector *c, struct pollfd *fds, size_t max)
{
	if (max < 2)
		return 0;
	fds[0] = (struct pollfd){.fd = dw_regions_fd(&c->regions), .events = POLLIN};
	fds[1] = (struct pollfd){.fd = dw_images_fd(c->result->images), .events = POLLIN};
	return 2;
}

static int drain(struct dw_collector *c, struct dw_error *err)
{
	const struct dw_run *run = &c->r->run;

	(void)err;
	if (dw_images_take_done(c->result->images))
		answer_waiting(c);
	c->is_behind = dw_regions_drain(&c->regions, dw_clock_ns(CLOCK_MONOTONIC));
	if (run->ended_ns && !c->has_exited)
		dw_regions_exited(&c->regions, c->r->result->pid, run->ended_ns);
	c->has_exited = run->ended_ns;
	return 0;
}

static int tick(struct dw_collector *c, uint64_t now_ns, uint64_t *ret_due_ns, struct dw_error *err)
{
	int rc = c->recording ? dw_call_recording_tick(c->recording, &c->regions, err) : 0;

	*ret_due_ns = c->recording ? dw_call_recording_due(c->recording) : UINT64_MAX;
	if (c->is_behind)
		*ret_due_ns = now_ns;
	return rc;
}

static bool goes_on(const struct dw_collector *c)
{
	return c->regions.open.n;
}

/* The folders of the session that images go to. */
static int plan_images(struct dw_collector *c)
{
	const char *folder = dw_regions_path(&c->regions);

	c->plan = *c->options->plan;
	if (asprintf(&c->private_dir, "%s/" DWELL_FOLDER_PRIVATE, folder) < 0)
		c->private_dir = NULL;
	if (asprintf(&c->public_dir, "%s/" DWELL_FOLDER_PUBLIC, folder) < 0)
		c->public_dir = NULL;
	c->plan.session_dir = c->private_dir;
	return c->private_dir && c->public_dir
		       ? dw_scope_init(&c->result->scope, &c->options->plan->selection.modules)
		       : -ENOMEM;
}

/* Append the globs @v as the list called @name, where what parts words and lists of a mode stands
 * as %XX. */
static void put_globs(const struct dw_globs *v, const char *name, struct dw_buf *ret)
{
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			dw_buf_putc(ret, ',');
		else
			dw_buf_printf(ret, " %s=", name);
		for (const unsigned char *c = (const unsigned char *)v->v[i]; *c; c++) {
			if (*c <= ' ' || *c == ',' || *c == '%')
				dw_buf_printf(ret, "%%%02x", *c);
			else
				dw_buf_putc(ret, (char)*c);
		}
	}
}

/* What the agent is to measure of .NET's methods: nothing, which is said, where what the user names
 * has no room there. */
static void put_methods(const struct dw_collector *c, struct dw_buf *ret)
{
	const struct dw_probe_selection *s = &c->plan.selection;

	if (c->plan.probes != DWELL_PROBES_TIME)
		return;
	dw_buf_printf(ret, " managed=1%s", c->plan.all_functions ? " all=1" : "");
	put_globs(&s->modules, "modules", ret);
	put_globs(&s->include, "include", ret);
	put_globs(&s->exclude, "exclude", ret);
	put_globs(&s->slowest, "slow", ret);
	if (!ret->failed && ret->len > METHODS_BYTES_MAX) {
		dw_warn("instrument",
			"more than %d bytes of names were given: methods of .NET are not measured",
			METHODS_BYTES_MAX);
		dw_buf_clear(ret);
	}
}

static int make_environment(struct dw_collector *c)
{
	const struct dw_calls_options *o = c->options;
	dw_auto_free char *mode = NULL;
	dw_auto(dw_buf) methods = DW_BUF_INIT;

	put_methods(c, &methods);
	if (methods.failed ||
	    asprintf(&mode, "%s memory=%" PRIu64 " paths=%" PRIu32 "%s%s%s%s%s",
		     modes[c->plan.probes], o->memory_bytes, o->paths,
		     c->plan.selection.slowest.n ? " slowest=chosen" : "",
		     o->overhead > 0 && o->counts ? " counts=yes" : "", dw_buf_str(&methods),
		     o->os_source ? " os-source=" : "", o->os_source ? o->os_source : "") < 0)
		return -ENOMEM;
	return dw_target_environment_make(&c->environment, o->agent, dw_regions_path(&c->regions),
					  mode);
}

/* Make the first images, if the command can take the agent. */
static void prepare_program(struct dw_collector *c)
{
	const char *name = c->program.path ? c->program.path : c->r->options->argv[0];

	if (c->program.kind == DWELL_PROGRAM_FITS) {
		dw_scope_make_first(&c->result->scope, &c->program, &c->own, c->result->images);
		c->r->run.launch.environment = c->environment.v;
		return;
	}
	c->result->is_untouched = c->program.kind != DWELL_PROGRAM_MISSING;
	if (c->result->is_untouched)
		dw_warn("instrument", "%s %s: it runs as it is", name,
			dw_program_reason(c->program.kind));
}

static int prepare(struct dw_recorder *r, struct dw_collector **ret, struct dw_error *err)
{
	struct dw_collector *c = *ret = calloc(1, sizeof *c);
	struct dw_regions_events events = {on_asked, on_began, on_ended, c};
	int rc;

	if (!c)
		return -ENOMEM;
	c->r = r;
	c->options = &r->options->calls;
	c->result = c->options->result;
	c->regions.folder = (struct dw_region_folder)DW_REGION_FOLDER_INIT;
	c->searches_left = SEARCHES_PER_BEAT;
	dw_program_find(r->options->argv[0], &c->program);
	rc = dw_rights_read(getpid(), &c->own);
	if (!rc)
		rc = dw_regions_open(&c->regions, r->options->fallback, &events, err);
	if (!rc)
		rc = plan_images(c);
	if (!rc)
		rc = dw_images_new(&c->plan, &c->result->images, err);
	if (!rc)
		rc = make_environment(c);
	if (!rc)
		prepare_program(c);
	return rc;
}

static int start(struct dw_collector *c, struct dw_error *err)
{
	(void)err;
	return c->r->options->output ? dw_call_recording_new(c->r, &c->own, &c->recording) : 0;
}

/* Note which assemblies with calls the user has named. */
static void note_assemblies(struct dw_collector *c)
{
	const struct dw_profile *p = &c->r->profile;

	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, id);

		if (m->kind == DWELL_MODULE_MANAGED)
			(void)dw_scope_names(&c->result->scope,
					     dw_strings_get(&p->strings, m->path));
	}
}

/* Let go of those who still wait, and read all regions a last time. */
static int stop(struct dw_collector *c, int rc, struct dw_error *err)
{
	int stopped;

	(void)err;
	c->is_ending = true;
	answer_waiting(c);
	dw_regions_finish(&c->regions);
	dw_run_take_signals(&c->r->run); /* those that came meanwhile */
	c->result->stats.regions = c->regions.stats;
	if (!c->recording)
		return rc;
	note_assemblies(c);
	if (!rc)
		rc = dw_note_instrumented(&c->r->profile.facts, c->result);
	if (!rc)
		dw_images_remember(c->result->images);
	stopped = dw_call_recording_stop(c->recording);
	return rc ? rc : stopped;
}

static void finish(struct dw_collector *c, struct dw_finish_options *options)
{
	dw_call_recording_finish(c->recording, options);
}

static void free_calls(struct dw_collector *c)
{
	if (!c)
		return;
	dw_call_recording_free(c->recording);
	dw_images_stop(c->result->images); /* it works by our plan */
	dw_regions_release(&c->regions);
	dw_target_environment_release(&c->environment);
	dw_program_release(&c->program);
	dw_region_process_release(&c->process);
	dw_rights_release(&c->own);
	dw_vec_release(&c->waiting);
	free(c->private_dir);
	free(c->public_dir);
	free(c);
}

const struct dw_collector_ops dw_collector_calls = {
	.activity = "instrumenting",
	.method = "instrumentation",
	.prepare = prepare,
	.start = start,
	.poll_fds = poll_fds,
	.drain = drain,
	.tick = tick,
	.beat = beat,
	.goes_on = goes_on,
	.stop = stop,
	.finish = finish,
	.free = free_calls,
};

void dw_instrument_release(struct dw_instrument_result *r)
{
	dw_scope_release(&r->scope);
	dw_images_free(r->images);
	r->images = NULL;
}
