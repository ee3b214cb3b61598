/*
 * Signals of a recording: taken as records from a descriptor, never as handlers.
 *
 * SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the calling thread while taken. SIGIO
 * is ignored, which a target could have the kernel send. All are given back as they were.
 */
#pragma once

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct dw_signals {
	int fd;	      /* readable when a signal waits, -1 = not taken */
	sigset_t old; /* mask to give back */
	struct sigaction old_io;
};

struct dw_signal {
	int number;
	bool to_group; /* the terminal sent it to our whole process group */
};

/* Take the signals over. Call after the target is forked, which keeps the old mask. 0 or -errno. */
int dw_signals_take(struct dw_signals *s, struct dw_error *err);

/* The next waiting signal. False = none. Never blocks. */
bool dw_signals_next(struct dw_signals *s, struct dw_signal *ret);

/* Hand @signal on to the command @pid, unless the terminal has sent it there too. */
void dw_signal_pass_on(pid_t pid, struct dw_signal signal);

/* Give the old mask back and close the descriptor. Signals that were not read are dropped. */
void dw_signals_release(struct dw_signals *s);
