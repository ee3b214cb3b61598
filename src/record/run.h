/*
 * What a recording is about: a command that is launched, given the signals that come for it, and
 * waited for; or processes that run already, which are left alone.
 *
 * The calling thread must be the only one while signals are taken (record/signals.h). From then on
 * until the end its priority may be raised (record/priority.h).
 */
#pragma once

#include "base/error.h"
#include "collect/launch/launch.h"
#include "model/facts.h"
#include "record/record.h"
#include "record/signals.h"
#include "record/targets.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

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

/* Let the child execute the command @name. 0 with result->pid, or a negative code with
 * result->exec_error. */
int dw_run_begin(struct dw_run *r, const char *name, struct dw_error *err);

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
