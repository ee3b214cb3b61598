/*
 * dwell live: a recording that goes on, looked at again and again, as top does it with processes.
 *
 * Each look reads the session as any report does, with names from symbol tables only; a look that
 * takes long makes the next one come later, so that looking takes no more than a tenth of a
 * processor. A process is sampled by another dwell, so that looking at its session is the same as
 * for any other one.
 */
#include "analysis/totals.h"
#include "base/clock.h"
#include "base/process-setup.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "format/format.h"
#include "format/text.h"
#include "record/finish.h"
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
	INTERVAL_DEFAULT_MS = 1000,
	WINDOW_DEFAULT_S = 10,
	SHARE_OF_TIME = 10, /* looks take at most one part in so many */
	PATH_ROWS = 8,
	OTHER_ROWS = 6, /* what is said above, headers, and between them */
	ROWS_MIN = 5,
	ROWS_PLAIN = 20,
	START_MAX_MS = 10000, /* of a recorder */
	LOOK_MS = 20,	      /* whether it has begun */
};

/* The terminal as a screen that is drawn again and again. The alternate one keeps what was there
 * before. */
struct screen {
	bool is_terminal; /* else text is written one look behind the other */
	bool has_keys;
	size_t width, height;
	struct termios before;
};

/* The session of a recording that somebody else makes, or of one that we start to look at a
 * process. */
struct recording {
	char *path;	/* of the finished session */
	char *partial;	/* of the one that is being written */
	char *folder;	/* ours, with both; NULL = they are somebody else's */
	pid_t recorder; /* ours, 0 = none */
	bool has_told;	/* the recorder has said what went wrong */
};

struct live_options {
	uint64_t interval_ns, window_ns;
	const char *output;
	bool once;
};

struct live {
	struct live_options options;
	struct recording recording;
	struct screen screen;
	bool whole, paused, inclusive, finished;
};

#define AT(field) offsetof(struct live_options, field)

static const struct dw_option options[] = {
	{"interval", 'i', "TIME", dw_option_time_ns, AT(interval_ns),
	 "time between two looks (1; 500ms)"},
	{"window", 'w', "TIME", dw_option_time_ns, AT(window_ns),
	 "show the last part of the run, this long (10)"},
	{"output", 'o', "FILE", dw_option_text, AT(output),
	 "of a PID: keep the session in this file"},
	{"once", 0, NULL, dw_option_flag, AT(once), "look once, write it as text, and end"},
	{0},
};

#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
	(void)signal;
	ended = 1;
}

static void put_terminal(const char *text)
{
	struct dw_out out;

	dw_out_init_fd(&out, STDOUT_FILENO);
	dw_out_puts(&out, text);
	dw_out_close(&out);
}

static void measure_screen(struct screen *s)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	s->width = size.ws_col;
	s->height = size.ws_row;
}

/* Take over the terminal at stdout, if there is one and @plain is not wanted. */
static void open_screen(struct screen *s, bool plain)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = note_end};

	*s = (struct screen){.is_terminal = !plain && isatty(STDOUT_FILENO)};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaction(ends[i], &action, NULL);
	if (!s->is_terminal)
		return;
	s->has_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &s->before);
	if (s->has_keys) {
		struct termios raw = s->before;

		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	put_terminal(ENTER_SCREEN);
	measure_screen(s);
}

/* Draw @n bytes of @text from the top, as far as there is room. 0 or -errno: nobody can see it. */
static int draw(struct screen *s, const char *text, size_t n)
{
	const char *end = text + n;
	struct dw_out out;
	size_t lines = 0;

	dw_out_init_fd(&out, STDOUT_FILENO);
	if (!s->is_terminal) {
		dw_out_write(&out, text, n);
		return dw_out_close(&out);
	}
	dw_out_puts(&out, "\033[H");
	while (text < end && lines++ < s->height) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = stop ? (size_t)(stop - text) : (size_t)(end - text);

		dw_out_puts(&out, lines > 1 ? "\r\n" : "");
		dw_out_write(&out, text, len);
		dw_out_puts(&out, "\033[K");
		text += len + 1;
	}
	dw_out_puts(&out, "\033[J");
	measure_screen(s);
	return dw_out_close(&out);
}

/* Wait at most @ms for a key: it, 0 = none came, -1 = a signal wants an end. */
static int wait_for_key(struct screen *s, int ms)
{
	struct pollfd fd = {.fd = s->has_keys ? STDIN_FILENO : -1, .events = POLLIN};
	char key;

	if (ended)
		return -1;
	if (poll(&fd, 1, ms) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		return key;
	return ended ? -1 : 0;
}

/* Give the terminal back as it was. */
static void close_screen(struct screen *s)
{
	if (s->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
	if (s->is_terminal)
		put_terminal(LEAVE_SCREEN);
	*s = (struct screen){0};
}

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

static int set_paths(struct recording *s, const char *word)
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

static int set_folder(struct recording *s)
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

static int find_paths(struct recording *s, const char *keep, struct dw_error *err)
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

static _Noreturn void run_recorder(const struct recording *s, const char *pid)
{
	/* Ctrl-C at the terminal is for the one that shows; it tells us. */
	setpgid(0, 0);
	dw_dispositions_restore();
	execl("/proc/self/exe", "dwell", "sample", "-q", "-o", s->path, "-p", pid, (char *)NULL);
	_exit(127);
}

/* Wait until the recorder has begun to write; it has said why when it ends instead. */
static int wait_for_partial(struct recording *s)
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

static int start_recorder(struct recording *s, const char *pid, struct dw_error *err)
{
	s->recorder = fork();
	if (!s->recorder)
		run_recorder(s, pid);
	if (s->recorder < 0) {
		s->recorder = 0;
		return dw_error_set_errno(err, errno, "cannot start a recording");
	}
	return wait_for_partial(s);
}

/*
 * Find what @word means: a process id, to be sampled from now on, or a session's file, with or
 * without ".partial". @keep: where the session of a process is to stay, NULL = nowhere.
 * 0 or a negative code, with @err as it was when s->has_told; close_recording() in any case.
 */
static int open_recording(struct recording *s, const char *word, const char *keep,
			  struct dw_error *err)
{
	int rc;

	*s = (struct recording){0};
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

/* The file to read now, borrowed: the partial one as long as it is there. */
static const char *file_of(const struct recording *s)
{
	return access(s->partial, F_OK) ? s->path : s->partial;
}

/* End a recording that was started here, remove what is not to stay, and free everything. */
static void close_recording(struct recording *s)
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
	*s = (struct recording){0};
}

/* Until when the recording has gone, ns. */
static uint64_t end_of(const struct dw_profile *p)
{
	int64_t duration = dw_facts_get(&p->facts, "duration_ns", 0);

	return duration > 0 ? (uint64_t)duration : 0;
}

static void put_head(const struct live *l, const struct dw_profile *p, const struct dw_totals *t,
		     struct dw_out *out)
{
	const char *command = dw_facts_get_text(&p->facts, "command");
	bool colour = l->screen.is_terminal && dw_terminal_colour(STDOUT_FILENO);

	dw_out_puts(out, colour ? "\033[1m" : "");
	dw_text_put(out, command ? command : l->recording.path);
	dw_out_puts(out, colour ? "\033[0m" : "");
	dw_out_printf(out, "  %.1f s", (double)end_of(p) / 1e9);
	if (dw_profile_method(p) == DWELL_METHOD_SAMPLING)
		dw_out_printf(out, ", %" PRIu64 " samples", t->all[DWELL_MEASURE_SAMPLES]);
	if (l->whole || !t->to_ns)
		dw_out_puts(out, " in the whole run");
	else
		dw_out_printf(out, " in the last %.1f s", (double)(t->to_ns - t->from_ns) / 1e9);
	dw_out_puts(out, l->finished ? "; it has ended\n" : l->paused ? "; paused\n" : "\n");
	if (l->screen.has_keys)
		dw_out_puts(out, "q quit   space pause   a all or last   s sort\n");
	dw_out_puts(out, "\n");
}

static int put_view(const struct live *l, const struct dw_view_ops *ops,
		    struct dw_view_request *request, size_t rows, struct dw_out *out)
{
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_view view = {0};
	struct dw_format_job job = {
		.view = &view,
		.columns = columns,
		.rows = rows,
		.path = l->recording.path,
		.width = l->screen.is_terminal ? l->screen.width : 0,
		.colour = l->screen.is_terminal && dw_terminal_colour(STDOUT_FILENO),
	};
	int rc = dw_view_open(&view, ops, request);

	dw_view_columns(ops, request->profile, DWELL_BY_NONE, true, columns);
	if (!rc)
		dw_formats[0]->write(&job, out);
	dw_view_release(&view);
	return rc;
}

static int put_views(const struct live *l, const struct dw_profile *p, struct dw_out *out)
{
	uint64_t end = end_of(p);
	struct dw_filter filter = {.waits_left_out = DWELL_WAITS_FOLDED,
				   .focus = {.hot_path = true}};
	struct dw_totals totals = {0};
	struct dw_view_request request = {.profile = p, .totals = &totals};
	size_t rows = ROWS_PLAIN;
	int rc;

	if (!l->whole && end > l->options.window_ns)
		filter.from_ns = end - l->options.window_ns;
	filter.to_ns = filter.from_ns ? end + 1 : 0;
	rc = dw_totals_compute(p, &filter, DWELL_TOTALS_FUNCTIONS | DWELL_TOTALS_NODES, &totals);
	if (!rc) {
		totals.from_ns = filter.from_ns;
		totals.to_ns = filter.to_ns;
		put_head(l, p, &totals, out);
		if (l->screen.is_terminal)
			rows = l->screen.height > PATH_ROWS + OTHER_ROWS + ROWS_MIN
				       ? l->screen.height - PATH_ROWS - OTHER_ROWS
				       : ROWS_MIN;
		request.sort =
			dw_columns_lead(dw_measures_lead(dw_profile_measures(p)), !l->inclusive);
		rc = put_view(l, &dw_view_functions, &request, rows, out);
	}
	dw_out_puts(out, "\n");
	request.sort = DWELL_COLUMN_END;
	request.hot_path = true;
	request.pruning.fold = true;
	if (!rc)
		rc = put_view(l, &dw_view_calltree, &request, PATH_ROWS, out);
	dw_totals_release(&totals);
	return rc;
}

/* Look once and draw. */
static int look(struct live *l, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_out out;
	int rc = dw_open_running(file_of(&l->recording), &p, &l->finished, err);

	/* Between two names there may be neither file. */
	if (rc == -ENOENT) {
		dw_error_clear(err);
		dw_profile_release(&p);
		p = (struct dw_profile)DW_PROFILE_INIT;
		rc = dw_open_running(l->recording.path, &p, &l->finished, err);
	}
	dw_out_init_buffer(&out);
	if (!rc) {
		rc = put_views(l, &p, &out);
		if (rc)
			dw_error_set(err, rc, "cannot compute the view: %s", dw_err_string(rc));
	}
	/* A reader that has seen enough is no failure. */
	if (!rc && draw(&l->screen, out.buf.data, out.buf.len))
		l->finished = true;
	dw_out_close(&out);
	dw_profile_release(&p);
	return rc;
}

/* Do what @key asks. False: it asks for the end. */
static bool obey(struct live *l, int key)
{
	switch (key) {
	case -1:
	case 'q':
	case 'Q':
		return false;
	case ' ':
	case 'p':
		l->paused = !l->paused;
		break;
	case 'a':
		l->whole = !l->whole;
		break;
	case 's':
		l->inclusive = !l->inclusive;
		break;
	default:
		break;
	}
	return true;
}

/* Look until somebody has seen enough or the recording ends. */
static int watch(struct live *l, struct dw_error *err)
{
	bool goes_on = true;
	int rc = 0;

	/* A recording that has just begun has nothing to show. */
	if (l->recording.recorder)
		goes_on =
			obey(l, wait_for_key(&l->screen, (int)(l->options.interval_ns / 1000000)));

	while (goes_on && !rc) {
		uint64_t begin = dw_clock_ns(CLOCK_MONOTONIC), took, wait;
		int key;

		rc = look(l, err);
		if (rc || l->options.once || l->finished)
			break;
		took = dw_clock_ns(CLOCK_MONOTONIC) - begin;
		wait = took * SHARE_OF_TIME > l->options.interval_ns ? took * SHARE_OF_TIME
								     : l->options.interval_ns;
		do {
			key = wait_for_key(&l->screen, (int)(wait / 1000000));
			goes_on = obey(l, key);
		} while (goes_on && !key && l->paused);
	}
	return rc;
}

static int live(struct live *l, const char *word)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc = open_recording(&l->recording, word, l->options.output, &err), code;

	if (!rc) {
		open_screen(&l->screen, l->options.once);
		rc = watch(l, &err);
		close_screen(&l->screen);
	}
	/* What was on the screen is gone with it: leave the last look behind. */
	if (!rc && l->finished && isatty(STDOUT_FILENO) && !l->options.once)
		rc = look(l, &err);
	code = rc ? DWELL_EXIT_BAD : DWELL_EXIT_OK;
	if (rc && !l->recording.has_told)
		dw_command_fail(&err, code);
	close_recording(&l->recording);
	dw_error_clear(&err);
	return code;
}

static int run(const struct dw_command *self, int argc, char **argv)
{
	struct live l = {.options = {.interval_ns = (uint64_t)INTERVAL_DEFAULT_MS * 1000000,
				     .window_ns = (uint64_t)WINDOW_DEFAULT_S * 1000000000}};
	int first, code = dw_command_parse(self, argv, &l.options, &first);

	if (code >= 0)
		return code;
	dw_large_heap();
	if (argc - first == 1)
		return live(&l, argv[first]);
	return dw_command_wrong(self, "takes one FILE.dwell or one process id");
}

const struct dw_command dw_cmd_live = {
	.name = "live",
	.help = "watch a recording, or a process, while it runs",
	.synopsis = "FILE|PID [OPTIONS]",
	.options = options,
	.misuse = DWELL_EXIT_USAGE,
	.run = run,
};
