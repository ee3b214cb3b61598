/*
 * The screen; see screen.h. Signals only set flags, which dw_screen_key() looks at; of a crash the
 * handler itself gives the terminal back, by bytes that were made when it was taken over.
 */
#include "tui/screen.h"

#include "base/clock.h"
#include "format/text.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum {
	ESCAPE_MS = 25,	    /* how long what follows an escape may take to be one key with it */
	LEAVE_BYTES = 256,  /* of what gives the terminal back */
	COLUMNS_MAX = 2000, /* of one piece of text */
	CRASH_STACK_BYTES = 1 << 16,
};

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static volatile sig_atomic_t end_signal, has_stop, has_resize;
static SCREEN *terminal;
static struct termios modes; /* before */
static char leave[LEAVE_BYTES];
static size_t leave_n;
static char crash_stack[CRASH_STACK_BYTES];

static void note_signal(int number)
{
	if (number == SIGTSTP)
		has_stop = 1;
	else if (number == SIGWINCH)
		has_resize = 1;
	else
		end_signal = number;
}

static void crash(int number)
{
	if (write(STDOUT_FILENO, leave, leave_n) < 0 || tcsetattr(STDIN_FILENO, TCSANOW, &modes))
		number += 0; /* nothing more can be done */
	/* SA_RESETHAND has made it the default action. */
	raise(number);
}

/* Let @number be handled, unless we were started with it ignored. */
static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;

	sigemptyset(&action.sa_mask);
	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void handle_signals(void)
{
	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		handle(ends[i], note_signal, 0);
	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		handle(crashes[i], crash, SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
	handle(SIGTSTP, note_signal, 0);
	handle(SIGWINCH, note_signal, 0);
}

static void restore_signals(void)
{
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		handle(ends[i], SIG_DFL, 0);
	for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
		handle(crashes[i], SIG_DFL, 0);
	handle(SIGTSTP, SIG_DFL, 0);
	handle(SIGWINCH, SIG_DFL, 0);
}

/* What gives the terminal back, by terminfo; without the waits in it, for terminals that nobody has
 * any more. */
static void prepare_leave(void)
{
	static const char *const names[] = {"rmkx", "sgr0", "cnorm", "rmcup"};

	leave_n = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *text = tigetstr(names[i]);

		while (text && text != (const char *)-1 && *text && leave_n < sizeof leave) {
			if (!strncmp(text, "$<", 2) && strchr(text, '>'))
				text = strchr(text, '>') + 1;
			else
				leave[leave_n++] = *text++;
		}
	}
}

/* Names are UTF-8, which reports write whatever the locale is. Whether it has that. */
static bool use_utf8(void)
{
	if (setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8"))
		return true;
	setlocale(LC_CTYPE, "C.UTF-8");
	return false;
}

enum { PAIR_HOT = 1, PAIR_CHIP };

static bool has_colour;

static void begin_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	has_colour = has_colors() && !(no_color && *no_color);
	if (!has_colour)
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_HOT, COLOR_RED, -1);
	init_pair(PAIR_CHIP, COLOR_CYAN, -1);
}

static attr_t attributes(enum dw_style style)
{
	switch (style) {
	case DWELL_STYLE_CHOSEN:
		return A_REVERSE;
	case DWELL_STYLE_SORTED:
		return A_BOLD | A_UNDERLINE;
	case DWELL_STYLE_HEADER:
	case DWELL_STYLE_BOLD:
		return A_BOLD;
	case DWELL_STYLE_HOT:
		return has_colour ? COLOR_PAIR(PAIR_HOT) : A_NORMAL;
	case DWELL_STYLE_CHIP:
		return has_colour ? COLOR_PAIR(PAIR_CHIP) | A_BOLD : A_BOLD;
	case DWELL_STYLE_FAINT:
		return A_DIM;
	default:
		return A_NORMAL;
	}
}

static void measure(struct dw_screen *s)
{
	int rows, columns;
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resize_term(size.ws_row, size.ws_col);
	getmaxyx(stdscr, rows, columns);
	s->rows = rows > 0 ? (size_t)rows : 1;
	s->columns = columns > 0 ? (size_t)columns : 1;
}

int dw_screen_open(struct dw_screen *s, struct dw_error *err)
{
	*s = (struct dw_screen){.wake_fds = {-1, -1}};
	end_signal = has_stop = has_resize = 0;
	tcgetattr(STDIN_FILENO, &modes);
	s->has_utf8 = use_utf8();
	/* Before ncurses, which then leaves signals alone. */
	handle_signals();
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		restore_signals();
		return dw_error_set(err, -ENOTTY, "this terminal is not known");
	}
	prepare_leave();
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	begin_colours();
	measure(s);
	return 0;
}

void dw_screen_close(struct dw_screen *s)
{
	(void)s;
	if (!terminal)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
	restore_signals();
}

/* Stop as the terminal's user wants, and come back. */
static void stop(void)
{
	endwin();
	handle(SIGTSTP, SIG_DFL, 0);
	raise(SIGTSTP);
	handle(SIGTSTP, note_signal, 0);
	has_resize = 1;
}

static int key_of(wint_t c, bool is_code)
{
	static const struct {
		int code, key;
	} codes[] = {
		{KEY_UP, DWELL_KEY_UP},		{KEY_DOWN, DWELL_KEY_DOWN},
		{KEY_LEFT, DWELL_KEY_LEFT},	{KEY_RIGHT, DWELL_KEY_RIGHT},
		{KEY_PPAGE, DWELL_KEY_PAGE_UP}, {KEY_NPAGE, DWELL_KEY_PAGE_DOWN},
		{KEY_HOME, DWELL_KEY_HOME},	{KEY_END, DWELL_KEY_END},
		{KEY_BTAB, DWELL_KEY_BACK_TAB}, {KEY_ENTER, DWELL_KEY_ENTER},
		{KEY_RESIZE, DWELL_KEY_DRAW},	{KEY_BACKSPACE, DWELL_KEY_BACKSPACE},
	};

	for (size_t i = 0; is_code && i < sizeof codes / sizeof *codes; i++)
		if (codes[i].code == (int)c)
			return codes[i].key;
	if (is_code)
		return DWELL_KEY_NONE;
	return c == '\r' ? DWELL_KEY_ENTER : c == '\b' ? DWELL_KEY_BACKSPACE : (int)c;
}

/* How long that is from now on, none if it is over. */
static struct timespec time_until(uint64_t ns)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC), left = ns > now ? ns - now : 0;

	return (struct timespec){.tv_sec = (time_t)(left / 1000000000),
				 .tv_nsec = (long)(left % 1000000000)};
}

/* Whether what wakes us has done so: a descriptor of @fds, or that it is time. */
static bool take_wake(struct dw_screen *s, const struct pollfd *fds, int n)
{
	bool wake = !n && s->wake_ns;
	uint64_t count;

	if (wake)
		s->wake_ns = 0;
	for (size_t i = 0; i < DWELL_WAKE_FDS && n > 0; i++)
		wake |= fds[i].revents & POLLIN && read(fds[i].fd, &count, sizeof count) > 0;
	return wake;
}

/* Sleep until there is input, a signal, or what s->wake_fds and s->wake_ns say, of which *@wake
 * tells. False: no input will come. */
static bool sleep_for_input(struct dw_screen *s, bool *wake)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = s->wake_fds[0], .events = POLLIN},
			       {.fd = s->wake_fds[1], .events = POLLIN}};
	const struct timespec patience = time_until(s->wake_ns);
	sigset_t all, before;
	int n = -1, waiting = 1;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	errno = EINTR;
	if (!end_signal && !has_stop && !has_resize)
		n = ppoll(fds, sizeof fds / sizeof *fds, s->wake_ns ? &patience : NULL, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	*wake = take_wake(s, fds + 1, n);
	if (n > 0 && fds[0].revents &&
	    (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) ||
	     (!ioctl(STDIN_FILENO, FIONREAD, &waiting) && !waiting)))
		return false;
	return n >= 0 || errno == EINTR;
}

int dw_screen_key(struct dw_screen *s)
{
	int key = s->held[0];

	if (!s->held_n)
		return dw_screen_fresh_key(s);
	memmove(s->held, s->held + 1, --s->held_n * sizeof *s->held);
	return key;
}

void dw_screen_hold(struct dw_screen *s, int key)
{
	if (s->held_n < DWELL_HELD_MAX)
		s->held[s->held_n++] = key;
}

void dw_screen_drop_held(struct dw_screen *s)
{
	s->held_n = 0;
}

int dw_screen_fresh_key(struct dw_screen *s)
{
	for (wint_t c;;) {
		bool wake = false;
		int rc = get_wch(&c);

		if (rc != ERR)
			return key_of(c, rc == KEY_CODE_YES);
		if (!end_signal && !has_stop && !has_resize && !sleep_for_input(s, &wake))
			return DWELL_KEY_ENDED;
		s->signal = end_signal;
		if (end_signal)
			return DWELL_KEY_ENDED;
		if (has_stop) {
			has_stop = 0;
			stop();
		}
		if (has_resize) {
			has_resize = 0;
			measure(s);
			clearok(stdscr, TRUE);
			return DWELL_KEY_DRAW;
		}
		if (wake)
			return DWELL_KEY_DRAW;
	}
}

void dw_screen_clear(struct dw_screen *s)
{
	(void)s;
	erase();
}

size_t dw_screen_put(struct dw_screen *s, size_t y, size_t x, size_t width, enum dw_style style,
		     const char *text)
{
	wchar_t shown[COLUMNS_MAX];
	size_t used = 0, n = 0;

	if (y >= s->rows || x >= s->columns)
		return 0;
	width = width < s->columns - x ? width : s->columns - x;
	while (*text && n < COLUMNS_MAX) {
		uint32_t c = dw_text_next(&text);
		int columns = dw_text_is_control(c) ? -1 : wcwidth((wchar_t)c);

		/* What the C library has no width for would be shown by it as it likes. */
		if (columns < 0) {
			c = DWELL_REPLACEMENT;
			columns = 1;
		}
		if (used + (size_t)columns > width)
			break;
		if (!columns && !n)
			continue; /* it would join what is before */
		shown[n++] = (wchar_t)c;
		used += (size_t)columns;
	}
	attrset((int)attributes(style));
	mvaddnwstr((int)y, (int)x, shown, (int)n);
	attrset(A_NORMAL);
	return used;
}

void dw_screen_fill(struct dw_screen *s, size_t y, size_t x, size_t width, enum dw_style style)
{
	if (y >= s->rows || x >= s->columns)
		return;
	width = width < s->columns - x ? width : s->columns - x;
	attrset((int)attributes(style));
	mvhline((int)y, (int)x, ' ' | attributes(style), (int)width);
	attrset(A_NORMAL);
}

void dw_screen_show(struct dw_screen *s, size_t x)
{
	curs_set(x != SIZE_MAX);
	if (x != SIZE_MAX)
		move((int)s->rows - 1, (int)(x < s->columns ? x : s->columns - 1));
	refresh();
}
