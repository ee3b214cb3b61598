/*
 * Crashes of the collector; see crash.h. The handler has a stack of its own in the main thread,
 * whose stack may be what ran out, and does nothing that the state of the process could spoil: its
 * text is made before.
 */
#include "cli/crash.h"

#include "base/cleanup.h"
#include "base/out.h"
#include "cli/command.h"
#include "format/text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
