/*
 * The collector of samples: a sampler (collect/backend.h) and what names the code that runtimes
 * make.
 *
 * .NET is told of by an agent, where one can be had, other runtimes by files. That a runtime of
 * .NET ran is told by its library, which all have but those that are linked into their program.
 */
#include "base/clock.h"
#include "code/cfi/table.h"
#include "collect/clr/managed.h"
#include "collect/jit/jit.h"
#include "record/environment.h"
#include "record/managed-lines.h"
#include "record/program.h"
#include "record/recorder.h"
#include "record/target-environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNTIME		"libcoreclr.so"
#define BUSY_NS		20000000ull
#define IDLE_NS		100000000ull
#define FLUSH_NS	1000000000ull  /* commit, at most a second is ever lost */
#define CACHE_MAX_BYTES (256ull << 20) /* of unwind tables, after a recording */

struct dw_collector {
	struct dw_recorder *r;
	struct dw_backend *backend;
	struct dw_target_environment environment; /* for the backend's agent and the next */
	struct dw_managed managed;		  /* code of .NET, if it has_agent */
	struct dw_managed_lines lines;
	struct dw_jit jit;
	char mode[48];	     /* of the agent of .NET */
	size_t modules_seen; /* of .NET's, whose lines were looked for */
	bool has_agent;
	struct dw_error why_not; /* has it no agent, as far as is known before a runtime starts */
	uint64_t next_flush_ns;
	bool is_busy; /* the last drain brought samples */
};

static const struct dw_samples_options *options_of(const struct dw_collector *c)
{
	return &c->r->options->samples;
}

/* Whether the command @name can take an agent. One that does not exist is the launch's matter. */
static int check_program(const char *name, const struct dw_error *refusal, struct dw_error *err)
{
	struct dw_program program;
	int rc = 0;

	if (!name)
		return dw_error_set(err, DWELL_ERR_REFUSED, "only perf attaches to programs: %s",
				    dw_error_message(refusal));
	dw_program_find(name, &program);
	if (program.kind != DWELL_PROGRAM_FITS && program.kind != DWELL_PROGRAM_MISSING)
		rc = dw_error_set(err, DWELL_ERR_REFUSED, "%s %s, which only perf can sample: %s",
				  name, dw_program_reason(program.kind), dw_error_message(refusal));
	dw_program_release(&program);
	return rc;
}

int dw_sampler_choose(enum dw_sampler_kind wish, const char *name, bool waits_do,
		      struct dw_sampler_choice *ret, struct dw_error *err)
{
	const char *language;
	int rc = 0;

	*ret = (struct dw_sampler_choice){.backend = &dw_backend_perf};
	if (wish == DWELL_SAMPLER_IN_PROCESS)
		rc = dw_error_set(&ret->refusal, DWELL_ERR_REFUSED,
				  "--sampler in-process was given");
	else if (wish == DWELL_SAMPLER_PROCFS)
		rc = dw_error_set(&ret->refusal, DWELL_ERR_REFUSED, "--sampler procfs was given");
	else if (wish == DWELL_SAMPLER_AUTO)
		rc = dw_perf_check(&ret->refusal);
	language = !rc && wish == DWELL_SAMPLER_AUTO && name && !waits_do
			   ? dw_interpreter_command(name)
			   : NULL;
	if (language)
		rc = dw_error_set(&ret->refusal, DWELL_ERR_REFUSED,
				  "perf tells no functions of %s (--sampler perf takes it)",
				  language);
	if (rc != DWELL_ERR_REFUSED)
		return 0; /* what else is wrong shows when it starts */
	if (!name && waits_do) {
		ret->backend = &dw_backend_procfs;
		return 0;
	}
	ret->backend = &dw_backend_in_process;
	return check_program(name, &ret->refusal, err);
}

void dw_sampler_choice_release(struct dw_sampler_choice *c)
{
	dw_error_clear(&c->refusal);
}

/* The environment for the agents of .NET, if it is wanted, and of the backend, which works in
 * @agent's folder. */
static int make_environment(struct dw_collector *c, const struct dw_backend_agent *agent)
{
	const struct dw_record_options *o = c->r->options;
	const char *folder = dw_regions_path(&c->managed.regions),
		   *program = o->argv ? o->argv[0] : NULL;
	const struct dw_second_agent clr = {o->samples.clr_agent, folder, c->mode};
	int rc = 0;

	snprintf(c->mode, sizeof c->mode, "code memory=%" PRIu64, DWELL_MANAGED_BUDGET);
	if (c->has_agent)
		rc = dw_clr_environment_make(&c->environment, clr.path, folder, c->mode, program);
	c->has_agent &= !rc;
	if (rc == -ENOMEM || !agent)
		return rc == -ENOMEM ? rc : 0;
	dw_target_environment_release(&c->environment);
	return dw_target_environment_make_both(&c->environment, o->samples.backend_agent,
					       agent->folder, agent->mode,
					       c->has_agent ? &clr : NULL);
}

/* See whether there is an agent for .NET. Only -ENOMEM is an error: c->has_agent. */
static int prepare_managed(struct dw_collector *c)
{
	const struct dw_samples_options *o = options_of(c);
	const char *other = dw_clr_environment_conflict();
	int rc = dw_managed_lines_open(&c->lines);

	c->managed =
		(struct dw_managed){.p = &c->r->profile, .regions.folder = DW_REGION_FOLDER_INIT};
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	if (!o->clr_agent)
		rc = dw_error_set(&c->why_not, DWELL_ERR_NOT_FOUND, "%s", o->clr_why_not);
	else if (other)
		rc = dw_error_set(&c->why_not, DWELL_ERR_REFUSED,
				  "the environment names a profiler already (%s)", other);
	else
		rc = dw_managed_open(&c->managed, c->managed.p, ".", &c->why_not);
	c->has_agent = !rc;
	return rc == -ENOMEM ? rc : 0;
}

/* What was asked for, of whom it is recorded, and who names code that no file has. */
static struct dw_backend_config config_of(struct dw_collector *c)
{
	struct dw_backend_config config = options_of(c)->config;

	config.cache_dir = c->r->options->cache_dir;
	config.pids = c->r->options->pids;
	config.pids_n = c->r->options->pids_n;
	config.pid = c->r->run.launch.pid;
	config.start_ns = c->r->run.start_ns;
	config.jit = &c->jit;
	config.managed = c->has_agent ? &c->managed : NULL;
	return config;
}

static int prepare(struct dw_recorder *r, struct dw_collector **ret, struct dw_error *err)
{
	const struct dw_backend_ops *backend = r->options->samples.backend;
	struct dw_collector *c = *ret = calloc(1, sizeof *c);
	struct dw_backend_agent agent;
	struct dw_backend_config config;
	int rc;

	if (!c)
		return -ENOMEM;
	c->r = r;
	rc = prepare_managed(c);
	config = config_of(c);
	if (!rc && backend->prepare)
		rc = backend->prepare(&config, &r->profile, &c->backend, &agent, err);
	if (!rc)
		rc = make_environment(c, backend->prepare ? &agent : NULL);
	r->run.launch.environment = c->environment.v;
	return rc;
}

static int start(struct dw_collector *c, struct dw_error *err)
{
	const struct dw_samples_options *o = options_of(c);
	struct dw_facts *facts = &c->r->profile.facts;
	struct dw_backend_config config = config_of(c);
	int rc;

	dw_jit_init(&c->jit, &c->r->profile);
	c->jit.asks_dotnet = c->r->options->pids_n;
	rc = o->backend->start(&config, &c->r->profile, &c->backend, err);

	if (!rc && o->backend_why)
		rc = dw_facts_set_text(facts, "road_why", o->backend_why);
	if (!rc)
		rc = dw_facts_set_text(facts, "road", o->backend->name);
	if (!rc && config.system_wide)
		rc = dw_facts_set(facts, "system_wide", 1);
	c->next_flush_ns = c->r->run.start_ns + FLUSH_NS;
	return rc;
}

static size_t poll_fds(struct dw_collector *c, struct pollfd *fds, size_t max)
{
	size_t n = 1;

	fds[0] = (struct pollfd){.fd = dw_regions_fd(&c->managed.regions), .events = POLLIN};
	n += dw_jit_poll_fds(&c->jit, fds + n, max / 4);
	return n + options_of(c)->backend->poll_fds(c->backend, fds + n, max - n);
}

/* Look for the lines of .NET's modules that have come, while their processes live. */
static int find_lines(struct dw_collector *c)
{
	const struct dw_profile *p = &c->r->profile;
	int rc = 0;

	while (c->modules_seen < c->managed.modules.n && !rc) {
		const struct dw_managed_module *m = &c->managed.modules.v[c->modules_seen++];
		const struct dw_managed_owner owner = {m->pid, m->uid, m->gid};
		const struct dw_module *row = dw_modules_get(&p->modules, m->module);

		rc = dw_managed_lines_add(&c->lines, m->module,
					  dw_strings_get(&p->strings, row->path), &owner);
	}
	return rc;
}

/* What runtimes have told comes before the samples of it. */
static int drain(struct dw_collector *c, struct dw_error *err)
{
	size_t before = c->r->profile.samples.n;
	int rc = c->has_agent ? dw_managed_drain(&c->managed, dw_clock_ns(CLOCK_MONOTONIC)) : 0;

	dw_jit_look(&c->jit);
	if (!rc)
		rc = options_of(c)->backend->drain(c->backend, false, err);
	if (!rc)
		rc = find_lines(c);
	c->is_busy = c->r->profile.samples.n > before;
	return rc;
}

/*
 * Come again soon while samples come, since a drain holds the newest back and the memory behind
 * deep stacks moves on; seldom while the target sleeps.
 */
static int tick(struct dw_collector *c, uint64_t now_ns, uint64_t *ret_due_ns, struct dw_error *err)
{
	*ret_due_ns = now_ns + (c->is_busy ? BUSY_NS : IDLE_NS);
	if (now_ns < c->next_flush_ns)
		return 0;
	c->next_flush_ns = now_ns + FLUSH_NS;
	return dw_recorder_flush(c->r, err);
}

static bool goes_on(const struct dw_collector *c)
{
	const struct dw_processes *all = &c->r->profile.processes;

	for (uint32_t id = 1; id <= dw_processes_count(all); id++)
		if (dw_processes_get(all, id)->end_ns == DWELL_TIME_NONE)
			return true;
	return false;
}

static void stats_of(const struct dw_collector *c, struct dw_backend_stats *ret)
{
	options_of(c)->backend->stats(c->backend, ret);
}

/* The CPU time that the processes of an attached recording have used since, if all of it is known.
 */
static int note_cpu(struct dw_collector *c)
{
	struct dw_profile *p = &c->r->profile;
	uint64_t user = 0, kernel = 0;
	int rc;

	for (uint32_t id = 1; id <= dw_processes_count(&p->processes); id++) {
		const struct dw_process *row = dw_processes_get(&p->processes, id);

		if (row->user_cpu_ns == DWELL_TIME_NONE)
			return 0;
		user += row->user_cpu_ns;
		kernel += row->kernel_cpu_ns;
	}
	rc = dw_facts_set(&p->facts, "user_cpu_ns", (int64_t)user);
	return rc ? rc : dw_facts_set(&p->facts, "kernel_cpu_ns", (int64_t)kernel);
}

/* What @samples of a clock stand for. */
static uint64_t time_of(const struct dw_collector *c, uint64_t samples)
{
	int64_t hz = dw_facts_get(&c->r->profile.facts, "frequency_hz", 0);

	return hz > 0 ? samples * 1000000000 / (uint64_t)hz : 0;
}

/* Let the fact @key be no less than @ns. */
static int raise_fact(struct dw_collector *c, const char *key, uint64_t ns)
{
	struct dw_facts *facts = &c->r->profile.facts;

	return (int64_t)ns > dw_facts_get(facts, key, 0) ? dw_facts_set(facts, key, (int64_t)ns)
							 : 0;
}

/*
 * The accounting of a launched command lacks what it has not waited for: all that was seen of
 * processes, by the kernel's accounting or else by samples, may be more.
 */
static int note_seen_cpu(struct dw_collector *c)
{
	const struct dw_processes *all = &c->r->profile.processes;
	struct dw_backend_stats stats;
	uint64_t user, kernel;
	int rc;

	stats_of(c, &stats);
	user = time_of(c, stats.unread_user);
	kernel = time_of(c, stats.unread_kernel);
	for (uint32_t id = 1; id <= dw_processes_count(all); id++) {
		const struct dw_process *row = dw_processes_get(all, id);

		if (row->user_cpu_ns == DWELL_TIME_NONE)
			continue;
		user += row->user_cpu_ns;
		kernel += row->kernel_cpu_ns;
	}
	rc = raise_fact(c, "user_cpu_ns", user);
	return rc ? rc : raise_fact(c, "kernel_cpu_ns", kernel);
}

/* Regions are read a last time: nothing comes any more but samples that were taken already. */
static int end_managed(struct dw_collector *c)
{
	struct dw_facts *facts = &c->r->profile.facts;
	int rc;

	if (!c->has_agent)
		return 0;
	dw_managed_finish(&c->managed);
	rc = dw_facts_set(facts, "runtimes", (int64_t)c->managed.began);
	return rc ? rc : dw_facts_set(facts, "managed_code_lost", (int64_t)c->managed.lost);
}

/* Look for lines of what runtimes have told when they were asked. */
static int find_jit_lines(struct dw_collector *c)
{
	int rc = 0;

	dw_vec_each(a, &c->jit.il_of) {
		if (!rc)
			rc = dw_managed_lines_add_below(
				&c->lines, a->module,
				dw_strings_get(&c->jit.functions.texts, a->path), a->owner->root_fd,
				&a->owner->rights);
	}
	return rc;
}

static bool has_runtime(const struct dw_profile *p)
{
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++)
		if (!strcmp(dw_strings_get(&p->strings, dw_modules_get(&p->modules, id)->name),
			    RUNTIME))
			return true;
	return false;
}

/* Tell the user why code of a runtime that ran has no names. */
static void complain(const struct dw_collector *c)
{
	struct dw_record_result *result = c->r->result;
	const char *why = c->why_not.code ? dw_error_message(&c->why_not)
					  : "the runtime did not take the agent";

	if (!c->jit.maps && !c->managed.began && has_runtime(&c->r->profile))
		snprintf(result->nameless, sizeof result->nameless, "%s", why);
}

static int stop(struct dw_collector *c, int rc, struct dw_error *err)
{
	const struct dw_backend_ops *backend = options_of(c)->backend;
	uint64_t end_ns = dw_clock_ns(CLOCK_MONOTONIC);
	struct dw_recorder *r = c->r;

	backend->stop(c->backend);
	if (!rc)
		rc = end_managed(c);
	dw_jit_look(&c->jit);
	if (!rc)
		rc = backend->drain(c->backend, true, err);
	if (!rc)
		rc = dw_jit_finish(&c->jit);
	if (!rc)
		rc = find_jit_lines(c);
	if (!rc)
		rc = find_lines(c);
	complain(c);
	if (!rc)
		rc = dw_run_end(&r->run, &r->profile.facts, end_ns - r->run.start_ns);
	if (!rc && r->run.targets.v.n)
		rc = note_cpu(c);
	else if (!rc && r->result->ended)
		rc = note_seen_cpu(c);
	return rc;
}

static void finish(struct dw_collector *c, struct dw_finish_options *options)
{
	options->il_line = dw_managed_lines_find;
	options->il_line_ctx = &c->lines;
	options->jit_symbol = dw_jit_symbolize;
	options->jit_symbol_ctx = &c->jit;
	options->sources = options_of(c)->backend->sources(c->backend, &options->sources_n);
	dw_jit_close(&c->jit);
}

static void free_samples(struct dw_collector *c)
{
	if (!c)
		return;
	if (c->r->has_begun && c->r->options->cache_dir)
		dw_cfi_cache_prune(c->r->options->cache_dir, CACHE_MAX_BYTES);
	options_of(c)->backend->free(c->backend);
	dw_managed_release(&c->managed);
	dw_managed_lines_release(&c->lines);
	dw_jit_release(&c->jit);
	dw_target_environment_release(&c->environment);
	dw_error_clear(&c->why_not);
	free(c);
}

const struct dw_collector_ops dw_collector_samples = {
	.activity = "recording",
	.method = "sampling",
	.prepare = prepare,
	.start = start,
	.poll_fds = poll_fds,
	.drain = drain,
	.tick = tick,
	.goes_on = goes_on,
	.stats = stats_of,
	.stop = stop,
	.finish = finish,
	.free = free_samples,
};
