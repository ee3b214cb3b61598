/*
 * `dwell instrument`: run a command whose functions are cloned, unchanged but for the probes in the
 * clones, and record the time of every call.
 *
 * Exit status as with `dwell sample`.
 */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/recording.h"
#include "cli/terminal.h"
#include "collect/region/folder.h"
#include "format/text.h"
#include "record/record.h"
#include "record/images.h"
#include "record/instrument.h"
#include "record/launcher.h"
#include "record/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define AGENT	    "libdwell-probe.so"
#define NO_DURATION UINT64_MAX /* none was asked for */

enum { MEMORY_MB = 40, MEMORY_MB_MAX = 4096, NODES_MAX = 16 << 20 };

struct cmd_instrument {
	const char *output;
	struct dw_option_list modules;
	struct dw_option_list include;
	struct dw_option_list exclude;
	struct dw_option_list slowest;
	const char *format;
	const char *probes;
	const char *os_source;
	uint64_t duration_ns;
	uint64_t memory_mb;
	uint64_t nodes_max;
	uint64_t paths;
	double overhead;    /* percent, negative = no limit */
	const char *counts; /* yes or no, NULL = yes */
	struct dw_debuginfod_choice debuginfod;
	bool wait_all;
	bool no_code, source;
	bool list;
	bool all_functions;
	bool lines;
	bool forget;
	bool quiet;
};

#define AT(field) offsetof(struct cmd_instrument, field)

/* Clones are made before their program runs. The option is here to say so. */
static int refuse_pid(const char *value, void *into, struct dw_error *err)
{
	(void)into;
	return dw_misuse(err,
			 "calls are measured from a program's start on; a program that runs "
			 "already is sampled: dwell sample -p %s",
			 value);
}

static const struct dw_option options[] = {
	{"output", 'o', "FILE", dw_option_text, AT(output), "session file (COMMAND.dwell)"},
	{"module", 0, "GLOB", dw_option_list, AT(modules),
	 "libraries whose name or path fits, too (again for more), and no others"},
	{"include", 0, "GLOB", dw_option_list, AT(include),
	 "only functions whose name fits (again for more)"},
	{"exclude", 0, "GLOB", dw_option_list, AT(exclude),
	 "not the functions whose name fits (again for more)"},
	{"all-functions", 0, NULL, dw_option_flag, AT(all_functions),
	 "short functions without calls and loops too"},
	{"slowest", 0, "GLOB", dw_option_list, AT(slowest),
	 "keep the 16 slowest calls of functions whose name fits, none of others"},
	{"lines", 0, NULL, dw_option_flag, AT(lines), "measure the time of every source line, too"},
	{"duration", 0, "TIME", dw_option_time_ns, AT(duration_ns),
	 "stop recording after TIME; the command runs on"},
	{"wait-all", 0, NULL, dw_option_flag, AT(wait_all),
	 "record until all descendants have ended"},
	{"overhead", 0, "PCT", dw_option_percent, AT(overhead),
	 "switch off while it runs what costs more than it measures"},
	{"counts", 0, "WORD", dw_option_text, AT(counts),
	 "no: calls of what is switched off are not counted either (yes)"},
	{"forget", 0, NULL, dw_option_flag, AT(forget),
	 "forget what earlier runs with --overhead have switched off"},
	{"memory", 0, "MB", dw_option_count, AT(memory_mb),
	 "for the call trees of a process; then paths are estimated (40)"},
	{"paths", 0, "N", dw_option_count, AT(paths), "at most N nodes in the tree of a thread"},
	{"source", 0, NULL, dw_option_flag, AT(source),
	 "put the text of source files into the session, up to 16 MB"},
	DW_DEBUGINFOD_OPTIONS(AT(debuginfod)),
	{"no-code", 0, NULL, dw_option_flag, AT(no_code),
	 "leave the functions' machine code out of the session"},
	{"list-functions", 0, NULL, dw_option_flag, AT(list),
	 "show what would be cloned, and do not run the command"},
	{"format", 'f', "FORMAT", dw_option_text, AT(format),
	 "of that list: table, csv or json (table)"},
	{"quiet", 'q', NULL, dw_option_flag, AT(quiet), "no progress and no summary"},
	{"pid", 'p', "PID", refuse_pid, 0, NULL},
	{"probes", 0, "KIND", dw_option_text, AT(probes), NULL},
	{"os-source", 0, "SOURCE", dw_option_text, AT(os_source), NULL},
	{"nodes", 0, "N", dw_option_count, AT(nodes_max), NULL},
	{0},
};

static int probes_of(const struct cmd_instrument *c)
{
	static const char *const kinds[] = {[DWELL_PROBES_NONE] = "none",
					    [DWELL_PROBES_COUNT] = "count",
					    [DWELL_PROBES_SYSTEM_CALLS] = "system-calls",
					    [DWELL_PROBES_TIME] = "time"};

	return c->probes ? dw_option_index(c->probes, kinds, sizeof kinds / sizeof *kinds)
			 : DWELL_PROBES_TIME;
}

static bool records(const struct cmd_instrument *c)
{
	return !c->list && probes_of(c) == DWELL_PROBES_TIME;
}

static int format_of(const struct cmd_instrument *c)
{
	static const char *const formats[] = {
		[DWELL_LIST_TABLE] = "table", [DWELL_LIST_CSV] = "csv", [DWELL_LIST_JSON] = "json"};

	return c->format ? dw_option_index(c->format, formats, 3) : DWELL_LIST_TABLE;
}

/* Whether @path may be written: it is not there, or holds what we wrote. */
static bool may_replace(const char *path)
{
	char start[64] = "";
	size_t n = strlen(dw_calls_titles);
	dw_auto_close int fd = -1;
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT;
	if (!S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	return fd >= 0 && read(fd, start, n) == (ssize_t)n && !memcmp(start, dw_calls_titles, n);
}

static int check(const struct dw_command *self, const struct cmd_instrument *c, bool has_command)
{
	static const char *const sources[] = {
		[DWELL_OS_NONE] = "none", [DWELL_OS_PERF] = "perf", [DWELL_OS_RSEQ] = "rseq"};

	if (!has_command)
		return dw_command_wrong(self, "no command to run");
	if (probes_of(c) < 0)
		return dw_command_wrong(self, "--probes takes none, count or time");
	if (c->os_source && dw_option_index(c->os_source, sources, 3) < 0)
		return dw_command_wrong(self, "--os-source takes none, perf or rseq");
	if (format_of(c) < 0)
		return dw_command_wrong(self, "--format takes table, csv or json");
	if (c->format && !c->list)
		return dw_command_wrong(self, "--format goes with --list-functions");
	if (!c->memory_mb || c->memory_mb > MEMORY_MB_MAX)
		return dw_command_wrong(self, "--memory takes 1 to %d", MEMORY_MB_MAX);
	if (c->overhead == 0)
		return dw_command_wrong(self, "--overhead takes more than 0");
	if (c->overhead > 0 && !records(c))
		return dw_command_wrong(self, "--overhead goes with a session of calls");
	if (c->counts && strcmp(c->counts, "yes") && strcmp(c->counts, "no"))
		return dw_command_wrong(self, "--counts takes yes or no");
	if (c->counts && c->overhead < 0)
		return dw_command_wrong(self, "--counts goes with --overhead");
	if (c->forget && c->overhead < 0)
		return dw_command_wrong(self, "--forget goes with --overhead");
	if (!c->duration_ns)
		return dw_command_wrong(self, "--duration takes more than 0");
	if (c->output && (c->list || probes_of(c) == DWELL_PROBES_NONE))
		return dw_command_wrong(self, "there are no calls to write to --output");
	if (c->output && !records(c) && !may_replace(c->output))
		return dw_command_wrong(self, "%s is there and is no list of calls: not replaced",
					c->output);
	return 0;
}

static struct dw_globs globs_of(const struct dw_option_list *list)
{
	return (struct dw_globs){list->v, list->n};
}

static struct dw_image_plan plan_of(const struct cmd_instrument *c, const char *cache)
{
	return (struct dw_image_plan){
		.cache_dir = cache,
		.probes = (uint32_t)probes_of(c),
		.all_functions = c->all_functions,
		.lines = c->lines,
		.limit = c->overhead > 0 ? c->overhead / 100 : 0,
		.forgets = c->forget,
		.selection = {globs_of(&c->modules), globs_of(&c->include), globs_of(&c->exclude),
			      globs_of(&c->slowest)},
	};
}

/* Write the calls beside @path, then put them in its place. */
static int write_calls(const char *path, const struct dw_instrument_result *r, struct dw_error *err)
{
	dw_auto_free char *partial = NULL;
	dw_auto_close int fd = -1;
	struct dw_out out;
	int rc, failed;

	if (asprintf(&partial, "%s.partial", path) < 0)
		return -ENOMEM;
	fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return dw_error_set_errno(err, errno, "cannot write %s", partial);
	dw_out_init_fd(&out, fd);
	rc = dw_instrumented_calls(&out, r, err);
	failed = dw_out_close(&out);
	if (rc)
		return rc;
	if (failed || rename(partial, path))
		return dw_error_set_errno(err, failed ? -failed : errno, "cannot write %s", path);
	return 0;
}

static void print_summary(const struct cmd_instrument *c, const struct dw_instrument_result *r)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDERR_FILENO);
	dw_instrumented_summary(&out, r, records(c));
	for (size_t i = 0; i < c->modules.n; i++) {
		if (r->scope.used[i])
			continue;
		dw_out_puts(&out, "  no module was loaded that fits --module ");
		dw_text_put(&out, c->modules.v[i]);
		dw_out_puts(&out, "\n");
	}
	dw_out_close(&out);
}

static int conclude(const struct cmd_instrument *c, const char *session,
		    const struct dw_record_result *r, const struct dw_instrument_result *calls,
		    int rc, struct dw_error *err)
{
	if (!rc && c->output && !session)
		rc = write_calls(c->output, calls, err);
	if (rc && session)
		dw_recorded_failure(err, r, session);
	else if (rc)
		dw_command_fail(err, DWELL_EXIT_FAILED);
	if (rc || c->quiet)
		return rc;
	if (session)
		dw_recorded_summary(session);
	if (!calls->is_untouched)
		print_summary(c, calls);
	return rc;
}

static int instrument(const struct cmd_instrument *c, char **command)
{
	dw_auto_free char *agent = dw_agent_file(AGENT);
	dw_auto_free char *cache = dw_cache_folder();
	dw_auto_free char *named = c->output ? NULL : dw_recorded_path(command[0]);
	const char *output = c->output ? c->output : named;
	const char *session = records(c) ? output : NULL;
	struct dw_progress_line line = {0};
	struct dw_image_plan plan = plan_of(c, cache);
	struct dw_instrument_result calls = {0};
	struct dw_record_options o = {
		.collector = &dw_collector_calls,
		.argv = command,
		.fallback = ".",
		.output = session,
		.cache_dir = cache,
		.duration_ns = c->duration_ns == NO_DURATION ? 0 : c->duration_ns,
		.wait_all = c->wait_all,
		.without_code = c->no_code,
		.with_source = c->source,
		.debuginfod_ms = dw_debuginfod_choice_ms(&c->debuginfod),
		.progress = !c->quiet && dw_progress_wanted() ? dw_progress_show_time : NULL,
		.progress_ctx = &line,
		.calls =
			{
				.agent = agent,
				.os_source = c->os_source,
				.overhead = c->overhead > 0 ? c->overhead / 100 : 0,
				.counts = !c->counts || !strcmp(c->counts, "yes"),
				.memory_bytes = c->memory_mb << 20,
				.nodes_max = c->nodes_max,
				.paths = c->paths < UINT32_MAX ? (uint32_t)c->paths : UINT32_MAX,
				.plan = &plan,
				.result = &calls,
			},
	};
	struct dw_record_result result = {0};
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	dw_crash_report(session);
	if (!output)
		rc = dw_error_set(&err, -ENOMEM, "no memory");
	else if (!agent)
		rc = dw_error_set(&err, DWELL_ERR_NOT_FOUND, AGENT " is not beside dwell");
	else
		rc = dw_record(&o, &result, &err);
	dw_progress_clear(&line);
	rc = conclude(c, session, &result, &calls, rc, &err);
	dw_error_clear(&err);
	dw_instrument_release(&calls);
	return dw_exit_status(&result, rc);
}

/* Make the image of the module file @path, for a list. */
static void add_module(struct dw_images *images, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct dw_module_image *m = NULL;

	if (fd >= 0)
		m = dw_images_get(images, fd, path, geteuid(), getegid());
	if (m && m->state == DWELL_IMAGE_NEW)
		dw_images_make(images, m);
}

/* Add the program's libraries that are wanted, and files that are named outright. */
static int add_libraries(struct dw_images *images, const struct cmd_instrument *c,
			 const struct dw_program *program, struct dw_error *err)
{
	struct dw_globs globs = globs_of(&c->modules);
	struct dw_libraries libraries = {0};
	int rc = globs.n ? dw_libraries_list(program->path, &libraries, err)
			 : dw_launcher_list(program->fd, program->path, &libraries, err);

	dw_vec_each(path, &libraries.paths) {
		if (!globs.n || dw_probe_selection_find_module(&globs, *path) >= 0)
			add_module(images, *path);
	}
	for (size_t i = 0; i < globs.n; i++)
		if (strchr(globs.v[i], '/'))
			add_module(images, globs.v[i]);
	dw_libraries_release(&libraries);
	return rc;
}

/* What stands in the way of a list of the functions of @p. 0 = nothing. */
static int check_program(const struct dw_program *p, const char *name, struct dw_error *err)
{
	if (p->kind == DWELL_PROGRAM_FITS || p->kind == DWELL_PROGRAM_SECURE)
		return 0;
	if (p->kind == DWELL_PROGRAM_MISSING)
		return dw_error_set(err, -ENOENT, "%s: there is no such program", name);
	return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "%s %s", p->path ? p->path : name,
			    dw_program_reason(p->kind));
}

static int list_to(struct dw_terminal *t, const struct cmd_instrument *c, struct dw_images *images,
		   struct dw_error *err)
{
	size_t n;
	struct dw_module_image *const *all = dw_images_all(images, &n);
	struct dw_out out;
	int rc;

	dw_out_init_fd(&out, t->fd);
	rc = n && all[0]->state == DWELL_IMAGE_NONE
		     ? dw_error_set(err, all[0]->rc, "%s: %s", all[0]->path, all[0]->why)
		     : dw_list_functions(&out, all, n, (enum dw_list_format)format_of(c), err);
	dw_out_close(&out);
	return rc;
}

static int list(const struct cmd_instrument *c, const char *name)
{
	dw_auto_free char *cache = dw_cache_folder(), *private = NULL;
	struct dw_region_folder folder = DW_REGION_FOLDER_INIT;
	struct dw_image_plan plan = plan_of(c, cache);
	struct dw_error err = DW_ERROR_INIT;
	struct dw_images *images = NULL;
	struct dw_program program;
	struct dw_terminal t;
	int rc;

	dw_program_find(name, &program);
	rc = check_program(&program, name, &err);
	if (!rc)
		rc = dw_region_folder_make(&folder, ".", &err);
	if (!rc && asprintf(&private, "%s/" DWELL_FOLDER_PRIVATE, folder.path) < 0)
		rc = -ENOMEM;
	plan.session_dir = private;
	if (!rc)
		rc = dw_images_new(&plan, &images, &err);
	if (!rc) {
		add_module(images, program.path);
		rc = add_libraries(images, c, &program, &err);
	}
	if (!rc)
		rc = dw_terminal_open(&t, NULL, format_of(c) == DWELL_LIST_TABLE, &err);
	if (!rc) {
		rc = list_to(&t, c, images, &err);
		dw_terminal_close(&t);
	}
	if (rc)
		dw_command_fail(&err, DWELL_EXIT_FAILED);
	dw_images_free(images);
	dw_region_folder_remove(&folder);
	dw_program_release(&program);
	dw_error_clear(&err);
	return rc ? DWELL_EXIT_FAILED : DWELL_EXIT_OK;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct cmd_instrument c = {.duration_ns = NO_DURATION,
				   .memory_mb = MEMORY_MB,
				   .nodes_max = NODES_MAX,
				   .paths = UINT64_MAX,
				   .overhead = -1};
	int first, code = dw_command_parse(self, argv, &c, &first);
	bool goes_on = code < 0;

	if (goes_on)
		code = check(self, &c, first < argc);
	if (goes_on && !code)
		code = c.list ? list(&c, argv[first]) : instrument(&c, argv + first);
	dw_vec_release(&c.modules);
	dw_vec_release(&c.include);
	dw_vec_release(&c.exclude);
	dw_vec_release(&c.slowest);
	return code;
}

const struct dw_command dw_cmd_instrument = {
	.name = "instrument",
	.help = "run a command and measure every call of its functions",
	.synopsis = "[options] [--] COMMAND [ARG ...]",
	.options = options,
	.leading = true,
	.misuse = DWELL_EXIT_FAILED,
	.run = run,
};
