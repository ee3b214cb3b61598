/*
 * Recordings that go on; see live-recording.h. A process is sampled by another dwell, so that
 * looking at its session is the same as for any other one. Between the two is a guard, which ends
 * the recording and removes its folder when we are killed.
 */
#include "cli/live-recording.h"

#include "base/process-setup.h"
#include "cli/session-folder.h"
#include "record/finish.h"
#include "session/output.h"
#include "session/read.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	START_MAX_MS = 10000, /* of a recorder */
	LOOK_MS = 20,	      /* whether it has begun */
	UNHELD_LOOKS = 2,     /* it may be between making its file and taking hold of it */
};

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

static int set_paths(struct dw_live_recording *s, const char *word)
{
	static const char suffix[] = ".partial";
	size_t n = strlen(word), m = sizeof suffix - 1;
	bool is_partial = n > m && !strcmp(word + n - m, suffix);

	s->path = is_partial ? strndup(word, n - m) : strdup(word);
	if (!s->path || asprintf(&s->partial, "%s%s", s->path, suffix) < 0) {
		s->partial = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int find_paths(struct dw_live_recording *s, const char *keep, struct dw_error *err)
{
	char *path = NULL;
	int rc;

	if (!keep) {
		s->folder = dw_session_folder_new("dwell-live", err);
		if (!s->folder)
			return DWELL_ERR_REFUSED;
	}
	if (!keep && asprintf(&path, "%s/live.dwell", s->folder) < 0)
		return dw_error_set(err, -ENOMEM, "no memory");
	rc = set_paths(s, keep ? keep : path);
	free(path);
	return rc ? dw_error_set(err, rc, "no memory") : 0;
}

static void remove_folder(const struct dw_live_recording *s)
{
	if (!s->folder)
		return;
	if (s->path)
		dw_session_files_remove(s->path);
	rmdir(s->folder);
}

static _Noreturn void run_recorder(const struct dw_live_recording *s, const char *pid,
				   const sigset_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGINT);
	sigprocmask(SIG_SETMASK, mask, NULL);
	dw_dispositions_restore();
	if (s->told_fd >= 0)
		dup2(s->told_fd, STDERR_FILENO);
	execl("/proc/self/exe", "dwell", "sample", "-q", "-o", s->path, "-p", pid, (char *)NULL);
	_exit(127);
}

/* Stand between @parent and the recorder: what ends one ends the other. */
static _Noreturn void guard(const struct dw_live_recording *s, const char *pid, pid_t parent)
{
	sigset_t all, before;
	int status = 0, number;
	pid_t recorder;

	/* Ctrl-C at the terminal is for the one that shows; it tells us. */
	setpgid(0, 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	recorder = getppid() == parent ? fork() : -1;
	if (!recorder)
		run_recorder(s, pid, &before);
	while (recorder > 0 && waitpid(recorder, &status, WNOHANG) == 0)
		if (!sigwait(&all, &number) && (number == SIGINT || number == SIGTERM))
			kill(recorder, SIGINT);
	if (getppid() != parent)
		remove_folder(s);
	_exit(recorder > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Write what the recorder had to tell to stderr. */
static void tell(struct dw_live_recording *s)
{
	char text[4096];
	ssize_t n;

	if (s->told_fd < 0)
		return;
	for (off_t at = 0; (n = pread(s->told_fd, text, sizeof text, at)) > 0; at += n)
		if (write(STDERR_FILENO, text, (size_t)n) < 0)
			break;
	close(s->told_fd);
	s->told_fd = -1;
}

/* Wait until the recorder has begun to write; it has said why when it ends instead. */
static int wait_for_partial(struct dw_live_recording *s)
{
	for (int ms = 0; access(s->partial, R_OK) && ms < START_MAX_MS; ms += LOOK_MS) {
		if (waitpid(s->recorder, NULL, WNOHANG) == s->recorder) {
			s->recorder = 0;
			s->has_told = access(s->path, R_OK) != 0;
			return s->has_told ? DWELL_ERR_REFUSED : 0;
		}
		nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
	}
	return 0;
}

static int start_recorder(struct dw_live_recording *s, const char *pid, bool is_quiet,
			  struct dw_error *err)
{
	pid_t parent = getpid();

	if (is_quiet)
		s->told_fd = memfd_create("dwell-live", MFD_CLOEXEC);
	s->recorder = fork();
	if (!s->recorder)
		guard(s, pid, parent);
	if (s->recorder < 0) {
		s->recorder = 0;
		return dw_error_set_errno(err, errno, "cannot start a recording");
	}
	return wait_for_partial(s);
}

int dw_live_open(struct dw_live_recording *s, const char *word, const char *keep, bool is_quiet,
		 struct dw_error *err)
{
	int rc;

	*s = (struct dw_live_recording){.told_fd = -1};
	if (is_number(word) && access(word, F_OK)) {
		rc = find_paths(s, keep, err);
		return rc ? rc : start_recorder(s, word, is_quiet, err);
	}
	if (set_paths(s, word))
		return dw_error_set(err, -ENOMEM, "no memory");
	if (access(s->partial, R_OK) && access(s->path, R_OK))
		return dw_error_set_errno(err, errno, "cannot read '%s' or '%s'", s->partial,
					  s->path);
	return 0;
}

const char *dw_live_file(const struct dw_live_recording *s)
{
	return access(s->partial, F_OK) ? s->path : s->partial;
}

static int load(const struct dw_live_recording *s, const char *path,
		const struct dw_session_range *range, struct dw_profile *p, bool *ret_runs,
		struct dw_error *err)
{
	const struct dw_session_range all = {0};
	bool has_finished = true;
	int rc;

	p->calls.wants_activity = true;
	if (s->is_left)
		rc = dw_open_profile(path, range ? range : &all, p, err);
	else
		rc = dw_open_running(path, range, p, &has_finished, err);
	*ret_runs = !has_finished;
	return rc;
}

int dw_live_load(const struct dw_live_recording *s, const struct dw_session_range *range,
		 struct dw_profile *p, bool *ret_runs, struct dw_error *err)
{
	int rc = load(s, dw_live_file(s), range, p, ret_runs, err);

	/* Between two names there may be neither file. */
	if (rc == -ENOENT) {
		dw_error_clear(err);
		dw_profile_release(p);
		*p = (struct dw_profile)DW_PROFILE_INIT;
		rc = load(s, s->path, range, p, ret_runs, err);
	}
	return rc;
}

static bool is_same_state(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool dw_live_has_changed(struct dw_live_recording *s)
{
	static const char *const journals[] = {"", "-wal"};
	const char *file = dw_live_file(s);
	bool has_changed = false;

	for (size_t i = 0; i < sizeof journals / sizeof *journals; i++) {
		struct stat now = {0};
		char name[PATH_MAX];

		snprintf(name, sizeof name, "%s%s", file, journals[i]);
		if (stat(name, &now))
			now = (struct stat){0};
		has_changed |= !is_same_state(&now, &s->seen[i]);
		s->seen[i] = now;
	}
	return has_changed;
}

bool dw_live_was_left(struct dw_live_recording *s)
{
	bool is_held = dw_output_is_held(s->partial) || access(s->partial, F_OK);

	s->unheld = is_held ? 0 : s->unheld + 1;
	s->is_left = s->unheld >= UNHELD_LOOKS;
	return s->unheld == UNHELD_LOOKS;
}

void dw_live_close(struct dw_live_recording *s)
{
	if (s->recorder) {
		kill(s->recorder, SIGINT);
		while (waitpid(s->recorder, NULL, 0) < 0 && errno == EINTR)
			;
	}
	s->recorder = 0;
	remove_folder(s);
	tell(s);
}
