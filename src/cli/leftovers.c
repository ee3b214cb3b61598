/* What is removed where a signal ends dwell; see leftovers.h. The handler calls nothing but
 * unlink(), rmdir() and raise(). */
#include "cli/leftovers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static struct {
	pid_t pid;
	bool is_watched;
	_Atomic(const char *) paths[DWELL_LEFTOVERS_MAX];
} leftovers;

/* The default action is in force again, and waits until this returns. */
static void on_end(int number)
{
	for (int i = DWELL_LEFTOVERS_MAX; i-- && getpid() == leftovers.pid;) {
		const char *path = atomic_load(&leftovers.paths[i]);

		if (path && unlink(path))
			rmdir(path);
	}
	raise(number);
}

static void watch(void)
{
	struct sigaction action = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND}, before;

	leftovers.pid = getpid();
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!sigaction(ends[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL);
}

void dw_leftovers_begin(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaddset(&set, ends[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

void dw_leftovers_end(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

int dw_leftovers_add(const char *path)
{
	if (!leftovers.is_watched) {
		watch();
		leftovers.is_watched = true;
	}
	for (int i = 0; i < DWELL_LEFTOVERS_MAX; i++)
		if (!atomic_load(&leftovers.paths[i])) {
			atomic_store(&leftovers.paths[i], path);
			return i + 1;
		}
	return 0;
}

void dw_leftovers_drop(int number)
{
	if (number)
		atomic_store(&leftovers.paths[number - 1], NULL);
}
