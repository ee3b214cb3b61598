/*
 * The source of dwell live; see live-source.h. A process is sampled by another dwell, so that
 * looking at its session is the same as for any other one.
 */
#include "cli/live-source.h"

#include "base/process-setup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { START_MAX_MS = 10000, LOOK_MS = 20 };

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

static int set_paths(struct dw_live_source *s, const char *word)
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

static int set_folder(struct dw_live_source *s)
{
	const char *tmp = getenv("TMPDIR");

	if (asprintf(&s->folder, "%s/dwell-live-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0) {
		s->folder = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(s->folder)) {
		int rc = -errno;

		free(s->folder);
		s->folder = NULL;
		return rc;
	}
	return 0;
}

static int find_paths(struct dw_live_source *s, const char *keep, struct dw_error *err)
{
	char *path = NULL;
	int rc = keep ? 0 : set_folder(s);

	if (!rc && !keep && asprintf(&path, "%s/live.dwell", s->folder) < 0)
		rc = -ENOMEM;
	if (!rc)
		rc = set_paths(s, keep ? keep : path);
	if (!keep && !rc)
		free(path);
	return rc ? dw_error_set_errno(err, -rc, "cannot make a folder for the session") : 0;
}

static _Noreturn void record(const struct dw_live_source *s, const char *pid)
{
	/* Ctrl-C at the terminal is for the one that shows; it tells us. */
	setpgid(0, 0);
	dw_dispositions_restore();
	execl("/proc/self/exe", "dwell", "sample", "-q", "-o", s->path, "-p", pid, (char *)NULL);
	_exit(127);
}

/* Wait until the recorder has begun to write; it has said why when it ends instead. */
static int wait_for_partial(struct dw_live_source *s)
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

static int start_recorder(struct dw_live_source *s, const char *pid, struct dw_error *err)
{
	s->recorder = fork();
	if (!s->recorder)
		record(s, pid);
	if (s->recorder < 0) {
		s->recorder = 0;
		return dw_error_set_errno(err, errno, "cannot start a recording");
	}
	return wait_for_partial(s);
}

int dw_live_source_open(struct dw_live_source *s, const char *word, const char *keep,
			struct dw_error *err)
{
	int rc;

	*s = (struct dw_live_source){0};
	if (is_number(word) && access(word, F_OK)) {
		rc = find_paths(s, keep, err);
		return rc ? rc : start_recorder(s, word, err);
	}
	if (set_paths(s, word))
		return dw_error_set(err, -ENOMEM, "no memory");
	if (access(s->partial, R_OK) && access(s->path, R_OK))
		return dw_error_set_errno(err, errno, "cannot read '%s' or '%s'", s->partial,
					  s->path);
	return 0;
}

const char *dw_live_source_file(const struct dw_live_source *s)
{
	return access(s->partial, F_OK) ? s->path : s->partial;
}

void dw_live_source_close(struct dw_live_source *s)
{
	if (s->recorder) {
		kill(s->recorder, SIGINT);
		while (waitpid(s->recorder, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (s->folder) {
		if (s->path)
			unlink(s->path);
		if (s->partial)
			unlink(s->partial);
		rmdir(s->folder);
	}
	free(s->folder);
	free(s->path);
	free(s->partial);
	*s = (struct dw_live_source){0};
}
