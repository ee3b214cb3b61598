/*
 * Recording for a comparison; see diff-runs.h.
 *
 * Each run is a dwell of its own, as somebody would start it. A signal that ends us ends it first,
 * so that nothing is left behind.
 */
#include "cli/diff-runs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/process-setup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

enum { FAILED = 125, NOT_EXECUTABLE = 126, NOT_THERE = 127 };

static volatile sig_atomic_t caught;
static volatile pid_t running;

/* The recording that runs ends as well when a signal came to us alone. */
static void on_signal(int signal_number)
{
	caught = signal_number;
	if (running > 0)
		kill(running, signal_number);
}

struct dispositions {
	struct sigaction interrupt, end, hang_up;
};

static void watch_signals(struct dispositions *old)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, &old->interrupt);
	sigaction(SIGTERM, &action, &old->end);
	sigaction(SIGHUP, &action, &old->hang_up);
}

static void forget_signals(const struct dispositions *old)
{
	sigaction(SIGINT, &old->interrupt, NULL);
	sigaction(SIGTERM, &old->end, NULL);
	sigaction(SIGHUP, &old->hang_up, NULL);
}

static int split(const char *command, wordexp_t *ret, struct dw_error *err)
{
	int rc = wordexp(command, ret, WRDE_NOCMD);

	if (!rc && ret->we_wordc)
		return 0;
	if (!rc)
		wordfree(ret);
	return dw_error_set(err, DWELL_ERR_USAGE, "--run '%s': %s; for a script write sh -c '...'",
			    command,
			    rc ? "no words that a program can be started by" : "nothing to run");
}

/* In the child: become dwell that records. */
static void execute(const char *method, const char *path, const wordexp_t *words)
{
	const char *head[] = {"dwell", method, "-q", "-o", path, "--"};
	size_t n = sizeof head / sizeof *head;
	char **argv = calloc(n + words->we_wordc + 1, sizeof *argv);
	int nowhere = open("/dev/null", O_RDWR);

	if (!argv || nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 ||
	    dup2(nowhere, STDOUT_FILENO) < 0)
		_exit(FAILED);
	memcpy(argv, head, sizeof head);
	memcpy(argv + n, words->we_wordv, words->we_wordc * sizeof *argv);
	dw_dispositions_restore();
	execv("/proc/self/exe", argv);
	_exit(FAILED);
}

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	running = 0;
	return status;
}

static int record_one(const struct dw_diff_recording *r, enum dw_side side, const char *path,
		      const wordexp_t *words, struct dw_error *err)
{
	int status, code;
	pid_t child = fork();

	if (child < 0)
		return dw_error_set_errno(err, errno, "cannot start a recording");
	if (!child)
		execute(r->method, path, words);
	running = child;
	if (caught)
		kill(child, caught);
	status = wait_for(child);
	if (caught)
		return dw_error_set(err, DWELL_ERR_INTERRUPTED, "interrupted");
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (access(path, R_OK) || (code >= FAILED && code <= NOT_THERE))
		return dw_error_set(err, DWELL_ERR_REFUSED, "'%s' was not recorded",
				    r->commands[side]);
	return 0;
}

static int make_folder(struct dw_diff_runs *runs, const char *keep, struct dw_error *err)
{
	const char *temporary = getenv("TMPDIR");
	dw_auto(dw_buf) name = DW_BUF_INIT;

	if (keep) {
		runs->folder = strdup(keep);
		if (mkdir(keep, 0777) && errno != EEXIST)
			return dw_error_set_errno(err, errno, "cannot make the folder '%s'", keep);
		return runs->folder ? 0 : -ENOMEM;
	}
	dw_buf_printf(&name, "%s/dwell-diff-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (name.failed || !mkdtemp(name.data))
		return dw_error_set_errno(err, errno, "cannot make a temporary folder");
	runs->is_temporary = true;
	runs->folder = dw_buf_detach(&name);
	return 0;
}

static void show_progress(size_t i, size_t n)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rrun %zu of %zu ", i + 1, n);
}

static int record_all(struct dw_diff_runs *ret, const struct dw_diff_recording *r,
		      const wordexp_t *words, struct dw_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * r->runs && !rc; i++) {
		/* ABBA: neither side is always the first. */
		enum dw_side side = (i + 1) / 2 % 2 ? DWELL_SIDE_NEW : DWELL_SIDE_BASE;
		dw_auto(dw_buf) path = DW_BUF_INIT;

		show_progress(i, 2 * r->runs);
		dw_buf_printf(&path, "%s/%s-%zu.dwell", ret->folder, side ? "new" : "base",
			      i / 2 + 1);
		if (path.failed || dw_vec_push(&ret->v, (struct dw_diff_run){side, path.data}))
			return -ENOMEM;
		rc = record_one(r, side, path.data, &words[side], err);
		dw_buf_detach(&path);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return rc;
}

int dw_diff_runs_record(struct dw_diff_runs *ret, const struct dw_diff_recording *r,
			struct dw_error *err)
{
	wordexp_t words[DWELL_SIDES];
	struct dispositions old;
	int rc = split(r->commands[DWELL_SIDE_BASE], &words[DWELL_SIDE_BASE], err);

	if (rc)
		return rc;
	rc = split(r->commands[DWELL_SIDE_NEW], &words[DWELL_SIDE_NEW], err);
	if (rc) {
		wordfree(&words[DWELL_SIDE_BASE]);
		return rc;
	}
	watch_signals(&old);
	rc = make_folder(ret, r->keep, err);
	if (!rc)
		rc = record_all(ret, r, words, err);
	forget_signals(&old);
	ret->signal_number = caught;
	wordfree(&words[DWELL_SIDE_BASE]);
	wordfree(&words[DWELL_SIDE_NEW]);
	return rc;
}

/* What a recording may have left at @path. */
static void remove_session(const char *path)
{
	static const char *const endings[] = {"", ".partial", ".partial-journal", ".partial-wal",
					      ".partial-shm"};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		dw_auto(dw_buf) file = DW_BUF_INIT;

		if (!dw_buf_printf(&file, "%s%s", path, endings[i]))
			unlink(file.data);
	}
}

void dw_diff_runs_release(struct dw_diff_runs *r)
{
	dw_vec_each(run, &r->v) {
		if (r->is_temporary)
			remove_session(run->path);
		free(run->path);
	}
	if (r->is_temporary)
		rmdir(r->folder);
	free(r->folder);
	dw_vec_release(&r->v);
}
