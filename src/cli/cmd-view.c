/*
 * dwell view: the page of a session in the browser, by a server of its own on this machine.
 *
 * Others on it may see our command line and those of our children, so what opens the page is a file
 * that only we can read; the address in it is printed, too.
 */
#include "base/cleanup.h"
#include "base/out.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/live-page.h"
#include "cli/page-files.h"
#include "page/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

extern char **environ;

struct view_options {
	bool without_browser;
};

static const struct dw_option table[] = {
	{"no-browser", 0, NULL, dw_option_flag, offsetof(struct view_options, without_browser),
	 "print the address, and open nothing"},
	{NULL},
};

/* Whether there is a desktop, and we are its user: browsers refuse to be root's. */
static bool has_desktop(void)
{
	return (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) && geteuid() && !getenv("SUDO_UID");
}

/* Make a file that leads to @url, for us alone. NULL: there is none. The caller frees its name. */
static char *make_link(const char *url)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	char *path;
	int fd;

	if (asprintf(&path, "%s/dwell-XXXXXX.html", folder ? folder : "/tmp") < 0)
		return NULL;
	fd = mkostemps(path, strlen(".html"), O_CLOEXEC);
	if (fd >= 0) {
		int written = dprintf(
			fd, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
			url);

		close(fd);
		if (written > 0)
			return path;
		unlink(path);
	}
	free(path);
	return NULL;
}

/* Let the desktop open @path, by a program that Ctrl-C is not for. Whether it was started. */
static bool open_browser(const char *path)
{
	char *argv[] = {(char *)"xdg-open", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, ours;
	pid_t pid;
	int rc;

	sigemptyset(&none);
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigaddset(&ours, SIGCHLD);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &ours);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	rc = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return !rc;
}

/* A descriptor that becomes readable when we are to end. */
static int stop_signals(void)
{
	sigset_t set;

	signal(SIGCHLD, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* The page of a finished session has all that it needs. */
static int answer_page(void *ctx, const struct dw_server_question *q, struct dw_server_answer *ret)
{
	if (*q->name)
		return 404;
	*ret = (struct dw_server_answer){.type = "text/html; charset=utf-8", .whole = ctx};
	return q->is_post ? 405 : 200;
}

static int serve(const struct view_options *o, dw_server_fn *answer, void *ctx,
		 struct dw_error *err)
{
	dw_auto_close int stop = stop_signals();
	dw_auto_free char *link = NULL;
	struct dw_server server;
	char url[128];
	int rc = dw_server_open(&server, answer, ctx, err);

	if (!rc && stop < 0)
		rc = dw_error_set_errno(err, errno, "cannot wait for signals");
	if (!rc) {
		snprintf(url, sizeof url, "http://127.0.0.1:%u%s", server.port, server.path);
		printf("%s\n", url);
		fflush(stdout);
		link = o->without_browser || !has_desktop() ? NULL : make_link(url);
		fprintf(stderr, "dwell: serves this page until Ctrl-C%s\n",
			link && open_browser(link)
				? "; open the address yourself if no browser shows it"
				: "");
		rc = dw_server_run(&server, stop, err);
	}
	if (link)
		unlink(link);
	dw_server_close(&server);
	return rc;
}

static int view_finished(const struct view_options *o, const char *path, struct dw_error *err)
{
	dw_auto(dw_buf) page = DW_BUF_INIT;
	int rc = dw_page_make(path, &page, err);

	return rc ? rc : serve(o, answer_page, &page, err);
}

static int view_running(const struct view_options *o, const char *path, struct dw_error *err)
{
	struct dw_live_page *page;
	int rc;

	dw_large_heap();
	rc = dw_live_page_open(path, &page, err);
	if (rc)
		return rc;
	rc = serve(o, dw_live_page_answer, page, err);
	dw_live_page_free(page);
	return rc;
}

static int view(const struct dw_command *self, const struct view_options *o, char **operands)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc, exit_code = DWELL_EXIT_OK;

	if (!*operands)
		return dw_command_wrong(self, "which session? (a FILE.dwell)");
	if (operands[1])
		return dw_command_wrong(self, "what is '%s' for?", operands[1]);
	rc = dw_live_page_suits(*operands) ? view_running(o, *operands, &err)
					   : view_finished(o, *operands, &err);
	if (rc)
		exit_code = dw_command_fail(&err, DWELL_EXIT_BAD);
	dw_error_clear(&err);
	return exit_code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct view_options o = {0};
	int first, exit_code = dw_command_parse(self, argv, &o, &first);

	(void)argc;
	return exit_code < 0 ? view(self, &o, argv + first) : exit_code;
}

const struct dw_command dw_cmd_view = {
	.name = "view",
	.help = "show a recorded session in the browser",
	.synopsis = "FILE [OPTIONS]",
	.options = table,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
