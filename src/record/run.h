/*
 * What a recording is about: a command that is launched, given the signals that come for it, and
 * waited for; or processes that run already, which are left alone.
 *
 * The calling thread must be the only one while signals are taken: as records from a descriptor,
 * never by handlers. SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked meanwhile, and SIGIO
 * is ignored, which a target could have the kernel send. All are given back as they were.
 *
 * Until the end the calling thread's priority may be raised: where hundreds of threads want every
 * processor, an equal among them comes too late to empty what the kernel and the agents fill.
 * Elsewhere it stays: whoever is interrupted by us in the middle of a request answers later (redis:
 * its 99.9th percentile by 23 %). What it forks, and threads that it makes, have the usual priority
 * (SCHED_RESET_ON_FORK, sched(7)).
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "collect/launch/launch.h"
#include "model/facts.h"
#include "record/record.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct dw_signals {
	int fd;	      /* readable when a signal waits, -1 = not taken */
	sigset_t old; /* mask to give back */
	struct sigaction old_io;
};

struct dw_target {
	pid_t pid;
	int fd; /* pidfd, owned; -1 = has ended */
};

struct dw_targets {
	DW_VEC(struct dw_target) v;
};

/* Descriptors to poll for POLLIN: a process has ended. At most @max are written, the number is
 * returned. */
size_t dw_targets_poll_fds(const struct dw_targets *t, struct pollfd *fds, size_t max);

struct dw_run {
	struct dw_record_result *result; /* borrowed */
	uint64_t duration_ns;		 /* the recording stops after this, 0 = it does not */
	struct dw_launch launch;
	struct dw_targets targets; /* running processes, of a recording that is attached */
	bool is_attached;
	bool is_raised;	 /* the calling thread's priority */
	bool is_refused; /* it may not be raised */
	uint64_t next_look_ns;
	struct dw_signals signals;
	uint64_t start_ns;     /* CLOCK_MONOTONIC */
	uint64_t grace_end_ns; /* when we stop waiting for a command that was told to stop, 0 =
				  nobody asked for it */
	struct rusage usage;   /* of the command, when it has ended */
	uint64_t ended_ns;     /* CLOCK_MONOTONIC, when that was seen */
};

/* Initializer of a run that fills @to (a struct dw_record_result *). */
#define DW_RUN_INIT(to, duration)                                                    \
	{                                                                            \
		.result = (to), .duration_ns = (duration), .launch = DW_LAUNCH_INIT, \
		.signals.fd = -1                                                     \
	}

/* Fork the child that waits to execute @argv with the environment set in @r->launch, and take the
 * signals over. 0 or a negative code. */
int dw_run_prepare(struct dw_run *r, char *const *argv, struct dw_error *err);

/* Take hold of running processes instead, and take the signals over. With none of them the
 * recording ends by a signal or its duration. 0, or DWELL_ERR_NOT_FOUND and others with one line.
 */
int dw_run_attach(struct dw_run *r, const pid_t *pids, size_t n, struct dw_error *err);

/* Often while it records: see that the calling thread comes in time. */
void dw_run_tick(struct dw_run *r, uint64_t now);

/* Let the child execute the command @argv, or, attached, note in @facts to what. 0 with
 * result->pid, or a negative code with result->exec_error. */
int dw_run_begin(struct dw_run *r, char *const *argv, struct dw_facts *facts, struct dw_error *err);

/* Take the signals that have come: a request to stop goes on to a launched command, and a second
 * one does not wait for it. Notes the end of what is recorded. */
void dw_run_take_signals(struct dw_run *r);

/* Whether the recording ends @now. @goes_on: it does not end with the command. */
bool dw_run_is_over(const struct dw_run *r, uint64_t now, bool goes_on);

/* The recording is over: have the usual priority again, and note in @facts that it took
 * @duration_ns, and how the command ended, if it has. 0 or -ENOMEM. */
int dw_run_end(struct dw_run *r, struct dw_facts *facts, uint64_t duration_ns);

/* Give the signals back and end a child that was not begun. A running command is left alone. */
void dw_run_release(struct dw_run *r);

/* Raise the calling thread's priority as far as we may (CAP_SYS_NICE, or RLIMIT_NICE); not where
 * the user chose a priority or policy. Whether it was raised. */
bool dw_priority_raise(void);

/* Back to the usual one, after it was raised. */
void dw_priority_restore(void);
