/*
 * What commands that record share; see recording.h.
 *
 * The handler of crashes has a stack of its own in the main thread, whose stack may be what ran
 * out, and does nothing that the state of the process could spoil: its text is made before. The
 * line of progress is rewritten in place and gone before anything else is printed.
 */
#include "cli/recording.h"

#include "analysis/totals.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/hints.h"
#include "cli/installed.h"
#include "cli/terminal.h"
#include "collect/launch/launch.h"
#include "format/format.h"
#include "format/text.h"
#include "record/finish.h"
#include "session/read.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char *dw_agent_file(const char *name)
{
	return dw_installed_file(name, "", "../lib/dwell/");
}

/* A folder that exists, or could be made. */
static int ensure(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

/* By the XDG base directory specification 0.8: relative paths in XDG_CACHE_HOME do not count. */
char *dw_cache_folder(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	dw_auto_free char *base = NULL;
	char *folder = NULL;

	if (xdg && xdg[0] == '/')
		home = NULL;
	else if (!home || home[0] != '/')
		return NULL;
	if (asprintf(&base, "%s%s", home ? home : xdg, home ? "/.cache" : "") < 0 ||
	    asprintf(&folder, "%s/dwell", base) < 0)
		return NULL;
	if (ensure(base) || ensure(folder)) {
		free(folder);
		return NULL;
	}
	return folder;
}

enum { STACK_BYTES = 64 << 10, NUMBER_CHARS = 2 };

static struct {
	pid_t pid;
	char *partial; /* path, NULL = none is written */
	char *where;   /* the end of the line that names it */
} crash;

static void put(const char *text, size_t n)
{
	ssize_t done = write(STDERR_FILENO, text, n);

	(void)done; /* there is nobody else to tell */
}

/* Leave the core file that the crash would have left: a copy of this process ends by @number. */
static void leave_core(int number)
{
	if (_Fork() != 0)
		return;
	raise(number);
	_exit(DWELL_EXIT_FAILED);
}

/* The default action is in force again: a second crash, in here, ends everything. */
static void report(int number)
{
	static const char text[] = "dwell: the collector ended by signal ";
	char digits[NUMBER_CHARS] = {(char)('0' + number / 10), (char)('0' + number % 10)};

	if (getpid() != crash.pid) {
		raise(number);
		return;
	}
	put(text, sizeof text - 1);
	put(digits + (number < 10), sizeof digits - (number < 10));
	if (crash.partial && !access(crash.partial, F_OK))
		put(crash.where, strlen(crash.where));
	put("\n", 1);
	leave_core(number);
	_exit(DWELL_EXIT_FAILED);
}

/* Make what the handler says of @session. Without memory it says less. */
static void prepare(const char *session)
{
	struct dw_out out;

	if (!session || asprintf(&crash.partial, "%s.partial", session) < 0) {
		crash.partial = NULL;
		return;
	}
	dw_out_init_buffer(&out);
	dw_out_puts(&out, "; what was recorded until then is in ");
	dw_text_put(&out, crash.partial);
	crash.where = strdup(dw_out_flush(&out) ? "" : out.buf.data);
	dw_out_close(&out);
	if (!crash.where) {
		free(crash.partial);
		crash.partial = NULL;
	}
}

void dw_crash_report(const char *session)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	static char stack[STACK_BYTES];
	struct sigaction action = {.sa_handler = report,
				   .sa_flags = (int)(SA_ONSTACK | SA_NODEFER | SA_RESETHAND)};
	const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction old;

	crash.pid = getpid();
	prepare(session);
	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!sigaction(numbers[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
}

bool dw_progress_wanted(void)
{
	struct stat out, terminal;

	if (!isatty(STDERR_FILENO) || fstat(STDERR_FILENO, &terminal))
		return false;
	return fstat(STDOUT_FILENO, &out) || out.st_rdev != terminal.st_rdev;
}

void dw_progress_show(void *ctx, const struct dw_record_progress *p)
{
	struct dw_progress_line *line = ctx;

	fprintf(stderr, "\r\033[Kdwell: %.1f s, %" PRIu64 " samples", (double)p->elapsed_ns / 1e9,
		p->stats.samples_kept);
	if (p->stats.samples_lost)
		fprintf(stderr, ", %" PRIu64 " lost", p->stats.samples_lost);
	fflush(stderr);
	line->shown = true;
}

void dw_progress_show_time(void *ctx, const struct dw_record_progress *p)
{
	struct dw_progress_line *line = ctx;

	fprintf(stderr, "\r\033[Kdwell: %.1f s", (double)p->elapsed_ns / 1e9);
	fflush(stderr);
	line->shown = true;
}

void dw_progress_clear(struct dw_progress_line *line)
{
	if (line->shown)
		fputs("\r\033[K", stderr);
	line->shown = false;
}

char *dw_recorded_path(const char *command)
{
	const char *slash = strrchr(command, '/');
	char *path;

	return asprintf(&path, "%s.dwell", slash ? slash + 1 : command) < 0 ? NULL : path;
}

void dw_recorded_summary(const char *path)
{
	const struct dw_my_code_options none = {0};
	struct dw_session_range whole = {0};
	struct dw_filter filter = {.waits_left_out = DWELL_WAITS_FOLDED, .focus.hot_path = true};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals totals = {0};
	struct dw_view view = {0};
	struct dw_view_request request = {.profile = &p, .totals = &totals};
	struct dw_format_job job = {.view = &view,
				    .path = path,
				    .width = dw_terminal_width(STDERR_FILENO),
				    .colour = dw_terminal_colour(STDERR_FILENO)};
	dw_auto_free char *packages = NULL;
	struct dw_out out;
	int rc = dw_open_profile(path, &whole, &p, NULL);

	if (!rc)
		rc = dw_my_code_apply(&none, !dw_profile_has_calls(&p), 0, &p, &request.folded,
				      NULL);
	rc = rc ? rc : dw_totals_compute(&p, &filter, dw_view_parts(&dw_view_summary, &p), &totals);
	if (!rc)
		request.debug_packages = packages = dw_hint_packages(&p, &totals);
	if (!rc && !dw_view_open(&view, &dw_view_summary, &request)) {
		dw_out_init_fd(&out, STDERR_FILENO);
		dw_summary_write(&job, &out, NULL);
		dw_out_close(&out);
	}
	dw_view_release(&view);
	dw_totals_release(&totals);
	dw_profile_release(&p);
}

void dw_recorded_failure(struct dw_error *err, const struct dw_record_result *result,
			 const char *path)
{
	if (result->pid)
		dw_error_set(err, err->code, "%s; what was recorded until then is in %s.partial",
			     dw_error_message(err), path);
	dw_command_fail(err, DWELL_EXIT_FAILED);
}

static int status_code(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int dw_exit_status(const struct dw_record_result *result, int rc)
{
	int status = result->wait_status;

	if (result->exec_error)
		return dw_launch_exit_code(result->exec_error);
	if (!result->pid)
		return DWELL_EXIT_FAILED;
	if (!result->ended && result->stop_signal)
		return rc ? DWELL_EXIT_FAILED : 128 + result->stop_signal;
	if (!result->ended)
		status = dw_record_wait(result->pid);
	return rc || status < 0 ? DWELL_EXIT_FAILED : status_code(status);
}
