/*
 * The screen of dwell live; see live-screen.h. The alternate screen keeps what was on the terminal
 * before. Without a terminal there is nothing to take over.
 */
#include "cli/live-screen.h"

#include "base/out.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
	(void)signal;
	ended = 1;
}

static void put(const char *text)
{
	size_t n = strlen(text);

	while (n) {
		ssize_t done = write(STDOUT_FILENO, text, n);

		if (done < 0 && errno != EINTR)
			return;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
}

static void measure(struct dw_live_screen *s)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	s->width = size.ws_col;
	s->height = size.ws_row;
}

void dw_live_screen_open(struct dw_live_screen *s, bool plain)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = note_end};

	*s = (struct dw_live_screen){.is_terminal = !plain && isatty(STDOUT_FILENO)};
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
	put(ENTER_SCREEN);
	measure(s);
}

int dw_live_screen_draw(struct dw_live_screen *s, const char *text, size_t n)
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
	measure(s);
	return dw_out_close(&out);
}

int dw_live_screen_key(struct dw_live_screen *s, int ms)
{
	struct pollfd fd = {.fd = s->has_keys ? STDIN_FILENO : -1, .events = POLLIN};
	char key;

	if (ended)
		return -1;
	if (poll(&fd, 1, ms) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		return key;
	return ended ? -1 : 0;
}

void dw_live_screen_close(struct dw_live_screen *s)
{
	if (s->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->before);
	if (s->is_terminal)
		put(LEAVE_SCREEN);
	*s = (struct dw_live_screen){0};
}
