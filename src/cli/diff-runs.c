/*
 * Recording for a comparison; see diff-runs.h.
 *
 * Each run is a dwell of its own, as somebody would start it. A signal that ends us ends it first,
 * so that nothing is left behind; between two runs, and when all are there, the handler removes the
 * folder itself. The list of runs does not change while it may do that.
 */
#include "cli/diff-runs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/process-setup.h"
#include "cli/session-folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

enum { FAILED = 125, NOT_EXECUTABLE = 126, NOT_THERE = 127, BY_SIGNAL = 128 };

static const int watched[DWELL_DIFF_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t caught;
static volatile pid_t running;
static struct dw_diff_runs *ours; /* while signals are watched */

/* Signals are blocked, or this is their handler. */
static void remove_folder(const struct dw_diff_runs *r)
{
	if (!r->is_temporary)
		return;
	dw_vec_each(run, &r->v)
		dw_session_files_remove(run->path);
	rmdir(r->folder);
}

/* Runtimes answer SIGQUIT with a dump, and go on. */
static void end_running(int signal_number)
{
	kill(running, signal_number == SIGQUIT ? SIGTERM : signal_number);
}

/* The recording that runs ends as well when a signal came to us alone. */
static void on_signal(int signal_number)
{
	caught = signal_number;
	if (running > 0)
		return end_running(signal_number);
	remove_folder(ours);
	_exit(BY_SIGNAL + signal_number);
}

static sigset_t block_signals(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	for (size_t i = 0; i < DWELL_DIFF_SIGNALS; i++)
		sigaddset(&set, watched[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	return before;
}

/* What is ignored stays so, as under nohup. */
static void watch_signals(struct dw_diff_runs *r)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	ours = r;
	r->is_watching = true;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < DWELL_DIFF_SIGNALS; i++) {
		sigaction(watched[i], NULL, &r->before[i]);
		if (r->before[i].sa_handler != SIG_IGN)
			sigaction(watched[i], &action, NULL);
	}
}

static void forget_signals(const struct dw_diff_runs *r)
{
	for (size_t i = 0; i < DWELL_DIFF_SIGNALS && r->is_watching; i++)
		sigaction(watched[i], &r->before[i], NULL);
	ours = NULL;
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

/* In the child: become dwell that records, and ends with us. */
static _Noreturn void execute(const char *method, const char *path, const wordexp_t *words,
			      pid_t parent, const sigset_t *mask)
{
	const char *head[] = {"dwell", method, "-q", "-o", path, "--"};
	size_t n = sizeof head / sizeof *head;
	char **argv = calloc(n + words->we_wordc + 1, sizeof *argv);
	int nowhere = open("/dev/null", O_RDWR);

	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent || !argv || nowhere < 0 ||
	    dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
		_exit(FAILED);
	memcpy(argv, head, sizeof head);
	memcpy(argv + n, words->we_wordv, words->we_wordc * sizeof *argv);
	dw_dispositions_restore();
	/* Before it executes, no signal may run our handler here. */
	for (size_t i = 0; i < DWELL_DIFF_SIGNALS; i++)
		sigaction(watched[i], &ours->before[i], NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv("/proc/self/exe", argv);
	_exit(FAILED);
}

/* Run a recorder; signals end it as long as it runs. *@ret: its status. 0 or -errno. */
static int run_recorder(const struct dw_diff_recording *r, const char *path, const wordexp_t *words,
			int *ret)
{
	sigset_t mask = block_signals();
	pid_t parent = getpid(), child = fork();
	int rc = child < 0 ? -errno : 0;

	if (!child)
		execute(r->method, path, words, parent, &mask);
	running = child;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	while (!rc && waitpid(child, ret, 0) < 0)
		rc = errno == EINTR ? 0 : -errno;
	block_signals();
	running = 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return rc;
}

/* Note the status of a run's command, and tell the first one of its side that differs. */
static void check_status(const struct dw_diff_recording *r, enum dw_side side, int status,
			 int *first, bool told[DWELL_SIDES])
{
	if (*first < 0)
		*first = status;
	if (status == *first || told[side])
		return;
	told[side] = true;
	fprintf(stderr,
		"%sdwell: a run of '%s' ended with status %d, but the base's first with %d\n",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", r->commands[side], status, *first);
}

/* *@ret: the status of the command. */
static int record_one(const struct dw_diff_recording *r, enum dw_side side, const char *path,
		      const wordexp_t *words, int *ret, struct dw_error *err)
{
	int status = 0, rc;

	/* One that is there already is no result of this run. */
	if (unlink(path) && errno != ENOENT)
		return dw_error_set_errno(err, errno, "cannot replace '%s'", path);
	rc = run_recorder(r, path, words, &status);
	if (rc)
		return dw_error_set_errno(err, -rc, "cannot start a recording");
	if (caught)
		return dw_error_set(err, DWELL_ERR_INTERRUPTED, "interrupted");
	if (WIFSIGNALED(status))
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "'%s' was not recorded: dwell %s was ended by signal %d",
				    r->commands[side], r->method, WTERMSIG(status));
	*ret = WEXITSTATUS(status);
	if (access(path, R_OK) || (*ret >= FAILED && *ret <= NOT_THERE))
		return dw_error_set(err, DWELL_ERR_REFUSED, "'%s' was not recorded",
				    r->commands[side]);
	return 0;
}

static int make_folder(struct dw_diff_runs *runs, const char *keep, struct dw_error *err)
{
	if (!keep) {
		runs->folder = dw_session_folder_new("dwell-diff", err);
		runs->is_temporary = runs->folder != NULL;
		return runs->folder ? 0 : DWELL_ERR_REFUSED;
	}
	runs->folder = strdup(keep);
	if (mkdir(keep, 0777) && errno != EEXIST)
		return dw_error_set_errno(err, errno, "cannot make the folder '%s'", keep);
	return runs->folder ? 0 : -ENOMEM;
}

/* Add the @i-th run, whose session will be in the folder. NULL = no memory. */
static const struct dw_diff_run *add_run(struct dw_diff_runs *runs, size_t i)
{
	/* ABBA: neither side is always the first. */
	struct dw_diff_run run = {(i + 1) / 2 % 2 ? DWELL_SIDE_NEW : DWELL_SIDE_BASE, NULL};
	sigset_t mask;
	bool fails;

	if (asprintf(&run.path, "%s/%s-%zu.dwell", runs->folder, run.side ? "new" : "base",
		     i / 2 + 1) < 0)
		return NULL;
	mask = block_signals();
	fails = dw_vec_push(&runs->v, run);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (!fails)
		return &runs->v.v[i];
	free(run.path);
	return NULL;
}

static void show_progress(size_t i, size_t n)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rrun %zu of %zu ", i + 1, n);
}

static int record_all(struct dw_diff_runs *ret, const struct dw_diff_recording *r,
		      const wordexp_t *words, struct dw_error *err)
{
	bool told[DWELL_SIDES] = {false};
	int first = -1, rc = 0;

	for (size_t i = 0; i < 2 * r->runs && !rc; i++) {
		const struct dw_diff_run *run = add_run(ret, i);
		int status = 0;

		show_progress(i, 2 * r->runs);
		rc = run ? record_one(r, run->side, run->path, &words[run->side], &status, err)
			 : -ENOMEM;
		if (!rc)
			check_status(r, run->side, status, &first, told);
		if (!rc)
			rc = r->take(r->arg, run, err);
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return rc;
}

int dw_diff_runs_record(struct dw_diff_runs *ret, const struct dw_diff_recording *r,
			struct dw_error *err)
{
	wordexp_t words[DWELL_SIDES];
	sigset_t mask;
	int rc = split(r->commands[DWELL_SIDE_BASE], &words[DWELL_SIDE_BASE], err);

	if (rc)
		return rc;
	rc = split(r->commands[DWELL_SIDE_NEW], &words[DWELL_SIDE_NEW], err);
	if (rc) {
		wordfree(&words[DWELL_SIDE_BASE]);
		return rc;
	}
	watch_signals(ret);
	mask = block_signals();
	rc = make_folder(ret, r->keep, err);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (!rc)
		rc = record_all(ret, r, words, err);
	ret->signal_number = caught;
	wordfree(&words[DWELL_SIDE_BASE]);
	wordfree(&words[DWELL_SIDE_NEW]);
	return rc;
}

void dw_diff_runs_release(struct dw_diff_runs *r)
{
	remove_folder(r);
	forget_signals(r);
	dw_vec_each(run, &r->v)
		free(run->path);
	free(r->folder);
	dw_vec_release(&r->v);
}
