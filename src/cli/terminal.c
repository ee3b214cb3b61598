/*
 * Where a report goes; see terminal.h. The pager is started through the shell, as $PAGER may hold
 * options; when it cannot be started the text goes to the terminal itself.
 */
#include "cli/terminal.h"

#include "base/cleanup.h"
#include "base/process-setup.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

size_t dw_terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

bool dw_terminal_has_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

bool dw_terminal_colour(int fd)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return isatty(fd) && (!no_color || !*no_color) && (!term || strcmp(term, "dumb"));
}

static void run_pager(int in)
{
	const char *pager = getenv("PAGER");

	dw_dispositions_restore();
	if (dup2(in, STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", pager && *pager ? pager : "less -FRX || cat",
		      (char *)NULL);
	_exit(127);
}

/* Put a pager between @t and the terminal, if there is one to be had. */
static void start_pager(struct dw_terminal *t)
{
	const char *pager = getenv("PAGER");
	int ends[2];

	if ((pager && !strcmp(pager, "cat")) || pipe2(ends, O_CLOEXEC))
		return;
	t->pager = fork();
	if (!t->pager)
		run_pager(ends[0]);
	close(ends[0]);
	if (t->pager < 0) {
		t->pager = 0;
		close(ends[1]);
		return;
	}
	t->fd = ends[1];
	t->owned = true;
}

int dw_terminal_check(const char *path, const char *session, struct dw_error *err)
{
	struct stat in, out;

	if (!path || stat(path, &out) || stat(session, &in) || in.st_dev != out.st_dev ||
	    in.st_ino != out.st_ino)
		return 0;
	return dw_error_set(err, DWELL_ERR_REFUSED, "'%s' is the session itself", path);
}

int dw_terminal_check_writable(const char *path, struct dw_error *err)
{
	dw_auto_close int fd = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	int rc = !path || fd >= 0 || errno == ENXIO ? 0 : -errno;
	dw_auto_free char *folder = rc == -ENOENT ? strdup(path) : NULL;

	if (folder)
		rc = access(dirname(folder), W_OK | X_OK) ? -errno : 0;
	return rc ? dw_error_set_errno(err, -rc, "cannot write '%s'", path) : 0;
}

int dw_terminal_open(struct dw_terminal *t, const char *path, bool human_readable,
		     struct dw_error *err)
{
	*t = (struct dw_terminal){.fd = STDOUT_FILENO};
	if (path) {
		t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		t->owned = true;
		return t->fd < 0 ? dw_error_set_errno(err, errno, "cannot write '%s'", path) : 0;
	}
	if (human_readable && isatty(STDOUT_FILENO)) {
		t->width = dw_terminal_width(STDOUT_FILENO);
		t->colour = dw_terminal_colour(STDOUT_FILENO);
		start_pager(t);
	}
	return 0;
}

int dw_terminal_close(struct dw_terminal *t)
{
	int rc = t->owned && close(t->fd) ? -errno : 0;

	while (t->pager && waitpid(t->pager, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}
