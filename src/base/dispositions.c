/* Dispositions of signals; see dispositions.h. */
#include "base/dispositions.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum { SIGNALS = 3 };

static const struct {
	int number;
	void (*action)(int);
} ours[SIGNALS] = {{SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}, {SIGCHLD, SIG_DFL}};

static struct sigaction before[SIGNALS];
static bool is_taken;

void dw_dispositions_take(void)
{
	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction action = {.sa_handler = ours[i].action};

		sigaction(ours[i].number, &action, &before[i]);
	}
	is_taken = true;
}

void dw_dispositions_restore(void)
{
	for (size_t i = 0; i < SIGNALS && is_taken; i++)
		sigaction(ours[i].number, &before[i], NULL);
}
