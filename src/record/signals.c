/*
 * Signals by signalfd; see signals.h. The kernel marks what the terminal driver sent with SI_KERNEL
 * (kernel: isig() in drivers/tty/n_tty.c sends to the foreground process group), which tells it
 * from kill(2).
 */
#include "record/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int dw_signals_take(struct dw_signals *s, struct dw_error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &set, &s->old);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0) {
		int rc = dw_error_set_errno(err, errno, "signalfd");

		pthread_sigmask(SIG_SETMASK, &s->old, NULL);
		return rc;
	}
	sigaction(SIGIO, &ignore, &s->old_io);
	return 0;
}

bool dw_signals_next(struct dw_signals *s, struct dw_signal *ret)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof info) != sizeof info)
		return false;
	ret->number = (int)info.ssi_signo;
	ret->to_group = info.ssi_code == SI_KERNEL;
	return true;
}

void dw_signal_pass_on(pid_t pid, struct dw_signal signal)
{
	if (!signal.to_group || getpgid(pid) != getpgrp())
		kill(pid, signal.number);
}

void dw_signals_release(struct dw_signals *s)
{
	struct dw_signal dropped;

	if (s->fd < 0)
		return;
	while (dw_signals_next(s, &dropped))
		;
	close(s->fd);
	s->fd = -1;
	sigaction(SIGIO, &s->old_io, NULL);
	pthread_sigmask(SIG_SETMASK, &s->old, NULL);
}
